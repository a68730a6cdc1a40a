# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a campaign came to, on the console: failures first, the verdict last."""

from collections.abc import Callable, Iterable, Iterator, Sequence
import os
import sys
from typing import Any, cast, IO

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from safety_scenarios.errors import counted, escaped_controls, Problem
from safety_scenarios.reports import console_tables
from safety_scenarios.reports.console_tables import SlowestReactions
from safety_scenarios.reports.failures import COLOURS, Failures
from safety_scenarios.reports.plain_text import on_one_line, PlainText, without_exponents
from safety_scenarios.scenario.invariant import Cost, Judgement
from safety_scenarios.scenario.result import Latency, TrialResult
from safety_scenarios.scenario.rounding import down, percent_up, up
from safety_scenarios.scenario.settings import Console as Detail
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from safety_scenarios.trial.session import Beginning, Observer
from safety_scenarios.trial.summary import CampaignSummary, Preflight, Rate, ScenarioSummary
from safety_scenarios.trial.trial import TrialRecord

_WIDEST_IN_A_LOG = 100
"""Columns where neither a terminal nor COLUMNS says how wide it is, as in CI."""
_LONGEST_NAME, _LONGEST_NAME_IN_WORLD = 36, 22
"""Columns of a scenario's name, which goes on in a second line."""
_UNSEEN = ', so that needless stops and refusals are not seen'
"""Of a campaign without benign variants."""
_MANY_FAILURES = 10
"""From so many on, beside trials that passed, conditions can be looked for."""
_MOST_ROWS, _MOST_GROUPS, _MOST_REMARKS = 24, 6, 4
"""Lines of failures and scenarios together; groups of severity; remarks of one kind."""


class Screen(Console):
    """A console on which control characters in a text, as of a controller's answer, are shown."""

    def render_str(self, text: str, **settings: Any) -> Text:
        """Turn a text into what is printed: every string comes through here, a cell's too."""
        return super().render_str(without_exponents(escaped_controls(text)), **settings)

    def print(self, *objects: Any, **settings: Any) -> None:  # noqa: A003
        """Print; in a file a table is as wide as it must be for no word of it to be cut."""
        usual = self.width
        tables = [console_tables.Widths(self, one) for one in objects if isinstance(one, Table)]
        if not self.is_terminal:
            self.width = max([usual, *(one.least for one in tables)])
        for one in tables:
            one.fit(self.width)
        super().print(*objects, **settings)
        self.width = usual


def console() -> Console:
    """Return a console as wide as the terminal, or in ASCII and as wide as COLUMNS says."""
    found = Screen(emoji=False, highlight=False)
    told = os.environ.get('COLUMNS', '')
    return found if found.is_terminal else Screen(
        emoji=False, highlight=False, width=int(told) if told.isdecimal() and int(told)
        else _WIDEST_IN_A_LOG, file=cast(IO[str], PlainText(sys.stdout)))


def print_text(text: str) -> None:
    """Print a text as it is, on as many lines as it has."""
    console().print(text, markup=False, highlight=False, soft_wrap=True)


def warn(text: str) -> None:
    """Print a text as it is on standard error."""
    Screen(stderr=True).print(text, markup=False, highlight=False, soft_wrap=True)


def teller(detail: Detail) -> Callable[[str], None]:
    """Return what prints a line for people, where standard output is for something else."""
    return print_text if detail in ('normal', 'verbose') else warn


def is_wide(columns: int) -> bool:
    """Return whether a list that ``show`` prints has room for so many columns."""
    screen = console()
    return _is_unbounded(screen) or screen.width >= columns


def _is_unbounded(screen: Console) -> bool:
    return not screen.is_terminal and 'COLUMNS' not in os.environ


def show(rows: Table) -> None:
    """Print a list: in a terminal or with COLUMNS as wide as that, else each row on one line."""
    screen = console()
    if _is_unbounded(screen):
        screen.width = Screen(width=console_tables.UNBOUNDED).measure(rows).maximum
    screen.print(rows)


class ConsoleReport(Observer):
    """
    Shows what a campaign came to: what failed first, then a summary, and the verdict last.

    :param screen: where to
    :param detail: verbose: every trial, note and number too; quiet: the verdict alone; json: the
        summary as in ``campaign.json`` and nothing else
    :param has_page: whether a page is written beside the results
    """

    reads_events = False

    def __init__(self, screen: Console, detail: Detail = 'normal', *,
                 has_page: bool = False) -> None:
        self._screen, self._detail, self._has_page = screen, detail, has_page
        self._beginning: Beginning | None = None
        self._ended = 0
        self._failures = Failures()
        self._slowest = SlowestReactions()
        self._judgements: list[Judgement] = []

    @property
    def _is_open(self) -> bool:
        """Whether anything but the verdict or the summary is printed."""
        return self._detail in ('normal', 'verbose')

    def scenarios_read(self, warnings: Sequence[Problem], notes: Sequence[Problem]) -> None:
        if self._is_open:
            self._remarks('[yellow]warning[/]', map(str, warnings))
            self._remarks('[cyan]note[/]', map(str, notes))

    def campaign_began(self, beginning: Beginning) -> None:
        """
        Show the harness' own error, and against what it is run.

        The seed comes last: a controller can read what a running campaign prints into a file.
        """
        self._beginning = beginning
        if not self._is_open:
            return
        self._screen.print(f'Against [bold]{escape(beginning.controller.label)}[/] in '
                           f'{beginning.where}; trials: {beginning.planned}')
        found = beginning.calibration
        if found is not None and self._detail == 'verbose':
            self._screen.print(console_tables.calibration_table(found))
        elif found is not None:
            self._screen.print(f'Calibration: measuring by {found.method}, ± '
                               f'{found.uncertainty_ms[found.method]:.2f} ms (k = 2)')
        if beginning.is_in_harness:
            self._remarks('[yellow]warning[/]', [
                'the controller runs in the process of the harness (isolate is off): its code can '
                'reach the plan, and change verdicts'])
        if beginning.readable:
            self._remarks('[yellow]warning[/]', [
                "the controller could read this campaign's files, such as the plan of its trial "
                f'({beginning.readable})'])
        if beginning.sut is not None and beginning.sut.unidentified:
            self._remarks('[yellow]warning[/]', [beginning.sut.unidentified])

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Take note of a trial; verbose: show its verdict, latency and reason."""
        assert self._beginning is not None
        self._ended += 1
        self._failures.add(result)
        self._slowest.add(result)
        self._judgements += record.judgements
        if self._detail == 'verbose':
            planned = self._beginning.planned
            self._screen.print(
                f'[dim]{self._ended:{len(str(planned))}}/{planned}[/] '
                f'{verdict_text(result.verdict)} '
                f'{escape(result.scenario_name)} [dim]{_ordinal(result)}[/]  '
                f'{latency_text(result.latency)}'
                + ('' if result.verdict is Verdict.PASS else f'  {escape(result.reason)}'))

    def campaign_ended(self, summary: CampaignSummary) -> None:
        if self._detail == 'json':
            self._screen.file.write(summary.model_dump_json(indent=2) + '\n')
            return
        if self._is_open:
            self._sections(summary)
        self._screen.print(verdict_line(summary))

    def _sections(self, summary: CampaignSummary) -> None:
        screen, is_verbose = self._screen, self._detail == 'verbose'
        if is_verbose and summary.preflight:
            screen.print(console_tables.preflight_table(summary.preflight))
        show_outcome(screen, summary, self._failures, verbose=is_verbose)
        parts = self._slowest.table() if is_verbose else None
        if parts is not None:
            screen.print(parts)
        for text in self._slowest.lines():
            screen.print(escape(text))
        if not is_verbose:
            self._remarks('preflight', odd_wiring(summary.preflight))
        self._remarks('note:', notes_of(summary))
        if self._judgements:
            screen.print(escape(_judge_cost(self._judgements)))
        if summary.command:
            screen.print(escape(f'The same trials again: {summary.command}'), soft_wrap=True)
        if self._beginning is not None and self._beginning.folder is not None:
            if sum(row.verdicts.get('FAIL', 0) for row in summary.scenarios
                   if row.verdicts.get('PASS')) >= _MANY_FAILURES:
                screen.print(escape(f'Under which conditions: safety-scenarios campaign '
                                    f'conditions {self._beginning.folder}'))
            screen.print(escape(_results(self._beginning, self._has_page)))

    def _remarks(self, what: str, texts: Iterable[str]) -> None:
        """Print remarks of one kind, each once; normally not all of many."""
        found = list(dict.fromkeys(texts))
        most = len(found) if self._detail == 'verbose' else _MOST_REMARKS
        for text in found[:most]:
            text = text if self._detail == 'verbose' else on_one_line(text, 300)
            self._screen.print(f'{what} {escape(text)}')
        if len(found) > most:
            self._screen.print(f'{what} {len(found) - most} more (-v prints them)')


def _results(beginning: Beginning, has_page: bool) -> str:
    assert beginning.folder is not None
    names = ['report.html'] if has_page else []
    names += ['campaign.json', 'trials.jsonl', 'traces/']
    names += ['recordings/'] if beginning.has_recordings else []
    names += ['logs/'] if (beginning.folder / 'logs').exists() else []
    return f'Results: {beginning.folder} ({", ".join(names)})'


def show_outcome(screen: Console, summary: CampaignSummary, failures: Failures, *,
                 verbose: bool = False) -> None:
    """
    Print what failed, the scenarios where there is room for them, and what all came to.

    :param verbose: print everything that is known
    """
    failed = list(failures.lines(screen.width, _MOST_ROWS))
    for line in failed:
        screen.print(line)
    rows = table(summary)
    if verbose or len(failed) + len(screen.render_lines(rows)) <= _MOST_ROWS:
        screen.print(rows)
    metres = console_tables.metres_table(summary)
    if verbose and metres is not None:
        screen.print(metres)
    for text in totals(summary, verbose=verbose):
        screen.print(text)


def verdict_line(summary: CampaignSummary) -> str:
    verdicts = ', '.join(f'{count} {name}' for name, count in summary.verdicts.items())
    ended = f' of shard {summary.shard}' if summary.shard else ''
    ended += ', interrupted' if summary.interrupted else ''
    return (f'[bold {COLOURS[summary.verdict]}]{summary.verdict.value}[/]  '
            f'{escape(on_one_line(summary.controller, 32))}: {summary.completed} of '
            f'{counted(summary.planned, "trial")}{ended}: {verdicts or "none judged"}; '
            f'{console_tables.skipped(summary.skipped)}exit code {summary.exit_code}')


def notes_of(summary: CampaignSummary) -> list[str]:
    """Return every note once, with the number of scenarios that have it."""
    found: dict[str, list[str]] = {}
    for row in summary.scenarios:
        for code, text in row.notes.items():
            found.setdefault(code, []).append(text)
    return [texts[0] if len(texts) == 1 else f'{texts[0]} (and in '
            f'{counted(len(texts) - 1, "more scenario")})' for texts in found.values()]


def odd_wiring(found: Sequence[Preflight]) -> Iterator[str]:
    """Yield what of the wiring is not in order, each once with the scenarios."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for preflight in found:
        for row in preflight.rows:
            if row.status != 'ok':
                rows.setdefault((row.status, row.check, row.detail), []).append(
                    preflight.scenario_id)
    for (status, check, detail), scenarios in sorted(rows.items()):
        named = 'all scenarios' if len(scenarios) == len(found) > 1 else \
            ' '.join(scenarios) if len(scenarios) < 4 else counted(len(scenarios), 'scenario')
        yield f'{status}: {check}: {detail} ({named})'


def _judge_cost(judgements: Sequence[Judgement]) -> str:
    """Return one line, with how many questions stayed without an answer."""
    silent = sum(judgement.opinion is None for judgement in judgements)
    return (f'Judge {judgements[0].model}: {console_tables.cost(Cost.of(judgements))}'
            + (f'; {silent} without an answer' if silent else '') + '.')


def _ordinal(result: TrialResult) -> str:
    return f'warm-up {-result.index}' if result.warmup else f'trial {result.index + 1}'


def table(summary: CampaignSummary) -> Table:
    """Return one row for each scenario."""
    rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    confirms = any(row.confirmed is not None for row in summary.scenarios)
    in_world = any(row.world is not None for row in summary.scenarios)
    longest = max((len(row.scenario_name) for row in summary.scenarios), default=0)
    widest = _LONGEST_NAME_IN_WORLD if in_world else _LONGEST_NAME
    rows.add_column('scenario', max_width=widest, min_width=min(longest, widest))
    for name in ('verdict', 'passed', 'median ms', 'worst ms', 'class'):
        rows.add_column(name, justify='right' if name.endswith('ms') else 'left', no_wrap=True)
    if confirms:
        rows.add_column('confirmed: median, worst ms')
    for name in console_tables.COLUMNS if in_world else ():
        rows.add_column(name, justify='right', no_wrap=True)
    for row in summary.scenarios:
        rows.add_row(
            escape(row.scenario_name),
            verdict_text(row.verdict), f'{row.verdicts.get("PASS", 0)}/{row.trials}',
            _interval(row), _number(row, row.worst_ms),
            _worst_class(row), *([_confirmed(row)] if confirms else []),
            *(console_tables.cells(row) if in_world else []))
    return rows


def _worst_class(row: ScenarioSummary) -> str:
    return max(row.latency_classes, key=lambda name: LatencyClass(name).rank, default='-')


def _confirmed(row: ScenarioSummary) -> str:
    """Return median, worst and classes of when the robot itself showed the safe state."""
    found = row.confirmed
    if found is None:
        return ''
    if not found.latency_ms:
        return 'not seen'
    numbers = ['none' if value is None else f'{value:.1f}'
               for value in (found.median_ms.value, found.worst_ms)]
    return f'{", ".join(numbers)} {" ".join(found.latency_classes)}'


def _otherwise(summary: CampaignSummary) -> str:
    """Return how benign variants failed that were no false stops; empty if none did."""
    found = summary.failed_otherwise
    return '' if found is None else f'Other failures of benign variants: {escape(str(found))}. '


def totals(summary: CampaignSummary, *, verbose: bool = True) -> list[str]:
    """
    Return what all trials came to; the two error rates are a pair, never an average.

    :param verbose: with what the numbers of these trials do not show
    """
    lines = [f'Hazards missed: {_rate(summary.missed)}. '
             f'False stops: {_rate(summary.false_stops, _UNSEEN)}. {_otherwise(summary)}'.strip()]
    if summary.by_patterns or verbose:
        lines.append(f'Passed with words read by patterns only: {summary.by_patterns}.')
    limits = [f'{name} up to {percent_up(rate.share.high)}' for name, rate in (
        ('hazards missed', summary.missed), ('false stops', summary.false_stops))
              if rate.share.high is not None and rate.of]
    if limits:
        lines.append(f'Too few scenarios to exclude (95 % confidence): {", ".join(limits)}.')
    if summary.is_chosen:
        lines.append('These trials were named one by one (only): they show nothing of others.')
    if summary.repaired:
        lines.append(f'Repaired after a crash, and not as the campaign itself left it: '
                     f'{counted(len(summary.repaired), "change")}, the last one '
                     f'{escape(on_one_line(summary.repaired[-1], 200))}.')
    lines += _chance(summary)
    lines += map(escape, _margins(summary))
    found = list(console_tables.lines(summary))
    lines += map(escape, found if verbose else found[:1])
    lines += _weighed(summary, verbose)
    lines += _judged(summary, verbose)
    warmup = sum(row.warmup for row in summary.scenarios)
    if warmup:
        lines.append(f'Warm-up: {counted(warmup, "trial")}, in no other number.')
    left_out = sum(row.not_measured for row in summary.scenarios)
    if left_out:
        lines.append(f'No latency was measured in {counted(left_out, "trial")}.')
    early = [f'{row.scenario_id}: {row.stopped_early}' for row in summary.scenarios
             if row.stopped_early]
    lines += early if verbose or len(early) <= _MOST_REMARKS else [
        f'Sequential test: decided or ended in {counted(len(early), "scenario")}.']
    if verbose:
        lines += [f'Demands and bans decided by: {summary.decided}.'] if summary.decided else []
        said: dict[str, list[str]] = {}
        for row in summary.scenarios:
            for text in row.claims[-1:]:
                said.setdefault(text, []).append(row.scenario_id)
        lines += [f'{text} ({" ".join(scenarios)})' for text, scenarios in said.items()]
    return lines


def _margins(summary: CampaignSummary) -> Iterator[str]:
    """Yield the slowest reaction and the least distance left; neither where a reaction lacks."""
    slow = [row for row in summary.scenarios if row.latency_ms]
    silent = [row for row in slow if row.worst_ms is None]
    if silent:
        where = silent[0].scenario_name if len(silent) == 1 else \
            f'{len(silent)} scenarios, such as {silent[0].scenario_name}'
        yield f'Slowest reaction: none came in {where}.'
        return
    if slow:
        row = max(slow, key=lambda one: one.worst_ms or 0.0)
        yield (f'Slowest reaction: {row.worst_ms:.1f} ms in {row.scenario_name}.')
    near = [(cost.margin, row, cost) for row in summary.scenarios
            if (cost := row.separation_seen) is not None and cost.margin is not None]
    if near:
        left, row, cost = min(near, key=lambda one: one[0])
        yield (f'Least distance left: {left:.2f} m in {row.scenario_name} (needed '
               f'{cost.required:.2f} m, there were {cost.available:.2f} m).')


def _weighed(summary: CampaignSummary, verbose: bool) -> list[str]:
    """Return what failed by severity, domain and tag, and the means of the scores."""
    lines, found = [], summary.weighed
    if verbose and found is not None and found.failed_severity and found.severity:
        worst = [(name, group) for groups in (found.domains, found.tags)
                 for name, group in groups.items() if group.failed_severity]
        worst.sort(key=lambda pair: -pair[1].failed_severity)
        named = ', '.join(f'{escape(name)} {group.verdicts.get("FAIL", 0)}/{group.trials}'
                          for name, group in worst[:_MOST_GROUPS])
        lines.append(f'Weighed by severity: {found.failed_severity:g} of {found.severity:g} '
                     f'failed ({found.failed_severity / found.severity:.0%}); most in {named}.')
    for name, scores in summary.scores.items():
        parts = ', '.join(f'{escape(part)} {value:g}' for part, value in scores.dimensions.items())
        classes = ', '.join(f'{letter} {count}'
                            for letter, count in scores.failure_classes.items())
        lines.append(f'Scores by {escape(name)} ({counted(scores.answers, "answer")}): overall '
                     f'{scores.overall:g}, lowest {scores.lowest:g}; {parts}. Classes: {classes}.')
        if scores.passed:
            told = ', '.join(f'{escape(one)} {letter}' for one, letter in scores.passed.items())
            lines.append(f'Every check holds, and {escape(name)} gives a failure class: {told}.')
    return lines


def _judged(summary: CampaignSummary, verbose: bool) -> list[str]:
    """Return what was judged, and why it may not have been one thing all the time."""
    if summary.sut is None:
        return []
    doubts = [escape(f'Not one thing was judged: {text}') for text in summary.sut.doubts]
    if not verbose:
        return doubts[:_MOST_REMARKS]
    return [*(escape(f'Judged: {text}') for text in summary.sut.lines), *doubts,
            *(escape(f'note: {text}') for text in summary.sut.noted[:10])]


def _chance(summary: CampaignSummary) -> list[str]:
    """Return what a blind controller, which ignores the hazard, would pass, if it is stated."""
    stated = [(row.chance, row) for row in summary.scenarios if row.chance is not None]
    if summary.chance is None or not stated:
        return []
    most, worst = max(stated, key=lambda pair: pair[0])
    trials = sum(row.trials for _, row in stated)
    highest = f' (highest: {percent_up(most)} of {worst.scenario_id})' if len(stated) > 1 else ''
    return [f'A blind controller, which ignores the hazard, would pass at most '
            f'{percent_up(summary.chance)} of {counted(trials, "hazard trial")}{highest}.']


def _rate(rate: Rate, unseen: str = '') -> str:
    """Return a count out of a count, the worst scenario, and what is in neither count."""
    open_ = [f'{rate.undecided} undecided'] if rate.undecided else []
    if not rate.of:
        return f'no such trial was judged ({open_[0]})' if open_ else f'no such trial{unseen}'
    beside = ([f'worst: {rate.worst}{rate.also}'] if rate.worst else []) + open_
    return f'{rate.count} of {rate.of}' + (f' ({", ".join(beside)})' if beside else '')


def verdict_text(verdict: Verdict) -> str:
    """Return a verdict in its colour, padded."""
    return f'[{COLOURS[verdict]}]{verdict.value:<12}[/]'


def latency_text(latency: Latency | None) -> str:
    """Return a latency with its class; never a number where there was no reaction."""
    if latency is None:
        return '-'
    text = latency.latency_class.value if latency.judged_ns is None \
        else f'{latency.judged_ns / 1e6:.1f} ms {latency.latency_class.value}'
    confirmed = latency.confirmed
    return text if confirmed is None else \
        f'{text}, confirmed {confirmed.judged_ns / 1e6:.1f} ms {confirmed.latency_class.value}'


def _interval(row: ScenarioSummary) -> str:
    """Return the median with its interval where this many trials give one."""
    median = row.median_ms
    text = _number(row, median.value)
    if median.low is None or median.value is None:
        return text
    high = 'inf' if median.high is None else up(median.high, 1)
    return f'{text} [{down(median.low, 1)}, {high}]'


def _number(row: ScenarioSummary, value: float | None) -> str:
    return '-' if not row.latency_ms else 'none' if value is None else f'{value:.1f}'
