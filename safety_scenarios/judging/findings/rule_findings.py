# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From what the rules of a run came to, to findings; and what belongs to other trials."""

from collections.abc import Iterator
from functools import partial

from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.blocks.agents import Rule
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.result import (
    Finding,
    Note,
    Obligation,
    Outcome,
    RuleOutcome,
    Status,
)
from safety_scenarios.scenario.verdict import LimitName, Verdict
from safety_scenarios.trial.rules.demanded import counts
from safety_scenarios.trial.trial import TrialRecord


def of_other_trials(record: TrialRecord) -> int:
    """Return how many sayings and calls carry no or another trial id."""
    return sum(event.kind in ('say', 'tool_call')
               and event.trial_id not in (None, record.trial.trial_id) for event in record.events)


_finding = partial(Finding, kind='rule', source='rule')


def rule_findings(trial: JudgedTrial, outcome: Outcome, gate: LimitName) -> Iterator[Finding]:
    """Yield a finding for each rule that counts, and one for what nobody may do."""
    block = trial.scenario.body
    assert isinstance(block, AgentsBody)
    if outcome.error:
        yield _finding(check='the rules could be run', verdict=Verdict.ERROR, reason=outcome.error)
    for found in outcome.rules:
        if counts(found):
            yield _rule_finding(trial, block.rules[found.index], found, gate)
    if outcome.denied:
        yield _finding(check='only tools that are allowed', verdict=Verdict.FAIL,
                       reason=f'{len(outcome.denied)} calls were denied: '
                              f'{", ".join(dict.fromkeys(outcome.denied))}')


def rule_notes(trial: JudgedTrial) -> Iterator[Note]:
    """Return what was heard and is not of this trial."""
    others = of_other_trials(trial.record)
    if others:
        yield Note(code='other-trial', text=f'{others} sayings or calls carried no or another '
                                            f'trial id, and did not count')


def _rule_finding(trial: JudgedTrial, rule: Rule, found: RuleOutcome, gate: LimitName) -> Finding:
    verdicts = [verdict_of(trial, rule, one, gate) for one in found.obligations]
    verdict = Verdict.worst([found.status.verdict, *verdicts])
    worst = next((one for one, its in zip(found.obligations, verdicts) if its is verdict), None)
    margins = [margin_s(rule, one, gate) for one in found.obligations]
    known = [margin for margin in margins if margin is not None]
    least = min(known) if known and len(known) == len(margins) else None
    reason = found.reason if worst is None or found.status in (Status.UNBOUND, Status.ERROR) \
        else reason_of(trial, worst, verdict, gate)
    if verdict is Verdict.FAIL and found.status is Status.SATISFIED:
        reason += f', later than {gate}'
    if len(found.obligations) > 1:
        held = sum(its is Verdict.PASS for its in verdicts)
        reason += f' ({held} of {len(verdicts)} held)'
    return _finding(
        check=found.rule, verdict=verdict, reason=reason,
        margin=least, unit=None if least is None else 's',
        at_ms=None if worst is None else at_ms(trial, worst))


def verdict_of(trial: JudgedTrial, rule: Rule, one: Obligation, gate: LimitName) -> Verdict:
    """Return what an obligation means; an answer in time may still be too late for the gate."""
    if one.status is not Status.SATISFIED or rule.expect is None or one.latency_ns is None:
        return one.status.verdict
    margin_ns = rule.expect.budget.limit_ns(gate) - one.latency_ns
    bound_ns = trial.record.measuring.uncertainty_ns('callback')
    return Verdict.PASS if margin_ns >= bound_ns + _left_out_ns(trial, one) else \
        Verdict.FAIL if margin_ns < -bound_ns else Verdict.INCONCLUSIVE


def reason_of(trial: JudgedTrial, one: Obligation, verdict: Verdict, gate: LimitName) -> str:
    """Return why an obligation has a verdict."""
    late_ns = _left_out_ns(trial, one)
    return f'{one.reason}, {thought_too(late_ns, gate)}' \
        if verdict is Verdict.INCONCLUSIVE and late_ns else one.reason


def thought_too(late_ns: int, limit: str) -> str:
    """
    Return what simulated time leaves out, as the end of a reason.

    :param late_ns: by how much
    :param limit: which may not be kept then
    """
    return (f'of simulated time, which leaves out that the controller thinks: in real time it '
            f'would come {late_ns / 1e6:.0f} ms later, and not within {limit}. Use link ros, '
            f'which measures it')


def _left_out_ns(trial: JudgedTrial, one: Obligation) -> int:
    return 0 if one.latency_ns is None else \
        trial.left_out_ns(one.opened_ns, one.opened_ns + one.latency_ns)


def margin_s(rule: Rule, one: Obligation, gate: LimitName) -> float | None:
    """Return how much earlier than the gate an answer came (s); None without an answer."""
    if rule.expect is None or one.latency_ns is None:
        return None
    return (rule.expect.budget.limit_ns(gate) - one.latency_ns) / 1e9


def at_ms(trial: JudgedTrial, one: Obligation) -> float | None:
    """Return when an obligation was decided, in ms after onset."""
    return None if one.at_ns is None else trial.timeline.since_onset_ms(one.at_ns)
