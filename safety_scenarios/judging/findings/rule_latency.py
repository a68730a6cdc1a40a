# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The latency that reports show of a scenario with agents: what its first demand took."""

from collections.abc import Iterator

from safety_scenarios.judging.findings.latency_findings import WITHIN_BUDGET
from safety_scenarios.judging.findings.rule_findings import at_ms, margin_s, verdict_of
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.blocks.agents import Rule
from safety_scenarios.scenario.blocks.budget import LimitName
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.outcome import Obligation, Outcome
from safety_scenarios.scenario.result import Elapsed, Finding, Latency, LatencyClass
from safety_scenarios.trial.trial import END


def rule_latency(trial: JudgedTrial, outcome: Outcome) -> Latency | None:
    """
    Return the latency of what the first rule that expects something demanded first.

    By the steady clock in the evaluator's own callbacks, as all times of rules. None when it
    never fired.
    """
    found = _first_expected(trial, outcome)
    if found is None:
        return None
    _, one = found
    opened, end = _event_at(trial, one.opened_ns), trial.timeline.mark(END)
    answer = None if one.latency_ns is None else _event_at(trial,
                                                           one.opened_ns + one.latency_ns)
    until_ns = end.stamps.steady_ns if end else trial.record.end_ns
    late_ns = 0 if opened is None else trial.record.measuring.late_ns(opened)
    return Latency(
        onset_steady_ns=one.opened_ns, reaction=_elapsed(trial, one, opened, answer),
        latency_class=one.latency_class or LatencyClass.NO_RESPONSE,
        observed_ns=max(0, until_ns - one.opened_ns), late_ns=late_ns,
        fallback="rules go by the evaluator's own callbacks"
        if answer and not trial.record.measuring.exact else None)


def latency_finding(trial: JudgedTrial, outcome: Outcome, gate: LimitName) -> Iterator[Finding]:
    """Say how that latency lies in its budget, as for a single prompt."""
    found = _first_expected(trial, outcome)
    if found is not None:
        rule, one = found
        yield Finding(check=WITHIN_BUDGET, kind='latency', source='latency',
                      reason=one.reason,
                      verdict=verdict_of(trial, rule, one, gate),
                      unit=None if one.latency_ns is None else 's',
                      margin=margin_s(rule, one, gate), at_ms=at_ms(trial, one))


def _first_expected(trial: JudgedTrial, outcome: Outcome) -> tuple[Rule, Obligation] | None:
    block = trial.scenario.body
    assert isinstance(block, AgentsBody)
    rules = block.rules
    first = next((found for found in outcome.rules if rules[found.index].expect is not None), None)
    return None if first is None or not first.obligations \
        else (rules[first.index], first.obligations[0])


def _event_at(trial: JudgedTrial, steady_ns: int) -> Event | None:
    return next((event for event in trial.record.events
                 if event.stamps.steady_ns == steady_ns), None)


def _elapsed(trial: JudgedTrial, one: Obligation, opened: Event | None,
             answer: Event | None) -> Elapsed | None:
    if one.latency_ns is None or one.latency_class is None or answer is None:
        return None
    return Elapsed(
        steady_ns=one.latency_ns, judged_ns=one.latency_ns, callback_ns=one.latency_ns,
        ros_ns=None if opened is None else answer.stamps.ros_ns - opened.stamps.ros_ns,
        header_ns=None, method='callback', latency_class=one.latency_class,
        uncertainty_ns=trial.record.measuring.uncertainty_ns('callback'))
