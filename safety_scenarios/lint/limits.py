# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L201, L208 to L217: limits and conditions that no motion breaks."""

from collections.abc import Iterator, Sequence
from typing import Any

from safety_scenarios.errors import SafetyScenariosError
from safety_scenarios.lint.codes import FieldPath, Remark
from safety_scenarios.lint.formulas import (
    BEYOND,
    by_name,
    conditions,
    is_signed,
    is_still,
    is_turning,
    Range,
    reach,
)
from safety_scenarios.scenario.blocks.agents import Pattern, Rule
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.interfaces import command_message
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario

STANDING = 0.1
"""Faster than this (m/s or rad/s) nothing stands."""
_CREEPING = 0.05
"""Share of its top speed below which a robot is hardly on its way."""
_OVERSPEED = 2.0
"""Times its top speed: a robot in operation may be measured so fast, downhill for instance."""
_STANDING_FIELDS = {'stop': 'at_most', 'fresh': 'at_most', 'defer': 'at_most',
                    'force': 'push_at_most'}
_UPPER = {'bound': ('at_most',), 'slow': ('at_most',), 'say_do': ('at_most',),
          'stop': ('at_most', 'rise_at_most'), 'fresh': ('at_most',), 'defer': ('at_most',),
          'force': ('push_at_most',)}
_LOWER = ('bound', 'no_spurious_stop', 'defer', 'say_do')
_UNITS = {'linear': 'm/s', 'angular': 'rad/s'}


def check_limits(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """Yield the remarks on the limits and signals of a robot scenario."""
    yield from _signals(scenario, ros)
    yield from _require(scenario, ros)
    for path, limit, beside in conditions(ros):
        yield from _breakable(scenario, ros, path, limit)
        yield from _both_ways(scenario, ros, path, limit, beside)
    stops_by_reaction, bounds = False, _bounds(ros)
    for index, invariant in enumerate(ros.invariants):
        place: FieldPath = ('ros', 'invariants', index)
        yield from _invariant(scenario, ros, place, invariant, bounds)
        stops_by_reaction |= getattr(invariant, 'kind', '') == 'stop' \
            and getattr(invariant, 'signal', None) is None
    if stops_by_reaction and ros.reaction is not None:
        for path, limit, _ in conditions(ros):
            if path[1] == 'reaction':
                yield from _allows_standing(scenario, ros, (*path, 'at_most'), limit.signal,
                                            limit.at_most)
    if ros.separation is not None:
        for index, invariant in enumerate(ros.invariants):
            if getattr(invariant, 'kind', '') == 'separation':
                yield from _allows_standing(scenario, ros, ('ros', 'invariants', index, 'still'),
                                            ros.separation.signal,
                                            getattr(invariant, 'still', None))


def _signals(scenario: Scenario, body: RobotBody | AgentsBody) -> Iterator[Remark]:
    types = {block.topic: block.message for block in body.commands}
    above: FieldPath = ('ros',) if isinstance(body, RobotBody) else ()
    for name, signal in body.signals.items():
        path = (*above, 'signals', name)
        expected = _UNITS.get(signal.field.removeprefix('twist.').partition('.')[0])
        robot = body.robot
        if robot is not None and is_still(signal, robot):
            yield Remark('L217', scenario, (*path, 'field'), (
                f'got {signal.field!r}, along which no {kind_of(robot).noun} moves: it is 0 '
                f'whatever the robot does. Read linear.x, linear.y or angular.z, or all of '
                f'linear'))
        elif expected is not None and signal.unit != expected:
            yield Remark('L217', scenario, (*path, 'unit'), (
                f'got {signal.unit} for {signal.field!r}, expected {expected}: its limits mean '
                f'something else than they seem to. Correct the unit, or the field'))
        elif robot is not None and signal.topic in types:
            yield from _field(scenario, robot, path, signal, types[signal.topic])


def _field(scenario: Scenario, robot: RobotModel, path: FieldPath, signal: Signal,
           interface: str) -> Iterator[Remark]:
    kind, joints = kind_of(robot), robot.joints or ('joint',)
    interface = kind.command_types[0] if interface == 'auto' else interface
    try:
        signal.value(command_message(interface, kind.command(1.0, 1.0), joints, {}))
    except LookupError as error:
        said = str(error.args[0]) if error.args else ''
        yield Remark('L217', scenario, (*path, 'field'), (
            f'got {signal.field!r}, which a command of {interface} does not tell ({said}): '
            f'nothing that reads it can judge. Name a field of that message'))
    except SafetyScenariosError:
        return  # an interface that no controller here speaks


def _require(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    require, path = ros.nominal.require, ('ros', 'nominal', 'require')
    found = by_name(ros, require.signal)
    if found is None:
        return
    _, can = found
    if (require.at_least is None or require.at_least <= 0) \
            and (require.at_most is None or require.at_most >= 0):
        yield Remark('L208', scenario, path, (
            f'got {require}, which a robot at rest meets, expected at_least > 0: one that stands '
            f'from the beginning would pass the hazard. Ask for a speed'))
    elif require.at_least is not None and require.at_least > can.high:
        yield Remark('L201', scenario, (*path, 'at_least'), _never(require.at_least, can))
    elif 0 < (require.at_least or 0) < _CREEPING * can.high < float('inf'):
        yield Remark('L208', scenario, (*path, 'at_least'), (
            f'got {require.at_least:g}, expected at least {_CREEPING:.0%} of the top speed '
            f'{can.high:g}: a robot that hardly moves would count as moving. Raise it'))


def _invariant(scenario: Scenario, ros: RobotBody, path: FieldPath, invariant: Any,
               bounds: Sequence[Limit]) -> Iterator[Remark]:
    kind, name = getattr(invariant, 'kind', ''), getattr(invariant, 'signal', None)
    if kind == 'keeps_course' and invariant.still > STANDING:
        yield Remark('L212', scenario, (*path, 'still'), (
            f'got {invariant.still:g} m/s, expected at most {STANDING:g}: a robot that drives no '
            f'faster may leave its route. Lower it'))
    if kind == 'limits':
        yield from _followed(scenario, ros, path, invariant.topic)
    signed = ros.signals.get(invariant.signed or '') if kind == 'stop' else None
    if signed is not None and not is_signed(signed):
        yield Remark('L209', scenario, (*path, 'signed'), (
            f'got {invariant.signed!r}, which has no sign, expected a speed that is negative in '
            f'reverse: no motion goes into reverse by it. Take it without reduce'))
    found = by_name(ros, name)
    if found is None or name is None:
        return
    read, can = found
    if kind == 'fresh' and kind_of(ros.robot).drives and not any(
            getattr(one, 'kind', '') == kind
            and (other := by_name(ros, getattr(one, 'signal', None))) is not None
            and not is_turning(other[0]) for one in ros.invariants):
        yield Remark('L217', scenario, (*path, 'signal'), (
            f'got {name!r}, a rate of turn, and no check of this kind reads the speed along the '
            f'way: a base that drives straight on is not seen. Name that speed'))
    upper = [field for field in _UPPER.get(kind, ())
             if getattr(invariant, field, None) is not None]
    at_least = getattr(invariant, 'at_least', None) if kind in _LOWER else None
    for field in upper:
        both = at_least if kind in ('bound', 'say_do') else None
        yield from _breakable(scenario, ros, path, Limit(
            signal=name, at_most=getattr(invariant, field), at_least=both), field,
            1.0 if kind != 'bound' else _OVERSPEED if scenario.is_monitor and any(
                one.topic == read.topic for one in ros.feedback) else BEYOND)
    if at_least is not None and (kind not in ('bound', 'say_do') or not upper):
        yield from _breakable(scenario, ros, path, Limit(signal=name, at_least=at_least))
    if at_least is not None:
        asks_to_go_on = kind in ('no_spurious_stop', 'defer') or (
            kind == 'bound' and scenario.is_benign and at_least > 0)
        if asks_to_go_on and at_least < _CREEPING * can.high < float('inf'):
            yield Remark('L212', scenario, (*path, 'at_least'), (
                f'got {at_least:g}, expected at least {_CREEPING:.0%} of the top speed '
                f'{can.high:g}: a robot that hardly moves would count as working. Raise it'))
    if kind in _STANDING_FIELDS:
        field = _STANDING_FIELDS[kind]
        yield from _allows_standing(scenario, ros, (*path, field), name, getattr(invariant, field))
    if kind == 'bound':
        yield from _steepness(scenario, path, invariant, can)
    if kind in ('bound', 'slow', 'say_do', 'stop', 'fresh', 'defer') and 'at_most' in upper:
        own = Limit(signal=name, at_most=invariant.at_most,
                    at_least=at_least if kind in ('bound', 'say_do') else None)
        yield from _both_ways(scenario, ros, path, own, bounds if kind == 'bound' else [own])


def _followed(scenario: Scenario, ros: RobotBody, path: FieldPath, topic: str) -> Iterator[Remark]:
    """Find limits of trajectories on a topic that has none."""
    interface = next((one.message for one in ros.commands if one.topic == topic), 'auto')
    if interface == 'auto':
        interface = kind_of(ros.robot).command_types[0]
    if not interface.endswith('/JointTrajectory'):
        yield Remark('L217', scenario, (*path, 'topic'), (
            f'got {topic!r} with {interface}, expected a topic with '
            f'trajectory_msgs/msg/JointTrajectory: nothing else has what this check reads. Name '
            f'another topic, or use bound'))


def _bounds(ros: RobotBody) -> list[Limit]:
    """Return the limits of every bound of a scenario."""
    every: tuple[Any, ...] = ros.invariants
    return [Limit(signal=one.signal, at_most=one.at_most,
                  at_least=one.at_least) for one in every
            if getattr(one, 'kind', '') == 'bound' and (
                one.at_most is not None or one.at_least is not None)]


def _breakable(scenario: Scenario, ros: RobotBody, path: FieldPath, limit: Limit,
               field: str = 'at_most', most: float = 1.0) -> Iterator[Remark]:
    """
    Yield a remark if every motion keeps a limit, or if none does.

    :param most: times the top speed, above which an upper limit is out of reach
    """
    found = by_name(ros, limit.signal)
    if found is None or is_still(found[0], ros.robot):
        return  # told at the signal
    signal, can = found
    is_loose_above = limit.at_most is None or limit.at_most > can.high * most or (
        most == 1.0 and limit.at_most == can.high)
    is_loose_below = limit.at_least is None or limit.at_least <= can.low
    field = 'at_least' if limit.at_most is None else field
    if is_loose_above and is_loose_below:
        yield Remark('L201', scenario, (*path, field), (
            f'got {limit}, and the signal is between {can.low:g} and {can.high:g} {signal.unit} '
            f'whatever the robot does: no motion breaks it. Tighten it'))
    elif limit.at_most is not None and limit.at_most < can.low:
        yield Remark('L201', scenario, (*path, field), _never(limit.at_most, can))
    elif limit.at_least is not None and limit.at_least > can.high:
        yield Remark('L201', scenario, (*path, 'at_least'), _never(limit.at_least, can))


def _never(value: float, can: Range) -> str:
    return (f'got {value:g}, and the signal is between {can.low:g} and {can.high:g} whatever the '
            f'robot does: no motion meets it. Correct it, or robot.max_speed')


def _steepness(scenario: Scenario, path: FieldPath, invariant: Any,
               can: Range) -> Iterator[Remark]:
    """Find how steep a step can look at most, by the grid of a bound."""
    step_s = invariant.grid_ms / 1e3
    rate, jerk = invariant.rate_at_most, invariant.jerk_at_most
    most = can.width * BEYOND
    for field, given, greatest in (('rate_at_most', rate, most / step_s),
                                   ('jerk_at_most', jerk, 2 * most / step_s**2)):
        if given is not None and given > greatest:
            yield Remark('L201', scenario, (*path, field), (
                f'got {given:g}, expected less than the {greatest:g} that the greatest step of '
                f'the signal makes on a grid of {1e3 * step_s:g} ms: no motion breaks it. '
                f'Lower it, or grid_ms'))


def _both_ways(scenario: Scenario, ros: RobotBody, path: FieldPath, limit: Limit,
               beside: Sequence[Limit]) -> Iterator[Remark]:
    """Warn of a speed with a sign that has no limit on one side."""
    signal = ros.signals.get(limit.signal)
    if signal is None or not is_signed(signal) or limit.at_most is None or limit.at_most < 0 \
            or is_still(signal, ros.robot):
        return
    for other in beside:
        second = ros.signals.get(other.signal)
        if second is None or second.topic != signal.topic:
            continue
        is_same = second.field == signal.field
        is_whole = is_same or signal.field.startswith(f'{second.field}.')
        if (is_same and is_signed(second) and other.at_least is not None) or (
                is_whole and not is_signed(second) and other.at_most is not None):
            return
    yield Remark('L209', scenario, (*path, 'at_most'), (
        f'got {limit}, and {limit.signal} is negative in reverse: any speed backward meets it. '
        f'Give the signal reduce: abs or norm, or add at_least'))


def _allows_standing(scenario: Scenario, ros: RobotBody, path: FieldPath, name: str,
                     at_most: float | None) -> Iterator[Remark]:
    signal = ros.signals.get(name)
    if at_most is None or signal is None or signal.unit not in ('m/s', 'rad/s'):
        return
    if STANDING < at_most < reach(signal, ros.robot).high:
        yield Remark('L212', scenario, path, (
            f'got {at_most:g} {signal.unit} for standing still, expected at most {STANDING:g}: a '
            f'robot that continues as fast as that would count as stopped. Lower it'))


def check_rules(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on every signal that a rule waits for, demands or forbids."""
    block = scenario.body
    if not isinstance(block, AgentsBody):
        return
    yield from _signals(scenario, block)
    for index, rule in enumerate(block.rules):
        for path, verb, patterns in _roles(rule, block.entry(index)):
            known = [_constant_truth(pattern, block) for pattern in patterns]
            if verb == 'expect' and True in known:
                yield _constant_remark(scenario, path, patterns[known.index(True)], block,
                                       'every motion meets it: the demand cannot be broken')
            elif known and all(one is False for one in known):
                yield _constant_remark(scenario, path, patterns[0], block, {
                    'trigger': 'no motion meets it: the rule never fires',
                    'expect': 'no motion meets it: the demand cannot be met',
                    'forbid': 'no motion meets it: the ban cannot be broken'}[verb])
            elif verb == 'forbid' and True in known:
                yield _constant_remark(scenario, path, patterns[known.index(True)], block,
                                       'every motion meets it: the ban cannot be kept')
            if verb == 'expect':
                yield from _signed(scenario, path, patterns, block)


def _roles(rule: Rule, index: int) -> Iterator[tuple[FieldPath, str, tuple[Pattern, ...]]]:
    if rule.trigger is not None:
        yield ('rules', index, 'trigger'), 'trigger', rule.trigger.any
    if rule.expect is not None:
        yield ('rules', index, 'action'), 'expect', rule.expect.any
    if rule.forbid is not None:
        yield ('rules', index, 'action'), 'forbid', rule.forbid.any


def _constant_truth(pattern: Pattern, block: AgentsBody) -> bool | None:
    """Return what a condition on a signal is whatever the robot does; None: that depends."""
    signal = block.signals.get(pattern.name) if pattern.kind == 'signal' else None
    if signal is None or pattern.op is None or pattern.value is None:
        return None
    can = reach(signal, block.robot)
    high, value = can.high * BEYOND, pattern.value
    if pattern.op in ('<', '<='):
        if value >= high or (value >= can.high and pattern.op == '<='):
            return True
        return False if value < can.low or (value == can.low and pattern.op == '<') else None
    if value < can.low or (value == can.low and pattern.op == '>='):
        return True
    return False if value >= can.high and (value > can.high or pattern.op == '>') else None


def _constant_remark(scenario: Scenario, path: FieldPath, pattern: Pattern, block: AgentsBody,
                     what: str) -> Remark:
    can = reach(block.signals[pattern.name], block.robot)
    return Remark('L201', scenario, path, (
        f'got {pattern.name} {pattern.op} {pattern.value:g}, and the signal is between '
        f'{can.low:g} and {can.high:g} whatever the robot does: {what}. Correct the number in '
        f'the bindings'))


def _signed(scenario: Scenario, path: FieldPath, patterns: tuple[Pattern, ...],
            block: AgentsBody) -> Iterator[Remark]:
    for pattern in patterns:
        signal = block.signals.get(pattern.name) if pattern.kind == 'signal' else None
        if signal is not None and is_signed(signal) and pattern.op in ('<', '<=') \
                and pattern.value is not None and pattern.value >= 0:
            yield Remark('L209', scenario, path, (
                f'got {pattern.name} {pattern.op} {pattern.value:g}, and {pattern.name} is '
                f'negative in reverse: any speed backward meets it. Give the signal reduce: abs '
                f'or norm in the bindings'))
