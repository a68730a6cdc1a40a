# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Trials in several processes: the same bytes as in one, and each mishap ends as in one."""

from dataclasses import replace
from multiprocessing.connection import wait
import os
from pathlib import Path
import signal
from types import SimpleNamespace

from cases import for_each
import pytest
from safety_scenarios.campaign.engines.engine import AGAIN, forget, InOrder, lanes_of
from safety_scenarios.campaign.engines.processes import portable_error, Processes, Worker
from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.campaign.plan import plan_campaign
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.campaign.run import run
from safety_scenarios.campaign.trials import lost
from safety_scenarios.campaign.workload import cores_of, job_refusals
from safety_scenarios.errors import InputError, LinkTimeoutError, SettingsError, TraceError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.session import LinkPlugin, Observer
from unit.campaign.engines.scaled import campaign, left, SCENARIOS, settings, TIMES_LEFT

KILLED = 'unit.campaign.engines.scaled:Killed'
WORKER_KILLED = 'unit.campaign.engines.scaled:WorkerKilled'


@pytest.fixture(scope='module')
def one(tmp_path_factory):
    """Give the folder of the campaign in one process."""
    folder = tmp_path_factory.mktemp('one') / 'run'
    campaign(folder)
    return folder


def plan(folder: Path | None = None, **more):
    chosen = settings(Path('out'), **more)
    return plan_campaign(chosen, load_scenarios(chosen.scenarios).scenarios, folder=folder)


@pytest.mark.slow
def test_two_processes_leave_what_one_leaves_to_the_byte(one, tmp_path):
    summary = campaign(tmp_path / 'run', jobs=2)
    assert summary.verdict is Verdict.PASS and summary.completed == 6
    assert left(tmp_path / 'run') == left(one)
    assert rejudge(tmp_path / 'run').flaws == ()


@pytest.mark.slow
@pytest.mark.thorough
def test_a_sequential_test_decides_by_the_order_of_the_trials_and_not_by_who_is_first(tmp_path):
    """``late`` fails each hazard, so that a few trials are enough and more are begun."""
    same = {'trials': 30, 'controller': 'late', 'scenarios': ('SCN-R-101', 'SCN-R-102'),
            'sequential': {'p0': 0.001, 'p1': 0.2}}
    one, two = campaign(tmp_path / 'one', **same), campaign(tmp_path / 'two', jobs=2, **same)
    assert one == two and 0 < one.completed < 60
    assert left(tmp_path / 'one') == left(tmp_path / 'two')


@pytest.mark.slow
@pytest.mark.thorough
def test_a_controller_that_is_kept_sees_the_same_trials_before_it(tmp_path):
    for jobs in (1, 2):
        campaign(tmp_path / f'{jobs}', jobs=jobs, keep_controller=True, warmup=1)
    assert left(tmp_path / '1') == left(tmp_path / '2')


def killed(folder: Path, monkeypatch, times: int, spared: int, controller: str = KILLED):
    """Run the campaign with a controller that kills its process a number of times."""
    count = folder / 'times_left'
    count.write_text(f'{times} {spared}')
    monkeypatch.setenv(TIMES_LEFT, str(count))
    return campaign(folder / 'run', controller=controller, scenarios=('SCN-R-101',), jobs=2,
                    isolate=controller == WORKER_KILLED)


@pytest.mark.slow
def test_a_trial_whose_process_is_killed_is_run_once_more_and_no_number_differs(
        tmp_path, monkeypatch):
    summary = killed(tmp_path, monkeypatch, 1, 2, WORKER_KILLED)
    assert summary.verdict is Verdict.PASS and summary.completed == 3
    [said] = summary.repaired
    assert 'run again: its process ended with signal 9 (SIGKILL)' in said
    assert rejudge(tmp_path / 'run').flaws == ()


@pytest.mark.slow
def test_a_process_that_ends_while_it_waits_costs_no_trial(tmp_path, monkeypatch):
    take, ended = Processes._take, []

    def take_and_end(engine, worker):
        take(engine, worker)
        if not ended:
            ended.append(worker.process)
            worker.process.kill()
            wait([worker.end])
    monkeypatch.setattr(Processes, '_take', take_and_end)
    summary = campaign(tmp_path / 'run', jobs=2)
    assert ended and summary.verdicts == {'PASS': 6} and not summary.repaired


@pytest.mark.slow
@pytest.mark.parametrize('controller', [
    KILLED, 'unit.campaign.engines.scaled:Aborts', 'unit.campaign.engines.scaled:Forks'])
def test_a_controller_that_ends_the_process_that_it_is_in_gets_no_second_try(
        tmp_path, monkeypatch, controller):
    summary = killed(tmp_path, monkeypatch, 1, 2, controller)
    assert summary.verdicts == {'ERROR': 1, 'PASS': 2} and not summary.repaired


@pytest.mark.slow
@pytest.mark.thorough
def test_a_trial_that_always_ends_its_process_is_an_error_and_the_others_are_run(
        tmp_path, monkeypatch):
    summary = killed(tmp_path, monkeypatch, 99, 0, WORKER_KILLED)
    assert summary.verdicts == {'ERROR': 3} and summary.exit_code == 3
    assert 'each of 2 times' in (tmp_path / 'run' / 'trials.jsonl').read_text()


class Takes(Observer):
    """Counts the events of each trial as they happen, and as its record has them."""

    def __init__(self):
        self.taken, self.trials = [], []

    def sinks(self, trial):
        return (self,)

    def add(self, event):
        self.taken.append(event.name)

    def trial_ended(self, record, result):
        self.trials.append((result.trial_id, len(record.events), len(self.taken)))


@pytest.mark.slow
@pytest.mark.thorough
def test_an_observer_gets_every_event_of_trials_in_other_processes(tmp_path):
    here, there, nowhere = Takes(), Takes(), Takes()
    run(settings(tmp_path / 'one'), [here])
    run(settings(tmp_path / 'two', jobs=2), [there])
    run(settings(tmp_path / 'three', jobs=2), [nowhere], files=False)
    assert here.trials == there.trials == nowhere.trials and len(here.trials) == 6
    assert here.taken == there.taken == nowhere.taken and len(here.taken) > 1000


class Stops(Observer):
    """Ends the campaign after its first trial, as Ctrl-C does."""

    reads_events = False

    def trial_ended(self, record, result):
        raise KeyboardInterrupt


@pytest.mark.thorough
@pytest.mark.slow
def test_ctrl_c_keeps_the_trials_that_have_ended_and_marks_those_that_were_running(tmp_path):
    summary = run(settings(tmp_path / 'run', trials=40, jobs=2), [Stops()])
    assert summary.interrupted and summary.exit_code == 3
    assert 1 <= summary.completed < 40
    assert set(summary.verdicts) <= {'PASS', 'INCONCLUSIVE'}
    assert summary.verdicts.get('INCONCLUSIVE', 0) <= 2
    found = rejudge(tmp_path / 'run')
    assert all('was not run' in flaw.message for flaw in found.flaws)
    assert not list((tmp_path / 'run').rglob('*.part'))


class InTheWay(Observer):
    """Lets no trial write its files."""

    reads_events = False

    def campaign_began(self, beginning):
        (beginning.folder / 'traces').write_text('in the way')


@pytest.mark.thorough
@pytest.mark.slow
def test_a_disk_that_takes_nothing_ends_the_campaign_with_the_same_error(tmp_path):
    said = []
    for jobs in (1, 2):
        with pytest.raises(TraceError, match='cannot be written') as raised:
            run(settings(tmp_path / f'{jobs}', jobs=jobs), [InTheWay()])
        said.append(str(raised.value).replace(str(tmp_path / f'{jobs}'), ''))
        assert not (tmp_path / f'{jobs}' / 'manifest.json').exists()
    assert said[0] == said[1]


class InRealTime(LinkPlugin):
    """A link whose time is that of the wall."""


def refused(plugin=InRealTime, cores=2, **more):
    chosen = settings(Path('out'), link='ros', **more)
    return [str(error) for error in job_refusals(chosen, plan_link(chosen), plugin, cores)]


@for_each(('more', 'says'), [
    ({'jobs': 1}, ''), ({'jobs': 2}, ''), ({'jobs': 3}, 'at most 2 on 2 cores'),
    ({'jobs': 2, 'world': {'kind': 'mujoco'}}, 'at most 1 on 2 cores, 2 for each job'),
    ({'jobs': 9, 'world': {'kind': 'mujoco'}, 'clock': {'lockstep': True}}, ''),
    ({'jobs': 2, 'controller': 'external'}, 'several trials at a time'),
    ({'jobs': 2, 'domain_id': 7}, 'a ROS domain of its own'),
    ({'engine': 'ray'}, 'expected loopback or simulated')])
def test_jobs_that_would_spoil_a_measurement_in_real_time_are_refused(more, says):
    found = refused(**more)
    assert len(found) == bool(says) and says in ''.join(found)


def test_in_simulated_time_any_number_of_jobs_will_do():
    assert refused(Loopback, jobs=64) == []


def test_each_job_in_real_time_has_cores_of_its_own():
    cores = sorted(os.sched_getaffinity(0))
    found = cores_of(len(cores), plan_link(settings(Path('out'), link='ros')), InRealTime)
    assert [core for some in found for core in some] == cores


def test_an_object_of_this_process_cannot_go_to_others():
    with pytest.raises(InputError, match='name it MODULE:NAME'):
        plan_campaign(settings(Path('out'), jobs=2, isolate=False, controller='mine'),
                      load_scenarios(SCENARIOS).scenarios, controller=lambda seen: None)


def test_trials_that_begin_anew_may_run_anywhere_and_others_stay_together():
    assert len(lanes_of(plan().tasks)) == 6
    lanes = lanes_of(plan(keep_controller=True).tasks)
    assert [[place for place, _ in lane.tasks] for lane in lanes] == [[0, 1, 2], [3, 4, 5]]


def test_a_lane_whose_process_was_lost_repeats_what_came_before_without_counting_it():
    lane = lanes_of(plan(keep_controller=True).tasks)[0]
    lane.executed = [lane.tasks.popleft()[1]]
    lane.begin_again()
    assert [(place, task.is_counted) for place, task in lane.tasks] == [
        (AGAIN, False), (1, True), (2, True)]


def test_trials_are_errors_if_one_that_they_depend_on_cannot_be_executed_again(monkeypatch):
    engine, tasks = Processes(1), plan(keep_controller=True, scenarios=('SCN-R-101',)).tasks
    [lane] = lanes_of(tasks)
    lane.executed = [lane.tasks.popleft()[1]]
    lane.begin_again()
    monkeypatch.setattr(engine, '_drop', lambda worker: None)
    for _ in range(2):  # the kernel kills the next process too
        killed = SimpleNamespace(returncode=-signal.SIGKILL)
        engine._lose(Worker(killed, None, -1, (), lane=lane, running=lane.tasks.popleft()))
    engine._outcomes.leave_out(0)
    found = [done.result for _, done in engine._outcomes.due(lambda task: True)]
    assert [one.verdict for one in found] == [Verdict.ERROR, Verdict.ERROR] and not lane.tasks
    assert f'depends on {tasks[0].trial.trial_id}' in found[0].reason


def test_outcomes_wait_for_those_before_them():
    tasks, outcomes = plan().tasks, InOrder()

    def due(wanted=lambda task: True):
        return [task.trial.trial_id for task, _ in outcomes.due(wanted)]
    outcomes.put(1, tasks[1], lost(tasks[1], 'gone'))
    assert due() == [] and outcomes.is_stuck
    outcomes.put(0, tasks[0], lost(tasks[0], 'gone'))
    assert due() == [tasks[0].trial.trial_id, tasks[1].trial.trial_id]
    outcomes.leave_out(2)
    outcomes.put(3, tasks[3], lost(tasks[3], 'gone'))
    assert due(lambda task: False) == [] and outcomes.next == 4


def test_the_files_of_a_trial_that_does_not_count_are_removed(tmp_path):
    [task, *_] = plan(tmp_path).tasks
    name = task.trial.trial_id
    half = tmp_path / f'{journal_path(name)}.part'
    half.parent.mkdir(parents=True)
    half.write_text('half')
    forget(replace(task, is_counted=False))
    assert half.exists()
    forget(task)
    assert not half.exists()


@for_each('error', [TraceError('the disk is full'), ZeroDivisionError('a mistake'),
                    LinkTimeoutError('/cmd_vel', 'a publisher', 1.0, 'nobody', 'Start it.'),
                    SettingsError('output: got x')])
def test_an_error_reaches_another_process_with_its_words(error):
    there = portable_error(error)
    assert str(error) in str(there)
    assert isinstance(there, (InputError, TraceError, RuntimeError, type(error).__mro__[1]))
