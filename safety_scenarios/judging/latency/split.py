# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Where the time of a reaction went: its parts, by what the controller stamped.

The latency was measured before, from the record of the harness alone, and nothing here changes
it. Stamps come from the controller under test. Those that cannot be true are left out by name.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
import math

from safety_scenarios.judging.latency.clocks import Clocks, Instant
from safety_scenarios.judging.motion.motion import Motion
from safety_scenarios.judging.motion.track import is_of_robot, Track
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Elapsed, StopPath
from safety_scenarios.scenario.timing import NOT_SENT, read_timing, TIMES, Timing
from safety_scenarios.scenario.verdict import LABELS, Part, ReactionParts
from safety_scenarios.trial.trial import TrialRecord

_ARRIVES_NS = 5_000_000
"""A reading that came sooner than this after a stimulus is that stimulus."""
_EARLY_NS = 2_000_000
"""So much before it was sent may a stimulus seem to arrive, by clocks that were read apart."""
_CHANGED, _CHANGED_SHARE = 0.01, 0.02
"""By so much less speed (m/s, or as a share) the motion has begun to change."""
_Span = tuple[int, int] | None
"""Begin and end after the onset (ns); None: unknown."""


@dataclass(frozen=True, slots=True)
class Decision:
    """When one command was decided, in ns after the onset; what is unknown is None."""

    received_ns: int | None = None
    began_ns: int | None = None
    ended_ns: int | None = None
    server_ns: int | None = None
    chunk: int | None = None
    index: int | None = None
    implausible: tuple[str, ...] = ()
    note: str = ''
    skipped: int | None = None
    skipped_ns: int | None = None

    def precedes(self, shown_ns: float, is_exact: bool) -> bool:
        """Return whether it began before the onset, or had no data that was shown from then on."""
        early_ns = 0 if is_exact else _EARLY_NS
        return any(time_ns is not None and time_ns + early_ns < from_ns for time_ns, from_ns in (
            (self.began_ns, 0), (self.received_ns, shown_ns)))


_Before = Sequence[tuple[Decision | None, int]]
"""Decisions on commands before the reaction, each with the time of its command (ns)."""


class Decisions:
    """
    When the commands on one topic were decided.

    :param began_ns: the first event of the trial, in ns after the onset
    """

    def __init__(self, record: TrialRecord, topic: str, began_ns: int) -> None:
        self._began_ns = began_ns
        self._is_at_once = bool(record.measuring.listens)
        self._timings: dict[int, list[Event]] = {}
        self._left: dict[int, list[Event]] = {}
        timings = [event for event in record.of_kind('timing')
                   if event.symbol == topic and event.sequence != NOT_SENT]
        for event in timings:
            if event.sequence is not None:
                self._timings.setdefault(event.sequence, []).append(event)
        commands = record.by_topic('command').get(topic, ()) if timings else ()
        left = [event.stamps.source_ns for event in commands
                if event.sequence is None and event.stamps.source_ns is not None]
        for event in timings if left else ():
            place = bisect_right(left, event.stamps.source_ns or 0) - 1
            if place >= 0:
                self._left.setdefault(left[place], []).append(event)

    def of(self, command: Event, at_ns: int) -> Decision | None:
        """
        Return when a command was decided; None where nothing is known of that.

        :param at_ns: when it was published, in ns after the onset
        """
        found = self._reports(command)
        if len(found) == 1:
            return checked(read_timing(found[0]), at_ns, self._began_ns)
        return Decision(at_ns, at_ns, at_ns) if self._is_at_once and not found else None

    def is_stamped(self, command: Event) -> bool:
        return len(self._reports(command)) == 1

    def _reports(self, command: Event) -> Sequence[Event]:
        """
        Return the reports on a command, of which there should be one.

        By the count of its publisher; where the middleware does not count, by the publisher's
        clock: a report leaves after its command, and before the next one.
        """
        if command.sequence is not None:
            return self._timings.get(command.sequence, ())
        return self._left.get(command.stamps.source_ns or 0, ())


def checked(timing: Timing, at_ns: int, trial_ns: int) -> Decision:
    """
    Return what can be true of the stamps of a command.

    :param at_ns: when the command was published, in ns after the onset
    :param trial_ns: when the trial began, the same
    """
    times, odd = dict[str, int](), [f'{name}: not a number' for name in timing.unfit]
    for name, before_ns in timing.before_ns.items():
        if name == 'observed':
            continue  # by the clock of a sensor: in the record, and in no part
        if before_ns < 0:
            odd.append(f'{name}: later than the command')
        elif at_ns - before_ns < trial_ns:
            odd.append(f'{name}: before the trial')
        else:
            times[name] = at_ns - before_ns
    for name, other in _disordered(times):
        odd.append(f'{name}: later than {other}')
    for name, other in _disordered(times):
        times.pop(name, None)
        times.pop(other, None)
    began_ns, ended_ns = times.get('began', times.get('queued')), times.get('ended')
    server_ns = timing.server_ns
    if server_ns is not None and (server_ns < 0 or (
            began_ns is not None and ended_ns is not None and server_ns > ended_ns - began_ns)):
        odd.append('server: longer than inference' if server_ns > 0 else 'server: below 0')
        server_ns = None
    skipped_ns = timing.skipped_ns if timing.skipped else None
    if skipped_ns is not None and skipped_ns < 0:
        odd.append('skipped_for: below 0')
    busy_ns = 0 if began_ns is None or ended_ns is None else ended_ns - began_ns
    is_ignored = skipped_ns is not None and skipped_ns > busy_ns  # else it had no time to look
    return Decision(times.get('received'), began_ns, ended_ns, server_ns, timing.chunk,
                    timing.index, tuple(odd), timing.note, timing.skipped if is_ignored else None,
                    skipped_ns if is_ignored else None)


def _disordered(times: Mapping[str, int]) -> Sequence[tuple[str, str]]:
    """Return each pair of which the first comes later, and must not."""
    names = [name for name in TIMES if name in times]
    return [(name, other) for place, name in enumerate(names) for other in names[place + 1:]
            if times[name] > times[other]]


def parts_of(motion: Motion, clocks: Clocks, onset: Instant, command: Event, reaction: Elapsed,
             stop: StopPath | None) -> ReactionParts | None:
    """
    Return the parts of a reaction; None where nothing tells when the command was decided.

    :param reaction: the latency, which the parts before the command sum up to
    """
    record = motion.record
    if command.kind != 'command':
        return None
    more_ns = reaction.callback_ns - (command.stamps.steady_ns - onset.steady_ns)
    at_ns = reaction.judged_ns - more_ns
    decisions = Decisions(record, command.name,
                          record.events[0].stamps.steady_ns - onset.steady_ns)
    decision = decisions.of(command, at_ns)
    if decision is None or at_ns < 0:
        return None
    shown = observations(motion, onset, at_ns)
    before = [(decisions.of(event, event_ns), event_ns) for event, event_ns in
              _earlier(record, clocks, onset, command)]
    spans = {**_before_inference(decision, shown, _first_used(
        before, shown, record.measuring.exact), record.measuring.exact),
        **_inference(decision, at_ns)}
    spans |= _playing(spans.pop('ignored', None), before, decision)
    track = _track(motion, command.name)
    spans = {**_in_order(spans, at_ns), **_after(
        track if track is not None and track.is_told else None, onset, at_ns, stop)}
    return ReactionParts(
        **{name: None if span is None else Part(
            ns=span[1] - span[0], way=_rounded(_way(track, onset, span, name, stop)))
           for name, span in spans.items()},
        unit=None if track is None else track.way_unit,
        is_stamped=decisions.is_stamped(command),
        before_hazard=decision.precedes(min(shown, default=-math.inf), record.measuring.exact),
        chunk_id=decision.chunk, action=decision.index, implausible=decision.implausible,
        fallback=decision.note, skipped=decision.skipped or 0,
        skipped_ns=decision.skipped_ns or 0)


def observations(motion: Motion, onset: Instant, until_ns: int) -> Sequence[int]:
    """
    Return when the controller could receive what shows the hazard, in ns after the onset.

    Stimuli of the hazard, and what sensors of a world published on their topics or, where none
    did, on any that the controller received. Nothing of a hazard that is real or a silence.
    """
    record = motion.record
    listens = record.measuring.listens
    topics = {event.name for event in record.index.hazards}
    sensed = [event for event in record.of_kind('sensed') if not listens or event.name in listens]
    named = [event for event in sensed if event.name in topics]
    published = [event for event in record.index.hazards if event.kind == 'stimulus'
                 and event.message is not None and (not listens or event.name in listens)]
    is_in_world = any(event.arguments is not None for event in record.index.hazards)
    found = [*published, *(named or (sensed if is_in_world else ()))]
    times = (event.stamps.steady_ns - onset.steady_ns for event in found)
    return sorted(one for one in times if 0 <= one <= until_ns)


def latest_used(shown: Sequence[int], received_ns: int, is_exact: bool) -> int | None:
    """Return the place of the latest observation that had come; None: none had."""
    place = bisect_right(shown, received_ns + (0 if is_exact else _EARLY_NS)) - 1
    return place if place >= 0 else None


def _earlier(record: TrialRecord, clocks: Clocks, onset: Instant,
             command: Event) -> Iterator[tuple[Event, int]]:
    """Yield the commands between the onset and the reaction, each with its time (ns)."""
    for event in record.by_topic('command').get(command.name, ()):
        if event is command:
            break
        at_ns = clocks.sent_ns(event) - onset.steady_ns
        if at_ns >= 0:
            yield event, at_ns


def _first_used(before: _Before, shown: Sequence[int], is_exact: bool) -> int | None:
    """Return the place of the first observation of the hazard that any decision used."""
    for decision, _ in before:
        if decision is not None and decision.received_ns is not None:
            used = latest_used(shown, decision.received_ns, is_exact)
            if used is not None:
                return used
    return None


def _playing(span: _Span, before: _Before, reaction: Decision) -> dict[str, _Span]:
    """
    Return in which parts of a time an earlier chunk was executed, and in which none was.

    The inference of that chunk may have been under way at first: until it ends, nothing is
    executed.
    """
    if span is None:
        return {}
    begin_ns, end_ns = span
    for decision, at_ns in before if reaction.chunk is not None else ():
        if decision is None or decision.chunk in (None, reaction.chunk) \
                or not begin_ns <= at_ns <= end_ns:
            continue
        from_ns = min(at_ns, max(begin_ns, decision.ended_ns or begin_ns))
        return {'playing': (from_ns, end_ns), **(
            {'ignored': (begin_ns, from_ns)} if from_ns > begin_ns else {})}
    return {'ignored': span}


def _before_inference(decision: Decision, shown: Sequence[int], first_used: int | None,
                      is_exact: bool) -> dict[str, _Span]:
    received_ns = decision.received_ns
    if received_ns is None:
        return {}
    used = latest_used(shown, received_ns, is_exact)
    if used is None:
        at_ns = max(0, received_ns)
        found: dict[str, _Span] = {'sensing': (0, at_ns)}
    else:
        at_ns = _arrival(shown[used], received_ns, is_exact)
        first = 0 if first_used is None or first_used > used else first_used
        first = used if first_used is None else first
        begin_ns, first_ns = (at_ns if place == used else shown[place] for place in (0, first))
        found = {'sensing': (0, begin_ns), 'ignored': (begin_ns, first_ns),
                 'earlier': (first_ns, at_ns)}
    if decision.began_ns is not None:
        found['waiting'] = at_ns, max(at_ns, decision.began_ns)
    return found


def _in_order(spans: Mapping[str, _Span], at_ns: int) -> dict[str, _Span]:
    """Return parts none of which begins before another has ended, or ends after the command."""
    found, last_ns = dict[str, _Span](), 0
    for name in LABELS:
        span = spans.get(name)
        if span is not None:
            begin_ns = min(at_ns, max(last_ns, span[0]))
            last_ns = min(at_ns, max(begin_ns, span[1]))
            found[name] = begin_ns, last_ns
    return found


def _arrival(shown_ns: int, received_ns: int, is_exact: bool) -> int:
    """Return when an observation came: when it was sent, or a little later as was stamped."""
    return received_ns if not is_exact and received_ns - shown_ns < _ARRIVES_NS else shown_ns


def _inference(decision: Decision, at_ns: int) -> dict[str, _Span]:
    began_ns, ended_ns, server_ns = decision.began_ns, decision.ended_ns, decision.server_ns
    found: dict[str, _Span] = {}
    if ended_ns is not None:
        found['chunk'] = max(0, ended_ns), at_ns
    if began_ns is None or ended_ns is None:
        return found
    began_ns, ended_ns = max(0, began_ns), max(0, ended_ns)
    if server_ns is None:
        return {**found, 'inference': (began_ns, ended_ns)}
    left_ns = max(began_ns, ended_ns - server_ns)  # where in between the network was is unknown
    return {**found, 'network': (began_ns, left_ns), 'inference': (left_ns, ended_ns)}


def _after(track: Track | None, onset: Instant, at_ns: int,
           stop: StopPath | None) -> dict[str, _Span]:
    """
    Return the parts after the command.

    :param track: the motion as a world reports it; None: when it changes is unknown
    """
    changed_ns = None if track is None else _changes(track, onset.steady_ns + at_ns)
    changed_ns = None if changed_ns is None else changed_ns - onset.steady_ns
    if stop is None or stop.stands_ns < at_ns:
        return {} if changed_ns is None else {'driver': (at_ns, changed_ns)}
    if changed_ns is None or changed_ns > stop.stands_ns:
        return {'braking': (at_ns, stop.stands_ns)}
    return {'driver': (at_ns, changed_ns), 'braking': (changed_ns, stop.stands_ns)}


def _changes(track: Track, from_ns: int) -> int | None:
    """Return when a motion first is slower than at a time (steady ns); None: it never is."""
    times, speeds = track.times_ns, track.fastest
    place = int(times.searchsorted(from_ns, side='right')) - 1
    if place < 0:
        return None
    speed = float(speeds[place])
    limit = speed - max(_CHANGED, _CHANGED_SHARE * speed)
    for after in range(place + 1, len(times)):
        if speeds[after] < limit:
            fast, slow = float(speeds[after - 1]), float(speeds[after])
            share = (fast - limit) / (fast - slow) if math.isfinite(fast) else 1.0
            begin_ns, end_ns = int(times[after - 1]), int(times[after])
            return max(from_ns, begin_ns + round(share * (end_ns - begin_ns)))
    return None


def _track(motion: Motion, topic: str) -> Track | None:
    """Return the motion in which ways are measured: what is reported, else what is predicted."""
    found = next((one for one in (*motion.actual, *motion.tracks)
                  if is_of_robot(one, motion.robot) and (
                      one.is_told or one.is_measured or one.topic == topic)), None)
    return replace(found, is_linear=True) if found is not None and found.is_told else found


def _rounded(way: float | None) -> float | None:
    """Return a way to the micrometre, which no track knows better."""
    return None if way is None or not math.isfinite(way) else round(way, 6)


def _way(track: Track | None, onset: Instant, span: tuple[int, int], name: str,
         stop: StopPath | None) -> float | None:
    """Return how far the fastest point came in a time."""
    if track is None:
        return None
    begin_ns, end_ns = (onset.steady_ns + one for one in span)
    if not (track.is_told or track.is_measured) and name == 'braking':
        return None if stop is None else max(
            0.0, stop.way - track.way(track.fastest, onset.steady_ns, begin_ns))
    return track.way(track.fastest, begin_ns, end_ns) \
        if track.is_known(begin_ns, end_ns) else None
