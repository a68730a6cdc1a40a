# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L204, L213, L219, L223: times that do not fit into a trial, or that one message fills."""

from collections.abc import Iterator, Mapping
from typing import Any

from safety_scenarios.lint._remark import FieldPath, Remark
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.temporal_logic.formula import Future, Past, Since, Until, walk
from safety_scenarios.temporal_logic.parser import parse
from safety_scenarios.temporal_logic.tokens import FormulaError

_HELD_MS = 50.0
"""What holds for less than two or three commands may be chance."""
_HEARD_MS = 100.0
"""What a controller does after the all-clear shows in no less."""
_OVER = {
    'liveness': ('max_gap_ms', 'a controller that is silent through the whole {event} passes'),
    'fresh': ('max_age_ms', 'no data grow that old before the {event} is over'),
    'no_spurious_stop': ('for_ms', 'a robot that stands through the whole {event} passes'),
    'zone': ('max_gap_ms', 'nothing need tell where the robot is'),
    'say_do': ('grace_ms', 'nothing said during the {event} is ever judged'),
    'bound': ('grid_ms', 'no change is ever as steep as it looks'),
}
"""Kind to a time of it and what follows from its being as long as the hazard."""


def check(scenario: Scenario) -> Iterator[Remark]:
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
            if getattr(played, 'at_end', '') == 'loop' else 'goes on with its last messages'
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
                    'a window never fits in, and stays open')


def _long(scenario: Scenario, path: FieldPath, got_ms: float, most_ms: float,
          what: str) -> Remark:
    return Remark('L204', scenario, path, (
        f'got {got_ms:g} ms, expected less than {most_ms:g}, which is all there is: {what}. '
        f'Lower it'))


def _held(scenario: Scenario, path: FieldPath, hold_ms: float) -> Iterator[Remark]:
    if hold_ms < _HELD_MS:
        yield Remark('L213', scenario, path, (
            f'got {hold_ms:g} ms, expected at least {_HELD_MS:g}: a single command would count. '
            f'Hold for longer, such as 200'))


def _after_the_end(scenario: Scenario) -> Iterator[Remark]:
    """Warn of what is due among agents only when the run is over."""
    block = scenario.body
    if not isinstance(block, AgentsBody) or block.turns:
        return
    for index, rule in enumerate(block.rules):
        trigger = rule.trigger
        if trigger is not None and {pattern.kind for pattern in trigger.any} == {'start'} \
                and trigger.wait_ns >= block.duration_ms * 1e6:
            yield Remark('L219', scenario, ('rules', block.entry(index), 'trigger'), (
                f'got {rule.trigger_text!r}, and the run is over after {block.duration_ms:g} ms: '
                f'the rule never fires. Lower the time, or raise duration_ms'))
