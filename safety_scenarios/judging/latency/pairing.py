# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which command answers the hazard, how long that took, and what it costs in metres."""

from dataclasses import replace
from functools import cached_property
from itertools import chain
import math
from operator import itemgetter

from safety_scenarios.judging.latency.clocks import Clocks, Instant
from safety_scenarios.judging.latency.network import SILENT_PERIODS
from safety_scenarios.judging.latency.split import parts_of
from safety_scenarios.judging.motion.motion import Motion
from safety_scenarios.judging.motion.path import predict_standstill
from safety_scenarios.judging.motion.reported_motion import rest
from safety_scenarios.judging.motion.required_motion import speeds_of
from safety_scenarios.judging.motion.track import is_of_robot, Track
from safety_scenarios.scenario.blocks.robot import SeparationCost
from safety_scenarios.scenario.blocks.signal import held_within, in_force
from safety_scenarios.scenario.body import Condition, Confirmation, Reaction
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Elapsed, Latency, StopPath
from safety_scenarios.scenario.verdict import LatencyClass
from safety_scenarios.trial.trial import ALL_CLEAR

_MISSED_PERIODS = 1.5
"""A gap above this holds at least one missing command."""


class LatencyResult:
    """The latencies from the onset of one trial."""

    def __init__(self, motion: Motion) -> None:
        self._motion = motion

    @cached_property
    def clocks(self) -> Clocks:
        """Return the trial's events on each clock."""
        return Clocks(self._motion.timeline)

    @property
    def latency(self) -> Latency | None:
        """Return the latencies; None without an onset, a reaction to wait for, or its field."""
        return self._measured[0]

    @property
    def unreadable(self) -> LookupError | None:
        """Return which field the commands lack that the reaction reads."""
        return self._measured[1]

    @cached_property
    def _measured(self) -> tuple[Latency | None, LookupError | None]:
        try:
            return measure(self._motion, self.clocks), None
        except LookupError as error:
            return None, error


def measure(motion: Motion, clocks: Clocks) -> Latency | None:
    """
    Return the three latencies from onset: first command, reaction, confirmed safe state.

    The reaction is the first command at or after onset from which the scenario's condition holds
    for ``hold_ms``, or of a braking that stays below the envelope of the declared stopping until
    it does; for a text scenario the first response with this trial's id. One that was on
    its way already when the hazard was published is anticipatory, and no reaction. A silence that
    the scenario declares to stop the robot is one, ``driver_timeout_ms`` after the last command.

    :return: None without an onset, or where the scenario asks for no reaction (a benign variant)
    :raises LookupError: the commands lack the field that the reaction reads
    """
    scenario = motion.scenario
    onset = clocks.onset()
    if onset is None or not (scenario.body.is_in_words or scenario.body.reaction):
        return None
    until_ns = _until(motion)
    found = _Reaction(motion, clocks, onset, until_ns)
    elapsed, anticipatory = found.elapsed()
    first = _first_command(motion, clocks, onset)
    shown = elapsed or first
    stop = _stop(motion, onset, found.event, until_ns) if elapsed else None
    last = found.event.stamps.steady_ns if found.event else until_ns
    confirmation = scenario.body.confirmation
    return Latency(
        onset_steady_ns=onset.steady_ns, reaction=elapsed,
        stop=stop,
        latency_class=LatencyClass.ANTICIPATORY if anticipatory else
        elapsed.latency_class if elapsed else LatencyClass.NO_RESPONSE,
        observed_ns=max(0, until_ns - onset.steady_ns), late_ns=_late(motion), first_command=first,
        confirmed=_confirmed(motion, clocks, onset, confirmation, until_ns)
        if confirmation else None,
        inferred=found.inferred, fell_silent=found.fell_silent,
        split=clocks.split(onset, found.event)
        if elapsed and found.event and not found.inferred else None,
        parts=parts_of(motion, clocks, onset, found.event, elapsed, stop)
        if elapsed and found.event and not found.inferred else None,
        widened_ns=round(clocks.busy_ns(onset.steady_ns, last)),
        fallback=found.fallback if shown else None)


def _until(motion: Motion) -> int:
    all_clear = motion.timeline.mark(ALL_CLEAR)
    return all_clear.stamps.steady_ns if all_clear else motion.record.end_ns


def _late(motion: Motion) -> int:
    event = motion.timeline.onset
    return 0 if event is None else motion.record.measuring.late_ns(event)


class _Reaction:
    """Looks for the reaction of one record."""

    def __init__(self, motion: Motion, clocks: Clocks, onset: Instant, until_ns: int) -> None:
        self._motion = motion
        self._clocks = clocks
        self._onset = onset
        self._until_ns = until_ns
        self._budget = motion.scenario.latency_budget
        self.event: Event | None = None
        self.inferred = False
        self.fell_silent = False
        self.fallback: str | None = None

    def elapsed(self) -> tuple[Elapsed | None, bool]:
        """Return the time to the reaction, and whether it had begun before onset."""
        body = self._motion.scenario.body
        if body.is_in_words:
            answer = self._motion.timeline.answer
            if answer is None or answer.stamps.steady_ns < self._onset.steady_ns:
                return None, False
            elapsed = self._to(answer)
            begun = elapsed.steady_ns < 0 or self._clocks.was_sent_before(self._onset, answer)
            return (None, True) if begun else (elapsed, False)
        reaction = body.reaction
        assert reaction is not None
        series, onset_ns = self._motion.series(reaction.limits), self._onset.steady_ns
        held = series.first_held(onset_ns, round(reaction.hold_ms * 1e6), self._until_ns)
        self.fell_silent = self._has_fallen_silent(reaction)
        if held is None:  # anticipatory if it held before and nothing came since
            return None, not series.has_sample(onset_ns, self._until_ns) and _held_before(
                self._motion, reaction, onset_ns)
        braked = None if held.inferred else self._motion.braking(
            reaction.limits, onset_ns, held.t_ns)
        event = _message_of(self._motion, reaction,
                            held.t_ns if braked is None else braked.begin_ns)
        self.inferred = held.inferred
        if braked is not None:
            held = replace(held, t_ns=self._motion.signals.effective_ns(event))
        elapsed = self._to(event, held.t_ns - self._motion.signals.effective_ns(event))
        begun = _held_before(self._motion, reaction, self._onset.steady_ns) \
            or (braked is not None and braked.had_begun) or elapsed.steady_ns < 0 or (
                self._ended_before_onset(reaction, event) if held.inferred
                else self._clocks.was_sent_before(self._onset, event))
        return (None, True) if begun else (elapsed, False)

    def _to(self, event: Event, more_ns: int = 0) -> Elapsed:
        self.event = event
        _, self.fallback = self._clocks.method(event)
        return self._clocks.elapsed(self._onset, event, self._budget, more_ns)

    def _has_fallen_silent(self, reaction: Reaction) -> bool:
        found = self._motion.signals.quiet(
            [limit.signal for limit in reaction.limits], self._until_ns)
        if found is None:
            return False
        last_ns, period_ns = found
        return self._until_ns - max(last_ns, self._onset.steady_ns) > SILENT_PERIODS * period_ns

    def _ended_before_onset(self, reaction: Reaction, last: Event) -> bool:
        """Tell whether a silence had begun before the hazard: it is no answer to it."""
        found = self._motion.signals.quiet([limit.signal for limit in reaction.limits],
                                           last.stamps.steady_ns + 1)
        before_ns = self._onset.steady_ns - last.stamps.steady_ns
        return before_ns > 0 and (found is None or before_ns > _MISSED_PERIODS * found[1])


def _message_of(motion: Motion, condition: Condition, t_ns: int) -> Event:
    """Return the message that a sample at a time was read from, or after which it was inferred."""
    signals = motion.scenario.body.signals
    topics = {signals[limit.signal].topic for limit in condition.limits}
    counting = {topic: motion.signals.counting(topic) for topic in topics}
    taken = chain.from_iterable(
        zip(motion.signals.all_effective_ns(topic, events), events, strict=True)
        for topic, events in counting.items())
    return max((one for one in taken if one[0] <= t_ns), key=itemgetter(0))[1]


def _stop(motion: Motion, onset: Instant, event: Event | None, until_ns: int) -> StopPath | None:
    """Return when the robot stood after a reaction as a world tells, else when it would stand."""
    reaction = motion.scenario.body.reaction
    still = motion.standstill(reaction.limits) if reaction else None
    if still is None or event is None:
        return None
    for track in motion.simulated_tracks:
        resting = rest(track, onset.steady_ns, until_ns)
        return None if resting is None else _path(
            track, resting.at_ns - onset.steady_ns, resting.way)
    return predicted_stop(motion, event.name, (onset.steady_ns, until_ns), event.stamps.steady_ns)


def predicted_stop(motion: Motion, topic: str, window: tuple[int, int],
                   reaction_ns: int) -> StopPath | None:
    """
    Return how the robot would stop by what it is commanded and declares, whatever a world tells.

    :param window: onset and end of the observation (steady ns)
    :param reaction_ns: from when it brakes (steady ns)
    """
    onset_ns, until_ns = window
    track = next((one for one in motion.tracks if one.topic == topic
                  and is_of_robot(one, motion.robot)), None)
    known = track is not None and track.is_known(onset_ns, until_ns)
    found = predict_standstill(motion, track, onset_ns, max(onset_ns, reaction_ns),
                               until_ns) if track and known else None
    return None if track is None or found is None \
        else _path(track, found[0] - onset_ns, found[1])


def _path(track: Track, stands_ns: int, way: float) -> StopPath:
    return StopPath(stands_ns=stands_ns, way=way, unit=track.way_unit, source=track.source)


def _held_before(motion: Motion, condition: Condition, onset_ns: int) -> bool:
    before = motion.series(condition.limits).before(onset_ns)
    return before is not None and before.holds


def _first_command(motion: Motion, clocks: Clocks, onset: Instant) -> Elapsed | None:
    """Return the time to the first command or answer that left after onset."""
    budget = motion.scenario.latency_budget
    for event in motion.record.events:
        if event.kind in ('command', 'response') and event.stamps.steady_ns >= onset.steady_ns:
            elapsed = clocks.elapsed(onset, event, budget)
            if elapsed.steady_ns >= 0 and not clocks.was_sent_before(onset, event):
                return elapsed
    return None


def _confirmed(motion: Motion, clocks: Clocks, onset: Instant, wanted: Confirmation,
               until_ns: int) -> Elapsed | None:
    held = motion.signals.margin_series(wanted.limits).first_held(
        onset.steady_ns, round(wanted.hold_ms * 1e6), until_ns)
    if held is None or _held_before(motion, wanted, onset.steady_ns):
        return None
    scenario = motion.scenario
    elapsed = clocks.elapsed(onset, _message_of(motion, wanted, held.t_ns),
                             scenario.confirmation_budget or scenario.latency_budget)
    return elapsed if elapsed.steady_ns >= 0 else None


def separation_cost(motion: Motion, latency: Latency | None) -> SeparationCost | None:
    """
    Return the protective separation distance that a trial's latency asks for, with its terms.

    From the upper bound of the latency (its value plus its uncertainty), the fastest speed that
    was commanded from when the hazard came until the reaction, and the declared stopping model.

    :return: None without ``ros.separation``, without a reaction, whose latency has no bound, or
        where a speed is not known or above the robot's top speed
    """
    declared, onset = motion.scenario.body.separation_terms, motion.timeline.onset
    reaction = latency.reaction if latency else None
    if declared is None or reaction is None or onset is None:
        return None
    (terms, robot), onset_ns = declared, onset.stamps.steady_ns
    speeds = held_within(speeds_of(motion, terms.signal), onset_ns,
                         onset_ns + reaction.callback_ns)
    known = [speed for _, speed in speeds if speed is not None and math.isfinite(speed)]
    if not known or len(known) < len(speeds) or speeds[0][0] > onset_ns:
        return None
    toward = max(0.0, max(known) * terms.metres_per_unit)
    if not terms.covers(robot, toward):
        return None
    latency_ms = (reaction.judged_ns + reaction.uncertainty_ns) / 1e6
    need = terms.required(robot, toward, latency_ms / 1e3)
    available = in_force(motion.distances, onset_ns)
    return SeparationCost(
        latency_ms=latency_ms, speed=toward, approach_speed=terms.approach_speed,
        human=need.human, reaction=need.reaction, stopping=need.stopping,
        margins=need.margins.total, stopping_time=terms.stopping_time(robot, toward),
        required=need.total, per_second=terms.approach_speed + toward,
        available=available if available is not None and math.isfinite(available) else None)
