# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A reaction begins where a braking begins that stays below the declared envelope."""

from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.body import Reaction
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from unit.records import ALL_CLEAR_MS, driving, hazard, NOMINAL_MS, record

EVEN = Stopping(model='constant_deceleration', deceleration=1.0)
STOPS = Stop(name='s', within='critical', hold_ms=1000)


def ramp(from_ms: float, rate: float, speed: float = 0.8, least: float = 0.0,
         every_ms: float = 50.0) -> list[tuple[float, float]]:
    """Return a drive that slows down from a time on by ``rate`` (m/s^2), down to a speed."""
    drive = driving(NOMINAL_MS + 10, from_ms, speed, every_ms)
    slowing = [(t_ms, max(least, speed - rate * (t_ms - from_ms + every_ms) / 1e3))
               for t_ms, _ in driving(from_ms, ALL_CLEAR_MS, every_ms=every_ms)]
    return [*drive, *slowing]


def judged(commands: Any, stopping: Stopping | None = EVEN, **changes: Any) -> TrialResult:
    robot = RobotModel(kind='mobile_base', max_speed=1.0, stopping=stopping, radius=0.3)
    return evaluate(record(commands, hazard(robot=robot, invariants=[STOPS], **changes)))


@for_each('every_ms', [10.0, 50.0, 100.0])
def test_braking_as_declared_is_a_reaction_from_its_first_command(every_ms):
    found = judged(ramp(300.0, 1.0, every_ms=every_ms))
    assert found.verdict is Verdict.PASS, found.reason
    assert found.latency.reaction.steady_ns == 300_000_000
    assert found.latency.stop.stands_ns == pytest.approx(1.1e9, abs=2 * every_ms * 1e6)
    assert found.latency.stop.way == pytest.approx(0.3 * 0.8 + 0.32, abs=0.8 * every_ms / 1e3)


@for_each('share', [0.4, 0.5, 0.8])
def test_braking_more_slowly_is_none_until_it_gets_below_the_envelope(share):
    found = judged(ramp(300.0, share))
    assert found.verdict is Verdict.FAIL
    assert found.latency.latency_class is LatencyClass.VIOLATION


def test_who_steps_to_zero_reacts_with_that_very_command_declared_or_not():
    commands = [*driving(NOMINAL_MS + 10, 260.0), *driving(260.0, ALL_CLEAR_MS, 0.0)]
    declared, plain = judged(commands), judged(commands, stopping=None)
    assert declared.latency.reaction == plain.latency.reaction
    assert declared.latency.reaction.steady_ns == 260_000_000


def test_without_a_declaration_nothing_but_standstill_is_a_reaction():
    assert judged(ramp(100.0, 1.0), stopping=None).latency.reaction.steady_ns == 850_000_000
    assert judged(ramp(100.0, 1.0), stopping=None).verdict is Verdict.FAIL


@for_each('stopping', [
    Stopping(model='half_time', time=1.0), Stopping(model='worst_case', time=1.0),
    Stopping(model='measured', time=1.0, distance=0.5)])
def test_every_model_has_an_envelope_that_meets_its_time(stopping):
    assert judged(ramp(200.0, 1.0), stopping).verdict is Verdict.PASS
    assert judged(ramp(200.0, 0.5), stopping).verdict is Verdict.FAIL


def test_a_measured_distance_is_met_too():
    short = Stopping(model='measured', time=1.0, distance=0.25)
    assert judged(ramp(200.0, 2.0), short).verdict is Verdict.PASS
    assert judged(ramp(200.0, 1.0), short).verdict is Verdict.FAIL


def test_a_ramp_that_ends_above_zero_never_passes():
    for least in (0.3, 0.06, 0.049, 0.02, 0.002):
        assert judged(ramp(200.0, 1.0, least=least)).verdict is Verdict.FAIL


def test_a_braking_that_had_begun_before_the_hazard_is_no_answer_to_it():
    found = judged(ramp(-150.0, 1.0))
    assert found.latency.latency_class is LatencyClass.ANTICIPATORY
    assert found.verdict is not Verdict.PASS


@for_each('rate', [0.5, 0.75, 1.0, 4.0])
@for_each('from_ms', [-150.0, -100.0])
def test_however_hard_it_brakes_a_braking_that_had_begun_is_never_a_pass(from_ms, rate):
    assert judged(ramp(from_ms, rate)).verdict is not Verdict.PASS


@for_each('every_ms', [10.0, 20.0, 50.0])
def test_an_s_curve_that_had_begun_before_the_hazard_is_no_answer_to_it(every_ms):
    """Its deceleration grows by 10 m/s3, so that its first commands take off next to nothing."""
    begins, steps = -120.0, [min(5.0 * t * t, 0.8) for t in (
        (place + 1) * every_ms / 1e3 for place in range(round(700 / every_ms)))]
    slowing = [(begins + place * every_ms, 0.8 - step) for place, step in enumerate(steps)]
    commands = [*driving(NOMINAL_MS + 10, begins, every_ms=every_ms), *slowing,
                *driving(begins + 700.0, ALL_CLEAR_MS, 0.0, every_ms)]
    found = judged(commands)
    assert found.latency.latency_class is LatencyClass.ANTICIPATORY
    assert found.verdict is not Verdict.PASS


def test_two_decreases_by_noise_before_the_hazard_are_no_braking():
    """As of a policy with 2 % of noise: the last two commands before it happen to be slower."""
    drive = driving(NOMINAL_MS + 10, 0.0)
    drive[-3:] = zip((t_ms for t_ms, _ in drive[-3:]), (0.825, 0.8, 0.77), strict=True)
    found = judged([*drive, *driving(10.0, ALL_CLEAR_MS, 0.0)])
    assert found.verdict is Verdict.PASS, found.reason
    assert found.latency.latency_class is LatencyClass.TARGET


@for_each(('noise', 'first'), [(0.002, 0), (0.002, 1), (0.01, 0), (0.01, 1)])
def test_noise_right_before_a_braking_is_not_its_beginning(noise, first):
    commands = [(t_ms, speed + (noise if (place + first) % 2 and t_ms < 300.0 else 0.0))
                for place, (t_ms, speed) in enumerate(ramp(300.0, 1.2))]
    assert judged(commands).latency.reaction.steady_ns == 300_000_000


@for_each('every_ms', [50.0, 100.0, 140.0])
def test_a_bend_before_the_hazard_is_no_noise(every_ms):
    """It slows down once and speeds up again, and begins to brake by less than declared."""
    commands, speed = [], 0.8
    for t_ms, _ in driving(NOMINAL_MS + 10, ALL_CLEAR_MS, every_ms=every_ms):
        is_first = speed == 0.8 and t_ms >= 300.0
        speed = max(0.5, speed - 0.2) if -450.0 <= t_ms < -250.0 else min(0.8, speed + 0.2) \
            if t_ms < 300.0 else max(0.0, speed - (0.45 if is_first else 1.5) * every_ms / 1e3)
        commands.append((t_ms, speed))
    begins_ms = next(t_ms for t_ms, _ in commands if t_ms >= 300.0)
    assert judged(commands).latency.reaction.steady_ns == pytest.approx(begins_ms * 1e6)


def test_one_tap_on_the_brake_is_not_the_beginning_of_a_late_stop():
    tap = [*driving(NOMINAL_MS + 10, 100.0), *driving(100.0, 900.0, 0.79),
           *driving(900.0, ALL_CLEAR_MS, 0.0)]
    assert judged(tap).latency.reaction.steady_ns >= 850_000_000
    assert judged(tap).verdict is Verdict.FAIL


def test_faster_again_on_the_way_begins_anew():
    again = [*driving(NOMINAL_MS + 10, 100.0), (100.0, 0.5), (150.0, 0.9),
             *driving(700.0, ALL_CLEAR_MS, 0.0)]
    assert judged(again).latency.reaction.steady_ns >= 700_000_000


def test_silence_in_the_middle_of_a_ramp_leaves_the_envelope():
    stuck = [*driving(NOMINAL_MS + 10, 100.0), (100.0, 0.75), (150.0, 0.7),
             *driving(700.0, ALL_CLEAR_MS, 0.0)]
    assert judged(stuck).latency.reaction.steady_ns == 700_000_000


def test_slowing_down_begins_with_its_braking_too():
    slow = hazard(robot=RobotModel(kind='mobile_base', max_speed=1.0, stopping=EVEN),
                  reaction=Reaction(signal='speed', at_most=0.4), invariants=[STOPS])
    found = evaluate(record(ramp(300.0, 1.0, least=0.3), slow))
    assert found.latency.reaction.steady_ns == 300_000_000
