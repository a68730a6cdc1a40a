# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ``hil.launch.py`` is given: nothing starts without the profile of a robot."""

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.ros.launching.arguments import HIL, parameters_of

PROFILE = """
robot: {kind: mobile_base, max_speed: 0.5}
topics: {scan: /tb4/scan_in, cmd_vel: /tb4/cmd_vel, odom: /tb4/odom}
hil: {publishes: [/tb4/scan_in], without: [battery, distance]}
"""
"""One that is short."""


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / 'tb4.yaml'
    path.write_text(PROFILE, encoding='utf-8')
    return str(path)


def test_with_a_profile_it_guards_an_external_controller_and_what_is_given_goes_first(profile):
    values = {'profile': profile, 'scenarios': 'SCN-R-101', 'trials': '2', 'start': 'activate',
              'set': 'hil.speed_cap=0.2'}
    HIL.check(values)
    assert parameters_of(HIL.given(values)) == {
        'hil.enabled': 'true', 'controller': 'external', 'profile': profile,
        'scenarios': 'SCN-R-101', 'trials': '2', 'hil.speed_cap': '0.2'}


@for_each(('given', 'words'), [
    ({}, 'profile: got nothing, expected the profile of your robot'),
    ({'profile': '/no/such/profile.yaml'}, '/no/such/profile.yaml: cannot be read: No such file'),
    ({'profile': 'turtelbot4'}, "expected the path of a YAML file.*Did you mean 'turtlebot4'")])
def test_without_a_profile_nothing_is_started(given, words):
    with pytest.raises(InputError, match=words):
        HIL.check(given)


def test_a_file_of_ros_parameters_is_no_profile(tmp_path):
    path = tmp_path / 'hil.params.yaml'
    path.write_text('/**: {ros__parameters: {hil.enabled: true}}', encoding='utf-8')
    with pytest.raises(InputError, match='got a file of ROS parameters, expected a profile'):
        HIL.check({'profile': str(path)})


def test_a_profile_and_a_setting_that_contradict_each_other_are_refused(profile):
    with pytest.raises(InputError, match='launch argument set: hil'):
        HIL.check({'profile': profile, 'set': 'hil.deadman_rate_hz=6'})


@for_each('text', ['false', 'no', 'False', '"false"'])
def test_no_argument_switches_the_interlocks_off(profile, text):
    with pytest.raises(InputError, match='set: hil.enabled: got .*, expected true: hil.launch.py '
                                         'guards a robot that is really there'):
        HIL.check({'profile': profile, 'set': f'hil.enabled={text}'})
    HIL.check({'profile': profile, 'set': 'hil.enabled=yes'})


def test_a_profile_that_says_they_are_off_does_not_switch_them_off_either(tmp_path):
    path = tmp_path / 'off.yaml'
    path.write_text(PROFILE.replace('hil: {', 'hil: {enabled: false, '), encoding='utf-8')
    values = {'profile': str(path)}
    HIL.check(values)
    assert parameters_of(HIL.given(values))['hil.enabled'] == 'true'
