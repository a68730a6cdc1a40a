# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What another publisher commands is not held against the controller, nor for it."""

from collections.abc import Iterable
from typing import Any

from cases import for_each
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.latency_findings import WITHIN_BUDGET
from safety_scenarios.judging.findings.observation import ONE_COMMANDER
from safety_scenarios.judging.invariants.limits import Bound
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.scenario.event import Event, OTHER_COMMANDER, STALL_BEGAN
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from unit.judging.test_stalls import HERE
from unit.records import (
    command,
    driving,
    END_MS,
    fault,
    hazard,
    NOMINAL_MS,
    reacting,
    record,
    stamps,
)

PASS, FAIL, INCONCLUSIVE, ERROR = (Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.ERROR)
SCENARIO = hazard(invariants=[Stop(name='it stops', within=500.0, hold_ms=1000.0),
                              Bound(name='slow', signal='speed', at_most=0.9)])


def other(began_ms: float, seen_ms: float) -> Event:
    """Return what the link records when it sees another commander."""
    return fault(OTHER_COMMANDER, seen_ms).model_copy(
        update={'truth': {STALL_BEGAN: (seen_ms - began_ms) / 1e3}})


def judged(commands: Iterable[tuple[float, Any]], *extra: Event) -> TrialResult:
    return evaluate(record(sorted(commands), SCENARIO, extra=extra))


def verdict(result: TrialResult, check: str) -> Verdict | None:
    return next(one.verdict for one in result.findings if one.check == check)


def test_a_reaction_of_somebody_else_never_passes():
    assert judged(reacting(50), other(30, 60)).verdict is ERROR


@for_each('began_ms', [1100.0, 1499.0])
def test_what_somebody_else_commands_is_no_fault_of_the_controller(began_ms):
    mixed = [*reacting(50), (1505, 0.95)]
    assert verdict(judged(mixed), 'it stops') is verdict(judged(mixed), 'slow') is FAIL
    result = judged(mixed, other(began_ms, 1600))
    assert result.verdict is ERROR and verdict(result, WITHIN_BUDGET) is PASS
    for check in ('it stops', 'slow'):
        assert verdict(result, check) is INCONCLUSIVE


def test_a_violation_before_somebody_else_came_stands():
    result = judged([*reacting(50), (1005, 0.95), (2005, 1.5)], other(1100, 1160))
    assert result.verdict is FAIL
    [broken] = (one for one in result.findings if one.check == 'slow')
    assert broken.verdict is FAIL and broken.at_ms == 1005
    assert verdict(result, ONE_COMMANDER) is ERROR


@for_each(('began_ms', 'decided'), [(450.0, INCONCLUSIVE), (1500.0, FAIL)])
def test_who_had_not_reacted_by_then_fails_as_soon_as_it_was_too_late(began_ms, decided):
    never = driving(NOMINAL_MS + 10, END_MS)
    stopped = [*driving(NOMINAL_MS + 10, began_ms + 200), *driving(began_ms + 200, END_MS, 0.0)]
    for commands in (never, stopped):
        result = judged(commands, other(began_ms, began_ms + 60))
        assert verdict(result, WITHIN_BUDGET) is decided


def test_a_reaction_that_had_begun_in_time_is_not_cut_short_by_somebody_else():
    begun = [*driving(NOMINAL_MS + 10, 450), *driving(450, 600, 0.0), *driving(600, END_MS)]
    assert verdict(judged(begun), WITHIN_BUDGET) is FAIL
    assert verdict(judged(begun, other(590, 620)), WITHIN_BUDGET) is INCONCLUSIVE


def test_counts_that_take_turns_tell_since_when_the_commander_is_unknown():
    drive = reacting(50)
    events = [command(*entry, sequence=number) for number, entry in enumerate(drive, 300)]
    once = command(1505, 0.95, sequence=1)
    result = evaluate(record([*events, once], SCENARIO))
    assert result.verdict is ERROR
    assert verdict(result, 'it stops') is verdict(result, 'slow') is INCONCLUSIVE
    assert not any('lost' in one.check and one.verdict is not PASS for one in result.findings)
    [mixed] = (one for one in result.findings if one.check == ONE_COMMANDER)
    assert mixed.at_ms == 1505


def test_a_stall_that_was_reported_after_somebody_else_came_excuses_what_it_covers():
    stalled = Event(kind='stall', name='simulator', text='stopped', stamps=stamps(1301), truth={
        STALL_BEGAN: 1.301, 'ended': 1e-3, 'lost': 1.3})
    drives_on = driving(NOMINAL_MS + 10, END_MS)
    result = evaluate(record(drives_on, SCENARIO, extra=[stalled, other(1250, 1310)],
                             measuring=HERE))
    assert result.verdict is ERROR and verdict(result, WITHIN_BUDGET) is INCONCLUSIVE
