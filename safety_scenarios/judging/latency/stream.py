# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a record tells of the command stream besides latency: rate, loss, header stamps."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

from safety_scenarios.errors import counted
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Note
from safety_scenarios.trial.preflight import PreflightRow
from safety_scenarios.trial.trial import ONSET, TrialRecord

_FUTURE_NS = 5_000_000
"""Two clocks on one host may disagree a little; a header stamp farther ahead is odd."""
_STALE_NS = 1_000_000_000
"""Older than any sensor period."""
_OTHER_CLOCK_NS = 60_000_000_000
"""No message travels for a minute: such a stamp is of another clock."""


def lost(record: TrialRecord, from_ns: int = 0) -> Mapping[str, int]:
    """
    Return how many commands were lost on each topic, by gaps in their publisher's own count.

    Where the middleware gives no count, what it reported as lost.

    :param from_ns: steady time; losses before the last command before it do not count
    """
    counts: dict[str, int] = {}
    for topic, events in record.by_topic('command').items():
        if _is_whole(events):
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


def interleaved(record: TrialRecord) -> str | None:
    """
    Return the topic on which two publishers take turns: their counts do not rise together.

    One fall is a publisher that was made anew.
    """
    for topic, events in record.by_topic('command').items():
        numbers = [event.sequence for event in events if event.sequence is not None]
        if sum(later <= earlier for earlier, later in pairwise(numbers)) > 1:
            return topic
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
    return tuple(note for topic, found in stamped.items() for note in _notes(topic, found, sent))


def _notes(topic: str, stamped: Sequence[Event], sent: set[int | None]) -> Iterator[Note]:
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
        yield Note(code='header-wrong-clock', text=f'{topic}: header stamps are of '
                                                   f'{_clock_of(stamped)}, not ROS time')
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
    """Return the preflight's questions that only a running stream answers, before a hazard."""
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
