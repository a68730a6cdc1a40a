# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A Ray cluster of two nodes: the same bytes as one process, also when a node is lost."""

from dataclasses import replace
import os
from pathlib import Path
import sys

import pytest
from safety_scenarios.campaign.engines import on_ray
from safety_scenarios.campaign.engines.engine import AGAIN, lanes_of
from safety_scenarios.campaign.folder.folder import read_trials
from safety_scenarios.campaign.plan import plan_campaign
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.campaign.trials import lost, TrialDone
from safety_scenarios.errors import MissingDependencyError, TraceError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.trial import TrialRecord
from unit.campaign.engines.scaled import campaign, left, settings, TIMES_LEFT

pytestmark = pytest.mark.filterwarnings('ignore::ResourceWarning', 'ignore::FutureWarning',
                                        'ignore::DeprecationWarning')


@pytest.fixture(scope='module')
def cluster(tmp_path_factory):
    """Give a cluster of two nodes of one processor each, which is gone afterwards."""
    pytest.importorskip('ray', reason='Ray is an extra, and large')
    from ray.cluster_utils import Cluster
    os.environ['RAY_USAGE_STATS_ENABLED'] = '0'
    os.environ['PYTHONPATH'] = os.pathsep.join(sys.path)
    found = Cluster(initialize_head=True, head_node_args={
        'num_cpus': 1, 'include_dashboard': False})
    found.add_node(num_cpus=1)
    found.wait_for_nodes()
    yield found
    found.shutdown()


class LosesANode(Observer):
    """Kills the second node of a cluster after some trials, and adds a new one."""

    reads_events = False

    def __init__(self, cluster) -> None:
        self._cluster, self.ended = cluster, 0

    def trial_ended(self, record, result):
        self.ended += 1
        if self.ended == 3:
            lost = self._cluster.list_all_nodes()[-1]
            self._cluster.remove_node(lost, allow_graceful=False)


def segments() -> set[str]:
    """Return the shared memory there is, but that of others."""
    return {path.name for path in Path('/dev/shm').glob('plasma*')}


@pytest.mark.slow
@pytest.mark.thorough
def test_two_nodes_give_the_same_bytes_as_one_process_even_when_one_is_lost(cluster, tmp_path):
    from safety_scenarios.campaign.run import run
    more = {'trials': 12, 'outputs': ()}
    campaign(tmp_path / 'one', **more)
    campaign(tmp_path / 'ray', engine='ray', ray={'address': cluster.address}, **more)
    assert left(tmp_path / 'ray') == left(tmp_path / 'one')
    assert rejudge(tmp_path / 'ray').flaws == ()
    loses = LosesANode(cluster)
    summary = run(settings(tmp_path / 'lost', engine='ray', ray={'address': cluster.address},
                           **more), [loses])
    assert loses.ended == 24 and len(cluster.list_all_nodes()) == 1
    assert left(tmp_path / 'lost') == left(tmp_path / 'one')
    assert any('was lost' in text for text in summary.repaired)


@pytest.mark.slow
@pytest.mark.thorough
def test_records_go_to_an_object_store_and_their_hashes_to_the_manifest(tmp_path):
    pytest.importorskip('ray', reason='Ray is an extra, and large')
    store, before = tmp_path / 'store', segments()
    campaign(tmp_path / 'run', engine='ray', jobs=2, ray={'records': f'file://{store}'},
             scenarios=('SCN-C-101',), outputs=())
    assert not (tmp_path / 'run' / 'traces').exists()
    assert len(list(store.rglob('*.events.jsonl.gz'))) == 3
    (store / 'traces').rename(tmp_path / 'run' / 'traces')
    assert rejudge(tmp_path / 'run').flaws == ()
    assert segments() == before


def test_each_engine_has_keys_of_its_own_in_the_processes_of_a_cluster():
    one, other = (on_ray.OnRay(settings(Path('out')).ray, 1) for _ in range(2))
    assert one._id != other._id


def test_a_record_by_the_settings_of_another_campaign_is_refused(tmp_path):
    campaign(tmp_path / 'run', scenarios=('SCN-R-101',), trials=1, outputs=())
    [journal] = (tmp_path / 'run').rglob('*.events.jsonl.gz')
    name = str(journal.relative_to(tmp_path / 'run'))
    for controller in ('rule_based', 'late'):
        plan = plan_campaign(settings(tmp_path / controller, scenarios=('SCN-R-101',), trials=1,
                                      controller=controller, outputs=()),
                             load_scenarios(('SCN-R-101',)).scenarios,
                             folder=tmp_path / 'new' / controller)
        [task] = plan.tasks
        [result] = read_trials(tmp_path / 'run')
        sent = on_ray.Sent(TrialDone(Path(name), result, TrialRecord(
            trial=task.trial, events=())), {name: journal.read_bytes()}, {})
        if controller == 'rule_based':
            assert on_ray._arrived(task, sent).record_path
        else:  # nor may it be in the way of a campaign that is resumed
            with pytest.raises(TraceError, match='campaign with other terms'):
                on_ray._arrived(task, sent)
            assert not [path for path in task.folder.rglob('*') if path.is_file()]


class Ray:
    """A cluster of which each process crashes, or returns results."""

    class exceptions:
        RayTaskError = type('RayTaskError', (Exception,), {})
        RayError = type('RayError', (Exception,), {})
        WorkerCrashedError = OutOfMemoryError = type('WorkerCrashedError', (RayError,), {})

    def get(self, result):
        if result is None:
            raise self.exceptions.WorkerCrashedError
        return result


def engine_with(monkeypatch, tasks):
    """Return an engine over such a cluster, its lane, and what was sent to the cluster."""
    engine, sent = on_ray.OnRay(settings(Path('out')).ray, 1), []
    monkeypatch.setattr(engine, '_ray', Ray())
    monkeypatch.setattr(engine, '_send', lambda lane: sent.append(list(lane.tasks)))
    [lane] = lanes_of(tasks)
    return engine, lane, sent


def come(engine, lane, *results):
    """Let the engine take these results of a lane, None for a crash."""
    given = iter(results)
    engine._flights[given] = lane
    for _ in results:
        engine._take(given)


@pytest.mark.parametrize('isolate', [True, False])
def test_a_process_that_the_controller_may_have_ended_is_not_tried_again(monkeypatch, isolate):
    engine, lane, sent = engine_with(monkeypatch, plan_campaign(settings(
        Path('out'), scenarios=('SCN-R-101',), trials=1, isolate=isolate,
        controller='unit.campaign.engines.scaled:Killed'),
        load_scenarios(('SCN-R-101',)).scenarios).tasks)
    come(engine, lane, None)
    assert len(sent) == isolate and engine._outcomes.is_stuck is isolate


def test_a_trial_that_could_not_begin_is_not_tried_again(monkeypatch):
    tasks = plan_campaign(settings(Path('out'), scenarios=('SCN-R-101',), trials=1),
                          load_scenarios(('SCN-R-101',)).scenarios).tasks
    engine, lane, sent = engine_with(monkeypatch, tasks)
    come(engine, lane, on_ray.Sent(lost(tasks[0], 'no GPU'), {}, {}))
    [(_, done)] = engine._outcomes.due(lambda task: True)
    assert done.result.verdict is Verdict.ERROR and not sent and not engine.retried


def test_a_crash_of_a_kept_controller_costs_one_trial_and_the_rest_see_the_same_before_them(
        monkeypatch):
    tasks = plan_campaign(settings(
        Path('out'), scenarios=('SCN-R-101',), trials=4, isolate=False, keep_controller=True,
        controller='unit.campaign.engines.scaled:Killed'),
        load_scenarios(('SCN-R-101',)).scenarios).tasks
    engine, lane, sent = engine_with(monkeypatch, tasks)
    none = lost(tasks[0], 'nothing was measured')
    passed = on_ray.Sent(replace(none, result=none.result.model_copy(update={
        'verdict': Verdict.PASS})), {}, {})
    come(engine, lane, passed, None)
    assert [[place for place, _ in steps] for steps in sent] == [[AGAIN, 2, 3]]
    come(engine, lane, passed, passed, passed)
    found = [done.result.verdict for _, done in engine._outcomes.due(lambda task: True)]
    assert found == [Verdict.PASS, Verdict.ERROR, Verdict.PASS, Verdict.PASS]


@pytest.mark.slow
@pytest.mark.thorough
def test_a_crash_of_a_kept_controller_ends_as_on_one_machine(tmp_path, monkeypatch):
    pytest.importorskip('ray', reason='Ray is an extra, and large')
    for engine in ('local', 'ray'):
        count = tmp_path / f'{engine}_left'
        count.write_text('1 0')
        monkeypatch.setenv(TIMES_LEFT, str(count))
        summary = campaign(
            tmp_path / engine, controller='unit.campaign.engines.scaled:Killed', engine=engine,
            jobs=2, scenarios=('SCN-R-101',), isolate=False, keep_controller=True, outputs=())
        assert summary.verdicts == {'ERROR': 1, 'PASS': 2} and not summary.repaired
        assert [one.verdict for one in read_trials(tmp_path / engine)][0] is Verdict.ERROR
        assert rejudge(tmp_path / engine).flaws == ()


def test_without_ray_the_engine_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'ray', None)
    with pytest.raises(MissingDependencyError, match=r'safety_scenarios\[ray\]'):
        on_ray.OnRay(settings(Path('out')).ray, 1).__enter__()
