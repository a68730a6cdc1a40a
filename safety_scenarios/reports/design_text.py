# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The answer to a locked question in sentences; it stands before everything else."""

from collections.abc import Iterator

from safety_scenarios.campaign.statistics.proportions import out_of
from safety_scenarios.errors import counted
from safety_scenarios.studies.designs.answer import Answer, ClaimAnswer
from safety_scenarios.studies.designs.design import Lock

EXPLORATORY = ('Everything else is exploratory: it was looked at afterwards, and no test for it '
               'was chosen beforehand.')
_MOST = 20


def answer_lines(found: Answer) -> Iterator[str]:
    """Yield question, answer, why, and the acceptance limits."""
    yield f'Question: {found.question}'
    yield f'Answer: {found.statement}: {found.shown}.'
    one = found.estimate
    if one is not None and one.value is not None and one.low is not None:
        yield (f'Better less worse in {100 * one.value:.3g} % of {counted(one.n, "pair")}, at '
               f'least {100 * one.low:.3g} % at {100 * one.confidence:g} % ({one.method}).')
    yield from (f'Because: {text}' for text in found.reasons[:_MOST])
    if len(found.reasons) > _MOST:
        yield f'And {len(found.reasons) - _MOST} more reasons.'
    yield from map(_claim, found.claims)
    opened = f'; codes opened {found.opened}' if found.opened else ''
    yield f'By the design that was locked as {found.sha256[:12]}...{opened}. {EXPLORATORY}'


def _claim(found: ClaimAnswer) -> str:
    high = found.bound.high
    bound = 'no bound' if high is None else f'at most {100 * high:.3g} % bad'
    return (f'Acceptance: {found.claim}: {found.shown} ({found.bad} bad or '
            f'undecided of {out_of(found.trials, found.bound.n)}: {bound}).')


def lock_lines(lock: Lock) -> Iterator[str]:
    """Yield what was locked."""
    design = lock.design
    yield f'Locked: {design.question}'
    yield (f'{counted(len(lock.arms), "arm")} ({", ".join(lock.arms)}), '
           f'{counted(len(lock.scenarios), "scenario")}, {counted(lock.trials, "trial")} in each '
           f'arm, seed {lock.matrix.seed}; SHA-256 {lock.sha256}')
    if lock.codes:
        yield (f'The arms are blinded as {", ".join(lock.codes)}. run --design needs the key '
               f'beside the design; nothing else does until the answer is opened.')
