# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Designs and searches as text for the console.

The answer to a locked question stands before everything else.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    out_of,
    zero_failure_n,
)
from safety_scenarios.errors import counted
from safety_scenarios.scenario.rounding import (
    down,
    figures_down,
    figures_up,
    percent_down,
    percent_up,
)
from safety_scenarios.studies.designs.answer import Answer, ClaimAnswer
from safety_scenarios.studies.designs.claim import ASSUMED_S, ClaimPlan, TrialTime
from safety_scenarios.studies.designs.design import Lock
from safety_scenarios.studies.matrix.arm_comparison import FEWEST_CLUSTERS
from safety_scenarios.studies.search.failures import Saved
from safety_scenarios.studies.search.rare_events import Rate
from safety_scenarios.studies.search.space import Coverage, Space
from safety_scenarios.studies.search.study import BoundarySearch, FailureSearch, RateSearch

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


_SIGNS = {'passes': '.', 'fails': '#', 'unknown': '?'}
Found = FailureSearch | BoundarySearch | RateSearch


def lines(found: Found) -> Iterator[str]:
    """Yield what a search came to, in sentences; the tables come before them."""
    match found:
        case FailureSearch():
            yield from _failures(found)
        case BoundarySearch():
            yield from _boundary(found)
        case RateSearch():
            yield from _rate(found)


def tables(found: Found) -> Iterator[Table]:
    """Yield the tables of a search."""
    if isinstance(found, FailureSearch) and found.saved:
        yield _failure_table(found)
    elif isinstance(found, BoundarySearch):
        yield boundary_table(found)


def _failure_table(found: FailureSearch) -> Table:
    table = Table(box=box.SIMPLE, title=f'{found.scenario_id}: different failures, simplified',
                  title_justify='left')
    for name in ('', 'fails', 'takes', 'trial', 'alike', 'again', 'file'):
        table.add_column(name, overflow='fold')
    for number, one in enumerate(found.saved, 1):
        failure = one.failure
        takes = found.space.text(failure.point, failure.needed) or 'no draw: ordinary values'
        table.add_row(str(number), escape(', '.join(sorted(failure.checks))), escape(takes),
                      str(failure.first), str(failure.alike), escape(one.how_often),
                      '-' if one.file is None else escape(one.file.name))
    return table


def _failures(found: FailureSearch) -> Iterator[str]:
    history = found.history
    yield (f'{found.scenario_id}: {counted(len(history), "trial")} chosen by {found.sampler}, '
           f'seed {found.seed}: {len(history.failures)} failing, {found.undecided} not decided; '
           f'{counted(found.more_trials, "more trial")} to make failures simple.')
    if not history.failures:
        yield (f'No failure was found in {counted(history.decided, "decided trial")}. This does '
               f'not show that there is none.')
        closest = found.closest
        if closest is not None:
            check, margin, place = closest
            yield (f'Nearest to a failure: trial {place + 1}, {check}, margin {margin:.4g}, at '
                   f'{found.space.text(history.points[place])}.')
    if found.undecided:
        reason = next(one.reason for one in history.outcomes if not one.is_decided)
        yield f'Not decided, for example: {reason}.'
    yield from coverage_lines(found.coverage, found.sampler)


def coverage_lines(coverage: Coverage, sampler: str) -> Iterator[str]:
    """Yield how much of the space was looked at."""
    yield (f'Looked at: {coverage.values_seen} of {coverage.values} values and '
           f'{coverage.pairs_seen} of {coverage.pairs} pairs of values of two draws (a range '
           f'counts as four).')
    gap = coverage.gap
    if gap is not None:
        yield (f'Not looked at: a box of {percent_up(gap.volume)} of the ranges is without a '
               f'trial, and a point is {gap.radius:.2f} away from all (1: a whole range).')
    share = coverage.failing
    if share is not None and share.high is not None:
        yield (f'Drawn as declared: at most {percent_up(share.high)} of such trials fail (95 %, '
               f'one-sided, {coverage.drawn} trials).')
    elif sampler != 'random':
        yield ('These trials were chosen, not drawn as declared: they bound no failure rate '
               '(--for rate, or --sampler random).')


def boundary_table(found: BoundarySearch) -> Table:
    """Return the map: . passes, # fails, ? unknown; the second axis upwards."""
    space, (one, other) = found.space, found.axes
    table = Table(box=None, show_header=False, title_justify='left', title=(
        f'{found.scenario_id}: . passes  # fails  ? unknown; {space.axes[one].name} to the '
        f'right, {space.axes[other].name} upwards'))
    rows = len(found.found.states[0])
    for row in reversed(range(rows)):
        cells = ' '.join(_SIGNS[column[row]] for column in found.found.states)
        table.add_row(escape(_edge(space, other, row, rows)), escape(cells))
    columns = len(found.found.states)
    table.add_row('', escape(f'{_edge(space, one, 0, columns)} to '
                             f'{_edge(space, one, columns - 1, columns)}'))
    return table


def _edge(space: Space, axis: int, cell: int, cells: int) -> str:
    """Return the value in the middle of a cell."""
    return space.axes[axis].text(cell if space.axes[axis].size else (cell + 0.5) / cells)


def _boundary(found: BoundarySearch) -> Iterator[str]:
    known = found.found
    yield (f'{found.scenario_id}: {counted(len(known.failing), "trial")}, seed {found.seed}: '
           f'{known.failing.count(True)} failing, {found.undecided} not decided. Of the plane '
           f'{percent_down(known.share("passes"))} passes, {percent_up(known.share("fails"))} '
           f'fails (95 % sure that most trials do), {percent_up(known.share("unknown"))} is '
           f'unknown.')
    if known.accuracy is not None and known.usual is not None:
        yield (f'Fit: {percent_down(known.accuracy)} of trials are predicted correctly by a map '
               'of the '
               f'others (by the more frequent outcome alone: {percent_up(known.usual)}).')
    if True not in known.failing:
        yield 'No failure was found. This does not show that there is none.'


def _rate(found: RateSearch) -> Iterator[str]:
    event, rate = found.found, found.found.rate
    yield (f'{found.scenario_id}: {counted(event.trials, "trial")}, seed {found.seed}; of '
           f'{event.drawn} drawn as declared {event.drawn_failed} failed.')
    if event.problems:
        yield ('INCONCLUSIVE: no interval is stated, because ' + '; '.join(event.problems) + '.')
        drawn = clopper_pearson(event.drawn_failed, event.drawn)
        if not event.undecided and drawn.low is not None and drawn.high is not None:
            yield (f'By the trials drawn as declared alone: {percent_down(drawn.low)} to '
                   f'{percent_up(drawn.high)} of trials fail (95 %).')
    else:
        yield (f'Share of trials that fail: at least {figures_down(rate.low or 0.0, 3)} and '
               f'at most {figures_up(1.0 if rate.high is None else rate.high, 3)} '
               f'(95 %). The upper end is no lower than that of the trials drawn as declared: a '
               f'failing region that no run met is in no other number.')
        yield (f'In the regions that were met: {rate.share:.3g}, standard error '
               f'{100 * (rate.relative_error or 0):.0f} %, effective number of failures '
               f'{event.effective_failures:.0f}.')
        plain = rate.plain_trials
        if plain is not None:
            yield (f'Plain trials for the same variance: {plain:.2g} '
                   f'({plain / event.trials:.1f} x).')
    for name, part in (('splitting', event.splitting), ('importance sampling', event.importance)):
        if part.share:
            yield (f'By {name}: {part.share:.3g}{_interval(part)}, {part.trials} trials, if every '
                   f'failing region was met.')


def _interval(rate: Rate) -> str:
    return '' if rate.low is None or rate.high is None else \
        f' ({figures_down(rate.low, 3)} to {figures_up(rate.high, 3)})'


def as_data(found: Found) -> dict[str, Any]:
    """Return what a search came to, for programs."""
    common: dict[str, Any] = {'scenario': found.scenario_id, 'seed': found.seed,
                              'exit_code': found.exit_code, 'text': list(lines(found))}
    match found:
        case FailureSearch():
            return {**common, 'sampler': found.sampler, 'trials': len(found.history),
                    'failing': len(found.history.failures), 'undecided': found.undecided,
                    'more_trials': found.more_trials,
                    'failures': [_saved_data(found.space, one) for one in found.saved],
                    'coverage': _coverage_data(found.coverage)}
        case BoundarySearch():
            known, space = found.found, found.space
            return {**common, 'axes': [space.axes[place].name for place in found.axes],
                    'states': known.states, 'probability': known.probability.tolist(),
                    'accuracy': known.accuracy, 'usual': known.usual,
                    'trials': [{'values': [_at(space, place, share) for place, share in zip(
                        found.axes, point)], 'fails': fails}
                        for point, fails in zip(known.points.tolist(), known.failing)]}
        case RateSearch():
            event = found.found
            return {**common, 'rate': vars(event.rate), 'splitting': vars(event.splitting),
                    'importance': vars(event.importance), 'problems': event.problems,
                    'effective_failures': event.effective_failures, 'trials': event.trials,
                    'undecided': event.undecided, 'drawn': event.drawn,
                    'drawn_failed': event.drawn_failed,
                    'plain_trials': event.rate.plain_trials}


def _at(space: Space, axis: int, share: float) -> Any:
    size = space.axes[axis].size
    return space.axes[axis].value(min(int(share * size), size - 1) if size else share)


def _saved_data(space: Space, saved: Saved) -> Mapping[str, Any]:
    failure = saved.failure
    values = space.values(failure.point)
    return {'checks': sorted(failure.checks), 'values': values,
            'needed': [space.axes[place].name for place in failure.needed],
            'first_trial': failure.first, 'alike': failure.alike, 'again': saved.how_often,
            'failed_again': saved.failed, 'decided_again': saved.decided,
            'file': None if saved.file is None else saved.file.name}


def _coverage_data(coverage: Coverage) -> Mapping[str, Any]:
    gap = coverage.gap
    return {'pairs_seen': coverage.pairs_seen, 'pairs': coverage.pairs,
            'values_seen': coverage.values_seen, 'values': coverage.values,
            'largest_empty_box': None if gap is None else gap.volume,
            'largest_distance': None if gap is None else gap.radius,
            'drawn': coverage.drawn,
            'failing_at_most': None if coverage.failing is None else coverage.failing.high}


def boundary_rows(found: BoundarySearch) -> Iterator[Sequence[Any]]:
    """Yield the cells of a map as rows of a table, with their names first."""
    space, (one, other), known = found.space, found.axes, found.found
    yield [space.axes[one].name, space.axes[other].name, 'probability', 'state']
    columns, rows = len(known.states), len(known.states[0])
    for column in range(columns):
        for row in range(rows):
            yield [_at(space, one, (column + 0.5) / columns),
                   _at(space, other, (row + 0.5) / rows),
                   round(float(known.probability[column, row]), 4), known.states[column][row]]
