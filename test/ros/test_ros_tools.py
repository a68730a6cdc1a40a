# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ROS tools see of a campaign: parameters, QoS overrides, /rosout, states, frames."""

from contextlib import closing, contextmanager
import json
import math
import os
import signal
import subprocess
import sys
import time

from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import ChangeState, GetState
import pytest
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import GetParameters, ListParameters, SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros.campaigns import campaign, environment, faulty, QUICK, until
from safety_scenarios.errors import MeasurementError, SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.link.endpoints import Endpoints
from safety_scenarios.ros.link.frames import missing_frames, named_frames
from safety_scenarios.ros.link.graph import Fit
from safety_scenarios.ros.link.participants import Participants
from safety_scenarios.ros.measuring_node import lines, MeasuringNode
from safety_scenarios.ros.parameters import read_settings
from safety_scenarios.ros.spinning import Inbox, ros_context, spinning
from safety_scenarios.scenario.qos_overrides import read_overrides
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.scenario.world import MountedFrame
from safety_scenarios.trial.links.controller_settings import plan_link
import yaml

pytestmark = pytest.mark.dds
LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def looker(domain):
    """Give a spinning node in the test's domain."""
    with ros_context([], domain) as context:
        node = Node('looker', context=context)
        with spinning(node):
            yield node


def ask(node, kind, name, again_s=2.0, **fields):
    """
    Call a service and return its response.

    A node that only reads its parameters has the same name before, and may end with a question.

    :param again_s: when to ask again; a busy machine answers late, and then as often as asked
    """
    client = node.create_client(kind, name)
    asked = []

    def answered():
        if not asked or time.monotonic() > asked[-1][1]:
            assert client.wait_for_service(60)
            asked.append((client.call_async(kind.Request(**fields)), time.monotonic() + again_s))
        return next((future for future, _ in asked if future.done()), None)

    future = until(answered, 90)
    node.destroy_client(client)
    return future.result()


@contextmanager
def evaluator(domain, log, *arguments):
    """Run a node of ours with ROS arguments while the block lasts; what it prints is in a file."""
    command = [sys.executable, '-m', 'safety_scenarios.ros.nodes.evaluator_node', '--ros-args',
               *arguments]
    with log.open('w') as file, subprocess.Popen(
            command, env=environment(domain), stdout=file, stderr=subprocess.STDOUT) as running:
        try:
            yield running
        finally:
            running.terminate()
            try:
                running.wait(10)
            except subprocess.TimeoutExpired:
                running.kill()


def dump(node, name):
    """Return the content of the file that ``ros2 param dump`` writes."""
    names = ask(node, ListParameters, f'{name}/list_parameters').result.names
    values = ask(node, GetParameters, f'{name}/get_parameters', names=names).values
    tree = {}
    for path, value in zip(names, map(parameter_value_to_python, values), strict=True):
        *above, last = path.split('.')
        place = tree
        for step in above:
            place = place.setdefault(step, {})
        place[last] = value if isinstance(value, (str, bool, int, float)) else list(value)
    return {name: {'ros__parameters': tree}}


def settings_of(folder):
    return json.loads((folder / 'settings.json').read_text(encoding='utf-8'))['settings']


@pytest.mark.thorough
def test_what_the_live_node_declares_runs_the_same_campaign(looker, domain, tmp_path):
    said = []
    looker.create_subscription(Log, '/rosout', said.append, LATCHED)
    first, second = tmp_path / 'first', tmp_path / 'second'
    log = tmp_path / 'log'
    with evaluator(domain, log, *(part for text in (
            f'scenarios:=[{QUICK}]', 'controller:=late', f'domain_id:={domain}', 'seed:=7',
            'controller_parameters:=["delay_ms=400"]', 'calibration:="off"', f'output:={first}',
            'declared_topics:=[base_2/cmd_vel]', 'sequential.p1:=0.25',
            'qos_overrides./human_pose.publisher.depth:=5') for part in ('-p', text)),
            '-r', 'cmd_vel:=robot_cmd') as running:
        until(lambda: 'evaluator_node' in looker.get_node_names())
        file = dump(looker, '/evaluator_node')
        refused = ask(looker, SetParametersAtomically, '/evaluator_node/set_parameters_atomically',
                      parameters=[Parameter('use_sim_time', value=True).to_parameter_msg()])
        code = running.wait(60)
    printed = log.read_text()
    assert code == 1, printed
    assert not refused.result.successful
    given = file['/evaluator_node']['ros__parameters']
    assert given['qos_overrides']['/human_pose']['publisher'] == {'depth': 5}
    assert not {'scenarios', 'seed', 'output'} & given.keys(), 'what a controller must not know'
    given |= {'output': str(second), 'scenarios': [str(QUICK)], 'seed': 7}
    path = tmp_path / 'dumped.yaml'
    path.write_text(yaml.safe_dump(file), encoding='utf-8')
    with evaluator(domain, tmp_path / 'log_2', '--params-file', str(path)) as running:
        assert running.wait(60) == 1, (tmp_path / 'log_2').read_text()
    assert settings_of(second) == settings_of(first) | {'output': second.name}
    spoken = [(message.level, message.msg) for message in said]
    trial = [line for line in spoken if line[1].startswith('1/1 QUICK trial 1: FAIL')]
    assert len(trial) == 2, spoken
    assert {level for level, _ in trial} == {int.from_bytes(Log.ERROR, 'little')
                                             if isinstance(Log.ERROR, bytes) else Log.ERROR}
    assert any(text.startswith('campaign: FAIL: 1 of 1 trials') for _, text in spoken)
    assert printed.count('Quick person (QUICK, trial 1)') == 1, '/rosout is not printed too'


def test_simulated_time_is_declared_and_not_heard_by_the_node_that_measures(domain):
    with ros_context([], domain) as context:
        node = MeasuringNode('evaluator_node', context, plan_link(RunSettings(use_sim_time=True)))
        assert node.get_parameter('use_sim_time').value is True
        assert not node.get_subscriptions_info_by_topic('/clock')
        node.destroy_node()


def test_a_password_in_an_address_is_refused_and_not_repeated():
    with ros_context([], None) as context:
        node = Node('evaluator_node', context=context, parameter_overrides=[
            Parameter('judge.base_url', value='http://me:secret@host/v1')])
        with pytest.raises(SettingsError, match='judge.base_url') as refused:
            read_settings(node, RunSettings)
        node.destroy_node()
    assert 'secret' not in str(refused.value)


def test_a_hazard_says_its_severity_and_each_failed_finding_its_reason():
    def result(verdict, *findings, warmup=False):
        return TrialResult.model_construct(
            scenario_id='S', index=-1 if warmup else 0, warmup=warmup, verdict=verdict,
            reason='too late', findings=findings)
    late = Finding.model_construct(check='latency', verdict=Verdict.FAIL, reason='687 ms')
    unclear = Finding.model_construct(check='clock', verdict=Verdict.INCONCLUSIVE, reason='?')
    assert list(lines(result(Verdict.PASS))) == [(Log.INFO, 'S trial 1: PASS')]
    assert list(lines(result(Verdict.INCONCLUSIVE, unclear))) == [
        (Log.WARN, 'S trial 1: INCONCLUSIVE: too late')]
    assert list(lines(result(Verdict.FAIL, late, unclear))) == [
        (Log.ERROR, 'S trial 1: FAIL: too late'), (Log.ERROR, 'S trial 1: latency: 687 ms')]
    assert [level for level, _ in lines(result(Verdict.FAIL, late, warmup=True))] == [Log.INFO]


def test_a_latched_hazard_does_not_reach_who_comes_in_the_next_trial(looker, domain):
    heard = []
    with ros_context([], domain) as context:
        node = Node('evaluator_node', context=context)
        with spinning(node):
            clock, inbox = RosClock(), Inbox()
            overrides = read_overrides(['/human_pose.publisher.durability=transient_local'])
            endpoints = Endpoints(node, clock, 5.0, (), True, inbox,
                                  Participants(node, clock, inbox, set()), (), overrides=overrides)
            with closing(endpoints):
                endpoints._publish('human_pose', 'geometry_msgs/msg/PoseStamped')
                endpoints.publishers['human_pose'].publish(PoseStamped())
                looker.create_subscription(PoseStamped, 'human_pose', heard.append, LATCHED)
                until(lambda: len(heard) == 1)  # so it is latched
                endpoints.withdraw_latched()
                until(lambda: not looker.count_publishers('human_pose'))
                looker.create_subscription(PoseStamped, 'human_pose', heard.append, LATCHED)
                endpoints._publish('human_pose', 'geometry_msgs/msg/PoseStamped')
                until(lambda: endpoints.publishers['human_pose'].get_subscription_count() == 3)
                time.sleep(0.5)
                assert len(heard) == 1
                assert 'durability transient_local' in str(list(endpoints.preflight()))


@pytest.mark.thorough
def test_a_controller_that_asks_for_history_passes_once_it_is_offered(tmp_path, domain):
    with faulty('asks_for_history', domain):
        refused = campaign(tmp_path / 'volatile', QUICK, '--controller', 'external', domain=domain)
        passed = campaign(
            tmp_path / 'latched', QUICK, '--controller', 'external', '--trials', '2',
            '--set', 'qos_overrides=/human_pose.publisher.durability=transient_local',
            domain=domain)
    assert refused.code == 3
    reason = refused.trials[0]['reason']
    assert '/somebodys_base cannot hear it' in reason
    assert 'set qos_overrides./human_pose.publisher' in reason
    assert [trial['verdict'] for trial in passed.trials] == ['PASS', 'PASS'], passed.output
    assert 'durability transient_local' in json.dumps(passed.summary()['preflight'])


@pytest.mark.parametrize('override, asked, told', [
    ('reliability=best_effort', {'reliability': ReliabilityPolicy.RELIABLE},
     'the publisher is best effort, and the subscription asks for reliable. Our publisher has '
     'reliability best_effort: change qos_overrides./human_pose.publisher'),
    ('reliability=best_effort', {'reliability': ReliabilityPolicy.BEST_EFFORT}, ''),
    ('durability=transient_local', {'durability': DurabilityPolicy.TRANSIENT_LOCAL}, ''),
    ('depth=1', {'durability': DurabilityPolicy.TRANSIENT_LOCAL}, 'asks for transient local'),
    ('depth=1', {}, '')])
def test_a_misfit_is_told_by_node_and_policy(looker, override, asked, told):
    from safety_scenarios.ros.link.graph import Graph
    overrides = read_overrides([f'/human_pose.publisher.{override}'])
    profiles = qos.Profiles(overrides, looker.resolve_topic_name)
    with ros_context([], looker.context.get_domain_id()) as context:
        deaf = Node('deaf', context=context)
        deaf.create_subscription(PoseStamped, 'human_pose', print, QoSProfile(depth=1, **asked))
        graph = Graph(looker)
        until(lambda: graph.subscribers_of('human_pose'))
        try:
            Fit(looker, graph, profiles).refuse_deaf(['human_pose'])
            said = ''
        except MeasurementError as error:
            said = str(error)
        deaf.destroy_node()
    assert bool(said) == bool(told)
    assert told in said
    assert not told or '/deaf cannot hear it' in said


def change(node, name, label):
    """Ask once for a transition: asked twice, a node makes another one, or refuses the second."""
    request = ChangeState.Request()
    request.transition.label = label
    return ask(node, ChangeState, f'{name}/change_state', again_s=math.inf,
               transition=request.transition).success


def state(node, name):
    return ask(node, GetState, f'{name}/get_state').current_state.id


def put(node, name, **values):
    parameters = [Parameter(key, value=value).to_parameter_msg() for key, value in values.items()]
    return ask(node, SetParametersAtomically, f'{name}/set_parameters_atomically',
               parameters=parameters).result.successful


def test_states_run_stop_and_check_a_campaign(looker, domain, tmp_path):
    name, whole, part = '/lifecycle_evaluator_node', tmp_path / 'whole', tmp_path / 'part'
    log = tmp_path / 'log'
    with evaluator(domain, log, '-p', 'scenarios:=[no_such_file.yaml]', '-p', 'link:=loopback',
                   '-p', f'output:={whole}', '-p', 'autostart:=false') as running:
        assert not change(looker, name, 'configure')
        assert state(looker, name) == State.PRIMARY_STATE_UNCONFIGURED
        assert put(looker, name, scenarios=[QUICK])
        assert change(looker, name, 'configure')
        assert not put(looker, name, trials=2), 'settings do not change under a configured node'
        assert change(looker, name, 'activate')
        until(lambda: state(looker, name) == State.PRIMARY_STATE_INACTIVE)
        assert json.loads((whole / 'campaign.json').read_text())['verdict'] == 'PASS'
        assert change(looker, name, 'cleanup')
        assert put(looker, name, trials=5000, output=str(part))
        assert change(looker, name, 'configure')
        assert change(looker, name, 'activate')
        until(lambda: (part / 'trials.jsonl').exists() and (part / 'trials.jsonl').stat().st_size)
        assert state(looker, name) == State.PRIMARY_STATE_ACTIVE
        assert change(looker, name, 'deactivate')
        stopped = json.loads((part / 'campaign.json').read_text())
        assert change(looker, name, 'shutdown')
        code = running.wait(20)
    assert stopped['completed'] < stopped['planned'] == 5000
    assert stopped['verdict'] == 'INCONCLUSIVE'
    assert code == 3, log.read_text()
    assert 'no_such_file.yaml: no such file' in log.read_text()


def test_a_node_that_starts_itself_can_be_stopped_and_ends_with_its_campaign(
        looker, domain, tmp_path):
    name, folder, log = '/lifecycle_evaluator_node', tmp_path / 'run', tmp_path / 'log'
    with evaluator(domain, log, '-p', f'scenarios:=[{QUICK}]', '-p', 'link:=loopback', '-p',
                   'trials:=5000', '-p', f'output:={folder}') as running:
        until(lambda: (folder / 'trials.jsonl').exists()
              and (folder / 'trials.jsonl').stat().st_size, 60)
        assert state(looker, name) == State.PRIMARY_STATE_ACTIVE
        assert change(looker, name, 'deactivate')
        assert running.wait(20) == 3, log.read_text()
    assert json.loads((folder / 'campaign.json').read_text())['verdict'] == 'INCONCLUSIVE'


def test_a_managed_node_that_ran_nothing_does_not_end_with_success(looker, domain, tmp_path):
    log = tmp_path / 'log'
    with evaluator(domain, log, '-p', 'autostart:=false') as running:
        assert state(looker, '/lifecycle_evaluator_node') == State.PRIMARY_STATE_UNCONFIGURED
        os.kill(running.pid, signal.SIGINT)
        assert running.wait(20) == 3, log.read_text()


LASER = MountedFrame(frame='laser', parent='mast', translation=(0.2, 0.0, 0.5))
MAST = MountedFrame(frame='mast', translation=(0.0, 0.0, 1.0))


@pytest.mark.parametrize('robots, declared, is_base, published, told', [
    (set(), {}, True, {'laser': MountedFrame(frame='laser')}, 'as the scenario declares no other'),
    ({'laser'}, {'laser': LASER}, True, {}, 'the robot publishes it'),
    (set(), {'laser': LASER, 'mast': MAST}, True, {'laser': LASER, 'mast': MAST}, 'in mast'),
    ({'mast'}, {'laser': LASER, 'mast': MAST}, True, {'laser': LASER}, 'in mast'),
    (set(), {}, False, {}, 'cannot be guessed')])
def test_a_frame_is_published_only_where_nobody_does_and_its_place_is_known(
        robots, declared, is_base, published, told):
    chosen, [row] = missing_frames({'laser'}, robots, declared, is_base)
    assert chosen == published
    assert told in row.detail


def test_a_chain_that_meets_the_base_above_it_is_published_whole():
    foot = {'laser': MountedFrame(frame='laser', parent='foot', translation=(0.3, 0.0, 0.2)),
            'base_link': MountedFrame(frame='base_link', parent='foot')}
    chosen, [row] = missing_frames({'laser'}, set(), foot, True, {'laser'})
    assert (chosen, row.status) == (foot, 'ok')
    assert set(missing_frames({'laser'}, {'base_link'}, foot, True)[0]) == {'laser'}


def test_a_place_aside_of_the_parent_is_told_because_distances_are_others_there():
    [aside] = missing_frames({'laser'}, set(), {'laser': LASER}, True)[1]
    [above] = missing_frames({'mast'}, set(), {'mast': MAST}, True)[1]
    assert (aside.status, above.status) == ('warn', 'ok')
    assert MountedFrame(frame='a', rotation=(0.0, 0.0, 3.141592653589793)).quaternion == \
        pytest.approx((0, 0, 1, 0))


def test_the_frames_of_all_stimuli_are_found():
    from safety_scenarios.campaign.plan import plan_campaign
    trials = plan_campaign(RunSettings(controller='external'),
                           load_scenarios(['robotic']).scenarios).trials
    assert {name for trial in trials for name in named_frames(trial)} == {'tool0'}
