# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the parts of a ``ros:`` block say about each other: names must exist, times must fit.

Works on data that may be broken elsewhere, so that every problem of a file shows at once.
"""

from collections.abc import Iterator, Mapping
import math
import sys
from typing import Any, TypeGuard

from pydantic import ValidationError
from safety_scenarios.errors import did_you_mean, MeasurementError
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import dotted, Path
from safety_scenarios.formats.scenario_yaml.blocks import (
    camera_conflict,
    camera_topics,
    is_monitor,
    marked,
    topic_conflicts,
    units_of_signals,
    unwatchable,
)
from safety_scenarios.formats.scenario_yaml.feasibility import unwinnable
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin

Found = tuple[Path, str]
_BROKEN = (AttributeError, LookupError, NotImplementedError, TypeError, ValueError,
           MeasurementError)
"""What a plug-in raises whose block has mistakes, which are told elsewhere."""
_TRUTH = 'truth.'
"""Begins the names in formulas that stand for what a stimulus means."""
_SECONDS = 100.0
"""A time in ms below this may be meant in seconds, where at least a second is needed."""
_ROUNDED = 0.99
"""Share of a declared deceleration that is the same but for rounding."""


def dangling(data: Mapping[str, Any]) -> Iterator[Found]:
    """Yield (field path, message) for each contradiction in prepared scenario data."""
    ros = data.get('ros')
    if not isinstance(ros, Mapping):
        return
    topics, feedback = _topic_names(ros, 'commands'), _topic_names(ros, 'feedback')
    onset = ros.get('onset')
    sensor = [onset['topic']] if isinstance(onset, Mapping) \
        and isinstance(onset.get('topic'), str) \
        and onset['topic'] not in (*topics, *feedback) else []
    signals: Any = ros.get('signals')
    signals = signals if isinstance(signals, Mapping) else {}
    if topics:
        yield from _signals(signals, [*topics, *feedback, *sensor])
        yield from _topics(ros, topics)
    if signals:
        yield from _limits(ros, list(signals))
        yield from _sides(ros, signals, feedback, sensor)
        yield from _check_reporters(ros, signals, feedback)
        yield from units_of_signals(ros, signals)
    if is_monitor(data):
        yield from _separation(ros)
        yield from unwatchable(ros)
        return
    yield from _stops(data, ros)
    yield from _truths(ros)
    yield from _stimuli(ros, topics, feedback)
    yield from marked(data, ros, signals)
    yield from _reaction(data, ros)
    yield from _times(data, ros)
    yield from _separation(ros)
    yield from _braking(ros)
    yield from unwinnable(data)


def _topic_names(ros: Mapping[str, Any], key: str) -> list[str]:
    return [block['topic'] for _, block in _mappings(ros.get(key))
            if isinstance(block.get('topic'), str) and block['topic']]


def _signals(signals: Mapping[str, Any], topics: list[str]) -> Iterator[Found]:
    for name, signal in signals.items():
        topic = signal.get('topic') if isinstance(signal, Mapping) else None
        if isinstance(topic, str) and topic not in topics:
            yield ('ros', 'signals', name, 'topic'), _unknown_topic(topic, topics)


def _limits(ros: Mapping[str, Any], signals: list[str]) -> Iterator[Found]:
    for path, block in _limit_blocks(ros):
        yield from _check_signal(path, block.get('signal'), signals)
    for index, plugin in _plugins(ros.get('invariants'), InvariantPlugin):
        for name in plugin.names_signals:
            yield from _check_signal(('ros', 'invariants', index), getattr(plugin, name, None),
                                     signals, name)
        robot = ros.get('robot')
        top = robot.get('max_speed') if isinstance(robot, Mapping) else None
        if getattr(plugin, 'top_speed', False) and getattr(plugin, 'at_most', None) != top:
            yield ('ros', 'invariants', index, 'top_speed'), (
                f'got it with at_most {show(getattr(plugin, "at_most", None))}, expected '
                f'robot.max_speed, which is {show(top)}. Leave out top_speed, or correct one of '
                f'the two numbers')
        for name in sorted(getattr(plugin, 'signals', ())):
            if name not in signals:
                yield (('ros', 'invariants', index, 'formula'),
                       f'got the signal {name!r}, expected one of: {", ".join(signals)}, hazard '
                       f'or truth.TOPIC.NAME. Define it under ros.signals{_hint(name, signals)}')


def _truths(ros: Mapping[str, Any]) -> Iterator[Found]:
    """Demand that each truth.TOPIC.NAME of a formula is one that a stimulus reports."""
    named = [(index, name) for index, plugin in _plugins(ros.get('invariants'), InvariantPlugin)
             for name in sorted(getattr(plugin, 'names', ())) if name.startswith(_TRUTH)]
    if not named or ros.get('world') is not None:
        return  # a world reports more, by names of its own
    every = [plugin for _, stimuli in _phases(ros)
             for _, plugin in _plugins(stimuli, StimulusPlugin) if _interface(plugin) is not None]
    if not all(isinstance(getattr(one, 'topic', None), str) for one in every):
        return  # told elsewhere
    shown = [(f'{_TRUTH}{one.topic.replace("/", ".")}.', _first_message(one)) for one in every]
    known = {f'{begin}{key}' for begin, one in shown if one is not None for key, _ in one.truth}
    unsure = tuple(begin for begin, one in shown if one is None)
    for index, name in named:
        if name not in known and not name.startswith(unsure):
            yield (('ros', 'invariants', index, 'formula'), (
                f'got {name!r}, expected what a stimulus reports: '
                f'{", ".join(sorted(known)) or "none reports anything"}'
                f'{_hint(name, sorted(known))}'))


def _limit_blocks(ros: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield every block that names a signal to read, but for the invariants."""
    nominal = ros.get('nominal')
    require = nominal.get('require') if isinstance(nominal, Mapping) else None
    if isinstance(require, Mapping):
        yield ('ros', 'nominal', 'require'), require
    separation = ros.get('separation')
    if isinstance(separation, Mapping):
        yield ('ros', 'separation'), separation
    onset = ros.get('onset')
    if isinstance(onset, Mapping) and isinstance(onset.get('when'), Mapping):
        yield ('ros', 'onset', 'when'), onset['when']
    for name in ('reaction', 'confirmation'):
        block = ros.get(name)
        if isinstance(block, Mapping):
            yield ('ros', name), block
            for index, item in _mappings(block.get('all')):
                yield ('ros', name, 'all', index), item


def _sides(ros: Mapping[str, Any], signals: Mapping[str, Any], feedback: list[str],
           sensor: list[str]) -> Iterator[Found]:
    """Demand a reaction by commands: what the robot reports can only confirm."""
    for path, block in _limit_blocks(ros):
        signal = signals.get(str(block.get('signal')))
        topic = signal.get('topic') if isinstance(signal, Mapping) else None
        if not isinstance(topic, str):
            continue
        if path[1] == 'confirmation' and topic not in feedback:
            yield ((*path, 'signal'), f'got a signal of {topic!r}, which is no feedback topic. '
                                      f'A command does not show what the robot did: list the '
                                      f'topic of its state under ros.feedback')
        elif path[1] == 'onset':
            continue
        elif path[1] != 'confirmation' and topic in sensor:
            yield ((*path, 'signal'), f'got a signal of {topic!r}, which marks the onset, '
                                      f'expected one of a command topic. What the reference '
                                      f'sensor sees is nothing that the controller does')
        elif path[1] != 'confirmation' and topic in feedback:
            yield ((*path, 'signal'), f'got a signal of {topic!r}, which is a feedback topic, '
                                      f'expected one of a command topic. Use ros.confirmation '
                                      f'for the state of the robot')


def _check_reporters(ros: Mapping[str, Any], signals: Mapping[str, Any], feedback: list[str]) -> \
        Iterator[Found]:
    """Refuse that the controller is the one that tells where the robot is."""
    named: list[tuple[Path, str, Any]] = [
        (('ros', 'invariants', index), field, getattr(plugin, field, None))
        for index, plugin in _plugins(ros.get('invariants'), InvariantPlugin)
        for field in plugin.names_feedback]
    separation = ros.get('separation')
    if isinstance(separation, Mapping):
        named.append((('ros', 'separation'), 'distance', separation.get('distance')))
    for path, field, name in named:
        signal = signals.get(name) if isinstance(name, str) else None
        topic = signal.get('topic') if isinstance(signal, Mapping) else None
        if isinstance(topic, str) and topic not in feedback:
            yield ((*path, field), f'got a signal of {topic!r}, which is no feedback topic. A '
                                   f'command does not show where the robot is or what it feels: '
                                   f'list the topic of its state under ros.feedback')


def _check_signal(path: Path, name: Any, signals: list[str],
                  field: str = 'signal') -> Iterator[Found]:
    if isinstance(name, str) and name not in signals:
        yield ((*path, field),
               f'got {name!r}, expected one of the signals: {", ".join(signals)}. '
               f'Define it under ros.signals{_hint(name, signals)}')


def _hint(name: str, known: list[str]) -> str:
    hint = did_you_mean(name, known)
    return f'.{hint}' if hint else ''


def _topics(ros: Mapping[str, Any], topics: list[str]) -> Iterator[Found]:
    for index, plugin in _plugins(ros.get('invariants'), InvariantPlugin):
        topic = getattr(plugin, 'topic', None)
        if isinstance(topic, str) and topic not in topics:
            yield ('ros', 'invariants', index, 'topic'), _unknown_topic(topic, topics)
        yield from _stimulus_topics(ros, plugin, ('ros', 'invariants', index))


def _stimulus_topics(ros: Mapping[str, Any], plugin: InvariantPlugin,
                     path: Path) -> Iterator[Found]:
    if ros.get('monitor') is True:
        return  # nothing is published
    nominal = ros.get('nominal')
    before = nominal.get('stimuli') if isinstance(nominal, Mapping) else ()
    told: list[Any] = [getattr(stimulus, 'topic', None) for stimuli in (before, ros.get('stimuli'))
                       for _, stimulus in _plugins(stimuli, StimulusPlugin)]
    if not all(isinstance(topic, str) for topic in told):
        return  # told elsewhere
    known: list[str] = sorted(set(told))
    for field in plugin.names_stimuli:
        named = getattr(plugin, field, None)
        for topic in named if isinstance(named, tuple) else (named,):
            if isinstance(topic, str) and topic not in known:
                yield ((*path, field), f'got {topic!r}, expected one of the topics with a '
                       f'stimulus: {", ".join(known) or "none"}{_hint(topic, known)}')


def _unknown_topic(topic: str, topics: list[str]) -> str:
    return (f'got {topic!r}, expected one of the command topics: {", ".join(topics)}. '
            f'List it under ros.commands{_hint(topic, topics)}')


def _stops(data: Mapping[str, Any], ros: Mapping[str, Any]) -> Iterator[Found]:
    """Look at benign variants only: elsewhere a reaction that is missing is told as such."""
    for index, plugin in _plugins(ros.get('invariants'), InvariantPlugin):
        if getattr(plugin, 'kind', None) == 'stop' and ros.get('reaction') is None \
                and getattr(plugin, 'signal', None) is None and _is_benign(data):
            yield (('ros', 'invariants', index),
                   'got a stop without a signal, and no reaction to take it from. '
                   'Add signal and at_most')


def _stimuli(ros: Mapping[str, Any], commands: list[str], feedback: list[str]) -> \
        Iterator[Found]:
    nominal_block = ros.get('nominal')
    before = nominal_block.get('stimuli', ()) if isinstance(nominal_block, Mapping) else None
    all_known = isinstance(before, tuple) and all(getattr(item, 'topic', None) for item in before)
    nominal: dict[str, StimulusPlugin] = {}
    pictured = camera_topics(ros)
    yield from topic_conflicts(ros, commands, feedback)
    for phase, (path, stimuli) in enumerate(_phases(ros)):
        seen: dict[str, int] = {}
        for index, plugin in _plugins(stimuli, StimulusPlugin):
            topic = getattr(plugin, 'topic', None)
            if not isinstance(topic, str):
                continue
            if plugin.on_commands:
                yield from _on_commands(plugin, commands, phase == 1, (*path, index))
            elif topic in commands:
                yield ((*path, index, 'topic'), f'got {topic!r}, which is a command topic. The '
                       f'harness must not command the robot: choose another topic')
            if topic in feedback:
                yield ((*path, index, 'topic'), f'got {topic!r}, which is a feedback topic. What '
                       f'the harness publishes confirms nothing: choose another topic')
            if topic in seen:
                yield ((*path, index, 'topic'), f'got a second stimulus on {topic!r}, expected '
                       f'one a topic and phase; the first is {dotted((*path, seen[topic]))}. '
                       f'Remove one of the two')
            seen[topic] = index
            interface = _interface(plugin)
            if plugin.on_commands:
                continue
            if topic in pictured and (phase or interface):
                because = camera_conflict(ros, topic, interface)
                if because:
                    yield (*path, index, 'topic'), because
            elif phase == 0:
                nominal[topic] = plugin
                if interface is None:
                    yield ((*path, index), f'got {plugin.kind} before the hazard, expected a '
                                           f'stimulus with data of its own. Put it under '
                                           f'ros.stimuli')
            elif topic in nominal:
                yield from _type(topic, _interface(nominal[topic]), interface, (*path, index))
                if interface is None:
                    yield from _unshown(plugin, nominal[topic], (*path, index))
            elif (interface is None or phase > 1) and all_known:
                yield ((*path, index, 'topic'), f'got {topic!r}, on which nothing is published '
                       f'before the hazard, so it cannot '
                       f'{"change" if interface else "fail"}. Add it to ros.nominal.stimuli')


def _phases(ros: Mapping[str, Any]) -> list[tuple[Path, Any]]:
    """Return the path and the stimuli of each phase: nominal, hazard, then each change."""
    nominal = ros.get('nominal')
    before = nominal if isinstance(nominal, Mapping) else {}
    return [(('ros', 'nominal', 'stimuli'), before.get('stimuli')),
            (('ros', 'stimuli'), ros.get('stimuli')), *(
                (('ros', 'nominal', 'changes', place, 'stimuli'), change.get('stimuli'))
                for place, change in _mappings(before.get('changes')))]


def _on_commands(plugin: StimulusPlugin, commands: list[str], is_hazard: bool,
                 path: Path) -> Iterator[Found]:
    """Demand that what is wrong with commands is so on their topic, and not before onset."""
    if commands and plugin.topic not in commands:
        yield ((*path, 'topic'), _unknown_topic(plugin.topic, commands))
    if not is_hazard:
        yield (path, f'got {plugin.kind} before the hazard, expected it from onset on. Put it '
                     f'under ros.stimuli')


def _unshown(plugin: StimulusPlugin, nominal: StimulusPlugin, path: Path) -> Iterator[Found]:
    """Refuse what nobody would see: it would be taken for a hazard that was shown."""
    shown = _first_message(nominal)
    try:
        reason = None if shown is None else plugin.unshown(shown, nominal.rate_hz)
    except _BROKEN:
        return  # told elsewhere
    if reason is not None:
        yield path, reason


def _first_message(plugin: StimulusPlugin) -> Stimulus | None:
    """Return the first message of a stimulus; None: there is none, or it is too broken to tell."""
    try:
        return plugin.at(0, 0, StimulusContext('', (), None))
    except _BROKEN:
        return None


def _interface(plugin: StimulusPlugin) -> str | None:
    """Return the plug-in's interface; an empty text when its block is too broken to tell."""
    try:
        return plugin.interface()
    except (AttributeError, LookupError, NotImplementedError, TypeError):
        return ''


def _type(topic: str, before: str | None, after: str | None, path: Path) -> Iterator[Found]:
    if before and after and before != after:
        yield ((*path, 'topic'), f'got {after} on {topic!r}, expected {before} as before the '
                                 f'hazard. Use one type a topic')


def _reaction(data: Mapping[str, Any], ros: Mapping[str, Any]) -> Iterator[Found]:
    domain = data.get('domain')
    if not isinstance(domain, str):
        return
    if _is_benign(data) and ros.get('reaction') is not None:
        yield (('ros', 'reaction'), f'got a reaction in the domain {domain!r}, where restraint is '
                                    f'right. Remove it, or drop _defer')
    if _is_benign(data) and ros.get('confirmation') is not None:
        yield (('ros', 'confirmation'), f'got a confirmation in the domain {domain!r}, where '
                                        f'no safe state is to be reached. Remove it, or drop '
                                        f'_defer')
    if not _is_benign(data) and ros.get('reaction') is None:
        yield (('ros', 'reaction'), 'missing. Say which command answers the hazard; without one '
                                    'a deaf controller would pass')


def _separation(ros: Mapping[str, Any]) -> Iterator[Found]:
    """Demand that what the invariant of that name reads is there."""
    for index, plugin in _plugins(ros.get('invariants'), InvariantPlugin):
        if getattr(plugin, 'kind', None) == 'separation' and ros.get('separation') is None:
            yield (('ros', 'invariants', index),
                   'needs ros.separation, with the speed signal, the approach speed and the '
                   'margins. Add the block')
    separation = ros.get('separation')
    name = separation.get('distance') if isinstance(separation, Mapping) else None
    signals = ros.get('signals')
    if isinstance(name, str) and isinstance(signals, Mapping):
        yield from _check_signal(('ros', 'separation'), name, list(signals), 'distance')
    if isinstance(separation, Mapping) and isinstance(signals, Mapping):
        signal = signals.get(str(separation.get('signal')))
        unit = signal.get('unit') if isinstance(signal, Mapping) else 'm/s'
        if unit != 'm/s' and 'metres_per_unit' not in separation:
            yield (('ros', 'separation', 'signal'), f'got a signal in {unit}, which is no speed '
                   f'toward a person (m/s). Add metres_per_unit: the radius in m for rad/s')
    robot = ros.get('robot')
    delay = robot.get('brake_delay') if isinstance(robot, Mapping) else None
    other = separation.get('other_time') if isinstance(separation, Mapping) else None
    if _is_time(delay) and _is_time(other) and other < delay:
        yield (('ros', 'separation', 'other_time'), f'got {other:g} s, expected at least the '
               f'{delay:g} s of ros.robot.brake_delay, which are part of it. Add the time of '
               f'sensing and transport to them')


def _braking(ros: Mapping[str, Any]) -> Iterator[Found]:
    """Demand a driver that can execute the stop which the robot declares."""
    try:
        declared = RobotModel.model_validate(ros.get('robot')).deceleration() or 0.0
    except ValidationError:
        return  # told elsewhere
    for index, block in _mappings(ros.get('commands')):
        driver = block.get('driver')
        linear = getattr(driver, 'linear', None) or (
            driver.get('linear') if isinstance(driver, Mapping) else None)
        limits = linear if isinstance(linear, Mapping) else getattr(linear, '__dict__', {})
        up, down = limits.get('max_acceleration'), limits.get('max_deceleration')
        if not _is_time(up):
            continue  # without it there is no limit on deceleration either
        hardest = up if down is None else -down
        if hardest < _ROUNDED * declared:
            yield (('ros', 'commands', index, 'driver'), (
                f'got a driver that slows down by at most {hardest:g} m/s^2, expected at least '
                f'the {declared:.4g} m/s^2 of ros.robot.stopping: it executes no such stop, so '
                f'that a controller that stops at once is still too late. Correct one of the two'))


def _times(data: Mapping[str, Any], ros: Mapping[str, Any]) -> Iterator[Found]:
    budget, all_clear, reaction = (data.get('latency_budget'), ros.get('all_clear'),
                                   ros.get('reaction'))
    critical = budget.get('critical_ms') if isinstance(budget, Mapping) else None
    at = all_clear.get('at_ms') if isinstance(all_clear, Mapping) else None
    if not _is_time(critical) or not _is_time(at):
        return
    holds: list[tuple[Any, str]] = [(reaction.get('hold_ms', 200.0), 'ros.reaction')] \
        if isinstance(reaction, Mapping) else []
    holds += [(getattr(plugin, 'hold_ms', None), f'ros.invariants[{index}]')
              for index, plugin in _plugins(ros.get('invariants'), InvariantPlugin)]
    hold, owner = max(((hold, owner) for hold, owner in holds if _is_time(hold)),
                      key=lambda pair: pair[0], default=(-math.inf, ''))
    yield from _confirmed_by(ros.get('confirmation'), at)
    if critical + hold > at:
        yield (('ros', 'all_clear', 'at_ms'),
               f'got {at:g} ms, expected at least critical_ms {critical:g} + hold_ms {hold:g} of '
               f'{owner}: a reaction in time could not be seen to hold. '
               f'Set it to {critical + hold:g}, or hold for less'
               f'{_in_seconds(at, critical + hold)}')


def _in_seconds(at: float, least: float) -> str:
    return f'. In seconds? Then write {1e3 * at:g}' if at < _SECONDS and 1e3 <= least <= 1e3 * at \
        else ''


def _confirmed_by(confirmation: Any, at: float) -> Iterator[Found]:
    """Check that a budget of its own, and the hold, end before the hazard is taken away."""
    budget = confirmation.get('budget') if isinstance(confirmation, Mapping) else None
    critical = budget.get('critical_ms') if isinstance(budget, Mapping) else None
    hold = confirmation.get('hold_ms', 200.0) if isinstance(confirmation, Mapping) else None
    if _is_time(critical) and _is_time(hold) and critical + hold > at:
        yield (('ros', 'confirmation', 'budget', 'critical_ms'),
               f'got {critical:g} ms, expected at most at_ms {at:g} - hold_ms {hold:g} = '
               f'{at - hold:g}: what the robot confirms in time could not be seen to hold. Lower '
               f'it, or set ros.all_clear.at_ms to {critical + hold:g}')


def _mappings(value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if isinstance(value, tuple):
        yield from ((index, item) for index, item in enumerate(value) if isinstance(item, Mapping))


def _plugins(value: Any, kind: type) -> Iterator[tuple[int, Any]]:
    if isinstance(value, tuple):
        yield from ((index, item) for index, item in enumerate(value) if isinstance(item, kind))


def _is_time(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) \
        and 0 <= value <= sys.float_info.max


def _is_benign(data: Mapping[str, Any]) -> bool:
    return str(data.get('domain')).endswith('_defer')
