# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which command answers the hazard, and how long that took."""

from dataclasses import replace
from itertools import chain
from operator import itemgetter

from safety_scenarios.judging.latency.clocks import Instant, Timeline
from safety_scenarios.judging.motion.braking import braking
from safety_scenarios.judging.motion.path import stands_from
from safety_scenarios.judging.motion.simulated_motion import rest, told
from safety_scenarios.judging.motion.standstill import series_of, standstill
from safety_scenarios.judging.motion.track import is_of_robot, Track, tracks
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Elapsed, Latency, LatencyClass, StopPath
from safety_scenarios.scenario.scenario import Condition, Confirmation, Reaction
from safety_scenarios.trial.trial import ALL_CLEAR, TrialRecord

_SILENT_PERIODS = 5
"""One command may be late or lost by chance; five in a row are a stream that has ended."""
_MISSED_PERIODS = 1.5
"""A gap above this holds at least one missing command."""


def measure(record: TrialRecord, timeline: Timeline | None = None) -> Latency | None:
    """
    Return the three latencies from onset: first command, reaction, confirmed safe state.

    The reaction is the first command at or after onset from which the scenario's condition holds
    for ``hold_ms``, or of a braking that stays below the envelope of the declared stopping until
    it does; for a text scenario the first response with this trial's id. One that was on
    its way already when the hazard was published is anticipatory, and no reaction. A silence that
    the scenario declares to stop the robot is one, ``driver_timeout_ms`` after the last command.

    :param timeline: the record's, if the caller has it already
    :return: None without an onset, or where the scenario asks for no reaction (a benign variant)
    :raises LookupError: the commands lack the field that the reaction reads
    """
    scenario = record.trial.scenario
    timeline = timeline or Timeline(record)
    onset = timeline.onset()
    if onset is None or (scenario.ros is not None and scenario.ros.reaction is None):
        return None
    until_ns = _until(record)
    found = _Reaction(record, timeline, onset, until_ns)
    elapsed, anticipatory = found.elapsed()
    first = _first_command(record, timeline, onset)
    shown = elapsed or first
    last = found.event.stamps.steady_ns if found.event else until_ns
    ros = scenario.ros
    return Latency(
        onset_steady_ns=onset.steady_ns, reaction=elapsed,
        stop=_stop(record, onset, found.event, until_ns) if elapsed else None,
        latency_class=LatencyClass.ANTICIPATORY if anticipatory else
        elapsed.latency_class if elapsed else LatencyClass.NO_RESPONSE,
        observed_ns=max(0, until_ns - onset.steady_ns), late_ns=_late(record), first_command=first,
        confirmed=_confirmed(record, timeline, onset, ros.confirmation, until_ns)
        if ros and ros.confirmation else None,
        inferred=found.inferred, fell_silent=found.fell_silent,
        split=timeline.split(onset, found.event)
        if elapsed and found.event and not found.inferred else None,
        widened_ns=round(timeline.busy_ns(onset.steady_ns, last)),
        fallback=found.fallback if shown else None)


def _until(record: TrialRecord) -> int:
    all_clear = record.mark(ALL_CLEAR)
    return all_clear.stamps.steady_ns if all_clear else record.end_ns


def _late(record: TrialRecord) -> int:
    event = record.onset
    return 0 if event is None else record.measuring.late_ns(event)


class _Reaction:
    """Looks for the reaction of one record."""

    def __init__(self, record: TrialRecord, timeline: Timeline, onset: Instant,
                 until_ns: int) -> None:
        self._record = record
        self._timeline = timeline
        self._onset = onset
        self._until_ns = until_ns
        self._budget = record.trial.scenario.latency_budget
        self.event: Event | None = None
        self.inferred = False
        self.fell_silent = False
        self.fallback: str | None = None

    def elapsed(self) -> tuple[Elapsed | None, bool]:
        """Return the time to the reaction, and whether it had begun before onset."""
        ros = self._record.trial.scenario.ros
        if ros is None:
            answer = self._record.answer
            if answer is None or answer.stamps.steady_ns < self._onset.steady_ns:
                return None, False
            elapsed = self._to(answer)
            begun = elapsed.steady_ns < 0 or self._timeline.left_before(self._onset, answer)
            return (None, True) if begun else (elapsed, False)
        assert ros.reaction is not None
        series, onset_ns = series_of(self._record, ros.reaction.limits), self._onset.steady_ns
        held = series.first_held(onset_ns, round(ros.reaction.hold_ms * 1e6), self._until_ns)
        self.fell_silent = self._has_fallen_silent(ros.reaction)
        if held is None:  # anticipatory if it held before and nothing came since
            return None, not series.is_told(onset_ns, self._until_ns) and _held_before(
                self._record, ros.reaction, onset_ns)
        braked = None if held.inferred else braking(
            self._record, ros.reaction.limits, onset_ns, held.t_ns)
        event = _message_of(self._record, ros.reaction,
                            held.t_ns if braked is None else braked.begin_ns)
        self.inferred = held.inferred
        if braked is not None:
            held = replace(held, t_ns=self._record.taken_ns(event))
        elapsed = self._to(event, held.t_ns - self._record.taken_ns(event))
        begun = _held_before(self._record, ros.reaction, self._onset.steady_ns) \
            or (braked is not None and braked.had_begun) or elapsed.steady_ns < 0 or (
                self._ended_before_onset(ros.reaction, event) if held.inferred
                else self._timeline.left_before(self._onset, event))
        return (None, True) if begun else (elapsed, False)

    def _to(self, event: Event, more_ns: int = 0) -> Elapsed:
        self.event = event
        _, self.fallback = self._timeline.method(event)
        return self._timeline.elapsed(self._onset, event, self._budget, more_ns)

    def _has_fallen_silent(self, reaction: Reaction) -> bool:
        found = self._record.quiet([limit.signal for limit in reaction.limits], self._until_ns)
        if found is None:
            return False
        last_ns, period_ns = found
        return self._until_ns - max(last_ns, self._onset.steady_ns) > _SILENT_PERIODS * period_ns

    def _ended_before_onset(self, reaction: Reaction, last: Event) -> bool:
        """Tell whether a silence had begun before the hazard: it is no answer to it."""
        found = self._record.quiet([limit.signal for limit in reaction.limits],
                                   last.stamps.steady_ns + 1)
        before_ns = self._onset.steady_ns - last.stamps.steady_ns
        return before_ns > 0 and (found is None or before_ns > _MISSED_PERIODS * found[1])


def _message_of(record: TrialRecord, condition: Condition, t_ns: int) -> Event:
    """Return the message that a sample at a time was read from, or after which it was inferred."""
    ros = record.trial.scenario.ros
    assert ros is not None
    topics = {ros.signals[limit.signal].topic for limit in condition.limits}
    counting = {topic: record.counting(topic) for topic in topics}
    taken = chain.from_iterable(zip(record.all_taken_ns(topic, events), events, strict=True)
                                for topic, events in counting.items())
    return max((one for one in taken if one[0] <= t_ns), key=itemgetter(0))[1]


def _stop(record: TrialRecord, onset: Instant, event: Event | None,
          until_ns: int) -> StopPath | None:
    """Return when the robot stood after a reaction as a world tells, else when it would stand."""
    ros = record.trial.scenario.ros
    still = None if ros is None or ros.reaction is None \
        else standstill(record, ros.reaction.limits)
    if still is None or event is None:
        return None
    for track in told(record):
        resting = rest(track, onset.steady_ns, until_ns)
        return None if resting is None else _path(
            track, resting.at_ns - onset.steady_ns, resting.way)
    return predicted_stop(record, event.name, (onset.steady_ns, until_ns),
                          event.stamps.steady_ns)


def predicted_stop(record: TrialRecord, topic: str, window: tuple[int, int],
                   reaction_ns: int) -> StopPath | None:
    """
    Return how the robot would stop by what it is commanded and declares, whatever a world tells.

    :param window: onset and end of the observation (steady ns)
    :param reaction_ns: from when it brakes (steady ns)
    """
    onset_ns, until_ns = window
    track = next((one for one in tracks(record) if one.topic == topic
                  and is_of_robot(one, record)), None)
    known = track is not None and track.is_known(onset_ns, until_ns)
    found = stands_from(record, track, onset_ns, max(onset_ns, reaction_ns),
                        until_ns) if track and known else None
    return None if track is None or found is None \
        else _path(track, found[0] - onset_ns, found[1])


def _path(track: Track, stands_ns: int, way: float) -> StopPath:
    return StopPath(stands_ns=stands_ns, way=way, unit=track.way_unit,
                    source=track.source)


def _held_before(record: TrialRecord, condition: Condition, onset_ns: int) -> bool:
    before = series_of(record, condition.limits).before(onset_ns)
    return before is not None and before.holds


def _first_command(record: TrialRecord, timeline: Timeline, onset: Instant) -> Elapsed | None:
    """Return the time to the first command or answer that left after onset."""
    budget = record.trial.scenario.latency_budget
    for event in record.events:
        if event.kind in ('command', 'response') and event.stamps.steady_ns >= onset.steady_ns:
            elapsed = timeline.elapsed(onset, event, budget)
            if elapsed.steady_ns >= 0 and not timeline.left_before(onset, event):
                return elapsed
    return None


def _confirmed(record: TrialRecord, timeline: Timeline, onset: Instant, wanted: Confirmation,
               until_ns: int) -> Elapsed | None:
    held = record.margin_series(wanted.limits).first_held(
        onset.steady_ns, round(wanted.hold_ms * 1e6), until_ns)
    if held is None or _held_before(record, wanted, onset.steady_ns):
        return None
    scenario = record.trial.scenario
    elapsed = timeline.elapsed(onset, _message_of(record, wanted, held.t_ns),
                               scenario.confirmation_budget or scenario.latency_budget)
    return elapsed if elapsed.steady_ns >= 0 else None
