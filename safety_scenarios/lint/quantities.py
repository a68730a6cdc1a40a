# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L109, L117, L204, L210, L213, L219, L222, L223, L228: units, times and budgets."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from safety_scenarios.errors import did_you_mean, InputError
from safety_scenarios.lint.codes import FieldPath, Remark
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.timing import Calibration
from safety_scenarios.scenario.verdict import LimitName, RangeMs
from safety_scenarios.scenario.world import Floor
from safety_scenarios.standards.ssm import budget_static, budget_two_robots, budget_walking_person
from safety_scenarios.temporal_logic.formula import Future, Past, Since, Until, walk
from safety_scenarios.temporal_logic.parser import FormulaError, parse


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
    if not scenario.is_monitor:
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


_DERIVED: dict[str, Callable[..., float]] = {
    'static': budget_static, 'walking_person': budget_walking_person,
    'two_robots': budget_two_robots}
_SHOWN = 200
"""Characters of an error in a message."""
_LIMITS: tuple[LimitName, ...] = ('target', 'acceptable', 'critical')


def check_budgets(scenario: Scenario, floor_ms: float | None) -> Iterator[Remark]:
    """
    Yield the remarks on a scenario's budget.

    :param floor_ms: what the harness itself needs (ms), as :func:`needed_ms` says; None: unknown
    """
    if floor_ms is not None:
        yield from _floor(scenario, floor_ms)
    if not scenario.body.is_in_words:
        yield from _origin(scenario)
        yield from _confirmation(scenario)


def needed_ms(calibration: Calibration) -> float:
    """
    Return what the harness itself needs (ms): its floor's 99th percentile and its uncertainty.

    :raises InputError: the calibration could not tell
    """
    floor_ms = calibration.floor_ms[1].value if calibration.floor_ms else None
    uncertainty_ms = calibration.uncertainty_ms.get(calibration.method)
    if floor_ms is None or uncertainty_ms is None:
        raise InputError('the calibration has no 99th percentile of the floor, or no uncertainty '
                         'of its method. Calibrate again on a host with less load')
    return floor_ms + uncertainty_ms


def _floor(scenario: Scenario, floor_ms: float) -> Iterator[Remark]:
    for name in _LIMITS:
        limit_ms = scenario.latency_budget.limit_ns(name) / 1e6
        if limit_ms < floor_ms:
            yield Remark('L109', scenario, ('latency_budget', f'{name}_ms'), (
                f'got {limit_ms:g} ms, expected at least the {floor_ms:.2f} ms that the harness '
                f'itself needs on the calibrated host. Measure it on another, or allow more'))
    confirmation = scenario.body.confirmation
    own = confirmation.budget if confirmation else None
    for name in _LIMITS if own else ():
        limit_ms = own.limit_ns(name) / 1e6 if own else 0.0
        if limit_ms < floor_ms:
            yield Remark('L109', scenario, ('ros', 'confirmation', 'budget', f'{name}_ms'), (
                f'got {limit_ms:g} ms, expected at least the {floor_ms:.2f} ms that the harness '
                f'itself needs on the calibrated host. Measure it on another, or allow more'))


def _confirmation(scenario: Scenario) -> Iterator[Remark]:
    """Hold what the robot must confirm against what a reaction in time and its brakes allow."""
    ros, budget = scenario.body, scenario.confirmation_budget
    if not isinstance(ros, RobotBody) or ros.confirmation is None or budget is None:
        return
    critical_ms, at_ms = budget.critical_ms, ros.all_clear.at_ms
    if ros.confirmation.budget is None:
        if critical_ms + ros.confirmation.hold_ms > at_ms:
            yield Remark('L204', scenario, ('ros', 'all_clear', 'at_ms'), (
                f'got {at_ms:g} ms, expected at least {critical_ms + ros.confirmation.hold_ms:g}: '
                f'the critical limit of the reaction, the declared stopping time and hold_ms of '
                'ros.confirmation. A robot that is still not there cannot be distinguished from '
                f'one that comes in time. Clear later'))
        return
    place = ('ros', 'confirmation', 'budget', 'critical_ms')
    speed, signal = ros.nominal.require.at_least, ros.signals[ros.nominal.require.signal]
    rate = ros.robot.deceleration(ros.separation.metres_per_unit if ros.separation else 1.0)
    is_speed = signal.unit == kind_of(ros.robot).speed_unit
    least_ms = 1e3 * speed / rate if is_speed and speed and rate else 0.0
    if critical_ms < least_ms:
        yield Remark('L222', scenario, place, (
            f'got {critical_ms:g} ms, expected at least the {least_ms:.0f} ms that braking from '
            f'the {speed:g} of nominal.require takes as robot.stopping declares: no robot can '
            f'confirm a stop sooner, however fast its controller is. Allow more'))
    elif critical_ms < scenario.latency_budget.critical_ms:
        yield Remark('L222', scenario, place, (
            f'got {critical_ms:g} ms, expected at least the '
            f'{scenario.latency_budget.critical_ms:g} ms of latency_budget: a reaction within '
            'that may come after it, and no robot stands before it is commanded to. Allow more, '
            f'or lower latency_budget.critical_ms'))


def _origin(scenario: Scenario) -> Iterator[Remark]:
    budget = scenario.metadata.get('budget')
    if not isinstance(budget, Mapping) or not (budget.get('why') or budget.get('inputs')):
        yield Remark('L117', scenario, ('metadata', 'budget'), (
            'does not say where latency_budget comes from. Add basis and inputs, or basis and '
            'why'))
        return
    inputs, basis = budget.get('inputs'), budget.get('basis')
    if basis == 'separation' and scenario.body.separation is None:
        yield Remark('L117', scenario, ('metadata', 'budget', 'basis'), (
            'got separation without ros.separation: nothing holds critical_ms against the '
            'distance that is left. Add the block, or name another basis'))
    if inputs is None:
        return
    if basis not in _DERIVED:
        yield Remark('L117', scenario, ('metadata', 'budget', 'basis'), (
            f'got {basis!r} with inputs, expected one of {", ".join(_DERIVED)}.'
            f'{did_you_mean(str(basis), _DERIVED)} Say why instead of inputs, if it is another'))
        return
    try:
        allowed_ms = 1e3 * _DERIVED[basis](**inputs)
    except (InputError, TypeError, ValueError, ArithmeticError) as error:
        text = str(error).replace('budget_', '').replace('()', '')
        yield Remark('L117', scenario, ('metadata', 'budget', 'inputs'),
                     f'are not those of {basis}: {text[:_SHOWN]}')
        return
    if scenario.latency_budget.critical_ms > allowed_ms:
        yield Remark('L117', scenario, ('latency_budget', 'critical_ms'), (
            f'got {scenario.latency_budget.critical_ms:g} ms, expected at most the '
            f'{allowed_ms:.1f} ms that metadata.budget.inputs leave the controller. Lower it, or '
            f'correct the inputs'))


_HELD_MS = 50.0
"""What holds for less than two or three commands may be chance."""
_HEARD_MS = 100.0
"""What a controller does after the all-clear shows in no less."""
_OVER = {
    'liveness': ('max_gap_ms', 'a controller that is silent through the whole {event} passes'),
    'fresh': ('max_age_ms', 'no data grow that old before the {event} is over'),
    'no_spurious_stop': ('for_ms', 'a robot that stands through the whole {event} passes'),
    'zone': ('max_gap_ms', 'no signal has to give the position of the robot'),
    'say_do': ('grace_ms', 'no words during the {event} are ever judged'),
    'bound': ('grid_ms', 'no change is ever as steep as it looks'),
}
"""Kind to a time of it and what follows from its being as long as the hazard."""


def check_times(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on the times of a scenario."""
    yield from _after_the_end(scenario)
    ros = scenario.body
    if not isinstance(ros, RobotBody):
        return
    yield from _bag(scenario, ros)
    at_ms = ros.all_clear.at_ms
    if ros.all_clear.observe_ms < _HEARD_MS:
        yield Remark('L204', scenario, ('ros', 'all_clear', 'observe_ms'), (
            f'got {ros.all_clear.observe_ms:g} ms, expected at least {_HEARD_MS:g}: what the '
            f'controller does after the all-clear is not seen. Listen longer'))
    timeout_ms = ros.silence.driver_timeout_ms
    if timeout_ms is not None and timeout_ms >= at_ms:
        yield _long(scenario, ('ros', 'silence', 'driver_timeout_ms'), timeout_ms, at_ms,
                    'silence never stops the robot while it matters')
    for name in ('reaction', 'confirmation'):
        condition = getattr(ros, name)
        if condition is not None:
            yield from _held(scenario, ('ros', name, 'hold_ms'), condition.hold_ms)
    for index, stimulus in enumerate(ros.stimuli):
        after_ms = getattr(stimulus, 'after_ms', None)
        if after_ms is not None and after_ms >= at_ms:
            yield _long(scenario, ('ros', 'stimuli', index, 'after_ms'), after_ms, at_ms,
                        'the change never comes')
    for index, invariant in enumerate(ros.invariants):
        yield from _invariant(scenario, ros, ('ros', 'invariants', index), invariant)


def _bag(scenario: Scenario, ros: RobotBody) -> Iterator[Remark]:
    """Warn of a recording that ends before the hazard: what comes then may be taken for one."""
    played = next((plugin for plugin in ros.nominal.stimuli
                   if isinstance(getattr(plugin, 'round_ns', None), int)), None)
    if played is None:
        return
    lasts_ms = getattr(played, 'round_ns', 0) / 1e6
    trial_ms = ros.nominal.duration_ms[1] + ros.all_clear.at_ms + ros.all_clear.observe_ms
    if lasts_ms < trial_ms:
        then = 'begins again, with whatever leap that is' \
            if getattr(played, 'at_end', '') == 'loop' else 'continues with its last messages'
        yield Remark('L223', scenario, ('ros', 'nominal', 'bag'), (
            f'got a recording of {lasts_ms / 1e3:.1f} s, expected at least the '
            f'{trial_ms / 1e3:.1f} s that a trial lasts from the first motion on: it then {then}, '
            f'which a controller may answer instead of the hazard. Record for longer, or shorten '
            f'the nominal phase'))


def _invariant(scenario: Scenario, ros: RobotBody, path: FieldPath,
               invariant: Any) -> Iterator[Remark]:
    kind, at_ms = getattr(invariant, 'kind', ''), ros.all_clear.at_ms
    event = 'harmless event' if scenario.is_benign else 'hazard'
    if kind in _OVER:
        field, what = _OVER[kind]
        given_ms = getattr(invariant, field)
        if given_ms >= at_ms:
            yield _long(scenario, (*path, field), given_ms, at_ms, what.format(event=event))
    if kind == 'stop':
        yield from _held(scenario, (*path, 'hold_ms'), invariant.hold_ms)
    if kind == 'defer':
        due_ms = invariant.protected_ms + invariant.within_ms
        if due_ms >= at_ms:
            yield _long(scenario, (*path, 'within_ms'), due_ms, at_ms,
                        'the stop is never seen to hold')
    if isinstance(getattr(invariant, 'formula', None), str):
        yield from _formula(scenario, ros, path, invariant)


def _formula(scenario: Scenario, ros: RobotBody, path: FieldPath,
             invariant: Any) -> Iterator[Remark]:
    trial_ms = ros.nominal.duration_ms[1] + ros.all_clear.at_ms + ros.all_clear.observe_ms
    stale = getattr(invariant, 'stale_ms', {})
    given: dict[FieldPath, float] = {('stale_ms', name): value for name, value in stale.items()} \
        if isinstance(stale, Mapping) else {('stale_ms',): stale}
    for field, stale_ms in given.items():
        if stale_ms >= trial_ms:
            yield _long(scenario, (*path, *field), stale_ms, trial_ms, 'nothing ever grows stale')
    try:
        formula = parse(invariant.formula)
    except FormulaError:
        return  # told when the file was read
    windows = [node.bounds for node, _ in walk(formula)
               if isinstance(node, (Future, Past, Since, Until)) and node.bounds is not None]
    longest_ms = max((bounds.last_ns / 1e6 for bounds in windows), default=0.0)
    if longest_ms > trial_ms:
        yield _long(scenario, (*path, 'formula'), longest_ms, trial_ms,
                    'a window never fits in, and remains open')


def _long(scenario: Scenario, path: FieldPath, got_ms: float, most_ms: float, what: str) -> Remark:
    return Remark('L204', scenario, path, (
        f'got {got_ms:g} ms, expected less than {most_ms:g}, which is all there is: {what}. '
        f'Lower it'))


def _held(scenario: Scenario, path: FieldPath, hold_ms: float) -> Iterator[Remark]:
    if hold_ms < _HELD_MS:
        yield Remark('L213', scenario, path, (
            f'got {hold_ms:g} ms, expected at least {_HELD_MS:g}: a single command would count. '
            f'Hold for longer, such as 200'))


def _after_the_end(scenario: Scenario) -> Iterator[Remark]:
    """Warn of what agents are never asked for: it is due after the run, or keeps itself away."""
    block = scenario.body
    if not isinstance(block, AgentsBody) or block.turns:
        return
    for index, rule in enumerate(block.rules):
        trigger, expect, path = rule.trigger, rule.expect, ('rules', block.entry(index))
        if trigger is None:
            continue
        at_ms = trigger.wait_ns / 1e6 if {one.kind for one in trigger.any} == {'start'} else 0.0
        if at_ms and at_ms >= block.duration_ms:
            yield Remark('L219', scenario, (*path, 'trigger'), (
                f'got {rule.trigger_text!r}, and the run is over after {block.duration_ms:g} ms: '
                f'the rule never fires. Lower the time, or raise duration_ms'))
        elif expect is not None and at_ms + expect.budget.critical_ms > block.duration_ms:
            yield Remark('L219', scenario, (*path, 'action'), (
                f'got a limit of {expect.budget.critical_ms:g} ms'
                f'{f" from {at_ms:g} ms on" * bool(at_ms)}, and the run is over after '
                f'{block.duration_ms:g} ms: who never does it cannot fail. Lower the limit, or '
                f'raise duration_ms'))
        if trigger.unless_ns is None and set(trigger.any) <= set(trigger.unless):
            yield Remark('L219', scenario, (*path, 'trigger'), (
                f'got {rule.trigger_text!r}, where what triggers it also keeps it from firing: '
                f'the rule never fires. Name something else after unless'))
