# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A stop in numbers, and every way in which there is no number."""

from dataclasses import fields, replace
import math
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.standards.stop_metrics import (
    Measure,
    Status,
    stop_metrics,
    StopMetrics,
    StopRules,
)

MS = 10**6
STEADY = [(-200, 1.0), (-100, 1.0)]
BRAKING = [(100, 0.5), (200, 0.0)]
HELD = [(at, 0.0) for at in range(300, 1300, 100)]


def stop(samples: list[tuple[int, float]], *, end_ms: float = 1200, grid: float = 0.1,
         **rules: Any) -> StopMetrics:
    """Measure (ms after onset, m/s) samples."""
    return stop_metrics([at * MS for at, _ in samples], [speed for _, speed in samples],
                        onset_ns=0, end_ns=round(end_ms * MS), grid=grid, rules=StopRules(**rules))


def measured(value: float) -> Any:
    return Measure(Status.MEASURED, pytest.approx(value))


def test_a_plain_stop_in_numbers():
    found = stop([*STEADY, *BRAKING, *HELD])
    assert found.reaction_time == found.stop_onset == measured(0.1)
    assert found.first_zero == found.settling_time == measured(0.2)
    assert found.distance == found.signed_distance == measured(0.1 + 0.05)
    assert (found.overshoot, found.reversals, found.rise) == (measured(0), measured(0),
                                                              measured(0))
    assert found.monotone is True
    assert found.peak_deceleration == measured(5.0)
    assert found.peak_jerk == measured(50.0)
    assert found.command_gap == measured(0.2)
    assert found.grid == 0.1


def test_a_motion_backwards_stops_just_the_same():
    forwards = stop([*STEADY, *BRAKING, (250, -0.2), *HELD])
    back = stop([(at, -speed) for at, speed in [*STEADY, *BRAKING, (250, -0.2), *HELD]])
    assert back == forwards
    assert forwards.reversals == measured(1.0)


def test_without_any_command_nothing_is_known_but_the_silence():
    found = stop([])
    assert found.command_gap == measured(1.2)
    assert found.monotone is None
    assert {getattr(found, field.name).status for field in fields(found)
            if field.name not in ('command_gap', 'monotone', 'grid')} == {Status.UNKNOWN}


def test_commands_that_begin_after_onset_say_nothing_of_the_reaction():
    found = stop([(1, 1.0), *BRAKING, *HELD])
    assert found.reaction_time.status is Status.UNKNOWN
    assert found.settling_time.status is Status.UNKNOWN


def test_a_command_at_onset_is_an_answer_when_there_is_one_before():
    assert stop([*STEADY, (0, 0.0), *HELD]).reaction_time == measured(0.0)
    assert stop([(0, 1.0), *BRAKING, *HELD]).reaction_time == measured(0.1)


@for_each(('speed', 'reacts'), [(0.95, False), (0.949, True), (1.05, False),
                                (-1.0, True)])
def test_a_reaction_is_slower_by_more_than_the_share(speed, reacts):
    status = stop([*STEADY, (100, speed), (200, speed)], end_ms=300).reaction_time.status
    assert status is (Status.MEASURED if reacts else Status.NO_RESPONSE)


@pytest.mark.parametrize(('speed', 'reacts'), [(0.09, False), (0.0899, True)])
def test_at_low_speed_a_reaction_is_slower_by_more_than_eps(speed, reacts):
    found = stop([(-100, 0.1), (100, speed)], end_ms=300)
    assert (found.reaction_time.status is Status.MEASURED) == reacts


@for_each(('speed', 'status'), [
    (0.01, Status.PRE_SATISFIED), (-0.01, Status.PRE_SATISFIED), (0.011, Status.NO_RESPONSE)])
def test_who_stands_already_has_no_reaction_time(speed, status):
    found = stop([(-600, speed), (-200, speed), (400, speed), (800, speed)])
    assert found.reaction_time.status is status
    if status is Status.PRE_SATISFIED:
        assert found.first_zero.status is found.settling_time.status is status
        for measure in (found.stop_onset, found.distance, found.signed_distance, found.overshoot,
                        found.reversals, found.peak_deceleration, found.peak_jerk, found.rise):
            assert measure.status is Status.NOT_MOVING


def test_who_stood_at_onset_and_drives_off_is_not_settled():
    found = stop([(-600, 0.0), (-100, 0.0), (300, 0.5), (700, 0.5), (1100, 0.5)])
    assert found.settling_time.status is Status.UNSETTLED
    assert found.distance.status is Status.UNSETTLED
    assert found.reaction_time.status is Status.PRE_SATISFIED


@for_each('before', [
    [(-300, 1.0), (-200, 0.0)], [(-300, 1.0), (-200, 0.9)], [(-400, -1.0), (-100, 0.0)]])
def test_who_slowed_down_before_onset_did_not_react_to_it(before):
    assert stop([*before, *BRAKING, *HELD]).reaction_time.status is Status.ANTICIPATORY


@for_each(('at_ms', 'status'), [
    (-501, Status.PRE_SATISFIED), (-500, Status.PRE_SATISFIED), (-499, Status.ANTICIPATORY)])
def test_what_was_long_before_onset_was_another_matter(at_ms, status):
    """The motion ended ``at_ms``."""
    samples = [(at_ms - 100, 1.0), (at_ms, 0.0), (0, 0.0)]
    assert stop(samples).reaction_time.status is status


def test_a_speed_up_before_onset_is_no_anticipation():
    assert stop([(-300, 0.5), (-100, 1.0), *BRAKING, *HELD]).reaction_time == measured(0.1)


def test_the_onset_of_a_stop_is_never_exceeded_again():
    found = stop([*STEADY, (100, 0.5), (200, 1.01), (300, 0.5), (400, 0.0)], end_ms=1400)
    assert (found.reaction_time, found.stop_onset) == (measured(0.1), measured(0.3))
    back_to_it = stop([*STEADY, (100, 0.5), (200, 1.0), (300, 0.0)], end_ms=1300)
    assert back_to_it.stop_onset == measured(0.1)


@pytest.mark.parametrize(('speed', 'at_s'), [(0.95, 0.1), (0.951, None)])
def test_a_stop_begins_at_the_share(speed, at_s):
    found = stop([*STEADY, (100, speed), (200, speed)], end_ms=300)
    assert found.stop_onset == (measured(at_s) if at_s else Measure(Status.NO_RESPONSE))


@for_each(('speed', 'stands'), [(0.01, True), (-0.01, True), (0.0101, False)])
def test_standstill_is_up_to_eps(speed, stands):
    found = stop([*STEADY, (100, speed), (600, speed), (1100, speed)])
    assert found.first_zero == (measured(0.1) if stands else Measure(Status.NOT_STOPPED))
    assert found.settling_time == (measured(0.1) if stands else Measure(Status.UNSETTLED))


@pytest.mark.parametrize(('end_ms', 'settled'), [(1200, True), (1199.999999, False)])
def test_a_hold_that_the_end_cuts_short_does_not_count(end_ms, settled):
    found = stop([*STEADY, *BRAKING, *HELD], end_ms=end_ms)
    assert (found.settling_time.status is Status.MEASURED) == settled
    assert (found.distance.status is Status.MEASURED) == settled
    assert settled or found.settling_time.status is Status.UNSETTLED


def test_who_moves_again_has_not_settled_before():
    found = stop([*STEADY, *BRAKING, (300, 0.0), (400, 0.3), (500, 0.0)], end_ms=1500)
    assert found.first_zero == measured(0.2)
    assert found.settling_time == measured(0.5)
    assert found.distance == measured(0.15 + 0.03)
    at_the_end = stop([*STEADY, *BRAKING, *HELD[:-1], (1200, 0.3)])
    assert at_the_end.settling_time.status is Status.UNSETTLED


def test_the_way_back_adds_to_the_path_and_not_to_the_displacement():
    found = stop([*STEADY, *BRAKING, (300, -0.3), (400, 0.0)], end_ms=1400)
    assert found.distance == measured(0.15 + 0.03)
    assert found.signed_distance == measured(0.15 - 0.03)
    assert found.overshoot == measured(0.3)


def test_reversals_are_counted_beyond_eps_only():
    wobble = [(100, -0.5), (150, 0.005), (200, 0.4), (250, -0.01), (300, 0.4), (350, -0.4)]
    assert stop([*STEADY, *wobble, (400, 0.0)], end_ms=1400).reversals == measured(3.0)


def test_who_never_stops_has_no_overshoot_and_no_rise():
    found = stop([*STEADY, *((at, 0.5) for at in range(100, 1200, 100))])
    for measure in (found.first_zero, found.overshoot, found.rise):
        assert measure.status is Status.NOT_STOPPED
    assert found.monotone is None
    assert found.settling_time.status is Status.UNSETTLED


def test_silence_is_never_a_stop_of_the_controller():
    found = stop([*STEADY, (100, 0.5)], end_ms=3000)
    assert found.reaction_time == measured(0.1)
    for measure in (found.first_zero, found.settling_time, found.distance, found.overshoot):
        assert measure.status is Status.IMPLICIT_STOP
    assert found.stop_onset == measured(0.1)
    assert found.monotone is None
    assert found.command_gap == measured(2.9)
    assert stop([(-100, -1.0), (100, -0.5)], end_ms=3000) == stop(
        [(-100, 1.0), (100, 0.5)], end_ms=3000)


@pytest.mark.parametrize(('at_ms', 'status'), [
    (600, Status.MEASURED), (600.000001, Status.IMPLICIT_STOP)])
def test_a_consumer_waits_for_its_timeout(at_ms, status):
    times = [-100 * MS, 100 * MS, round(at_ms * MS)]
    found = stop_metrics(times, [1.0, 0.5, 0.0], onset_ns=0, end_ns=2000 * MS, grid=0.1)
    assert found.first_zero.status is found.settling_time.status is status
    assert found.distance.status is status


def test_a_gap_on_the_way_leaves_no_path_even_when_the_stop_is_told_later():
    found = stop([*STEADY, (100, 0.5), (700, 0.4), (800, 0.0)], end_ms=2000)
    assert found.settling_time == measured(0.8)
    assert found.distance.status is found.first_zero.status is Status.IMPLICIT_STOP


def test_without_a_timeout_the_last_command_holds_for_ever():
    found = stop([*STEADY, (100, 0.5)], end_ms=3000, consumer_timeout=None)
    assert found.settling_time.status is Status.UNSETTLED
    assert found.first_zero.status is Status.NOT_STOPPED
    assert found.command_gap == measured(2.9)


def test_silence_after_a_demanded_standstill_is_standstill():
    assert stop([*STEADY, (100, 0.0)], end_ms=3000).settling_time == measured(0.1)


@for_each(('speeds', 'rise', 'monotone'), [
    ((0.5, 0.55), 0.05, True), ((0.5, 0.5501), 0.0501, False), ((1.05, 1.0), 0.05, True),
    ((1.06, 1.0), 0.06, False), ((0.5, -0.6), 0.1, False)])
def test_a_stop_is_monotone_up_to_the_share(speeds, rise, monotone):
    samples = [*STEADY, *zip(range(100, 100 + 100 * len(speeds), 100), speeds), (500, 0.0)]
    found = stop(samples, end_ms=1500)
    assert (found.rise, found.monotone) == (measured(rise), monotone)


def test_many_small_rises_are_a_large_one():
    creeping = [(100 + 10 * place, 0.5 + 0.04 * place) for place in range(10)]
    found = stop([*STEADY, *creeping, (300, 0.0)], end_ms=1300)
    assert (found.rise, found.monotone) == (measured(0.36), False)


def test_the_loss_of_speed_between_two_grid_points_is_not_overlooked():
    spike = [(110, 0.2), (120, 1.0), (300, 0.0)]
    found = stop([*STEADY, (50, 1.0), *spike], end_ms=1300)
    assert found.peak_deceleration == measured(10.0)
    assert stop([*STEADY, (50, 1.0), (110, 0.2), (120, 1.0), (300, 0.9), (400, 0.0)],
                end_ms=1400).peak_deceleration == measured(9.0)


@pytest.mark.parametrize(('second_ms', 'deceleration'), [(199, 5.0), (200, 2.5)])
def test_two_steps_within_one_window_add_up(second_ms, deceleration):
    samples = [*STEADY, (100, 0.75), (second_ms, 0.5), (400, 0.4), (600, 0.3), (800, 0.2),
               (1000, 0.1)]
    assert stop(samples, grid=0.1).peak_deceleration == measured(deceleration)


def test_slowing_down_the_other_way_is_a_deceleration_too():
    samples = [*STEADY, (100, 0.9), (200, 0.5), (300, 0.1), (400, -0.3), (500, -0.7), (600, 0.0)]
    assert stop(samples, end_ms=1600).peak_deceleration == measured(7.0)


def test_what_was_lost_before_onset_is_no_deceleration_of_the_stop():
    found = stop([(-900, 2.0), (-800, 1.0), *((at, 1.0) for at in range(-700, 1200, 100))])
    assert found.peak_deceleration == measured(0.0)
    assert found.peak_jerk == measured(0.0)


def test_a_command_at_onset_belongs_to_the_stop():
    found = stop([(-100, 1.0), (0, 0.0), *HELD])
    assert found.peak_deceleration == measured(10.0)
    assert found.peak_jerk == measured(100.0)
    assert stop([(-900, 1.0), (0, 1.0), *BRAKING, *HELD]).command_gap == measured(0.1)


def test_jerk_is_that_of_the_end_of_braking_too():
    gently = [(100, 0.9), (200, 0.7), (300, 0.4), (400, 0.0)]
    assert stop([*STEADY, *gently], end_ms=1400).peak_jerk == measured(40.0)
    assert stop([*STEADY, *gently], end_ms=500).peak_jerk == measured(40.0)
    assert stop([*STEADY, *gently], end_ms=499).peak_jerk == measured(10.0)
    harshly = [(100, 0.4), (200, 0.3), (300, 0.2), (400, 0.1), (500, 0.0)]
    assert stop([*STEADY, *harshly], end_ms=1500).peak_jerk == measured(60.0)


def test_what_came_long_before_onset_is_no_jerk_of_the_stop():
    found = stop([(-400, 0.0), (-300, 1.0), (-200, 1.0), (-100, 1.0), (400, 0.9)])
    assert found.peak_jerk == measured(10.0)


def test_creeping_within_eps_is_no_part_of_the_path():
    assert stop([*STEADY, (100, 0.01)], end_ms=1200).distance == measured(0.1)


def test_too_few_grid_points_have_no_jerk():
    assert stop([*STEADY, *BRAKING], grid=1.0, end_ms=300).peak_jerk.status is Status.UNKNOWN


def test_the_longest_silence_reaches_beyond_onset():
    assert stop([(-900, 1.0), (-100, 1.0), *BRAKING, *HELD]).command_gap == measured(0.2)
    assert stop([(-900, 1.0), *BRAKING, *HELD]).command_gap == measured(1.0)


def test_an_observation_that_ends_at_onset_tells_that_nothing_happened_yet():
    found = stop([*STEADY, (0, 0.5)], end_ms=0)
    assert found.reaction_time == measured(0.0)
    assert found.settling_time.status is found.distance.status is Status.UNSETTLED
    assert stop([*STEADY], end_ms=0).reaction_time.status is Status.NO_RESPONSE


def test_what_comes_after_the_end_was_not_observed():
    found = stop([*STEADY, *BRAKING, *HELD, (1300, 1.0)])
    assert found == stop([*STEADY, *BRAKING, *HELD])


def test_a_number_stands_beside_measured_and_nowhere_else():
    for status in Status:
        if status is Status.MEASURED:
            with pytest.raises(InputError, match='if and only if'):
                Measure(status)
        else:
            assert Measure(status).value is None
            with pytest.raises(InputError, match='if and only if'):
                Measure(status, 0.0)


@for_each('call', [
    lambda: stop([(0, math.nan)]), lambda: stop([(0, math.inf)]), lambda: stop([(0, 1.0)] * 2),
    lambda: stop([(100, 1.0), (0, 1.0)]), lambda: stop([], end_ms=-1),
    lambda: stop([], grid=0.0), lambda: stop([], grid=math.nan),
    lambda: stop_metrics([0], [], onset_ns=0, end_ns=1, grid=0.1),
    lambda: StopRules(eps=-0.1), lambda: StopRules(eps=math.nan), lambda: StopRules(hold=-1.0),
    lambda: StopRules(share=1.1), lambda: StopRules(baseline=math.inf),
    lambda: StopRules(consumer_timeout=0.0), lambda: replace(StopRules(), share=math.nan)])
def test_what_is_no_quantity_is_refused(call):
    with pytest.raises(InputError, match=r'got .*, expected'):
        call()
