# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A Ray cluster of two nodes: the same bytes as one process, also when a node is lost."""

import os
from pathlib import Path
import sys

import pytest
from safety_scenarios.campaign.engines import on_ray
from safety_scenarios.campaign.engines.ordering import lanes_of
from safety_scenarios.campaign.folder.folder import read_trials
from safety_scenarios.campaign.plan import plan_campaign
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.campaign.trials import TrialDone
from safety_scenarios.errors import MissingDependencyError, TraceError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.trial import TrialRecord
from unit.campaign.engines.scaled import campaign, left, settings

pytestmark = [pytest.mark.slow, pytest.mark.thorough,
              pytest.mark.filterwarnings('ignore::ResourceWarning', 'ignore::FutureWarning',
                                         'ignore::DeprecationWarning')]


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
                             load_scenarios(('SCN-R-101',)).scenarios, folder=tmp_path / 'new')
        [task] = plan.tasks
        [result] = read_trials(tmp_path / 'run')
        sent = on_ray.Sent(TrialDone(Path(name), result, TrialRecord(
            trial=task.trial, events=())), {name: journal.read_bytes()}, {})
        if controller == 'rule_based':
            assert on_ray._arrived(task, sent).record_path
        else:
            with pytest.raises(TraceError, match='campaign with other terms'):
                on_ray._arrived(task, sent)


@pytest.mark.parametrize('isolate', [True, False])
def test_a_process_that_the_controller_may_have_ended_is_not_tried_again(tmp_path, isolate):
    class Ray:
        class exceptions:
            RayTaskError = type('RayTaskError', (Exception,), {})
            RayError = type('RayError', (Exception,), {})
            WorkerCrashedError = OutOfMemoryError = type('WorkerCrashedError', (RayError,), {})

        def get(self, place):
            raise self.exceptions.WorkerCrashedError

    plan = plan_campaign(settings(
        tmp_path, scenarios=('SCN-R-101',), trials=1, isolate=isolate,
        controller='unit.campaign.engines.scaled:Killed'),
                         load_scenarios(('SCN-R-101',)).scenarios)
    engine, sent = on_ray.OnRay(settings(tmp_path).ray, 1), []
    engine._ray, engine._send = Ray(), sent.append
    engine._flights['place'] = on_ray.Flight(lanes_of(plan.tasks)[0])
    engine._take('place')
    assert len(sent) == isolate and engine._outcomes.is_stuck is isolate


def test_without_ray_the_engine_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'ray', None)
    with pytest.raises(MissingDependencyError, match=r'safety_scenarios\[ray\]'):
        on_ray.OnRay(settings(Path('out')).ray, 1).__enter__()
