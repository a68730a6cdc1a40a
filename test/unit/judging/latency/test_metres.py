# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From a latency to metres: upper bounds only, and no number where one of them is missing."""

import math
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.latency.pairing import separation_cost
from safety_scenarios.scenario.blocks.robot import RobotModel, Separation, SeparationCost, Stopping
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import Reaction, Silence
from safety_scenarios.scenario.timing import Measuring
from unit.records import (
    approaching,
    elapsed,
    hazard,
    measure,
    record,
    reported,
    shown,
    SIGNALS,
    stages,
)

ARM = RobotModel(kind='arm', max_speed=1.0,
                 stopping=Stopping(model='measured', time=0.3, distance=0.15))
TERMS = Separation(signal='speed', approach_speed=1.6, intrusion=0.2, other_uncertainty=0.1,
                   robot_uncertainty=0.05, other_time=0.06)
GAP = Signal(topic='odom', field='linear.x', unit='m')


def stopping_at(t_ms: float, speed: float | None = 1.0) -> list[tuple[float, float | None]]:
    return [(-100, speed), (-50, speed), (-10, speed), (t_ms / 2, speed), (t_ms, 0.0), (2400, 0.0)]


def cost(commands: Any, shown_as: Any = None, *, terms: Separation | None = TERMS,
         robot: RobotModel = ARM, uncertainty_ms: float = 0.0, feedback: Any = (),
         **changes: Any) -> SeparationCost | None:
    walk = approaching(2.0, 1.6) if shown_as is None else shown_as
    found = record(commands, hazard(robot=robot, separation=terms, feedback=('odom',),
                                    signals={**SIGNALS, 'gap': GAP}, **changes),
                   hazard_at=walk[0] if walk else shown(), extra=[*walk[1:], *feedback])
    latency = measure(found)
    if latency is not None and latency.reaction is not None and uncertainty_ms:
        latency = latency.model_copy(update={'reaction': latency.reaction.model_copy(update={
            'uncertainty_ns': elapsed(1.0, uncertainty_ms=uncertainty_ms).uncertainty_ns})})
    return separation_cost(stages(found).motion, latency)


def test_a_latency_has_its_terms():
    found = cost(stopping_at(200))
    assert found is not None
    assert (found.latency_ms, found.speed, found.approach_speed) == (200.0, 1.0, 1.6)
    assert found.human == pytest.approx(1.6 * 0.56)
    assert found.reaction == pytest.approx(0.26)
    assert (found.stopping, found.stopping_time) == (0.15, 0.3)
    assert found.margins == pytest.approx(0.35)
    assert found.required == pytest.approx(1.656)
    assert (found.available, found.per_second) == (2.0, 2.6)
    assert found.margin == pytest.approx(0.344)


def test_the_cost_agrees_with_the_closed_form_at_other_latencies():
    found = cost(stopping_at(200))
    assert found is not None
    for latency_ms in (0.0, 300.0, 380.0):
        assert found.at_latency(latency_ms).required == pytest.approx(
            TERMS.required(ARM, 1.0, latency_ms / 1e3).total)


def test_the_uncertainty_counts_against_it():
    exact, vague = cost(stopping_at(200)), cost(stopping_at(200), uncertainty_ms=10.0)
    assert exact is not None and vague is not None
    assert vague.latency_ms == 210.0
    assert vague.required - exact.required == pytest.approx(0.026)


def test_the_fastest_before_the_reaction_counts():
    faster = [(-100, 0.5), (-50, 0.5), (-10, 0.5), (100, 0.9), (150, 0.6), (200, 0.0), (2400, 0.0)]
    found = cost(faster)
    assert found is not None and found.speed == 0.9
    earlier = [(-100, 0.9), (-50, 0.9), (-10, 0.5), (200, 0.0), (600, 0.04), (2400, 0.0)]
    found = cost(earlier)
    assert found is not None and found.speed == 0.5


def test_a_joint_speed_counts_by_its_radius():
    found = cost(stopping_at(200), terms=TERMS.model_copy(update={'metres_per_unit': 0.5}))
    assert found is not None and (found.speed, found.per_second) == (0.5, 2.1)


def test_a_robot_that_goes_away_is_not_taken_for_one_that_stands():
    signals = {'ahead': Signal(topic='cmd_vel', field='linear.x', unit='m/s'), **SIGNALS}
    away = TERMS.model_copy(update={'signal': 'ahead'})
    found = separation_cost(*_measured(stopping_at(200, -0.8), away, signals))
    assert found is not None and (found.speed, found.reaction, found.stopping) == (0.0, 0.0, 0.15)


def _measured(commands: Any, terms: Separation, signals: Any) -> Any:
    found = record(commands, hazard(robot=ARM, separation=terms, signals={
        'speed': signals['speed'], **signals}), hazard_at=approaching(2.0, 1.6)[0])
    return stages(found).motion, measure(found)


@for_each('value', [math.nan, math.inf, None, 1.2])
def test_a_speed_that_is_unknown_or_not_declared_has_no_cost(value):
    assert cost([(-100, 1.0), (-50, 1.0), (-10, value), (200, 0.0), (2400, 0.0)]) is None
    assert cost([(-100, 1.0), (-50, 1.0), (-10, 1.0), (100, value), (200, 0.0),
                 (2400, 0.0)]) is None


def test_rounding_of_the_top_speed_is_no_excess():
    assert cost(stopping_at(200, math.nextafter(1.0, 2.0))) is not None


def test_no_reaction_has_no_bound_and_so_no_cost():
    assert cost([(-100, 1.0), (-50, 1.0), (-10, 1.0), (2400, 1.0)]) is None


def test_without_the_terms_or_the_stopping_there_is_no_cost():
    assert cost(stopping_at(200), terms=None) is None
    assert cost(stopping_at(200), robot=RobotModel(kind='arm', max_speed=1.0)) is None
    found = record(stopping_at(200), hazard(robot=ARM, separation=TERMS))
    assert separation_cost(stages(found).motion, None) is None


def test_no_speed_before_the_hazard_has_no_cost():
    assert cost([(10, 1.0), (200, 0.0), (2400, 0.0)]) is None


def test_without_a_distance_only_what_is_left_is_unknown():
    found = cost(stopping_at(200), [])
    assert found is not None
    assert (found.available, found.margin) == (None, None)
    assert found.required == pytest.approx(1.656)


@for_each(('value', 'available'), [(1.7, 1.7), (math.nan, None), (math.inf, None)])
def test_a_measured_distance_is_the_one_in_force_at_onset(value, available):
    terms = TERMS.model_copy(update={'distance': 'gap'})
    told = [reported(-30, value), reported(40, 0.5)]
    found = cost(stopping_at(200), [], terms=terms, feedback=told)
    assert found is not None and found.available == available


def test_a_silence_that_stops_the_robot_costs_its_timeout():
    stop = Silence(policy='stop', driver_timeout_ms=150.0)
    found = cost([(-100, 1.0), (-50, 1.0), (0, 1.0), (50, 1.0)], silence=stop,
                 reaction=Reaction(signal='speed', at_most=0.05, hold_ms=200.0))
    assert found is not None
    assert found.latency_ms == pytest.approx(200.0)


@pytest.mark.parametrize('value', [math.nan, math.inf])
def test_an_odd_distance_does_not_break_the_judging(value):
    terms = TERMS.model_copy(update={'distance': 'gap'})
    found = record(stopping_at(200), hazard(
        robot=ARM, separation=terms, feedback=('odom',), signals={**SIGNALS, 'gap': GAP}),
        extra=[reported(-30, value)], measuring=Measuring(exact=True))
    result = evaluate(found)
    assert result.separation is not None and result.separation.margin is None
