# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A bound holds for every command of its phase, limits included; what is unknown never passes."""

import math
from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.judging.invariants.limits import Bound
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from unit.records import driving, hazard, mark, record, stages, twist

LIMIT = Bound(name='b', signal='speed', at_most=1.0)
DURING = Bound(name='b', signal='speed', at_least=0.3, during='hazard')


def judged(commands: Any, invariant: Bound = LIMIT, **changes: Any) -> Finding:
    return invariant.check(stages(record(commands, hazard(invariants=[invariant]), **changes)))


def test_the_exact_limit_holds():
    finding = judged([(-100, 0.5), (100, 1.0)])
    assert (finding.verdict, finding.margin, finding.unit) == (Verdict.PASS, 0.0, 'm/s')


def test_a_hair_past_the_limit_fails_and_rounding_does_not():
    assert judged([(-100, 0.5), (100, math.nextafter(1.0, 2.0))]).margin == 0.0
    finding = judged([(-100, 0.5), (100, 1.0 + 1e-8), (200, 0.0)])
    assert finding.verdict is Verdict.FAIL
    assert finding.margin is not None and finding.margin < 0
    assert finding.at_ms == 100.0


def test_a_lower_limit_is_inclusive_too():
    assert judged([(-10, 0.3), (100, 0.3)], DURING).verdict is Verdict.PASS
    assert judged([(-10, 0.3), (100, math.nextafter(0.3, 0.0))], DURING).verdict is Verdict.PASS
    assert judged([(-10, 0.3), (100, 0.3 - 1e-8)], DURING).verdict is Verdict.FAIL


def test_the_margin_is_the_smallest_distance():
    both = Bound(name='b', signal='speed', at_least=0.2, at_most=1.0)
    finding = judged([(-100, 0.5), (100, 0.7), (200, 0.3)], both)
    assert (finding.verdict, finding.margin) == (Verdict.PASS, pytest.approx(0.1))
    finding = judged([(-100, 0.5), (100, 1.4), (200, 1.1), (300, 0.1)], both)
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, pytest.approx(-0.4))
    assert finding.at_ms == 100.0


def test_no_command_is_inconclusive():
    assert judged([]).verdict is Verdict.INCONCLUSIVE
    assert judged([], DURING).verdict is Verdict.INCONCLUSIVE


def test_a_command_on_another_topic_is_no_command():
    stray = record([], extra=[record([(0, 0.5)]).of_kind('command')[0].model_copy(
        update={'name': 'elsewhere'})])
    assert LIMIT.check(stages(stray)).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_value_that_is_not_known_is_inconclusive(value):
    finding = judged([(-100, 0.5), (100, value), (200, 0.5)])
    assert (finding.verdict, finding.margin, finding.at_ms) == (Verdict.INCONCLUSIVE, None, 100.0)


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_violation_beside_an_unknown_value_fails(value):
    assert judged([(-100, value), (100, 1.5), (200, value)]).verdict is Verdict.FAIL


@pytest.mark.parametrize('value', [math.inf, -math.inf])
def test_an_infinite_speed_fails_without_a_number(value):
    finding = judged([(100, value)])
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, None)


@for_each('limits', [{'at_most': 1.0}, {'at_least': -1.0}])
@for_each('value', [math.inf, -math.inf])
def test_an_infinite_value_never_passes(limits, value):
    signed = Bound(name='b', signal='x', **limits)
    scenario = hazard(signals={'x': Signal(topic='cmd_vel', field='linear.x', unit='m/s')},
                      reaction=None, domain='robotic_defer')
    assert signed.check(stages(record([(100, value)], scenario))).verdict is not Verdict.PASS


def test_of_two_commands_at_one_instant_the_worse_counts():
    assert judged([(100, 5.0), (100, 0.0)]).verdict is Verdict.FAIL
    assert judged([(100, 0.0), (100, 5.0)]).verdict is Verdict.FAIL


def test_a_whole_trial_counts_from_its_start_to_its_end():
    assert judged([(-699, 1.5), (100, 0.5)]).verdict is Verdict.FAIL
    assert judged([(100, 0.5), (2999, 1.5)]).verdict is Verdict.FAIL


def test_the_hazard_phase_ends_with_all_clear():
    moving = [(-10, 0.8), (100, 0.8)]
    assert judged([*moving, (2500, 0.0)], DURING).verdict is Verdict.FAIL
    assert judged([*moving, (2500.001, 0.0)], DURING).verdict is Verdict.PASS


def test_the_value_in_force_at_onset_counts():
    assert judged([(-300, 0.8), (-10, 0.0), (50, 0.8)], DURING).verdict is Verdict.FAIL
    assert judged([(-300, 0.0), (-10, 0.8), (50, 0.8)], DURING).verdict is Verdict.PASS


def test_a_command_from_before_onset_does_not_answer_for_the_hazard_phase():
    """Silence in the phase: a driver that hears nothing stops the robot."""
    assert judged([(-10, 0.1)], DURING).verdict is Verdict.FAIL
    assert judged([(-10, 0.8)], DURING).verdict is Verdict.INCONCLUSIVE


def test_without_a_all_clear_the_hazard_phase_was_not_observed():
    finding = judged(driving(-100, 3000), DURING, all_clear_ms=None)
    assert finding.verdict is Verdict.INCONCLUSIVE


def test_without_an_onset_the_hazard_phase_was_not_observed():
    assert judged(driving(-100, 3000), DURING, onset=False).verdict is Verdict.INCONCLUSIVE


def test_a_message_without_the_field_is_a_lookup_error():
    stray = Message(type='std_msgs/msg/String', data={'data': 'stop'})
    with pytest.raises(LookupError, match="no field 'linear'"):
        judged([(100, stray)])


def test_a_faster_turn_does_not_count_as_speed():
    assert judged([(100, twist(0.5, turn=9.0))]).verdict is Verdict.PASS


def test_the_severity_goes_into_the_finding():
    mild = Bound(name='b', signal='speed', at_most=1.0, severity=0.4)
    assert judged([(100, 2.0)], mild).severity == 0.4


def test_a_mark_is_no_command():
    marked = record([], extra=[mark('cmd_vel', 10)])
    assert LIMIT.check(stages(marked)).verdict is Verdict.INCONCLUSIVE


STEEP = Bound(name='b', signal='speed', rate_at_most=2.0, during='hazard')
BENT = Bound(name='b', signal='speed', jerk_at_most=40.0, during='hazard')


def ramp(rate: float, every_ms: float = 50.0, from_ms: float = 250.0) -> list[tuple[float, float]]:
    """Drive at 0.8 m/s and slow down to 0 in even steps."""
    steps = round(0.8 / rate * 1e3 / every_ms)
    return [(-100, 0.8), (0, 0.8), *(
        (from_ms + step * every_ms, 0.8 * (1 - (step + 1) / steps)) for step in range(steps))]


def test_the_exact_rate_holds_and_a_bit_more_does_not():
    finding = judged(ramp(2.0), STEEP)
    assert (finding.verdict, finding.unit) == (Verdict.PASS, 'm/s/s')
    assert finding.margin == pytest.approx(0.0)
    less = Bound(name='b', signal='speed', rate_at_most=1.999, during='hazard')
    finding = judged(ramp(2.0), less)
    assert finding.verdict is Verdict.FAIL
    assert finding.margin == pytest.approx(-0.001)
    assert 'rate of speed <= 1.999 broken' in finding.reason


def test_rounding_does_not_break_a_rate():
    """0.4 to 0.3 is a hair more than 0.3 to 0.2."""
    tenths = [(-100, 0.9), (0, 0.9), *((50.0 * step, (9 - step) / 10) for step in range(1, 10))]
    assert judged(tenths, STEEP).verdict is Verdict.PASS


SMOOTH = Bound(name='b', signal='speed', rate_at_most=1.0, during='hazard')


def noisy(change: float) -> list[tuple[float, float]]:
    """Return a drive at 0.8 m/s that is faster with every other command by a change (m/s)."""
    return [(at_ms, 0.8 + (place % 2) * change)
            for place, at_ms in enumerate(range(-100, 2500, 50))]


def test_the_noise_of_a_policy_is_no_jolt_and_a_tenth_of_the_top_speed_is_one():
    """At 20 Hz a noise of 0.06 m/s is a rate of 1.2 m/s2."""
    assert judged(noisy(0.06), SMOOTH).verdict is Verdict.PASS
    finding = judged(noisy(0.1), SMOOTH)
    assert (finding.verdict, finding.margin) == (Verdict.PASS, pytest.approx(0.0))
    finding = judged(noisy(0.101), SMOOTH)
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, pytest.approx(-1.02))


@for_each('every_ms', [10.0, 25.0, 50.0])
def test_a_change_in_small_steps_is_as_large_as_in_one(every_ms):
    assert judged(ramp(1.0, every_ms), SMOOTH).verdict is Verdict.PASS
    finding = judged(ramp(1.6, every_ms), SMOOTH)
    assert finding.verdict is Verdict.FAIL and finding.margin == pytest.approx(-0.6, abs=0.1)


def test_what_is_no_speed_of_the_robot_may_not_change_by_anything():
    turning = Bound(name='b', signal='turn', rate_at_most=1.0, during='hazard')
    turns = [(at_ms, twist(0.8, (place % 2) * 0.06))
             for place, at_ms in enumerate(range(-100, 2500, 50))]
    assert judged(turns, turning).verdict is Verdict.FAIL


def test_a_rise_is_as_steep_as_a_fall():
    assert judged([(-100, 0.0), (0, 0.0), (250, 0.5)], STEEP).margin == pytest.approx(-8.0)
    assert judged([(-100, 0.5), (0, 0.5), (250, 0.0)], STEEP).margin == pytest.approx(-8.0)
    assert judged([(-100, 0.5), (0, 0.5), (250, 0.0)], STEEP).at_ms == 250.0


def test_two_commands_that_arrive_together_are_not_infinitely_steep():
    burst = [(-100, 0.8), (0, 0.8), (260, 0.75), (260.01, 0.7), (2400, 0.7)]
    assert judged(burst, STEEP).verdict is Verdict.PASS


def test_a_jolt_between_two_points_of_the_grid_is_a_jolt():
    jolt = [(-100, 0.8), (0, 0.8), (210, 0.0), (240, 0.8), (2400, 0.8)]
    finding = judged(jolt, STEEP)
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 210.0)
    assert finding.margin == pytest.approx(2.0 - 0.8 / 0.05)
    finding = judged(jolt, BENT)
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 210.0)


def test_a_step_right_before_all_clear_counts_and_one_after_it_does_not():
    assert judged([(-100, 0.8), (0, 0.8), (2499, 0.0)], STEEP).verdict is Verdict.FAIL
    assert judged([(-100, 0.8), (0, 0.8), (2500, 0.0)], STEEP).verdict is Verdict.FAIL
    assert judged([(-100, 0.8), (0, 0.8), (10, 0.8), (2501, 0.0)], STEEP).verdict is Verdict.PASS


def test_a_step_before_the_phase_does_not_count_and_one_right_after_its_begin_does():
    assert judged([(-100, 0.8), (-10, 0.0), (0, 0.0), (100, 0.0)], STEEP).verdict is Verdict.PASS
    assert judged([(-100, 0.8), (10, 0.0), (100, 0.0)], STEEP).verdict is Verdict.FAIL


def test_a_whole_trial_is_as_steep_as_its_steepest_step():
    whole = Bound(name='b', signal='speed', rate_at_most=2.0)
    assert judged([(-600, 0.0), (-500, 0.8), (100, 0.8)], whole).verdict is Verdict.FAIL
    assert judged(ramp(2.0), whole).verdict is Verdict.PASS


def test_jerk_is_the_change_of_the_rate():
    """A ramp of 2 m/s2 in steps of 50 ms begins and ends with a jerk of 40 m/s3."""
    finding = judged(ramp(2.0), BENT)
    assert (finding.verdict, finding.unit) == (Verdict.PASS, 'm/s/s^2')
    assert finding.margin == pytest.approx(0.0)
    less = Bound(name='b', signal='speed', jerk_at_most=39.9, during='hazard')
    assert judged(ramp(2.0), less).margin == pytest.approx(-0.1)


def test_the_grid_can_be_told():
    slow = Bound(name='b', signal='speed', rate_at_most=2.0, grid_ms=200.0, during='hazard')
    steps = [(-100, 0.8), (0, 0.8), (300, 0.4), (500, 0.0)]
    assert judged(steps, slow).verdict is Verdict.PASS
    assert judged(steps, STEEP).verdict is Verdict.FAIL


def test_the_smallest_of_several_margins_counts_with_its_unit():
    several = Bound(name='b', signal='speed', at_most=1.0, rate_at_most=2.0, during='hazard')
    assert (judged(ramp(1.0), several).unit, judged(ramp(2.0), several).unit) == ('m/s', 'm/s/s')
    assert judged([(-100, 0.8), (0, 1.2), (100, 1.2)], several).unit == 'm/s'
    assert 'speed <= 1 and rate of speed <= 2' in judged(ramp(1.0), several).reason


@for_each('invariant', [STEEP, BENT, Bound(
    name='b', signal='speed', at_most=9.0, rate_at_most=9.0, during='hazard')])
@for_each('value', [math.nan, None, math.inf])
def test_how_steep_an_unknown_value_is_never_passes(invariant, value):
    for t_ms in (-50, 100, 2500):
        commands = [(-100, 0.8), (0, 0.8), (200, 0.8)]
        commands = sorted([*commands, (t_ms, value)], key=lambda it: it[0])
        assert judged(commands, invariant).verdict is not Verdict.PASS


@pytest.mark.parametrize('invariant', [STEEP, BENT])
def test_how_steep_silence_is_cannot_be_told(invariant):
    assert judged([], invariant).verdict is Verdict.INCONCLUSIVE
    assert judged([(-100, 0.8)], invariant).verdict is Verdict.INCONCLUSIVE


def test_one_command_has_no_rate():
    whole = Bound(name='b', signal='speed', at_most=1.0, rate_at_most=2.0)
    finding = judged([(100, 0.5)], whole)
    assert finding.verdict is Verdict.INCONCLUSIVE and 'too few commands' in finding.reason
    assert judged([(100, 1.5)], whole).verdict is Verdict.FAIL
    assert judged([(100, 0.5), (110, 0.5)], whole).verdict is Verdict.PASS


def test_a_phase_that_is_too_short_has_no_jerk():
    coarse = Bound(name='b', signal='speed', jerk_at_most=9.0, grid_ms=10_000.0)
    assert judged([(100, 0.5)], coarse).verdict is Verdict.INCONCLUSIVE


@for_each('changes', [
    {}, {'rate_at_most': 0.0}, {'jerk_at_most': -1.0}, {'rate_at_most': math.nan},
    {'rate_at_most': 1.0, 'grid_ms': 0.5}, {'rate_at_most': 1.0, 'at_least': 2.0, 'at_most': 1.0}])
def test_limits_that_are_none_are_refused(changes):
    with pytest.raises(ValidationError):
        Bound(name='b', signal='speed', **changes)
