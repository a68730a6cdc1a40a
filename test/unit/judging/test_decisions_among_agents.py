# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Among agents a demand is met by a decision that could know of it, and by the model itself."""

from collections.abc import Mapping
from typing import Any

from cases import for_each
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.blocks.agents import Publish, Rule
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.timing import Timing
from safety_scenarios.scenario.verdict import Verdict
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
