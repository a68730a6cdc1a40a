# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Field paths: data, never code; a field that is not there is an error and not a zero."""

import math

from cases import for_each
import pytest
from safety_scenarios.scenario.message import Message, parse_path
from unit.records import twist

TRAJECTORY = Message(type='trajectory_msgs/msg/JointTrajectory', data={
    'header': {'frame_id': ''}, 'joint_names': ('a', 'b'), 'points': (
        {'positions': (1.0, 2.0), 'velocities': ()},
        {'positions': (3.0, 4.0), 'velocities': (0.5,)})})


@for_each(('path', 'value'), [
    ('joint_names', ('a', 'b')), ('points[0].positions', (1.0, 2.0)),
    ('points[-1].positions[1]', 4.0), ('points[*].positions', (1.0, 2.0, 3.0, 4.0)),
    ('points[*].velocities', (0.5,)), ('points[*].positions[0]', (1.0, 3.0)),
    ('header.frame_id', '')])
def test_a_path_leads_to_its_value(path, value):
    assert TRAJECTORY.at(path) == value


@for_each('path', ['points[2].positions', 'points[-3]', 'joint_names[7]'])
def test_an_index_past_the_end_finds_nothing(path):
    assert TRAJECTORY.at(path) == ()


@for_each('path', ['speed', 'points.positions', 'points[0].effort', 'joint_names.a',
                   'points[0].positions.x', 'header[0]', 'header[*]', '[0]'])
def test_a_field_that_is_not_there_is_a_lookup_error(path):
    with pytest.raises(LookupError, match='JointTrajectory'):
        TRAJECTORY.at(path)


def test_the_error_names_what_is_there():
    with pytest.raises(LookupError, match=r"no field 'speed' \(it has: linear, angular\)"):
        twist(0.1).at('speed')


@for_each('path', [
    'linear.x + 1', 'linear x', 'linear..x', 'linear.', 'a[1', 'a[]', 'a[x]', 'a]', 'a[0]b', '1',
    'a()', '__import__("os")', 'a.[0]', 'a[1234567]', 'a[**]', ' a', 'a '])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ValueError, match='expected a field path'):
        parse_path(path)


def test_a_path_is_split_into_steps():
    assert parse_path('points[-1].a_b[*].c2') == ('points', -1, 'a_b', '*', 'c2')


def test_a_stamped_message_may_leave_out_its_payload():
    stamped = Message(type='geometry_msgs/msg/TwistStamped', data={
        'header': {'frame_id': 'base_link'}, 'twist': twist(0.7, turn=0.2).data})
    assert stamped.at('linear.x') == stamped.at('twist.linear.x') == 0.7
    assert stamped.at('header.frame_id') == 'base_link'
    with pytest.raises(LookupError):
        stamped.at('lateral')


def test_a_message_with_two_payloads_is_not_guessed_at():
    with pytest.raises(LookupError):
        Message(type='t', data={'header': {}, 'a': {'x': 1.0}, 'b': {'x': 2.0}}).at('x')


@for_each('value', [math.nan, math.inf, -math.inf])
def test_the_first_number_that_is_none_is_named(value):
    assert twist(0.0, turn=value).non_finite() == f'angular.z = {value}'
    nested = Message(type='t', data={'points': ({'v': (0.0, 1.0)}, {'v': (0.0, value)})})
    assert nested.non_finite() == f'points[1].v[1] = {value}'


@for_each('data', [{}, {'a': 0.0}, {'a': 'nan'}, {'a': (1, 2.0, True, None)}])
def test_where_all_numbers_are_finite_nothing_is_named(data):
    assert Message(type='t', data=data).non_finite() is None
