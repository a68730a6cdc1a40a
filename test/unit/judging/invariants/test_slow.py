# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Slow enough in time and until the all-clear; silence and unknown values are not slow."""

import math
from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.judging.invariants.stop import Slow
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.stimuli.faults import CommandFault
from unit.records import ALL_CLEAR_MS, driving, hazard, reacting, record, stages
from unit.world_scenarios import BASE, Brakes, in_world

SLOW = Slow(name='s', signal='speed', at_most=0.3)


def judged(commands: Any, invariant: Slow = SLOW, silence: Silence | None = None,
           **changes: Any) -> Finding:
    return invariant.check(stages(record(commands, hazard(silence=silence), **changes)))


def test_slowing_down_in_time_passes_with_the_speed_to_spare():
    finding = judged([(-100, 0.8), (150, 0.2), (600, 0.25), (900, 0.1)])
    assert (finding.verdict, finding.unit, finding.at_ms) == (Verdict.PASS, 'm/s', 600.0)
    assert finding.margin == pytest.approx(0.05)


def test_the_exact_speed_is_slow_and_a_hair_more_is_not():
    assert judged(reacting(150, 0.3)).margin == 0.0
    assert judged(reacting(150, 0.3)).verdict is Verdict.PASS
    finding = judged(reacting(150, math.nextafter(0.3, 1.0)))
    assert finding.verdict is Verdict.FAIL
    assert finding.margin is not None and finding.margin < 0


def test_the_exact_time_is_in_time_and_a_nanosecond_more_is_not():
    assert judged(reacting(500, 0.2)).verdict is Verdict.PASS
    finding = judged(reacting(500.000001, 0.2))
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 500.0)
    assert finding.margin == pytest.approx(-0.5)
    assert '0.5 m/s too fast 500 ms after onset' in finding.reason


@for_each(('within', 'limit'), [('target', 200.0), (120.0, 120.0), (90, 90.0)])
def test_the_time_is_one_of_the_budget_or_a_number(within, limit):
    invariant = Slow(name='s', signal='speed', at_most=0.3, within=within)
    assert judged(reacting(limit, 0.2), invariant).verdict is Verdict.PASS
    assert judged(reacting(limit + 1, 0.2), invariant).verdict is Verdict.FAIL


@for_each('within', [0, -1.0, math.nan, math.inf, 'soon', None])
def test_a_time_that_is_none_is_refused(within):
    with pytest.raises(ValidationError):
        Slow(name='s', signal='speed', at_most=0.3, within=within)


def test_fast_before_the_time_is_over_is_allowed():
    assert judged([(-100, 0.8), (150, 0.2), (300, 0.9), (400, 0.2)]).verdict is Verdict.PASS


def test_fast_again_before_all_clear_fails_and_after_it_is_right():
    slow = [(-100, 0.8), (150, 0.2)]
    finding = judged([*slow, (2500, 0.8)])
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 2500.0)
    assert judged([*slow, (2500.001, 0.8)]).verdict is Verdict.PASS


def test_the_worst_command_is_named():
    finding = judged([(-100, 0.8), (150, 0.2), (700, 0.4), (800, 0.6), (900, 0.2)])
    assert (finding.at_ms, finding.margin) == (800.0, pytest.approx(-0.3))


def test_silence_after_onset_fails():
    assert judged(driving(-100, 0, 0.8)).verdict is Verdict.FAIL
    assert judged(driving(-100, 0, 0.2)).verdict is Verdict.FAIL


def test_a_silence_that_stops_the_robot_is_slow():
    stop = Silence(policy='stop', driver_timeout_ms=200.0)
    assert judged([(-100, 0.8), (50, 0.8)], silence=stop).verdict is Verdict.PASS
    late = Silence(policy='stop', driver_timeout_ms=500.0)
    assert judged([(-100, 0.8), (50, 0.8)], silence=late).verdict is Verdict.FAIL


@pytest.mark.parametrize('changes', [{'onset': False}, {'all_clear_ms': None}])
def test_a_hazard_that_was_not_observed_whole_is_inconclusive(changes):
    assert judged(reacting(150), **changes).verdict is Verdict.INCONCLUSIVE
    assert judged(driving(-100, 3000), **changes).verdict is Verdict.INCONCLUSIVE


def test_a_all_clear_before_the_time_is_over_is_inconclusive():
    assert judged(reacting(150), all_clear_ms=500).verdict is Verdict.PASS
    assert judged(reacting(150), all_clear_ms=499.999).verdict is Verdict.INCONCLUSIVE


@for_each('value', [math.nan, None])
@for_each('t_ms', [480, 500, 700, 2500])
def test_an_unknown_value_in_force_after_the_time_never_passes(value, t_ms):
    commands = [(-100, 0.8), (150, 0.2), (t_ms, value), (2510, 0.2)]
    assert judged(commands).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_violation_beside_an_unknown_value_fails(value):
    assert judged([(-100, 0.8), (150, 0.2), (700, value), (800, 0.9)]).verdict is Verdict.FAIL
    assert judged([(-100, 0.8), (150, value), (400, 0.2)]).verdict is Verdict.PASS


@pytest.mark.parametrize('value', [math.inf, -math.inf])
def test_an_infinite_speed_fails_without_a_number(value):
    finding = judged([(-100, 0.8), (150, 0.2), (700, value)])
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, None)


@for_each(('slow_s', 'verdict'), [
    (0.3, Verdict.PASS), (0.7, Verdict.INCONCLUSIVE), (2.0, Verdict.FAIL)])
def test_slow_commands_that_do_not_arrive_make_no_slow_robot(slow_s, verdict):
    """It is told 0.2 m/s after 300 ms, and the world tells when it really is as slow."""
    class Robot(Brakes):

        def v(self, t_s: float) -> float:
            return 0.2 if slow_s <= t_s <= ALL_CLEAR_MS / 1e3 else self.speed

    fault = CommandFault(topic='cmd_vel', fault='freeze')
    scenario = hazard(robot=BASE, stimuli=(Person(topic='scan', distance=1.5), fault))
    found = SLOW.check(stages(in_world(Robot(), scenario=scenario, asked=reacting(300, 0.2))))
    assert found.verdict is verdict, found.reason
    assert verdict is Verdict.PASS or 'according to the simulator' in found.reason
    plain = hazard(robot=BASE)
    found = in_world(Robot(), scenario=plain, asked=reacting(300, 0.2))
    assert SLOW.check(stages(found)).verdict is Verdict.PASS


def test_slow_commands_that_do_not_arrive_and_no_truth_tell_nothing():
    fault = CommandFault(topic='cmd_vel', fault='freeze')
    found = SLOW.check(stages(record(reacting(300, 0.2), hazard(stimuli=(fault,)))))
    assert found.verdict is Verdict.INCONCLUSIVE
