# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether the goals that got the robot moving were still pursued when the hazard came."""

from collections.abc import Iterator
from functools import partial

from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.blocks.calling import SUCCEEDED
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Finding, Verdict
from safety_scenarios.trial.calling import goals
from safety_scenarios.trial.trial import ALL_CLEAR

_found = partial(harness, 'nominal')


def pursued(trial: JudgedTrial) -> Iterator[Finding]:
    """
    Judge the goals of a trial whose hazard came: one that is over explains a standstill by itself.

    A goal that is aborted or cancelled after the onset may be the reaction, as a navigator gives
    up where somebody stands; one that is reached before the all-clear may be all there is to it.
    """
    onset, all_clear = trial.timeline.onset, trial.timeline.mark(ALL_CLEAR)
    if onset is None:
        return
    onset_ns = onset.stamps.steady_ns
    clear_ns = trial.record.end_ns if all_clear is None else all_clear.stamps.steady_ns
    for accepted, ended in goals(trial.record).values():
        check = f'the goal for {accepted.name} is pursued'
        at_ms = None if ended is None else (ended.stamps.steady_ns - onset_ns) / 1e6
        if ended is not None and at_ms is not None and at_ms <= 0:
            yield _found(check, Verdict.INCONCLUSIVE, (
                f'it was {_word(ended)} {-at_ms:.0f} ms before the hazard, so that the robot may '
                f'have stood still by itself. Give it a goal that takes longer'), at_ms)
        elif ended is not None and ended.text == SUCCEEDED \
                and ended.stamps.steady_ns <= clear_ns:
            yield _found(check, Verdict.INCONCLUSIVE, (
                f'it was reached {at_ms:.0f} ms after the hazard, so that a stop may be the '
                f'arrival. Give it a goal that takes longer'), at_ms)
        else:
            after = '' if ended is None else f', and was {_word(ended)} {at_ms:.0f} ms after it'
            yield _found(check, Verdict.PASS, f'it went on when the hazard came{after}')


def _word(ended: Event) -> str:
    return 'reached' if ended.text == SUCCEEDED else str(ended.text)
