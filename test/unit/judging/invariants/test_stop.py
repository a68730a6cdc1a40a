# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A protective stop: reached in time, held, and no motion before the all-clear."""

import math
from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.body import Reaction, Silence
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from unit.records import (
    benign_variant,
    driving,
    hazard,
    reacting,
    record,
    shown,
    SIGNALS,
    stages,
    twist,
)

STOP = Stop(name='s', hold_ms=1000.0)


def judged(commands: Any, invariant: Stop = STOP, **changes: Any) -> Finding:
    return invariant.check(stages(record(commands, **changes)))


def test_a_stop_in_time_that_is_held_passes_with_the_time_left():
    finding = judged(reacting(150))
    assert (finding.verdict, finding.margin, finding.unit) == (Verdict.PASS, 0.35, 's')
    assert finding.at_ms == 150.0


def test_the_exact_limit_is_in_time():
    finding = judged(reacting(500))
    assert (finding.verdict, finding.margin) == (Verdict.PASS, 0.0)


def test_one_nanosecond_past_the_limit_is_too_late():
    finding = judged(reacting(500.000001))
    assert (finding.verdict, finding.margin, finding.unit) == (Verdict.FAIL, -1e-9, 's')
    assert ' 0.000001 ms after the limit of 500 ms' in finding.reason


@for_each(('within', 'limit'), [
    ('target', 200.0), ('acceptable', 350.0), ('critical', 500.0), (120.0, 120.0), (90, 90.0)])
def test_the_limit_is_one_of_the_budget_or_a_number(within, limit):
    invariant = Stop(name='s', within=within)
    assert judged(reacting(limit), invariant).verdict is Verdict.PASS
    assert judged(reacting(limit + 1), invariant).verdict is Verdict.FAIL


@for_each('within', [0, -1.0, math.nan, math.inf, 'soon', None])
def test_a_limit_that_is_none_is_refused(within):
    with pytest.raises(ValidationError):
        Stop(name='s', within=within)


def test_the_speed_limit_itself_is_standstill():
    assert judged(reacting(150, 0.05)).verdict is Verdict.PASS
    assert judged(reacting(150, math.nextafter(0.05, 1.0))).verdict is Verdict.FAIL


def test_never_stopping_fails():
    finding = judged(driving(-100, 3000))
    assert finding.verdict is Verdict.FAIL and 'never reached' in finding.reason


def test_silence_after_onset_fails():
    assert judged(driving(-100, 0)).verdict is Verdict.FAIL


def test_without_an_onset_it_is_inconclusive():
    assert judged(reacting(150), onset=False).verdict is Verdict.INCONCLUSIVE


def test_without_a_all_clear_it_is_inconclusive():
    assert judged(reacting(150), all_clear_ms=None).verdict is Verdict.INCONCLUSIVE
    assert judged(driving(-100, 3000), all_clear_ms=None).verdict is Verdict.INCONCLUSIVE


def test_a_stop_from_before_onset_is_no_stop():
    assert judged(driving(-300, 0, 0.0)).verdict is Verdict.FAIL


def test_a_hold_that_breaks_fails():
    finding = judged([*reacting(150)[:18], (1100, 0.4), (1150, 0.0)])
    assert finding.verdict is Verdict.FAIL and 'held only 950.0 ms' in finding.reason
    assert (finding.margin, finding.at_ms) == (pytest.approx(-0.35), 1100.0)


def test_motion_after_the_hold_but_before_all_clear_fails():
    finding = judged([(-100, 0.8), (150, 0.0), (2499, 0.8)])
    assert finding.verdict is Verdict.FAIL and 'moved before the all-clear' in finding.reason
    assert finding.margin == pytest.approx(-0.75)


def test_motion_after_all_clear_is_right():
    assert judged([(-100, 0.8), (150, 0.0), (2500.001, 0.8)]).verdict is Verdict.PASS


def test_motion_at_the_moment_of_all_clear_is_too_early():
    assert judged([(-100, 0.8), (150, 0.0), (2500, 0.8)]).verdict is Verdict.FAIL


def test_a_short_stop_does_not_count_as_the_first():
    commands = [(-100, 0.8), (100, 0.0), (150, 0.8), (200, 0.0)]
    assert judged(commands).verdict is Verdict.FAIL


def through_zero(again: float, rest_ms: float = 170.0) -> list[tuple[float, float]]:
    """Return a braking that passes through zero for 10 ms, and is so fast again until its end."""
    return [*driving(-100, 100), (110, 0.4), (120, 0.0), (130, again),
            *driving(rest_ms, 3000, 0.0)]


def test_a_passage_through_zero_while_it_brakes_is_not_yet_the_stop():
    robot = RobotModel(kind='mobile_base', max_speed=1.0, stopping=Stopping(
        model='constant_deceleration', deceleration=2.0))

    def braking(*commands: Any) -> Finding:
        return STOP.check(stages(record(through_zero(*commands), hazard(robot=robot))))
    assert (braking(0.3).verdict, braking(0.3).at_ms) == (Verdict.PASS, 110.0)
    assert braking(0.3, 900.0).verdict is Verdict.FAIL
    assert 'held only 10.0 ms' in braking(0.3, 900.0).reason
    assert braking(0.85).verdict is Verdict.FAIL
    assert judged(through_zero(0.3)).verdict is Verdict.FAIL  # it declares no braking


def test_a_stop_that_is_broken_again_and_again_is_none():
    pulses = [one for at_ms in range(110, 3000, 100) for one in ((at_ms, 0.0), (at_ms + 50, 0.6))]
    finding = judged([*driving(-100, 100), *pulses])
    assert finding.verdict is Verdict.FAIL and 'held only 50.0 ms' in finding.reason


def test_a_all_clear_before_the_hold_is_over_is_inconclusive():
    assert judged([(-100, 0.8), (150, 0.0)], all_clear_ms=1150).verdict is Verdict.PASS
    assert judged([(-100, 0.8), (150, 0.0)], all_clear_ms=1149.999).verdict is \
        Verdict.INCONCLUSIVE


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_command_that_is_unknown_is_no_stop(value):
    assert judged(reacting(150, value)).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_command_that_is_unknown_breaks_a_stop(value):
    finding = judged([(-100, 0.8), (150, 0.0), (800, value), (850, 0.0)])
    assert (finding.verdict, finding.margin, finding.at_ms) == (Verdict.FAIL, None, 800.0)


def test_an_infinite_speed_breaks_a_stop_without_a_made_up_number():
    finding = judged([(-100, 0.8), (150, 0.0), (800, math.inf), (850, 0.0)])
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, None)


STILL = Reaction(hold_ms=200.0, all=(Limit(signal='speed', at_most=0.05),
                                     Limit(signal='turn', at_most=0.1)))


def test_every_limit_of_the_reaction_must_hold():
    spinning = [(-100, 0.8), (150, twist(0.0, turn=0.5))]
    assert judged(spinning, scenario=hazard(reaction=STILL)).verdict is Verdict.FAIL
    assert judged([*spinning, (300, 0.0)], scenario=hazard(reaction=STILL)).at_ms == 300.0


def test_the_unit_is_that_of_the_limit_that_broke():
    finding = judged([(-100, 0.8), (150, 0.0), (800, twist(0.0, turn=0.5))],
                     scenario=hazard(reaction=STILL))
    assert (finding.margin, finding.unit) == (pytest.approx(-0.4), 'rad/s')


def test_a_signal_of_its_own_replaces_the_reaction():
    own = Stop(name='s', signal='turn', at_most=0.1)
    turning = [(-100, twist(0.8, turn=1.0)), (150, twist(0.8))]
    assert judged(turning, own).verdict is Verdict.PASS
    assert judged(turning, own, scenario=benign_variant()).verdict is Verdict.PASS


@pytest.mark.parametrize('half', [{'signal': 'speed'}, {'at_most': 0.1}])
def test_half_a_limit_of_its_own_is_refused(half):
    with pytest.raises(ValidationError, match='both or neither'):
        Stop(name='s', **half)


STRAIGHT = Stop(name='s', rise_at_most=0.05)


def test_braking_without_a_rise_passes():
    assert judged([(-100, 0.8), (100, 0.6), (200, 0.6), (300, 0.0)], STRAIGHT).verdict is \
        Verdict.PASS


def test_the_exact_rise_is_forgiven_and_a_hair_more_is_not():
    near = Stop(name='s', rise_at_most=0.25)
    assert judged([(-100, 1.0), (100, 0.5), (200, 0.75), (300, 0.0)], near).verdict is Verdict.PASS
    finding = judged([(-100, 1.0), (100, 0.5), (200, 0.76), (300, 0.0)], near)
    assert (finding.verdict, finding.unit, finding.at_ms) == (Verdict.FAIL, 'm/s', 200.0)
    assert finding.margin == pytest.approx(-0.01)
    assert 'rose again' in finding.reason


def test_a_rise_from_the_command_in_force_at_onset_counts():
    assert judged([(-100, 0.5), (100, 0.8), (300, 0.0)], STRAIGHT).verdict is Verdict.FAIL
    assert judged([(-100, 0.2), (-50, 0.8), (100, 0.8), (300, 0.0)], STRAIGHT).verdict is \
        Verdict.PASS


def test_a_rise_right_after_onset_counts():
    assert judged([(-100, 0.8), (20, 0.3), (40, 0.6), (150, 0.0)], STRAIGHT).verdict is \
        Verdict.FAIL


def test_many_small_rises_are_a_rise():
    creeping = [(-100, 0.5), *((50 * step, 0.5 + 0.04 * step) for step in range(1, 6)), (300, 0.0)]
    assert judged(creeping, STRAIGHT).verdict is Verdict.FAIL


def test_who_drives_much_faster_at_the_hazard_first_does_not_stop():
    lunging = [(-500, 0.6), (-100, 0.4), (150, 1.0), (300, 0.0)]
    finding = judged(lunging, Stop(name='s'))
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 150.0)
    assert finding.margin == pytest.approx(-0.1) and 'rose to 1 after' in finding.reason
    for others in ([(-500, 0.6), (-100, 0.4), (150, 0.9), (300, 0.0)],  # not so much faster
                   [(-500, 0.0), (150, 0.3), (300, 0.0)]):  # it did not work before
        assert judged(others, Stop(name='s')).verdict is Verdict.PASS
    at_once = [(-500, 0.4), (50, 1.0), (300, 0.0)]  # it may be the next leg of its task
    assert judged(at_once, Stop(name='s')).verdict is Verdict.INCONCLUSIVE


def test_faster_backwards_is_a_rise_too():
    back = Stop(name='s', signal='ahead', at_most=0.05, rise_at_most=0.05)
    ahead = {**SIGNALS, 'ahead': Signal(topic='cmd_vel', field='linear.x', unit='m/s')}
    commands = [(-100, twist(0.5)), (100, twist(0.2)), (200, twist(-0.6)), (300, twist(0.0))]
    assert judged(commands, back, scenario=hazard(signals=ahead)).verdict is Verdict.FAIL


@pytest.mark.parametrize('value', [math.nan, None])
def test_an_unknown_speed_on_the_way_never_passes(value):
    commands = [(-100, 0.8), (100, value), (300, 0.0)]
    assert judged(commands, STRAIGHT).verdict is Verdict.INCONCLUSIVE
    assert judged([*commands[:2], (200, 0.9), (300, 0.0)], STRAIGHT).verdict is Verdict.FAIL


SIGNED = {**SIGNALS, 'ahead': Signal(topic='cmd_vel', field='linear.x', unit='m/s'),
          'other': Signal(topic='other', field='linear.x', unit='m/s')}
NO_REVERSE = Stop(name='s', signed='ahead', reverse_at_most=0.02)


def signed(*commands: tuple[float, float], invariant: Stop = NO_REVERSE,
           **changes: Any) -> Finding:
    return judged([(t_ms, twist(value)) for t_ms, value in commands], invariant,
                  scenario=hazard(signals=SIGNED, commands=('cmd_vel', 'other')),
                  **changes)


def test_an_overshoot_into_reverse_fails_also_after_the_stop():
    assert signed((-100, 0.8), (150, 0.0), (2400, 0.0)).verdict is Verdict.PASS
    assert signed((-100, 0.8), (150, 0.0), (800, -0.02), (2400, 0.0)).verdict is Verdict.PASS
    finding = signed((-100, 0.8), (150, 0.0), (800, -0.03), (2400, 0.0))
    assert (finding.verdict, finding.unit, finding.at_ms) == (Verdict.FAIL, 'm/s', 800.0)
    assert finding.margin == pytest.approx(-0.01)
    assert signed((-100, 0.8), (150, 0.0), (2501, -0.5)).verdict is Verdict.PASS


def test_noise_about_zero_is_no_reverse_and_a_walk_back_is():
    """Below what counts as a standstill the way back counts, and above it the speed."""
    by_default = Stop(name='s', signed='ahead')
    way = [(-100, 0.8), (150, 0.0)]
    noise = [(200 + 50 * place, (-0.003, 0.003, -0.002)[place % 3]) for place in range(44)]
    assert signed(*way, *noise, (2400, 0.0), invariant=by_default).verdict is Verdict.PASS
    shaken = [(200 + place, (-0.009, 0.009)[place % 2]) for place in range(2200)]
    assert signed(*way, *shaken, (2400, 0.0), invariant=by_default).verdict is Verdict.PASS
    swings = [(200 + 50 * place, (-0.049, 0.049)[place % 2]) for place in range(44)]
    for back in ([(800, -0.049)], swings, [(800, -0.051), (850, 0.0)]):
        assert signed(*way, *back, (2400, 0.0), invariant=by_default).verdict is Verdict.FAIL


def test_reverse_is_against_the_direction_at_onset():
    assert signed((-100, -0.8), (150, 0.0), (800, 0.03), (2400, 0.0)).verdict is Verdict.FAIL
    assert signed((-100, -0.8), (100, -0.3), (150, 0.0), (2400, 0.0)).verdict is Verdict.PASS


def test_a_direction_that_no_command_tells_is_inconclusive():
    other = Stop(name='s', signed='other')
    assert signed((-100, 0.8), (150, 0.0), invariant=other).verdict is Verdict.INCONCLUSIVE
    assert signed((50, 0.8), (150, 0.0), (2400, 0.0)).verdict is Verdict.INCONCLUSIVE


def test_an_unknown_direction_never_passes():
    assert signed((-100, math.nan), (150, 0.0), (2400, 0.0)).verdict is Verdict.INCONCLUSIVE


RESET = Stop(name='s', reset='reset')


def button(t_ms: float, pressed: bool, topic: str = 'reset') -> Any:
    return shown(t_ms, topic, hazard=False, data={'data': pressed})


def released(*commands: tuple[float, float], extra: Any = (), **changes: Any) -> Finding:
    return judged([(-100, 0.8), (150, 0.0), *commands], RESET, extra=extra, **changes)


def test_all_clear_alone_is_no_reset():
    finding = released((2700, 0.8))
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 2700.0)
    assert 'moved before the reset' in finding.reason
    assert released((2900, 0.0)).verdict is Verdict.PASS
    later = record([(-100, 0.8), (150, 0.0), (2700, 0.8)])
    assert STOP.check(stages(later)).verdict is Verdict.PASS


def test_motion_after_the_reset_is_right_and_at_the_same_moment_too_early():
    pressed = [button(2600, True)]
    assert released((2600.001, 0.8), extra=pressed).verdict is Verdict.PASS
    assert released((2600, 0.8), extra=pressed).verdict is Verdict.FAIL


@for_each('extra', [
    [button(2600, False)], [button(2400, True)], [button(2600, True, topic='other')]])
def test_a_reset_that_is_none_releases_nothing(extra):
    assert released((2700, 0.8), extra=extra).verdict is Verdict.FAIL


def test_before_the_reset_the_words_are_those_of_all_clear():
    assert 'moved before the all-clear' in released((2400, 0.8)).reason


def test_a_silence_that_stops_the_robot_is_a_stop_until_the_end():
    stop = Silence(policy='stop', driver_timeout_ms=200.0)
    assert judged([(-100, 0.8), (50, 0.8)], RESET,
                  scenario=hazard(silence=stop)).verdict is Verdict.PASS
