# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What YAML 1.1 makes of a parameter, and what its field wants; names that nobody declares."""

from typing import Literal

from cases import for_each
import pytest
from safety_scenarios.errors import SettingsError
from safety_scenarios.ros.parameters import fitting, refuse_unknown
from safety_scenarios.scenario.settings import leaves, RunSettings

ANNOTATIONS = {'.'.join(path): field.annotation for path, field in leaves(RunSettings)}


@for_each(('name', 'value', 'expected'), [
    ('calibration', False, 'off'), ('static_transforms', False, 'off'),
    ('record', 'mcap', ('mcap',)),
    ('scenarios', 101, ('101',)), ('scenarios', 'a, b c', ('a', 'b', 'c')),
    ('scenarios', ['two words', 'b'], ('two words', 'b')), ('scenarios', [1, 2], ('1', '2')),
    ('remap', None, ()), ('controller_label', 7, '7'), ('seed', '3', 3), ('seed', 3.0, 3),
    ('trials', ' 12 ', 12), ('connect_timeout_s', '2.5', 2.5), ('connect_timeout_s', '1e1', 10.0),
    ('record_images', 'yes', True), ('record_images', 'Off', False), ('record_images', True, True),
    ('period_ms', 20, 20)])
def test_what_leaves_no_doubt_is_taken_as_it_was_meant(name, value, expected):
    found = fitting(name, value, ANNOTATIONS[name])
    assert (found, type(found)) == (expected, type(expected))


@for_each(('name', 'value', 'words'), [
    ('static_transforms', True, 'got true, as which YAML reads on, yes, expected one of auto'),
    ('gate', False, 'got false, as which YAML reads off, no, expected one of acceptable'),
    ('controller', True, 'expected text. Put it into quotes'),
    ('trials', True, 'expected a number'), ('connect_timeout_s', True, 'expected a number'),
    ('scenarios', [True], 'scenarios: got true'), ('scenarios', True, 'scenarios: got true'),
    ('controller_label', 1.1, 'got the number 1.1, expected text. Put it into quotes'),
    ('scenarios', [1.5], 'got the number 1.5'), ('trials', None, 'got an empty list')])
def test_what_yaml_may_have_changed_is_an_error_that_says_so(name, value, words):
    with pytest.raises(SettingsError, match=f'^parameter {name}: .*{words}|{words}'):
        fitting(name, value, ANNOTATIONS[name])


def test_a_truth_value_stands_for_a_word_only_where_one_word_can_be_meant():
    assert fitting('a', True, Literal['on', 'auto']) == 'on'
    with pytest.raises(SettingsError, match='expected one of no, off'):
        fitting('a', False, Literal['no', 'off'])


@for_each(('name', 'value'), [
    ('trials', 'many'), ('trials', 2.5), ('trials', '2.5'), ('gate', 'sometimes'),
    ('record_images', 1), ('connect_timeout_s', 'soon')])
def test_what_does_not_fit_is_left_for_the_field_to_refuse(name, value):
    assert fitting(name, value, ANNOTATIONS[name]) is value


@for_each(('name', 'words'), [
    ('controllr', "parameter controllr: got an unknown parameter. Did you mean 'controller'"),
    ('p1', "Did you mean 'sequential.p1'"), ('namespace', '-r __ns:=/NAME'),
    ('node_name', '-r __node:=NAME'), ('zzz', '--help lists them all'),
    ('cruise', 'put it elsewhere')])
def test_a_parameter_that_nobody_declares_is_an_error_with_advice(name, words):
    known = set(ANNOTATIONS) - {'namespace', 'node_name'}
    with pytest.raises(SettingsError, match=words):
        refuse_unknown([name, 'trials'], known, {'cruise': 'put it elsewhere'})


def test_every_unknown_parameter_is_named_at_once():
    with pytest.raises(SettingsError, match='(?s)parameter aa: .*parameter bb: '):
        refuse_unknown(['aa', 'bb'], ['trials'])


def test_what_ros_declares_itself_is_known():
    refuse_unknown(['use_sim_time', 'start_type_description_service',
                    'qos_overrides./scan.publisher.depth', 'trials'], ['trials'])
