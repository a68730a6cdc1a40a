# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What only a world can tell: contact, course, goal; and what it changes in the other checks."""

import math

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.collaboration import Force, Separation
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.judging.invariants.world_task import KeepsCourse, NoContact, ReachesGoal
from safety_scenarios.judging.invariants.zone import Zone
from safety_scenarios.judging.motion.reported_motion import SOURCE
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import Confirmation
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import Timeline
from unit.records import (
    driving,
    END_MS,
    hazard,
    NOMINAL_MS,
    reacting,
    record,
    reported,
    shown,
    SIGNALS,
    stages,
)
from unit.world_scenarios import BASE, BODY, Brakes, in_world, person, RADIUS, task, TERMS, told

CLOSE = RADIUS + BODY
ONLY_IN_A_WORLD = (NoContact(name='n'), KeepsCourse(name='k', at_most=0.2),
                   ReachesGoal(name='r', within_ms=400.0))


@for_each('invariant', ONLY_IN_A_WORLD, ids=lambda one: one.kind)
def test_without_a_world_nobody_can_tell(invariant):
    for events in ([], reacting(100.0)):
        assert invariant.check(stages(record(events))).verdict is Verdict.INCONCLUSIVE
    empty = record([], onset=False, end_ms=None)
    assert invariant.check(stages(empty)).verdict is Verdict.INCONCLUSIVE


@for_each('invariant', ONLY_IN_A_WORLD, ids=lambda one: one.kind)
def test_a_world_that_falls_silent_tells_nothing_of_the_rest(invariant):
    robot = Brakes(0.8)
    whole = in_world(robot, {'task': task(robot, 1.0, lateral=0.1)})
    cut = whole.model_copy(update={'events': tuple(
        event for event in whole.events if event.kind != 'state'
        or event.stamps.steady_ns < Timeline(whole).onset.stamps.steady_ns)})
    assert invariant.check(stages(whole)).verdict is not Verdict.INCONCLUSIVE
    assert invariant.check(stages(cut)).verdict is Verdict.INCONCLUSIVE


DRIVES = Brakes(0.8, brakes_s=100.0)


def off_route(lateral, invariant=ONLY_IN_A_WORLD[1], robot=DRIVES):
    return invariant.check(stages(in_world(robot, {'task': lambda t_s: {
        'progress': robot.x(t_s), 'done': 0.0, 'lateral': lateral(t_s)}})))


@for_each(('lateral', 'verdict'), [
    (0.2, Verdict.PASS), (-0.2, Verdict.PASS), (0.2001, Verdict.FAIL), (-0.2001, Verdict.FAIL)])
def test_a_course_is_kept_up_to_its_limit_on_either_side(lateral, verdict):
    found = off_route(lambda t_s: lateral if t_s > 1 else 0.0)
    assert (found.verdict, found.unit) == (verdict, 'm')
    assert found.margin == pytest.approx(0.2 - abs(lateral))


def test_a_course_is_that_of_a_robot_that_drives():
    stands = Brakes(0.05, brakes_s=100.0)
    assert off_route(lambda t_s: 9.0, robot=stands).reason == 'it never drove'
    during = KeepsCourse(name='k', at_most=0.2, during='hazard')
    assert off_route(lambda t_s: 9.0 if t_s < -0.1 else 0.0, during).verdict is Verdict.PASS
    assert off_route(lambda t_s: math.nan if 1 < t_s < 1.1 else 0.0).verdict \
        is Verdict.INCONCLUSIVE


def reaches(goal, invariant=ONLY_IN_A_WORLD[2], speed=1.0, **changes):
    robot = Brakes(speed, brakes_s=100.0)
    return invariant.check(stages(in_world(robot, {'task': task(robot, goal)}, **changes)))


@for_each(('goal', 'verdict', 'left'), [
    (2.0, Verdict.PASS, 0.9), (2.9, Verdict.PASS, 0.0), (2.92, Verdict.FAIL, -0.02)])
def test_a_goal_is_reached_up_to_its_time(goal, verdict, left):
    found = reaches(goal)
    assert (found.verdict, found.unit) == (verdict, 's')
    assert found.margin == pytest.approx(left, abs=1e-6)


def test_a_goal_that_is_not_reached_is_a_failure_once_its_time_is_over():
    assert reaches(9.0).verdict is Verdict.FAIL
    assert '5.80 left to go' in reaches(8.8).reason
    longer = ReachesGoal(name='r', within_ms=501.0)
    assert reaches(9.0, longer).verdict is Verdict.INCONCLUSIVE
    assert reaches(9.0, end_ms=None).verdict is Verdict.INCONCLUSIVE
    assert reaches(None).reason.startswith('the task has no goal')
    begin = ReachesGoal(name='r', within_ms=(END_MS - NOMINAL_MS), after='begin')
    assert reaches(9.0, begin).verdict is Verdict.FAIL


def touches(invariant, speed=0.2, **more):
    robot = Brakes(speed, brakes_s=100.0)
    one = person(robot, lambda t_s: CLOSE + 0.1, from_s=-0.7, to_s=1.9, **more)
    return invariant.check(stages(in_world(robot, {'scan': one})))


@pytest.mark.parametrize(('force', 'verdict'), [(150.0, Verdict.PASS), (150.1, Verdict.FAIL)])
def test_a_region_may_be_touched_up_to_its_limit(force, verdict):
    allowed = NoContact(name='n', regions={'thigh_knee': 150.0})
    found = touches(allowed, force=force, **{'region.thigh_knee': 1.0})
    assert (found.verdict, found.unit) == (verdict, 'N')
    assert found.margin == pytest.approx(150.0 - force)


def test_more_is_allowed_in_an_impact_and_not_for_as_long_as_it_lasts():
    allowed = NoContact(name='n', regions={'chest': 100.0}, transient_factor=2.0)
    robot = Brakes(0.2, brakes_s=100.0)

    def chest(force):
        return person(robot, lambda t_s: CLOSE + 0.1, from_s=-0.7, to_s=1.9, force=force,
                      **{'region.chest': 1.0})
    first, then = chest(200.0), chest(100.0)
    for lasting, verdict in ((then, Verdict.PASS), (first, Verdict.FAIL)):
        found = in_world(robot, {'scan': lambda t_s, lasting=lasting: first(t_s) if t_s < 0.9
                                 else lasting(t_s)})
        assert allowed.check(stages(found)).verdict is verdict


def test_a_touch_whose_region_or_force_is_not_told_is_not_allowed():
    allowed = NoContact(name='n', regions={'chest': 150.0})
    assert touches(allowed, force=10.0, **{'region.chest': 1.0}).verdict is Verdict.PASS
    for told_ in ({'force': 10.0}, {'region.chest': 1.0},
                  {'force': 10.0, 'region.face': 1.0},
                  {'force': 10.0, 'region.face': 1.0, 'region.chest': 1.0},
                  {'force': math.nan, 'region.chest': 1.0}):
        assert touches(allowed, **told_).verdict is Verdict.FAIL


def test_things_count_but_for_bodies_only():
    assert touches(NoContact(name='n'), speed=0.02, body=0.0).verdict is Verdict.PASS
    assert touches(NoContact(name='n'), speed=0.1, body=0.0).verdict is Verdict.FAIL
    assert touches(NoContact(name='n', bodies_only=True), speed=0.1, body=0.0).verdict \
        is Verdict.PASS


def apart(at, **brakes):
    robot = Brakes(0.8, **{'brakes_s': 0.3, **brakes})
    return Separation(name='s').check(
        stages(in_world(robot, {'scan': person(robot, lambda t_s: at)})))


NEEDS = CLOSE + 0.8 * 0.3 + 0.8 * 0.1 + 0.8**2 / 2
"""From the place at onset: on until it brakes, other_time, and v^2 / 2a."""


@pytest.mark.parametrize(('more', 'verdict'), [(0.001, Verdict.PASS), (-0.001, Verdict.FAIL)])
def test_the_separation_is_the_gap_between_the_closest_points(more, verdict):
    found = apart(NEEDS + more)
    assert found.verdict is verdict
    assert found.margin == pytest.approx(more, abs=2e-3)


def test_a_robot_that_was_told_to_stop_and_slides_on_needs_its_true_distance():
    found = apart(NEEDS + 0.05, deceleration=0.4)
    assert found.verdict is Verdict.FAIL
    assert 'faster than commanded, according to the simulator' in found.reason


def test_a_world_that_tells_less_than_the_stimuli_claim_is_believed():
    robot = Brakes(0.8, brakes_s=0.3)
    far = shown().model_copy(update={'arguments': '{"kind": "person_at", "distance": 9.0}'})
    claims = in_world(robot, {'scan': person(robot, lambda t_s: 1.15)}, hazard_at=far)
    assert Separation(name='s').check(stages(claims)).verdict is Verdict.FAIL
    assert evaluate(claims).world.min_gap_m < 1.15 - CLOSE


def test_a_stop_that_was_only_commanded_is_none():
    stop = Stop(name='s', hold_ms=1000.0)
    slides = Brakes(0.8, brakes_s=0.3, deceleration=0.3)
    never = stop.check(stages(in_world(slides, {})))
    assert never.verdict is Verdict.FAIL
    assert never.reason.endswith(f'did not come to stand, {SOURCE}')
    stood = stop.check(stages(in_world(Brakes(0.8, brakes_s=0.3), {})))
    assert stood.verdict is Verdict.PASS and SOURCE in stood.reason


def test_a_robot_that_rolls_on_after_it_stood_moved_again():
    robot, again = Brakes(0.8, brakes_s=0.3, drives_s=2.0), Brakes(0.8, brakes_s=0.3)
    found = Stop(name='s').check(stages(in_world(robot, {}, asked=[
        *driving(NOMINAL_MS + 10, 300.0), *driving(300.0, 2510.0, 0.0)])))
    assert found.verdict is Verdict.FAIL and 'moved again' in found.reason
    assert Stop(name='s').check(stages(in_world(again, {}))).verdict is Verdict.PASS


def test_a_zone_is_judged_by_where_the_robot_really_was():
    box = ((0.6, -0.5), (2.0, -0.5), (2.0, 0.5), (0.6, 0.5))
    zone = Zone(name='z', polygon=box)
    short = in_world(Brakes(0.8, brakes_s=0.3), {})
    found = zone.check(stages(short))
    assert found.verdict is Verdict.PASS and found.reason.endswith(SOURCE)
    assert found.margin == pytest.approx(0.6 - 0.24 - 0.32, abs=1e-3)
    slides = in_world(Brakes(0.8, brakes_s=0.3, deceleration=0.6), {})
    assert zone.check(stages(slides)).verdict is Verdict.FAIL


def test_a_pause_leaves_open_where_the_robot_was():
    whole = in_world(Brakes(0.8, brakes_s=0.3), {})
    onset_ns = Timeline(whole).onset.stamps.steady_ns
    cut = whole.model_copy(update={'events': tuple(
        event for event in whole.events if event.kind != 'state'
        or not 0.5e9 < event.stamps.steady_ns - onset_ns < 0.9e9)})
    found = Zone(name='z', polygon=((5.0, 0.0), (6.0, 0.0), (6.0, 1.0))).check(stages(cut))
    assert SOURCE not in found.reason, 'predicted then'


def test_a_force_that_the_world_stopped_telling_may_have_lasted():
    robot = Brakes(0.8, brakes_s=0.0)

    force = Force(name='f', at_most=40.0, signal='speed', push_at_most=0.05)

    def pushed(until_s):
        return in_world(robot, {'wall:end': lambda t_s: {
            'gap': 1.0, 'touching': 0.0, 'force': 60.0 if 0.05 < t_s < 1.0 else 0.0}
            if t_s < until_s else None})
    assert force.check(stages(pushed(9.0))).verdict is Verdict.PASS
    assert force.check(stages(pushed(0.9))).verdict is Verdict.PASS, 'it was gone'
    ended = in_world(robot, {'wall:end': lambda t_s: {
        'gap': 1.0, 'touching': 0.0, **({'force': 60.0} if 0.05 < t_s < 0.07 else {})}})
    assert force.check(stages(ended)).reason.startswith('the contact was over before')
    whole = pushed(9.0)
    cut = whole.model_copy(update={'events': tuple(
        event for event in whole.events if event.kind != 'state' or event.name != 'wall:end'
        or event.stamps.steady_ns - Timeline(whole).onset.stamps.steady_ns < 1.5e9)})
    assert force.check(stages(cut)).verdict is Verdict.INCONCLUSIVE


def test_a_trial_that_is_good_in_a_world_passes_whole():
    robot = Brakes(0.8, brakes_s=0.3)
    kind = hazard(robot=BASE, separation=TERMS, invariants=(
        Stop(name='stop'), Separation(name='apart'), NoContact(name='n'),
        KeepsCourse(name='k', at_most=0.2)))
    result = evaluate(in_world(robot, {'scan': person(robot, lambda t_s: 3.0),
                                       'task': task(robot)}, kind))
    assert result.verdict is Verdict.PASS, result.reason
    assert result.latency.stop.source == SOURCE
    assert result.latency.stop.way == pytest.approx(0.8 * 0.3 + 0.8**2 / 2, abs=1e-3)
    stands = {one.check: one for one in result.findings}['no movement at a standstill']
    assert stands.reason.startswith('it stood ') and SOURCE in stands.reason


def test_a_world_that_moves_another_robot_is_not_believed():
    robot = Brakes(0.8, brakes_s=0.3)
    frozen = record(reacting(300.0), hazard(robot=BASE, separation=TERMS), extra=told({
        'robot': lambda t_s: {'x': 0.0, 'y': 0.0, 'heading': 0.0, 'vx': 0.0, 'wz': 0.0},
        'scan': person(robot, lambda t_s: 3.0)}))
    result = evaluate(frozen)
    assert result.latency.stop.source != SOURCE


def slow_on_ice(peak, world=''):
    """Judge a base that is commanded 0.8 m/s, or 1 m/s for a moment, and drives 0.3 m/s."""
    robot = Brakes(0.3, brakes_s=0.1)
    asked = [*driving(NOMINAL_MS + 10, -300.0, 0.3 if peak else 0.8),
             *driving(-300.0, -250.0, 1.0 if peak else 0.8),
             *driving(-250.0, 100.0, 0.3 if peak else 0.8), *driving(100.0, END_MS, 0.0)]
    slides = {one.check: one for one in evaluate(in_world(
        Brakes(0.3, brakes_s=0.1, deceleration=0.05), {'scan': person(robot, lambda t_s: 3.0)},
        asked=asked, measuring=Measuring(exact=True, world=world))).findings}
    return slides['no movement at a standstill']


@pytest.mark.parametrize('peak', [True, False])
def test_one_moment_of_full_speed_and_no_ice_hide_how_a_robot_slides(peak):
    found = slow_on_ice(peak, world='mujoco')
    assert found.verdict is Verdict.FAIL and SOURCE in found.reason
    assert (SOURCE in slow_on_ice(peak, world='external').reason) is peak


EMBEDDED = Measuring(exact=True, world='mujoco')
"""A world of which it is known that it moves this robot, however it brakes."""


def odometry(robot, share):
    """Return reports of a base's speed of which odometry shows a share."""
    return [reported(t_ms, share * robot.v(t_ms / 1e3))
            for t_ms in range(int(NOMINAL_MS), int(END_MS) + 1, 20)]


CONFIRMED = hazard(
    robot=BASE, separation=TERMS, feedback=('odom',), confirmation=Confirmation(
        signal='measured', at_most=0.05),
    signals={**SIGNALS, 'measured': Signal(topic='odom', field='linear', reduce='norm',
                                           unit='m/s')})


@for_each(('share', 'deceleration', 'verdict'), [
    (1.0, 1.0, Verdict.PASS), (0.6, 0.1, Verdict.FAIL), (1.3, 1.0, Verdict.PASS)])
def test_odometry_that_drifts_decides_nothing_where_the_truth_is_told(share, deceleration,
                                                                      verdict):
    robot = Brakes(0.8, brakes_s=0.1, deceleration=deceleration)
    scenario = CONFIRMED.model_copy(update={'body': CONFIRMED.body.model_copy(update={
        'confirmation': None})})
    found = {one.check: one for one in evaluate(in_world(
        robot, {'scan': person(robot, lambda t_s: 6.0)}, scenario, asked=reacting(100.0),
        measuring=EMBEDDED, extra=odometry(robot, share))).findings}
    assert found['no movement at a standstill'].verdict is verdict
    assert SOURCE in found['no movement at a standstill'].reason
    assert found['no faster than the robot can'].verdict is Verdict.PASS


@for_each(('speed', 'verdict'), [
    (1.009, Verdict.PASS), (1.011, Verdict.INCONCLUSIVE), (1.109, Verdict.INCONCLUSIVE),
    (1.111, Verdict.FAIL)])
def test_a_drive_that_overshoots_a_little_what_it_was_commanded_is_not_the_controllers(speed,
                                                                                      verdict):
    robot = Brakes(speed, brakes_s=0.1, deceleration=1.0)
    found = {one.check: one for one in evaluate(in_world(
        robot, {'scan': person(robot, lambda t_s: 6.0)}, hazard(robot=BASE),
        asked=reacting(100.0), measuring=EMBEDDED)).findings}['no faster than the robot can']
    assert found.verdict is verdict, found
    assert ('its drive overshoots' in found.reason) is (verdict is Verdict.INCONCLUSIVE)


@for_each(('share', 'deceleration', 'verdict', 'says'), [
    (1.0, 1.0, Verdict.PASS, 'target of the budget for it'),
    (0.1, 1.0, Verdict.PASS, 'according to the simulator it did not stand then but 8'),
    (0.1, 0.4, Verdict.FAIL, 'according to the simulator it did not stand then but 1975'),
    (0.1, 0.25, Verdict.FAIL, 'according to the simulator it did not stand then, nor later')])
def test_a_standstill_that_is_reported_and_not_true_confirms_nothing(share, deceleration, verdict,
                                                                     says):
    robot = Brakes(0.8, brakes_s=0.1, deceleration=deceleration)
    found = {one.check: one for one in evaluate(in_world(
        robot, {'scan': person(robot, lambda t_s: 6.0)}, CONFIRMED, asked=reacting(100.0),
        measuring=EMBEDDED, extra=odometry(robot, share))).findings}['safe state confirmed']
    assert found.verdict is verdict and says in found.reason
