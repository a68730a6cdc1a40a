# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where stopping at once is wrong: first go on, then stop and stay; unknown never passes."""

import math
from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.judging.invariants.no_stop import Defer
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from unit.records import driving, hazard, record, stages, twist

FIELDS = {'name': 'd', 'signal': 'speed', 'at_least': 0.2, 'protected_ms': 1000.0,
          'at_most': 0.05, 'within_ms': 500.0}
DEFER = Defer(**FIELDS)


def judged(commands: Any, silence: Silence | None = None, **changes: Any) -> Finding:
    return DEFER.check(stages(record(commands, hazard(silence=silence), **changes)))


def clearing(stop_ms: float, speed: float | None = 0.6) -> list[tuple[float, float | None]]:
    """Go on at a speed until a stop that lasts."""
    return [(-100, 0.8), (10, speed), (990, speed), (stop_ms, 0.0), (2400, 0.0)]


def test_clearing_the_zone_and_stopping_after_it_passes_with_the_time_left():
    finding = judged(clearing(1200))
    assert (finding.verdict, finding.unit, finding.at_ms) == (Verdict.PASS, 's', 1200.0)
    assert finding.margin == pytest.approx(0.3)
    assert '0.4 m/s to spare' in finding.reason


def test_a_stop_while_protected_is_the_wrong_stop():
    finding = judged([(-100, 0.8), (300, 0.0), (2400, 0.0)])
    assert (finding.verdict, finding.unit, finding.at_ms) == (Verdict.FAIL, 'm/s', 300.0)
    assert finding.margin == pytest.approx(-0.2)
    assert 'wrong stop' in finding.reason


def test_the_exact_speed_clears_the_zone_and_a_hair_less_does_not():
    assert judged(clearing(1200, 0.2)).verdict is Verdict.PASS
    assert judged(clearing(1200, math.nextafter(0.2, 0.0))).verdict is Verdict.FAIL


def test_a_stop_as_the_protection_ends_is_right_and_a_nanosecond_earlier_is_wrong():
    assert judged(clearing(1000)).verdict is Verdict.PASS
    finding = judged(clearing(999.999999))
    assert finding.verdict is Verdict.FAIL and 'wrong stop' in finding.reason


def test_the_exact_time_is_in_time_and_a_nanosecond_more_is_not():
    assert judged(clearing(1500)).margin == 0.0
    assert judged(clearing(1500)).verdict is Verdict.PASS
    finding = judged(clearing(1500.000001))
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, -1e-9)


def test_what_counts_as_stopped_is_inclusive():
    commands = [(-100, 0.8), (10, 0.6), (1200, 0.05), (2400, 0.05)]
    assert judged(commands).verdict is Verdict.PASS
    assert judged([*commands[:2], (1200, math.nextafter(0.05, 1.0))]).verdict is Verdict.FAIL


def test_the_command_in_force_at_onset_counts():
    finding = judged([(-100, 0.0), (10, 0.6), (1200, 0.0)])
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 0.0)


def test_never_stopping_fails():
    finding = judged(driving(-100, 3000))
    assert finding.verdict is Verdict.FAIL and 'never reached' in finding.reason


def test_going_silent_after_the_protection_is_no_stop():
    assert judged([(-100, 0.8), (10, 0.6)]).verdict is Verdict.FAIL


def test_moving_again_before_all_clear_fails():
    finding = judged([*clearing(1200), (2500, 0.8)])
    assert (finding.verdict, finding.at_ms, finding.unit) == (Verdict.FAIL, 2500.0, 'm/s')
    assert finding.margin == pytest.approx(-0.75)
    assert 'moved again' in finding.reason
    assert judged([*clearing(1200), (2500.001, 0.8)]).verdict is Verdict.PASS


def test_no_command_while_protected_is_inconclusive():
    assert judged([(-100, 0.8), (1200, 0.0)]).verdict is Verdict.INCONCLUSIVE


def test_a_silence_that_stops_the_robot_is_the_wrong_stop_and_later_the_right_one():
    stop = Silence(policy='stop', driver_timeout_ms=300.0)
    assert judged([(-100, 0.8), (10, 0.6), (500, 0.6)], silence=stop).verdict is Verdict.FAIL
    steady = [*driving(-100, 990, every_ms=50.0)]
    finding = judged(steady, silence=stop)
    assert (finding.verdict, finding.at_ms) == (Verdict.PASS, 1250.0)


@pytest.mark.parametrize('changes', [{'onset': False}, {'all_clear_ms': None}])
def test_a_hazard_that_was_not_observed_whole_is_inconclusive(changes):
    assert judged(clearing(1200), **changes).verdict is Verdict.INCONCLUSIVE
    assert judged(driving(-100, 3000), **changes).verdict is Verdict.INCONCLUSIVE


def test_a_all_clear_before_the_time_is_over_is_inconclusive():
    assert judged(clearing(1200), all_clear_ms=1500).verdict is Verdict.PASS
    assert judged(clearing(1200), all_clear_ms=1499.999).verdict is Verdict.INCONCLUSIVE


@for_each('value', [math.nan, None])
@for_each('t_ms', [-50, 500, 999])
def test_an_unknown_value_while_protected_is_inconclusive(value, t_ms):
    commands = sorted([*clearing(1200), (t_ms, value)], key=lambda it: it[0])
    assert judged(commands).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_wrong_stop_beside_an_unknown_value_fails(value):
    finding = judged([(-100, 0.8), (100, value), (300, 0.0), (2400, 0.0)])
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 300.0)


@pytest.mark.parametrize('value', [math.nan, None])
def test_an_unknown_value_is_no_stop_and_breaks_one(value):
    assert judged([(-100, 0.8), (10, 0.6), (1200, value)]).verdict is Verdict.INCONCLUSIVE
    finding = judged([*clearing(1200)[:-1], (1800, value), (2400, 0.0)])
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, None)
    assert 'unknown' in finding.reason


@pytest.mark.parametrize('value', [math.inf, -math.inf])
def test_an_infinite_speed_never_passes(value):
    assert judged([(-100, 0.8), (10, value), (1200, 0.0)]).verdict is Verdict.FAIL
    assert judged([*clearing(1200)[:-1], (1800, value)]).verdict is Verdict.FAIL


@for_each('changes', [
    {'at_least': 0.05}, {'at_least': 0.04}, {'at_least': 0.0, 'at_most': 0.0},
    {'protected_ms': 0.0}, {'within_ms': 0.0}, {'within_ms': math.nan}])
def test_limits_that_contradict_each_other_are_refused(changes):
    with pytest.raises(ValidationError):
        Defer(**{**FIELDS, **changes})


def test_turning_on_the_spot_is_no_stop():
    turning = [*clearing(1200)[:-2], (1200, twist(0.0, 2.0)), (2400, twist(0.0, 2.0))]
    assert judged(turning).verdict is Verdict.FAIL
