# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Probes: stimuli that a responder answers after a delay it is told, one answer each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from safety_scenarios.judging.latency.clocks import Clocks, Instant
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.measuring import ClockOffset, Method
from safety_scenarios.trial.timeline import Timeline
from safety_scenarios.trial.trial import TrialRecord


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

    @property
    def two_way(self) -> tuple[int, int, int, int] | None:
        """System times: left here, arrived there, left there, arrived here."""
        if self.answer is None or self.answer.message is None:
            return None
        stamps = self.answer.stamps
        stamp = self.answer.message.at('header.stamp')
        if stamps.source_ns is None or stamps.received_ns is None:
            return None
        return (self.sent.system_ns, stamp['sec'] * 1_000_000_000 + stamp['nanosec'],
                stamps.source_ns, stamps.received_ns)


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
