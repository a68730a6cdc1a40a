# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the network between two hosts let the trial be judged."""

from collections.abc import Callable, Sequence
from functools import partial

from safety_scenarios.errors import counted
from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.network import as_sent, Gap, gaps, is_blind
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord

CARRIED = 'the network carried what was sent'
_ONE = 'If it is one host, set hosts=one'
_found = partial(harness, 'network')


def judged_over_network(trial: JudgedTrial, findings: list[Finding], is_inferred: bool,
                        again: Callable[[TrialRecord], Verdict]) -> list[Finding]:
    """
    Return the findings that count of a trial between two hosts.

    What came late is judged twice: as it arrived and as it left. Where the two differ, nobody
    knows which of them the robot would have done: its driver may be on either side. What never
    came cannot be judged at all. A network that has held up messages for long one way may have
    held up the hazard the other way: then only what passes both times counts, and no silence
    counts for a stop. What would have been found otherwise stays readable.

    :param is_inferred: the reaction is inferred from silence
    :param again: the verdict of another record of the same trial
    """
    found = list(gaps(trial.timeline))
    if not found:
        return findings
    worst = max(found, key=lambda gap: (gap.kind != 'late' and is_blind(gap), gap.length_ns))
    arrived = Verdict.worst(one.verdict for one in findings if one.verdict is not None)
    if worst.kind != 'late' and is_blind(worst):
        return _unjudged(trial, worst, findings, _blind(worst))
    late = max((gap for gap in found if gap.kind == 'late'), key=lambda gap: gap.length_ns,
               default=None)
    if late is None:
        return findings
    left = again(as_sent(trial.record))
    if left is not arrived:
        return _unjudged(trial, late, findings, f'{_late(late)}. The trial is {arrived.value} as '
                         f'the messages arrived, and {left.value} as they left the other host')
    if is_blind(late) and (is_inferred or arrived is Verdict.FAIL):
        return _unjudged(trial, late, findings, f'{_late(late)}, and how late the hazard came '
                         f'there is unknown')
    return findings


def _unjudged(trial: JudgedTrial, gap: Gap, findings: Sequence[Finding],
              why: str) -> list[Finding]:
    first = _found(CARRIED, Verdict.INCONCLUSIVE, why, trial.timeline.since_onset_ms(gap.from_ns))
    return [first, *(one if one.verdict is None else one.model_copy(update={
        'verdict': None, 'reason': f'not judged because of the network; it would be '
                                   f'{one.verdict.value}: {one.reason}'}) for one in findings)]


def _blind(gap: Gap) -> str:
    length = f'{gap.length_ns / 1e6:.0f} ms'
    if gap.kind == 'lost':
        return (f'{gap.topic}: {counted(gap.count, "message was", "messages were")} lost between '
                f'two hosts, and it is unknown what the controller did for {length}. {_ONE}')
    if gap.kind == 'unreached':
        return (f'for {length} nothing reached the other host, so that the time at which the '
                f'hazard was seen there is unknown. {_ONE}')
    return (f'{gap.topic}: for {length} nothing was received from the other host, and a network '
            f'that is cut looks the same as a controller that stops sending. {_ONE}; otherwise '
            f'let the robot report its state from there (ros.feedback)')


def _late(gap: Gap) -> str:
    return f'{gap.topic}: a message came {gap.length_ns / 1e6:.0f} ms later than others do'
