# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How late the host let threads wake up: what a busy machine adds to a latency, seen in the trial.

Whenever a stimulus is due the harness' own thread has to wake up, and whenever a message comes
another one has to: its echo, a command, a report. How long that took is known of each. The
controller's threads wait for the same processors, at least twice in each latency: for its input
to be read, and for its next turn.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from statistics import median

from safety_scenarios.scenario.event import Event
from safety_scenarios.trial.trial import TrialRecord

_KINDS = ('stimulus', 'echo', 'command', 'feedback')
_BEFORE_NS, _AFTER_NS = 2_000_000_000, 200_000_000
"""A load around the reaction is told by what woke up from two seconds before the hazard on."""
_USUAL = 3.0
"""Times the median: an idle host is later than that less often than one time in twenty."""
_LEAST_NS = 1_000_000
"""Nor is it, on any host, as late as this one time in twenty."""
_ENOUGH = 20
"""Fewer wake-ups of a kind have no 95th percentile."""
_SHARE = 0.95


class WakeUps:
    """
    How late the threads of the harness woke up in one record.

    :param usual_ms: what is usual on this host, by kind of event, as ``usual`` of a calibration
    """

    def __init__(self, record: TrialRecord, usual_ms: Mapping[str, float] = {}) -> None:
        found = sorted((event.stamps.steady_ns, event.kind, late_ns)
                       for event in record.events if event.kind in _KINDS
                       if (late_ns := _late_ns(record, event)) is not None)
        self._times = [t_ns for t_ns, _, _ in found]
        self._late = [(kind, late_ns) for _, kind, late_ns in found]
        self._least_ns = _LEAST_NS * record.measuring.stretch
        own = self.usual()
        self._usual_ns = {kind: 1e6 * min(usual_ms.get(kind, ms), ms) for kind, ms in own.items()}

    def usual(self) -> dict[str, float]:
        """Return the median lateness (ms) by kind of event."""
        kinds = {kind for kind, _ in self._late}
        return {kind: median(late_ns for other, late_ns in self._late if other == kind) / 1e6
                for kind in sorted(kinds)}

    def busy_ns(self, onset_ns: int | None = None, end_ns: int | None = None) -> float:
        """
        Return how much later than usual a thread woke up at the worst, if the host was busy.

        It was where one in twenty wake-ups of a kind was later than usual: each kind counts for
        itself, as a load may hold up one thread and spare another. How late the controller's
        thread was nobody knows, but that it waited for the same processors, so that nothing less
        than the worst will do. On an idle host the result is 0, whatever happened once or twice,
        and so it is where too few wake-ups are known.

        :param onset_ns: of the latency around which to look (steady); left out: all of the record
        """
        first = 0 if onset_ns is None else bisect_left(self._times, onset_ns - _BEFORE_NS)
        last = None if end_ns is None else bisect_right(self._times, end_ns + _AFTER_NS)
        return max((self._worst(kind, first, last) for kind in self._usual_ns), default=0.0)

    def _worst(self, kind: str, first: int, last: int | None) -> float:
        found = sorted(late_ns for other, late_ns in self._late[first:last] if other == kind)
        usual_ns = max(self._least_ns, _USUAL * self._usual_ns[kind])
        is_busy = len(found) >= _ENOUGH and found[int(_SHARE * (len(found) - 1))] > usual_ns
        return found[-1] - usual_ns if is_busy else 0.0


def _late_ns(record: TrialRecord, event: Event) -> int | None:
    """Return how late the thread woke up that sent or received an event; None: not known."""
    stamps, measuring = event.stamps, record.measuring
    if event.kind == 'stimulus':
        is_known = event.scheduled_ns is not None and measuring.schedule_clock == 'steady'
        return max(0, measuring.late_ns(event)) if is_known else None
    left_ns = stamps.received_ns if event.kind != 'echo' and not measuring.one_host \
        else stamps.source_ns  # of another host's clock nothing can be taken away
    return None if left_ns is None else max(0, stamps.system_ns - left_ns)
