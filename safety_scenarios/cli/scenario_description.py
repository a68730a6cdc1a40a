# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario is about, in words: what is shown, what is drawn, and what is demanded."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
import inspect
import os
import re
from typing import Any

from safety_scenarios.cli.values_in_words import (
    choices_text,
    field_texts,
    fields_text,
    is_long,
    stimulus_text,
    time_text,
    value_text,
)
from safety_scenarios.errors import escaped_line
from safety_scenarios.formats.agents.reader import skeleton, without_meaning
from safety_scenarios.formats.agents.topics import SUFFIXES
from safety_scenarios.formats.document.file_contents import BLANK
from safety_scenarios.judging.findings.nominal import MOMENT_NS
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.lint.pairs import hazards_of
from safety_scenarios.scenario.blocks.agents import Pattern, Publish, Rule
from safety_scenarios.scenario.blocks.robot import RobotModel, Separation
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.blocks.vary import Draw, steps_to, unit_at
from safety_scenarios.scenario.body import AgentsBody, RobotBody, ScenarioBody
from safety_scenarios.scenario.fields import explanations, flat
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.trial.trial import PROMPT, RESPONSE

_DURING = {'trial': 'the whole trial', 'hazard': 'the time from onset to the all-clear'}
_UNIT_PER = {'rate_at_most': '', 'jerk_at_most': '/s'}
"""What the unit of a signal's change in a second has behind that of the signal."""


def description(scenario: Scenario, variants: Sequence[Scenario] | None = None) -> Iterator[str]:
    """
    Yield the lines of a description.

    :param variants: benign variants of a hazard; None: nobody looked for them
    """
    named = ', '.join(map(escaped_line, hazards_of(scenario)))
    yield f'{scenario.id} {scenario.name}: ' + (
        'a monitor, whose checks hold at all times' if scenario.is_monitor else
        'a hazard' if not scenario.is_benign
        else 'harmless, to stop is wrong' if isinstance(scenario.body, RobotBody)
        else 'harmless, to refuse or raise an alarm is wrong') + (
        f'; the benign variant of {named}' if named else
        '' if variants is None or scenario.is_benign or scenario.is_monitor else
        '; no benign variant' if not variants else
        f'; its benign variant: {", ".join(one.id for one in variants)}') + (
        f'; hazards {", ".join(scenario.hazards)}' if scenario.hazards else '') + (
        f'; severity {scenario.severity:g} of 1')
    yield f'What: {_what(scenario)}'
    yield from map(_variant, variants or ())
    body = scenario.body
    in_texts = {name: draw for name, draw in body.vary.items() if draw.is_in_text}
    if in_texts:
        yield 'Drawn in each trial, in the texts below with the first value:'
    for name, draw in in_texts.items():
        first = draw.probes[0]
        keys = f' ({", ".join(first)})' if isinstance(first, Mapping) else ''
        yield f'  {name}{keys}: {choices_text(draw, draw.unit or "", least=2)}' \
              f'{_used(scenario, name)}'
    if isinstance(body, AgentsBody) and not body.turns:
        yield from _agents(scenario, body)
        yield from _open(body, scenario.origin.path if scenario.origin else '')
        return
    for message in scenario.messages:
        yield f'{message.role}: {" ".join(message.content.split())}'
    yield f'Expected: {" ".join(scenario.expected_action.split())}'
    if isinstance(body, RobotBody) and not scenario.is_monitor:
        yield from _stimulus_lines(body)
    yield 'To pass:'
    yield from _demands(scenario)


def _what(scenario: Scenario) -> str:
    what = ' '.join(scenario.description.split())
    return what.removeprefix(scenario.name).strip() or what


def _variant(variant: Scenario) -> str:
    """Return what a benign variant shows, and what is demanded there."""
    told = [f'{name}: {demand}' if one.forbids_stopping or isinstance(one, Text) else name
            for one, (name, _, demand) in zip(variant.invariants, checks(variant), strict=True)]
    if isinstance(variant.body, AgentsBody):
        told += [str(rule) for rule in variant.body.rules if rule.expect or rule.forbid]
    return f'Benign variant {variant.id}, {escaped_line(variant.name)}: ' \
           f'{_what(variant)} To pass there: {"; ".join(told)}'


def _used(scenario: Scenario, name: str) -> str:
    """Return where a text takes a drawn value."""
    first, last = _with_draw(scenario, name)
    places = [f'the {one.role} message' for one, other in zip(first.messages, last.messages)
              if one != other]
    one, other = first.body, last.body
    if isinstance(one, AgentsBody) and isinstance(other, AgentsBody):
        places = [f'what {line.say.agent} says at {time_text(line.at_ns / 1e6)}'
                  for line, varied in zip(one.script, other.script) if line != varied]
        places += [f'{shown.kind} on {shown.topic}'
                   for shown, varied in zip(one.hazard, other.hazard) if shown != varied]
        places += ['the tools'] * (one.tools != other.tools)
        places += ['what is demanded'] * any(
            (rule.expect, rule.forbid) != (varied.expect, varied.forbid)
            for rule, varied in zip(one.rules, other.rules))
    return f'  [{", ".join(dict.fromkeys(places))}]' if places else ''


def _with_draw(scenario: Scenario, name: str) -> tuple[Scenario, Scenario]:
    """Return a scenario with the first and the last value of a draw in its texts."""
    if scenario.source is None:
        return scenario, scenario
    probes = scenario.body.vary[name].probes
    last = 1 if scenario.body.vary[name].extent is not None else -1
    return (scenario.source.fill(scenario, {name: probes[0]}),
            scenario.source.fill(scenario, {name: probes[last]}))


def checks(scenario: Scenario) -> Iterator[tuple[str, str, str]]:
    """Yield name, kind and demand of each check, the demand with the values that it was given."""
    body = scenario.body
    draws = _drawn(body) if isinstance(body, RobotBody) else {}
    for key, found in (('safety_invariants', scenario.safety_invariants),
                       ('ros.invariants', body.invariants)):
        for index, check in enumerate(found):
            rule = inspect.cleandoc(type(check).__doc__ or '').partition('\n\n')[0]
            named = set(re.findall(r'\w+', ' '.join(re.findall('``(.*?)``', rule))))
            values = field_texts(check, f'{key}[{index}]', draws, {*named, 'rule'})
            values |= _in_full(scenario, check, values)
            said = getattr(check, 'description', '') or re.sub(
                '``(.*?)``', partial(_filled, type(check), values), rule)
            said = ' '.join(said.split()).rstrip('.')
            if isinstance(check, Text):
                yield check.name, '', f'{said}{_words(check)}'
                continue
            about = explanations(type(check))
            rest = '; '.join(dict.fromkeys(
                check.wording[name.partition('.')[0]].format(text)
                if name.partition('.')[0] in check.wording
                else f'{name}: {text}{_about(about.get(name, ""))}'
                for name, text in values.items() if name not in named))
            yield check.name, getattr(check, 'kind', ''), said + (f' ({rest})' if rest else '')


def _words(check: Text) -> str:
    """Return the words that an answer must leave out; what else a pattern finds is in words."""
    return f' [must not say "{check.pattern}"]' if check.check_type == 'not_contains' else ''


def _about(explanation: str) -> str:
    """Return the first sentence about a parameter, as it stands behind its value."""
    told = ' '.join(explanation.split()).partition('. ')[0].replace('``', '').rstrip('.')
    return f', {told[:1].lower()}{told[1:]}' if told else ''


def _in_full(scenario: Scenario, check: Any, values: Mapping[str, str]) -> dict[str, str]:
    """Return times and phases that a name stands for, and limits in the unit of their signal."""
    signal = scenario.body.signals.get(str(getattr(check, 'signal', '')))
    found = {name: f'{values[name]} {signal.unit}{_UNIT_PER.get(name, "")}'
             for name in ('at_least', 'at_most', 'push_at_most', *_UNIT_PER)
             if signal is not None and ' ' not in values.get(name, ' ')}
    if 'within' in values:
        limit = getattr(scenario.latency_budget, f'{check.within}_ms', check.within)
        found['within'] = f'within {value_text(limit)} ms'
    if values.get('during') in _DURING:
        found['during'] = _DURING[values['during']]
    return found


def _filled(kind: type[Noun], values: Mapping[str, str], span: re.Match[str]) -> str:
    """Return what a docstring quotes, with values for names and without limits not set."""
    code = span[1]
    for name in kind.model_fields:
        if name not in values:
            code = re.sub(rf'\b{name} <= | [<>]= {name}\b', '', code)
    return re.sub(r'\w+', lambda word: values.get(word[0], word[0]), code)


def _topics(body: ScenarioBody, shown: Sequence[StimulusPlugin],
            heard: Collection[str] = (), said: Collection[str] = ()) -> Iterator[str]:
    """Yield to which topics a controller subscribes, and on which it publishes."""
    types: dict[str, str | None] = {}
    commands = {one.topic for one in body.commands}
    for one in shown:
        if one.topic not in commands:
            types[one.topic] = types.get(one.topic) or one.interface()
    yield 'To the controller: ' + ', '.join((*heard, *(
        f'{topic} ({kind})' if kind else topic for topic, kind in sorted(types.items()))))
    yield 'From the controller: ' + ', '.join((*said, *(
        f'{one.topic} ({"type as on the ROS graph" if one.message == "auto" else one.message})'
        for one in body.commands)))
    if between := sorted(commands & {one.topic for one in shown}):
        yield f'Disturbed between the controller and the robot: {", ".join(between)}'


def _robot(robot: RobotModel, draws: Mapping[str, str]) -> str:
    unit = kind_of(robot).speed_unit
    told = fields_text(robot, 'ros.robot', draws).replace('m/s or rad/s', unit).replace(
        'm or rad', unit.partition('/')[0])
    return f'Robot: {robot.kind}, {told}'


def _stimulus_lines(body: RobotBody) -> Iterator[str]:
    is_asked = any(one.topic == PROMPT for one in body.stimuli)
    yield from _topics(body, (*body.nominal.stimuli, *body.stimuli),
                       said=[f'{RESPONSE} (std_msgs/msg/String)'] * is_asked)
    draws = _drawn(body)
    yield _robot(body.robot, draws)
    if body.world is not None:
        told = fields_text(body.world, 'ros.world', draws, ('required',)) or 'an empty floor'
        yield f'World{" (not without one)" * body.world.required}: {told}'
    for name, draw in body.vary.items():
        if is_long(draw):
            yield f'Drawn in each trial: {name} {choices_text(draw)}'
    nominal, work = body.nominal, body.nominal.require
    yield f'First the robot works: {_limits(body, (work,))} within ' \
          f'{time_text(work.within_ms)}, then for another {time_text(*nominal.duration_ms)}, ' \
          f'while it is shown:'
    for index, one in enumerate(nominal.stimuli):
        yield f'  {one.topic}: {stimulus_text(one, f"ros.nominal.stimuli[{index}]", draws)}'
    changes = Counter(
        (time_text(*change.lasts_ms), tuple(
            f'{one.topic}: '
            f'{stimulus_text(one, f"ros.nominal.changes[{index}].stimuli[{number}]", draws)}'
            for number, one in enumerate(change.stimuli)))
        for index, change in enumerate(nominal.changes))
    for (lasts, lines), times in changes.items():
        often = {1: 'once', 2: 'twice'}.get(times, f'{times} times')
        yield f'Meanwhile, if there is time, {often}, for {lasts}, a harmless change:'
        yield from (f'  {line}' for line in lines)
    kept = next((draw for draw in body.vary.values() if draw.keeps), None)
    yield ('Event' if body.reaction is None else 'Hazard') + ', from onset on' + (
        f', each trial only what is on {_topics_text(kept)}' if kept is not None else '') + ':'
    for index, one in enumerate(body.stimuli):
        yield f'  {one.topic}: {stimulus_text(one, f"ros.stimuli[{index}]", draws)}'
    at = draws.get('ros.all_clear.at_ms', time_text(body.all_clear.at_ms))
    yield f'All-clear: {at} after onset'


def _topics_text(kept: Draw) -> str:
    """Return the topics of which each trial shows one choice."""
    counts = Counter(' and '.join(one) if isinstance(one, (list, tuple)) else str(one)
                     for one in kept.choice or ())
    is_even = len({*counts.values()}) == 1
    return ', or on '.join(text if is_even else f'{text} ({count} in {counts.total()})'
                           for text, count in counts.items())


def _limits(body: ScenarioBody, limits: Sequence[Limit]) -> str:
    """Return limits, each with the unit of its signal."""
    return ' and '.join(f'{one} {signal.unit}' if (signal := body.signals.get(one.signal))
                        else str(one) for one in limits)


def _demands(scenario: Scenario) -> Iterator[str]:
    body, budget = scenario.body, scenario.latency_budget
    most, acceptable, target = map(time_text, (
        budget.critical_ms, budget.acceptable_ms, budget.target_ms))
    sooner = f'(later fails; up to {target} it is called target, up to {acceptable} acceptable)'
    if body.is_in_words:
        yield f'  the answer comes at most {most} after the question {sooner}'
    elif body.reaction is not None and body.robot is not None:
        terms = body.separation
        rate = body.robot.deceleration(terms.metres_per_unit if terms else 1.0)
        unit = kind_of(body.robot).speed_unit.partition('/')[0]
        yield f'  reaction: {"the braking to " * (rate is not None)}' \
              f'{_limits(body, body.reaction.limits)} begins at most ' \
              f'{most} after onset {sooner}' + (
                  '' if rate is None else f', goes on at no less than {rate:.3g} {unit}/s^2,'
              ) + f' and then holds for {time_text(body.reaction.hold_ms)}'
    for name, kind, demand in checks(scenario):
        yield f'  {name}{f" ({kind})" if kind else ""}: {demand}'
        if kind == 'separation' and isinstance(body, RobotBody) and body.separation is not None:
            yield f'    {_distance(body, body.separation)}'
    if any(isinstance(check, Text) for check in scenario.invariants):
        yield '  A judge decides by the sentence of a check in words. Without a judge a pattern ' \
              'does; it leaves an answer with other words than it knows INCONCLUSIVE.'
    if not isinstance(body, RobotBody):
        return
    if not scenario.is_monitor:
        resumes = body.all_clear.resume_within_ms
        yield '  after the all-clear: ' + (
            'to work again is not demanded' if resumes is None else
            f'{_limits(body, (body.nominal.require,))} again within {time_text(resumes)}')
    yield f'  always: {"; ".join(_always(scenario, body.robot))} (all: doc/reference/judging.md)'


def _always(scenario: Scenario, robot: RobotModel) -> Iterator[str]:
    """Yield what is checked without being in the file, as far as a controller can break it."""
    for bound in kind_of(robot).speed_bounds():
        yield f'{bound.what} no faster than {bound.most:g} {bound.unit} (1 % allowed)'
    if kind_of(robot).drives and robot.travel != 'any':
        yield 'drives ahead' + (' or in reverse, not sideways' if robot.travel == 'both'
                                else ' only')
    if scenario.is_benign:
        yield 'keeps working'
    elif not scenario.is_monitor:
        yield 'once stopped, does not move until the all-clear'
        yield f'before the hazard does not stop for over {MOMENT_NS // 1_000_000} ms, for no ' \
              f'harmless change either'
    yield 'touches nobody (where a world reports contacts)'
    yield 'is moved on no other topic'


def _distance(body: RobotBody, terms: Separation) -> str:
    """Return the protective separation distance at top speed, and what it consists of."""
    draws = _drawn(body)
    known = {name: text.removesuffix(' m/s').removesuffix(' m').removesuffix(' s')
             for name, text in field_texts(terms, 'ros.separation', draws, (
                 'approach_speed', 'reach', 'intrusion', 'other_time')).items()}
    parts = [f'what the robot covers in {known["other_time"]} s and while it brakes',
             f'{known["intrusion"]} m (intrusion)']
    parts += [f'{known[name]} m ({name.replace("_", " ")})'
              for name in ('other_uncertainty', 'robot_uncertainty') if name in known]
    parts += [f'what a person covers meanwhile at {known["approach_speed"]} m/s'] \
        * (known['approach_speed'] != '0')
    if 'approach_stopping' in known:
        parts.append(f'{known["approach_stopping"]} m that the other robot covers while it brakes')
    is_drawn = any(path.startswith('ros.separation.') for path in draws)
    total = '' if is_drawn or body.separation_terms is None else \
        f'{terms.needed(body.robot, [terms.top_speed(body.robot)])[0]:.3g} m at top speed = '
    return f'S_p: {total}{" + ".join(parts)}' + (
        f'. {known["reach"]} m (reach) is first subtracted from the distance'
        if known['reach'] != '0' else '')


def _drawn(body: RobotBody) -> dict[str, str]:
    """Return the path of each field that differs from trial to trial, and what it may be."""
    return {path: 'as drawn' if is_long(draw) else
            choices_text(draw, _unit(body, draw, path)) for draw in body.vary.values()
            for path in draw.sets}


def _unit(body: RobotBody, draw: Draw, path: str) -> str:
    try:
        return draw.unit or unit_at(body, steps_to(path)[1:]) or ''
    except (LookupError, ValueError):
        return ''


def _agents(scenario: Scenario, block: AgentsBody) -> Iterator[str]:
    yield 'Who:'
    roles = {role.name: role.description for role in block.roles}
    for agent in block.agents:
        played = 'the controller under test' if agent.id == block.sut else {
            'script': 'played by the harness', 'human': 'a person', 'none': 'silent'}.get(
                agent.driver, f'the plug-in {agent.controller}')
        about = f': {" ".join(roles[agent.role].split())}' if roles.get(agent.role) else ''
        yield f'  {agent.id} ({agent.name}), {agent.role}{about}; {played}'
        yield from (f'    wants: {" ".join(goal.split())}' for goal in agent.goals)
    if block.tools:
        yield 'Tools:'
    for tool in block.tools:
        about = ' '.join(tool.description.split())
        yield f'  {tool.name}' + (f': {about}' if about else '')
    sut = block.agent(block.sut)
    talks = [] if sut is None else [f'{sut.space}/{way} (std_msgs/msg/String)'
                                    for way in ('in', 'out')]
    yield from _topics(block, block.hazard, talks[:1], talks[1:])
    if block.robot is not None:
        yield _robot(block.robot, {})
    draws = _drawn_in_stimuli(scenario)
    if block.stimuli:
        yield 'At the start:'
    for index, one in enumerate(block.stimuli):
        yield f'  {one.topic}: {stimulus_text(one, f"agents.hazard[{index}]", draws)}'
    times = ', '.join(choices_text(draw) for draw in block.vary.values() if not draw.is_in_text)
    yield f'Script, of {time_text(block.duration_ms)}' + (
        f'; each trial multiplies all its times, and those of "at", by {times}; "within", "for" '
        f'and "after" stay as they are:' if times else ':')
    for line in block.script:
        symbol = f'  [{line.say.symbol}]' if line.say.symbol else ''
        yield f'  {time_text(line.at_ns / 1e6)}, {line.say.agent}: ' \
              f'{" ".join(line.say.text.split())}{symbol}'
    place = len(block.stimuli)
    told: dict[bool, list[str]] = {True: [], False: []}
    for rule in block.rules:
        about = '  (unbound)' if rule.unbound else _meaning(rule, block, place, draws)
        told[rule.is_obligation].append(f'  {" ".join(str(rule).split())}{about}')
        place += sum(isinstance(effect, Publish) for effect in rule.effects)
    for title, lines in (('Must do (each is a check):', told[True]), ('Happens:', told[False])):
        yield from (title, *lines) if lines else ()


def _drawn_in_stimuli(scenario: Scenario) -> dict[str, str]:
    """Return the path of each field of a stimulus that a text gives a drawn value."""
    found: dict[str, str] = {}
    for name, draw in scenario.body.vary.items():
        if not draw.is_in_text:
            continue
        for index, (one, other) in enumerate(zip(*(
                varied.body.hazard for varied in _with_draw(scenario, name)))):
            first, last = (dict(flat(noun.model_dump(mode='json'))) for noun in (one, other))
            found |= {f'agents.hazard[{index}].{path}': choices_text(draw, draw.unit or '')
                      for path in first if first[path] != last.get(path)}
    return found


def _meaning(rule: Rule, block: AgentsBody, place: int, draws: Mapping[str, str]) -> str:
    """Return what the words of a rule stand for, where they are more than its own words."""
    told = [_pattern(pattern, block) for part in (rule.expect, rule.forbid) if part is not None
            for pattern in part.any]
    shown = [effect.stimulus for effect in rule.effects if isinstance(effect, Publish)]
    told += [f'{one.topic}: {stimulus_text(one, f"agents.hazard[{index}]", draws)}'
             for index, one in enumerate(shown, place)]
    return f'  [{"; ".join(dict.fromkeys(told))}]' if told else ''


def _pattern(one: Pattern, block: AgentsBody) -> str:
    if one.kind == 'signal':
        signal = block.signals.get(one.name)
        return f'{one.name} {one.op} {one.value:g}{f" {signal.unit}" if signal else ""}'
    if one.kind == 'tool_call':
        args = ', '.join(fields_text(arg, '', {}, ()) for arg in one.args)
        return f'calls {one.name}({args})'
    if one.kind == 'say':
        means = one.means.partition(';')[0].replace('its author', block.sut)
        return f'in words: {means or " or ".join(one.any_word) or "anything"}'
    return one.name or one.kind


def _open(block: AgentsBody, path: str) -> Iterator[str]:
    """Yield what keeps it from being run, and the bindings that are to be filled in."""
    missing = without_meaning(block)
    for reason in block.not_runnable:
        yield f'Not bound: {reason}'
    if missing:
        yield 'Without a meaning, so that no trial can pass:'
    for name, (entry, place) in missing.items():
        yield f'  {name!r} in rules[{entry}].{place}'
    if not (missing or block.not_runnable):
        return
    text = skeleton(block)
    if BLANK not in text:
        return
    stem = os.path.splitext(os.path.basename(path))[0]
    there = next((stem + suffix for suffix in SUFFIXES
                  if os.path.lexists(os.path.splitext(path)[0] + suffix)), '')
    yield f'To add to {there}, under the keys that it has, each {BLANK} filled in:' if there else \
        f'Bindings to fill in, each {BLANK}, and to save beside it as {stem}{SUFFIXES[0]}:'
    yield ''
    yield text.partition('\n')[2] if there else text
