# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A signal is a number with a unit, or nothing; of a trajectory too."""

import math
import random
from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.blocks.signal import (
    held_within,
    in_force,
    Limit,
    longest_gap_ns,
    Signal,
)
from safety_scenarios.scenario.interfaces import peak_joint_speed, positions_of
from safety_scenarios.scenario.message import Message
from safety_scenarios.trial.margins import MarginSeries, Sample
from safety_scenarios.trial.run import run_trial
from unit.records import hazard, planned, twist
from unit.scripted import careful, ScriptedLink


def signal(field: str = 'data', **changes: Any) -> Signal:
    return Signal(**{'topic': 't', 'field': field, 'unit': 'm/s', **changes})


def value(data: Any, **changes: Any) -> float | None:
    return signal(**changes).value(Message(type='t', data={'data': data}))


@for_each(('reduce', 'expected'), [
    ('norm', 5.0), ('max_abs', 4.0), ('min', -4.0), ('max', 3.0)])
def test_a_vector_is_reduced_to_a_number(reduce, expected):
    assert value((3.0, -4.0), reduce=reduce) == expected
    assert value({'x': 3.0, 'y': -4.0}, reduce=reduce) == expected


@for_each(('reduce', 'expected'), [
    ('none', -2.0), ('abs', 2.0), ('norm', 2.0), ('max_abs', 2.0), ('min', -2.0), ('max', -2.0)])
def test_a_number_needs_no_vector(reduce, expected):
    assert value(-2, reduce=reduce) == expected
    assert value((-2,), reduce=reduce) == (expected if reduce != 'abs' else 2.0)


def test_a_truth_value_is_one_or_zero():
    assert (value(True), value(False)) == (1.0, 0.0)


@for_each('data', ['text', None, ('a', 'b'), ({'x': 1.0},), (1.0, None)])
def test_what_is_no_number_is_a_lookup_error(data):
    with pytest.raises(LookupError):
        value(data, reduce='norm')


@pytest.mark.parametrize('reduce', ['none', 'abs'])
def test_a_vector_without_a_reduction_is_a_lookup_error(reduce):
    with pytest.raises(LookupError, match='add reduce'):
        value((1.0, 2.0), reduce=reduce)


@for_each('reduce', ['norm', 'max_abs', 'min', 'max'])
@for_each('data', [(math.nan, 1.0), (1.0, math.nan), (math.inf, math.nan)])
def test_one_nan_makes_the_whole_vector_nan(reduce, data):
    found = value(data, reduce=reduce)
    assert found is not None and math.isnan(found)


@pytest.mark.parametrize(('empty', 'expected'), [(None, None), (0.0, 0.0)])
def test_an_empty_sequence_is_unknown_unless_the_file_says_what_it_means(empty, expected):
    assert value((), reduce='max_abs', empty=empty) == expected


def test_points_that_leave_the_field_out_are_not_an_empty_trajectory():
    speed = signal('points[*].velocities', reduce='max_abs', empty=0.0)
    for points, expected in (((), 0.0), (({'velocities': ()},), None)):
        assert speed.value(Message(type='t', data={'points': points})) == expected


def test_an_index_past_the_end_is_unknown():
    assert signal('data[3]', empty=0.0).value(Message(type='t', data={'data': (1.0,)})) is None


@for_each('unit', ['km/h', 'deg', 'm/s^2', '', 'knots', None])
def test_a_unit_outside_si_is_refused(unit):
    with pytest.raises(ValidationError):
        signal(unit=unit)


def test_joint_speed_is_read_from_points_only():
    with pytest.raises(ValidationError, match='expected field points'):
        signal('points[0].velocities', reduce='joint_speed')


def test_a_signal_reads_twist_and_twist_stamped_alike():
    plain, speed = twist(0.5), signal('linear', reduce='norm')
    stamped = Message(type='s', data={'header': {}, 'twist': plain.data})
    assert speed.value(plain) == speed.value(stamped) == 0.5


@for_each(('limits', 'number', 'margin'), [
    ({'at_most': 1.0}, 1.0, 0.0), ({'at_most': 1.0}, 0.25, 0.75), ({'at_most': 1.0}, 1.5, -0.5),
    ({'at_least': 1.0}, 1.0, 0.0), ({'at_least': 1.0}, 0.75, -0.25),
    ({'at_least': 0.0, 'at_most': 1.0}, 0.25, 0.25),
    ({'at_least': 0.0, 'at_most': 1.0}, 2.0, -1.0)])
def test_a_margin_is_the_distance_to_the_nearer_limit(limits, number, margin):
    assert Limit(signal='s', **limits).margin(number) == margin


@for_each('limits', [{'at_most': 1.0}, {'at_least': 1.0},
                     {'at_least': -1.0, 'at_most': 1.0}])
@for_each('number', [math.nan, None])
def test_nothing_and_nan_have_no_margin(limits, number):
    assert Limit(signal='s', **limits).margin(number) is None


@for_each('limits', [{'at_most': 1.0}, {'at_least': 1.0},
                     {'at_least': -1.0, 'at_most': 1.0}])
@for_each('number', [math.inf, -math.inf])
def test_an_infinite_number_never_holds(limits, number):
    assert not Sample(0, Limit(signal='s', **limits).margin(number)).holds


@for_each('limits', [{}, {'at_least': 1.0, 'at_most': 0.5}, {'at_most': math.nan},
                     {'at_most': math.inf}, {'at_most': '1'}, {'at_most': True}])
def test_a_limit_that_is_none_is_refused(limits):
    with pytest.raises(ValidationError):
        Limit(signal='s', **limits)


def series(*samples: tuple[int, float | None]) -> MarginSeries:
    return MarginSeries([Sample(t_ns, margin) for t_ns, margin in samples])


def test_the_sample_in_force_is_the_last_one_before():
    steps = series((10, 1.0), (20, -1.0))
    assert steps.before(10) is None
    assert steps.before(11) == steps.before(20) == Sample(10, 1.0)
    assert steps.before(99) == Sample(20, -1.0)


def test_a_window_includes_both_ends():
    steps = series((10, 1.0), (20, 1.0), (30, 1.0))
    assert [sample.t_ns for sample in steps.within(10, 30)] == [10, 20, 30]
    assert [sample.t_ns for sample in steps.within(11, 29)] == [20]


@for_each(('samples', 'until', 'first'), [
    ([], 100, None), ([(10, -1.0)], 100, None), ([(10, None)], 100, None),
    ([(10, 0.0)], 60, 10), ([(10, 0.0)], 59, None),
    ([(10, 1.0), (60, -1.0)], 200, None), ([(10, 1.0), (61, -1.0)], 200, 10),
    ([(10, 1.0), (40, None), (50, 1.0)], 200, 50), ([(10, 1.0), (40, 1.0), (59, 1.0)], 60, 10),
    ([(10, -1.0), (20, 1.0)], 70, 20), ([(150, 1.0)], 100, None)])
def test_a_hold_runs_without_a_break_and_is_seen_to_its_end(samples, until, first):
    held = series(*samples).first_held(0, 50, until)
    assert (held.t_ns if held else None) == first


STEPS = [(10, 1.0), (20, None), (20, 2.0), (30, 3.0)]


@for_each(('t_ns', 'expected'), [
    (9, None), (10, 1.0), (19, 1.0), (20, 2.0), (29, 2.0), (30, 3.0), (99, 3.0)])
def test_a_value_is_in_force_until_the_next(t_ns, expected):
    assert in_force(STEPS, t_ns) == expected
    assert in_force([], t_ns) is None


@for_each(('since', 'until', 'expected'), [
    (10, 30, STEPS), (11, 29, STEPS[:3]), (20, 20, STEPS[:3]), (21, 25, STEPS[2:3]),
    (0, 9, []), (31, 99, STEPS[3:])])
def test_within_a_time_the_value_in_force_before_it_counts_too(since, until, expected):
    assert list(held_within(STEPS, since, until)) == expected
    assert list(held_within([], since, until)) == []


@for_each(('since', 'until', 'gap'), [
    (10, 30, 10), (10, 50, 20), (0, 30, 10), (0, 12, 10), (31, 99, 68), (21, 22, 1)])
def test_the_longest_gap_runs_from_end_to_end(since, until, gap):
    assert longest_gap_ns(STEPS, since, until) == gap
    assert longest_gap_ns([], since, until) == until - since


RECORD = run_trial(planned(hazard()), ScriptedLink(careful))
LIMITS = (Limit(signal='speed', at_most=0.05),)


def test_messages_out_of_order_give_the_same_series():
    events = list(RECORD.events)
    random.Random(1).shuffle(events)
    shuffled = RECORD.model_copy(update={'events': tuple(events)})
    assert Signals(shuffled).margin_series(LIMITS) == Signals(RECORD).margin_series(LIMITS)


def test_one_message_that_is_too_early_in_the_record_is_put_in_its_place():
    events = list(RECORD.events)
    first, second = [index for index, event in enumerate(events) if event.kind == 'command'][5:7]
    events[first], events[second] = events[second], events[first]
    swapped = RECORD.model_copy(update={'events': tuple(events)})
    assert Signals(swapped).margin_series(LIMITS) == Signals(RECORD).margin_series(LIMITS)


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
