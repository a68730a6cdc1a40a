# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What counts of a trial in which another publisher commanded, too."""

from collections.abc import Callable, Sequence

from safety_scenarios.judging.findings.stall_findings import is_certain, never_reacted_ns
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.stream import interleaved
from safety_scenarios.scenario.event import Event, OTHER_COMMANDER, STALL_BEGAN
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import LimitName, Verdict
from safety_scenarios.trial.run import INTERRUPTED
from safety_scenarios.trial.trial import TrialRecord


def decided_alone(trial: JudgedTrial, findings: Sequence[Finding], gate: LimitName,
                  again: Callable[[TrialRecord], Sequence[Finding]]) -> list[Finding]:
    """
    Return findings without a FAIL that another publisher's commands may have caused.

    What fails by what was commanded before that one came stays.

    :param again: the findings of another record of the same trial
    """
    from_ns = _mixed_from_ns(trial.record)
    if from_ns is None or not any(one.verdict is Verdict.FAIL for one in findings):
        return list(findings)
    before = _until(trial.record, from_ns)
    failed = {one.check: one for one in _failures(before, gate, again)} if before.events else {}
    at_ms = trial.timeline.since_onset_ms(from_ns)
    when = 'before the hazard' if at_ms is None or at_ms < 0 else f'{at_ms:.0f} ms after onset'
    return [one if one.verdict is not Verdict.FAIL else failed.get(one.check, one.model_copy(
        update={'verdict': Verdict.INCONCLUSIVE, 'reason': (
            f'{one.reason}. Whose command caused it is unknown: another publisher may have '
            f'commanded from {when} on')})) for one in findings]


def _mixed_from_ns(record: TrialRecord) -> int | None:
    """Return from when (steady ns) commands may be of another publisher; None: none is."""
    found = [event.stamps.steady_ns - round(1e9 * event.truth.get(STALL_BEGAN, 0.0))
             for event in record.of_kind('fault', OTHER_COMMANDER)]
    mixed = interleaved(record)
    return min(found if mixed is None else [*found, mixed[1]], default=None)


def _until(record: TrialRecord, until_ns: int) -> TrialRecord:
    """Return the record of a trial that was interrupted then."""
    events = [event for event in record.events if event.stamps.steady_ns < until_ns]
    events += [] if not events else [
        event for event in record.of_kind('stall') if event.stamps.steady_ns >= until_ns
        and event.stamps.steady_ns - round(1e9 * event.truth.get(STALL_BEGAN, 0.0)) < until_ns]
    over = [Event(kind='fault', name=INTERRUPTED, stamps=events[-1].stamps)] if events else []
    return record.model_copy(update={'events': (*events, *over)})


def _failures(record: TrialRecord, gate: LimitName,
              again: Callable[[TrialRecord], Sequence[Finding]]) -> list[Finding]:
    """Return what fails in a part of a record, and a reaction that is missing for too long."""
    trial, findings = JudgedTrial.of(record), again(record)
    never_ns = never_reacted_ns(trial, gate)
    late = (one.model_copy(update={'verdict': Verdict.FAIL}) for one in findings
            if one.verdict is Verdict.INCONCLUSIVE and one.kind == 'latency')
    return [*(one for one in findings if one.verdict is Verdict.FAIL),
            *(one for one in late if is_certain(trial, one, never_ns) and one.at_ms is None)]
