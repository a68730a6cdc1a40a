# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Campaigns against the first one, and the arms of a matrix, as tables for people."""

from collections.abc import Iterator, Mapping, Sequence
import re
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from safety_scenarios.campaign.comparison import Comparison, NonInferiority
from safety_scenarios.campaign.statistics.proportions import p_text
from safety_scenarios.errors import counted
from safety_scenarios.reports import console_tables
from safety_scenarios.reports.console_tables import mean_text, quadrants_text, with_interval
from safety_scenarios.reports.failures import COLOURS
from safety_scenarios.reports.plain_text import on_one_line
from safety_scenarios.scenario.rounding import down, figures_down, figures_up, up
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.studies.designs.bisect import Bisection, Visit
from safety_scenarios.studies.designs.limits import GateOutcome
from safety_scenarios.studies.matrix.summary import ALL, Cell, Flip, MatrixSummary
from safety_scenarios.studies.side_by_side import Campaign
from safety_scenarios.trial.summary import Rate, WorldComparison

_MOST_REASONS = 3
"""Regressions in the last line of a comparison."""


def world_rows(found: WorldComparison) -> Iterator[tuple[str, str, str]]:
    """Yield (question, answer, p) of two campaigns against each other."""
    first, second = map(quadrants_text, found.quadrants)
    yield 'in a world: the first; the second', f'{first}; {second}', ''
    for what, estimate, p in (
            ('longer beyond a limit', found.exposure_s, found.exposure_p),
            ('higher safety cost', found.safety_cost, found.safety_cost_p),
            ('more time lost by standing', found.time_lost_s, found.time_lost_p)):
        yield (f'{what}, over scenarios: median of medians, s', mean_text(estimate),
               f'{_p(p)} (over scenarios)')


def _p(value: float) -> str:
    """Return a p-value as people read it, never below what it is."""
    return figures_up(value, 3) if value >= 0.001 else 'below 0.001'


def comparison_rows(found: Comparison) -> Iterator[tuple[str, str, str]]:
    """Yield (question, answer, p); p is empty where nothing was tested."""
    yield ('fails more often, over scenarios: share failed',
           with_interval(found.failures_difference), f'{_p(found.failures_p)} (over scenarios)')
    if any(found.undecided):
        yield ('the same, if the undecided trials were the best or the worst case',
               with_interval(found.failures_bounds), '')
    yield from map(_margin_row, found.margins)
    yield ('scenarios in which the second is better, worse',
           f'{found.scenarios_better}, {found.scenarios_worse}'
           + (f' ({" ".join(found.worse)})' if found.worse else ''), '')
    yield ('passed, of the pairs that both decided: both, only first, only second, neither',
           f'{found.both_passed}, {found.only_first_passed}, {found.only_second_passed}, '
           f'{found.neither_passed}', '')
    yield ('later, over scenarios: median of medians, ms',
           with_interval(found.median_difference_ms), f'{_p(found.latency_p)} (over scenarios)')
    if found.confirmed is not None:
        yield ('the robot confirms later, over scenarios: median of medians, ms',
               with_interval(found.confirmed.median_difference_ms),
               f'{_p(found.confirmed.p)} (over scenarios)')
    if found.world is not None:
        yield from world_rows(found.world)
    yield ("failed: Cohen's h; latency: Cohen's d",
           f'{_value(found.failures_h)}; {_value(found.latency_d)}', '')
    for row in found.alone:
        yield (f'{row.scenario_id} alone: only first, only second passed',
               f'{row.only_first_passed}, {row.only_second_passed} n={row.pairs}'
               + ('' if row.distinct in (None, row.pairs) else f' ({row.distinct} that differ)'),
               f'{_p(row.p)} (McNemar, Holm; of this scenario)')


def notes(found: Comparison) -> Iterator[str]:
    """Yield what goes below the table."""
    if any(found.undecided):
        yield (f'INCONCLUSIVE or ERROR: {found.undecided[0]} of the first, {found.undecided[1]} '
               f'of the second. That is no difference of a controller: such pairs are in no '
               f'number above, but in the line "best or the worst case"')
    if found.unpaired:
        yield f'{counted(found.unpaired, "trial is", "trials are")} in one of the two only'
    if found.latency_pairs < found.pairs:
        yield (f'latencies are of the {counted(found.latency_pairs, "pair")} that could both be '
               f'measured')
    if found.arms > 1:
        yield (f'{found.arms} campaigns are compared with the first: regressions and margins are '
               f'corrected for all of them, the p-values of this table are not')
    yield from found.notes


def _value(estimate: Estimate) -> str:
    return f'none ({estimate.method})' if estimate.value is None else f'{estimate.value:.3g}'


def comparison_table(found: Comparison, first: str, second: str) -> Table:
    """Return what two campaigns came to against each other."""
    rows = Table(title=f'{escape(second)} against {escape(first)}: '
                       f'{counted(found.pairs, "pair")} of trials in '
                       f'{counted(found.scenarios, "scenario")}',
                 title_justify='left', title_style='bold')
    for name in ('question', 'answer', 'p'):
        rows.add_column(name)
    for cells in comparison_rows(found):
        rows.add_row(*map(escape, cells))
    rows.caption = '\n'.join(escape(note) for note in notes(found)) or None
    rows.caption_justify = 'left'
    return rows


def _margin_row(found: NonInferiority) -> tuple[str, str, str]:
    what = f'at most {margin_text(found)}, in these scenarios'
    ends = found.no_number or with_interval(found.estimate)
    if found.bounds != found.estimate and found.bounds.value is not None:
        ends += f', at worst {with_interval(found.bounds).partition(" ")[2]}'
    why = f' ({found.why})' if found.why else ''
    return what, f'{found.answer}: {ends} at {found.estimate.confidence:.4g}{why}', ''


def margin_text(found: NonInferiority) -> str:
    """Return how much worse is allowed."""
    return f'{found.margin:.4g} ms later (median)' if found.figure == 'reaction' \
        else f'{100.0 * found.margin:.4g} points more failures'


def arms_table(campaigns: Sequence[Campaign]) -> Table:
    """Return a row for each of several campaigns that are compared with the first."""
    rows = Table(title=f'{counted(len(campaigns) - 1, "campaign")} against '
                       f'{escape(campaigns[0].name)}, corrected for all of them (Holm)',
                 title_justify='left', title_style='bold')
    for name in ('campaign', 'pairs', 'undecided', 'more failures', 'later, ms', 'margins',
                 'answer'):
        rows.add_column(name, overflow='fold')
    for one in campaigns[1:]:
        found = one.against
        assert found is not None
        rows.add_row(*map(escape, (
            one.name, str(found.decided), f'{found.undecided[0]}, {found.undecided[1]}',
            with_interval(found.failures_difference), with_interval(found.median_difference_ms),
            '; '.join(f'{margin_text(margin)}: {margin.answer}' for margin in found.margins),
            answer_text(found))))
    return rows


def answer_text(found: Comparison) -> str:
    """Return in a few words what a comparison came to."""
    if found.regressions:
        return 'worse'
    if not found.decided:
        return 'nothing could be compared'
    return 'cannot be determined' if found.doubts else 'not significantly worse'


def conclusion(found: Comparison, first: str, second: str) -> str:
    """Return the same as a sentence, with what decided it and what is undecided."""
    over = f'{p_text(found.failures_p)} over scenarios'
    low, high = found.failures_difference.low, found.failures_difference.high
    interval = '' if low is None or high is None else (
        f': its share of failures differs by {_signed(figures_down(100.0 * low, 3))} to '
        f'{_signed(figures_up(100.0 * high, 3))} points, {over}')
    answer = answer_text(found)
    if answer == 'worse':
        said = f'{second} is worse than {first}: {"; ".join(found.regressions[:_MOST_REASONS])}'
        rest = len(found.regressions) - _MOST_REASONS
        said += (f'; {counted(rest, "more regression")}' if rest > 0 else '') + f'; {over}'
    elif answer == 'not significantly worse':
        said = f'{second} is not significantly worse than {first}{interval}'
    else:
        said = f'whether {second} is worse than {first} cannot be determined{interval}'
    undecided = max(found.undecided)
    return said + (f'; {counted(undecided, "pair is", "pairs are")} undecided' if undecided
                   else '')


def _signed(number: str) -> str:
    return number if number.startswith('-') else f'+{number}'


def gate_table(found: GateOutcome) -> Table:
    """Return a row for each limit of acceptance."""
    rows = Table(title=f'Gate {escape(found.name)}'.rstrip() + f': exit code {found.exit_code}',
                 title_justify='left', title_style='bold')
    for name in ('limit', 'of', 'found', 'answer'):
        rows.add_column(name, overflow='fold')
    for one in found.outcomes:
        of = f'{one.campaign}, {one.scenario}' if one.scenario else one.campaign
        about = ', '.join(filter(None, (' '.join(one.limit.scenarios), ' '.join(
            f'tag {tag}' for tag in one.limit.tags))))
        answer = {'holds': '[green]holds[/]', 'broken': '[bold red]broken[/]',
                  'cannot be determined': '[yellow]cannot be determined[/]'}[one.answer]
        rows.add_row(escape(f'{one.limit} ({about})' if about else str(one.limit)), escape(of),
                     escape(one.found), answer + (f': {escape(one.why)}' if one.why else ''))
    for name, text in found.uncounted.items():
        rows.add_row('', escape(name), '', f'[yellow]cannot be determined[/]: {escape(text)}')
    return rows


def visit_text(visit: Visit, names: Sequence[str]) -> str:
    """Return what some trials with one checkpoint came to."""
    beside = f', {visit.undecided} undecided' if visit.undecided else ''
    return f'{names[visit.checkpoint]}: {visit.failed} of {visit.of} failed{beside}'


def bisection_table(found: Bisection) -> Table:
    """Return a row for each checkpoint that was run: what it failed, and how likely it is."""
    rows = Table(title='Bisection', title_justify='left', title_style='bold')
    for name in ('checkpoint', 'failed', 'undecided', 'first bad one'):
        rows.add_column(name, overflow='fold')
    for place, name in enumerate(found.checkpoints):
        visits = [one for one in found.visits if one.checkpoint == place]
        if visits:
            rows.add_row(escape(name), f'{sum(one.failed for one in visits)} of '
                         f'{sum(one.of for one in visits)}',
                         str(sum(one.undecided for one in visits)),
                         figures_down(found.posterior[place], 3) if found.posterior else '')
    return rows


def bisection_lines(found: Bisection) -> Iterator[str]:
    """Yield the answer, and what it took."""
    names = found.checkpoints
    if found.answer == 'found' and found.first_bad is not None:
        yield (f'{names[found.first_bad]} is the first bad checkpoint (probability '
               f'{figures_down(found.probability or 0.0, 3)}, if there is one step); '
               f'{names[found.first_bad - 1]} is the last good one')
    elif found.answer == 'no single step':
        yield (f'no single step: the checkpoints fail at different rates (probability '
               f'{figures_down(found.probability or 0.0, 3)}), so that none of them lost it alone')
    elif found.answer == 'undecided':
        yield f'undecided: {found.why}'
    else:
        yield f'{names[0]} is not shown to be better than {names[-1]}: {found.why}'
    yield f'{counted(found.trials, "trial")}; all checkpoints with all worlds: {found.grid}'


HEAD = ('arm', 'passed', 'not judged', 'missed', 'false stops', 'reaction ms', 'worst ms',
        'nearest m', 'task s', 'lost s')
"""Columns of the table; intervals in brackets, n behind. Missed: hazards; nearest: to anybody;
task: until it was done; lost: time in which the robot stood and nothing called for it."""
NOTHING = '-'
_INTERVAL = re.compile(r' \[[^\]]*\]( %)?|( n=\d+)?, least [\d.-]+| n=\d+$')
_MOST = 12
"""Sentences of one kind on the console, and scenarios below the table."""


def cells_of(cell: Cell) -> Sequence[str]:
    """Return one arm over one scenario, or over all of them, in the columns of ``HEAD``."""
    open_ = [f'{count} {name}' for count, name in (
        (cell.inconclusive, 'INCONCLUSIVE'), (cell.errors, 'ERROR')) if count]
    worst = f'none in {cell.no_reaction}' if cell.no_reaction else \
        NOTHING if cell.worst_ms is None else f'{cell.worst_ms:.0f}'
    least = '' if cell.least_gap_m is None else f', least {cell.least_gap_m:.2f}'
    decided = cell.trials - cell.inconclusive - cell.errors
    return (cell.arm, f'{cell.passed} of {decided}{_percent(cell.passed_share)}',
            ', '.join(open_) or NOTHING, _rate(cell.missed), _rate(cell.false_stops),
            _number(cell.median_ms, 0), worst,
            _number(cell.gap_m, 2) + least if cell.gap_m.n else NOTHING, _number(cell.task_s, 1),
            _number(cell.time_lost_s, 1))


def _rate(found: Rate) -> str:
    return f'{found.count} of {found.of}{_percent(found.share)}' if found.of else NOTHING


def _percent(share: Estimate) -> str:
    if share.low is None or share.high is None:
        return ''
    return f' [{down(100 * share.low, 0)}, {up(100 * share.high, 0)}] %'


def _number(found: Estimate, digits: int) -> str:
    if not found.n:
        return NOTHING
    value = 'none' if found.value is None else f'{found.value:.{digits}f}'
    if found.low is None and found.high is None:
        return f'{value} n={found.n}'
    low, high = ('unbounded' if end is None else rounded(end, digits)
                 for end, rounded in ((found.low, down), (found.high, up)))
    return f'{value} [{low}, {high}] n={found.n}'


def _without_interval(text: str) -> str:
    return _INTERVAL.sub('', text)


def difference_rows(found: MatrixSummary) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return head and rows of the effective configuration: what is not the same in all arms."""
    names = [arm.name for arm in found.arms]
    return ('setting', *names), [
        (key, *(_setting_value(key, values.get(name, '')) for name in names))
        for key, values in found.check.differences.items()]


def _setting_value(key: str, text: str) -> str:
    if not text:
        return NOTHING if key.startswith('SHA-256') else '(default)'
    return text[:12] if key.startswith('SHA-256') else on_one_line(text, 60)


def sentences(found: MatrixSummary) -> Iterator[tuple[str, str]]:
    """Yield what the arms show against each other: warning, dominated, cliff or note, and what."""
    yield from (('warning', text) for text in found.check.warnings)
    yield from (('dominated' if one.is_shown else 'note', str(one)) for one in found.dominated)
    yield from (('cliff', str(one)) for one in found.cliffs)
    yield from (('note', text) for text in found.notes)


def headline(found: MatrixSummary) -> str:
    """Return what was run, in one line."""
    arms = len(found.arms)
    scenarios = len({cell.scenario_id for cell in found.cells} - {ALL})
    trials = sum(arm.completed for arm in found.arms)
    planned = sum(arm.planned for arm in found.arms)
    how = 'trial by trial' if found.order == 'trial' else 'scenario by scenario'
    return (f'{counted(arms, "arm")}, {counted(scenarios, "scenario")}, {trials} of '
            f'{counted(planned, "trial")}; seed {found.seed}; arms in random order, {how}')


def verdict_line(found: MatrixSummary) -> str:
    arms = ', '.join(f'{escape(arm.name)} {arm.verdict.value}'
                     + ('' if arm.counts else ' (does not count)') for arm in found.arms)
    skipped = console_tables.skipped(name for arm in found.arms for name in arm.skipped)
    return (f'[bold {COLOURS[found.verdict]}]{found.verdict.value}[/]  matrix: {arms}; '
            f'{skipped}exit code {found.exit_code}')


def show_matrix(screen: Console, found: MatrixSummary, results: str = '') -> None:
    """
    Print the arms, what they differ in, and what they show against each other.

    :param results: a line about where the files are, before the verdict
    """
    screen.print(headline(found))
    head, rows = difference_rows(found)
    screen.print(_table('Arms: what is not the same in all', head, rows))
    screen.print(_table('All scenarios; 95 % intervals in brackets', HEAD, [
        cells_of(cell) for cell in found.cells if cell.scenario_id == ALL]))
    for arm in found.arms:
        if arm.failed_checks:
            screen.print(f'{escape(arm.name)} failed by: '
                         f'{escape(console_tables.failed_by(arm.failed_checks))}')
    differing = {flip.scenario_id for flip in found.flips}
    shown = list(dict.fromkeys(cell.scenario_id for cell in found.cells
                               if cell.scenario_id in differing))
    if shown:
        screen.print(_table(
            'Scenarios in which verdicts differ; intervals are in report.html',
            ('scenario', *HEAD), [
                (cell.scenario_id, *map(_without_interval, cells_of(cell)))
                for scenario in shown[:_MOST] for cell in found.cells
                if cell.scenario_id == scenario]))
    if len(shown) > _MOST:
        screen.print(f'and {counted(len(shown) - _MOST, "more scenario")} in which verdicts '
                     f'differ (report.html, matrix.json)')
    styles = {'warning': '[bold yellow]warning[/]', 'dominated': '[red]dominated[/]',
              'cliff': '[red]cliff[/]', 'note': '[cyan]note[/]'}
    said = list(sentences(found))
    for kind, style in styles.items():
        mine = [text for one, text in said if one == kind]
        for text in mine[:_MOST]:
            screen.print(f'{style} {escape(on_one_line(text, 600))}')
        if len(mine) > _MOST:
            screen.print(f'{style} {len(mine) - _MOST} more (matrix.json)')
    counting = sum(flip.is_decided for flip in found.flips)
    screen.print(f'{counted(counting, "trial")} with PASS in one arm and FAIL in another one; '
                 f'{found.flips_of - counting} more differ by INCONCLUSIVE or ERROR')
    if results:
        screen.print(results, markup=False)
    screen.print(verdict_line(found))


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify='left', title_style='bold', box=box.SIMPLE_HEAD,
                  pad_edge=False)
    told = [place for place in range(len(head))
            if place < 2 or any(row[place] != NOTHING for row in rows)]
    for place in told:
        table.add_column(escape(head[place]), overflow='fold')
    before = None
    for row in ([row[place] for place in told] for row in rows):
        first = str(row[0])
        if head[0] == 'scenario' and before not in (None, first):
            table.add_section()
        table.add_row('' if first == before else escape(first),
                      *(escape(str(cell)) for cell in row[1:]))
        before = first
    return table


def page_view(found: MatrixSummary) -> Mapping[str, Any]:
    """
    Return what the page shows of a matrix.

    Links lead to a trial by its id and the number of its arm.
    """
    names = [arm.name for arm in found.arms]
    scenarios = list(dict.fromkeys(cell.scenario_id for cell in found.cells))
    head, rows = difference_rows(found)
    return {
        'headline': headline(found), 'verdict': found.verdict.value, 'code': found.exit_code,
        'arms': [{'name': arm.name, 'controller': arm.controller, 'counts': arm.counts,
                  'verdict': arm.verdict.value} for arm in found.arms],
        'sentences': list(sentences(found)), 'sha256': found.sha256,
        'differences': {'head': head, 'rows': rows}, 'head': ('scenario', *HEAD),
        'rows': [(scenario or 'all scenarios', *cells_of(cell)) for scenario in scenarios
                 for cell in found.cells if cell.scenario_id == scenario],
        'names': names, 'flips_of': found.flips_of,
        'flips': [_flip(one, names) for one in found.flips if one.is_decided],
        'open': [_flip(one, names) for one in found.flips if not one.is_decided]}


def _flip(flip: Flip, names: Sequence[str]) -> Mapping[str, Any]:
    return {'scenario': flip.scenario_id, 'trial': flip.index + 1, 'cells': [
        {'verdict': flip.verdicts[name].value, 'trial': flip.trials[name], 'arm': place}
        if name in flip.verdicts else None for place, name in enumerate(names)]}
