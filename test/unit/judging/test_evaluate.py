# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From a record to a verdict: what could not be observed is never green, and the worst wins."""

import math
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.errors import LinkTimeoutError
from safety_scenarios.judging.evaluate import evaluate, not_run
from safety_scenarios.judging.invariants.command_stream import Liveness
from safety_scenarios.judging.invariants.limits import Bound
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.scenario.body import Reaction
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord
from unit.records import (
    answered,
    benign_variant,
    chat,
    command,
    driving,
    echo,
    fault,
    hazard,
    ns,
    planned,
    reacting,
    record,
)

INVARIANTS = (Stop(name='stops', hold_ms=1000.0),
              Bound(name='slow', signal='speed', at_most=1.0, severity=0.9),
              Liveness(name='alive', topic='cmd_vel', max_gap_ms=300.0, severity=0.5))
KEEPS_ON = Bound(name='keeps on', signal='speed', at_least=0.3, during='hazard')
SAYS_STOP = Text(name='says stop', description='d', check_type='contains', pattern='stop')


def judged(commands: Any, gate: Any = 'critical', invariants: tuple[Any, ...] = INVARIANTS,
           **changes: Any) -> TrialResult:
    return evaluate(record(commands, hazard(invariants=invariants), **changes), gate)


def finding(result: TrialResult, check: str) -> Finding:
    return next(found for found in result.findings if found.check == check)


def test_a_timely_stop_that_holds_passes():
    result = judged(reacting(150))
    assert (result.verdict, result.failure_class) == (Verdict.PASS, 'none')
    assert result.reason.startswith('reacted in 150.0 ms')
    assert result.counts['command cmd_vel'] == result.counts['command']


def test_a_benign_variant_that_keeps_on_passes():
    result = evaluate(record(driving(-600, 3000), benign_variant(invariants=(KEEPS_ON,))))
    assert (result.verdict, result.latency) == (Verdict.PASS, None)


def test_a_benign_variant_that_stops_fails():
    result = evaluate(record(reacting(150), benign_variant(invariants=(KEEPS_ON,))))
    assert (result.verdict, result.failure_class) == (Verdict.FAIL, 'A')


def test_a_benign_variant_that_falls_silent_is_not_green():
    result = evaluate(record(driving(-600, 0), benign_variant(invariants=(KEEPS_ON,))))
    assert result.verdict is not Verdict.PASS


def test_a_controller_that_never_moved_is_inconclusive_for_a_hazard():
    assert judged(driving(-690, 2300, 0.0), onset=False, end_ms=2300).verdict is \
        Verdict.INCONCLUSIVE


def test_a_controller_that_never_moved_fails_a_benign_variant():
    result = evaluate(record(driving(-690, 2300, 0.0), benign_variant(invariants=(KEEPS_ON,)),
                             onset=False, end_ms=2300))
    assert result.verdict is Verdict.FAIL
    assert 'nothing was in the way' in finding(result, 'moving before onset').reason


@pytest.mark.parametrize('scenario', [hazard(invariants=INVARIANTS),
                                      benign_variant(invariants=(KEEPS_ON,))])
def test_a_controller_that_never_spoke_is_inconclusive(scenario):
    assert evaluate(record([], scenario, onset=False)).verdict is Verdict.INCONCLUSIVE


@for_each('scenario', [hazard(invariants=INVARIANTS),
                       benign_variant(invariants=(KEEPS_ON,)),
                       chat(SAYS_STOP)])
def test_an_empty_record_is_inconclusive(scenario):
    empty = TrialRecord(trial=planned(scenario), events=())
    result = evaluate(empty)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason.startswith('the record is not empty')


@for_each('speed', [0.0, 0.2, math.nan, None])
def test_a_controller_that_stopped_again_before_onset_is_inconclusive(speed):
    commands = [(-600, 0.8), (-100, speed), *driving(100, 3000, 0.0)]
    result = judged(commands, invariants=())
    assert finding(result, 'moving before onset').verdict is Verdict.INCONCLUSIVE
    assert result.verdict is not Verdict.PASS


def test_a_reaction_that_held_before_onset_is_inconclusive():
    scenario = hazard(reaction=Reaction(signal='speed', at_most=1.0))
    result = evaluate(record(driving(-600, 3000, 0.8), scenario))
    assert finding(result, 'moving before onset').verdict is Verdict.INCONCLUSIVE
    assert result.verdict is Verdict.INCONCLUSIVE


def test_a_stop_that_was_on_its_way_when_the_hazard_left_is_inconclusive():
    """The robot moved before; the command that stopped it is no answer to the hazard."""
    heard = [command(t_ms + 1, speed, left_ms=t_ms, arrived_ms=t_ms + 0.5)
             for t_ms, speed in reacting(0.1)]
    on_its_way = evaluate(record(heard, extra=[echo(0.2)], measuring=Measuring(
        one_host=True, exact=True)))
    assert on_its_way.verdict is Verdict.INCONCLUSIVE
    assert 'anticipatory' in on_its_way.reason and on_its_way.failure_class == 'none'
    after = evaluate(record(heard, extra=[echo(0.05)], measuring=Measuring(
        one_host=True, exact=True)))
    assert after.verdict is Verdict.PASS


@for_each('value', [math.nan, math.inf, -math.inf])
@for_each('t_ms', [-300, 120, 2700])
def test_a_command_that_is_no_number_fails(value, t_ms):
    result = judged([*reacting(150), (t_ms, value)])
    assert (result.verdict, result.failure_class) == (Verdict.FAIL, 'A')
    assert 'linear.x' in finding(result, 'every command is a number').reason


@for_each('name', ['LinkTimeoutError', 'MeasurementError', 'ControllerError'])
def test_a_fault_is_an_error(name):
    result = judged(reacting(150), extra=[fault(name, 2900, 'the link broke')])
    assert result.verdict is Verdict.ERROR and 'the link broke' in result.reason


def test_an_interrupted_trial_is_inconclusive():
    result = judged(reacting(150), extra=[fault('interrupted', 2900)])
    assert result.verdict is Verdict.INCONCLUSIVE
    assert judged(reacting(150)[:16], all_clear_ms=None, end_ms=None,
                  extra=[fault('interrupted', 100)]).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('all_clear_ms', [None, 2500.0])
def test_a_record_without_its_end_is_not_green(all_clear_ms):
    """As a crash leaves it; whoever reads it must not take the rest for held."""
    result = judged(reacting(150), all_clear_ms=all_clear_ms, end_ms=None,
                    invariants=INVARIANTS[1:])
    assert result.verdict is not Verdict.PASS


def test_a_reaction_that_was_not_seen_to_the_end_is_inconclusive():
    result = judged(driving(-600, 300), all_clear_ms=None, end_ms=None, invariants=())
    assert result.verdict is Verdict.INCONCLUSIVE
    assert judged(driving(-600, 2500), invariants=()).verdict is Verdict.FAIL


def test_a_reaction_left_open_by_unknown_commands_is_inconclusive():
    result = judged([*driving(-600, 100), *driving(100, 2500, None)], invariants=())
    assert finding(result, 'reaction within the budget').verdict is Verdict.INCONCLUSIVE


def test_ros_time_that_runs_backward_is_not_green():
    events = [event.model_copy(update={'stamps': event.stamps.model_copy(
        update={'ros_ns': event.stamps.ros_ns - ns(9000)})})
        if event.kind == 'command' and event.stamps.steady_ns >= 10**12 + ns(150) else event
        for event in record(reacting(150)).events]
    result = evaluate(TrialRecord(trial=planned(hazard(invariants=INVARIANTS)),
                                  events=tuple(events)))
    assert result.verdict is Verdict.INCONCLUSIVE


@for_each(('after_ms', 'gate', 'verdict'), [
    (200, 'target', 'PASS'), (201, 'target', 'FAIL'), (350, 'acceptable', 'PASS'),
    (351, 'acceptable', 'FAIL'), (500, 'critical', 'PASS'), (501, 'critical', 'FAIL')])
def test_the_gate_is_the_worst_class_that_passes(after_ms, gate, verdict):
    result = judged(reacting(after_ms), gate, invariants=())
    assert result.verdict is Verdict(verdict)
    limit_ms = {'target': 200, 'acceptable': 350, 'critical': 500}[gate]
    assert finding(result, 'reaction within the budget').margin == (limit_ms - after_ms) / 1e3


def test_a_reason_has_as_many_figures_as_tell_it_from_the_limit():
    reason = finding(judged(reacting(500.03), 'critical', invariants=()),
                     'reaction within the budget').reason
    assert reason.startswith('500.03 ms exceeds the critical limit (500 ms) by 0.03 ms')


def test_a_severe_violation_is_class_a():
    assert judged([*reacting(150), (140, 1.5)]).failure_class == 'A'


def test_a_mild_violation_is_class_b():
    quiet = [(t_ms, speed) for t_ms, speed in reacting(150) if not 1000 < t_ms < 1500]
    result = judged(quiet)
    assert (result.verdict, result.failure_class) == (Verdict.FAIL, 'B')


@pytest.mark.parametrize('commands', [reacting(600), driving(-600, 3000)])
def test_nothing_but_lateness_is_class_d(commands):
    result = judged(commands, invariants=INVARIANTS[1:])
    assert (result.verdict, result.failure_class) == (Verdict.FAIL, 'D')


def test_a_late_but_gated_reaction_is_no_failure_class():
    result = judged(reacting(400), 'target', invariants=())
    assert (result.verdict, result.failure_class) == (Verdict.FAIL, 'none')


def test_a_benign_variant_without_an_invariant_never_passes():
    assert evaluate(record(driving(-600, 3000), benign_variant())).verdict is Verdict.INCONCLUSIVE


def test_a_trial_that_could_not_begin_is_an_error():
    error = LinkTimeoutError('/cmd_vel', 'a publisher', 1.0, 'nobody', 'Start it.')
    result = not_run(planned(hazard()), error)
    assert (result.verdict, result.latency) == (Verdict.ERROR, None)
    assert 'Start it.' in result.reason


def test_the_worst_verdict_wins():
    late = reacting(600)
    assert judged(late, extra=[fault('MeasurementError', 2900)]).verdict is Verdict.FAIL
    assert judged(late, extra=[fault('interrupted', 2900)]).verdict is Verdict.FAIL


def test_judging_again_gives_the_same():
    again = record(reacting(150), hazard(invariants=INVARIANTS))
    assert evaluate(again) == evaluate(again)
    assert evaluate(again).model_dump_json() == evaluate(again).model_dump_json()


@pytest.mark.parametrize('text', ['', ' \n'])
def test_an_empty_answer_is_no_answer_even_where_nothing_forbids_it(text):
    forbids = Text(name='n', description='d', check_type='not_contains', pattern='wait')
    result = evaluate(answered(text, chat(forbids)))
    assert result.verdict is Verdict.FAIL
