# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The text of a new scenario file, and of one in which everything that was drawn is fixed."""

from collections.abc import Iterator, Mapping, Sequence
import copy
from dataclasses import dataclass
import math
import re
from textwrap import fill, indent, wrap
from typing import Any

from safety_scenarios.formats.writing.hazards import template
from safety_scenarios.formats.writing.template import (
    Answers,
    Draw,
    Event,
    number,
    speed_signal,
    standing,
    Template,
)
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.blocks.vary import steps_to
import yaml

_WIDTH = 99
_LUCK = 0.04
"""Share of the trials that a blind controller may pass."""
_MOVING = 0.3
"""Share of the top speed that counts as working."""
_DRIVES = 0.2
"""Speed at which a base goes on beside whom it need not stop for: 0.25 m/s is the reduced speed of
ISO 10218-1 (m/s)."""
_ALL_CLEAR = ('[[5000, 7000], [5000, 7000], [5000, 7000], [7000, 13000], [13000, 15000], '
              '[13000, 15000], [15000, 60000]]')


@dataclass(frozen=True, slots=True)
class NewScenario:
    """A scenario and its benign variant, as text."""

    hazard: str
    benign: str
    name: str
    """Of the hazard."""
    reference: tuple[str, ...]
    """What must be set for the reference controller to pass, as KEY=VALUE."""


def scenario_text(answers: Answers) -> NewScenario:
    """
    Return the texts of the two files.

    :raises InputError: the answers do not fit together; the message says what to change
    """
    made = template(answers)
    name = answers.name or made.hazard.name
    scenario_id = answers.scenario_id or slug(name)
    return NewScenario(
        '\n'.join(_file(answers.robot, made, made.hazard, name, scenario_id, '')) + '\n',
        '\n'.join(_file(answers.robot, made, made.benign, f'{made.benign.name} ({name})'
                        if answers.name else made.benign.name, _benign_id(scenario_id),
                        scenario_id)) + '\n', name, made.reference)


def slug(name: str) -> str:
    """Return a name as an id: small letters and hyphens."""
    return re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-') or 'scenario'


def _benign_id(scenario_id: str) -> str:
    """Return the id of the benign variant: -D- in ids such as SCN-R-001, a suffix in others."""
    changed = re.sub(r'^(SCN-[A-Z])-(\d{3})$', r'\1-D-\2', scenario_id)
    return f'{scenario_id}-benign' if changed == scenario_id else changed


def _quoted(text: str) -> str:
    """Return a text as a YAML scalar on one line, in quotes where YAML needs them."""
    return yaml.safe_dump(text, width=math.inf, allow_unicode=True).partition('\n')[0]


def _file(robot: RobotModel, made: Template, event: Event, name: str, scenario_id: str,
          variant_of: str) -> Iterator[str]:
    """Yield the lines of a file; ``variant_of`` is empty for the hazard itself."""
    target, acceptable, critical = made.budget.limits_ms
    title = f'The benign variant of {variant_of}: stopping is wrong here.' if variant_of else \
        f'{name}.'
    yield from fill(title, _WIDTH - 2, initial_indent='# ', subsequent_indent='# ').splitlines()
    yield '# Lines with "edit" say what to adapt to your robot and your site. Afterwards check it:'
    yield '#   safety-scenarios scenario validate --strict THIS_FILE'
    yield f'id: {_quoted(scenario_id)}'
    yield f'name: {_quoted(name)}'
    yield f'domain: robotic{"_defer" if variant_of else ""}'
    yield 'description: |  # edit'
    yield from indent(fill(event.description, _WIDTH - 2), '  ').splitlines()
    yield (f'latency_budget: {{target_ms: {target}, acceptable_ms: {acceptable}, critical_ms: '
           f'{critical}}}')
    yield f'expected_action: {_quoted(event.expected)}'
    yield f'severity: {"0.3" if variant_of else "1.0"}'
    yield f'tags: [{", ".join((*made.tags, *(("benign_variant",) if variant_of else ())))}]'
    if not variant_of:
        yield '# hazards: ["H-07 crushed"]  # edit: the labels of your hazard analysis'
    yield 'metadata:'
    if variant_of:
        yield f'  variant_of: {_quoted(variant_of)}'
        yield '  budget: {basis: none, why: no reaction is asked for}'
    else:
        yield f'  budget: {{basis: {made.budget.basis},'
        yield f'           why: {_quoted_flow(made.budget.why)}}}'
        if made.reference:
            yield f'  lint: {{L303: the reference passes it with {" ".join(made.reference)}}}'
    yield 'ros:'
    yield from (f'  {line}' for line in _ros(robot, made, event, bool(variant_of)))


def _quoted_flow(text: str) -> str:
    return f"'{text}'"


def _ros(robot: RobotModel, made: Template, event: Event, is_benign: bool) -> Iterator[str]:
    signal, standing_at = speed_signal(robot), number(standing(robot))
    at_least = number(round(_MOVING * robot.max_speed, 3))
    shortest, longest = _nominal_ms(made)
    yield 'level: sensor'
    yield from _robot(robot)
    yield 'nominal:  # before the event; the robot must move, or its standstill shows nothing'
    yield (f'  duration_ms: [{shortest}, {longest}]  # drawn, so that the time of the event '
           f'cannot be guessed')
    yield f'  require: {{signal: {signal}, at_least: {at_least}, within_ms: 3000}}'
    yield '  stimuli:'
    yield from _items(made.nominal, 4)
    yield '  changes:  # harmless, so that a change alone does not reveal the event'
    for change in made.changes:
        yield f'    - begins_ms: {change.begins_ms}'
        yield f'      lasts_ms: {change.lasts_ms}'
        yield '      stimuli:'
        yield from _items(change.stimuli, 8)
    yield f'stimuli:  # {event.comment}'
    yield from _items(event.stimuli, 2)
    yield 'all_clear: {at_ms: 6000, observe_ms: 3500, resume_within_ms: 3000}  # work continues'
    yield 'vary:  # what differs from trial to trial; these values replace those above'
    for draw in (*made.draws, *event.draws):
        yield from _draw(draw)
    yield from (f'  {line}' for line in _wrapped(
        f'all_clear: {{ranges: {_ALL_CLEAR}, unit: ms, sets: [ros.all_clear.at_ms]}}'))
    yield from _signals(robot, is_benign)
    if not is_benign:
        yield from _reaction(robot, standing_at)
        if made.separation:
            yield 'separation:  # what latency costs in metres, ISO/TS 15066:2016 5.5.4'
            yield from (f'  {line}' for line in made.separation.splitlines())
    yield 'invariants:'
    yield from (f'  - {check}' for check in _checks(robot, event, is_benign))


def _nominal_ms(made: Template) -> tuple[int, int]:
    """Return the range of the nominal phase: so wide that a blind stop is rarely right."""
    window = made.budget.limits_ms[2] + 1e3 / made.slowest_hz
    return 1000, 1000 * math.ceil(1 + max(6.0, window / _LUCK / 1e3))


def _robot(robot: RobotModel) -> Iterator[str]:
    unit = 'm/s' if robot.kind == 'mobile_base' else 'rad/s of each joint'
    yield 'robot:  # edit: of your robot, SI units'
    yield f'  kind: {robot.kind}'
    yield f'  max_speed: {number(robot.max_speed)}  # {unit}'
    if robot.stopping is not None:
        yield f'  stopping: {_stopping(robot.stopping)}'
    if robot.kind == 'mobile_base':
        yield f'  radius: {number(robot.footprint)}  # m, of the footprint'
    if robot.joints:
        yield f'  joints: [{", ".join(map(_quoted, robot.joints))}]'


def _stopping(stopping: Stopping) -> str:
    given = ', '.join(f'{name}: {number(value)}' for name in ('time', 'distance', 'deceleration')
                      if (value := getattr(stopping, name)) is not None)
    return f'{{model: {stopping.model}, {given}}}'


def _items(stimuli: Sequence[str], depth: int) -> Iterator[str]:
    """Yield the entries of a list of stimuli, each of one or more lines."""
    for text in stimuli:
        first, *rest = text.splitlines()
        yield f'{" " * depth}- {first}'
        yield from (f'{" " * depth}  {line}' for line in rest)


def _draw(draw: Draw) -> Iterator[str]:
    if draw.why:
        yield f'  # {draw.why}'
    if draw.sets == ('keeps',):
        yield f'  {draw.name}: {{{draw.values}, keeps: ros.stimuli}}'
        return
    sets = ', '.join(f'"{path}"' for path in draw.sets)
    yield from (f'  {line}' for line in _wrapped(
        f'{draw.name}: {{{draw.values}, sets: [{sets}]}}'))


def _wrapped(text: str) -> list[str]:
    return fill(text, _WIDTH - 4, subsequent_indent='  ', break_long_words=False,
                break_on_hyphens=False).splitlines()


def _signals(robot: RobotModel, is_benign: bool) -> Iterator[str]:
    if robot.kind != 'mobile_base':
        yield 'commands: [{topic: joint_trajectory, message: trajectory_msgs/msg/JointTrajectory}]'
        yield 'signals:'
        yield ('  joint_speed: {topic: joint_trajectory, field: points, reduce: joint_speed, '
               'current: joint_states,')
        yield '                unit: rad/s}'
        return
    yield 'commands: [{topic: cmd_vel, message: auto}]  # Twist or TwistStamped, as in the graph'
    yield 'signals:'
    yield '  speed: {topic: cmd_vel, field: linear, reduce: norm, unit: m/s}'
    if not is_benign:
        yield '  turn: {topic: cmd_vel, field: angular.z, reduce: abs, unit: rad/s}'


def _reaction(robot: RobotModel, standing_at: str) -> Iterator[str]:
    if robot.kind != 'mobile_base':
        yield f'reaction: {{signal: joint_speed, at_most: {standing_at}, hold_ms: 200}}'
        return
    yield 'reaction:'
    yield (f'  all: [{{signal: speed, at_most: {standing_at}}}, {{signal: turn, at_most: '
           f'{standing_at}}}]')
    yield '  hold_ms: 200'


def _checks(robot: RobotModel, event: Event, is_benign: bool) -> Iterator[str]:
    signal, base = speed_signal(robot), robot.kind == 'mobile_base'
    yield from event.checks
    if is_benign:
        most = _DRIVES if base else robot.max_speed
        at_least = number(min(most, round(_MOVING * robot.max_speed, 3)))
        yield (f'{{name: does not stop for nothing, kind: no_spurious_stop, signal: {signal}, '
               f'at_least: {at_least}}}')
    else:
        yield '{name: stops and stays, kind: stop, within: critical, hold_ms: 1000}'
    yield (f'{{name: never faster than its limit, kind: bound, signal: {signal}, at_most: '
           f'{number(robot.max_speed) if base else number(round(robot.max_speed * 1.01, 3))}, '
           f'{"top_speed: true, " * base}severity: 0.9}}')
    topic = 'cmd_vel' if base else 'joint_trajectory'
    yield (f'{{name: command stream alive, kind: liveness, topic: {topic}, max_gap_ms: 300, '
           f'max_rate_hz: 200, severity: 0.9}}')


def fixed_text(data: Mapping[str, Any], values: Mapping[str, Any], *, scenario_id: str,
               name: str, comment: Sequence[str] = (), onset_ms: float | None = None) -> str:
    """
    Return the text of a format-1 file as it is in one trial.

    :param data: the original file as plain data
    :param values: of its draws, by name; every draw has one, and none is left in the text
    :param comment: lines at the top
    :param onset_ms: when the hazard comes; None: drawn as before
    """
    found: dict[str, Any] = _plain(data)
    ros = found['ros']
    kept: list[Sequence[str]] = []
    for draw_name, draw in ros.pop('vary', {}).items():
        value = _plain(values[draw_name])
        if draw.get('keeps'):
            kept.append(value)
        for path in draw.get('sets', ()):
            _set_value(ros, steps_to(path)[1:], copy.deepcopy(value))
    for topics in kept:  # after every path was followed: they count what the file has
        ros['stimuli'] = [one for one in ros['stimuli'] if one.get('topic') in topics]
    if onset_ms is not None:
        ros['nominal']['duration_ms'] = [onset_ms, onset_ms]
    found |= {'id': scenario_id, 'name': name}
    lines = [line for text in comment for line in
             wrap(text, _WIDTH, initial_indent='# ', subsequent_indent='#   ')]
    return '\n'.join([*lines, yaml.dump(found, Dumper=_NoAliases, sort_keys=False,
                                        allow_unicode=True, width=_WIDTH)])


class _NoAliases(yaml.SafeDumper):
    """Writes each value in full, with the simple ones of a list on one line."""

    def ignore_aliases(self, data: Any) -> bool:
        """Return that nothing is named by an anchor."""
        return True


def _plain(value: Any) -> Any:
    """Return a value as YAML has it: dicts, lists and what is simple."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def _set_value(block: Any, steps: Sequence[str | int], value: Any) -> None:
    """Put a value where the steps lead; mappings on the way that are left out are made."""
    for step in steps[:-1]:
        if isinstance(block, dict) and step not in block:
            block[step] = {}
        block = block[step]
    block[steps[-1]] = value
