# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Takes a running campaign to what shows it, in a thread of its own.

The thread that measures does nothing but append to a queue. That is bounded: where more comes
than can be shown, events are dropped, and results never. Pictures are drawn some times a second,
each of the latest moment, so that a stream of commands costs no more than its last message.
"""

from collections import deque
from collections.abc import Sequence
import logging
import threading
import time
from types import TracebackType
from typing import Any

from safety_scenarios.reports.live.picture import is_worth_telling, LiveTrial, Picture
from safety_scenarios.scenario.event import Event, EventSink
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.trial.session import Beginning, Observer
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import Trial, TrialRecord


class Output:
    """
    Base of what shows a campaign live; what is of no interest is inherited.

    What it raises is logged once, and ends this output and nothing else.
    """

    def began(self, beginning: Beginning) -> None:
        """Take note that the campaign has begun."""

    def happened(self, trial: Trial, event: Event, since_ns: int) -> None:
        """
        Show one event that is worth it.

        :param since_ns: steady time since the trial's first event
        """

    def show(self, picture: Picture) -> None:
        """Show the trial as it is now, in place of what was shown before."""

    def clear(self) -> None:
        """Show no trial any more: it is over."""

    def judged(self, result: TrialResult, ended: int, planned: int) -> None:
        """Show what a trial came to."""

    def turn(self, dropped: int) -> None:
        """
        Do what is due, some times a second.

        :param dropped: events that were not shown so far, because there were too many
        """

    def ended(self, summary: CampaignSummary) -> None:
        """Show what the campaign came to."""

    def close(self) -> None:
        """Give up whatever is open; nothing is called after it."""


_MOST_WAITING = 20_000
"""Events: at 4 kHz five seconds of them."""
_VERDICT_S = 1.0
"""So long the last moment of a trial stays, in the colour of its verdict."""
_NOT_SHOWN = frozenset(('echo', 'clock', 'decision', 'sensed'))


class _Taking(EventSink):
    """Takes the events of one trial while it runs."""

    def __init__(self, feed: 'Feed', trial: Trial) -> None:
        self._feed, self._trial = feed, trial

    def add(self, event: Event) -> None:
        """Put an event into the queue, unless that is full."""
        if event.kind in _NOT_SHOWN:
            return
        waiting = self._feed.waiting
        if len(waiting) < _MOST_WAITING:
            waiting.append((self._trial, event))
        else:
            self._feed.dropped += 1


class Feed(Observer):
    """
    Feeds one output while the block lasts.

    :ivar waiting: what was not yet shown
    :ivar dropped: how many events never will be
    :param output: is called in the feed's own thread alone
    :param period_s: between two pictures
    """

    reads_events = False

    def __init__(self, output: Output, period_s: float) -> None:
        self.waiting: deque[tuple[Trial, Event] | Beginning | TrialResult | CampaignSummary] = \
            deque()
        self.dropped = 0
        self._output: Output | None = output
        self._period_s = period_s
        self._live = LiveTrial()
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f'live {type(output).__name__}',
                                        daemon=True)
        self._planned = self._ended = 0
        self._since_ns = 0
        self._shown_topics = set[str]()
        self._clear_s: float | None = None

    def __enter__(self) -> 'Feed':
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """Show what is left, and end."""
        self._is_closed.set()
        self._thread.join()

    def sinks(self, trial: Trial) -> Sequence[EventSink]:
        return (_Taking(self, trial),)

    def campaign_began(self, beginning: Beginning) -> None:
        self.waiting.append(beginning)

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Take the result; the record is not kept."""
        self.waiting.append(result)

    def campaign_ended(self, summary: CampaignSummary) -> None:
        self.waiting.append(summary)

    def _run(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._is_closed.wait(self._period_s)
            self._try(self._turn)
        self._try(self._close)

    def _try(self, do: Any) -> None:
        """Do it; what an output raises costs that output, and nothing of the campaign."""
        if self._output is None:
            self.waiting.clear()
            return
        try:
            do(self._output)
        except Exception as error:
            logging.getLogger(__name__).warning(
                'nothing more is shown live: %s: %s. The campaign continues', type(error).__name__,
                error)
            self._output = None

    def _turn(self, output: Output) -> None:
        for _ in range(len(self.waiting)):
            self._take(self.waiting.popleft(), output)
        picture = self._live.picture()
        if picture is not None:
            output.show(picture)
        elif self._clear_s is not None and time.monotonic() >= self._clear_s:
            self._clear(output)
        output.turn(self.dropped)

    def _close(self, output: Output) -> None:
        self._clear(output)
        output.close()

    def _clear(self, output: Output) -> None:
        if self._clear_s is not None or self._live.trial is not None:
            output.clear()
        self._clear_s = None

    def _take(self, told: Any, output: Output) -> None:
        if isinstance(told, tuple):
            trial, event = told
            self._happened(trial, event, output)
        elif isinstance(told, Beginning):
            self._planned = told.planned
            output.began(told)
        elif isinstance(told, TrialResult):
            self._judged(told, output)
        else:
            output.ended(told)

    def _happened(self, trial: Trial, event: Event, output: Output) -> None:
        if self._live.trial is not trial:
            self._clear(output)
            self._live.begin(trial)
            self._since_ns = event.stamps.steady_ns
            self._shown_topics.clear()
        self._live.take(event)
        if is_worth_telling(event) or self._is_first(event):
            output.happened(trial, event, event.stamps.steady_ns - self._since_ns)

    def _is_first(self, event: Event) -> bool:
        """Return whether it is the first message of a hazard on its topic."""
        if event.kind != 'stimulus' or not event.hazard or event.name in self._shown_topics:
            return False
        self._shown_topics.add(event.name)
        return True

    def _judged(self, result: TrialResult, output: Output) -> None:
        self._ended += 1
        reaction = result.latency.reaction if result.latency else None
        if self._live.trial is not None:
            picture = self._live.picture(
                result.verdict, None if reaction is None else reaction.judged_ns / 1e6)
            if picture is not None:
                output.show(picture)
            self._clear_s = time.monotonic() + _VERDICT_S
        self._live.over(result.verdict)
        output.judged(result, self._ended, self._planned)
