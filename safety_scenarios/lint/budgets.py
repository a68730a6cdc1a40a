# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L109, L117, L222: whether a budget can be measured and met, and where it comes from."""

from collections.abc import Callable, Iterator, Mapping

from safety_scenarios.errors import did_you_mean, InputError
from safety_scenarios.lint._remark import Remark
from safety_scenarios.scenario.blocks.budget import LimitName
from safety_scenarios.scenario.measuring import Calibration
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.standards.ssm import (
    budget_static,
    budget_two_robots,
    budget_walking_person,
)

_DERIVED: dict[str, Callable[..., float]] = {
    'static': budget_static, 'walking_person': budget_walking_person,
    'two_robots': budget_two_robots}
_SHOWN = 200
"""Characters of an error in a message."""
_LIMITS: tuple[LimitName, ...] = ('target', 'acceptable', 'critical')


def check(scenario: Scenario, floor_ms: float | None) -> Iterator[Remark]:
    """
    Yield the remarks on a scenario's budget.

    :param floor_ms: what the harness itself needs (ms), as :func:`needed_ms` says; None: unknown
    """
    if floor_ms is not None:
        yield from _floor(scenario, floor_ms)
    if scenario.body.kind == 'robot':
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
    confirmation = scenario.ros.confirmation if scenario.ros else None
    own = confirmation.budget if confirmation else None
    for name in _LIMITS if own else ():
        limit_ms = own.limit_ns(name) / 1e6 if own else 0.0
        if limit_ms < floor_ms:
            yield Remark('L109', scenario, ('ros', 'confirmation', 'budget', f'{name}_ms'), (
                f'got {limit_ms:g} ms, expected at least the {floor_ms:.2f} ms that the harness '
                f'itself needs on the calibrated host. Measure it on another, or allow more'))


def _confirmation(scenario: Scenario) -> Iterator[Remark]:
    """Hold what the robot must confirm against what a reaction in time and its brakes allow."""
    ros, budget = scenario.ros, scenario.confirmation_budget
    if ros is None or ros.confirmation is None or budget is None:
        return
    critical_ms, at_ms = budget.critical_ms, ros.all_clear.at_ms
    if ros.confirmation.budget is None:
        if critical_ms + ros.confirmation.hold_ms > at_ms:
            yield Remark('L204', scenario, ('ros', 'all_clear', 'at_ms'), (
                f'got {at_ms:g} ms, expected at least {critical_ms + ros.confirmation.hold_ms:g}: '
                f'the critical limit of the reaction, the declared stopping time and hold_ms of '
                f'ros.confirmation. A robot that is still not there cannot be told from one that '
                f'comes in time. Clear later'))
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
            f'that may come after it, and no robot stands before it is told to. Allow more, or '
            f'lower latency_budget.critical_ms'))


def _origin(scenario: Scenario) -> Iterator[Remark]:
    budget = scenario.metadata.get('budget')
    if not isinstance(budget, Mapping) or not (budget.get('why') or budget.get('inputs')):
        yield Remark('L117', scenario, ('metadata', 'budget'), (
            'does not say where latency_budget comes from. Add basis and inputs, or basis and '
            'why'))
        return
    inputs, basis = budget.get('inputs'), budget.get('basis')
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
