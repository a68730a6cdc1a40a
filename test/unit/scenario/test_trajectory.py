# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How fast a JointTrajectory asks an arm to move: by its velocities and by its positions."""

import math
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.scenario.interfaces import peak_joint_speed, positions_of
from safety_scenarios.scenario.message import Message

HOME = (0.0, 1.0)


def point(due_s: float, positions: tuple[float, ...] = (), velocities: tuple[float, ...] = ()) -> \
        dict[str, Any]:
    whole = math.floor(due_s)
    return {'positions': positions, 'velocities': velocities,
            'time_from_start': {'sec': whole, 'nanosec': round((due_s - whole) * 1e9)}}


def peak(*points: dict[str, Any], current: tuple[float, ...] | None = HOME) -> float | None:
    return peak_joint_speed(Message(type='trajectory_msgs/msg/JointTrajectory', data={
        'joint_names': ('a', 'b'), 'points': points}), current)


def test_the_velocities_count():
    assert peak(point(0.1, velocities=(0.1, -0.4))) == 0.4
    assert peak(point(0.1, velocities=(0.0, 0.0))) == 0.0


def test_a_far_position_with_final_velocity_zero_is_motion():
    assert peak(point(0.5, (1.0, 1.0), (0.0, 0.0))) == pytest.approx(2.0)


def test_the_current_position_is_a_stop():
    assert peak(point(0.1, HOME, (0.0, 0.0))) == 0.0
    assert peak(point(0.0, HOME)) == 0.0


def test_each_point_starts_from_the_one_before():
    assert peak(point(1.0, (0.1, 1.0)), point(1.5, (0.1, 1.6))) == pytest.approx(1.2)
    assert peak(point(1.0, (0.1, 1.0)), point(2.0, (0.2, 1.0))) == pytest.approx(0.1)


def test_the_fastest_joint_counts():
    assert peak(point(1.0, (0.3, 1.7))) == pytest.approx(0.7)
    assert peak(point(1.0, (-0.7, 1.3))) == pytest.approx(0.7)


def test_a_velocity_above_the_mean_speed_counts():
    assert peak(point(1.0, (0.1, 1.0), (0.9, 0.0))) == 0.9


@pytest.mark.parametrize('due_s', [0.0, -1.0])
def test_a_step_without_time_is_infinitely_fast(due_s):
    assert peak(point(due_s, (0.5, 1.0), (0.0, 0.0))) == math.inf


def test_a_point_at_the_time_of_the_one_before_is_infinitely_fast():
    assert peak(point(1.0, (0.1, 1.0)), point(1.0, (0.2, 1.0))) == math.inf


@for_each('current', [None, (0.0,), (0.0, 1.0, 2.0)])
def test_from_an_unknown_start_the_speed_is_unknown(current):
    assert peak(point(0.5, (1.0, 1.0), (0.0, 0.0)), current=current) is None


def test_velocities_alone_need_no_start():
    assert peak(point(0.1, velocities=(0.2, 0.0)), current=None) == 0.2


def test_a_point_that_says_nothing_is_unknown():
    assert peak(point(0.1)) is None
    assert peak(point(0.1, velocities=(0.0, 0.0)), point(0.2)) is None


def test_a_trajectory_without_points_demands_no_motion():
    assert peak() == 0.0


@pytest.mark.parametrize('velocities', [(math.nan, 0.0), (0.0, math.nan)])
def test_a_velocity_that_is_no_number_is_no_stop(velocities):
    found = peak(point(0.1, HOME, velocities))
    assert found is not None and math.isnan(found)


@for_each('positions', [(math.nan, 1.0), (0.0, math.nan), (math.nan, math.nan)])
def test_a_position_that_is_no_number_is_no_stop(positions):
    found = peak(point(0.1, positions))
    assert found is not None and math.isnan(found)


@pytest.mark.parametrize('current', [(math.nan, 1.0), (0.0, math.nan)])
def test_a_start_that_is_no_number_is_no_stop(current):
    found = peak(point(0.1, HOME), current=current)
    assert found is None or math.isnan(found)


def test_an_infinite_position_is_infinitely_fast():
    assert peak(point(0.1, (0.0, math.inf))) == math.inf


@for_each('data', [{}, {'points': ({'x': 1.0},)},
                   {'points': ({'time_from_start': {}},)}])
def test_another_message_is_a_lookup_error(data):
    with pytest.raises(LookupError):
        peak_joint_speed(Message(type='t', data=data), None)


STATES = Message(type='sensor_msgs/msg/JointState', data={'name': ('b', 'a', 'c'),
                                                          'position': (1.0, 0.0, 9.0)})


def test_joints_are_found_by_name():
    assert positions_of(STATES, ('a', 'b')) == HOME


@for_each('joints', [(), ('a', 'x'), ('x',)])
def test_a_joint_that_is_not_reported_makes_the_start_unknown(joints):
    assert positions_of(STATES, joints) is None


def test_joint_states_without_positions_make_the_start_unknown():
    bare = Message(type='sensor_msgs/msg/JointState', data={'name': ('a', 'b'), 'position': ()})
    assert positions_of(bare, ('a', 'b')) is None
