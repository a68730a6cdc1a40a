# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Launch arguments that nobody knows, told from those of a launch file around ours."""

from cases import for_each
import pytest
from safety_scenarios.errors import SettingsError
from safety_scenarios.ros.launching.arguments import (
    ARGUMENTS,
    closing_s,
    refuse_unheard_launch,
    refuse_unknown_arguments,
    refuse_wrong_values,
)
from safety_scenarios.scenario.settings import MonitorSettings

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


DEFAULTS = {argument['name']: argument['default_value'] for argument in ARGUMENTS}


@for_each(('name', 'text', 'expected'), [
    ('trials', 'three', "got 'three', expected a whole number"),
    ('trials', '3.0', "got '3.0', expected a whole number"),
    ('trials', '0', 'got 0, expected'),
    ('connect_timeout_s', 'soon', "got 'soon', expected a number"),
    ('connect_timeout_s', '-1', 'got -1.0, expected'),
    ('real_time_factor', 'nan', 'got nan, expected'),
    ('calibration', 'maybe', "got 'maybe', expected"),
    ('node_name', 'a node', "got 'a node', expected")])
def test_a_wrong_value_is_an_error_that_names_the_argument(name, text, expected):
    with pytest.raises(SettingsError, match=f'^launch argument {name}: {expected}'):
        refuse_wrong_values({**DEFAULTS, name: text})


def test_values_as_declared_and_right_ones_are_no_errors():
    refuse_wrong_values(DEFAULTS)
    refuse_wrong_values({**DEFAULTS, 'trials': '3', 'connect_timeout_s': '3', 'scenarios':
                         'SCN-R-101 SCN-R-102', 'use_sim_time': 'true', 'anothers': 'x'})
    refuse_wrong_values({'trials': ''})  # hil.launch.py: as the profile has it


def test_a_wrong_value_for_the_monitor_names_the_argument():
    with pytest.raises(SettingsError, match="^launch argument window_s: got 'long', expected a "):
        refuse_wrong_values({'window_s': 'long'}, MonitorSettings)
    with pytest.raises(SettingsError, match='^launch argument window_s: got 0.1, expected'):
        refuse_wrong_values({'window_s': '0.1'}, MonitorSettings)


@for_each(('trials', 'seconds'), [('', 20.0), ('1', 20.02), ('10000', 220.0), ('three', 20.0)])
def test_a_longer_campaign_has_more_time_to_be_written_down(trials, seconds):
    assert closing_s(trials) == pytest.approx(seconds)
