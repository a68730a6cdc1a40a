# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a search came to: lines and tables for people, and the same as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.errors import counted
from safety_scenarios.scenario.rounding import figures_down, figures_up, percent_down, percent_up
from safety_scenarios.studies.search.coverage import Coverage
from safety_scenarios.studies.search.rare_events import Rate
from safety_scenarios.studies.search.saving import Saved
from safety_scenarios.studies.search.space import Space
from safety_scenarios.studies.search.study import BoundarySearch, FailureSearch, RateSearch

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
