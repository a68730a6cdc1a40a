# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the network between two hosts did to a trial, and probes of known delay.

Nothing here needs clocks that agree: of two stamps by two clocks only their change is looked at.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Literal

from safety_scenarios.judging.latency.clocks import Clocks, Instant
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.timing import ClockOffset, Measuring, Method, PROBE
from safety_scenarios.trial.trial import Timeline, TrialRecord


@dataclass(frozen=True, slots=True)
class ProbeSample:
    """One probe and what came back; no answer is None, never dropped."""

    number: int
    delay_ns: int
    late_ns: int
    """How much later than scheduled it left."""
    sent: Instant
    answer: Event | None
    elapsed_ns: dict[Method, int]
    """Latency by each method that the stamps allow, from the actual publish."""


def samples(record: TrialRecord) -> Iterator[ProbeSample]:
    """Yield every probe after onset with its answer, in the order of sending."""
    clocks = Clocks(Timeline(record))
    answers: dict[str, Event] = {}
    for event in record.events:
        if event.kind == 'command' and event.message is not None:
            answers.setdefault(str(event.message.at('source')), event)
    for event in record.of_kind('stimulus'):
        if not event.hazard or event.message is None:
            continue
        number, delay = event.message.at('source'), event.message.at('time_ref')
        sent, answer = clocks.published(event), answers.get(str(number))
        yield ProbeSample(
            number=int(number), delay_ns=delay['sec'] * 1_000_000_000 + delay['nanosec'],
            late_ns=event.stamps.steady_ns - (event.scheduled_ns or event.stamps.steady_ns),
            sent=sent, answer=answer,
            elapsed_ns={} if answer is None else _elapsed(clocks, sent, answer))


def _elapsed(clocks: Clocks, sent: Instant, answer: Event) -> dict[Method, int]:
    stamps = answer.stamps
    found: dict[Method, int] = {'callback': stamps.steady_ns - sent.steady_ns}
    if stamps.received_ns is not None and not clocks.step_ns:
        found['received'] = stamps.received_ns - sent.system_ns
    if clocks.allowed(answer)[0] == 'source' and stamps.source_ns is not None:
        # one that was held up on the way is judged by its arrival, as a command would be
        found['source'] = stamps.source_ns - sent.system_ns \
            if clocks.method(answer)[0] == 'source' else found['received']
    return found


def clock_offset(two_way: Iterable[tuple[int, int, int, int]]) -> ClockOffset | None:
    """
    Return the offset of the other host's system clock, with a bound that assumes no symmetry.

    A message cannot arrive before it left. So each probe bounds the offset: from above by (arrived
    there - left here), from below by (left there - arrived here). All of them together leave an
    interval; its middle and half width are returned.

    :return: None without probes, or when no offset fits all: a clock was stepped meanwhile
    """
    ways: Sequence[tuple[int, int, int, int]] = list(two_way)
    if not ways:
        return None
    high = min(there - left for left, there, _, _ in ways)
    low = max(back - here for _, _, back, here in ways)
    if low > high:
        return None
    offset_ns = (low + high) // 2
    out = sorted(there - left - offset_ns for left, there, _, _ in ways)
    return ClockOffset(
        offset_ns=offset_ns, bound_ns=(high - low + 1) // 2, outbound_ns=round(median(out)),
        inbound_ns=round(median(here - back + offset_ns for _, _, back, here in ways)),
        spread_ns=round(out[min(len(out) - 1, int(0.95 * len(out)))] - median(out)),
        probes=len(ways))


_HEARD = ('command', 'feedback')
"""Kinds of events that come from the other host."""
_HELD_UP_NS = 10_000_000
"""Longer than the fastest of its topic by more than what a drift of its clock explains."""
_BLIND_NS = 100_000_000
"""So long nobody knows what the other host did; shorter than the budgets that people set."""
_PERIODIC = 3
SILENT_PERIODS = 5
"""One command may be late or lost by chance; five in a row are a stream that has ended."""


@dataclass(frozen=True, slots=True)
class Gap:
    """
    A stretch of time after onset in which what a topic's publisher did was not heard as it did it.

    ``late`` and all of it came in the end; ``lost``, and its content never will; ``silent``:
    nothing came any more, from nobody there, and nothing later shows that nothing was sent;
    ``unreached``: the other way round, nothing of ours came there.
    """

    topic: str
    kind: Literal['late', 'lost', 'silent', 'unreached']
    from_ns: int
    to_ns: int
    count: int

    @property
    def length_ns(self) -> int:
        return self.to_ns - self.from_ns


def is_between_hosts(record: TrialRecord) -> bool:
    """
    Tell whether messages may have crossed a network: where a link looked, and found no one host.

    Links without a middleware say nothing of hosts. In a world of ours stamps are simulated.
    """
    measuring = record.measuring
    return not (measuring.one_host or measuring.exact or measuring.world
                or measuring.hosts_because == Measuring().hosts_because)


def is_unacknowledged(timeline: Timeline) -> bool:
    """Tell whether a robot was shown a hazard over a network, and nothing says what arrived."""
    record = timeline.record
    return is_between_hosts(record) and timeline.onset is not None \
        and bool(record.by_topic('command')) and not record.measuring.acknowledged


def gaps(timeline: Timeline) -> Iterator[Gap]:
    """Yield where the network, as far as can be known, hid something; none on one host."""
    record, onset = timeline.record, timeline.onset
    if onset is None or not is_between_hosts(record):
        return
    onset_ns = onset.stamps.steady_ns
    for kind in _HEARD:
        for topic, events in record.by_topic(kind).items():
            late_ns = _late(events)
            for number, event in enumerate(events):
                if event.stamps.steady_ns < onset_ns:
                    continue
                if late_ns[number] > _HELD_UP_NS:
                    yield Gap(topic, 'late', event.stamps.steady_ns - late_ns[number],
                              event.stamps.steady_ns, 1)
                missing = _missing(events[number - 1], event) if number else 0
                if missing:
                    yield _lost(topic, events[number - 1], event, missing)
    yield from _silences(record, onset_ns)
    yield from _unreached(record, onset_ns)


def is_blind(gap: Gap) -> bool:
    """Tell whether it is so long that a network that did this may have done anything else."""
    return gap.length_ns > _BLIND_NS


def as_sent(record: TrialRecord) -> TrialRecord:
    """
    Return the record as it would be if each message had taken as long as the fastest of its topic.

    What is late then was late when it left.
    """
    late_ns: dict[int, int] = {}
    for kind in _HEARD:
        for events in record.by_topic(kind).values():
            late_ns |= {id(event): late for event, late in zip(events, _late(events), strict=True)
                        if late > _HELD_UP_NS}
    events = [_earlier(event, late_ns.get(id(event), 0)) for event in record.events]
    return TrialRecord.model_construct(
        trial=record.trial, measuring=record.measuring, judgements=record.judgements,
        events=tuple(sorted(events, key=lambda event: event.stamps.steady_ns)))


def _earlier(event: Event, by_ns: int) -> Event:
    if not by_ns:
        return event
    stamps = event.stamps
    return event.model_copy(update={'stamps': stamps.model_copy(update={
        'steady_ns': stamps.steady_ns - by_ns, 'system_ns': stamps.system_ns - by_ns,
        'ros_ns': stamps.ros_ns - by_ns,
        'received_ns': None if stamps.received_ns is None else stamps.received_ns - by_ns})})


def _late(events: Sequence[Event]) -> Sequence[int]:
    """Return how much longer each took than the fastest (ns), 0 where the stamps do not tell."""
    took = [None if event.stamps.source_ns is None or event.stamps.received_ns is None
            else event.stamps.received_ns - event.stamps.source_ns for event in events]
    fastest = min((found for found in took if found is not None), default=0)
    return [0 if found is None else found - fastest for found in took]


def _missing(before: Event, event: Event) -> int:
    if before.sequence is None or event.sequence is None:
        return 0
    return max(0, event.sequence - before.sequence - 1)


def _lost(topic: str, before: Event, event: Event, missing: int) -> Gap:
    """Return what is missing between two messages, were all of them sent evenly."""
    to_ns = event.stamps.steady_ns
    each_ns = (to_ns - before.stamps.steady_ns) // (missing + 1)
    return Gap(topic, 'lost', to_ns - missing * each_ns, to_ns, missing)


def _silences(record: TrialRecord, onset_ns: int) -> Iterator[Gap]:
    """
    Yield the longest stretch in which nothing was heard after a command stream had ended.

    In the middle of a stream the publisher's own count tells whether something is missing; where
    there is none, each pause is like an end. Who commands but once or twice sends no stream: there
    any pause is an end, as long as nothing else is heard from that host.
    """
    signs = sorted(event.stamps.steady_ns for kind in (*_HEARD, 'response', 'say', 'reached')
                   for event in record.of_kind(kind) if event.scheduled_ns is None)
    for topic, events in record.by_topic('command').items():
        times = [event.stamps.steady_ns for event in events]
        usual_ns = SILENT_PERIODS * _period(events) if len(times) >= _PERIODIC else 0.0
        pauses = [(times[-1], record.end_ns)]
        if any(event.sequence is None for event in events):
            pauses += pairwise(times)
        for begin_ns, end_ns in pauses:
            heard = [begin_ns, *(sign for sign in signs if begin_ns < sign < end_ns), end_ns]
            longest_ns, from_ns = max((later - earlier, earlier)
                                      for earlier, later in pairwise(heard))
            if end_ns > onset_ns and longest_ns > max(usual_ns, _BLIND_NS):
                yield Gap(topic, 'silent', from_ns, from_ns + longest_ns, 0)


def _period(events: Sequence[Event]) -> float:
    """Return the time between two commands as they left, which no network has changed."""
    first, last = events[0], events[-1]
    if first.sequence is not None and last.sequence is not None \
            and first.stamps.source_ns is not None and last.stamps.source_ns is not None \
            and last.sequence > first.sequence:
        return (last.stamps.source_ns - first.stamps.source_ns) / (last.sequence - first.sequence)
    return median(later.stamps.steady_ns - earlier.stamps.steady_ns
                  for earlier, later in pairwise(events))


def _unreached(record: TrialRecord, onset_ns: int) -> Iterator[Gap]:
    """Yield the longest stretch in which nothing reached the other host, if that is known."""
    if not record.measuring.acknowledged or not record.by_topic('command'):
        return
    times = [event.stamps.steady_ns for event in record.of_kind('reached')]
    usual_ns = median(later - earlier for earlier, later in pairwise(times)) \
        if len(times) >= _PERIODIC else 0.0
    begin_ns = record.events[0].stamps.steady_ns
    length_ns, from_ns = max((later - earlier, earlier) for earlier, later
                             in pairwise([begin_ns, *times, record.end_ns]) if later > onset_ns)
    if length_ns > usual_ns + _BLIND_NS:
        yield Gap(PROBE, 'unreached', from_ns, from_ns + length_ns, 0)
