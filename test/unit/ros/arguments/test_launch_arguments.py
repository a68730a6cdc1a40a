# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Launch arguments that nobody knows, told from those of a launch file around ours."""

from cases import for_each
import pytest
from safety_scenarios.errors import SettingsError
from safety_scenarios.ros.launching.arguments import (
    ARGUMENTS,
    refuse_unheard_launch,
    refuse_unknown_arguments,
)

OWN = [argument['name'] for argument in ARGUMENTS]


def nothing():
    return ()


def look(given, in_scope=(), started=nothing, around=nothing):
    refuse_unknown_arguments(given, {*OWN, *given, *in_scope}, started, around)


@for_each(('name', 'meant'), [
    ('controllr', 'controller'), ('scenario', 'scenarios'), ('trails', 'trials')])
def test_a_misspelt_argument_is_an_error_that_names_the_nearest(name, meant):
    with pytest.raises(SettingsError, match=f'launch argument {name}: .*Did you mean {meant!r}'):
        look([name])


def test_what_resembles_nothing_is_an_error_too_and_what_is_ours_is_none():
    with pytest.raises(SettingsError, match='launch argument zzz: got an unknown argument'):
        look(['zzz'])
    look(OWN)


def test_what_ros2_launch_adds_and_what_the_controllers_launch_file_declares_is_known():
    look(['launch-prefix', 'launch-prefix-filter', 'robot_ip'], started=lambda: ['robot_ip'])
    with pytest.raises(SettingsError, match="Did you mean 'robot_ip'"):
        look(['robot_pi'], started=lambda: ['robot_ip'])


def test_a_launch_file_around_ours_may_have_names_of_its_own():
    look(['scenarios'], in_scope=['world', 'robot_name', 'scenario'])
    look([], in_scope=['scenario'], around=lambda: ['scenario'])


def test_a_slip_that_no_launch_file_declares_is_an_error_also_around_ours():
    with pytest.raises(SettingsError, match="controllr: .*no launch file declares.*'controller'"):
        look([], in_scope=['controllr', 'world'], around=lambda: ['world'])


def test_to_declare_a_name_is_no_excuse_for_passing_on_what_has_no_effect():
    with pytest.raises(SettingsError, match='scenario: got an unknown argument'):
        look(['scenario'], around=lambda: ['scenario'])


def test_what_takes_long_to_find_is_not_looked_for_where_all_is_known():
    def never():
        raise AssertionError
    look(['scenarios'], in_scope=['world'], started=never, around=never)


def test_a_controller_that_was_launched_is_never_replaced_by_a_built_in_one():
    defaults = {argument['name']: argument['default_value'] for argument in ARGUMENTS}
    launched = {**defaults, 'controller_launch': 'my.launch.py'}
    with pytest.raises(SettingsError, match='got my.launch.py with controller:=rule_based.*'
                                            'expected controller:=external'):
        refuse_unheard_launch(launched)
    refuse_unheard_launch(defaults)
    refuse_unheard_launch({**launched, 'controller': 'external'})
    refuse_unheard_launch({**launched, 'domain_id': '17'})  # it may start the robot there
