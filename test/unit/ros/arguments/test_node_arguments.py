# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Arguments, rules and sections of parameter files that ROS would ignore."""

from cases import for_each
import pytest
from safety_scenarios.errors import SettingsError
from safety_scenarios.ros.nodes.node_program import (
    refuse_foreign,
    split,
    topic_rules,
    usage,
    wants_help,
)
from safety_scenarios.scenario.settings import RunSettings

KNOWN = ('controller', 'trials', 'record_images', 'sequential.p1')
ME = 'evaluator_node'


def test_arguments_of_ros_are_told_from_plain_ones():
    assert split(['a', '--ros-args', '-p', 'b:=1', '--', 'c', '--ros-args', '-r', 'd:=e']) == (
        ['a', 'c'], ['-p', 'b:=1', '-r', 'd:=e'])


@for_each('arguments', [['--help'], ['-h'], ['--ros-args', '--', '--help']])
def test_help_is_asked_for_by_a_plain_argument(arguments):
    assert wants_help(arguments, KNOWN)


def test_no_plain_argument_asks_for_nothing():
    assert not wants_help(['--ros-args', '-p', 'help:=1'], KNOWN)


@for_each(('argument', 'advice'), [
    ('controller:=external', '--ros-args -p controller:=VALUE'),
    ('--record-images', '--ros-args -p record_images:=VALUE'),
    ('controllr:=external', "Did you mean 'controller'"), ('-p', 'Put --ros-args before it'),
    ('robotic', '--help shows what there is')])
def test_another_plain_argument_is_an_error_with_advice(argument, advice):
    with pytest.raises(SettingsError, match=f'argument {argument}: got a plain argument') as got:
        wants_help([argument], KNOWN)
    assert advice in str(got.value)


def test_help_names_every_parameter_with_its_default():
    text = usage(ME, 'Runs.', RunSettings, ('namespace',), 'More.')
    assert '  trials [1]\n      Trials of each scenario.' in text
    assert '  scenarios [robotic]' in text and '  sequential.p1' in text
    assert '  namespace' not in text and text.endswith('More.')


def test_rules_for_topics_are_those_for_this_node():
    assert topic_rules(['--ros-args', '-r', 'a:=b', '--remap', f'{ME}:c:=d', '-r', '__node:=x',
                        '-r', 'other:e:=f', '-r', 'rostopic://g:=h'], ME) == [
        'a:=b', 'c:=d', 'rostopic://g:=h']


@for_each('rule', [
    ('-p', 'evaluatr_node:controller:=external'), ('-r', 'evaluatr_node:cmd_vel:=/x'),
    ('-r', 'evaluatr_node:__node:=x')])
def test_a_rule_for_another_node_is_an_error(rule):
    with pytest.raises(SettingsError, match='got a rule for the node evaluatr_node'):
        refuse_foreign(['--ros-args', *rule], f'/{ME}', ME, KNOWN)


def test_a_renamed_node_takes_rules_by_its_new_name_and_its_renaming_by_the_old_one():
    refuse_foreign(['--ros-args', '-r', f'{ME}:__node:=judge', '-p', 'judge:trials:=2', '-p',
                    'controller:=http://a:8000'], '/judge', ME, KNOWN)
    with pytest.raises(SettingsError, match=f'for the node {ME}, expected one for judge'):
        refuse_foreign(['--ros-args', '-p', f'{ME}:trials:=2'], '/judge', ME, KNOWN)


def with_file(folder, text, full_name=f'/{ME}', first=ME):
    path = folder / 'params.yaml'
    path.write_text(text, encoding='utf-8')
    refuse_foreign(['--ros-args', '--params-file', str(path)], full_name, first, KNOWN)


VALUES = '{ros__parameters: {controller: external}}'


@pytest.mark.parametrize(('text', 'full_name'), [
    (f'{ME}: {VALUES}', f'/{ME}'), (f'/**: {VALUES}', f'/{ME}'), (f'/*: {VALUES}', f'/{ME}'),
    (f'/**/{ME}: {VALUES}', f'/{ME}'), (f'/**/{ME}: {VALUES}', f'/a/b/{ME}'),
    (f'/*/{ME}: {VALUES}', f'/a/{ME}'), (f'a: {{{ME}: {VALUES}}}', f'/a/{ME}'),
    (f'/a/{ME}: {VALUES}\n/b/{ME}: {VALUES}', f'/a/{ME}'),
    (f'{ME}: {VALUES}\n{ME}_2: {VALUES}', f'/{ME}'),
    (f'controller_node: {VALUES}', f'/{ME}'),
    ('planner_server: {ros__parameters: {trials: 1, tolerance: 0.5}}', f'/{ME}'),
    (f'/**: {VALUES}\nplanner_server: {VALUES}', f'/{ME}'),
    ('amcl: {ros__parameters: {use_sim_time: true}}', f'/{ME}')])
def test_sections_for_this_node_and_for_others_are_none_of_a_mistake(tmp_path, text, full_name):
    with_file(tmp_path, text, full_name)


@pytest.mark.parametrize(('section', 'full_name'), [
    ('evaluatr_node', f'/{ME}'), ('evaluator', f'/{ME}'), ('EvaluatorNode', f'/{ME}'),
    (f'/b/{ME}', f'/a/{ME}'), (ME, f'/a/{ME}'), (f'/*/{ME}', f'/{ME}'), (ME, '/judge'),
    ('my_test', f'/{ME}')])
def test_a_section_that_is_meant_for_this_node_and_misses_it_is_an_error(
        tmp_path, section, full_name):
    with pytest.raises(SettingsError, match='got the name of another node') as got:
        with_file(tmp_path, f'{section}: {VALUES}', full_name)
    assert f'section {section}: ' in str(got.value) and full_name in str(got.value)


def test_a_wildcard_beside_it_does_not_excuse_a_slip(tmp_path):
    with pytest.raises(SettingsError, match='section evaluatr_node: '):
        with_file(tmp_path, '/**: {ros__parameters: {use_sim_time: true}}\n'
                            f'evaluatr_node: {VALUES}')
