# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Among agents a standstill is reached in time if the braking to it began in time."""

from cases import for_each
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from unit.records import command
from unit.rule_runs import block, BUDGET, expects, greets, record_of, speed

PERIOD_MS = 50
START_MS = command(0.0, 0.0).stamps.steady_ns / 1e6
BRAKES = {'model': 'constant_deceleration', 'deceleration': 1.0}
FAST = BUDGET.model_copy(update={'target_ms': 300.0, 'acceptable_ms': 400.0, 'critical_ms': 500.0})


def robot(**declared) -> RobotModel:
    return RobotModel.model_validate(
        {'kind': 'mobile_base', 'max_speed': 1.0, 'radius': 0.3, **declared})


def ramp(begin_ms: float, rate: float, top: float = 0.8, least: float = 0.0):
    """Return commands that slow down at a rate from a time after the demand on."""
    return [command(t_ms, max(least, min(top, top - rate * (t_ms - begin_ms + PERIOD_MS) / 1e3)))
            for t_ms in range(-1000, 6000, PERIOD_MS)]


def judged(events, **declared) -> TrialResult:
    body = block(expects(speed('<=', 0.05), budget=FAST), robot=robot(**declared),
                 commands=(CommandTopic(topic='cmd_vel'),))
    return evaluate(record_of(body, [*events, greets(0.0)]))


def stands(result: TrialResult) -> tuple[Verdict | None, float | None]:
    one = next(found for found in result.findings if found.check == 'greet -> expect')
    latency_ns = result.outcome.rules[0].obligations[0].latency_ns
    return one.verdict, None if latency_ns is None else latency_ns / 1e6


@for_each(('begin_ms', 'rate', 'verdict'), [
    (200, 1.0, Verdict.PASS), (200, 2.0, Verdict.PASS), (450, 1.0, Verdict.PASS),
    (600, 1.0, Verdict.FAIL), (200, 0.4, Verdict.FAIL), (50, 0.1, Verdict.FAIL)])
def test_a_ramp_as_the_robot_declares_it_counts_from_its_first_command(begin_ms, rate, verdict):
    found, latency_ms = stands(judged(ramp(begin_ms, rate), stopping=BRAKES))
    assert found is verdict
    if verdict is Verdict.PASS:
        assert latency_ms == begin_ms


def test_without_a_declared_stopping_nothing_but_the_command_to_stand_counts():
    assert stands(judged(ramp(200, 1.0)))[0] is Verdict.FAIL
    assert stands(judged(ramp(200, 8.0))) == (Verdict.PASS, 250.0)


def test_who_brakes_and_never_stands_has_not_stopped():
    result = judged(ramp(200, 1.0, least=0.2), stopping=BRAKES)
    assert stands(result)[0] is Verdict.FAIL
    assert result.latency.latency_class is LatencyClass.NO_RESPONSE


def test_who_brakes_speeds_up_and_stops_late_is_late():
    events = [event if not 450 <= event.stamps.steady_ns / 1e6 - START_MS < 900 else
              command(event.stamps.steady_ns / 1e6 - START_MS, 0.8) for event in ramp(200, 1.0)]
    assert stands(judged(events, stopping=BRAKES))[0] is Verdict.FAIL


def test_a_standstill_that_is_left_again_is_not_kept():
    events = [*(one for one in ramp(200, 1.0) if one.stamps.steady_ns / 1e6 - START_MS < 3000),
              *(command(float(t_ms), 0.5) for t_ms in range(3000, 6000, PERIOD_MS))]
    assert stands(judged(events, stopping=BRAKES))[0] is Verdict.FAIL
