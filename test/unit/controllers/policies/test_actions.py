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
    ([[0.5], [0.4]], {}, [[0.5, 0.0], [0.4, 0.0]]),
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


@for_each(('outputs', 'why'), [
    ({}, "no output 'action'"),
    ({'actions': [[0.1, 0.1]]}, "no output 'action', expected it beside actions"),
    ({'action': 'forward'}, 'expected an array of numbers'),
    ({'action': [[0.1], [0.1, 0.2]]}, 'expected an array of numbers'),
    ({'action': None}, r'of shape \[\], expected horizon x 2'),
    ({'action': numpy.zeros((0, 2))}, 'gave no action'),
    ({'action': numpy.zeros((2, 4, 2))}, r'of shape \[2, 4, 2\], expected horizon x 2'),
    ({'action': numpy.zeros((4, 7))}, r'of shape \[4, 7\], expected horizon x 2'),
    ({'action': 0.5}, r'of shape \[\], expected horizon x 2'),
    ({'action': [[NAN, 0.0]]}, 'not finite'), ({'action': [[0.0, -INF]]}, 'not finite'),
])
def test_what_is_no_action_is_an_error(outputs, why):
    with pytest.raises(ControllerError, match=why):
        actions().chunk(outputs)


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
    for given in ({}, {'h_out': [1.0]}, {'h_out': 'text'}):
        with pytest.raises(ControllerError, match=r"state 'h_out' of shape .*expected \[1, 2\]"):
            next_state(given, state)
