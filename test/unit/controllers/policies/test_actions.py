# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A command is what the model gave, in SI and for this robot, or there is an error."""

import math
from typing import Any

from cases import for_each
import numpy
import pytest
from safety_scenarios.controllers.policies.actions import next_state, PolicyActions
from safety_scenarios.controllers.policies.contract import PolicyContract, StateInput
from safety_scenarios.controllers.policies.model import named_outputs
from safety_scenarios.errors import ControllerError
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.message import Message
from unit.controllers.observations import seen

BASE = RobotModel(kind='mobile_base', max_speed=2.0)
ARM = RobotModel(kind='arm', max_speed=1.0, joints=('a', 'b'))
NAN, INF = math.nan, math.inf


def actions(robot: RobotModel = BASE, **output: Any) -> PolicyActions:
    quantity = {'quantity': 'velocity' if robot is BASE else 'joint_velocity'}
    return PolicyActions(PolicyContract.model_validate({
        'robot': robot.kind, 'rate_hz': 20,
        'inputs': {'x': {'role': 'contact', 'fields': ['data']}},
        'outputs': {'action': {**quantity, **output}}}), robot)


@for_each(('given', 'output', 'expected'), [
    ([0.5, 0.1], {}, [[0.5, 0.1]]),
    ([[[0.5, 0.1], [0.4, 0.0]]], {}, [[0.5, 0.1], [0.4, 0.0]]),
    ([[0.5], [0.4], [0.3]], {}, [[0.5, 0.0], [0.4, 0.0], [0.3, 0.0]]),
    ([[9.0, 0.1, 0.5]], {'columns': [2, 1]}, [[0.5, 0.1]]),
    ([[9.0, 0.1, 0.5]], {'columns': [2]}, [[0.5, 0.0]]),
    ([[500.0, 0.1]], {'unit': 'mm/s'}, [[0.5, 0.1]]),
    ([[3.6, 0.1]], {'unit': 'km/h'}, [[1.0, 0.1]]),
    ([[0.5, 0.1]], {'of_top_speed': True}, [[1.0, 0.1]]),
    ([[1.0, -1.0]], {'std': [0.5, 0.2], 'mean': [0.1, 0.0]}, [[0.6, -0.2]]),
    ([[5.0, -5.0]], {'clip': [-1.0, 1.0]}, [[1.0, -1.0]]),
    ([[5000.0, 0.0]], {'clip': [-1000.0, 1000.0], 'unit': 'mm/s'}, [[1.0, 0.0]]),
])
def test_a_chunk_is_in_si_and_in_the_order_of_the_robot(given, output, expected):
    assert actions(**output).chunk({'action': given}).tolist() == [
        pytest.approx(one) for one in expected]


def test_an_answer_without_a_name_is_the_action_whatever_the_contract_calls_it():
    assert actions().chunk(named_outputs([[0.5, 0.1]])).tolist() == [[0.5, 0.1]]
    both = {'actions': [[0.2, 0.0]], 'action': [[0.5, 0.1]]}
    assert actions().chunk(both).tolist() == [[0.5, 0.1]]


@for_each(('outputs', 'why'), [
    ({}, "no output 'action'"),
    ({'act': [[0.1, 0.1]]}, "no output 'action', but act. Correct outputs of the contract"),
    ({'action': 'forward'}, 'expected an array of numbers'),
    ({'action': [[0.1], [0.1, 0.2]]}, 'expected an array of numbers'),
    ({'action': [[True, False]]}, 'expected an array of numbers'),
    ({'action': [[0.5, False]]}, 'expected an array of numbers'),
    ({'action': numpy.array([[True, False]])}, 'expected an array of numbers'),
    ({'action': [numpy.array([True, False]), [0.5, 0.5]]}, 'expected an array of numbers'),
    ({'action': None}, 'gave None as .* expected an array of numbers'),
    ({'action': [['0.5', '0.0']]}, 'expected an array of numbers'),
    ({'action': [[0.5 + 1j, 0.0]]}, 'expected an array of numbers'),
    ({'action': [[10 ** 400, 0.0]]}, 'expected an array of numbers'),
    ({'action': numpy.zeros((0, 2))}, 'gave no action'),
    ({'action': numpy.zeros((2, 4, 2))}, r'of shape \[2, 4, 2\], expected horizon x 2'),
    ({'action': numpy.zeros((4, 7))}, r'of shape \[4, 7\], expected horizon x 2'),
    ({'action': 0.5}, r'of shape \[\], expected horizon x 2'),
    ({'action': [[NAN, 0.0]]}, 'not finite'), ({'action': [[0.0, -INF]]}, 'not finite'),
])
def test_what_is_no_action_is_an_error(outputs, why):
    with pytest.raises(ControllerError, match=why):
        actions().chunk(outputs)


def test_a_chunk_shorter_than_the_horizon_is_an_error():
    made = PolicyActions(PolicyContract.model_validate({
        'robot': 'mobile_base', 'outputs': {'action': {'quantity': 'velocity'}},
        'inputs': {'x': {'role': 'contact', 'fields': ['data']}}}), BASE, 2)
    assert len(made.chunk({'action': [[0.4, 0.1]] * 3})) == 3
    for given in ([[0.4, 0.1]], [0.4, 0.4]):  # the second is meant as two actions of one value
        with pytest.raises(ControllerError, match='is 2, and the policy gave a chunk of 1 action'):
            made.chunk({'action': given})


@for_each('output', [{'mean': [0.0, 0.3]}, {'std': [1.0, 1.0]}])
def test_two_means_do_not_add_a_turn_to_an_action_of_one_value(output):
    with pytest.raises(ControllerError, match='gave 1 value an action .* has 2'):
        actions(**output).chunk({'action': [[0.4]] * 3})
    assert len(actions(**output).chunk({'action': [[0.4, 0.1]]})) == 1


def test_two_actions_of_one_value_are_not_taken_for_one_action_of_two():
    with pytest.raises(ControllerError, match='two actions of one value or one action of two'):
        actions().chunk({'action': [[[0.4], [0.1]]]})
    assert actions(columns=[0]).chunk({'action': [[[0.4], [0.1]]]}).tolist() == [
        [0.4, 0.0], [0.1, 0.0]]


def test_a_number_that_nobody_uses_may_be_anything():
    assert actions(columns=[0, 1]).chunk({'action': [[0.1, 0.2, NAN]]}).tolist() == [[0.1, 0.2]]


def states(*positions: float) -> Message:
    return Message(type='sensor_msgs/msg/JointState', data={
        'name': ('b', 'a', 'gripper')[:len(positions)], 'position': positions})


def test_a_position_is_reached_within_a_period_at_no_more_than_the_top_speed():
    made, now = actions(ARM, quantity='joint_position'), seen(joint_states=states(0.0, 1.0, 9.0))

    def velocity(*target: float) -> Any:
        [action] = made.chunk({'action': [target]})
        return pytest.approx(made.command(action, now).velocity)
    assert velocity(1.02, -0.01) == (0.4, -0.2)
    assert velocity(1.04, -0.02) == (0.4, -0.2)  # from where it was sent to, not where it is
    assert velocity(9.0, -0.02) == (1.0, 0.0)
    assert velocity(1.09, -0.02) == (0.0, 0.0)  # a clipped step is made up for
    made.forget()
    assert velocity(1.02, 0.0) == (0.4, 0.0)


def test_a_target_that_the_top_speed_does_not_reach_is_counted():
    made, now = actions(ARM, quantity='joint_position'), seen(joint_states=states(0.0, 1.0, 9.0))
    for target, clipped in (((9.0, 9.0), 2), ((9.0, 0.1), 1), ((1.15, 0.1), 0)):
        [action] = made.chunk({'action': [target]})
        assert made.command(action, now).stamps.clipped == clipped


def test_a_delta_is_added_to_where_the_joint_is():
    made, now = actions(ARM, quantity='joint_delta', unit='deg'), seen(
        joint_states=states(0.0, 1.0))
    for _ in range(2):
        [action] = made.chunk({'action': [[1.0, 0.0]]})
        assert made.command(action, now).velocity == pytest.approx((20 * math.radians(1.0), 0.0))


@for_each('quantity', ['joint_position', 'joint_delta'])
def test_nothing_is_commanded_while_it_is_unknown_where_the_joints_are(quantity):
    made = actions(ARM, quantity=quantity)
    [action] = made.chunk({'action': [[0.1, 0.1]]})
    assert made.command(action, seen()) is None
    assert made.command(action, seen(joint_states=states(0.0))) is None
    assert made.command(action, seen(joint_states=states(0.0, 0.0))) is not None


def test_speeds_of_joints_are_commanded_as_they_are():
    made = actions(ARM, unit='deg/s')
    [action] = made.chunk({'action': [[90.0, 0.0]]})
    assert made.command(action, seen()).velocity == pytest.approx((math.pi / 2, 0.0))


def test_a_state_that_does_not_come_or_has_another_size_is_an_error():
    state = StateInput(output='h_out', shape=(1, 2))
    assert next_state({'h_out': [3.0, 4.0]}, state).tolist() == [[3.0, 4.0]]
    for given, why in (
            ({}, "did not give the state 'h_out'"),
            ({'h_out': [1.0]}, r"state 'h_out' of shape \[1\], expected \[1, 2\]"),
            ({'h_out': 'text'}, "as the state 'h_out', expected an array of numbers"),
            ({'h_out': [None, None]}, 'expected an array of numbers'),
            ({'h_out': ['a', 'b']}, 'expected an array of numbers'),
            ({'h_out': [NAN, 0.0]}, "not finite in the state 'h_out'")):
        with pytest.raises(ControllerError, match=why):
            next_state(given, state)


def test_of_zeros_a_good_model_may_make_what_is_not_finite():
    made = actions()
    given = {'action': [[NAN, 0.0]]}
    assert numpy.isnan(made.chunk(given, is_rehearsal=True)).any()
    with pytest.raises(ControllerError, match='not finite'):
        made.chunk(given)
    with pytest.raises(ControllerError, match='of shape'):
        made.chunk({'action': [[NAN] * 3]}, is_rehearsal=True)


def test_a_key_that_a_model_gives_as_its_action_is_kept_nowhere(monkeypatch):
    monkeypatch.setenv('OPENPI_API_KEY', 'opk-0123456789')
    with pytest.raises(ControllerError, match='expected an array of numbers') as caught:
        actions().chunk({'action': 'wrong key: opk-0123456789'})
    assert 'opk-' not in str(caught.value)
