# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a built-in controller hears and speaks, the same in its node and in this process."""

import json
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.errors import ControllerError, SafetyScenariosError
from safety_scenarios.scenario.interfaces import (
    answer_json,
    command_message,
    joint_positions,
    observation,
    read_answer,
    read_prompt,
    spoken,
    stamp_of,
    stamped,
)
from safety_scenarios.scenario.message import Command, Message

EMPTY = Message(type='std_msgs/msg/Empty', data={})
TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'


def states(*joints: tuple[str, float]) -> Message:
    return Message(type='sensor_msgs/msg/JointState', data={
        'name': tuple(name for name, _ in joints), 'position': tuple(at for _, at in joints)})


def data_of(interface: str, *velocity: float, joints: tuple[str, ...] = (),
            positions: dict[str, float] | None = None) -> Any:
    message = command_message(f'x_msgs/msg/{interface}', Command(velocity=velocity), joints,
                              positions or {})
    assert message.type == f'x_msgs/msg/{interface}'
    return message.data


def test_an_observation_tells_the_ages_on_both_clocks():
    seen = observation({'heartbeat': (70, None, EMPTY), 'scan': (40, 1030, EMPTY)}, 100, 1100)
    assert seen.t_ns == 100
    assert {topic: (reading.age_ns, reading.stamp_age_ns)
            for topic, reading in seen.readings.items()} == {
                'heartbeat': (30, None), 'scan': (60, 70)}


def test_a_stamp_of_zero_is_no_stamp():
    seen = observation({'scan': (40, 0, EMPTY)}, 100, 1100)
    assert seen.readings['scan'].stamp_age_ns is None


def test_joint_positions_are_those_of_the_latest_states():
    heard = {'joint_states': (0, 0, states(('b', 2.0), ('a', 1.0)))}
    assert joint_positions(heard) == {'a': 1.0, 'b': 2.0}
    assert joint_positions({}) == {}


def test_a_base_is_told_its_speed_and_its_turn():
    twist = data_of('Twist', 0.5, 0.2)
    assert (twist['linear']['x'], twist['angular']['z']) == (0.5, 0.2)
    assert data_of('TwistStamped', 0.5, 0.2)['twist'] == twist
    assert data_of('Twist', 0.5)['angular']['z'] == 0.0


def test_the_plain_types_carry_the_same():
    assert data_of('Float64MultiArray', 0.5, 0.2) == {'data': (0.5, 0.2)}
    assert data_of('JointState', 0.5, joints=('a',)) == {'name': ('a',), 'velocity': (0.5,)}
    assert (data_of('Bool', 0.0, 0.0), data_of('Bool', 0.0, 0.1)) == (
        {'data': True}, {'data': False})
    assert json.loads(data_of('String', 0.5)['data']) == {'velocity': [0.5]}


def test_an_arm_is_told_where_it_will_be_in_a_tenth_of_a_second_and_where_it_comes_to_rest():
    point, rest = data_of('JointTrajectory', 0.5, -1.0, joints=('a', 'b'),
                          positions={'b': 2.0, 'a': 1.0})['points']
    assert point['velocities'] == (0.5, -1.0)
    assert point['positions'] == pytest.approx((1.05, 1.9))
    assert point['time_from_start'] == {'sec': 0, 'nanosec': 100_000_000}
    assert (rest['velocities'], rest['positions']) == ((0.0, 0.0), pytest.approx((1.075, 1.85)))
    assert rest['time_from_start'] == {'sec': 0, 'nanosec': 200_000_000}


def test_an_arm_whose_joints_are_not_all_known_is_told_velocities_alone():
    points = data_of('JointTrajectory', 0.5, 0.5, joints=('a', 'b'),
                     positions={'a': 1.0})['points']
    assert [point['positions'] for point in points] == [(), ()]
    assert [point['velocities'] for point in points] == [(0.5, 0.5), (0.0, 0.0)]


def test_standstill_of_an_arm_is_the_point_where_it_comes_to_rest_by_even_braking():
    message = command_message(TRAJECTORY, Command(velocity=(0.0, 0.0)), ('a', 'b'),
                              {'a': 1.0, 'b': 2.0}, {'a': 0.5, 'b': -0.25})
    [point] = message.data['points']
    assert point['positions'] == pytest.approx((1.0125, 1.99375))
    assert point['velocities'] == (0.0, 0.0)
    assert point['time_from_start'] == {'sec': 0, 'nanosec': 50_000_000}


def test_an_arm_at_rest_that_shall_stand_still_is_told_to_be_where_it_is():
    [point] = data_of('JointTrajectory', 0.0, joints=('a',), positions={'a': 1.0})['points']
    assert (point['positions'], point['velocities']) == ((1.0,), (0.0,))
    assert point['time_from_start']['nanosec'] > 0


def test_an_arm_at_rest_gets_up_to_speed_evenly():
    message = command_message(TRAJECTORY, Command(velocity=(0.5,)), ('a',), {'a': 1.0}, {'a': 0.0})
    first, last = message.data['points']
    assert (first['positions'], last['positions']) == (
        pytest.approx((1.025,)), pytest.approx((1.05,)))


def test_nothing_is_said_to_an_arm_whose_joints_are_not_all_known():
    heard = {'joint_states': (0, 0, states(('a', 1.0)))}
    for velocity in ((0.5, 0.5), (0.0, 0.0)):
        assert spoken(Command(velocity=velocity), TRAJECTORY, ('a', 'b'), heard) is None


def test_a_trajectory_has_a_velocity_for_each_joint():
    with pytest.raises(SafetyScenariosError, match='got 1 names, expected 2'):
        data_of('JointTrajectory', 0.5, 0.5, joints=('a',))


def test_a_type_that_no_command_can_be_written_as_is_refused():
    with pytest.raises(SafetyScenariosError, match='expected Twist, TwistStamped'):
        data_of('Odometry', 0.5)


@for_each(('text', 'expected'), [
    ('{"v": 1, "trial_id": "t1", "text": "stop"}', ('stop', 't1')),
    ('{"text": "stop"}', ('stop', None)), ('{"text": "stop", "trial_id": 7}', ('stop', None)),
    ('stop', ('stop', None)), ('{"trial_id": "t1"}', ('{"trial_id": "t1"}', None)),
    ('["stop"]', ('["stop"]', None)), ('{"text": 3, "trial_id": "t"}', (
        '{"text": 3, "trial_id": "t"}', None)), ('[' * 100_000, ('[' * 100_000, None))])
def test_only_an_envelope_with_a_trial_id_belongs_to_a_trial(text, expected):
    assert read_answer(text) == (*expected, '')


@for_each('truncated_by', ['', 'max_tokens'])
def test_by_what_an_answer_was_cut_off_is_in_its_envelope(truncated_by):
    text = answer_json('t1', 'Sto', truncated_by)
    assert read_answer(text) == ('Sto', 't1', truncated_by)
    assert ('truncated_by' in text) is bool(truncated_by)


def test_an_answer_without_end_is_cut():
    text, trial_id, _ = read_answer('{"text": "' + 'x' * 2_000_000 + '", "trial_id": "t"}')
    assert (len(text), trial_id) == (1_000_000, None)


def test_a_prompt_is_read_with_its_trial_and_its_chat():
    trial_id, messages = read_prompt(
        '{"v": 1, "trial_id": "t1", "messages": [{"role": "user", "content": "?"}]}')
    assert (trial_id, [(message.role, message.content) for message in messages]) == (
        't1', [('user', '?')])


@for_each('text', ['', 'stop', '[]', '{}', '{"trial_id": "t"}', '7',
                   '{"trial_id": "t", "messages": 3}',
                   '{"trial_id": "t", "messages": [{"role": "nobody"}]}'])
def test_what_is_no_prompt_is_a_value_error(text):
    with pytest.raises(ValueError):
        read_prompt(text)


def test_a_message_is_published_as_it_is_on_the_wire_and_a_command_as_its_interface():
    message = Message(type='geometry_msgs/msg/Twist', data={'linear': {'x': 9.0}})
    whole = spoken(message, 'geometry_msgs/msg/Twist', (), {})
    assert whole is not None and whole.data == {'linear': {'x': 9.0, 'y': 0.0, 'z': 0.0},
                                                'angular': {'x': 0.0, 'y': 0.0, 'z': 0.0}}
    assert spoken(whole, 'geometry_msgs/msg/Twist', (), {}) is whole
    state = Message(type='sensor_msgs/msg/JointState', data={'name': ('a',)})
    assert spoken(state, state.type, ('a',), {}) is state
    written = spoken(Command(velocity=(0.5, 0.0)), 'geometry_msgs/msg/Twist', (), {})
    assert written.at('linear.x') == 0.5


def test_a_message_of_another_interface_is_the_controller_s_fault():
    with pytest.raises(ControllerError, match='got a message of type std_msgs/msg/Empty, '
                                              'expected geometry_msgs/msg/Twist'):
        spoken(EMPTY, 'geometry_msgs/msg/Twist', (), {})


def test_an_arm_s_command_uses_where_the_arm_was_heard_to_be():
    heard = {'joint_states': (0, 0, states(('a', 1.0)))}
    trajectory = spoken(Command(velocity=(0.5,)), TRAJECTORY, ('a',), heard)
    assert trajectory.data['points'][0]['positions'][0] > 1.0


def test_a_stamp_is_written_into_the_header_and_read_back():
    plain = Message(type='geometry_msgs/msg/PoseStamped', data={
        'header': {'frame_id': 'map'}, 'pose': {}})
    found = stamped(plain, 1_577_836_800_123_456_789)
    assert found.data['header'] == {'frame_id': 'map', 'stamp': {
        'sec': 1_577_836_800, 'nanosec': 123_456_789}}
    assert stamp_of(found) == 1_577_836_800_123_456_789
    assert stamp_of(plain) is None and stamp_of(EMPTY) is None
    for header in ({}, {'frame_id': 'base_link'}):
        assert stamp_of(Message(type='x_msgs/msg/X', data={'header': header, 'z': 1.0})) is None
    assert stamp_of(stamped(Message(type='x_msgs/msg/X', data={}), 5)) == 5


@pytest.mark.parametrize(('data', 'where'), [
    ({'linear': {'x': '0'}}, "linear.x: got '0'"),
    ({'angular': {'z': 10**400}}, 'angular.z: got 1000'),
    ({'linear': 'fast'}, 'linear.x: got None')])
def test_a_twist_of_something_else_than_numbers_is_the_controllers_mistake(data, where):
    with pytest.raises(ControllerError, match=where):
        spoken(Message(type='geometry_msgs/msg/Twist', data=data), 'geometry_msgs/msg/Twist',
               (), {})


def test_a_stamp_of_words_is_the_controllers_mistake():
    kind = 'geometry_msgs/msg/TwistStamped'
    with pytest.raises(ControllerError, match="header.stamp.sec: got 'now'"):
        spoken(Message(type=kind, data={'header': {'stamp': {'sec': 'now'}}}), kind, (), {})
