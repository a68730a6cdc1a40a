# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Among agents a stop is judged by when the braking began, and a demand by who decided."""

from collections.abc import Mapping
from typing import Any

from cases import for_each
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.blocks.agents import Publish, Rule
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.timing import Timing
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.stimuli.faults import LinkLoss
from unit.records import command, ns, stamps
from unit.rule_runs import (
    block,
    BUDGET,
    does,
    expects,
    GREETED,
    greets,
    record_of,
    speed,
    START,
    when,
)

PERIOD_MS, GREETED_MS, SLOWS_MS = 50, 2000, 200
FAST = BUDGET.model_copy(update={'target_ms': 300.0, 'acceptable_ms': 400.0, 'critical_ms': 500.0})
STANDS = expects(speed('<=', 0.05), budget=FAST)
PLAN = {'received': 1000, 'began': 900}
"""Decided long before the demand."""
SEES = {'received': 20, 'began': 10}
LATE = {'note': 'timeout', 'began': 0}
LOST = {'note': 'no scan', 'began': 0}


def verdict(told: Mapping[int, Mapping[str, Any]], rule: Rule = STANDS, subject: Any = 'model',
            *more: Rule) -> Verdict:
    """
    Judge a robot that slows down 200 ms after a greeting, and stands 50 ms later.

    :param told: from this time after it on (ms) commands have these stamps, in ms before each
    """
    events = []
    for count, t_ms in enumerate(range(0, 4900, PERIOD_MS), 1):
        given = dict(next((one for from_ms, one in sorted(told.items(), reverse=True)
                           if t_ms >= GREETED_MS + from_ms), SEES))
        note = given.pop('note', '')
        slows_ms = t_ms - GREETED_MS - SLOWS_MS
        events += [command(float(t_ms), 0.8 if slows_ms < 0 else 0.0 if slows_ms else 0.4,
                           sequence=count),
                   Timing({name: ns(one) for name, one in given.items()}, note=note).event(
                       'cmd_vel', count, stamps(t_ms))]
    body = block(rule, *more, commands=(CommandTopic(topic='cmd_vel'),))
    return evaluate(record_of(body, [*events, greets(GREETED_MS)]), subject=subject).verdict


@for_each(('told', 'expected'), [
    ({}, Verdict.PASS),
    ({200: PLAN}, Verdict.INCONCLUSIVE),
    ({200: PLAN, 450: SEES}, Verdict.PASS),
    ({200: PLAN, 550: SEES}, Verdict.INCONCLUSIVE),
    ({200: PLAN, 450: LATE}, Verdict.INCONCLUSIVE)])
def test_a_plan_from_before_the_demand_meets_it_only_with_a_decision_that_follows_in_time(
        told, expected):
    for subject in ('model', 'system'):
        assert verdict(told, subject=subject) is expected


def test_what_follows_from_the_robots_own_speed_may_be_planned_before():
    """The rule fires at a command of the plan, which meets it, too."""
    rule = expects(speed('<=', 0.05), on=when(speed('<=', 0.5)), budget=FAST)
    assert verdict({-1000: PLAN}, rule) is Verdict.PASS


def test_a_demand_that_comes_later_than_its_cause_may_be_met_by_a_decision_in_between():
    rule = expects(speed('<=', 0.05), on=when(GREETED, after_ms=150), budget=FAST)
    assert verdict({200: {'received': 120, 'began': 110}}, rule) is Verdict.PASS
    assert verdict({200: PLAN}, rule) is Verdict.INCONCLUSIVE


@for_each(('told', 'expected'), [
    ({200: LATE}, Verdict.INCONCLUSIVE),
    ({200: LATE, 300: SEES}, Verdict.PASS),
    ({200: LATE, 550: SEES}, Verdict.INCONCLUSIVE),
    ({200: LATE, 300: PLAN}, Verdict.INCONCLUSIVE)])
def test_a_demand_that_a_fallback_met_counts_if_the_model_does_the_same_in_time(told, expected):
    assert verdict(told) is expected
    assert verdict(told, subject='system') is Verdict.PASS


@for_each(('stimulus', 'expected'), [
    (LinkLoss(topic='scan'), Verdict.PASS),
    (LinkLoss(topic='heartbeat'), Verdict.INCONCLUSIVE),
    (Person(topic='scan', distance=1.5), Verdict.INCONCLUSIVE)])
def test_a_fallback_for_want_of_what_a_rule_took_away_is_the_policys_decision(stimulus, expected):
    caused = does(Publish(stimulus=stimulus), on=START)
    assert verdict({200: LOST}, STANDS, 'model', caused) is expected


BEAT_MS = 50
START_MS = command(0.0, 0.0).stamps.steady_ns / 1e6
BRAKES = {'model': 'constant_deceleration', 'deceleration': 1.0}


def robot(**declared) -> RobotModel:
    return RobotModel.model_validate(
        {'kind': 'mobile_base', 'max_speed': 1.0, 'radius': 0.3, **declared})


def ramp(begin_ms: float, rate: float, top: float = 0.8, least: float = 0.0):
    """Return commands that slow down at a rate from a time after the demand on."""
    return [command(t_ms, max(least, min(top, top - rate * (t_ms - begin_ms + BEAT_MS) / 1e3)))
            for t_ms in range(-1000, 6000, BEAT_MS)]


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
              *(command(float(t_ms), 0.5) for t_ms in range(3000, 6000, BEAT_MS))]
    assert stands(judged(events, stopping=BRAKES))[0] is Verdict.FAIL
