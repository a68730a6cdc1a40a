# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Saboteurs that do the right thing about what they read, and read their sensors wrongly."""

from collections.abc import Iterator, Mapping
import math
from typing import Any

from pydantic import PrivateAttr
from safety_scenarios.controllers.saboteurs.reactions import AsReference
from safety_scenarios.scenario.message import Message, Observation, Reading

_FIRST, _LAST = 140, 221
"""Rays within 40 degrees of straight ahead, of 360 that begin straight back."""
_JUMPS_M = 0.3
"""What comes nearer by more than this from tick to tick has appeared."""


class _MisreadsMessages(AsReference):
    """Base of those to which messages of one type say something else."""

    def view(self, observation: Observation) -> Observation:
        """Return the readings as it takes them."""
        return _seen(observation, {topic: Reading.model_construct(
            message=self.misread(one.message), age_ns=one.age_ns, stamp_age_ns=one.stamp_age_ns)
            for topic, one in observation.readings.items()})

    def misread(self, message: Message) -> Message:
        """Return a message as it takes it."""
        raise NotImplementedError


def _seen(observation: Observation, readings: Mapping[str, Reading]) -> Observation:
    return Observation.model_construct(t_ns=observation.t_ns, readings=readings,
                                       frames=observation.frames)


class AssumesForwardScan(_MisreadsMessages):
    """Takes the first ray for the one straight back, and all rays for one turn to the left."""

    def misread(self, message: Message) -> Message:
        """Return a scan that is laid out so, of a scanner at the robot's origin."""
        if not message.type.endswith('/LaserScan'):
            return message
        data = message.data
        return Message.model_construct(type=message.type, data={
            **data, 'header': {}, 'angle_min': -math.pi,
            'angle_increment': math.tau / max(1, len(data['ranges']))})


class ReadsFixedRayIndices(_MisreadsMessages):
    """Looks at 81 rays by their numbers, whichever directions they have."""

    def misread(self, message: Message) -> Message:
        """Return a scan of these rays, as if they were those ahead."""
        if not message.type.endswith('/LaserScan'):
            return message
        data = message.data
        return Message.model_construct(type=message.type, data={
            **data, 'header': {}, 'angle_min': math.radians(_FIRST - 180),
            'angle_increment': math.radians(1.0), 'ranges': data['ranges'][_FIRST:_LAST]})


class IgnoresFrames(AsReference):
    """Takes each scanner for one that is at the robot's origin and looks ahead."""

    def view(self, observation: Observation) -> Observation:
        """Return what it reads, without the places of frames."""
        return Observation.model_construct(t_ns=observation.t_ns, frames=(),
                                           readings=observation.readings)


class IgnoresOneSensor(AsReference):
    """Does not look at its scanner as long as there is a tracker of people."""

    def view(self, observation: Observation) -> Observation:
        """Return what it reads but for scans."""
        has_tracker = bool(observation.latest('/PoseStamped'))
        return _seen(observation, {
            topic: one for topic, one in observation.readings.items()
            if not has_tracker or not one.message.type.endswith('/LaserScan')})


class TrustsAnyLiveSensor(AsReference):
    """Takes all its sensors for alive as long as one of them is."""

    def view(self, observation: Observation) -> Observation:
        """Return every reading as new as the newest."""
        newest_ns = min((max(one.age_ns, one.stamp_age_ns or 0)
                         for one in observation.readings.values()), default=0)
        return _seen(observation, {topic: Reading.model_construct(
            message=one.message, age_ns=newest_ns, stamp_age_ns=None)
            for topic, one in observation.readings.items()})


class IgnoresLateralForce(_MisreadsMessages):
    """Looks at the force along x alone."""

    def misread(self, message: Message) -> Message:
        """Return a wrench with its force along x."""
        return _with_force(message, {'y': 0.0, 'z': 0.0})


class IgnoresPull(_MisreadsMessages):
    """Looks at forces along the positive axes alone."""

    def misread(self, message: Message) -> Message:
        """Return a wrench without what is below 0."""
        force = message.at('force') if message.type.endswith('/WrenchStamped') else {}
        return _with_force(message, {axis: max(0.0, value) for axis, value in force.items()})


def _with_force(message: Message, changed: Mapping[str, float]) -> Message:
    if not message.type.endswith('/WrenchStamped'):
        return message
    data = message.data
    force = {**data['wrench']['force'], **changed}
    return Message.model_construct(type=message.type, data={
        **data, 'wrench': {**data['wrench'], 'force': force}})


class IgnoresApproach(AsReference):
    """Stops for what appears near, and not for what comes nearer step by step."""

    _before: dict[int, float] = PrivateAttr(default_factory=dict)
    _appeared: bool = PrivateAttr(default=False)

    def _distances(self, observation: Observation, memory: Any) -> Iterator[float]:
        for place, distance in enumerate(super()._distances(observation, memory)):
            before = self._before.get(place, math.inf)
            self._before[place] = distance
            if distance >= self.stop_distance_m:
                self._appeared = False
                yield distance
                continue
            self._appeared = self._appeared or not before - distance <= _JUMPS_M
            yield distance if self._appeared else self.stop_distance_m
