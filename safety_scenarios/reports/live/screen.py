# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
``run --live``: the campaign on the whole terminal, and what is otherwise printed after it.

In a terminal as a bar below the lines of the trials, else as a line now and then. It is drawn
between trials, so that nothing of it disturbs a measurement.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
import io
import os
import sys
import time
from typing import IO

from rich.box import SIMPLE
from rich.console import Console, Group, RenderableType
from rich.layout import Layout
from rich.live import Live
from rich.panel import Panel
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from safety_scenarios.campaign.statistics.proportions import no_narrower, what_came_of
from safety_scenarios.campaign.statistics.sequential import anytime
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.console_report import console as console_screen
from safety_scenarios.reports.console_report import ConsoleReport, Screen, warn
from safety_scenarios.reports.live.feed import Feed, Output
from safety_scenarios.reports.live.picture import number_of, Picture, printable
from safety_scenarios.reports.page.page import will_be_written
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.rounding import percent_up
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.session import Beginning, Observer, OutputContext
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import Trial, TrialRecord

_BOUND_EVERY_S = 1.0
"""The bound costs milliseconds, a trial may cost less."""


class RunningBound:
    """
    Bounds the share of trials that do not pass; those that came out alike do not narrow it.

    :param now_s: steady time
    """

    def __init__(self, link: str, now_s: Callable[[], float]) -> None:
        self._link, self._now_s = link, now_s
        self._seen: set[int] = set()
        self._made = self._bad = self._alike_bad = 0
        self._told_s: float | None = None
        self._text = ''

    def take(self, result: TrialResult) -> None:
        if result.warmup:
            return
        key = hash(what_came_of(result, self._link))
        is_bad = result.verdict is not Verdict.PASS
        self._made += 1
        self._bad += is_bad
        self._alike_bad += is_bad and key in self._seen
        self._seen.add(key)

    @property
    def text(self) -> str:
        """Return the bound in words, at most a second old; empty where there is none."""
        now_s = self._now_s()
        if self._told_s is None or now_s - self._told_s >= _BOUND_EVERY_S:
            high = no_narrower(*(anytime(bad, of, sided='upper') for bad, of in (
                (self._bad, self._made),
                (self._bad - self._alike_bad, len(self._seen))))).high
            self._text = '' if high is None or high >= 1.0 else \
                f'at most {percent_up(high)} do not pass (95 %, at any stop)'
            self._told_s = now_s
        return self._text


_EVERY_S = 30.0
"""Between two lines where nothing can be drawn over."""


def time_left_s(ended: int, planned: int, elapsed_s: float) -> float | None:
    """
    Return about how long the trials to come take, if they take as long as those that ended.

    :param elapsed_s: since the campaign began
    :return: s; None before the first trial has ended
    """
    return None if ended <= 0 else elapsed_s / ended * max(0, planned - ended)


def in_words(seconds: float | None) -> str:
    """Return a time as coarse as an estimate is."""
    if seconds is None:
        return 'time left not known yet'
    if seconds < 60:
        return f'about {max(1, round(seconds))} s left' if seconds >= 0.5 else 'nearly done'
    minutes = round(seconds / 60)
    return f'about {minutes} min left' if minutes < 60 \
        else f'about {minutes // 60} h {minutes % 60:02d} min left'


def may_draw(screen: Console, environment: Mapping[str, str]) -> bool:
    """Return whether a line may be drawn over: in a terminal that nobody has called plain."""
    return screen.is_terminal and not screen.is_dumb_terminal \
        and environment.get('CI', '').lower() in ('', '0', 'false') \
        and not environment.get('NO_COLOR')


class Pace(Observer):
    """
    Counts the trials that have ended, of one campaign or several, and how many end in a second.

    :param now_s: steady time
    """

    reads_events = False

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._began_s = 0.0
        self._planned = self._ended = self._kept = 0
        self._verdicts: Counter[str] = Counter()

    def campaign_began(self, beginning: Beginning) -> None:
        self._began_s = self._now_s()
        self._planned += beginning.planned
        self._kept += beginning.kept

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Count it; what was run before the campaign was cut off has its result at once."""
        self._ended += 1
        self._verdicts[result.verdict.value] += 1
        if self._ended <= self._kept:
            self._began_s = self._now_s()

    @property
    def text(self) -> str:
        """Return rate, time left and verdicts in words."""
        run, elapsed_s = self._ended - self._kept, self._now_s() - self._began_s
        left_s = time_left_s(run, self._planned - self._kept, elapsed_s)
        rate = '' if run <= 0 or elapsed_s <= 0 else f'{run / elapsed_s:.3g}/s, '
        so_far = ', '.join(f'{count} {name}' for name, count in self._verdicts.items())
        return f'{rate}{in_words(left_s)}; {so_far}'


class Lines(Pace):
    """
    A line now and then, where nothing can be drawn over.

    :param tell: takes a line
    :param every_s: least time between two
    """

    def __init__(self, tell: Callable[[str], None], now_s: Callable[[], float] = time.monotonic,
                 every_s: float = _EVERY_S) -> None:
        super().__init__(now_s)
        self._tell, self._every_s = tell, every_s
        self._told_s = 0.0

    def campaign_began(self, beginning: Beginning) -> None:
        super().campaign_began(beginning)
        self._told_s = self._began_s

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Count it, and tell how far the campaign is if that is long ago."""
        super().trial_ended(record, result)
        if self._now_s() - self._told_s >= self._every_s and self._ended < self._planned:
            self._told_s = self._now_s()
            self._tell(f'{self._ended} of {self._planned} trials; {self.text}')


class Bar(Pace):
    """
    A bar below what is printed on a terminal.

    :param screen: the console on which everything else is printed, too
    :param now_s: steady time
    """

    def __init__(self, screen: Console, now_s: Callable[[], float] = time.monotonic,
                 link: str = 'ros') -> None:
        super().__init__(now_s)
        self._bound = RunningBound(link, now_s)
        self._task: TaskID | None = None
        self._bar = Progress(
            BarColumn(30), TextColumn('{task.completed:.0f}/{task.total:.0f}'),
            TextColumn('{task.description}', markup=False), console=screen, auto_refresh=False,
            transient=True, redirect_stdout=False, redirect_stderr=False)

    def campaign_began(self, beginning: Beginning) -> None:
        """Draw it, empty."""
        super().campaign_began(beginning)
        self._task = self._bar.add_task(in_words(None), total=beginning.planned)
        self._bar.start()
        self._bar.refresh()

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Draw it anew."""
        super().trial_ended(record, result)
        assert self._task is not None
        self._bound.take(result)
        self._bar.update(self._task, completed=self._ended, description='; '.join(
            filter(None, (self.text, self._bound.text))))
        self._bar.refresh()

    def campaign_ended(self, summary: CampaignSummary) -> None:
        """Take it away."""
        self.close()

    def close(self) -> None:
        """Take it away, if it is there, and give the cursor back."""
        self._bar.stop()


def lines_of(settings: RunSettings) -> Sequence[Observer]:
    """
    Return what prints the progress as lines on standard error.

    Where an operator is asked at the terminal there is nothing: the question would be hidden.
    """
    is_asked = settings.hil.enabled and settings.hil.confirm == 'terminal'
    return () if is_asked or settings.console == 'quiet' else (Lines(warn),)


@contextmanager
def progress(settings: RunSettings, screen: Console,
             environment: Mapping[str, str]) -> Iterator[Sequence[Observer]]:
    """
    Give what shows the progress while the block lasts; it goes before the console report.

    Outside a terminal it is a line now and then on standard error.

    :param screen: a terminal, or not
    :param environment: of the process
    """
    lines = lines_of(settings)
    if not lines or not may_draw(screen, environment):
        yield lines
        return
    bar = Bar(screen, link=settings.link)
    try:
        yield (bar,)
    finally:
        bar.close()


@contextmanager
def console(context: OutputContext) -> Iterator[Sequence[Observer]]:
    """Give what shows a campaign as it goes and when it has ended; standard output is for that."""
    screen, settings = console_screen(), context.settings
    if settings.console == 'json':
        screen = Screen(file=sys.stdout)
    bar_on = screen if screen.is_terminal and settings.console != 'json' else Console(stderr=True)
    with progress(settings, bar_on, os.environ) as observers:
        yield (*observers, ConsoleReport(screen, settings.console,
                                         has_page=will_be_written(settings)))


PERIOD_S = 0.25
"""Between two pictures."""
_STYLES = {Verdict.PASS: 'green', Verdict.INCONCLUSIVE: 'yellow', Verdict.ERROR: 'magenta',
           Verdict.FAIL: 'bold red'}
_MARKS = {Verdict.PASS: 'o', Verdict.INCONCLUSIVE: '?', Verdict.ERROR: '!', Verdict.FAIL: 'x'}
_KEPT_TRIALS, _KEPT_LINES = 500, 100
_PLOT_ROWS = 9
_AXIS = 9
"""Columns of the numbers beside a plot."""
_BAR_M = 10.0
"""What the whole width of the line of distances stands for (m)."""


class LiveScreen(Output):
    """
    Draws the current trial, the latencies so far, and the last findings.

    :param now_s: steady time
    """

    def __init__(self, screen: Console, now_s: Callable[[], float] = time.monotonic) -> None:
        self._screen, self._now_s = screen, now_s
        self._began_s = 0.0
        self._heading = 'The campaign begins'
        self._planned = self._ended = 0
        self._counts: dict[Verdict, int] = {}
        self._picture: Picture | None = None
        self._happened: deque[str] = deque(maxlen=_KEPT_LINES)
        self._findings: deque[tuple[Verdict, str]] = deque(maxlen=_KEPT_LINES)
        self._latencies: deque[tuple[float | None, Verdict]] = deque(maxlen=_KEPT_TRIALS)
        self._live = Live(console=screen, screen=True, auto_refresh=False)
        self._is_on = False

    def began(self, beginning: Beginning) -> None:
        """Take the whole terminal."""
        self._began_s, self._planned = self._now_s(), beginning.planned
        self._heading = printable(f'Against {beginning.controller.label} in {beginning.where}')
        self._is_on = True
        self._live.start()

    def happened(self, trial: Trial, event: Event, since_ns: int) -> None:
        """Keep a line."""
        said = '' if event.text is None else f': {event.text[:300]}'
        self._happened.append(printable(
            f'{since_ns / 1e9:7.2f} s  {event.kind} {event.name}{said}', 300))

    def show(self, picture: Picture) -> None:
        if self._picture is None or self._picture.trial is not picture.trial:
            self._happened.clear()
        self._picture = picture

    def judged(self, result: TrialResult, ended: int, planned: int) -> None:
        self._ended, self._planned = ended, planned
        name = f'{result.scenario_id} {number_of(result)}'
        if not result.warmup:
            self._counts[result.verdict] = self._counts.get(result.verdict, 0) + 1
            latency = result.latency
            if latency is not None:
                took_ns = latency.judged_ns
                self._latencies.append((None if took_ns is None else took_ns / 1e6,
                                        result.verdict))
        if result.verdict is not Verdict.PASS:
            self._findings.append((result.verdict, printable(f'{name}: {result.reason}', 400)))

    def turn(self, dropped: int) -> None:
        if self._is_on:
            self._live.update(self.drawn(self._screen.width, self._screen.height), refresh=True)

    def ended(self, summary: CampaignSummary) -> None:
        """Give the terminal back."""
        self.close()

    def close(self) -> None:
        """Give the terminal back, if it was taken."""
        if self._is_on:
            self._is_on = False
            self._live.stop()

    def drawn(self, width: int, height: int) -> RenderableType:
        layout = Layout()
        layout.split_column(Layout(self._head(), size=3), Layout(name='middle'),
                            Layout(self._last(max(1, height // 3)), ratio=1))
        layout['middle'].split_row(Layout(self._trial(), ratio=2),
                                   Layout(self._plot(max(20, width * 3 // 5 - 6)), ratio=3))
        return layout

    def _head(self) -> RenderableType:
        left = time_left_s(self._ended, self._planned, self._now_s() - self._began_s)
        counts = Text()
        for verdict, count in self._counts.items():
            counts.append(f'{count} {verdict.value}  ', _STYLES[verdict])
        grid = Table.grid(padding=(0, 1))
        grid.add_row(ProgressBar(total=max(1, self._planned), completed=self._ended, width=30),
                     Text(f'{self._ended}/{self._planned}'), counts, Text(in_words(left)))
        return Group(Text(self._heading, style='bold', no_wrap=True, overflow='ellipsis'), grid)

    def _trial(self) -> RenderableType:
        picture = self._picture
        if picture is None:
            return Panel(Text('no trial yet'), title='current trial')
        scenario = picture.trial.scenario
        lines = Text(printable(f'{scenario.id} {scenario.name}', 200), style='bold')
        lines.append(f'\n{number_of(picture.trial)}, {picture.phase}\n', 'not bold')
        for name, value in (('distance', picture.distance), ('S_p', picture.required)):
            if value is not None:
                length = round(20 * min(max(value, 0.0), _BAR_M) / _BAR_M)
                lines.append(f'{name:9}{value:6.2f} m  {"#" * length}\n', 'not bold')
        if picture.speed is not None:
            lines.append(f'speed    {picture.speed:6.2f}\n', 'not bold')
        happened = [Text(line, no_wrap=True, overflow='ellipsis', style='dim')
                    for line in list(self._happened)[-8:]]
        return Panel(Group(lines, *happened), title='current trial')

    def _plot(self, columns: int) -> RenderableType:
        room = max(1, columns - _AXIS)
        known = list(self._latencies)[-room:]
        values = [value for value, _ in known if value is not None]
        if not values:
            return Panel(Text('no latency yet'), title='latency')
        top = max(max(values), 1e-6)
        rows = [Text(f'{top * (row + 1) / _PLOT_ROWS:6.0f} | ') for row in range(_PLOT_ROWS)]
        for value, verdict in known:
            at = _PLOT_ROWS - 1 if value is None else min(
                _PLOT_ROWS - 1, int(value / top * _PLOT_ROWS))
            for row, line in enumerate(rows):
                mark = ('^' if value is None else _MARKS[verdict]) if row == at else ' '
                line.append(mark, _STYLES[verdict])
        foot = Text('     0 +' + '-' * len(known) + ' ms, a column a trial; '
                    '^ no reaction, o pass, x fail, ? open, ! error', style='dim')
        return Panel(Group(*reversed(rows), foot), title='latency')

    def _last(self, most: int) -> RenderableType:
        table = Table(box=SIMPLE, show_header=False, expand=True, padding=(0, 1))
        for verdict, line in reversed(list(self._findings)[-most:]):
            table.add_row(Text(verdict.value, style=_STYLES[verdict]), Text(line, overflow='fold'))
        return Panel(table if self._findings else Text('every trial passed so far'),
                     title='last findings, the newest first')


def refuse_no_terminal(settings: RunSettings, stream: IO[str],
                       environment: Mapping[str, str]) -> None:
    """
    Refuse a live screen where none can be drawn.

    :raises SettingsError: says why, and what shows the same there
    """
    if not stream.isatty() or environment.get('TERM', '') in ('', 'dumb', 'unknown'):
        raise SettingsError('--live: got a standard output that is no terminal, or one that '
                            'cannot be drawn on (TERM), expected a terminal. Leave --live out: '
                            'the same is printed line by line')
    if settings.console != 'normal' and settings.console != 'verbose':
        raise SettingsError(f'--live: got it with console {settings.console}, expected normal or '
                            f'verbose. Leave one of them out')
    if settings.hil.enabled and settings.hil.confirm == 'terminal':
        raise SettingsError('--live: got it with hil.confirm terminal, where an operator is asked '
                            'on this terminal, expected one of the two. Leave --live out, or use '
                            'service or plan')


@contextmanager
def live(context: OutputContext) -> Iterator[Sequence[Observer]]:
    """
    Give what shows a campaign on the whole terminal while the block lasts.

    What the console report prints meanwhile is printed when it is over, however it ends.

    :raises SettingsError: standard output is no terminal that can be drawn on
    """
    refuse_no_terminal(context.settings, sys.stdout, os.environ)
    screen = Console(emoji=False, highlight=False)
    kept = io.StringIO()
    later = Screen(file=kept, emoji=False, highlight=False, force_terminal=True,
                   width=screen.width, color_system=screen.color_system)  # type: ignore[arg-type]
    output = LiveScreen(screen)
    try:
        with Feed(output, PERIOD_S) as feed:
            yield ConsoleReport(later, context.settings.console,
                                has_page=will_be_written(context.settings)), feed
    finally:
        output.close()
        sys.stdout.write(kept.getvalue())
        sys.stdout.flush()
