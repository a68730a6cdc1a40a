# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario is about, in words: what is shown, what is drawn, and what is demanded."""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
import inspect
import os
import re
from typing import Any

from safety_scenarios.errors import seen_on_one_line, shortened
from safety_scenarios.formats.agents.reader import skeleton, without_meaning
from safety_scenarios.formats.agents.topics import SUFFIXES
from safety_scenarios.formats.document.file_contents import BLANK
from safety_scenarios.lint.pairs import hazards_of
from safety_scenarios.scenario.blocks.agents import Pattern, Publish, Rule
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.vary import Draw, steps_to, unit_at
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.fields import explanations, flat
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.scenario import Scenario

_NAMES = ('kind', 'topic', 'name', 'severity', 'message', 'rate_hz', 'description')
"""Fields that stand before the others, or say nothing of what is shown or demanded."""
_MANY = 4
"""Choices of a draw; of more only their number is told."""
_LONG = 80
"""Characters of a pattern; of a longer one the beginning is told."""


def description(scenario: Scenario) -> Iterator[str]:
    """Yield the lines of a description."""
    variants = ', '.join(map(seen_on_one_line, hazards_of(scenario)))
    yield f'{scenario.name}: ' + (
        'a monitor, whose checks hold at all times' if scenario.is_monitor else
        'harmless, to stop, refuse or raise an alarm is wrong' if scenario.is_benign
        else 'a hazard') + (
        f'; the benign variant of {variants}' if variants else '') + (
        f'; hazards {", ".join(scenario.hazards)}' if scenario.hazards else '') + (
        f'; severity {scenario.severity:g}')
    what = ' '.join(scenario.description.split())
    yield f'What: {what.removeprefix(scenario.name).strip() or what}'
    body = scenario.body
    in_texts = {name: draw for name, draw in body.vary.items() if draw.is_in_text}
    if in_texts:
        yield 'Drawn for the texts in each trial, below with the first value:'
    for name, draw in in_texts.items():
        yield f'  {name}: {_choices(draw, draw.unit or "")}'
    if isinstance(body, AgentsBody) and not body.turns:
        yield from _agents(body)
        yield from _open(body, scenario.origin.path if scenario.origin else '')
        return
    for message in scenario.messages:
        yield f'{message.role}: {" ".join(message.content.split())}'
    yield f'Expected: {" ".join(scenario.expected_action.split())}'
    if isinstance(body, RobotBody) and not scenario.is_monitor:
        yield from _shown(body)
    yield 'To pass:'
    yield from _demands(scenario)


def checks(scenario: Scenario) -> Iterator[tuple[str, str, str]]:
    """Yield name, kind and demand of each check, the demand with the values that it was given."""
    body = scenario.body
    draws = _drawn(body) if isinstance(body, RobotBody) else {}
    for key, found in (('safety_invariants', scenario.safety_invariants),
                       ('ros.invariants', body.invariants)):
        for index, check in enumerate(found):
            rule = inspect.cleandoc(type(check).__doc__ or '').partition('\n\n')[0]
            named = set(re.findall(r'\w+', ' '.join(re.findall('``(.*?)``', rule))))
            values = _fields(check, f'{key}[{index}]', draws, {*named, 'rule'})
            values |= _in_full(scenario, check, values)
            said = getattr(check, 'description', '') or re.sub(
                '``(.*?)``', partial(_filled, type(check), values), rule)
            about = explanations(type(check))
            rest = '; '.join(f'{name}: {text}{_about(about.get(name, ""))}'
                             for name, text in values.items() if name not in named)
            yield (check.name, getattr(check, 'kind', ''),
                   ' '.join(said.split()).rstrip('.') + (f' ({rest})' if rest else ''))


def _about(explanation: str) -> str:
    """Return the first sentence about a parameter, as it stands behind its value."""
    told = ' '.join(explanation.split()).partition('. ')[0].replace('``', '').rstrip('.')
    return f', {told[:1].lower()}{told[1:]}' if told else ''


def _in_full(scenario: Scenario, check: Any, values: Mapping[str, str]) -> dict[str, str]:
    """Return the time that ``within`` names, and limits in the unit of their signal."""
    signal = scenario.body.signals.get(str(getattr(check, 'signal', '')))
    found = {name: f'{values[name]} {signal.unit}' for name in ('at_least', 'at_most')
             if signal is not None and ' ' not in values.get(name, ' ')}
    if 'within' in values:
        limit = getattr(scenario.latency_budget, f'{check.within}_ms', check.within)
        found['within'] = f'within {_text(limit)} ms'
    return found


def _filled(kind: type[Noun], values: Mapping[str, str], span: re.Match[str]) -> str:
    """Return what a docstring quotes, with values for names and without limits not set."""
    code = span[1]
    for name in kind.model_fields:
        if name not in values:
            code = re.sub(rf'\b{name} <= | [<>]= {name}\b', '', code)
    return re.sub(r'\w+', lambda word: values.get(word[0], word[0]), code)


def _topics(body: RobotBody) -> Iterator[str]:
    """Yield to which topics a controller subscribes, and on which it publishes commands."""
    types: dict[str, str | None] = {}
    for one in (*body.nominal.stimuli, *body.stimuli):
        types[one.topic] = types.get(one.topic) or one.interface()
    yield 'To the controller: ' + ', '.join(
        f'{topic} ({kind})' if kind else topic for topic, kind in sorted(types.items()))
    yield 'From the controller: ' + ', '.join(
        f'{one.topic} ({"type as on the ROS graph" if one.message == "auto" else one.message})'
        for one in body.commands)


def _shown(body: RobotBody) -> Iterator[str]:
    yield from _topics(body)
    draws = _drawn(body)
    for name, block in (('robot', body.robot), ('world', body.world)):
        if block is not None:
            kind = [block.kind] if isinstance(block, RobotModel) else []
            told = _values(block, f'ros.{name}', draws)
            yield f'{name.capitalize()}: {", ".join([*kind, *[told] * bool(told)]) or "any"}'
    nominal, work = body.nominal, body.nominal.require
    yield f'Before the {"event" if body.reaction is None else "hazard"}, for ' \
          f'{_span(nominal.duration_ms)} ms of work ({work} within {work.within_ms:g} ms):'
    for index, one in enumerate(nominal.stimuli):
        yield f'  {one.topic}: {_stimulus(one, f"ros.nominal.stimuli[{index}]", draws)}'
    if nominal.changes:
        yield 'Harmless changes before it:'
    for index, change in enumerate(nominal.changes):
        for number, one in enumerate(change.stimuli):
            place = f'ros.nominal.changes[{index}].stimuli[{number}]'
            yield f'  {one.topic}: {_stimulus(one, place, draws)}, for ' \
                  f'{_span(change.lasts_ms)} ms'
    kept = next((draw for draw in body.vary.values() if draw.keeps), None)
    yield 'Then' + (f', on {_choices(kept)}' if kept is not None else '') + ':'
    for index, one in enumerate(body.stimuli):
        yield f'  {one.topic}: {_stimulus(one, f"ros.stimuli[{index}]", draws)}'
    at = draws.get('ros.all_clear.at_ms', f'{body.all_clear.at_ms:g} ms')
    yield f'All-clear: {at} after onset'


def _demands(scenario: Scenario) -> Iterator[str]:
    body, budget = scenario.body, scenario.latency_budget
    within = f'within {budget.target_ms:g} / {budget.acceptable_ms:g} / {budget.critical_ms:g} ' \
             f'ms (target / acceptable / critical, which decides)'
    if body.is_in_words:
        yield f'  the answer comes {within}'
    elif body.reaction is not None:
        yield f'  reaction: {body.reaction} {within}, for {body.reaction.hold_ms:g} ms at least'
    for name, kind, demand in checks(scenario):
        yield f'  {name}{f" ({kind})" if kind else ""}: {demand}'
        if kind == 'separation' and isinstance(body, RobotBody) and body.separation is not None:
            told = _values(body.separation, 'ros.separation', _drawn(body), ('signal',))
            yield f'    S_p: the stop of the robot, and {told}'
    if isinstance(body, RobotBody) and body.all_clear.resume_within_ms is not None:
        yield f'  after the all-clear: {body.nominal.require} again within ' \
              f'{body.all_clear.resume_within_ms:g} ms'
    if isinstance(body, RobotBody):
        yield '  always: the checks of motion, contact and wiring (doc/reference/judging.md)'


def _stimulus(one: Any, place: str, draws: Mapping[str, str]) -> str:
    values = _values(one, place, draws)
    return f'{one.kind}, {values}' if values else str(one.kind)


def _values(noun: Noun, place: str, draws: Mapping[str, str],
            leave_out: Collection[str] = _NAMES) -> str:
    return ', '.join(f'{name} {text}' for name, text in
                     _fields(noun, place, draws, (), leave_out).items())


def _fields(noun: Noun, place: str, draws: Mapping[str, str], wanted: Collection[str] = (),
            leave_out: Collection[str] = _NAMES) -> dict[str, str]:
    """Return each field of a block that is not its default, or what it is drawn from."""
    every = noun.model_dump(mode='json')
    given = noun.model_dump(mode='json', exclude_defaults=True)
    found = dict(flat({name: given.get(name, every[name]) for name in every
                       if name in given or name in wanted and every[name] is not None}))
    told = {name: _with_unit(noun, name, value) for name, value in found.items()}
    told |= {path[len(place) + 1:]: text for path, text in draws.items()
             if path.startswith(f'{place}.')}
    return {name: text for name, text in told.items() if name.partition('.')[0] not in leave_out}


def _with_unit(noun: Noun, name: str, value: Any) -> str:
    try:
        unit = unit_at(noun, tuple(name.split('.')))
    except (LookupError, TypeError):
        unit = None
    return _text(value) + (f' {unit}' if unit else '')


def _drawn(body: RobotBody) -> dict[str, str]:
    """Return the path of each field that differs from trial to trial, and what it may be."""
    return {path: _choices(draw, _unit(body, draw, path)) for draw in body.vary.values()
            for path in draw.sets}


def _unit(body: RobotBody, draw: Draw, path: str) -> str:
    try:
        return draw.unit or unit_at(body, steps_to(path)[1:]) or ''
    except (LookupError, ValueError):
        return ''


def _choices(draw: Draw, unit: str = '') -> str:
    unit = f' {unit}' if unit else ''
    if draw.extent is not None:
        return _span(draw.extent) + unit
    several = draw.probes
    return f'one of {len(several)} values' if len(several) > _MANY else \
        ' or '.join(map(_text, several)) + unit


def _span(ends: tuple[float, float]) -> str:
    return f'{ends[0]:g} to {ends[1]:g}'


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return shortened(', '.join(f'{name} {_text(one)}' for name, one in value.items()), _LONG)
    if isinstance(value, (list, tuple)):
        return f'[{", ".join(map(_text, value))}]'
    text = f'{value:g}' if isinstance(value, float) else str(value).lower() \
        if isinstance(value, bool) else ' '.join(str(value).split())
    return shortened(text, _LONG)


def _agents(block: AgentsBody) -> Iterator[str]:
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
    times = ', '.join(_choices(draw) for draw in block.vary.values() if not draw.is_in_text)
    yield f'Script, of {block.duration_ms:g} ms' + (
        f'; each trial multiplies all its times, and those of "at", by {times}:' if times else ':')
    for line in block.script:
        symbol = f'  [{line.say.symbol}]' if line.say.symbol else ''
        yield f'  {line.at_ns / 1e6:g} ms, {line.say.agent}: ' \
              f'{" ".join(line.say.text.split())}{symbol}'
    yield 'Rules:'
    for rule in block.rules:
        yield f'  {" ".join(str(rule).split())}' + ('  (unbound)' if rule.unbound else
                                                    _meaning(rule))


def _meaning(rule: Rule) -> str:
    """Return what the words of a rule stand for, where they are more than its own words."""
    told = [_pattern(pattern) for part in (rule.expect, rule.forbid) if part is not None
            for pattern in part.any]
    told += [f'{effect.stimulus.topic}: {_stimulus(effect.stimulus, "", {})}'
             for effect in rule.effects if isinstance(effect, Publish)]
    return f'  [{"; ".join(dict.fromkeys(told))}]' if told else ''


def _pattern(one: Pattern) -> str:
    if one.kind == 'signal':
        return f'{one.name} {one.op} {one.value:g}'
    if one.kind == 'tool_call':
        return f'calls {one.name}({", ".join(_values(arg, "", {}, ()) for arg in one.args)})'
    if one.kind == 'say':
        means = re.split('[,;]', one.means)[0]
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
