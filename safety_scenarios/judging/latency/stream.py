# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The command stream besides latency: rate, loss, header stamps; and host load.

Whenever a stimulus is due the harness' own thread has to wake up, and whenever a message comes
another one has to: its echo, a command, a report. How long that took is known of each. The
controller's threads wait for the same processors, at least twice in each latency: for its input
to be read, and for its next turn.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

from safety_scenarios.errors import counted
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Note
from safety_scenarios.trial.summary import PreflightRow
from safety_scenarios.trial.trial import ONSET, TrialRecord

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


_FUTURE_NS = 5_000_000
"""Two clocks on one host may disagree a little; a header stamp farther ahead is odd."""
_STALE_NS = 1_000_000_000
"""Older than any sensor period."""
_OTHER_CLOCK_NS = 60_000_000_000
"""No message travels for a minute: such a stamp is of another clock."""


def lost(record: TrialRecord, from_ns: int = 0) -> Mapping[str, int]:
    """
    Return how many commands were lost on each topic, by gaps in their publisher's own count.

    Where the middleware gives no count, what it reported as lost. From one publisher's count to
    that of another there is no gap.

    :param from_ns: steady time; losses before the last command before it do not count
    """
    counts: dict[str, int] = {}
    for topic, events in record.by_topic('command').items():
        if _is_whole(events) or _two_counts(events) is not None:
            continue
        gaps = sum(max(0, later.sequence - earlier.sequence - 1)
                   for earlier, later in pairwise(events)
                   if earlier.sequence is not None and later.sequence is not None
                   and later.stamps.steady_ns >= from_ns)
        if gaps:
            counts[topic] = gaps
    reported: dict[str, int] = defaultdict(int)
    states = {state.topic for state in record.trial.scenario.body.feedback}
    for event in record.of_kind('lost'):
        if event.stamps.steady_ns >= from_ns and event.name not in states:
            reported[event.name] += int(event.text or 1)
    return counts | {topic: max(counts.get(topic, 0), count) for topic, count in reported.items()}


def _is_whole(events: Sequence[Event]) -> bool:
    """Tell whether the publisher's count rises by one from each to the next, as it mostly does."""
    counts = [event.sequence for event in events]
    first = counts[0] if counts else None
    return first is not None and counts == list(range(first, first + len(counts)))


_SWAPPED, _ENOUGH = 2, 3
"""Counts that are so near to each other may be those of one publisher, of which two messages came
in another order: so many times they are of two."""


def interleaved(record: TrialRecord) -> tuple[str, int] | None:
    """
    Return the topic on which two publishers take turns, and from when on (steady ns).

    Their counts do not rise together. One fall is a publisher that was made anew.
    """
    for topic, events in record.by_topic('command').items():
        from_ns = None if _is_whole(events) else _two_counts(events)
        if from_ns is not None:
            return topic, from_ns
    return None


def _two_counts(events: Sequence[Event]) -> int | None:
    """Return from when (steady ns) commands have two counts: one is left and taken up again."""
    first_ns, last, left = 0, None, set[int]()
    highest, falls, returns = 0, 0, 0
    for event in events:
        number = event.sequence
        if number is None or last is None or number == last + 1:
            last = last if number is None else number
            continue
        first_ns = first_ns or event.stamps.steady_ns
        if number - 1 in left or (falls and (number <= last or last <= highest < number)):
            returns += 1 if 0 < abs(number - last) <= _SWAPPED else _ENOUGH
            if returns >= _ENOUGH:
                return first_ns
        if number <= last:
            highest, falls = last, falls + 1
        left.add(last)
        last = number
    return None


def period_ns(times: Sequence[int]) -> float | None:
    """Return the median time between messages, None for fewer than two."""
    return median(later - earlier for earlier, later in pairwise(times)) if len(times) > 1 \
        else None


def header_notes(record: TrialRecord) -> tuple[Note, ...]:
    """Return what is odd about the header stamps of the commands; none of it is judged."""
    stamped = {topic: found for topic, events in record.by_topic('command').items()
               if (found := [event for event in events if event.stamps.header_ns is not None])}
    if not stamped:
        return ()
    sent = {event.stamps.header_ns for event in record.of_kind('stimulus')} - {None, 0}
    is_simulated = record.measuring.sim_time or record.measuring.pace is not None
    return tuple(note for topic, found in stamped.items()
                 for note in _notes(topic, found, sent, is_simulated))


def _notes(topic: str, stamped: Sequence[Event], sent: set[int | None],
           is_simulated: bool) -> Iterator[Note]:
    ages = [event.stamps.ros_ns - event.stamps.header_ns for event in stamped
            if event.stamps.header_ns]
    zero = len(stamped) - len(ages)
    holds = stamped[0].message is not None and stamped[0].message.type.endswith('JointTrajectory')
    if zero and not holds:
        yield Note(code='header-zero', text=f'{topic}: {zero} of {len(stamped)} header stamps are '
                                            f'zero')
    if not ages:
        return
    copied = {event.stamps.header_ns for event in stamped
              if event.stamps.header_ns != event.stamps.ros_ns} & sent
    share = sum(event.stamps.header_ns in copied for event in stamped) / len(ages)
    if len(copied) > 1 and share > 0.5:
        yield Note(code='header-copied', text=f'{topic}: {share:.0%} of the header stamps are '
                                              f'copied from a stimulus: they say nothing about '
                                              f'when the command was made')
        return
    age_ns = median(ages)
    if abs(age_ns) > _OTHER_CLOCK_NS:
        yield Note(code='header-wrong-clock', text=(
            f'{topic}: header stamps are of {_clock_of(stamped)}, not ROS time. '
            + ('Set use_sim_time:=true on its node, and stamp' if is_simulated else 'Stamp')
            + " with the node's clock"))
    elif (ahead := sum(age < -_FUTURE_NS for age in ages)) > 0:
        yield Note(code='header-future', text=f'{topic}: {ahead} of {len(ages)} header stamps lie '
                                              f'in the future, by up to {-min(ages) / 1e6:.1f} ms')
    elif age_ns > _STALE_NS:
        yield Note(code='header-stale', text=f'{topic}: header stamps are {age_ns / 1e6:.0f} ms '
                                             f'old on arrival')


def _clock_of(events: Sequence[Event]) -> str:
    def off(clock: str) -> float:
        found: float = median(abs(getattr(event.stamps, clock) - (event.stamps.header_ns or 0))
                              for event in events)
        return found
    names = {'system_ns': 'system time', 'steady_ns': 'the steady clock'}
    nearest = min(names, key=off)
    return names[nearest] if off(nearest) < _OTHER_CLOCK_NS else 'an unknown clock'


def stream_rows(record: TrialRecord) -> tuple[PreflightRow, ...]:
    """
    Return the preflight's questions that only a running stream answers, before a hazard.

    Where a robot is to be commanded and nobody did, there is nothing to say of a stream.
    """
    if record.trial.scenario.body.commands and not record.by_topic('command'):
        return ()
    onset = None if record.trial.scenario.body.is_conversation else record.index.marks.get(ONSET)
    until_ns = onset.stamps.steady_ns if onset else record.end_ns + 1
    rows = []
    for topic, events in () if record.trial.is_text else record.by_topic('command').items():
        times = [event.stamps.steady_ns for event in events if event.stamps.steady_ns < until_ns]
        period = period_ns(times)
        rows.append(PreflightRow(
            check='rate', status='warn' if period is None else 'ok',
            detail=f'{topic}: {counted(len(times), "command")} before the hazard' if period is None
            else f'{topic}: a command each {period / 1e6:.0f} ms'))
    missing = lost(record)
    rows.append(PreflightRow(
        check='loss', status='warn' if missing else 'ok',
        detail=', '.join(f'{topic}: {count} lost' for topic, count in missing.items())
               or 'no command was lost'))
    notes = header_notes(record)
    rows += [PreflightRow(check='stamps', status='warn', detail=note.text) for note in notes]
    if not notes:
        rows.append(PreflightRow(check='stamps', status='ok', detail='nothing odd'))
    return tuple(rows)
