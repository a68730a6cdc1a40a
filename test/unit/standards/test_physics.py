# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Chains of times, limits of matter, and a battery that heats up."""

import math

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.standards.dynamics import (
    fall_time,
    friction_deceleration,
    Pendulum,
    tip_deceleration,
)
from safety_scenarios.standards.reaction_chain import (
    diagnostics_in_time,
    failure_free_hours,
    reaction_time,
    worst_case_reaction,
)
from safety_scenarios.standards.thermal import rate_alarm_ns

SECOND_NS = 10**9
PARTS = {'sensor': 0.05, 'transport': 0.01, 'logic': 0.2, 'output': 0.04}


def test_a_reaction_is_the_sum_of_its_parts():
    assert reaction_time(**PARTS) == pytest.approx(0.3)
    assert reaction_time(**PARTS, stopping=0.5) == pytest.approx(0.8)


def test_a_chain_waits_a_period_at_each_stage():
    assert worst_case_reaction([(0.1, 0.02)]) == pytest.approx(0.12)
    assert worst_case_reaction([(0.1, 0.02)] * 3) == pytest.approx(0.36)


@pytest.mark.parametrize(('interval', 'expected'), [(0.75, True), (0.750001, False)])
def test_diagnostics_are_in_time_up_to_the_limit(interval, expected):
    assert diagnostics_in_time(interval=interval, fault_reaction=0.25,
                               process_safety_time=1.0) is expected


def test_twice_the_rate_takes_half_the_hours():
    assert failure_free_hours(1e-6) == pytest.approx(2 * failure_free_hours(2e-6))
    assert failure_free_hours(1.0, 1 - math.exp(-1.0)) == pytest.approx(1.0)


def test_a_foot_captures_in_the_direction_of_motion():
    assert Pendulum(height=0.9).capture_offset(-0.5) == -Pendulum(height=0.9).capture_offset(0.5)


def heating(*rises: float) -> tuple[list[int], list[float]]:
    temperatures = [20.0]
    for rise in rises:
        temperatures.append(temperatures[-1] + rise)
    return [SECOND_NS * place for place in range(len(temperatures))], temperatures


@for_each(('rises', 'alarm_s'), [
    ((1.0, 1.0, 1.0), 3), ((1.0, 1.0), None), ((1.0, 1.0, 0.99, 1.0, 1.0), None),
    ((0.5, 2.0, 1.0, 1.0), 4), ((1.0, 1.0, 0.0, 1.0, 1.0, 1.0), 6), ((), None)])
def test_a_rise_alarms_after_three_seconds_without_a_break(rises, alarm_s):
    found = rate_alarm_ns(*heating(*rises))
    assert found == (None if alarm_s is None else alarm_s * SECOND_NS)


def test_without_samples_there_is_no_alarm():
    assert rate_alarm_ns([], []) is None


@for_each('call', [
    lambda: reaction_time(**{**PARTS, 'logic': -0.1}),
    lambda: reaction_time(**{**PARTS, 'sensor': math.nan}),
    lambda: reaction_time(**PARTS, stopping=math.inf), lambda: worst_case_reaction([]),
    lambda: worst_case_reaction([(0.1, -0.1)]), lambda: worst_case_reaction([(math.nan, 0.1)]),
    lambda: diagnostics_in_time(interval=math.nan, fault_reaction=0.1, process_safety_time=1.0),
    lambda: diagnostics_in_time(interval=0.1, fault_reaction=-0.1, process_safety_time=1.0),
    lambda: diagnostics_in_time(interval=0.1, fault_reaction=0.1, process_safety_time=math.inf),
    lambda: failure_free_hours(0.0), lambda: failure_free_hours(math.nan),
    lambda: failure_free_hours(1e-6, 1.0), lambda: failure_free_hours(1e-6, 0.0),
    lambda: failure_free_hours(1e-6, math.nan), lambda: friction_deceleration(-0.1),
    lambda: friction_deceleration(math.nan), lambda: friction_deceleration(0.4, 0.0),
    lambda: tip_deceleration(-0.1, 1.0), lambda: tip_deceleration(0.1, 0.0),
    lambda: fall_time(-1.0), lambda: fall_time(math.nan), lambda: fall_time(1.0, -9.81),
    lambda: Pendulum(height=0.0), lambda: Pendulum(height=math.nan),
    lambda: Pendulum(height=1.0).capture_offset(math.nan),
    lambda: rate_alarm_ns([0, 1], [20.0, math.nan]), lambda: rate_alarm_ns([0, 1], [20.0]),
    lambda: rate_alarm_ns([1, 1], [20.0, 21.0]), lambda: rate_alarm_ns([], [], rate=0.0),
    lambda: rate_alarm_ns([], [], hold=-1.0)])
def test_what_is_no_quantity_is_refused(call):
    with pytest.raises(InputError, match=r'got .*, expected'):
        call()
