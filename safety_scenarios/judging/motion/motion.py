# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How the robot moved in one trial: commanded, measured, told by a world; how it stops."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.judging.motion.contacts import Contact, WorldContacts
from safety_scenarios.judging.motion.reported_motion import (
    Feedback,
    measured,
    set_aside,
    simulated_tracks,
    Speeds,
    true_speeds,
    whole_motion,
)
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.judging.motion.standstill import demanded, series_of, Standstill
from safety_scenarios.judging.motion.track import Floats, is_of_robot, Track, tracks_of
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.margins import MarginSeries
from safety_scenarios.trial.trial import Timeline
from safety_scenarios.trial.world_truth import record_world, reported_distances, World

_PERIODS, _LONGEST_GRACE_S = 1.25, 0.2
"""A command is held until the next, so that a ramp in steps lags by one period, and its jitter."""
_RECENT = 50
"""So many commands tell the period of a stream."""
_ROUNDING = 1e-6
"""What rounding may add to a speed or a time (m/s, rad/s, s); a smaller decrease is none."""
_ALREADY = 2
"""So many decreases before the hazard are a braking that the hazard did not cause."""
_OF_RATE, _OF_SPEED = 0.75, 0.1
"""Together they are at least this share of what the declared braking takes off in that time, or of
the speed: two smaller ones are the noise of a policy."""
_NOISE, _OF_PERIOD = 20, 0.5
"""So many commands before the hazard tell the noise of a policy. Who takes off more than this
share of what the declared braking takes off in one period brakes."""
Times = NDArray[numpy.int64]


@dataclass(frozen=True, slots=True)
class Braking:
    """A braking from its first command to its end."""

    begin_ns: int
    """Steady time of the first command of it."""
    end_ns: int
    """From then on the limits hold."""
    had_begun: bool = False
    """It had begun before the time that was asked for."""


def deceleration(scenario: Scenario) -> float | None:
    """Return how hard the robot brakes as it declares (m/s^2, of an arm rad/s^2), if it does."""
    robot, terms = scenario.body.robot, scenario.body.separation
    return None if robot is None else robot.deceleration(terms.metres_per_unit if terms else 1.0)


def braking(track: Track, commands: Times, rate: float, from_ns: int,
            held_ns: int) -> Braking | None:
    """
    Return the first braking at or after a time that ends where limits begin to hold.

    Its first command is the earliest from which the motion stays below the envelope: from the
    speed in force when it came, at the declared deceleration, until the limits hold.

    :param commands: when they count (steady ns)
    :param held_ns: steady time from which the limits hold
    :return: None where it is no braking: then the command at ``held_ns`` is the first one
    """
    commands = commands[commands <= held_ns]
    all_commands, first = commands, int(commands.searchsorted(from_ns))
    commands = commands[max(0, first - _ALREADY):]
    if not len(commands):
        return None
    speeds = track.at(track.fastest, numpy.append(commands, held_ns + 1))
    slows = speeds[1:] < speeds[:-1] - _ROUNDING
    early, slower = min(first, _ALREADY), slows.nonzero()[0]
    if not len(slower):
        return None
    if early <= slower[0] == len(commands) - 1 and commands[-1] == held_ns \
            and math.isfinite(rate):  # one step to it: no motion comes after, to be below any
        return Braking(held_ns, held_ns)
    brakes = slows & _below(track, commands, held_ns, rate, _grace_s(all_commands))
    if early == _ALREADY and brakes[:early].all() and _is_material(commands, speeds, rate):
        return Braking(int(commands[0]), held_ns, had_begun=True)
    slowed = speeds[:-1] - speeds[1:]
    brakes &= slowed > _noise(track, all_commands[:first], rate)
    begins = commands[early:][brakes[early:]]
    return Braking(int(begins[0]), held_ns) if len(begins) else None


def _is_material(commands: Times, speeds: Floats, rate: float) -> bool:
    """Return whether the first ``_ALREADY`` commands slow down by more than noise."""
    until = _ALREADY if len(commands) > _ALREADY else -1
    seconds = float(commands[until] - commands[0]) / 1e9
    least = min(_OF_SPEED * float(speeds[0]), _OF_RATE * rate * seconds)
    return bool(speeds[0] - speeds[_ALREADY] >= least - _ROUNDING)


def _noise(track: Track, commands: Times, rate: float) -> float:
    """Return by how much commands slowed the robot down before the hazard and took it back."""
    commands = commands[-_NOISE:]
    if len(commands) < 4:
        return 0.0
    speeds = track.at(track.fastest, commands)
    slowed, low = speeds[:-3] - speeds[1:-2], speeds[1:-2]
    again = numpy.maximum(speeds[2:-1], speeds[3:]) - low
    most = _OF_PERIOD * rate * float(numpy.median(numpy.diff(commands))) / 1e9
    return float(slowed[(slowed <= most) & (again >= slowed / 2)].max(initial=0.0))


def braked_until(series: MarginSeries, track: Track, commands: Times, rate: float,
                 window: tuple[int, int]) -> int:
    """
    Return until when motion above limits is forgiven that should hold from a time on.

    A robot that brakes by then at its declared deceleration is given the time that this takes.

    :param commands: when they count (steady ns)
    :param rate: the declared deceleration
    :param window: when the limits should hold, and the end of what is looked at (steady ns)
    :return: when they should hold, or the steady time at which its braking ended
    """
    due_ns, until_ns = window
    before = series.before(due_ns + 1)
    held = series.first_held(due_ns, 0, until_ns)
    if held is None or before is None or before.margin is None or before.margin >= 0:
        return due_ns
    on_it = _below(track, numpy.array([due_ns], numpy.int64), held.t_ns, rate,
                   _grace_s(commands[commands <= held.t_ns]))
    return held.t_ns if bool(on_it[0]) else due_ns


def track_of(scenario: Scenario, tracks: Sequence[Track], limits: Sequence[Limit]) -> Track | None:
    """Return the motion of the one topic that limits of speed are about."""
    signals = scenario.body.signals
    if any(limit.at_most is None or limit.signal not in signals
           or not signals[limit.signal].speed for limit in limits):
        return None
    topics = {signals[limit.signal].topic for limit in limits}
    found = [track for track in tracks if track.topic in topics]
    return found[0] if len(topics) == len(found) == 1 and is_of_robot(
        found[0], scenario.body.robot) else None


def _grace_s(commands: NDArray[numpy.int64]) -> float:
    if len(commands) < 2:
        return 0.0
    period_ns = float(numpy.median(numpy.diff(commands[-_RECENT:])))
    return min(_PERIODS * period_ns / 1e9, _LONGEST_GRACE_S)


def _below(track: Track, commands: NDArray[numpy.int64], held_ns: int, rate: float,
           grace_s: float) -> NDArray[numpy.bool_]:
    """Return for each command whether the motion from it to ``held_ns`` is below its envelope."""
    last = int(track.times_ns.searchsorted(held_ns))
    zero_ns, times, begin = int(commands[0]), track.times_ns[:last], track.fastest[:last]
    edges_s = (numpy.append(times, held_ns) - zero_ns) / 1e9
    end = track.until(track.fastest)[:last]
    reach = _from_here(numpy.maximum(begin + rate * edges_s[:-1], end + rate * edges_s[1:]))
    top = _from_here(numpy.maximum(begin, end))
    before = track.at(track.fastest, commands)
    commands_s = (commands - zero_ns) / 1e9
    place = times.searchsorted(commands)  # from there on it follows the command
    limit = before + rate * (commands_s + grace_s) + _ROUNDING
    return numpy.asarray((edges_s[place] - commands_s <= grace_s + _ROUNDING)
                         & (reach[place] <= limit)
                         & (top[place] <= before + _ROUNDING))


def _from_here(values: Floats) -> Floats:
    """Return the largest of each value and those after it, and one that none exceeds."""
    largest = numpy.maximum.accumulate(values[::-1])[::-1]
    return numpy.append(largest, -numpy.inf)


_MS = 1_000_000
_Limits = tuple[Limit, ...]
_Distances = Sequence[tuple[int, float | None]]


class Motion:
    """The motion of one trial, each part of it computed when it is first asked for."""

    def __init__(self, timeline: Timeline, signals: Signals) -> None:
        self.timeline = timeline
        self.record = timeline.record
        self.signals = signals
        self.scenario = self.record.trial.scenario
        self._standstills: dict[tuple[_Limits, bool], Standstill | None] = {}
        self._series: dict[tuple[_Limits, bool], MarginSeries] = {}
        self._brakings: dict[tuple[_Limits, int, int], Braking | None] = {}
        self._forgiven: dict[tuple[_Limits, int, int], int] = {}

    @property
    def robot(self) -> RobotModel | None:
        """Return the robot of the scenario's body."""
        return self.scenario.body.robot

    @cached_property
    def deceleration(self) -> float | None:
        """Return how hard the robot declares to brake (m/s^2, of an arm rad/s^2), if it does."""
        return deceleration(self.scenario)

    @cached_property
    def tracks(self) -> Sequence[Track]:
        """Return the motion on each command topic, as far as it can be predicted."""
        return tracks_of(self.signals)

    def standstill(self, limits: Sequence[Limit], is_stop: bool = False) -> Standstill | None:
        """
        Return what standstill some limits demand, None where they demand none.

        :param is_stop: whoever set them calls it a stop, however large they are
        """
        key = tuple(limits), is_stop
        if key not in self._standstills:
            self._standstills[key] = demanded(self.scenario, limits, is_stop)
        return self._standstills[key]

    def series(self, limits: Sequence[Limit], is_stop: bool = False) -> MarginSeries:
        """
        Return how limits hold together, where they demand a standstill for all of the motion.

        :param is_stop: as with ``standstill``
        :raises LookupError: the commands have no such field
        """
        key = tuple(limits), is_stop
        found = self._series.get(key)
        if found is None:
            found = self._series[key] = self.series(limits) \
                if is_stop and self.standstill(limits) else series_of(
                    self.signals, self.tracks, limits, self.standstill(limits, is_stop))
        return found

    def braking(self, limits: Sequence[Limit], from_ns: int, held_ns: int) -> Braking | None:
        """
        Return the first braking at or after a time that ends where limits begin to hold.

        :param held_ns: steady time from which the limits hold
        :return: None without a declared stopping model, or where it is no braking: then the
            command at ``held_ns`` is the first one
        """
        key = tuple(limits), from_ns, held_ns
        if key not in self._brakings:
            rate, track = self.deceleration, track_of(self.scenario, self.tracks, limits)
            self._brakings[key] = None if rate is None or track is None else braking(
                track, self._commands(track.topic), rate, from_ns, held_ns)
        return self._brakings[key]

    def braked_until(self, limits: Sequence[Limit], due_ns: int, until_ns: int) -> int:
        """
        Return until when motion above limits is forgiven that should hold from a time on.

        :return: ``due_ns``, or the steady time at which a braking at the declared deceleration
            ended that had begun by then
        """
        key = tuple(limits), due_ns // _MS, until_ns
        if key not in self._forgiven:
            rate, track = self.deceleration, track_of(self.scenario, self.tracks, limits)
            self._forgiven[key] = due_ns if rate is None or track is None \
                else braked_until(self.series(limits), track,
                                  self._commands(track.topic), rate, (due_ns, until_ns))
        return max(due_ns, self._forgiven[key])

    def _commands(self, topic: str) -> Times:
        """Return when the commands on a topic count (steady ns)."""
        commands = self.record.by_topic('command').get(topic, ())
        return numpy.array(self.signals.all_effective_ns(topic, commands), numpy.int64)

    def stop_span(self, window: tuple[int, int]) -> tuple[int, int]:
        """Return begin and end (steady ns) of the stop that is the reaction, nothing without."""
        reaction = self.scenario.body.reaction
        if reaction is None or self.standstill(reaction.limits) is None:
            return window[0], window[0]
        held = self.series(reaction.limits).first_held(
            window[0], round(reaction.hold_ms * 1e6), window[1])
        found = None if held is None else self.braking(reaction.limits, window[0], held.t_ns)
        return (window[0], window[0]) if found is None or found.had_begun \
            else (found.begin_ns, found.end_ns)

    @cached_property
    def truth(self) -> World:
        """Return what the world of the link tells, without entities where it has none."""
        return record_world(self.record)

    @property
    def world(self) -> World | None:
        """Return the same, None where the link has no world."""
        return self.truth if self.truth.entities else None

    @cached_property
    def in_world(self) -> WorldContacts:
        """Return the robot among the things of the world: its true speed, pushes and contacts."""
        return WorldContacts(self.world, self.robot, self.tracks, self.record.end_ns)

    @property
    def contacts(self) -> Sequence[Contact]:
        """Return every contact that the world tells, in order."""
        return self.in_world.all

    @cached_property
    def whole(self) -> Track | None:
        """Return the robot's motion according to the simulator, trusted or not, with pushes."""
        return whole_motion(self.world, self.robot)

    @cached_property
    def simulated_tracks(self) -> Sequence[Track]:
        """Return the robot's motion according to the simulator; none where that is not trusted."""
        return simulated_tracks(self.timeline, self.in_world, self.whole)

    @cached_property
    def set_aside(self) -> str | None:
        """Return why the motion that the world reports is not what is judged; None: it is."""
        return set_aside(self.timeline, self.in_world, self.whole)

    @cached_property
    def feedback(self) -> Feedback:
        """Return the motion that feedback topics report, trusted or not."""
        return measured(self.timeline, self.signals, self.tracks)

    @property
    def measured(self) -> Sequence[Track]:
        """Return the motion that feedback topics report; none where it cannot be trusted."""
        return self.feedback.tracks

    @property
    def actual(self) -> Sequence[Track]:
        """
        Return what is known of the motion itself: told by the world, else measured, else none.

        What is measured may drift; where the truth is told, nothing else decides.
        """
        return self.simulated_tracks or self.measured

    @cached_property
    def true_speeds(self) -> Speeds | None:
        """Return the true speed according to the simulator, None where unknown or not in m/s."""
        terms, rate = self.scenario.body.separation, self.deceleration
        return None if terms is None or rate is None \
            else true_speeds(terms, rate, self.simulated_tracks, self.tracks)

    @cached_property
    def distances(self) -> _Distances:
        """
        Return the separation as (steady ns, m), by the terms of ``ros.separation``.

        What the link's world tells, by the gap between the closest points where it tells that;
        without a world a feedback signal; without that the nearest that the hazard's stimuli show,
        as if the robot stood still from onset on. They begin together: what is shown first holds
        from onset.
        """
        terms, onset = self.scenario.body.separation, self.timeline.onset
        if terms is None:
            return []
        if self._reported_distances is not None:
            return self._reported_distances
        if terms.distance is not None:
            return [(t_ns, None if value is None else value - terms.reach)
                    for t_ns, value in self.signals.values(terms.distance)]
        shown: dict[str, float] = {}
        found: list[tuple[int, float | None]] = []
        for event in self.record.index.hazards:
            if 'distance' in event.truth:
                shown[event.name] = event.truth['distance']
                found.append((event.stamps.steady_ns, min(shown.values()) - terms.reach))
        if found and onset is not None:
            found[0] = min(found[0][0], onset.stamps.steady_ns), found[0][1]
        return found

    @property
    def is_distance_measured(self) -> bool:
        """Return whether ``distances`` know what the robot did, and not only what was shown."""
        terms = self.scenario.body.separation
        return (terms is not None and terms.distance is not None) or self.is_distance_reported

    @property
    def is_distance_reported(self) -> bool:
        """Return whether the world of the link tells the distance: nothing else then counts."""
        return self._reported_distances is not None

    @cached_property
    def _reported_distances(self) -> _Distances | None:
        """Return what the link's world tells; None without one: then nothing need be read."""
        is_in_world = any(event.arguments is not None for event in self.record.of_kind('stimulus'))
        terms = self.scenario.body.separation
        return reported_distances(self.truth, terms.reach if terms else 0.0) \
            if is_in_world or self.record.of_kind('state') else None
