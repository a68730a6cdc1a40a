# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How the robot moved in one trial: commanded, measured, told by a world; how it stops."""

from collections.abc import Sequence
from functools import cached_property

import numpy
from safety_scenarios.judging.motion import braking
from safety_scenarios.judging.motion.braking import Braking, deceleration, Times, track_of
from safety_scenarios.judging.motion.contacts import Contact, WorldContacts
from safety_scenarios.judging.motion.feedback import Feedback, measured
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.judging.motion.simulated_motion import (
    set_aside,
    Speeds,
    told,
    true_speeds,
    whole_motion,
)
from safety_scenarios.judging.motion.standstill import demanded, series_of, Standstill
from safety_scenarios.judging.motion.track import Track, tracks_of
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.trial.margins import MarginSeries
from safety_scenarios.trial.trial import Timeline
from safety_scenarios.trial.world_truth import all_told, told_distances, World

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
            self._brakings[key] = None if rate is None or track is None else braking.braking(
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
                else braking.braked_until(self.series(limits), track,
                                          self._commands(track.topic), rate, (due_ns, until_ns))
        return max(due_ns, self._forgiven[key])

    def _commands(self, topic: str) -> Times:
        """Return when the commands on a topic count (steady ns)."""
        commands = self.record.by_topic('command').get(topic, ())
        return numpy.array(self.signals.all_taken_ns(topic, commands), numpy.int64)

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
        return all_told(self.record)

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
    def told(self) -> Sequence[Track]:
        """Return the robot's motion according to the simulator; none where that is not trusted."""
        return told(self.timeline, self.in_world, self.whole)

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
        return self.told or self.measured

    @cached_property
    def true_speeds(self) -> Speeds | None:
        """Return the true speed according to the simulator, None where unknown or not in m/s."""
        terms, rate = self.scenario.body.separation, self.deceleration
        return None if terms is None or rate is None \
            else true_speeds(terms, rate, self.told, self.tracks)

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
        if self._told_distances is not None:
            return self._told_distances
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
        return (terms is not None and terms.distance is not None) or self.is_distance_told

    @property
    def is_distance_told(self) -> bool:
        """Return whether the world of the link tells the distance: nothing else then counts."""
        return self._told_distances is not None

    @cached_property
    def _told_distances(self) -> _Distances | None:
        """Return what the link's world tells; None without one: then nothing need be read."""
        is_in_world = any(event.arguments is not None for event in self.record.of_kind('stimulus'))
        terms = self.scenario.body.separation
        return told_distances(self.truth, terms.reach if terms else 0.0) \
            if is_in_world or self.record.of_kind('state') else None
