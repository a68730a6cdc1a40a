# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A record that an interlock or its length ends; its words are of its own trial alone."""

from contextlib import nullcontext
import gc
import weakref

import pytest
from safety_scenarios.errors import ControllerError, InterlockError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.command_stream import Liveness
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial import run
from safety_scenarios.trial.identity import fingerprint
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.session import Observer
from unit.loopback_runs import run_trials
from unit.records import hazard, planned, record, stamps
from unit.scripted import careful, drives, ScriptedLink


class Sink(list):
    add = list.append


def ran(sinks=()):
    return run.run_trial(planned(hazard()), ScriptedLink(careful), sinks)


WHOLE = ran()
SIZE = sum(event.size for event in WHOLE.events)


def test_a_record_of_the_exact_bound_is_whole(monkeypatch):
    monkeypatch.setattr(run, 'MAX_RECORD', SIZE)
    assert ran() == WHOLE and evaluate(WHOLE).verdict is Verdict.PASS


@pytest.mark.parametrize('most', [0, SIZE // 2, SIZE - WHOLE.events[-1].size - 1])
def test_a_record_past_the_bound_is_an_error_with_all_before_it(monkeypatch, most):
    monkeypatch.setattr(run, 'MAX_RECORD', most)
    sink = Sink()
    record = ran([sink])
    *before, fault = record.events
    assert tuple(before) == WHOLE.events[:len(before)]
    assert sum(event.size for event in before[:-1]) <= most < sum(event.size for event in before)
    assert (fault.kind, fault.name) == ('fault', 'MeasurementError')
    assert f'got {len(before)} events' in (fault.text or '')
    assert tuple(sink) == record.events
    assert evaluate(record).verdict is Verdict.ERROR


def test_a_fault_that_crosses_the_bound_is_the_last_of_its_record(monkeypatch):
    def fails(t_ms, heard):
        if t_ms > 300:
            raise ControllerError('gone')
        return 0.8

    whole = run.run_trial(planned(hazard()), ScriptedLink(fails))
    assert whole.events[-1].kind == 'fault'
    monkeypatch.setattr(run, 'MAX_RECORD', sum(event.size for event in whole.events) - 1)
    assert run.run_trial(planned(hazard()), ScriptedLink(fails)) == whole


def test_the_bound_leaves_room_for_ten_minutes_at_a_kilohertz():
    assert run.MAX_RECORD >= 600_000 * WHOLE.events[-2].size


def test_no_record_is_kept_when_the_next_trial_runs():
    alive: list[int] = []
    kept: list[weakref.ref] = []

    class Watching(ScriptedLink):

        def open(self, trial):  # noqa: A003
            gc.collect()
            alive.append(sum(found() is not None for found in kept))

    class Observing(Observer):

        def trial_ended(self, record, result):
            kept.append(weakref.ref(record))

    link = Watching(careful)
    trials = [planned(hazard(), trial_id=f't{index}', index=index) for index in range(3)]
    campaign = run_trials(trials, lambda scenario: nullcontext(link), [Observing()])
    assert len(campaign.results) == 3 and alive == [0, 0, 0]


ALIVE = Liveness(name='alive', topic='cmd_vel', max_gap_ms=200.0)


def test_the_time_in_which_all_is_taken_back_is_no_silence_of_the_controller():
    class Link(ScriptedLink):
        """Loses an interlock 100 ms after it was armed, and needs two seconds to cancel a goal."""

        armed_ns = None

        def arm(self):
            self.armed_ns = self.now_ns

        def receive_until(self, schedule_ns):
            if self.armed_ns is not None and self.now_ns > self.armed_ns + 100_000_000:
                self.now_ns += 2_000_000_000
                raise InterlockError('battery: got 3 %')
            return super().receive_until(schedule_ns)

    result = evaluate(run_trial(planned(hazard(invariants=[ALIVE])), Link(drives)))
    assert result.verdict is Verdict.INCONCLUSIVE, result.reason


def said(*answers):
    """Return the fingerprint of a trial with answers as (text, the trial that it names)."""
    silent = record([(-100, 1.0), (100, 0.0)])
    return fingerprint(silent.model_copy(update={'events': (*silent.events, *(
        Event(kind='response', name='response', stamps=stamps(200), text=text,
              trial_id=trial_id or silent.trial.trial_id) for text, trial_id in answers))}))


def test_equal_answers_have_the_same_fingerprint_and_others_another_one():
    assert said(('stop', None)) == said(('stop', None)) != said(('go on', None))
    assert said() is None


def test_a_late_answer_to_another_trial_is_none_of_this_one():
    assert said(('go on', 'another.t0')) is None
    assert said(('stop', None), ('go on', 'another.t0')) == said(('stop', None))
