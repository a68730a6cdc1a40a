# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One trial as a step that another process can take: nothing of it lives in this one."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
import multiprocessing
from pathlib import Path
import pickle

import pytest
from safety_scenarios import registry
from safety_scenarios.campaign.plan import plan_campaign, TrialTask
from safety_scenarios.campaign.trials import execute
from safety_scenarios.errors import TraceError, UnknownPluginError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.settings import JudgedBy, RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.journal import read_journal
from unit.loopback_runs import loopback_run
from unzipped import content


def planned(folder: Path | None, *scenarios: str, **settings) -> tuple[TrialTask, ...]:
    chosen = RunSettings(scenarios=scenarios, link='loopback', **settings)
    return plan_campaign(chosen, load_scenarios(scenarios).scenarios, folder=folder).tasks


@pytest.mark.slow
@pytest.mark.thorough
def test_other_processes_come_to_the_same_results_and_files_to_the_byte(tmp_path):
    """``late`` fails hazards and passes the benign variants: both are among the results."""
    here = loopback_run(tmp_path / 'here', 'robotic', 'clinical', controller='late',
                        words='patterns')
    assert {'PASS', 'FAIL'} <= set(here.verdicts.values())
    there = tmp_path / 'there'
    with ProcessPoolExecutor(2, multiprocessing.get_context('spawn')) as others:
        done = list(others.map(execute, planned(there, 'robotic', 'clinical',
                                                controller='late', words='patterns')))
    assert [one.result.model_dump_json() for one in done] == here.lines
    assert len(here.lines) >= 18
    traces = [path.relative_to(here.folder) for path in sorted(here.folder.rglob('traces/**/*'))
              if path.is_file()]
    assert len(traces) == 2 * len(here.lines)
    for path in traces:
        assert content(there / path) == content(here.folder / path)


def test_the_record_can_be_read_where_the_step_says_it_is(tmp_path):
    [task] = planned(tmp_path, 'SCN-R-101')
    done = execute(task)
    assert done.record_path is not None and not done.interrupted
    record = read_journal(done.record_path, registry.resolve)
    assert record.trial.trial_id == task.trial.trial_id
    assert evaluate(record) == done.result


def test_a_task_can_be_pickled_for_every_scenario_that_is_shipped():
    for task in planned(Path('out'), 'robotic', 'clinical', 'agents', trials=2):
        again = pickle.loads(pickle.dumps(task))
        assert again.trial.model_dump_json() == task.trial.model_dump_json()
        assert (again.setup, again.folder) == (task.setup, task.folder)


def test_the_same_task_gives_the_same_result_whatever_ran_before_it():
    later = planned(None, 'SCN-R-101', trials=3)[2]
    first = execute(later).result
    execute(planned(None, 'SCN-R-102')[0])
    assert execute(later).result.model_dump_json() == first.model_dump_json()


def test_without_a_folder_there_is_no_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = execute(planned(None, 'SCN-C-101', words='patterns')[0])
    assert (done.record_path, done.result.verdict) == (None, Verdict.PASS)
    assert list(tmp_path.iterdir()) == []


def test_the_gate_is_that_of_the_settings(tmp_path):
    late, = planned(None, 'SCN-R-101')
    budget = late.trial.scenario.latency_budget.model_copy(update={'target_ms': 1e-3})
    scenario = late.trial.scenario.model_copy(update={'latency_budget': budget})
    tight = replace(late, trial=late.trial.model_copy(update={'scenario': scenario}))
    assert execute(tight).result.verdict is Verdict.PASS
    strict = replace(tight, setup=replace(tight.setup, judged_by=JudgedBy(gate='target')))
    assert execute(strict).result.verdict is Verdict.FAIL


def test_a_controller_that_cannot_be_made_is_an_error_of_its_trial(tmp_path, monkeypatch):
    from safety_scenarios.controllers import rule_based

    def broken(self):
        raise RuntimeError('no weights')
    monkeypatch.setattr(rule_based.RuleBased, 'start', broken)
    done = execute(planned(tmp_path, 'SCN-R-101')[0])
    assert (done.record_path, done.result.verdict) == (None, Verdict.ERROR)
    assert 'no weights' in done.result.reason


def test_an_unknown_controller_is_no_result(tmp_path):
    with pytest.raises(UnknownPluginError):
        execute(planned(tmp_path, 'SCN-R-101', controller='rule_base')[0])
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_no_result(tmp_path):
    (tmp_path / 'traces').write_text('in the way')
    with pytest.raises(TraceError, match='cannot be written'):
        execute(planned(tmp_path, 'SCN-R-101')[0])


def test_with_recordings_the_step_writes_them_too(tmp_path):
    task, = planned(tmp_path, 'SCN-R-101', record=('mcap',))
    execute(task)
    assert list((tmp_path / 'recordings' / task.trial.trial_id).glob('*.mcap'))
