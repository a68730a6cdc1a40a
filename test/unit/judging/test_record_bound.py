# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A record that grows too long ends its trial; what happened before stays, in every sink too."""

from contextlib import nullcontext
import gc
import weakref

import pytest
from safety_scenarios.errors import ControllerError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial import run
from safety_scenarios.trial.session import Observer
from unit.loopback_runs import run_trials
from unit.records import hazard, planned
from unit.scripted import careful, ScriptedLink


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
