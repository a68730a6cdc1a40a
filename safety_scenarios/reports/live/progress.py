# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How far a campaign is, and about how long it still takes.

In a terminal as a bar below the lines of the trials, else as a line now and then. It is drawn
between trials, so that nothing of it disturbs a measurement.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
import os
import sys
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from safety_scenarios.campaign.statistics.confidence_sequences import anytime
from safety_scenarios.campaign.statistics.proportions import no_narrower, what_came_of
from safety_scenarios.reports.console_report import console as console_screen
from safety_scenarios.reports.console_report import ConsoleReport, Screen, warn
from safety_scenarios.reports.page.page import will_be_written
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.rounding import percent_up
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.session import Beginning, Observer, OutputContext
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import TrialRecord

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
        """Count a trial."""
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


_EVERY_S = 60.0
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
    Counts the trials that have ended, and how many end in a second.

    :param now_s: steady time
    """

    reads_events = False

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._began_s = 0.0
        self._planned = self._ended = self._kept = 0
        self._verdicts: Counter[str] = Counter()

    def campaign_began(self, beginning: Beginning) -> None:
        """Begin to count."""
        self._began_s = self._now_s()
        self._planned, self._kept = beginning.planned, beginning.kept

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
        """Begin to count."""
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


@contextmanager
def progress(settings: RunSettings, screen: Console,
             environment: Mapping[str, str]) -> Iterator[Sequence[Observer]]:
    """
    Give what shows the progress while the block lasts; it goes before the console report.

    Outside a terminal it is a line a minute on standard error. Where an operator is
    asked at the terminal there is nothing: the question would be drawn over.

    :param screen: a terminal, or not
    :param environment: of the process
    """
    is_asked = settings.hil.enabled and settings.hil.confirm == 'terminal'
    if is_asked or settings.console == 'quiet':
        yield ()
        return
    if not may_draw(screen, environment):
        yield (Lines(warn),)
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
