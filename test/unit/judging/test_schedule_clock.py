# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is due is due on the link's schedule clock: a slow simulation does not shorten a hazard."""

import pytest
from safety_scenarios.errors import ClockError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.stimulus import Stimulus
from safety_scenarios.scenario.timing import ClockRules, Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.stimuli.faults import LinkLoss
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Timeline, TrialRecord
from unit.conversations import block, GREETED, trial_of
from unit.records import ALL_CLEAR_MS, hazard, measure, ns, planned
from unit.scripted import careful, drives, ScriptedLink, START_NS, SYSTEM_NS

SLOW = 4
"""Steady nanoseconds that one of the simulation takes: a real-time factor of 0.25."""
STEADY_NS = 90_000_000_000


class Simulation(ScriptedLink):
    """``now_ns`` is simulated time; the steady clock of the host runs four times as fast."""

    def __init__(self, controller=careful, **more):
        super().__init__(controller, **more)
        self.measuring = Measuring(exact=True, sim_time=True, schedule_clock='ros',
                                   rules=ClockRules(rtf_min=0.1))

    def _stamps(self) -> Stamps:
        passed_ns = self.now_ns - START_NS
        return Stamps(steady_ns=STEADY_NS + SLOW * passed_ns,
                      system_ns=SYSTEM_NS + SLOW * passed_ns, ros_ns=self.now_ns)


def between(record: TrialRecord, clock: str) -> float:
    """Return how long the hazard lasted on a clock (ms)."""
    begin, end = Timeline(record).mark('onset'), Timeline(record).mark('all_clear')
    assert begin is not None and end is not None
    return float(getattr(end.stamps, clock) - getattr(begin.stamps, clock)) / 1e6


def test_in_a_slow_simulation_the_hazard_lasts_its_whole_simulated_time():
    record = run_trial(planned(hazard()), Simulation())
    assert between(record, 'ros_ns') == ALL_CLEAR_MS
    assert between(record, 'steady_ns') == SLOW * ALL_CLEAR_MS


def test_as_many_stimuli_are_sent_as_in_real_time():
    slow, real = (run_trial(planned(hazard()), link) for link in (
        Simulation(), ScriptedLink(careful)))
    sent = [[(event.name, event.hazard, event.message) for event in record.of_kind('stimulus')]
            for record in (slow, real)]
    assert sent[0] == sent[1] and len(sent[0]) > 50


def test_when_it_was_due_is_told_in_simulated_time_and_lateness_too():
    record = run_trial(planned(hazard()), Simulation())
    sent = record.of_kind('stimulus')
    assert sent and all(event.scheduled_ns == event.stamps.ros_ns for event in sent)
    assert {record.measuring.late_ns(event) for event in sent} == {0}
    assert not any('left on time' in finding.check for finding in evaluate(record).findings)


def test_what_leaves_late_in_simulated_time_is_found_out():
    class Late(Simulation):

        def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event:
            if hazard and not any(dict(one.truth)['distance'] < 6.0 for _, one in self.sent):
                self.now_ns += ns(60)
            return super().send(stimulus, hazard=hazard, scheduled_ns=scheduled_ns)

    record = run_trial(planned(hazard()), Late(drives))
    latency = measure(record)
    assert latency is not None and latency.late_ns == ns(60)
    result = evaluate(record)
    [late] = [finding for finding in result.findings if finding.check == 'stimuli left on time']
    assert '60 ms late' in late.reason and result.verdict is Verdict.INCONCLUSIVE


def test_the_onset_of_a_silence_is_when_it_was_due_on_every_clock():
    seen = Person(topic='scan', distance=6.0, rate_hz=20.0)
    trial = planned(hazard(nominal=(seen,), stimuli=(LinkLoss(topic='scan'),)),
                    onset_delay_ns=ns(510))
    record = run_trial(trial, Simulation(drives))
    mark, onset = Timeline(record).mark('onset'), Timeline(record).onset
    assert mark is not None and onset is not None
    ahead_ns = onset.stamps.ros_ns - mark.stamps.ros_ns
    assert 0 < ahead_ns < ns(50) and onset.stamps.ros_ns == mark.scheduled_ns
    assert onset.stamps.steady_ns - mark.stamps.steady_ns == SLOW * ahead_ns
    assert onset.stamps.system_ns - mark.stamps.system_ns == SLOW * ahead_ns


def test_latencies_are_measured_by_the_stamps_whatever_the_schedule():
    latency = measure(run_trial(planned(hazard()), Simulation()))
    assert latency is not None and latency.reaction is not None
    assert latency.reaction.steady_ns == SLOW * (latency.reaction.ros_ns or 0) > 0


def test_a_schedule_clock_that_stands_still_ends_the_trial():
    class Paused(Simulation):

        def receive_until(self, schedule_ns: int) -> list[Event]:
            if self.now_ms > 1200:
                raise ClockError('/clock stands still for 1.0 s at 1.200 s')
            return list(super().receive_until(schedule_ns))

    record = run_trial(planned(hazard()), Paused(drives))
    assert [(event.name, event.text) for event in record.of_kind('fault')] == [
        ('ClockError', '/clock stands still for 1.0 s at 1.200 s')]
    assert Timeline(record).mark('end') is None
    assert evaluate(record).verdict is Verdict.INCONCLUSIVE


def test_rules_which_go_by_the_steady_clock_are_not_played_by_another():
    record = run_trial(trial_of(block(GREETED)), Simulation())
    [fault] = record.of_kind('fault')
    assert 'schedule_clock: got ros with a scenario with agents' in (fault.text or '')
    assert evaluate(record).verdict not in (Verdict.PASS, Verdict.FAIL)


@pytest.mark.parametrize('mode', ['json', 'python'])
def test_only_an_unusual_schedule_clock_is_written(mode):
    usual, other = Measuring(), Measuring(schedule_clock='ros')
    assert 'schedule_clock' not in usual.model_dump(mode=mode)
    for measuring in (usual, other):
        assert Measuring.model_validate(measuring.model_dump()) == measuring
