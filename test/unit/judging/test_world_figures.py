# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Every figure of a world against a closed formula."""

import math

from cases import for_each
import numpy
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.surrogate_measures import least_pet
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.trial.trial import Timeline
from safety_scenarios.trial.world_truth import record_world
from unit.records import (
    ALL_CLEAR_MS,
    benign_variant,
    driving,
    END_MS,
    hazard,
    NOMINAL_MS,
    reacting,
    record,
)
from unit.world_scenarios import (
    BASE,
    BODY,
    Brakes,
    EVERY_MS,
    in_world,
    person,
    RADIUS,
    task,
    TERMS,
    told,
)

AT = 3.0
"""A person stands there (m ahead at onset)."""


def figures(found):
    world = evaluate(found).world
    assert world is not None
    return world


def stands(robot, at=AT, **more):
    return {'scan': person(robot, lambda t_s: at, **more)}


def test_without_a_world_there_are_no_figures_and_nothing_is_written_of_them():
    result = evaluate(record(reacting(100.0)))
    assert result.world is None and 'world' not in result.model_dump()
    assert 'world' not in Measuring().model_dump() and 'lockstep' not in Measuring().model_dump()


@for_each(('speed', 'rate'), [(0.8, 1.0), (0.5, 2.0), (1.0, 0.6)])
def test_a_base_that_brakes_evenly_stops_after_v_t_and_v_squared_over_two_a(speed, rate):
    robot = Brakes(speed, brakes_s=0.3, deceleration=rate)
    found = figures(in_world(robot, stands(robot)))
    braking = speed**2 / (2 * rate)
    assert found.stopping_distance_m == pytest.approx(speed * 0.3 + braking, abs=1e-3)
    assert found.stopping_from_reaction_m == pytest.approx(braking, abs=1e-3)
    assert found.time_to_standstill_ms == pytest.approx(
        1e3 * (0.3 + (speed - 0.01) / rate), abs=EVERY_MS / 2), 'told every 20 ms'
    assert found.min_gap_m == pytest.approx(AT - speed * 0.3 - braking - RADIUS - BODY, abs=1e-3)
    assert found.min_gap_to == 'scan' and found.contacts == 0


def test_the_prediction_gap_is_what_the_brakes_do_not_keep():
    robot = Brakes(0.8, deceleration=0.5)  # declared: 1.0
    found = figures(in_world(robot, stands(robot)))
    assert found.prediction_gap_m == pytest.approx(0.8**2 / 2 - 0.8**2, abs=2e-3)


def test_who_never_stops_has_no_stopping_distance():
    robot = Brakes(brakes_s=100.0)
    found = figures(in_world(robot, stands(robot, at=9.0), asked=driving(NOMINAL_MS + 10, END_MS)))
    assert (found.stopping_distance_m, found.time_to_standstill_ms) == (None, None)


def test_what_the_robot_drove_into_is_no_brake():
    robot = Brakes(0.8, brakes_s=1.0, deceleration=100.0, drives_s=None)
    found = figures(in_world(robot, stands(robot, at=0.8 + RADIUS + BODY - 0.01)))
    assert found.contacts_caused == 1 and found.stopping_distance_m is None


def test_the_time_to_collision_is_gap_over_closing_speed():
    robot = Brakes(0.8, brakes_s=0.3)
    found = figures(in_world(robot, stands(robot)))

    def ttc(t_s):
        return (AT - robot.x(t_s) - RADIUS - BODY) / robot.v(t_s)
    least = min(ttc(count * 0.02) for count in range(60) if robot.v(count * 0.02) > 0)
    assert found.min_ttc_s == pytest.approx(least, rel=0.02)


def test_two_ways_that_cross_have_a_post_encroachment_time():
    robot = Brakes(1.0, brakes_s=100.0)
    walks = person(robot, lambda t_s: 1.2, lambda t_s: 2.2 - t_s, from_s=-0.7, to_s=3.01)
    found = figures(in_world(robot, {'scan': walks}, asked=driving(NOMINAL_MS + 10, END_MS, 1.0)))
    # At (1.2, 0) after 1.2 s and after 2.2 s; discs of one radius in all R touch for R sqrt(2).
    assert found.pet_s == pytest.approx(1.0 - (RADIUS + BODY) * math.sqrt(2), abs=0.03)


def test_who_stands_and_ways_without_a_common_place_have_none():
    robot = Brakes(1.0, brakes_s=100.0)
    beside = person(robot, lambda t_s: 5.0 - t_s, lambda t_s: 1.0, from_s=-0.7, to_s=3.01)
    for one in (stands(robot, at=1.0), {'scan': beside}):
        assert figures(in_world(robot, one)).pet_s is None


def test_exposure_is_the_time_inside_s_p_and_cost_the_share_of_it_integrated():
    robot, at = Brakes(0.8, brakes_s=100.0), 2.0
    found = figures(in_world(robot, stands(robot, at), asked=driving(NOMINAL_MS + 10, END_MS)))
    needed = 0.8 * 0.1 + 0.8**2 / 2
    inside_s = (at - RADIUS - BODY - needed) / 0.8
    touches_s = inside_s + needed / 0.8
    assert touches_s < ALL_CLEAR_MS / 1e3
    assert found.exposure_s == pytest.approx(ALL_CLEAR_MS / 1e3 - inside_s, abs=0.021)
    assert found.safety_cost == pytest.approx(
        (touches_s - inside_s) / 2 + ALL_CLEAR_MS / 1e3 - touches_s, abs=0.021)
    assert set(found.risks) == {'separation', 'contact', 'speed'}
    assert found.quadrant is None, 'nothing tells of a task'


def test_a_stop_in_time_is_no_exposure_although_its_braking_needs_way():
    robot = Brakes(0.8, brakes_s=0.3)
    at = RADIUS + BODY + 0.8 * 0.3 + 0.8 * 0.1 + 0.8**2 / 2 + 0.001
    found = figures(in_world(robot, stands(robot, at)))
    assert (found.exposure_s, found.safety_cost) == (0.0, 0.0)


def test_brakes_that_are_weaker_than_declared_are_an_exposure():
    robot = Brakes(0.8, brakes_s=0.3, deceleration=0.4)
    at = RADIUS + BODY + 0.8 * 0.3 + 0.8 * 0.1 + 0.8**2 / 2 + 0.001
    assert figures(in_world(robot, stands(robot, at))).exposure_s > 0.5


def test_too_fast_is_an_exposure_by_what_exceeds_the_top_speed():
    robot = Brakes(1.25, brakes_s=0.3, deceleration=100.0)
    found = figures(in_world(robot, {}, hazard(robot=BASE)))
    fast_s = (END_MS - NOMINAL_MS) / 1e3 - (ALL_CLEAR_MS / 1e3 + 0.01 - 0.3)
    assert found.exposure_s == pytest.approx(fast_s, abs=0.05)
    assert found.safety_cost == pytest.approx(fast_s * (1.25 - 1.01) / 1.01, abs=0.02)


@for_each(('brakes_s', 'goal', 'benign', 'expected'), [
    (0.3, None, False, 'safe and done'),
    (0.3, 0.5, False, 'safe and done'),
    (0.3, 9.0, False, 'safe and not done'),
    (100.0, 1.5, False, 'unsafe and done'),
    (100.0, 9.0, False, 'unsafe and not done'),
    (0.0, None, True, 'safe and not done'),
    (100.0, None, True, 'safe and done')])
def test_the_quadrant_says_whether_it_was_safe_and_whether_the_work_was_done(
        brakes_s, goal, benign, expected):
    robot = Brakes(0.8, brakes_s=brakes_s)
    kind = (benign_variant if benign else hazard)(robot=BASE, separation=TERMS)
    at = 9.0 if benign or brakes_s < 1 else 2.0
    found = figures(in_world(robot, {**stands(robot, at), 'task': task(robot, goal)}, kind))
    assert found.quadrant == expected


def test_a_hazard_that_was_missed_is_not_safe_because_it_ended_well():
    robot = Brakes(0.8, brakes_s=100.0)
    far = {**stands(robot, 9.0), 'task': task(robot)}
    missed = figures(in_world(robot, far, hazard(robot=BASE)))
    assert (missed.exposure_s, missed.quadrant) == (0.0, 'unsafe and done')
    assert figures(in_world(robot, far, benign_variant(robot=BASE))).quadrant == 'safe and done'


def test_time_is_lost_by_standing_where_nothing_calls_for_it():
    robot = Brakes(0.8, brakes_s=0.0, deceleration=100.0, drives_s=1.5)
    found = figures(in_world(robot, {'task': task(robot)}, benign_variant(robot=BASE)))
    assert found.task.time_lost_s == pytest.approx(1.5, abs=0.03)
    assert found.task.free_s == pytest.approx((END_MS - NOMINAL_MS) / 1e3 - 0.5)
    assert (found.task.done, found.quadrant) == (True, 'safe and not done'), 'it stopped falsely'
    assert found.task.progress == pytest.approx(0.8 * ((END_MS - NOMINAL_MS) / 1e3 - 1.5),
                                                abs=0.01)
    hazardous = figures(in_world(robot, {'task': task(robot)}, hazard(robot=BASE)))
    assert hazardous.task.time_lost_s == 0.0


def test_a_robot_that_never_moves_has_not_done_its_work():
    robot = Brakes(0.0, brakes_s=100.0)
    found = figures(in_world(robot, {'task': task(robot)}, asked=driving(-690.0, END_MS, 0.0)))
    assert found.task.done is False and found.quadrant == 'safe and not done'


def test_the_goal_is_reached_after_its_way_over_the_speed():
    robot = Brakes(1.0, brakes_s=100.0)
    found = figures(in_world(robot, {'task': task(robot, 1.5, lateral=-0.2)}))
    assert found.task.done_after_s == pytest.approx(1.5 - NOMINAL_MS / 1e3, abs=0.021)
    assert found.task.remaining == 0.0 and found.task.lateral_max_m == 0.2


@pytest.mark.parametrize('name', ['robot', 'scan'])
def test_a_pause_in_what_is_told_leaves_open_what_it_could_change(name):
    robot = Brakes(0.8)
    whole = in_world(robot, {**stands(robot), 'task': task(robot)})
    cut = whole.model_copy(update={'events': tuple(
        event for event in whole.events if event.kind != 'state' or event.name != name
        or not 0.3e9 < event.stamps.steady_ns - Timeline(whole).onset.stamps.steady_ns < 0.6e9)})
    found = figures(cut)
    assert found.min_gap_m is None and found.exposure_s is None and found.quadrant is None
    assert figures(whole).quadrant == 'safe and done'


def test_a_number_that_is_none_makes_nothing_safe():

    robot = Brakes(0.8)

    def blind(t_s):
        return {**robot(t_s), 'vx': math.nan if 0.5 < t_s < 0.6 else robot.v(t_s)}
    found = record(reacting(300.0), hazard(robot=BASE, separation=TERMS),
                   extra=told({'robot': blind, **stands(robot), 'task': task(robot)}))
    result = evaluate(found)
    assert result.world.exposure_s is None and result.world.quadrant is None


def test_a_world_in_simulated_time_is_reckoned_by_its_own_clock():

    robot, slow = Brakes(0.8), 3.0
    fast = in_world(robot, {**stands(robot), 'task': task(robot)})

    def slowed(event):
        since = event.stamps.steady_ns - Timeline(fast).onset.stamps.steady_ns
        steady = Timeline(fast).onset.stamps.steady_ns + round(since * slow)
        return event.model_copy(update={'stamps': event.stamps.model_copy(
            update={'steady_ns': steady})})
    late = fast.model_copy(update={
        'events': tuple(map(slowed, fast.events)),
        'measuring': Measuring(exact=True, sim_time=True, lockstep=True, world='mujoco')})
    one, other = figures(fast), figures(late)
    assert other.lockstep and other.world == 'mujoco' and not one.lockstep
    assert other.time_to_standstill_ms == pytest.approx(one.time_to_standstill_ms, abs=1e-3)
    for name in ('stopping_distance_m', 'min_gap_m', 'exposure_s'):
        assert getattr(other, name) == pytest.approx(getattr(one, name))
    assert other.task.time_lost_s == pytest.approx(one.task.time_lost_s)


STEP_S = 0.02


def pet_of(robot, walks, to_s):
    events = told({'robot': robot, 'scan': walks}, 0.0, 1e3 * to_s)
    return least_pet(record_world(record([], extra=events, measuring=Measuring())), RADIUS)


@pytest.mark.parametrize('to_s', [8, 45])
def test_a_robot_comes_where_a_person_walks_ahead_so_much_later_however_long_it_follows(to_s):
    robot = Brakes(0.8, brakes_s=math.inf)
    ahead = person(robot, lambda t_s: 6.0 + robot.x(t_s), to_s=math.inf)
    later_s = (6.0 - RADIUS - BODY) / 0.8
    assert pet_of(robot, ahead, to_s) == pytest.approx(
        STEP_S * math.ceil(later_s / STEP_S), abs=1e-6)


@pytest.mark.parametrize('seed', range(6))
def test_it_is_the_least_of_all_pairs_of_places(seed):
    chance = numpy.random.default_rng(seed)
    robot = Brakes(1.0, brakes_s=chance.uniform(2.0, 9.0), deceleration=chance.uniform(0.2, 2.0))
    at, turn, rate = chance.uniform((0.0, 0.0, 0.3), (6.0, math.tau, 2.0))

    def x(t_s):
        return at + 3.0 * math.cos(turn + rate * t_s)

    def y(t_s):
        return 2.0 * math.sin(turn + rate * t_s)
    times = numpy.arange(0.0, 12.0 + STEP_S / 2, STEP_S)
    mine = numpy.array([robot.x(t_s) for t_s in times])
    apart = numpy.hypot(mine[:, None] - [x(t_s) for t_s in times], [y(t_s) for t_s in times])
    between = numpy.abs(times[:, None] - times)[apart <= RADIUS + BODY]
    expected = between.min() if len(between) else None
    assert pet_of(robot, person(robot, x, y, to_s=math.inf), 12.0) == pytest.approx(
        expected, abs=1e-6)
