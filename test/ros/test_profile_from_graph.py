# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A robot that runs becomes a profile that can be loaded, without a line written by hand."""

from contextlib import contextmanager
import os
from pathlib import Path
import subprocess
import sys

import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.formats.profile_file import load_profile

ROBOT = Path(__file__).with_name('standing_robot.py')
pytest.importorskip('nav_msgs.msg')


@contextmanager
def running(kind, domain):
    """Run a stand-in robot in a process of its own."""
    environment = {**os.environ, 'ROS_DOMAIN_ID': str(domain),
                   'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
    process = subprocess.Popen([sys.executable, str(ROBOT), kind], env=environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


def written(tmp_path, domain, *options):
    """Return the exit code of the command, and the file."""
    file = tmp_path / 'robot.yaml'
    return main(['new', 'profile', '--domain-id', str(domain), '--seconds', '8', *options,
                 '--output', str(file)]), file


def test_a_turtlebot_under_its_namespace(tmp_path, domain, capfd):
    with running('base', domain):
        code, file = written(tmp_path, domain, '--max-speed', '0.46', '--deceleration', '0.9')
    assert code == 0, capfd.readouterr().err
    if '"???"' in file.read_text():  # without tf2_msgs nobody can publish where the scanner is
        file.write_text(file.read_text().replace('"???"', '[-0.04, 0.0, 0.19]'))
    profile = load_profile(str(file))
    assert profile.scanner_place('scan').translation == pytest.approx((-0.04, 0.0, 0.0))
    assert profile.namespace == '/tb4' and profile.robot.kind == 'mobile_base'
    assert set(profile.topics) == {'cmd_vel', 'scan', 'odom'}
    assert profile.topics['cmd_vel'].type == 'geometry_msgs/msg/TwistStamped'
    assert profile.topics['scan'].frame == 'rplidar_link'
    assert profile.topics['scan'].qos.reliability == 'best_effort'
    assert profile.robot.name == 'turtle' and profile.robot.radius == 0.17


def test_an_arm_under_ros2_control(tmp_path, domain, capfd):
    with running('arm', domain):
        code, file = written(tmp_path, domain, '--stopping', '0.3', '0.15')
    assert code == 0, capfd.readouterr().err
    profile = load_profile(str(file))
    assert profile.robot.kind == 'arm' and profile.robot.max_speed == 1.5
    assert profile.robot.joints == ('shoulder', 'elbow'), 'not in the order of the URDF'
    assert profile.topics['joint_trajectory'].topic == '/arm_controller/joint_trajectory'
    assert profile.reference == ('joint_states',)


def test_an_empty_graph_is_refused_and_nothing_is_written(tmp_path, domain, capfd):
    code, file = main(['new', 'profile', '--domain-id', str(domain), '--seconds', '1', '--output',
                       str(tmp_path / 'robot.yaml')]), tmp_path / 'robot.yaml'
    assert code == 2 and not file.exists()
    assert 'expected the topics of a robot' in capfd.readouterr().err
