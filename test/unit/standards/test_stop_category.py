# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A stop category is claimed only when command stream and state show it."""

import math
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.standards.stop_category import (
    Classification,
    classify_stop,
    Motion,
    Power,
    StopCategory,
)

MS = 10**6
MOVING = [(-100, 0.5)]
RAMP = [(100, 0.3), (200, 0.0)]
STREAM = [*MOVING, *RAMP, *((at, 0.0) for at in range(300, 2100, 100))]
ON = Power(off_ns=None)


def off(at_ms: float) -> Power:
    return Power(off_ns=round(at_ms * MS))


def motion(*samples: tuple[int, float]) -> Motion:
    return Motion([at * MS for at, _ in samples], [speed for _, speed in samples])


STOPPING = motion((-100, 0.5), (100, 0.5), (250, 0.2), (300, 0.0), (800, 0.0), (1400, 0.0))


def classified(samples: list[tuple[int, float]] = STREAM, *, end_ms: float = 2000,
               **more: Any) -> Classification:
    return classify_stop([at * MS for at, _ in samples], [speed for _, speed in samples],
                         start_ns=0, end_ns=round(end_ms * MS), **more)


@for_each(('power', 'moved', 'category'), [
    (None, None, '1_or_2'), (None, STOPPING, '1_or_2'), (ON, None, '2_assumed'),
    (ON, STOPPING, '2'), (off(400), STOPPING, '1'), (off(400), None, '0_or_1'),
    (off(200), STOPPING, '0'), (off(50), STOPPING, '0'), (off(0), STOPPING, '0'),
    (off(2001), STOPPING, '2'),
    (off(-1), STOPPING, 'unknown')])
def test_the_category_is_what_power_and_motion_show(power, moved, category):
    found = classified(power=power, motion=moved)
    assert found.category is StopCategory(category)
    assert found.reason


def test_the_demand_for_standstill_is_dated():
    assert classified().zero_ns == 200 * MS
    assert classified(power=off(400), motion=STOPPING).zero_ns == 200 * MS
    assert classified(power=off(50), motion=STOPPING).zero_ns is None


def test_power_that_goes_off_as_the_demand_comes_is_category_1_for_who_stands():
    stands = motion((-100, 0.5), (150, 0.0), (250, 0.0))
    assert classified(power=off(200), motion=stands).category is StopCategory.CATEGORY_1
    assert classified(power=off(199), motion=stands).category is StopCategory.UNKNOWN


@for_each(('speed', 'category'), [(0.01, '1'), (-0.01, '1'), (0.0101, '0'),
                                  (-0.0101, '0'), (-0.5, '0')])
def test_a_robot_stands_up_to_eps_when_its_power_goes_off(speed, category):
    around = motion((-100, 0.5), (300, speed), (500, speed))
    assert classified(power=off(400), motion=around).category is StopCategory(category)
    at_once = motion((-100, 0.5), (400, speed), (500, 0.25))
    assert classified(power=off(400), motion=at_once).category is StopCategory(category)


@pytest.mark.parametrize(('at_ms', 'category'), [(2000, '1'), (2000.000001, '2')])
def test_power_that_goes_off_after_the_end_was_on(at_ms, category):
    stands = motion((-100, 0.5), (300, 0.0), (2000, 0.0))
    assert classified(power=off(at_ms), motion=stands).category is StopCategory(category)


def test_a_demand_of_up_to_eps_is_one_for_standstill():
    assert classified([*MOVING, (100, -0.01)]).category is StopCategory.ONE_OR_TWO
    assert classified([(-100, -0.5), (100, -0.0101), (400, -0.0101)], end_ms=500).category is \
        StopCategory.NO_STOP
    assert classified([(-100, -0.5), (100, 0.0)]).category is StopCategory.ONE_OR_TWO


def test_commands_after_the_power_went_off_do_not_matter():
    later = [*MOVING, *RAMP, (500, 0.5), (1000, 0.5)]
    assert classified(later, power=off(400), motion=STOPPING).category is StopCategory.CATEGORY_1


@for_each('moved', [
    motion((-100, 0.5)), motion((100, 0.5), (350, 0.5)), motion((450, 0.0)),
    motion((100, 0.5), (500, 0.0)), motion((100, 0.01), (500, 0.5))])
def test_without_a_speed_on_both_sides_that_agrees_0_and_1_are_one(moved):
    assert classified(power=off(400), motion=moved).category is StopCategory.ZERO_OR_ONE


@for_each(('stood', 'category'), [
    (((1900, 0.2),), 'no_stop'), (((900, 0.2), (1000, 0.0), (2000, 0.0)), '2'),
    (((900, 0.2), (1001, 0.0), (2000, 0.0)), 'unknown'), (((-50, 0.5),), 'unknown'),
    (((200, 0.0), (1199, 0.0)), 'unknown'), (((200, 0.0), (1200, 0.0)), '2'),
    (((200, 0.01), (1200, -0.01)), '2'), (((200, 0.0), (1200, 0.0), (1300, 0.02)), 'no_stop')])
def test_a_robot_that_was_not_seen_to_stand_was_not_stopped(stood, category):
    assert classified(power=ON, motion=motion(*stood)).category is StopCategory(category)


def test_a_robot_that_moves_on_is_not_stopped_whatever_is_known_of_its_power():
    moves_on = motion((200, 0.5), (1900, 0.5))
    assert classified(motion=moves_on).category is StopCategory.NO_STOP


@pytest.mark.parametrize(('end_ms', 'category'), [(1200, '1_or_2'), (1199.999999, 'unknown')])
def test_a_stop_must_last(end_ms, category):
    assert classified(end_ms=end_ms).category is StopCategory(category)


def test_motion_before_the_hold_is_over_starts_it_anew():
    samples = [*MOVING, *RAMP, (900, 0.3), (1000, 0.0)]
    assert classified(samples).zero_ns == 1000 * MS
    assert classified(samples, end_ms=1900).category is StopCategory.UNKNOWN


@for_each(('end_ms', 'category'), [
    (600, 'no_stop'), (600.000001, 'implicit_stop'), (9000, 'implicit_stop')])
def test_a_stream_that_ceases_is_no_category(end_ms, category):
    assert classified([*MOVING, (100, 0.3)], end_ms=end_ms).category is StopCategory(category)


def test_the_timeout_of_an_implicit_stop_is_told():
    found = classified([*MOVING, (100, 0.3)], consumer_timeout=0.25)
    assert found.category is StopCategory.IMPLICIT_STOP
    assert found.reason.endswith('timed out after 0.25 s')


def test_a_stop_that_is_demanded_after_a_gap_counts_from_the_demand():
    found = classified([*MOVING, (100, 0.3), (800, 0.0)])
    assert (found.category, found.zero_ns) == (StopCategory.ONE_OR_TWO, 800 * MS)


def test_who_drives_on_has_not_stopped():
    samples = [(at, 0.5) for at in range(-100, 2000, 100)]
    assert classified(samples).category is StopCategory.NO_STOP


@pytest.mark.parametrize('samples', [[], [(1, 0.5), (100, 0.0)]])
def test_without_a_command_at_the_start_nothing_is_known(samples):
    assert classified(samples).category is StopCategory.UNKNOWN


def test_a_stop_at_the_very_start_is_one():
    assert classified([(0, 0.5), *RAMP]).category is StopCategory.ONE_OR_TWO
    assert classified([*MOVING, (0, 0.0)]).category is StopCategory.ONE_OR_TWO


def test_who_stands_has_nothing_to_stop():
    standing = [(-100, -0.01), (100, 0.01)]
    assert classified(standing).category is StopCategory.NOT_MOVING
    assert classified(standing, power=off(100)).category is StopCategory.NOT_MOVING
    assert classified(standing, motion=motion((-10, 0.01), (0, 0.01), (2000, 0.01))).category is \
        StopCategory.NOT_MOVING


def test_who_stood_and_moves_later_did_not_stop():
    later = [(-100, 0.0), (1500, 0.5)]
    assert classified(later).category is StopCategory.UNKNOWN
    assert classified([(-100, 0.0)], motion=motion((-10, 0.0), (100, 0.0), (900, 0.5))).category \
        is StopCategory.UNKNOWN


def test_motion_outside_the_observation_is_none_of_it():
    before_and_after = motion((-10, 0.5), (0, 0.0), (2000, 0.0), (2001, 0.5))
    assert classified([(-100, 0.0)], motion=before_and_after).category is StopCategory.NOT_MOVING
    at_the_end = motion((-10, 0.0), (0, 0.0), (2000, 0.5))
    assert classified([(-100, 0.0)], motion=at_the_end).category is StopCategory.UNKNOWN


def test_motion_backwards_is_motion():
    backwards = motion((-10, 0.0), (10, 0.0), (900, -0.5), (950, 0.0))
    assert classified([(-100, 0.0)], motion=backwards).category is StopCategory.UNKNOWN
    assert classified(motion=motion((200, 0.0), (1900, -0.5))).category is StopCategory.NO_STOP


def test_motion_on_one_side_of_the_start_is_motion():
    halting = motion((-10, 0.4), (10, 0.0), (1400, 0.0))
    assert classified([(-100, 0.0)], motion=halting).category is StopCategory.ONE_OR_TWO


def test_who_still_rolls_at_the_start_has_something_to_stop():
    rolls = motion((-10, -0.4), (100, -0.2), (300, 0.0), (1400, 0.0))
    assert classified([(-100, 0.0)], motion=rolls, power=ON).category is StopCategory.CATEGORY_2


@for_each('call', [
    lambda: classified([(0, math.nan)]), lambda: classified([(0, 1.0), (0, 1.0)]),
    lambda: classified(end_ms=-1), lambda: classified(motion=motion((0, math.inf))),
    lambda: classified(motion=motion((1, 0.0), (0, 0.0))), lambda: classified(eps=-1.0),
    lambda: classified(hold=math.nan), lambda: classified(consumer_timeout=0.0)])
def test_what_is_no_quantity_is_refused(call):
    with pytest.raises(InputError, match=r'got .*, expected'):
        call()
