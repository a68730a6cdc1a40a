# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios in a world behind the services of ros_gz_bridge: a double of it, or a live server."""

from contextlib import contextmanager
import math
import os
from pathlib import Path
import subprocess
import sys

from geometry_msgs.msg import Twist
from interfaces_built import interfaces_folder
import pytest
from rclpy.node import Node
from ros.campaigns import brief, campaign, COMMAND, environment, QUICK, SOON, trials_in
from ros.test_ros_tools import until
from rosgraph_msgs.msg import Clock
from safety_scenarios.judging.findings.observation import SHOWN
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.spinning import ros_context, spinning
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Bool
from unzipped import events_in

pytestmark = pytest.mark.dds
DOUBLE = str(Path(__file__).with_name('gazebo_double.py'))
LIVE = 'SAFETY_SCENARIOS_GAZEBO'
"""Names a ROS domain in which a Gazebo and its bridge run: the hall that comes along."""

WALLS = ('{name: left, begin: [-2.0, 1.2], end: [8.0, 1.2]}, {name: door, begin: [2.5, -1.2], '
         'end: [1.5, -1.2], along: true, turns: 0.8, turns_in_s: 0.5}')


@pytest.fixture
def scenario(tmp_path) -> str:
    """
    Return a person on the scanner, who stays until a base that does not look is there.

    There is a wall beside the way, and a door that turns when the person appears.
    """
    text = Path(QUICK).read_text(encoding='utf-8').replace('human_pose', 'scan')
    assert 'at_ms: 500' in text
    path = tmp_path / 'person.yaml'
    path.write_text(text.replace('at_ms: 500', 'at_ms: 1900').replace(
        '[50, 100]', '[1000, 1200]').replace(
        '  nominal:\n', f'  world: {{walls: [{WALLS}]}}\n  nominal:\n'), encoding='utf-8')
    return str(path)


@pytest.fixture
def path() -> dict[str, str]:
    """Return the variables with which processes find the interfaces of the simulator."""
    before = os.environ.get('PYTHONPATH')
    return {'PYTHONPATH': os.pathsep.join(filter(None, [str(interfaces_folder()), before])),
            **SOON}


@contextmanager
def world(domain: int, path: dict[str, str], *arguments: str):
    """Simulate while the block lasts."""
    with subprocess.Popen([sys.executable, DOUBLE, *arguments],
                          env=environment(domain) | path) as double:
        try:
            yield double
            double.terminate()
            double.wait(10)
        finally:
            double.kill()


def told_of(folder: Path, name: str) -> list[dict]:
    """Return what the records of a campaign tell of an entity, in order."""
    return [event[3]['truth'] for path in sorted(folder.glob('traces/*/*.events.jsonl.gz'))
            for event in events_in(path) if event[:2] == ['state', name]]


def killed_in_mid_trial(domain: int, path: dict[str, str], command: list[str]) -> None:
    """Kill an evaluator, and see from here that then nobody commands and no time passes."""
    heard: dict[str, list[object]] = {'cmd_vel': [], 'scan': [], 'clock': [], 'drives': []}
    with ros_context([], domain) as context:
        node = Node('witness', context=context)
        for topic, kind in (('cmd_vel', Twist), ('scan', LaserScan)):
            node.create_subscription(kind, topic, heard[topic].append, 10)
        node.create_subscription(Clock, 'clock', lambda said: heard['clock'].append(
            (said.clock.sec, said.clock.nanosec)), 10)
        node.create_subscription(Bool, 'drive_enable', lambda said: heard['drives'].append(
            said.data), qos.conversation())
        with spinning(node), subprocess.Popen(command, env=environment() | path,
                                              stdout=subprocess.DEVNULL) as evaluator:
            try:
                until(lambda: True in heard['drives'], 60)  # from then on time stands
                heard['cmd_vel'].clear()
                until(lambda: len(heard['cmd_vel']) > 2)
            finally:
                evaluator.kill()
            until(lambda: node.count_publishers('cmd_vel') == 0)  # it ends with its evaluator
            until(lambda: len(set(heard['clock'][-20:])) == 1)  # and the last step by itself
            for messages in heard.values():
                messages.clear()
            until(lambda: len(heard['clock']) > 40)
        assert not heard['cmd_vel'] and not heard['scan'] and len(set(heard['clock'])) == 1


@pytest.mark.exact
def test_who_looks_passes_and_who_does_not_touches_the_person(tmp_path, domain, path, scenario):
    """One server for all trials: each begins where the scenario begins."""
    options = '--world', 'external', '--domain-id', str(domain), '--trials', '2'
    with world(domain, path):
        seeing = campaign(tmp_path / 'seeing', scenario, *options, **path)
        blind = campaign(tmp_path / 'blind', scenario, *options, '--controller', 'never_stop',
                         '--set', 'clock.lockstep=true', again=False, **path)
    assert seeing.code == 0, seeing.output
    for trial in seeing.trials:
        assert trial['world']['world'] == 'gazebo'
        assert 0.3 < trial['world']['min_gap_m'] < 0.95
    assert [trial['verdict'] for trial in blind.trials] == ['FAIL', 'FAIL'], blind.output
    for trial in blind.trials:
        assert trial['world']['lockstep'], 'it paused and made steps, and ran for the next one'
        touch, = (one for one in trial['findings'] if one['check'] == 'touches nobody')
        assert touch['verdict'] == 'FAIL' and 'into a person' in touch['reason']
    for told in told_of(blind.folder, 'wall:left'):
        assert told['gap'] == pytest.approx(0.85, abs=0.02) and told['touching'] == 0.0
    door = told_of(blind.folder, 'wall:door')
    assert door[0]['heading'] == pytest.approx(math.pi)
    assert math.remainder(door[-1]['heading'] - math.pi, math.tau) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(('arguments', 'controller', 'verdict', 'words'), [
    (('--share', '0'), 'rule_based', 'ERROR', 'it stood (0 m/s) although'),
    (('--share', '0.4'), 'rule_based', 'INCONCLUSIVE', 'it moved at 40% of what was commanded'),
    (('--misses', 'returns'), 'rule_based', 'FAIL', '')],
    ids=['stands', 'is slow', 'blind lidar'])
def test_a_world_that_does_otherwise_or_shows_nothing_is_found(
        tmp_path, domain, path, scenario, arguments, controller, verdict, words):
    with world(domain, path, *arguments):
        run = campaign(tmp_path / 'run', scenario, '--world', 'external', '--domain-id',
                       str(domain), '--set', 'clock.lockstep=true', '--controller', controller,
                       again=False, **path)
    trial, = run.trials
    assert trial['verdict'] == verdict, run.output
    assert words in trial['reason']
    unseen = [one['verdict'] for one in trial['findings'] if one['check'] == SHOWN]
    assert unseen == (['INCONCLUSIVE'] if 'returns' in arguments else [])


@pytest.mark.thorough
def test_simulators_with_the_standard_services_are_moved_too(tmp_path, domain, path, scenario):
    """Where they tell of no contacts, outlines do."""
    with world(domain, path, '--standard'):
        run = campaign(tmp_path / 'run', scenario, '--world', 'external', '--domain-id',
                       str(domain), '--controller', 'never_stop', again=False, **path)
    trial, = run.trials
    assert trial['verdict'] == 'FAIL', run.output
    assert trial['world']['world'] == 'simulation_interfaces'
    touch, = (one for one in trial['findings'] if one['check'] == 'touches nobody')
    assert touch['verdict'] == 'FAIL' or 'could not run' in touch['reason'], touch
    assert 'into a person' in touch['reason']


@pytest.mark.thorough
def test_in_lock_step_time_passes_only_with_the_controller(tmp_path, domain, path, scenario):
    """
    No load of the host is in any number then, and the result says so.

    After kill -9 of the evaluator it does not pass for anybody, until the next one lets it.
    """
    options = '--world', 'external', '--domain-id', str(domain), '--set', 'clock.lockstep=true'
    with world(domain, path, '--standard'):
        killed_in_mid_trial(domain, path, [
            COMMAND, 'run', scenario, *options, '--calibration', 'off', '--output',
            str(tmp_path / 'killed'), '--set', 'connect_timeout_s=60'])
        run = campaign(tmp_path / 'run', scenario, *options, again=False, **path)
    trial, = run.trials
    assert trial['verdict'] == 'PASS', run.output
    assert trial['world']['lockstep'] and 0.3 < trial['world']['min_gap_m'] < 0.95
    assert 'lock-step' in {note['code'] for note in trial['notes']}


def test_a_bridge_without_set_pose_is_named(tmp_path, domain, path, scenario):
    """With what is there, and which versions have it."""
    with world(domain, path, '--misses', 'set_pose'):
        run = campaign(tmp_path / 'run', scenario, '--world', 'external', '--domain-id',
                       str(domain), '--set', 'connect_timeout_s=3', '-v', again=False, **path)
    output = ' '.join(run.output.split())
    assert run.code == 3
    assert '/world/hall/control [ros_gz_interfaces/srv/ControlWorld]' in output
    assert 'ros_gz 1.0.11' in output


@pytest.mark.thorough
def test_an_arm_that_is_pushed_against_stops_by_what_its_sensor_tells(tmp_path, domain, path):
    """Its joints, which are anywhere at first, have been driven to their start by then."""
    [copy] = map(Path, brief(tmp_path / 'copy', 'SCN-R-103'))
    text = copy.read_text(encoding='utf-8')
    for old, new in (('duration_ms: [100, 200]', 'duration_ms: [300, 350]'),
                     ('at_ms: 1700', 'at_ms: 800'), ('hold_ms: 1500', 'hold_ms: 500'),
                     (', '.join(f'joint_{number}' for number in range(1, 7)),
                      'shoulder_pan, shoulder_lift, elbow, wrist_1, wrist_2, wrist_3')):
        assert old in text
        text = text.replace(old, new)
    scenario = tmp_path / 'collision.yaml'
    scenario.write_text(text, encoding='utf-8')
    with world(domain, path, '--arm'):
        run = campaign(tmp_path / 'run', str(scenario), '--world', 'external', '--domain-id',
                       str(domain), '--set', 'clock.lockstep=true', '--set',
                       'connect_timeout_s=30', again=False, **path)
    trial, = run.trials
    assert trial['verdict'] == 'PASS', run.output
    push, = (one for one in trial['findings'] if one['check'] == 'no push on into the contact')
    assert push['verdict'] == 'PASS' and push['reason'] == 'no push into 1 contacts'


@pytest.mark.skipif(LIVE not in os.environ, reason=f'{LIVE} names no ROS domain with a Gazebo')
@pytest.mark.parametrize('pace', [(), ('--set', 'clock.lockstep=true')])
@pytest.mark.parametrize(('controller', 'verdict'), [
    ('rule_based', 'PASS'), ('never_stop', 'FAIL')])
def test_a_live_server_comes_to_the_same(tmp_path, scenario, controller, verdict, pace):
    """Its interfaces are those that are installed."""
    run = campaign(tmp_path / 'run', scenario, '--world', 'external', '--domain-id',
                   os.environ[LIVE], '--controller', controller, '--trials', '3', *pace,
                   again=False)
    assert {trial['verdict'] for trial in trials_in(run.folder)} == {verdict}, run.output
