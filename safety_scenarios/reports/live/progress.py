# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How far a campaign is, and about how long it still takes.

In a terminal a bar below the lines of the trials; anywhere else, as in CI and under launch, a
plain line on standard error now and then. It is drawn between trials alone, so that nothing of it
disturbs a measurement.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
import os
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from safety_scenarios.reports.console_report import console as console_screen
from safety_scenarios.reports.console_report import ConsoleReport
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.session import Beginning, Observer, OutputContext
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import TrialRecord

_LINE_S = 30.0
"""Between two plain lines."""


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


class Plain(Observer):
    """
    Tells a line every half minute, as trials end.

    :param tell: takes the line
    :param now_s: steady time
    """

    def __init__(self, tell: Callable[[str], None],
                 now_s: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._now_s = tell, now_s
        self._began_s = self._told_s = 0.0
        self._planned = self._ended = 0

    def campaign_began(self, beginning: Beginning) -> None:
        """Begin to count."""
        self._began_s = self._told_s = self._now_s()
        self._planned = beginning.planned

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Count, and tell if it is time to."""
        self._ended += 1
        now_s = self._now_s()
        if now_s - self._told_s < _LINE_S or self._ended >= self._planned:
            return
        self._told_s = now_s
        left = in_words(time_left_s(self._ended, self._planned, now_s - self._began_s))
        self._tell(f'progress: {self._ended} of {self._planned} trials, {left}')


class Bar(Observer):
    """
    A bar below what is printed on a terminal.

    :param screen: the console on which everything else is printed, too
    :param now_s: steady time
    """

    def __init__(self, screen: Console, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._began_s = 0.0
        self._planned = self._ended = 0
        self._task: TaskID | None = None
        self._bar = Progress(
            BarColumn(30), TextColumn('{task.completed:.0f}/{task.total:.0f}'),
            TextColumn('{task.description}', markup=False), console=screen, auto_refresh=False,
            transient=True, redirect_stdout=False, redirect_stderr=False)

    def campaign_began(self, beginning: Beginning) -> None:
        """Draw it, empty."""
        self._began_s, self._planned = self._now_s(), beginning.planned
        self._task = self._bar.add_task(in_words(None), total=beginning.planned)
        self._bar.start()
        self._bar.refresh()

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Draw it anew."""
        self._ended += 1
        assert self._task is not None
        left_s = time_left_s(self._ended, self._planned, self._now_s() - self._began_s)
        self._bar.update(self._task, completed=self._ended, description=in_words(left_s))
        self._bar.refresh()

    def campaign_ended(self, summary: CampaignSummary) -> None:
        """Take it away."""
        self.close()

    def close(self) -> None:
        """Take it away, if it is there, and give the cursor back."""
        self._bar.stop()


@contextmanager
def progress(settings: RunSettings, screen: Console, environment: Mapping[str, str],
             tell: Callable[[str], None]) -> Iterator[Sequence[Observer]]:
    """
    Give what shows the progress while the block lasts; it goes before the console report.

    No bar is drawn where an operator is asked at the terminal: the question would be drawn over.

    :param screen: on which the report is printed
    :param environment: of the process
    :param tell: takes a plain line for standard error
    """
    is_asked = settings.hil.enabled and settings.hil.confirm == 'terminal'
    if is_asked or not may_draw(screen, environment):
        yield (Plain(tell),)
        return
    bar = Bar(screen)
    try:
        yield (bar,)
    finally:
        bar.close()


@contextmanager
def console(context: OutputContext) -> Iterator[Sequence[Observer]]:
    """Give what shows a campaign on standard output as it goes: progress, trials, and tables."""
    screen = console_screen()
    with progress(context.settings, screen, os.environ, context.warn) as observers:
        yield (*observers, ConsoleReport(screen))
