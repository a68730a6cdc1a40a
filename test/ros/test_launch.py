# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Launch files, launch tests and nodes as ROS itself starts them, wherever its tools are installed.

``launch`` is not on PyPI; where it is missing, ours of it is tested in ``unit/ros_arguments``.
"""

import os
from pathlib import Path
import re
import subprocess
import sys
from xml.etree import ElementTree

from lifecycle_msgs.msg import State
import pytest
from rclpy.node import Node
from ros.campaigns import environment, QUICK, until
from ros.test_ros_tools import change, state
from safety_scenarios.formats.loading import share_folder
from safety_scenarios.ros.spinning import ros_context, spinning

pytestmark = [pytest.mark.dds, pytest.mark.slow]
pytest.importorskip('launch_ros', reason='launch_ros is not on PyPI')

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / 'examples' / 'launch_testing'
OUTCOMES = {'PASS': ('rule_based', 0), 'FAIL': ('late', 1), 'INCONCLUSIVE': ('always_stop', 3),
            'ERROR': ('external', 3), 'wrong input': ('nobody', 2)}
"""Verdict to who gets it, and the exit code of the evaluator."""
_LAUNCH = """
import sys
from launch import LaunchService, LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
pairs = [text.split(':=', 1) for text in sys.argv[2:]]
service = LaunchService(argv=sys.argv[2:])
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(
    AnyLaunchDescriptionSource(sys.argv[1]), launch_arguments=pairs)]))
sys.exit(service.run())
"""
"""What ``ros2 launch`` does with a file and arguments."""


@pytest.fixture(scope='session')
def prefix(tmp_path_factory):
    """Make a prefix in which ROS finds this package as it is here."""
    folder = tmp_path_factory.mktemp('prefix')
    for part in ('share/ament_index/resource_index/packages', 'share/safety_scenarios',
                 'lib/safety_scenarios'):
        (folder / part).mkdir(parents=True)
    (folder / 'share/ament_index/resource_index/packages/safety_scenarios').touch()
    for name in ('launch', 'config', 'package.xml'):
        (folder / 'share/safety_scenarios' / name).symlink_to(share_folder() / name)
    for name in ('evaluator_node', 'controller_node', 'monitor_node'):
        script = folder / 'lib/safety_scenarios' / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" '
                          f'-m safety_scenarios.ros.nodes.{name} "$@"\n', encoding='utf-8')
        script.chmod(0o755)
    return folder


@pytest.fixture
def ros(prefix, tmp_path, domain):
    """Give a function that runs a command as in a sourced shell, and returns code and output."""
    def run(*command):
        paths = [str(prefix), *filter(None, [os.environ.get('AMENT_PREFIX_PATH')])]
        done = subprocess.run(
            [sys.executable, *map(str, command)], check=False, timeout=200, cwd=tmp_path,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**environment(domain), 'AMENT_PREFIX_PATH': os.pathsep.join(paths),
                 'ROS_LOG_DIR': str(tmp_path / 'log'), 'PYTHONUNBUFFERED': '1'})
        return done.returncode, done.stdout
    return run


def launch(ros, path, *arguments):
    return ros('-c', _LAUNCH, path, *arguments)


EVAL = share_folder() / 'launch' / 'eval.launch.py'
BRIEF = (f'scenarios:={QUICK}', 'calibration:=off', 'set:=connect_timeout_s=5')


@pytest.mark.parametrize('verdict', OUTCOMES)
def test_launch_ends_with_an_error_unless_every_trial_passed(ros, tmp_path, verdict):
    controller, code = OUTCOMES[verdict]
    ended, said = launch(ros, EVAL, *BRIEF, f'controller:={controller}',
                         f'output:={tmp_path / "run"}')
    assert ended == (code != 0), said
    assert (f'evaluator_node ended with exit code {code}' in said) == (code != 0)
    assert said.replace('•', '').isascii()


@pytest.mark.parametrize(('argument', 'words'), [
    ('profile:=turtlebot5', "got 'turtlebot5', expected the path.*'turtlebot4'"),
    ('trials:=three', "launch argument trials: got 'three', expected a whole number"),
    ('judge_timeout_s:=20', "argument judge_timeout_s: .*Write set:='judge.timeout_s=VALUE'"),
    ('controllr:=external', "launch argument controllr: got an unknown.*'controller'"),
    ('scenario:=SCN-R-101', "launch argument scenario: got an unknown.*'scenarios'"),
    ('remap:=cmd_vl:=/base/cmd_vel', "matches nothing here.*'cmd_vel'")])
def test_what_is_misspelt_ends_launch_before_anything_is_run(ros, tmp_path, argument, words):
    ended, said = launch(ros, EVAL, *BRIEF, argument, f'output:={tmp_path / "run"}')
    assert ended == 1 and not (tmp_path / 'run').exists()
    assert re.search(words, said), said


@pytest.mark.parametrize(('argument', 'words'), [
    ('fil:=mobile_base', "launch argument fil: got an unknown.*monitor.launch.py.*'file'"),
    ('file:=nowhere', 'got nowhere, which is no file'),
    (f'file:={QUICK}', 'a scenario that publishes a hazard')])
def test_the_monitor_ends_launch_with_an_error_for_what_is_wrong(ros, tmp_path, argument, words):
    ended, said = launch(ros, EVAL.with_name('monitor.launch.py'), argument,
                         f'output:={tmp_path / "run"}')
    assert ended == 1 and not (tmp_path / 'run').exists()
    assert re.search(words, said), said


def test_a_guarded_evaluator_is_led_up_and_ends_launch_when_it_is_shut_down(
        prefix, tmp_path, domain):
    profile, name = tmp_path / 'robot.yaml', '/lifecycle_evaluator_node'
    profile.write_text('robot: {kind: mobile_base}\n'
                       'topics: {cmd_vel: {topic: cmd_vel}, human_pose: {topic: human_pose, '
                       'type: geometry_msgs/msg/PoseStamped}}\n'
                       'hil: {publishes: [/human_pose], confirm: service}\n', encoding='utf-8')
    log = tmp_path / 'printed'
    paths = [str(prefix), *filter(None, [os.environ.get('AMENT_PREFIX_PATH')])]
    with ros_context([], domain) as context, log.open('w') as printed:
        looker = Node('looker', context=context)
        with spinning(looker), subprocess.Popen(
                [sys.executable, '-c', _LAUNCH, EVAL.with_name('hil.launch.py'), *BRIEF,
                 f'profile:={profile}', f'domain_id:={domain}',
                 f'output:={tmp_path / "run"}', 'start:=activate'],
                stdout=printed, stderr=subprocess.STDOUT, cwd=tmp_path,
                env={**environment(domain), 'AMENT_PREFIX_PATH': os.pathsep.join(paths),
                     'ROS_LOG_DIR': str(tmp_path / 'log')}) as running:
            until(lambda: running.poll() is not None
                  or state(looker, name) == State.PRIMARY_STATE_ACTIVE, 60)
            assert running.poll() is None, log.read_text()
            assert change(looker, name, 'deactivate')
            assert state(looker, name) == State.PRIMARY_STATE_INACTIVE
            assert change(looker, name, 'shutdown')
            assert running.wait(60) == 1
    assert 'evaluator_node ended with exit code 3' in log.read_text()


@pytest.mark.parametrize('form', ['xml', 'yaml'])
def test_launch_files_in_xml_and_yaml_include_ours(ros, tmp_path, form):
    pytest.importorskip(f'launch_{form}')
    file = EXAMPLES / f'robot_test.launch.{form}'
    arguments = (f'scenario:={QUICK}', 'calibration:=off')
    ended, said = launch(ros, file, *arguments, f'output:={tmp_path / "run"}')
    assert ended == 0 and (tmp_path / 'run' / 'campaign.json').exists(), said
    ended, said = launch(ros, file, *arguments, 'controllr:=external')
    assert ended == 1 and "Did you mean 'controller'" in said


def example(name, folder, controller):
    """Return a copy of an example that judges another controller, and takes seconds."""
    copy = folder / name
    text = (EXAMPLES / name).read_text(encoding='utf-8')
    given = (f"'scenarios': {QUICK!r}, 'calibration': 'off', 'set': 'connect_timeout_s=5', "
             f"'controller': {controller!r}")
    assert "'scenarios': 'SCN-R-101'" in text
    copy.write_text(text.replace("'scenarios': 'SCN-R-101'", given), encoding='utf-8')
    return copy


def failures(path):
    """Return what is said of the tests of a JUnit file that did not pass."""
    return [f'{found.get("message")} {found.text or ""}' for found in
            ElementTree.parse(path).iter() if found.tag in ('failure', 'error')]


@pytest.mark.parametrize('verdict', OUTCOMES)
@pytest.mark.parametrize('tool', ['launch_testing', 'launch_pytest'])
def test_the_examples_pass_and_fail_with_the_campaign(ros, tmp_path, tool, verdict):
    pytest.importorskip(tool)
    controller, code = OUTCOMES[verdict]
    junit = tmp_path / 'junit.xml'
    if tool == 'launch_testing':
        file = example('reaction.launch_test.py', tmp_path, controller)
        ended, said = ros('-m', 'launch_testing.launch_test', file, '--junit-xml', junit)
    else:
        file = example('test_reaction.py', tmp_path, controller)
        ended, said = ros('-m', 'pytest', '-q', file, f'--junit-xml={junit}',
                          '--rootdir', tmp_path)
    assert ended == (code != 0), said
    why = failures(junit)
    if code == 0:
        assert why == []
    else:
        assert len(why) == 1 and (verdict in why[0] or verdict == 'wrong input'), why
    assert "'ProcessStarted' object" not in said and "codec can't" not in said
