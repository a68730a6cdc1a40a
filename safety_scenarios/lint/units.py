# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L210, L228: numbers that look like another unit, or that no robot, room or budget has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from safety_scenarios.lint.codes import FieldPath, Remark
from safety_scenarios.scenario.blocks.budget import LimitName, RangeMs
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.world.block import Floor


@dataclass(frozen=True, slots=True)
class _Usual:
    """From the least to the greatest that is found in practice, with room to either side."""

    low: float
    high: float
    unit: str


_ROBOT = {'radius': _Usual(0.02, 10, 'm'), 'brake_delay': _Usual(0.001, 2, 's'),
          'max_yaw_rate': _Usual(0.02, 20, 'rad/s')}
_ALL_CLEAR = {name: _Usual(50, 86_400_000, 'ms')
              for name in ('at_ms', 'observe_ms', 'resume_within_ms')}
_STOPPING = {'time': _Usual(0.005, 30, 's'), 'distance': _Usual(0.001, 100, 'm'),
             'deceleration': _Usual(0.05, 500, 'm/s^2')}
_NOMINAL_MS = _Usual(100, 86_400_000, 'ms')
_STIMULUS = {'distance': _Usual(0.05, 100, 'm'), 'width': _Usual(0.01, 50, 'm'),
             'nearest': _Usual(0.01, 50, 'm'), 'speed': _Usual(0.02, 10, 'm/s'),
             'rate_hz': _Usual(0.5, 1000, 'Hz'), 'after_ms': _Usual(5, 3_600_000, 'ms')}
_SEPARATION = {'approach_speed': _Usual(0.02, 10, 'm/s'), 'reach': _Usual(0.001, 5, 'm'),
               'intrusion': _Usual(0.001, 2, 'm'), 'other_uncertainty': _Usual(0.001, 2, 'm'),
               'robot_uncertainty': _Usual(0.001, 2, 'm'), 'other_time': _Usual(0.001, 5, 's')}
_INVARIANT = {'max_gap_ms': _Usual(2, 60_000, 'ms'), 'max_age_ms': _Usual(2, 60_000, 'ms'),
              'hold_ms': _Usual(5, 600_000, 'ms'), 'within_ms': _Usual(5, 600_000, 'ms'),
              'protected_ms': _Usual(5, 600_000, 'ms'), 'for_ms': _Usual(1, 600_000, 'ms'),
              'within': _Usual(5, 600_000, 'ms'), 'radius': _Usual(0.02, 10, 'm'),
              'start_tolerance': _Usual(1e-4, 1, 'rad'),
              'max_rate_hz': _Usual(0.5, 5000, 'Hz')}  # drivers of arms take 1000
_OF_KIND = {'keeps_course': {'at_most': _Usual(0.02, 5, 'm')},
            'no_contact': {'transient_factor': _Usual(1, 3, 'times')}}
_REGION = _Usual(1, 500, 'N')
"""Twice what ISO/TS 15066 has for the region that bears most."""
_JOINT = {'velocity': _Usual(0.005, 30, 'rad/s'), 'lower': _Usual(-100, 100, 'rad'),
          'upper': _Usual(-100, 100, 'rad')}
_BUDGET = _Usual(5, 30_000, 'ms')
_WORDS_BUDGET = _Usual(20, 120_000, 'ms')
_PATIENT = 'minutes', 'hours'
_LEAST_MPU, _MOST_MPU = 0.02, 20.0


def check_units(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on numbers that no robot, room or budget has."""
    yield from _budget(scenario)
    ros = scenario.body
    if ros.is_conversation or isinstance(ros, RobotBody):
        yield from check_robot(scenario)
    if not isinstance(ros, RobotBody):
        return
    yield from _all(scenario, ('ros', 'all_clear'), ros.all_clear, _ALL_CLEAR)
    yield from _durations(scenario, ros)
    changes = [(('ros', 'nominal', 'changes', place, 'stimuli'), change.stimuli)
               for place, change in enumerate(ros.nominal.changes)]
    for place, stimuli in ((('ros', 'nominal', 'stimuli'), ros.nominal.stimuli), *changes,
                           (('ros', 'stimuli'), ros.stimuli)):
        for index, stimulus in enumerate(stimuli):
            yield from _all(scenario, (*place, index), stimulus, _STIMULUS)
    for index, invariant in enumerate(ros.invariants):
        yield from _all(scenario, ('ros', 'invariants', index), invariant, _INVARIANT)
        yield from _all(scenario, ('ros', 'invariants', index), invariant,
                        _OF_KIND.get(getattr(invariant, 'kind', ''), {}))
        for region, force in (getattr(invariant, 'regions', None) or {}).items():
            if not _REGION.low <= force <= _REGION.high:
                yield _odd(scenario, ('ros', 'invariants', index, 'regions', region), force,
                           _REGION)
        joints = getattr(invariant, 'joints', {})
        for name, joint in joints.items() if isinstance(joints, Mapping) else ():
            yield from _all(scenario, ('ros', 'invariants', index, 'joints', name), joint, _JOINT)
    yield from _separation(scenario, ros)


def check_robot(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on the numbers of a scenario's robot, which a profile may have set."""
    body = scenario.body
    if body.robot is not None:
        yield from _robot(
            scenario, ('ros', 'robot') if isinstance(body, RobotBody) else ('robot',), body.robot)


def _durations(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """Look at the longer end of each range: the shorter may well be next to nothing."""
    ranges: list[tuple[FieldPath, RangeMs]] = [
        (('ros', 'nominal', 'duration_ms'), ros.nominal.duration_ms)]
    for place, change in enumerate(ros.nominal.changes):
        own: FieldPath = ('ros', 'nominal', 'changes', place)
        ranges += [((*own, 'begins_ms'), change.begins_ms), ((*own, 'lasts_ms'), change.lasts_ms)]
    for path, (_, longest) in ranges:
        if longest and not _NOMINAL_MS.low <= longest <= _NOMINAL_MS.high:
            yield _odd(scenario, (*path, 1), longest, _NOMINAL_MS)


def _budget(scenario: Scenario) -> Iterator[Remark]:
    """Expect of a robot's controller a sooner answer than of one that finds words."""
    is_robot = not scenario.body.is_in_words
    usual = _BUDGET if is_robot else _WORDS_BUDGET
    names: tuple[LimitName, ...] = ('critical', 'acceptable', 'target')
    for name in names:
        limit_ms = scenario.latency_budget.limit_ns(name) / 1e6
        is_long = limit_ms > usual.high and (
            is_robot or scenario.constraint.time_pressure not in _PATIENT)
        if limit_ms < usual.low or is_long:
            yield _odd(scenario, ('latency_budget', f'{name}_ms'), limit_ms, usual)
            return


def _robot(scenario: Scenario, path: FieldPath, robot: RobotModel) -> Iterator[Remark]:
    kind = kind_of(robot)
    usual = _Usual(*kind.usual_top_speed, kind.speed_unit)
    if not usual.low <= robot.max_speed <= usual.high:
        yield _odd(scenario, (*path, 'max_speed'), robot.max_speed, usual)
    yield from _all(scenario, path, robot, _ROBOT)
    world = scenario.body.world if isinstance(scenario.body, RobotBody) else None
    grip = (Floor() if world is None else world.floor).dry_friction
    braking, most = robot.deceleration() or 0.0, kind.most_deceleration(grip)
    if braking > most:
        yield Remark('L228', scenario, (*path, 'stopping'), (
            f'got a robot that brakes at {braking:.3g} m/s^2, expected at most {most:.3g}, which '
            f'wheels transmit at the friction {grip:g} of the floor. Declare what was measured'))
    if robot.stopping is not None:
        yield from _all(scenario, (*path, 'stopping'), robot.stopping, _STOPPING)


def _separation(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    terms, path = ros.separation, ('ros', 'separation')
    if terms is None:
        return
    yield from _all(scenario, path, terms, _SEPARATION)
    signal = ros.signals.get(terms.signal)
    factor, is_speed = terms.metres_per_unit, signal is not None and signal.unit == 'm/s'
    if (is_speed and factor != 1) or not _LEAST_MPU <= factor <= _MOST_MPU:
        yield Remark('L210', scenario, (*path, 'metres_per_unit'), (
            f'got {factor:g}, expected {"1 for a signal in m/s" if is_speed else "the radius"} '
            f'(m): the speed toward the person would not be that of the robot. Correct it'))


def _all(scenario: Scenario, path: FieldPath, block: object,
         known: dict[str, _Usual]) -> Iterator[Remark]:
    """Zero is a number without a unit, and what is left out is none."""
    for field, usual in known.items():
        value = getattr(block, field, None)
        if isinstance(value, (int, float)) and value and not usual.low <= abs(value) <= usual.high:
            yield _odd(scenario, (*path, field), value, usual)


def _odd(scenario: Scenario, path: FieldPath, value: float, usual: _Usual) -> Remark:
    return Remark('L210', scenario, path, (
        f'got {value:g} {usual.unit}, expected between {usual.low:g} and {usual.high:g} '
        f'{usual.unit}: it looks like another unit. Write it in {usual.unit}'))
