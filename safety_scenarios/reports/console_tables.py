# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Tables of worlds and of the self-test, for people; and how wide any table must be."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich import box
from rich.console import Console, ConsoleOptions
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text
from safety_scenarios.errors import counted
from safety_scenarios.judging.judge_questions import Agreement, LABELS, OUTCOMES
from safety_scenarios.scenario.invariant import Cost
from safety_scenarios.scenario.result import FALLBACK, TrialResult
from safety_scenarios.scenario.rounding import ends, percent_up
from safety_scenarios.scenario.timing import Calibration, METHODS
from safety_scenarios.scenario.verdict import AFTER, Estimate, Part, ReactionParts, Verdict
from safety_scenarios.scenario.verdict import LABELS as PART_LABELS
from safety_scenarios.studies.selftest.kill_matrix import (
    Cell,
    ChanceLevel,
    Family,
    KillMatrix,
    ScenarioMatrix,
)
from safety_scenarios.trial.summary import CampaignSummary, Preflight, ScenarioSummary

UNBOUNDED = 10_000
"""Columns of a list that nobody looks at but a program."""
_MOST_CHECKS = 5
_STATUS = {'ok': 'green', 'warn': 'yellow', 'error': 'red'}
_MOST_OK = 4
"""Answers to a check of the preflight that are in order."""
COLUMNS = ('gap m', 'stops m', 'task s')
"""Smallest gap to a person or thing, longest way from onset to standstill, time of the task."""


def skipped(names: Iterable[str]) -> str:
    """Return how many scenarios were left out, for a line of what something came to."""
    number = len(set(names))
    return f'{counted(number, "scenario")} skipped; ' if number else ''


def failed_by(checks: Mapping[str, int]) -> str:
    """Return by which checks trials failed, and how many; empty: none did."""
    named = [f'{check} {number}' for check, number in [*checks.items()][:_MOST_CHECKS]]
    more = [f'{len(checks) - _MOST_CHECKS} more'] if len(checks) > _MOST_CHECKS else []
    return ', '.join(named + more)


def preflight_table(found: Sequence[Preflight]) -> Table:
    """Return a row for each question: what is not in order in full, of the rest some examples."""
    rows = Table(title='Preflight', title_justify='left', title_style='bold')
    for name in ('check', 'status', 'found', 'scenarios'):
        rows.add_column(name)
    answers: dict[tuple[str, str], dict[str, set[str]]] = {}
    for preflight in found:
        for row in preflight.rows:
            answers.setdefault((row.check, row.status), {}).setdefault(
                row.detail, set()).add(preflight.scenario_id)
    for (check, status), details in sorted(answers.items()):
        if status == 'ok' and len(details) > 1:
            more = f'; and {len(details) - _MOST_OK} more' if len(details) > _MOST_OK else ''
            details = {'; '.join(list(details)[:_MOST_OK]) + more: set().union(*details.values())}
        for detail, who in details.items():
            rows.add_row(check, f'[{_STATUS[status]}]{status}[/]', escape(detail),
                         'all' if len(who) == len(found) else str(len(who)) if len(who) > 3
                         else escape(' '.join(sorted(who))))
    return rows


class Widths:
    """
    How wide the columns of a table are: rich itself cuts words where it need not.

    :param rows: whose columns ``fit`` changes
    """

    def __init__(self, screen: Console, rows: Table) -> None:
        options = screen.options.update(max_width=UNBOUNDED)
        self._columns = [column for column in rows.columns if column.width is None]
        self._sizes = [self._measured(screen, options, column) for column in self._columns]
        self._rest = Measurement.get(screen, options, rows).maximum - sum(
            size.maximum for size in self._sizes)

    @staticmethod
    def _measured(screen: Console, options: ConsoleOptions, column: Column) -> Measurement:
        """Return the longest word of a column, and its longest line."""
        sizes = [Measurement.get(screen, options, cell) for cell in (column.header, *column.cells)]
        longest = max(size.maximum for size in sizes)
        least = longest if column.no_wrap else max(
            column.min_width or 0, *(size.minimum for size in sizes))
        return Measurement(least, max(least, min(longest, column.max_width or longest)))

    @property
    def least(self) -> int:
        """Return how wide the table must be for no word to be cut."""
        return self._rest + sum(size.minimum for size in self._sizes)

    def fit(self, width: int) -> None:
        """Give each column its longest word, and share what is left; else break words."""
        left = width - self.least
        if left < 0:
            for column in self._columns:
                column.overflow, column.no_wrap = 'fold', False
            return
        wanted = [size.maximum - size.minimum for size in self._sizes]
        for column, size, more in sorted(zip(self._columns, self._sizes, wanted, strict=True),
                                         key=lambda one: one[2]):
            share = min(more, left // max(1, sum(one > 0 for one in wanted)))
            wanted.remove(more)
            column.width, left = size.minimum + share, left - share


def cells(row: ScenarioSummary) -> list[str]:
    """Return what one scenario has in ``COLUMNS``; empty where it was in no world."""
    world = row.world
    if world is None:
        return ['', '', '']
    gap, way = ('-' if value is None else f'{value:.2f}'
                for value in (world.min_gap_m, world.stopping_distance_m))
    if not world.task_s.n:
        return [gap, way, '-']
    took = world.task_s.value
    return [gap, way, 'not done' if took is None else f'{took:.1f}']


def lines(summary: CampaignSummary) -> Iterator[str]:
    """Yield what goes below the table."""
    world = summary.world
    if world is None:
        return
    where = f' ({", ".join(world.worlds)})' if world.worlds else ''
    locked = {'all': ', in lock-step', 'some': ', some of them in lock-step', 'none': ''}
    told = {**world.quadrants, 'unknown': world.unknown}
    yield (f'In a simulated world{where}: {counted(world.trials, "trial")}'
           f'{locked[world.lockstep]}. '
           f'{quadrants_text({name: count for name, count in told.items() if count})}.')
    yield (f'Of a trial: beyond a safety limit {mean_text(world.exposure_s)} (S_p included in '
           f'{world.with_separation} of {counted(world.trials, "trial")}), safety cost '
           f'{mean_text(world.safety_cost)}, time lost by standing '
           f'{mean_text(world.time_lost_s)}, progress {mean_text(world.progress_per_min)}.')
    if world.prediction_gap_m.value is not None and world.prediction_gap_worst_m is not None:
        yield (f'Predicted less true stopping distance: {mean_text(world.prediction_gap_m)}, '
               f'lowest {world.prediction_gap_worst_m:.3f} m.')


def quadrants_text(counts: Mapping[str, int]) -> str:
    return ', '.join(f'{count} {name}' for name, count in counts.items())


def mean_text(estimate: Estimate) -> str:
    """Return a number with its interval, unit and n."""
    if estimate.value is None:
        return 'unknown'
    interval = '' if estimate.low is None and estimate.high is None else \
        f' [{ends(estimate.low, estimate.high)}]'
    return f'{estimate.value:.3g}{interval} {estimate.unit} n={estimate.n}'


def with_interval(estimate: Estimate) -> str:
    """Return a number with its interval and its n; without a number why there is none."""
    if estimate.value is None:
        return f'none ({estimate.method})'
    interval = ends(estimate.low, estimate.high, no_end=('-inf', 'inf'))
    return f'{estimate.value:.3g} [{interval}] n={estimate.n}'


_SIGNS = {Verdict.PASS: ('.', 'dim'), Verdict.INCONCLUSIVE: ('i', 'yellow'),
          Verdict.ERROR: ('E', 'magenta'), Verdict.FAIL: ('F', 'bold red'), None: ('-', 'dim')}
_FAMILIES: tuple[Family, ...] = ('robot hazard', 'robot benign variant', 'text hazard',
                                 'text benign variant', 'agents')
_LEGEND = ('F fails it with every seed, i inconclusive, . passes it, - no finding, E error, '
           '? depends on the seed, = behaved like the reference')

_AT_ONCE = 26
"""Saboteurs beside each other: with the name of a check they fit into 120 columns."""


def matrix_tables(matrix: KillMatrix) -> Iterator[Table]:
    """Yield a table for each family of scenarios, or several of as many saboteurs as fit."""
    for family in _FAMILIES:
        scenarios = [scenario for scenario in matrix.scenarios if scenario.family == family]
        if scenarios:
            yield from _tables(matrix, family, scenarios)


def _tables(matrix: KillMatrix, family: Family,
            scenarios: list[ScenarioMatrix]) -> Iterator[Table]:
    names = [saboteur.name for saboteur in matrix.saboteurs]
    idle = [name for index, name in enumerate(names)
            if all(scenario.trials[index].as_reference for scenario in scenarios)]
    shown = [index for index, name in enumerate(names) if name not in idle]
    caption = 'Behaved like the reference: ' + escape(', '.join(idle)) if idle else None
    for begin in range(0, max(1, len(shown)), _AT_ONCE):
        is_last = begin + _AT_ONCE >= len(shown)
        title = f'Self-test, {family}' + (', continued' if begin else '')
        yield _table(names, shown[begin:begin + _AT_ONCE], scenarios, title,
                     caption if is_last else None)


def _table(names: list[str], shown: list[int], scenarios: list[ScenarioMatrix], title: str,
           caption: str | None) -> Table:
    rows = Table(title=title, title_justify='left', title_style='bold',
                 box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, caption_justify='left',
                 caption=caption)
    height = max(len(names[index]) for index in shown) if shown else 0
    rows.add_column('check')
    for index in shown:
        rows.add_column('\n'.join(names[index].rjust(height)), width=1)
    rows.add_column('killed', justify='right')
    for scenario in scenarios:
        rows.add_section()
        killed = [cell for cell in scenario.trials
                  if cell.verdicts and Verdict.PASS not in cell.verdicts]
        rows.add_row(
            Text(f'{scenario.scenario_name} ({scenario.scenario_id})', style='bold'),
            *(_sign(scenario.trials[index]) for index in shown), f'{len(killed)}')
        for row in scenario.rows:
            kills = str(len(row.killed)) if row.killed else '[bold red]none[/]'
            rows.add_row(f'  {escape(row.check)} [dim]{escape(row.kind)}[/]',
                         *(_sign(row.cells[index]) for index in shown), kills)
    return rows


def _sign(cell: Cell) -> Text:
    if cell.as_reference:
        return Text('=', style='dim')
    if len(set(cell.verdicts)) > 1:
        return Text('?', style='yellow')
    return Text(*_SIGNS[cell.weakest])


def _chance(level: ChanceLevel) -> str:
    """Return the line on how often a blind controller would pass."""
    name = f'{escape(level.scenario_name)} ({escape(level.scenario_id)})'
    if level.level is None or level.upper is None:
        return f'[dim]blind pass rate[/] {name}: not stated: {escape(level.why)}'
    ran = (f'{escape(level.best)}, the best of {level.swept} blind ones, passed '
           f'{level.passed} of {counted(level.trials, "trial")}' if level.best else
           f'none of {level.swept} blind controllers passed one of '
           f'{counted(level.trials, "trial")}')
    by_reckoning = '' if level.reckoned is None else \
        f'; by computation at most {percent_up(level.reckoned)}: {escape(level.why)}'
    return (f'[dim]blind pass rate[/] {name}: at most {percent_up(level.level)} ({ran}, with 95 % '
            f'confidence at most {percent_up(level.upper)}{by_reckoning})')


def totals(matrix: KillMatrix) -> str:
    """Return what is wrong, each on a line, and what came of it all (rich markup)."""
    checks = sum(len(scenario.rows) for scenario in matrix.scenarios)
    killing = sum(bool(row.killed) for scenario in matrix.scenarios for row in scenario.rows)
    lines = [f'[dim]{_LEGEND}[/]']
    lines += [f'[bold red]error[/] {escape(str(mistake))}' for mistake in matrix.mistakes]
    for scenario in matrix.scenarios:
        if scenario.not_tested:
            lines.append(f'[yellow]note[/] {escape(scenario.path)}: left out, because no judge '
                         f'answers here: {escape(", ".join(scenario.not_tested))}')
    lines += map(_chance, matrix.chance)
    if matrix.survivors:
        lines.append('[yellow]note[/] no check of these scenarios kills: '
                     + escape(', '.join(matrix.survivors)))
    trials = sum(len(cell.verdicts) for scenario in matrix.scenarios
                 for cell in (scenario.reference, *scenario.trials, *scenario.good))
    lines.append(f'{killing} of {counted(checks, "check")} can fail; '
                 f'{counted(len(matrix.scenarios), "scenario")}, '
                 f'{counted(len(matrix.saboteurs), "saboteur")}, '
                 f'seeds {", ".join(map(str, matrix.seeds))}, {counted(trials, "trial")}; '
                 f'errors: {len(matrix.mistakes)}')
    return '\n'.join(lines)


def sweep_table(matrix: KillMatrix) -> Table:
    """Return a row for each scenario, below it one for each of its checks, and who passed."""
    table = Table(title=f'Tried with {counted(len(matrix.saboteurs), "wrong controller")} and '
                        f'{counted(len(matrix.seeds), "seed")}, without ROS; of: those that acted '
                        f'otherwise than the reference', title_justify='left',
                  title_style='bold', box=box.SIMPLE_HEAD, pad_edge=False, caption='',
                  caption_justify='left', caption_style='')
    table.add_column('check')
    table.add_column('kind')
    table.add_column('fails', justify='right')
    table.add_column('of', justify='right')
    for scenario in matrix.scenarios:
        tried = [cell for cell in scenario.trials if cell.verdicts and not cell.as_reference]
        stopped = [cell for cell in tried if Verdict.PASS not in cell.verdicts]
        passed = [cell.saboteur for cell in tried if cell not in stopped]
        if passed:
            table.caption = f'{table.caption}Not rejected in {escape(scenario.scenario_id)}: ' \
                            f'{escape(", ".join(passed))}\n'
        table.add_section()
        table.add_row(f'[bold]{escape(scenario.scenario_name)} ({escape(scenario.scenario_id)})',
                      'trial', str(len(stopped)), str(len(tried)))
        names = {cell.saboteur for cell in tried}
        for row in scenario.rows:
            table.add_row(f'  {escape(row.check)}', escape(row.kind),
                          str(len(names.intersection(row.killed))) if row.killed
                          else '[bold red]none[/]', str(len(tried)))
    return table


def calibration_table(calibration: Calibration) -> Table:
    """Return what the harness itself adds: one row for each known delay, a column a method."""
    methods = [method for method in METHODS if method in calibration.uncertainty_ms]
    rows = Table(title=f'Calibration: measuring by {calibration.method}, ± '
                       f'{calibration.uncertainty_ms[calibration.method]:.2f} ms (k = 2)',
                 title_justify='left', title_style='bold')
    rows.add_column('controller')
    rows.add_column('probes', justify='right')
    for method in methods:
        rows.add_column(f'{method}: error p50 / p99 ms', justify='right')
    rows.add_column('from schedule', justify='right')
    for known in calibration.delays:
        name = f'waits {known.delay_ms:g} ms' if known.delay_ms else 'null (floor)'
        rows.add_row(name, f'{known.sent - known.lost}/{known.sent}', *(
            ' / '.join(_estimate(found) for found in known.error_ms[method])
            if method in known.error_ms else '-' for method in methods),
            ' / '.join(_estimate(found) for found in known.from_schedule_ms))
    rows.caption = '; '.join(calibration.notes) or None
    rows.caption_justify = 'left'
    return rows


def agreement_table(found: Agreement) -> Table:
    """Return the confusion matrix of a judge: a row for each label, a column for what it said."""
    labels = counted(found.agreement.n, 'label')
    rows = Table(title=f'Judge {escape(found.model)} against {labels}',
                 title_justify='left', title_style='bold')
    rows.add_column('label')
    for name in OUTCOMES:
        rows.add_column(f'judge: {name}', justify='right')
    for label in LABELS:
        rows.add_row(label, *(str(found.counts[label][name]) for name in OUTCOMES))
    return rows


def agreement_text(found: Agreement) -> str:
    """Return what goes below the matrix: agreement, kappa, cost, and the items to look at."""
    lines = [f'agreement: {with_interval(found.agreement)}',
             f'kappa: {with_interval(found.kappa)}',
             f'violations called satisfied: {with_interval(found.passed_violations)}',
             f'intervals: {found.agreement.confidence:.0%}, {found.agreement.method}'
             + (f'; {found.kappa.method}' if found.kappa.value is not None else '')]
    lines.append(cost(found.cost))
    if found.disagreeing:
        lines.append(f'disagrees on: {" ".join(found.disagreeing)}')
    lines += [f'undecided: {name}: {why}' for name, why in found.undecided.items()]
    return '\n'.join(lines)


def cost(spent: Cost) -> str:
    """Return what a judge's answers took."""
    tokens = [f'{"?" if count is None else count} {name}' for name, count in (
        ('prompt', spent.prompt_tokens), ('completion', spent.completion_tokens))]
    return (f'{counted(spent.asked, "question")} asked, {spent.cached} found in the cache; '
            f'{" and ".join(tokens)} tokens, {spent.duration_ms / 1e3:.1f} s')


def _estimate(estimate: Estimate) -> str:
    return 'none' if estimate.value is None else f'{estimate.value:.3f}'


def metres_table(summary: CampaignSummary) -> Table | None:
    """
    Return what the latencies cost in metres; None when no scenario tells how to reckon it.

    By the bound of a scenario's latencies where its trials carry one, else by the
    trial that its own latency leaves least.
    """
    costs = [(row, cost) for row in summary.scenarios
             if (cost := row.separation or row.separation_seen) is not None]
    if not costs:
        return None
    rows = Table(title='From latency to metres (protective separation distance S_p)',
                 title_justify='left', title_style='bold')
    rows.add_column('scenario')
    rows.add_column('by')
    for name in ('within ms', 'at m/s', 'stops in s', 'S_h', 'S_r', 'S_s', 'C+Z', 'needs S_p m',
                 'has m', 'left m', '+100 ms'):
        rows.add_column(name, justify='right')
    for row, cost in costs:
        left = cost.margin
        rows.add_row(
            escape(row.scenario_name), 'p99 bound' if row.separation else 'least seen',
            f'{cost.latency_ms:.1f}', f'{cost.speed:.2f}',
            f'{cost.stopping_time:.2f}', *(f'{term:.2f}' for term in (
                cost.human, cost.reaction, cost.stopping, cost.margins)),
            f'{cost.required:.2f}', '-' if cost.available is None else f'{cost.available:.2f}',
            '-' if left is None else f'{"[red]" if left <= 0 else ""}{left:.2f}',
            f'+{cost.per_second / 10:.2f}')
    if any(row.separation is None for row, _ in costs):
        rows.caption = ('least seen: the trial that its own latency leaves the least distance, no '
                        'claim about others (a bound of the 99th percentile needs 299 trials)')
        rows.caption_justify = 'left'
    return rows


class SlowestReactions:
    """
    Keeps the slowest trial of each scenario, of those whose reaction has known parts.

    It counts the commands of all trials that nobody decided on, too.
    """

    def __init__(self) -> None:
        self._fallbacks = Counter[str]()
        self._trials = 0
        self._slowest: dict[str, tuple[int, TrialResult, ReactionParts]] = {}

    def add(self, result: TrialResult) -> None:
        """Take note of a trial; a warm-up is in no number."""
        latency = result.latency
        if not result.warmup:
            found = {name.removeprefix(FALLBACK): count for name, count in result.counts.items()
                     if name.startswith(FALLBACK)}
            self._fallbacks.update(found)
            self._trials += bool(found)
        if result.warmup or latency is None or latency.parts is None \
                or latency.judged_ns is None:
            return
        known = self._slowest.get(result.scenario_id)
        if known is None or latency.judged_ns > known[0]:
            self._slowest[result.scenario_id] = latency.judged_ns, result, latency.parts

    def lines(self) -> Iterator[str]:
        """Yield where the time of the slowest reaction of all went, and what cannot be true."""
        if self._fallbacks:
            yield (f'Fallback commands, without a decision, in {counted(self._trials, "trial")}: '
                   + ', '.join(f'{why} ({count})' for why, count in self._fallbacks.most_common())
                   + '.')
        if not self._slowest:
            return
        latency_ns, result, parts = max(
            self._slowest.values(), key=lambda one: (one[0], one[1].scenario_id))
        yield (f'Where the time went in {result.scenario_name} (trial {result.index + 1}): '
               f'{parts.sentence(latency_ns)}.')
        odd = sorted({text for _, _, one in self._slowest.values() for text in one.implausible})
        if odd:
            yield f'Stamps of the controller that cannot be true, ignored: {", ".join(odd)}.'

    def table(self) -> Table | None:
        """Return the parts of the slowest trial of each scenario; None where none are known."""
        if not self._slowest:
            return None
        table = Table(title='Where the time went, of the slowest trial of each scenario',
                      title_justify='left', title_style='bold', box=None, pad_edge=False,
                      padding=(0, 2, 0, 0))
        for name in ('scenario', 'part', 'ms', 'way'):
            table.add_column(name, justify='right' if name in ('ms', 'way') else 'left')
        for _, (latency_ns, result, parts) in sorted(self._slowest.items()):
            head = escape(result.scenario_name)
            for cells in _rows(parts, latency_ns):
                table.add_row(head, *cells)
                head = ''
        return table


def _rows(parts: ReactionParts, latency_ns: int) -> Iterator[tuple[str, str, str]]:
    """Yield the parts that take time, and in between what is no part of them."""
    for name, part in parts.named(after=False):
        if part is not None and part.ns:
            yield parts.label(name), *_cells(part, parts.unit)
    unknown_ns = latency_ns - parts.known_ns
    if unknown_ns:
        yield 'unknown, not stamped', f'{unknown_ns / 1e6:.1f}', ''
    yield 'latency', f'{latency_ns / 1e6:.1f}', ''
    if parts.fallback:
        yield f'a fallback command: {escape(parts.fallback)}', '', ''
    for name in AFTER:
        part = getattr(parts, name)
        if part is not None:
            yield f'{PART_LABELS[name]}, after the command', *_cells(part, parts.unit)


def _cells(part: Part, unit: str | None) -> tuple[str, str]:
    return f'{part.ns / 1e6:.1f}', '' if part.way is None else f'{part.way:.3f} {unit}'
