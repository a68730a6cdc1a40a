# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Speed and separation: what is left is the closed form's; what was not told never passes."""

import math
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.invariants.collaboration import Separation
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.blocks.robot import Separation as Terms
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from unit.records import (
    approaching,
    driving,
    hazard,
    record,
    reported,
    shown,
    SIGNALS,
    stages,
)

SEPARATION = Separation(name='s')
ARM = RobotModel(kind='arm', max_speed=1.0,
                 stopping=Stopping(model='measured', time=0.3, distance=0.15))
TERMS = Terms(signal='speed', approach_speed=1.6, intrusion=0.2, other_uncertainty=0.1,
              robot_uncertainty=0.05, other_time=0.06)
GAP = Signal(topic='odom', field='linear.x', unit='m')
STANDING = TERMS.model_copy(update={'approach_speed': 0.0})


def judged(commands: Any, shown_as: list[Event] | None = None, *, terms: Terms = TERMS,
           robot: RobotModel = ARM, invariant: Separation = SEPARATION, silence: Any = None,
           feedback: list[Event] = (), **changes: Any) -> Finding:
    """Judge commands while somebody comes from 2 m away at 1.6 m/s, unless shown otherwise."""
    walk = approaching(2.0, 1.6) if shown_as is None else shown_as
    signed = {'ahead': Signal(topic='cmd_vel', field='linear.x', unit='m/s'), 'gap': GAP}
    scenario = hazard(robot=robot, separation=terms, signals={**SIGNALS, **signed},
                      feedback=('odom',), silence=silence)
    return invariant.check(stages(record(
        commands, scenario, extra=[*walk[1:], *feedback], hazard_at=walk[0] if walk else shown(),
        **changes)))


def stopping_at(t_ms: float, speed: float = 1.0) -> list[tuple[float, float]]:
    return [(-100, speed), (-50, speed), (t_ms / 2, speed), (t_ms, 0.0), (2400, 0.0)]


def measured(distances: dict[float, Any], speed: float = 0.0) -> Finding:
    """Judge a robot that is told its distance and drives until 300 ms."""
    terms = STANDING.model_copy(update={'distance': 'gap', 'approach_speed': 1.6})
    return judged(stopping_at(300, 1.0), [], terms=terms, feedback=[
        reported(t_ms, distance) for t_ms, distance in distances.items()])


def test_a_stop_within_300_ms_leaves_eight_centimetres():
    finding = judged(stopping_at(300))
    assert (finding.verdict, finding.unit, finding.at_ms) == (Verdict.PASS, 'm', 300.0)
    assert finding.margin == pytest.approx(0.084)
    assert '0.084 m to spare' in finding.reason


def test_80_ms_more_latency_cost_it():
    finding = judged(stopping_at(380))
    assert (finding.verdict, finding.unit, finding.at_ms) == (Verdict.FAIL, 'm', 380.0)
    assert finding.margin == pytest.approx(-0.124)
    assert '0.124 m inside the protective separation distance 380 ms after onset' in finding.reason
    assert '1.01 m away at 1.00 m/s, where a stop needs 1.14 m' in finding.reason


@for_each('stopping', [
    Stopping(model='measured', time=0.3, distance=0.15), Stopping(model='half_time', time=0.3),
    Stopping(model='worst_case', time=0.3),
    Stopping(model='constant_deceleration', deceleration=4.0)], ids=lambda found: found.model)
@for_each('t_ms', [1.0, 35.0, 133.3, 250.0, 390.0])
@for_each('speed', [1.0, 0.4])
@for_each('walks', [0.0, 0.8, 1.6])
def test_the_margin_of_a_stop_is_that_of_the_closed_form(stopping, t_ms, speed, walks):
    robot = ARM.model_copy(update={'stopping': stopping})
    terms = TERMS.model_copy(update={'approach_speed': walks})
    finding = judged(stopping_at(t_ms, speed), approaching(2.0, walks), terms=terms, robot=robot)
    left = 2.0 - terms.required(robot, speed, t_ms / 1e3).total
    assert finding.margin == pytest.approx(left, abs=1e-9)
    assert finding.verdict is (Verdict.PASS if left > 0 else Verdict.FAIL)


def test_another_robot_that_brakes_too_is_reckoned_as_the_closed_form():
    terms = TERMS.model_copy(update={'approach_stopping': 0.2})
    assert judged(stopping_at(200), terms=terms).margin == pytest.approx(
        2.0 - terms.required(ARM, 1.0, 0.2).total)


def test_none_to_spare_is_a_violation_and_a_hair_is_enough():
    exact = RobotModel(kind='arm', max_speed=1.0, stopping=Stopping(
        model='measured', time=0.5, distance=0.25))
    terms = Terms(signal='speed', approach_speed=0.0, other_time=0.25)
    stop = [(-100, 1.0), (250, 0.0), (2400, 0.0)]
    still = [shown(0.0, 'human_pose', distance=0.75)]
    assert judged(stop, still, terms=terms, robot=exact).margin == 0.0
    assert judged(stop, still, terms=terms, robot=exact).verdict is Verdict.FAIL
    still = [shown(0.0, 'human_pose', distance=math.nextafter(0.75, 1.0))]
    assert judged(stop, still, terms=terms, robot=exact).verdict is Verdict.PASS


def test_reach_is_taken_off_the_distance():
    terms = TERMS.model_copy(update={'reach': 0.05})
    assert judged(stopping_at(300), terms=terms).margin == pytest.approx(0.034)


def test_a_joint_speed_counts_by_its_radius():
    terms = TERMS.model_copy(update={'metres_per_unit': 0.5})
    assert judged(stopping_at(300), terms=terms).margin == pytest.approx(
        2.0 - terms.required(ARM, 0.5, 0.3).total)


def test_never_stopping_is_judged_at_the_end_of_each_command():
    finding = judged(driving(-100, 3000, 1.0))
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 2500.0)


def test_the_command_in_force_at_onset_counts():
    assert judged([(-100, 1.0), (600, 0.0)]).verdict is Verdict.FAIL
    assert judged([(-100, 0.0), (600, 0.0)]).verdict is Verdict.PASS


def test_setting_off_again_is_judged_with_what_was_travelled():
    away = approaching(3.0, 0.0)
    stop = stopping_at(500)
    assert judged([*stop, (1500, 1.0), (1600, 0.0)], away, terms=STANDING).margin == \
        pytest.approx(3.0 - 0.5 - 0.06 - 0.3 - 0.1 - STANDING.required(ARM, 1.0, 0.0).total)


def test_slowing_down_is_no_stop():
    slowly = [(-100, 1.0), (100, 0.3), (2400, 0.0)]
    assert judged(slowly, approaching(4.2, 0.8)).verdict is Verdict.PASS
    assert judged(slowly, approaching(2.0, 0.8)).verdict is Verdict.FAIL


def test_a_robot_that_slows_down_still_covers_what_that_takes():
    even = ARM.model_copy(update={'stopping': Stopping(model='constant_deceleration',
                                                       deceleration=2.0)})
    stand = approaching(3.0, 0.0)
    finding = judged([(-100, 1.0), (100, 0.4), (2000, 0.0)], stand, terms=STANDING, robot=even)
    slowing = 0.6 * 0.06 + 0.6**2 / 4
    assert finding.margin == pytest.approx(
        3.0 - 0.1 - slowing - 1.9 * 0.4 - STANDING.required(even, 0.4, 0.0).total)
    finding = judged([(-100, 1.0), (100, 0.4), (2000, 0.0)], stand, terms=STANDING)
    assert finding.margin == pytest.approx(
        3.0 - 0.1 - 0.6 * (0.06 + 0.3) - 1.9 * 0.4 - STANDING.required(ARM, 0.4, 0.0).total)


def test_creeping_up_to_the_limit_of_standstill_is_not_judged():
    near = [shown(0.0, 'human_pose', distance=0.2)]
    creep = [(-100, 0.01), (100, 0.01), (2400, 0.01)]
    assert judged(creep, near).verdict is Verdict.PASS
    creep = [(-100, 0.01), (100, math.nextafter(0.01, 1.0)), (2400, 0.0)]
    assert judged(creep, near).verdict is Verdict.FAIL
    assert judged(creep, near, invariant=Separation(name='s', still=0.02)).verdict is Verdict.PASS


def test_going_away_needs_no_distance_and_has_no_margin():
    backwards = TERMS.model_copy(update={'signal': 'ahead'})
    finding = judged([(-100, -1.0), (100, -1.0), (2400, -1.0)], terms=backwards)
    assert (finding.verdict, finding.margin) == (Verdict.PASS, None)
    assert 'never commanded to move toward' in finding.reason


def test_what_is_driven_backwards_gives_no_metres_to_spare():
    ahead, away = STANDING.model_copy(update={'signal': 'ahead'}), approaching(3.0, 0.0)
    margins = [judged([(-100, 1.0), (100, speed), (1500, 1.0), (1600, 0.0), (2400, 0.0)], away,
                      terms=ahead).margin for speed in (0.0, -0.5)]
    assert margins[0] == margins[1]


@pytest.mark.parametrize('changes', [{'onset': False}, {'all_clear_ms': None}])
def test_a_hazard_that_was_not_observed_whole_is_inconclusive(changes):
    assert judged(stopping_at(300), **changes).verdict is Verdict.INCONCLUSIVE
    assert judged(driving(-100, 3000, 1.0), **changes).verdict is Verdict.INCONCLUSIVE


def test_without_the_terms_or_the_stopping_it_is_an_error():
    commands = stopping_at(300)
    for scenario in (hazard(robot=ARM), hazard(separation=TERMS)):
        assert SEPARATION.check(stages(record(commands, scenario))).verdict is Verdict.ERROR


def test_no_command_during_the_hazard_is_inconclusive():
    assert judged([(-100, 0.0)]).verdict is Verdict.INCONCLUSIVE
    assert judged([(-100, 0.0), (2600, 0.0)]).verdict is Verdict.INCONCLUSIVE


def test_no_command_before_the_hazard_is_inconclusive():
    assert judged([(1, 0.0), (2400, 0.0)]).verdict is Verdict.INCONCLUSIVE


def test_falling_silent_in_motion_goes_on_into_the_person():
    assert judged([(-100, 1.0), (10, 1.0)]).verdict is Verdict.FAIL


def test_a_silence_that_stops_the_robot_is_a_stop():
    stop = Silence(policy='stop', driver_timeout_ms=200.0)
    finding = judged([(-100, 1.0), (50, 1.0)], silence=stop)
    assert (finding.verdict, finding.at_ms) == (Verdict.PASS, 250.0)
    assert finding.margin == pytest.approx(2.0 - TERMS.required(ARM, 1.0, 0.25).total)


def test_without_a_distance_it_is_inconclusive():
    assert judged(stopping_at(300), []).verdict is Verdict.INCONCLUSIVE
    assert judged(stopping_at(300), [shown(0.0)]).verdict is Verdict.INCONCLUSIVE


def test_what_is_shown_first_holds_from_onset():
    """The person comes on the second topic, right after the first."""
    finding = judged(stopping_at(300), [shown(0.0), *approaching(2.0, 1.6)])
    assert finding.margin == pytest.approx(0.084)


def test_of_two_topics_the_nearer_counts():
    both = [*approaching(2.0, 1.6), *approaching(1.5, 1.6, topic='scan')]
    assert judged(stopping_at(100), both).margin == pytest.approx(
        judged(stopping_at(100), approaching(1.5, 1.6)).margin)


def test_a_stimulus_before_the_hazard_tells_no_distance():
    far = shown(-10.0, 'human_pose', hazard=False, distance=0.1)
    assert judged(stopping_at(300), [*approaching(2.0, 1.6), far]).margin == pytest.approx(0.084)


@for_each('value', [math.nan, None, math.inf, -math.inf])
@for_each('t_ms', [-100, 100, 299])
def test_a_speed_that_is_no_number_never_passes(value, t_ms):
    commands = sorted([(-150, 1.0), (t_ms, value), *stopping_at(300)[2:]], key=lambda it: it[0])
    assert judged(commands).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_violation_before_an_unknown_value_fails(value):
    late = [(-100, 1.0), (500, 0.0)]
    assert judged([*late, (600, value)]).verdict is Verdict.FAIL
    assert judged([(-100, 1.0), (300, value), (500, 0.0)]).verdict is Verdict.INCONCLUSIVE


def test_faster_than_the_stopping_is_declared_for_is_inconclusive():
    finding = judged(stopping_at(100, 1.2))
    assert finding.verdict is Verdict.INCONCLUSIVE and '1.20 m/s' in finding.reason
    assert judged(stopping_at(100, 1.0000000001)).verdict is Verdict.PASS
    assert judged(stopping_at(600, 1.2)).verdict is Verdict.FAIL
    slower = [(-100, 1.2), (50, 0.5), (100, 0.0), (2400, 0.0)]
    assert judged(slower).verdict is Verdict.INCONCLUSIVE


def told_every(every_ms: float, until_ms: float = 3000.0, distance: float = 2.0,
               closing: float = 2.6) -> dict[float, float]:
    """Return what the robot hears until it stands: closing in until 660 ms."""
    return {t_ms: distance - closing * min(max(t_ms, 0.0), 660.0) / 1e3
            for t_ms, _ in driving(-100.0, until_ms, every_ms=every_ms)}


def test_a_measured_distance_gives_the_same_margin():
    assert measured(told_every(50.0)).margin == pytest.approx(0.084)
    assert measured(told_every(50.0)).verdict is Verdict.PASS


def test_a_measured_distance_is_not_charged_with_the_way_twice():
    far = measured(told_every(50.0, distance=3.0))
    assert far.margin == pytest.approx(1.084)


def test_a_distance_that_is_measured_only_before_the_hazard_is_inconclusive():
    assert measured({-50.0: 3.0}).verdict is Verdict.INCONCLUSIVE


def test_a_distance_that_is_measured_only_after_onset_is_inconclusive():
    told = {t_ms: distance for t_ms, distance in told_every(50.0).items() if t_ms > 20}
    assert measured(told).verdict is Verdict.INCONCLUSIVE


def test_a_violation_before_an_unknown_distance_fails():
    assert measured({-10.0: 1.0, 500.0: math.nan}).verdict is Verdict.FAIL
    assert measured({-10.0: 1.5, 500.0: math.nan}).verdict is Verdict.INCONCLUSIVE


def test_somebody_who_goes_away_is_as_near_as_last_shown():
    away = [shown(0.0, 'human_pose', distance=2.0), shown(400.0, 'human_pose', distance=4.0)]
    assert judged(stopping_at(200), away, terms=STANDING).margin == pytest.approx(
        2.0 - STANDING.required(ARM, 1.0, 0.2).total)


def test_a_distance_that_falls_silent_while_it_counts_is_inconclusive():
    finding = measured({-50.0: 1.9, 10.0: 1.8})
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert 'not published often enough' in finding.reason
    assert measured({-50.0: 9.0, 10.0: 9.0}).verdict is Verdict.PASS


def test_somebody_may_have_come_and_gone_between_two_messages():
    assert measured({-1000.0: 1.8, 400.0: 1.8}).verdict is Verdict.INCONCLUSIVE
    assert measured({-10.0: 1.8, **dict.fromkeys(range(0, 3000, 50), 1.8)}).verdict is \
        Verdict.PASS


@pytest.mark.parametrize('value', [math.nan, math.inf])
def test_a_distance_that_is_no_number_never_passes(value):
    told = {**told_every(50.0), 100.0: value}
    assert measured(told).verdict is Verdict.INCONCLUSIVE


def test_reach_is_taken_off_a_measured_distance():
    terms = TERMS.model_copy(update={'distance': 'gap', 'reach': 0.05})
    told = [reported(t_ms, distance) for t_ms, distance in told_every(50.0).items()]
    assert judged(stopping_at(300), [], terms=terms, feedback=told).margin == pytest.approx(0.034)


def test_a_scripted_person_walks_on_after_the_last_message():
    once = [shown(0.0, 'human_pose', distance=1.6)]
    assert judged(stopping_at(200), once).verdict is Verdict.INCONCLUSIVE
    assert judged(stopping_at(200), once, terms=STANDING).verdict is Verdict.PASS
    walk = approaching(1.6, 1.6)
    assert judged(stopping_at(150), walk).margin == pytest.approx(
        1.6 - TERMS.required(ARM, 1.0, 0.15).total)
