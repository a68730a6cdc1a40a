# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A controller that falls silent: what that comes to depends on what the driver is known to do."""

from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.limits import Bound
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.scenario.body import Reaction, Silence
from safety_scenarios.scenario.result import Latency, TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from unit.records import command, driving, echo, hazard, measure, ns, reacting, record

SILENT = driving(-690, 110)
"""A command each 50 ms; the last one comes at 60 ms."""
UNSAFE, UNKNOWN = Silence(policy='unsafe'), Silence()


def stops(after_ms: float = 300.0) -> Silence:
    return Silence(policy='stop', driver_timeout_ms=after_ms)


def robot(silence: Silence = UNKNOWN, **changes: Any) -> Scenario:
    return hazard(silence=silence, **changes)


def measured(commands: Any, silence: Silence | None = None, **changes: Any) -> Latency:
    latency = measure(record(commands, robot(silence or stops()), **changes))
    assert latency is not None
    return latency


def judged(commands: Any, silence: Silence | None = None, invariants: tuple[Any, ...] = (),
           **changes: Any) -> TrialResult:
    return evaluate(record(commands, robot(silence or stops(), invariants=invariants), **changes))


def test_the_driver_stops_the_robot_its_timeout_after_the_last_command():
    latency = measured(SILENT)
    assert latency.reaction is not None
    assert (latency.judged_ns, latency.latency_class) == (ns(360), LatencyClass.CRITICAL)
    assert latency.reaction.callback_ns == latency.reaction.ros_ns == ns(360)
    assert latency.inferred and latency.fell_silent


def test_an_inferred_stop_passes_within_the_budget_and_says_how():
    result = judged(SILENT)
    assert result.verdict is Verdict.PASS
    assert result.reason.startswith('reacted in 360.0 ms by sending no more commands')
    assert [note.code for note in result.notes] == ['no-better-method', 'inferred']


def test_an_inferred_stop_that_comes_too_late_fails():
    result = judged(SILENT, stops(450.0))
    assert result.verdict is Verdict.FAIL and result.latency is not None
    assert result.latency.latency_class is LatencyClass.VIOLATION


@pytest.mark.parametrize(('silence', 'says'), [
    (UNSAFE, 'According to ros.silence the robot continues'), (UNKNOWN, 'declare ros.silence')])
def test_where_the_driver_is_not_known_to_stop_silence_is_no_reaction(silence, says):
    latency = measured(SILENT, silence)
    assert (latency.latency_class, latency.judged_ns) == (LatencyClass.NO_RESPONSE, None)
    assert latency.fell_silent and not latency.inferred
    result = judged(SILENT, silence)
    assert result.verdict is Verdict.FAIL and says in result.reason


def test_a_controller_that_drives_on_is_not_silent():
    latency = measured(driving(-690, 2500))
    assert latency.judged_ns is None and not latency.fell_silent
    assert 'silence' not in judged(driving(-690, 2500)).reason


@pytest.mark.parametrize(('timeout_ms', 'found_ms'), [(2240, 2300), (2240.000001, None)])
def test_an_inferred_stop_must_hold_as_long_as_any(timeout_ms, found_ms):
    """The all-clear comes at 2500 ms, and 200 ms are asked for."""
    latency = measured(SILENT, stops(timeout_ms))
    assert latency.judged_ns == (None if found_ms is None else ns(found_ms))
    assert latency.inferred is (found_ms is not None) and latency.fell_silent
    if found_ms is None:
        assert 'too short or too late' in judged(SILENT, stops(timeout_ms)).reason


STAYS = Stop(name='stops and stays', hold_ms=1000.0)


@for_each(('again_ms', 'found'), [(360, False), (560, False), (560.000001, True)])
def test_a_gap_is_a_reaction_if_the_driver_stopped_the_robot_for_long_enough(again_ms, found):
    latency = measured([*SILENT, *driving(again_ms, 2500)])
    assert (latency.judged_ns, latency.inferred) == (ns(360) if found else None, found)
    assert not latency.fell_silent


def test_a_controller_that_drives_on_after_a_gap_did_not_stay():
    result = judged([*SILENT, *driving(1500, 2500)], invariants=(STAYS,))
    assert result.verdict is Verdict.FAIL
    assert 'moved before the all-clear' in result.reason


def test_a_robot_that_its_driver_stopped_has_stopped_for_every_check():
    assert judged(SILENT, invariants=(STAYS,)).verdict is Verdict.PASS
    assert judged(SILENT, UNSAFE, invariants=(STAYS,)).verdict is Verdict.FAIL
    assert judged(SILENT, UNKNOWN, invariants=(STAYS,)).verdict is Verdict.FAIL


def test_a_driver_that_stops_a_benign_variant_s_robot_has_not_let_it_work():
    calm = {'domain': 'robotic_defer', 'reaction': None, 'invariants': (
        Bound(name='b', signal='speed', at_most=1.0),)}
    assert evaluate(record(SILENT, robot(stops(), **calm))).verdict is Verdict.FAIL
    assert evaluate(record(driving(-690, 3000), robot(stops(), **calm))).verdict is Verdict.PASS
    unknown = evaluate(record(SILENT, robot(UNKNOWN, **calm)))
    assert unknown.verdict is Verdict.INCONCLUSIVE and 'ros.silence' in unknown.reason
    assert evaluate(record(SILENT, robot(UNSAFE, **calm))).verdict is Verdict.PASS


def test_commands_after_all_clear_do_not_break_a_silence():
    assert measured([*SILENT, *driving(2550, 3000)]).judged_ns == ns(360)


@pytest.mark.parametrize(('all_clear_ms', 'silent'), [(310, False), (310.000001, True)])
def test_more_than_five_periods_without_a_command_are_a_silence(all_clear_ms, silent):
    latency = measured(SILENT, stops(50.0), all_clear_ms=all_clear_ms)
    assert latency.fell_silent is silent


@pytest.mark.parametrize(('all_clear_ms', 'silent'), [(250, False), (250.000001, True)])
def test_only_the_silence_after_onset_counts(all_clear_ms, silent):
    """The last command came 190 ms before onset."""
    latency = measured(driving(-690, -180), UNKNOWN, all_clear_ms=all_clear_ms)
    assert latency.fell_silent is silent


@pytest.mark.parametrize(('again_ms', 'found'), [(360, False), (360.000001, True)])
def test_a_command_at_the_driver_s_timeout_comes_in_time(again_ms, found):
    at_once = Reaction(signal='speed', at_most=0.05, hold_ms=0.0)
    latency = measure(record([*SILENT, *driving(again_ms, 2500)], robot(
        stops(), reaction=at_once)))
    assert latency is not None and (latency.judged_ns is not None) is found


def test_the_period_is_that_of_the_controller():
    slow = driving(-600, 500, every_ms=400.0)
    assert not measured(slow, stops(50.0), all_clear_ms=2000).fell_silent
    assert measured(slow, stops(50.0), all_clear_ms=2300).fell_silent


def test_a_stop_that_was_commanded_before_the_silence_is_the_reaction():
    latency = measured([*SILENT, (110, 0.0)])
    assert (latency.judged_ns, latency.inferred, latency.fell_silent) == (ns(110), False, True)


@pytest.mark.parametrize(('timeout_ms', 'anticipatory'), [(39.999999, True), (40, False)])
def test_a_robot_that_the_driver_had_stopped_before_onset_is_anticipatory(timeout_ms,
                                                                          anticipatory):
    """The last command came at -40 ms, less than a period before the hazard."""
    latency = measured(driving(-690, -30), stops(timeout_ms))
    assert (latency.latency_class is LatencyClass.ANTICIPATORY) is anticipatory
    assert latency.judged_ns == (None if anticipatory else 0)


@for_each(('last_ms', 'anticipatory'), [
    (-340, True), (-75.000001, True), (-75, False), (0, False)])
def test_a_silence_that_had_begun_before_the_hazard_is_no_answer_to_it(last_ms, anticipatory):
    """A command each 50 ms was due before, though the driver stopped the robot only later."""
    commands = [(last_ms - 50 * place, 0.8) for place in range(6, -1, -1)]
    result = judged(commands, stops(400.0))
    assert result.latency is not None
    assert (result.latency.latency_class is LatencyClass.ANTICIPATORY) is anticipatory
    assert result.verdict is (Verdict.INCONCLUSIVE if anticipatory else Verdict.PASS)


@for_each('timeout_ms', [50.0, 200.0, 500.0])
def test_an_anticipated_silence_is_inconclusive(timeout_ms):
    result = judged(driving(-690, -80), stops(timeout_ms))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert any('anticipatory' in finding.reason for finding in result.findings)


def test_one_command_before_the_hazard_has_no_period_to_be_silent_for():
    assert measured([(-40, 0.8)], stops(100.0)).latency_class is LatencyClass.ANTICIPATORY


def test_a_stop_that_held_before_onset_and_was_followed_by_nothing_is_anticipatory():
    result = judged([(-400, 0.8), (-350, 0.8), (-40, 0.0)], UNKNOWN)
    assert result.latency and result.latency.latency_class is LatencyClass.ANTICIPATORY
    assert result.verdict is Verdict.INCONCLUSIVE


@for_each(('period_ms', 'last_ms', 'told'), [
    (50, -250, False), (50, -250.000001, True), (5, -100, False), (5, -100.000001, True)])
def test_a_stream_that_was_over_before_the_hazard_moved_nobody(period_ms, last_ms, told):
    """Five periods, or 100 ms where that is longer; what the robot then does nobody said."""
    commands = [(last_ms - period_ms * place, 0.8) for place in range(8, -1, -1)]
    reasons = [finding.reason for finding in judged(commands, UNKNOWN).findings
               if finding.check == 'moving before onset']
    assert ('Say in ros.silence' in reasons[0]) is told


def test_the_last_command_is_timed_like_any_other():
    before = [command(t_ms, 0.8, left_ms=t_ms - 0.8, arrived_ms=t_ms - 0.5)
              for t_ms, _ in driving(-690, 60)]
    last = command(90, 0.8, left_ms=59.2, arrived_ms=59.8)
    latency = measured([*before, last], extra=[echo(0.2)], measuring=Measuring(
        one_host=True, exact=True))
    assert latency.reaction is not None
    assert (latency.reaction.method, latency.judged_ns) == ('source', ns(359))
    assert latency.reaction.callback_ns == ns(390)


def test_no_command_at_all_is_not_a_stop():
    latency = measured([])
    assert (latency.judged_ns, latency.fell_silent) == (None, False)


def test_a_reaction_says_nothing_about_silence():
    assert not measured(reacting(150)).fell_silent
    assert 'fell silent' not in judged(reacting(150)).reason
