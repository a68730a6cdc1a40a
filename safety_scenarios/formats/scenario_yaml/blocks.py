# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the blocks of a ``ros:`` block must agree with: cameras, onsets, monitors, recordings."""

from collections.abc import Iterator, Mapping
import math
import pathlib
from typing import Any, TypeGuard

from pydantic import ValidationError
from safety_scenarios.errors import did_you_mean, InputError, MeasurementError
from safety_scenarios.formats.document.json_document import Resolve
from safety_scenarios.formats.document.messages import describe, show
from safety_scenarios.formats.document.positions import Path
from safety_scenarios.scenario.blocks.onset import BagBlock, Recording
from safety_scenarios.scenario.body import NOT_IN_MONITORS
from safety_scenarios.scenario.invariant import InvariantPlugin, SPEEDS
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.scenario import Constraint
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.scenario.verdict import LatencyBudget
from safety_scenarios.scenario.world import Camera

_FIELDS = 'topic', 'info'


def camera_topics(ros: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the topics of a camera, each with the field that names it; empty: there is none."""
    world = ros.get('world')
    camera = world.get('camera') if isinstance(world, Mapping) else None
    if not isinstance(camera, Mapping):
        return {}
    named = ((camera.get(field, Camera.model_fields[field].default), field) for field in _FIELDS)
    return {topic: field for topic, field in named if isinstance(topic, str)}


def topic_conflicts(ros: Mapping[str, Any], commands: list[str],
                    feedback: list[str]) -> Iterator[tuple[Path, str]]:
    """Yield what else uses a topic of the camera."""
    for topic, field in camera_topics(ros).items():
        for topics, what in ((commands, 'command'), (feedback, 'feedback')):
            if topic in topics:
                yield (('ros', 'world', 'camera', field),
                       f'got {topic!r}, which is a {what} topic, expected one that the camera '
                       f'has to itself. Choose another topic')


def camera_conflict(ros: Mapping[str, Any], topic: str, interface: str | None) -> str:
    """Return why a stimulus cannot be on a topic of the camera; empty: it can."""
    if interface:
        return (f'got {topic!r}, on which ros.world.camera publishes, expected another topic: '
                f'the camera sees whatever any stimulus puts into the world. Choose another one')
    if ros['world'].get('required') is not True:
        return (f'got {topic!r}, on which only a world publishes, so without one it cannot fail. '
                f'Add required: true to ros.world')
    return ''


Found = tuple[Path, str]
_PATH = ('ros', 'onset')


def marked(data: Mapping[str, Any], ros: Mapping[str, Any],
           signals: Mapping[str, Any]) -> Iterator[Found]:
    """Yield what is wrong with the onset of prepared scenario data."""
    onset = ros.get('onset')
    if not isinstance(onset, Mapping):
        return
    topic = onset.get('topic')
    if isinstance(topic, str):
        yield from _whose(ros, topic)
        yield from _check_sensor_topic(onset, topic, signals)
    budget = data.get('latency_budget')
    critical = budget.get('critical_ms') if isinstance(budget, Mapping) else None
    off = onset.get('uncertainty_ms')
    if _is_number(critical) and _is_number(off) and off >= critical:
        yield ((*_PATH, 'uncertainty_ms'), (
            f'got {off:g} ms, expected less than critical_ms {critical:g}: it is added to that of '
            f'every latency, so that no trial could pass. Use a faster sensor'))


def _whose(ros: Mapping[str, Any], topic: str) -> Iterator[Found]:
    """Refuse a sensor that the controller or the harness itself plays."""
    commands = ros.get('commands')
    if topic in [block.get('topic') for block in (commands if isinstance(commands, tuple) else ())
                 if isinstance(block, Mapping)]:
        yield ((*_PATH, 'topic'), (
            f'got {topic!r}, which is a command topic: the controller would say itself when its '
            f'time begins. Name the topic of a sensor that it does not control'))
    nominal = ros.get('nominal')
    blocks = [ros, nominal] if isinstance(nominal, Mapping) else [ros]
    shown = [plugin for block in blocks for plugin in (
        block['stimuli'] if isinstance(block.get('stimuli'), tuple) else ())]
    if topic in [getattr(plugin, 'topic', None) for plugin in shown
                 if isinstance(plugin, StimulusPlugin)]:
        yield ((*_PATH, 'topic'), (
            f'got {topic!r}, on which a stimulus is published: what the harness publishes marks '
            f'no real hazard. Name the topic of the reference sensor'))


def _check_sensor_topic(onset: Mapping[str, Any], topic: str,
                        signals: Mapping[str, Any]) -> Iterator[Found]:
    """Demand that ``when`` reads the sensor's own topic, in one message at a time."""
    when = onset.get('when')
    name = when.get('signal') if isinstance(when, Mapping) else None
    signal = signals.get(name) if isinstance(name, str) else None
    if not isinstance(signal, Mapping):
        return
    if isinstance(signal.get('topic'), str) and signal['topic'] != topic:
        yield ((*_PATH, 'when', 'signal'), (
            f'got a signal of {signal["topic"]!r}, expected one of {topic!r}, the topic of the '
            f'reference sensor. Define one under ros.signals'))
    if signal.get('reduce') == 'joint_speed':
        yield ((*_PATH, 'when', 'signal'), (
            'got the speed that a driver makes of commands (joint_speed), expected what one '
            'message of the sensor contains'))


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) \
        and math.isfinite(value)


def units_of_signals(ros: Mapping[str, Any], signals: Mapping[str, Any]) -> Iterator[Found]:
    """Yield (field path, message) for each signal whose unit is not what its reader reads."""
    named: list[tuple[Path, Any, tuple[str, ...]]] = []
    plugins = ros.get('invariants')
    for index, plugin in enumerate(plugins if isinstance(plugins, tuple) else ()):
        if isinstance(plugin, InvariantPlugin):
            named += [(('ros', 'invariants', index, field), getattr(plugin, field, None), units)
                      for field, units in plugin.units.items()]
    separation = ros.get('separation')
    if isinstance(separation, Mapping):
        named += [(('ros', 'separation', 'distance'), separation.get('distance'), ('m',)),
                  (('ros', 'separation', 'signal'), separation.get('signal'), SPEEDS)]
    for path, name, units in named:
        signal = signals.get(name) if isinstance(name, str) else None
        unit = signal.get('unit') if isinstance(signal, Mapping) else None
        if unit is not None and unit not in units:
            yield path, (f'got {name!r}, a signal in {show(unit)}, expected one in '
                         f'{" or ".join(units)}. Name another, or correct its unit')


IN_MONITORS = {
    'domain': 'robotic', 'description': '', 'messages': (ChatMessage(role='user', content='-'),),
    'latency_budget': LatencyBudget(target_ms=100.0, acceptable_ms=100.0, critical_ms=100.0),
    'constraint': Constraint(
        description='The robot is in operation.', time_pressure='immediate',
        consequence_of_delay='The file does not say.'),
    'expected_action': 'What the invariants say, at all times.'}
"""What a monitor file need not say; nothing is judged by it, as there is no onset."""
_OF_TRIALS = ('hazard', 'truth.')
"""Signals of formulas that only a trial has; the second with what follows it."""


def is_monitor(data: Mapping[str, Any]) -> bool:
    """Return whether a file, right or wrong, is a monitor file: ``ros.monitor`` is true."""
    ros = data.get('ros')
    return isinstance(ros, Mapping) and ros.get('monitor') is True


def unwatchable(ros: Mapping[str, Any]) -> Iterator[Found]:
    """Yield (field path, message) for what only a trial could do, or nobody could judge live."""
    for name in NOT_IN_MONITORS:
        if name in ros:
            yield (('ros', name), 'got a key of trials in a monitor file, which publishes nothing '
                                  'and has no hazard. Remove it')
    given = ros.get('inputs')
    inputs = [block['topic'] for block in given if isinstance(block, Mapping)
              and isinstance(block.get('topic'), str)] if isinstance(given, tuple) else []
    plugins = ros.get('invariants')
    for index, plugin in enumerate(plugins if isinstance(plugins, tuple) else ()):
        if isinstance(plugin, InvariantPlugin) and 'name' in plugin.model_fields_set:
            for field, text in _check_invariant(plugin, ros, inputs):
                yield ('ros', 'invariants', index, *field), text


def _check_invariant(plugin: InvariantPlugin, ros: Mapping[str, Any],
                     inputs: list[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    kind = str(getattr(plugin, 'kind', ''))
    if not plugin.holds_always:
        yield ('kind',), (f'got {kind}, which is about the answer to a hazard, and a '
                          'monitor has none. Use one that holds at all times, such as bound, '
                          f'fresh, limits, liveness, separation, temporal or zone')
    for field in plugin.names_stimuli:
        named = getattr(plugin, field, None)
        for topic in named if isinstance(named, tuple) else (named,):
            if isinstance(topic, str) and topic not in inputs:
                hint = did_you_mean(topic, inputs)
                yield (field,), (f'got {topic!r}, expected one of ros.inputs: '
                                 f'{", ".join(inputs) or "none"}. List it there{hint and "."}'
                                 f'{hint}')
    separation = ros.get('separation')
    if kind == 'separation' and isinstance(separation, Mapping) \
            and separation.get('distance') is None:
        yield (), ('needs ros.separation.distance in a monitor file: no other signal has the '
                   'distance of people. Name a feedback signal')
    if kind == 'separation' and isinstance(ros.get('robot'), Mapping) \
            and ros['robot'].get('stopping') is None:
        yield (), ('needs ros.robot.stopping: how the robot comes to rest. Declare it, by its '
                   'manual or a stop-time test')
    if kind == 'zone' and getattr(plugin, 'x', None) is None:
        yield (), ('needs x and y in a monitor file, signals of the place that the robot '
                   'reports: a prediction begins with an onset, and there is none')
    yield from _check_formula(plugin)


def _check_formula(plugin: InvariantPlugin) -> Iterator[tuple[tuple[str, ...], str]]:
    """Ask a plug-in with a formula whether it could be judged at all."""
    looks_around = getattr(plugin, 'looks_around', None)
    if looks_around is None:
        return
    for name in sorted(getattr(plugin, 'names', ())):
        if name == _OF_TRIALS[0] or name.startswith(_OF_TRIALS[1]):
            yield ('formula',), (f'got the signal {name!r}, which only a trial has, expected one '
                                 f'of ros.signals')
    try:
        looks_around()
    except (InputError, TypeError) as error:
        yield ('formula',), str(error)


class Bags:
    """
    Reads the bag of a scenario file once, however often its values are tried.

    :param path: of the scenario file, from whose folder a relative path begins
    """

    def __init__(self, path: str, resolve: Resolve) -> None:
        self._folder = pathlib.Path(path).parent
        self._resolve = resolve
        self._read: dict[str, Recording | str] = {}

    def stimuli(self, ros: Mapping[str, Any]) -> tuple[StimulusPlugin, ...]:
        """
        Return what plays the bag of a ``ros:`` block whose stimuli are plug-ins already.

        A block that is broken in itself is told by its model, and gives none.

        :raises InputError: no bag, or none that can be played here; says what is wrong
        """
        block = _block(ros)
        if block is None:
            return ()
        recording = self._recording(block, _blocked_topics(ros))
        plugin = self._resolve('stimuli', 'recorded')
        new_names = {name.lstrip('/'): topic for name, topic in block.remap.items()}
        found = []
        for recorded in recording.topics:
            try:
                found.append(plugin.of(
                    recorded, topic=new_names.get(recorded.name, recorded.name), bag=block.file,
                    sha256=recording.sha256, round_ns=recording.round_ns, at_end=block.at_end))
            except ValidationError as error:
                _, sentence, _ = next(describe(error.errors(include_url=False), plugin))
                raise InputError(f'{recorded.name}: {sentence}. Leave it out by topics, or '
                                 f'rename it by remap') from None
        return tuple(found)

    @property
    def excluded_topics(self) -> Mapping[str, str]:
        """Name in the bag of each topic that is not played, to the reason."""
        return {name: why for recording in self._read.values()
                if isinstance(recording, Recording) for name, why in recording.left_out.items()}

    @property
    def sha256(self) -> str | None:
        """Of the bag, None where none was read."""
        return next((recording.sha256 for recording in self._read.values()
                     if isinstance(recording, Recording)), None)

    def _recording(self, block: BagBlock, kept_off: Mapping[str, str]) -> Recording:
        key = block.model_dump_json()
        if key not in self._read:
            try:
                self._read[key] = self._resolve('bags', 'rosbag2')(
                    self._folder / block.file, block, kept_off)
            except (InputError, MeasurementError) as error:
                self._read[key] = str(error)
        found = self._read[key]
        if isinstance(found, str):
            raise InputError(found)
        return found


def _block(ros: Mapping[str, Any]) -> BagBlock | None:
    nominal = ros.get('nominal')
    given = nominal.get('bag') if isinstance(nominal, Mapping) else None
    if isinstance(given, str):
        given = {'file': given}
    try:
        return None if given is None else BagBlock.model_validate(given)
    except ValidationError:
        return None


def _blocked_topics(ros: Mapping[str, Any]) -> dict[str, str]:
    """Return the topics that the bag must not be played on, and why."""
    found: dict[str, str] = {}
    for key, why in (('commands', 'is a command topic, and the harness must not command the '
                                  'robot'),
                     ('feedback', 'is a feedback topic, and what the harness publishes confirms '
                                  'nothing')):
        blocks = ros.get(key)
        found |= {str(block.get('topic')): why for block in (
            blocks if isinstance(blocks, tuple) else ()) if isinstance(block, Mapping)}
    stimuli = ros['nominal'].get('stimuli')
    return found | {str(getattr(plugin, 'topic', '')): 'is published by ros.nominal.stimuli'
                    for plugin in (stimuli if isinstance(stimuli, tuple) else ())}
