# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Records of a calibration that never ran: probes of known delay, and a responder with faults."""

from collections.abc import Callable, Sequence

from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.timing import ANSWER, Measuring, PROBE, PROBE_TYPE
from safety_scenarios.trial.trial import END, NOMINAL, ONSET, TrialRecord
from unit.records import (
    echo,
    EXACT,
    hazard,
    mark,
    ns,
    ONSET_STEADY_NS,
    ONSET_SYSTEM_NS,
    planned,
    stamps,
    system_ns,
)

EVERY_MS = 27.0
SECOND_NS = 1_000_000_000
ONE_HOST = Measuring(one_host=True)


def reference(number: int, delay_ns: int, stamp_ns: int = 0) -> Message:
    """Return a probe, or an answer: a TimeReference."""
    return Message(type=PROBE_TYPE, data={
        'header': {'stamp': {'sec': stamp_ns // SECOND_NS, 'nanosec': stamp_ns % SECOND_NS}},
        'time_ref': {'sec': delay_ns // SECOND_NS, 'nanosec': delay_ns % SECOND_NS},
        'source': str(number)})


def probe(number: int, delay_ms: float, late_ms: float = 0.0, *, hazardous: bool = True) -> Event:
    """Return the publish of a probe, one each 27 ms after onset."""
    due_ms = number * EVERY_MS
    return Event(kind='stimulus', name=PROBE, stamps=stamps(due_ms + late_ms), hazard=hazardous,
                 scheduled_ns=ONSET_STEADY_NS + ns(due_ms),
                 message=reference(number, ns(delay_ms)))


def answer(number: int, *, there_ms: float, left_ms: float | None, arrived_ms: float | None,
           heard_ms: float, ahead_ms: float = 0.0) -> Event:
    """
    Return an answer as the evaluator's callback got it; all times are ours, after onset.

    :param there_ms: when the probe arrived at the responder
    :param ahead_ms: how far the responder's system clock is ahead of ours
    """
    source_ns = None if left_ms is None else ONSET_SYSTEM_NS + ns(left_ms) + ns(ahead_ms)
    return Event(kind='command', name=ANSWER, stamps=stamps(
        heard_ms, source_ns=source_ns, received_ns=system_ns(arrived_ms)),
        message=reference(number, 0, ONSET_SYSTEM_NS + ns(there_ms) + ns(ahead_ms)))


def calibration(delays_ms: Sequence[float], count: int, *, late_ms: Callable[
        [int], float] = lambda number: 0.0, publish_ms: float = 0.1, out_ms: float = 0.2,
        error_ms: Callable[[int], float] = lambda number: 0.0, back_ms: float = 0.3,
        wait_ms: float = 0.5, ahead_ms: float = 0.0, lost: Sequence[int] = (),
        bare: bool = False, measuring: Measuring = ONE_HOST,
        extra: Sequence[Event] = ()) -> TrialRecord:
    """
    Return the record of ``count`` probes that ask for ``delays_ms`` in turn.

    A probe leaves ``publish_ms`` after the evaluator wrote its own time down. Its answer's
    latency is wrong by out + error (``source``), + back (``received``) and, from the
    evaluator's own reading, publish + out + error + back + wait (``callback``).

    :param error_ms: by how much later than asked for the responder answers
    :param bare: the middleware gives no stamps
    """
    events = [mark(NOMINAL, -700), *extra, mark(ONSET, 0.0)]
    for number in range(count):
        delay_ms = delays_ms[number % len(delays_ms)]
        events.append(probe(number, delay_ms, late_ms(number)))
        sent_ms = number * EVERY_MS + late_ms(number) + publish_ms
        events += [] if bare else [echo(sent_ms, number * EVERY_MS, PROBE)]
        left_ms = sent_ms + out_ms + delay_ms + error_ms(number)
        if number not in lost:
            events.append(answer(
                number, there_ms=sent_ms + out_ms, left_ms=None if bare else left_ms,
                arrived_ms=None if bare else left_ms + back_ms,
                heard_ms=left_ms + back_ms + wait_ms, ahead_ms=ahead_ms))
    events.sort(key=lambda event: event.stamps.steady_ns)
    end_ms = (events[-1].stamps.steady_ns - ONSET_STEADY_NS) / 1e6
    events.append(mark(END, end_ms + 1))
    return TrialRecord(trial=planned(hazard()), events=tuple(events), measuring=measuring or EXACT)
