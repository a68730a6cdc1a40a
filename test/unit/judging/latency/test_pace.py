# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is judged of a trial whose time a simulator in another process made."""

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.judging.latency.clocks import Clocks
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.timing import ClockRules, Measuring, REAL
from safety_scenarios.scenario.verdict import LatencyBudget, Verdict
from safety_scenarios.trial.trial import Timeline, TrialRecord
from unit.records import command, END_MS, hazard, NOMINAL_MS, ns, reacting, record, shown, stamps

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


def trial(factor: float, measuring: Measuring | None = None, after_ms: float = 150.0,
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
    found = took(trial(factor))
    assert found.judged_ns == found.steady_ns == ns(150)
    assert found.uncertainty_ns == ns(1.0 * factor), 'what is real counts as often'


@for_each('factor', [0.5, 1.0, 3.0])
def test_the_factor_is_that_of_real_time(factor):
    clocks = Clocks(Timeline(trial(factor)))
    assert clocks.rtf == pytest.approx(factor, rel=1e-6)
    assert clocks.tick_ns == pytest.approx(ns(STEP_MS / factor), rel=1e-3)
    result = evaluate(trial(factor))
    assert result.rtf == pytest.approx(factor, rel=1e-6)
    assert not [one for one in result.findings if one.source == 'clock']
    assert 'simulated-time' in {note.code for note in result.notes}


@for_each(('pause_ms', 'verdict'), [(19.0, False), (22.0, True), (90.0, True)])
def test_real_time_that_a_controller_is_given_beyond_the_simulated_decides(pause_ms, verdict):
    result = evaluate(trial(1.0, pause_ms=pause_ms))
    reasons = [one.reason for one in result.findings if one.check == 'simulated time runs evenly']
    assert bool(reasons) is verdict
    assert (result.verdict is Verdict.INCONCLUSIVE) is verdict
    if not verdict:
        assert took(trial(1.0, pause_ms=pause_ms)).uncertainty_ns >= ns(pause_ms)


@for_each(('pace', 'factor', 'after_ms', 'verdict'), [
    (1.0, 1.0, 480.0, 'PASS'), (1.0, 1.0, 520.0, 'FAIL'), (1.0, 1.09, 520.0, 'INCONCLUSIVE'),
    (3.0, 3.27, 520.0, 'INCONCLUSIVE'), (1.0, 1.05, 560.0, 'FAIL')])
def test_time_that_a_simulator_takes_from_its_controller_is_none_of_its_delay(
        pace, factor, after_ms, verdict):
    """One that was held up goes faster afterwards: 520 ms of its time are 477 ms then."""
    found = evaluate(trial(factor, at(pace), after_ms))
    assert found.verdict.value == verdict
    assert {one.verdict.value for one in found.findings if one.kind in ('latency', 'stop')} == {
        verdict}


def test_a_fast_simulator_that_pauses_gives_nothing_as_long_as_it_is_ahead():
    assert Clocks(Timeline(trial(3.0, pause_ms=40.0))).given_ns(
        stamps(0.0).steady_ns, stamps(150.0).steady_ns) == 0
    assert not [one for one in evaluate(trial(3.0, pause_ms=40.0)).findings
                if one.source == 'clock']


def test_a_simulator_far_below_its_factor_is_inconclusive_only_below_real_time():
    assert not [one for one in evaluate(trial(1.5, at(3.0))).findings if one.source == 'clock']
    slow = evaluate(trial(0.8, at(3.0)))
    assert slow.verdict is Verdict.INCONCLUSIVE
    assert any('/clock ran at 0.800 of real time' in one.reason for one in slow.findings)


def test_in_lock_step_no_factor_and_no_pause_means_anything():
    measuring = at(1.0, lockstep=True).model_copy(update={'answers_alone': True})
    result = evaluate(trial(0.1, measuring, pause_ms=5_000.0))
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
    reasons = [one.reason for one in evaluate(trial(reached, measuring)).findings
               if one.check in ('real-time factor in range', 'simulated time runs evenly')]
    assert reasons and all(one.endswith(f'. {advice}') for one in reasons)


@for_each(('factor', 'is_noted'), [(0.5, True), (1.0, False), (3.0, False)])
def test_below_real_time_a_note_says_that_latencies_are_too_short(factor, is_noted):
    text, = (one.text for one in evaluate(trial(factor)).notes if one.code == 'simulated-time')
    assert text.endswith('so latencies are too short') is is_noted
