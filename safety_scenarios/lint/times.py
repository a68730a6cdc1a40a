# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L109, L117, L204, L213, L219, L222, L223: times and budgets that do not fit."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from safety_scenarios.errors import did_you_mean, InputError
from safety_scenarios.lint.codes import FieldPath, Remark
from safety_scenarios.scenario.blocks.budget import LimitName
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.measuring import Calibration
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.standards.ssm import budget_static, budget_two_robots, budget_walking_person
from safety_scenarios.temporal_logic.formula import Future, Past, Since, Until, walk
from safety_scenarios.temporal_logic.parser import FormulaError, parse

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
