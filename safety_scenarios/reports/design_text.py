# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Designs as text for the console: what a claim takes, what was locked, and the answer.

The answer to a locked question stands before everything else.
"""

from collections.abc import Iterator

from rich.table import Table
from safety_scenarios.campaign.statistics.proportions import out_of, zero_failure_n
from safety_scenarios.errors import counted
from safety_scenarios.scenario.rounding import down, figures_down, percent_up
from safety_scenarios.studies.designs.answer import Answer, ClaimAnswer
from safety_scenarios.studies.designs.claim_plan import ASSUMED_S, ClaimPlan, TrialTime
from safety_scenarios.studies.designs.design import Lock
from safety_scenarios.studies.matrix.pairs import FEWEST_CLUSTERS

EXPLORATORY = ('Everything else is exploratory: it was looked at afterwards, and no test for it '
               'was chosen beforehand.')
_MOST = 20
_ONE_SIDE = 0.975
"""Confidence of each end of the interval of ``compare --margin``."""


def answer_lines(found: Answer) -> Iterator[str]:
    """Yield question, answer, why, and the acceptance limits."""
    yield f'Question: {found.question}'
    yield f'Answer: {found.statement}: {found.shown}.'
    one = found.estimate
    if one is not None and one.value is not None and one.low is not None:
        yield (f'Better less worse in {100 * one.value:.3g} % of {counted(one.n, "pair")}, at '
               f'least {figures_down(100 * one.low, 3)} % at {100 * one.confidence:g} % '
               f'({one.method}).')
    yield from (f'Because: {text}' for text in found.reasons[:_MOST])
    if len(found.reasons) > _MOST:
        yield f'And {len(found.reasons) - _MOST} more reasons.'
    yield from map(_claim, found.claims)
    opened = f'; codes opened {found.opened}' if found.opened else ''
    yield f'By the design that was locked as {found.sha256[:12]}...{opened}. {EXPLORATORY}'


def _claim(found: ClaimAnswer) -> str:
    high = found.bound.high
    bound = 'no bound' if high is None else f'at most {percent_up(high, 3)} bad'
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


def assumed_time() -> TrialTime:
    """Return how long a trial takes where nobody has measured it."""
    return TrialTime(ASSUMED_S, 'assumed, as of a trial over ROS; --from DIR takes it from a '
                                'campaign')


def claim_table(plan: ClaimPlan) -> Table:
    """Return a row for each number of bad trials that may be among them."""
    what = 'pairs' if plan.pairs else 'trials'
    rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), title=f'Claim: {plan.claim}',
                 title_justify='left', title_style='bold')
    early = () if plan.pairs else (f'{what}, looked at after each',)
    for name in ('bad ones allowed', f'{what}, number fixed', *early,
                 'hours, one process', *(f'power at {rate:.2g}' for rate in plan.assumed)):
        rows.add_column(name, justify='right')
    for row in plan.rows:
        rows.add_row(str(row.failures), str(row.fixed), *(str(row.anytime) for _ in early),
                     f'{plan.hours(row.fixed):.3g}',
                     *(f'{down(100.0 * power, 0)} %' for power in row.power))
    return rows


def claim_lines(plan: ClaimPlan, hours: float | None) -> Iterator[str]:
    """
    Yield what the table does not say.

    :param hours: in which it shall be done; None: not said
    """
    first, claim = plan.rows[0], plan.claim
    yield (f'A bad one is a {claim.bad}; a trial that is INCONCLUSIVE or ERROR counts as one. Fix '
           f'beforehand how many are allowed.')
    if first.anytime is not None:
        extra = first.anytime - first.fixed
        yield (f'Looking after each trial, to stop as soon as the claim is shown, takes '
               f'{counted(extra, "trial")} more where none is bad ({extra / first.fixed:.0%}).')
        yield (f'A sequential test (--set sequential.p0={plan.sequential_p0:g} --set '
               f'sequential.p1={claim.failure_rate:g}) accepts after {plan.sequential} trials of '
               f'a scenario without a bad one.')
    for rate, pairs in zip(plan.assumed, plan.pairs, strict=bool(plan.pairs)):
        yield (f'If exactly one arm fails in {100.0 * rate:.3g} % of the pairs, and neither is '
               f'worse: about {pairs} pairs for a power of 90 %.')
    if plan.pairs:
        yield (f'These pairs are for a one-sided bound: a gate (more_failures), or a design with '
               f'a margin and fewer than {FEWEST_CLUSTERS} scenarios. From {FEWEST_CLUSTERS} on a '
               f'design is about scenarios, and takes as many of them. compare --margin '
               f'{100.0 * claim.limit:g}% has a two-sided interval of 95 % and takes '
               f'{zero_failure_n(claim.limit, _ONE_SIDE)} pairs without a failure: plan for it by '
               f"'at {100.0 * _ONE_SIDE:g} %'.")
    yield f'Time: {plan.time.seconds:.3g} s a trial ({plan.time.source}).'
    if hours is not None:
        jobs = plan.jobs(hours)
        yield f'In {hours:g} h: one process is enough.' if jobs == 1 else (
            f'In {hours:g} h: {jobs} processes at once, on one machine (run --jobs {jobs}) or on '
            f'several (run --shard 1/{jobs} and so on).')
    yield ('The trials must differ: worlds that the scenarios draw; those that come out alike '
           'narrow no bound. The claim is about such draws with this robot, world and link, and '
           'about nothing else.')
