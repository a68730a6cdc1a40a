# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What load on the host and the pace of a simulator do to what is judged of a trial."""

from typing import Any

from cases import for_each
import pytest
from safety_scenarios.campaign.calibration import calibrate
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.command_stream import Liveness
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.judging.latency.clocks import Clocks
from safety_scenarios.judging.latency.stream import WakeUps
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.timing import ClockOffset, ClockRules, Measuring, REAL
from safety_scenarios.scenario.verdict import LatencyBudget, Verdict
from safety_scenarios.trial.trial import Timeline, TrialRecord
from unit.judging.latency.probing import calibration
from unit.records import (
    command,
    driving,
    END_MS,
    hazard,
    NOMINAL_MS,
    ns,
    reacting,
    record,
    shown,
    stamps,
    system_ns,
)

IDLE_MS = 0.4
CALIBRATED = Measuring(one_host=True, uncertainty_ms={'source': 0.44, 'received': 0.44},
                       wake_ups_ms={'command': IDLE_MS, 'echo': IDLE_MS, 'stimulus': IDLE_MS})


def trial(after_ms: float, *late_ms: float, measuring: Measuring = CALIBRATED,
          from_ms: float = -1900.0, scenario: Any = None) -> TrialRecord:
    """
    Return a trial in which threads of the harness wake up so late, in turn, at 20 Hz.

    The controller drives until ``after_ms``, by the middleware's stamps.
    """
    events: list[Event] = []
    for index, (t_ms, _) in enumerate(driving(from_ms, 2400.0)):
        late = late_ms[index % len(late_ms)]
        events.append(shown(t_ms + late, due_ms=t_ms, hazard=False, topic='wheels'))
        events.append(Event(kind='echo', name='wheels', scheduled_ns=None, stamps=stamps(
            t_ms + late, source_ns=system_ns(t_ms), received_ns=system_ns(t_ms))))
    commands = [command(t_ms + 0.3, speed, left_ms=t_ms, arrived_ms=t_ms + 0.1)
                for t_ms, speed in (*driving(-600 + after_ms % 50, after_ms),
                                    *driving(after_ms, 2500.0, 0.0))]
    return record(commands, scenario, extra=events, measuring=measuring)


def bound_ms(*arguments: Any, **changes: Any) -> float:
    latency = evaluate(trial(*arguments, **changes)).latency
    assert latency is not None and latency.reaction is not None
    assert latency.reaction.method == 'source'
    return latency.reaction.uncertainty_ns / 1e6


@pytest.mark.parametrize('late_ms', [
    (0.4,), (0.3, 0.5, 0.9), (*[0.4] * 29, 30.0), (*[0.4] * 12, 0.9)],
    ids=['steady', 'spread', 'one hiccup', 'below a millisecond'])
def test_an_idle_host_adds_nothing(late_ms):
    assert bound_ms(250, *late_ms) == 0.44
    assert 'busy-host' not in {note.code for note in evaluate(trial(250, *late_ms)).notes}


def test_a_busy_host_adds_twice_the_worst_that_was_seen():
    """One in four wakes up 9.2 ms late; usual is up to three times the median: 1.2 ms."""
    assert bound_ms(250, 0.4, 0.4, 0.4, 9.2) == pytest.approx((0.44**2 + 16.0**2) ** 0.5)
    [note] = [note for note in evaluate(trial(250, 0.4, 0.4, 0.4, 9.2)).notes
              if note.code == 'busy-host']
    assert '± 16.00 ms' in note.text


def test_a_verdict_that_depends_on_it_is_open_and_no_other():
    """Critical is 500 ms."""
    for after_ms, idle, busy in ((490, Verdict.PASS, Verdict.INCONCLUSIVE),
                                 (510, Verdict.FAIL, Verdict.INCONCLUSIVE),
                                 (480, Verdict.PASS, Verdict.PASS),
                                 (520, Verdict.FAIL, Verdict.FAIL)):
        assert evaluate(trial(after_ms, 0.4)).verdict is idle
        assert evaluate(trial(after_ms, 0.4, 0.4, 0.4, 9.2)).verdict is busy


@for_each(('max_gap_ms', 'late_ms', 'verdict'), [
    (540.0, (0.4,), Verdict.FAIL), (540.0, (0.4, 0.4, 0.4, 9.2), Verdict.INCONCLUSIVE),
    (530.0, (0.4, 0.4, 0.4, 9.2), Verdict.FAIL), (560.0, (0.4, 0.4, 0.4, 9.2), Verdict.PASS)])
def test_a_silence_that_the_host_may_have_made_is_open_and_no_longer_one(
        max_gap_ms, late_ms, verdict):
    """The last command is 550 ms before the end, and the host may have held one up for 16 ms."""
    alive = Liveness(name='alive', topic='cmd_vel', max_gap_ms=max_gap_ms)
    found = trial(450, *late_ms, scenario=hazard(invariants=[alive]))
    [one] = [finding for finding in evaluate(found).findings if finding.check == 'alive']
    assert one.verdict is verdict
    assert ('may have held it up for 16 ms' in one.reason) is (verdict is Verdict.INCONCLUSIVE)


def test_a_load_that_the_calibration_has_met_is_not_counted_again():
    met = CALIBRATED.model_copy(update={'busy_ms': 8.0})
    assert bound_ms(250, 0.4, 0.4, 0.4, 9.2, measuring=met) == 0.44
    more = CALIBRATED.model_copy(update={'busy_ms': 4.8})
    assert bound_ms(250, 0.4, 0.4, 0.4, 9.2, measuring=more) == pytest.approx(
        (0.44**2 + 4 * (8.0**2 - 4.8**2)) ** 0.5)


def test_a_load_long_before_the_hazard_is_none_around_the_reaction():
    kept = trial(250, 0.4)
    before = [Event(kind='echo', name='wheels', stamps=stamps(
        t_ms + 9.2, source_ns=system_ns(t_ms))) for t_ms, _ in driving(-9000, -4000)]
    early = kept.model_copy(update={'events': (*before, *kept.events)})
    assert evaluate(early).latency.reaction.uncertainty_ns == ns(0.44)
    assert WakeUps(early, {'echo': IDLE_MS}).busy_ns() > 0


def test_too_few_wake_ups_and_a_record_from_before_tell_of_no_load():
    assert bound_ms(250, 9.2, measuring=CALIBRATED, from_ms=1500.0) == 0.44
    old = Measuring(one_host=True, uncertainty_ms={'source': 0.44})
    assert bound_ms(250, 0.4, 0.4, 0.4, 9.2, measuring=old) == 0.44
    assert 'wake_ups_ms' not in old.model_dump() and 'busy_ms' not in old.model_dump()


def test_of_another_host_s_clock_nothing_is_taken_away():
    far = CALIBRATED.model_copy(update={'one_host': False})
    latency = evaluate(trial(250, 0.4, measuring=far)).latency
    assert latency.reaction.method == 'received' and latency.widened_ns == 0


def test_a_calibration_on_a_busy_host_claims_no_more_than_it_can():
    """Its probes met little of the load, and its own threads much: every fifth, 7 ms."""
    idle = calibration((0.0, 50.0), 40, error_ms=lambda number: 0.2)
    found = calibrate(idle, {})
    assert found.busy_ms == 0.0 and not any('busy' in note for note in found.notes)
    busy = calibrate(calibration((0.0, 50.0), 40, error_ms=lambda number: 0.2,
                                 late_ms=lambda number: 0.0 if number % 5 else 7.0), {})
    assert busy.busy_ms > 4.0 and any('the host was busy' in note for note in busy.notes)
    assert busy.uncertainty_ms['source'] > 2 * busy.busy_ms > found.uncertainty_ms['source']


@pytest.mark.parametrize(('spread_ns', 'told'), [(200_000, False), (2_400_000, True)])
def test_an_offset_that_is_too_wide_says_why_and_that_it_does_not_matter(spread_ns, told):
    text = ClockOffset(offset_ns=93_000, bound_ns=155_000, outbound_ns=0, inbound_ns=0,
                       spread_ns=spread_ns, probes=25).explained()
    assert text.startswith('+0.093 ms within 0.155 ms, by 25 probes')
    assert ('took 2.400 ms longer than the median' in text) is told
    assert ('They are judged all the same' in text) is told


BUDGET = LatencyBudget(target_ms=200, acceptable_ms=350, critical_ms=500)
STEP_MS = 10.0


def going(factor: float, pause_ms: float = 0.0, at_ms: float = 50.0) -> list[Event]:
    """Return a /clock in simulated time, which stands still once for so long in real time."""
    count = round((END_MS - NOMINAL_MS) / STEP_MS)
    return [Event(kind='clock', name='/clock', stamps=stamps(t_ms), truth={
        REAL: 1_000 + (t_ms / factor + (pause_ms if t_ms > at_ms else 0.0)) / 1e3})
        for t_ms in (NOMINAL_MS + STEP_MS * number for number in range(count + 1))]


def at(factor: float, lockstep: bool = False) -> Measuring:
    """Return how a trial is measured at a real-time factor."""
    return Measuring(one_host=True, uncertainty_ms={'source': 1.0}, schedule_clock='steady',
                     pace=factor, lockstep=lockstep, rules=ClockRules(
                         latency_clock='ros', lockstep=lockstep,
                         rtf_min=0.9 * min(1.0, factor), rtf_max=1.1 * factor))


def paced(factor: float, measuring: Measuring | None = None, after_ms: float = 150.0,
          **pause: float) -> TrialRecord:
    """Return a trial whose controller reacts after 150 ms of simulated time."""
    commands = [command(t_ms, speed, left_ms=t_ms, arrived_ms=t_ms)
                for t_ms, speed in reacting(after_ms)]
    return record([*commands, *going(factor, **pause)], measuring=measuring or at(factor),
                  scenario=hazard(invariants=[Stop(name='stops', within=500.0)]))


def took(found: TrialRecord):
    """Return what is measured of the first command after the hazard that stops."""
    clocks = Clocks(Timeline(found))
    answer = next(event for event in found.of_kind('command')
                  if event.stamps.steady_ns >= stamps(150.0).steady_ns)
    return clocks.elapsed(clocks.published(shown()), answer, BUDGET)


@for_each('factor', [0.5, 1.0, 3.0])
def test_a_latency_is_one_in_simulated_time_whatever_the_factor(factor):
    found = took(paced(factor))
    assert found.judged_ns == found.steady_ns == ns(150)
    assert found.uncertainty_ns == ns(1.0 * factor), 'what is real counts as often'


@for_each('factor', [0.5, 1.0, 3.0])
def test_the_factor_is_that_of_real_time(factor):
    clocks = Clocks(Timeline(paced(factor)))
    assert clocks.rtf == pytest.approx(factor, rel=1e-6)
    assert clocks.tick_ns == pytest.approx(ns(STEP_MS / factor), rel=1e-3)
    result = evaluate(paced(factor))
    assert result.rtf == pytest.approx(factor, rel=1e-6)
    assert not [one for one in result.findings if one.source == 'clock']
    assert 'simulated-time' in {note.code for note in result.notes}


@for_each(('pause_ms', 'verdict'), [(19.0, False), (22.0, True), (90.0, True)])
def test_real_time_that_a_controller_is_given_beyond_the_simulated_decides(pause_ms, verdict):
    result = evaluate(paced(1.0, pause_ms=pause_ms))
    reasons = [one.reason for one in result.findings if one.check == 'simulated time runs evenly']
    assert bool(reasons) is verdict
    assert (result.verdict is Verdict.INCONCLUSIVE) is verdict
    if not verdict:
        assert took(paced(1.0, pause_ms=pause_ms)).uncertainty_ns >= ns(pause_ms)


@for_each(('pace', 'factor', 'after_ms', 'verdict'), [
    (1.0, 1.0, 480.0, 'PASS'), (1.0, 1.0, 520.0, 'FAIL'), (1.0, 1.09, 520.0, 'INCONCLUSIVE'),
    (3.0, 3.27, 520.0, 'INCONCLUSIVE'), (1.0, 1.05, 560.0, 'FAIL')])
def test_time_that_a_simulator_takes_from_its_controller_is_none_of_its_delay(
        pace, factor, after_ms, verdict):
    """One that was held up goes faster afterwards: 520 ms of its time are 477 ms then."""
    found = evaluate(paced(factor, at(pace), after_ms))
    assert found.verdict.value == verdict
    assert {one.verdict.value for one in found.findings if one.kind in ('latency', 'stop')} == {
        verdict}


def test_a_fast_simulator_that_pauses_gives_nothing_as_long_as_it_is_ahead():
    assert Clocks(Timeline(paced(3.0, pause_ms=40.0))).given_ns(
        stamps(0.0).steady_ns, stamps(150.0).steady_ns) == 0
    assert not [one for one in evaluate(paced(3.0, pause_ms=40.0)).findings
                if one.source == 'clock']


def test_a_simulator_far_below_its_factor_is_inconclusive_only_below_real_time():
    assert not [one for one in evaluate(paced(1.5, at(3.0))).findings if one.source == 'clock']
    slow = evaluate(paced(0.8, at(3.0)))
    assert slow.verdict is Verdict.INCONCLUSIVE
    assert any('/clock ran at 0.800 of real time' in one.reason for one in slow.findings)


def test_in_lock_step_no_factor_and_no_pause_means_anything():
    measuring = at(1.0, lockstep=True).model_copy(update={'answers_alone': True})
    result = evaluate(paced(0.1, measuring, pause_ms=5_000.0))
    assert not [one for one in result.findings if one.source == 'clock']
    assert 'lock-step' in {note.code for note in result.notes}


@for_each(('factor', 'reached', 'takes_no_turns', 'advice'), [
    (1.0, 0.5, False, 'Lower the load of the host, or set clock.lockstep=true'),
    (1.0, 0.5, True, 'Lower the load of the host'),
    (0.8, 0.5, True, 'Lower the load of the host'),
    (3.0, 0.5, True, 'Lower the load of the host, or lower real_time_factor, but not below 1, '
                     'where latencies are too short')])
def test_the_advice_is_to_nothing_that_has_no_effect_or_flatters(
        factor, reached, takes_no_turns, advice):
    measuring = at(factor).model_copy(update={'takes_no_turns': takes_no_turns})
    reasons = [one.reason for one in evaluate(paced(reached, measuring)).findings
               if one.check in ('real-time factor in range', 'simulated time runs evenly')]
    assert reasons and all(one.endswith(f'. {advice}') for one in reasons)


@for_each(('factor', 'is_noted'), [(0.5, True), (1.0, False), (3.0, False)])
def test_below_real_time_a_note_says_that_latencies_are_too_short(factor, is_noted):
    text, = (one.text for one in evaluate(paced(factor)).notes if one.code == 'simulated-time')
    assert text.endswith('so latencies are too short') is is_noted
