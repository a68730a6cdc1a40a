# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Saboteurs whose stop a conforming driver does not execute, or not yet.

Each is the reference but for one fault of the message that it stops by. Where the interface of
its commands cannot have the fault, it does what the reference does.
"""

from collections.abc import Mapping
import math
from typing import Any

from safety_scenarios.controllers.saboteurs.reactions import AsReference
from safety_scenarios.scenario.interfaces import command_message
from safety_scenarios.scenario.message import Command, Message, Observation

_NS = 1_000_000_000
_FAR_S = 30
"""Longer than any trial goes on after the hazard."""
_AHEAD_NS = 10 * _NS
_OLD_NS = 2 * _NS
"""Four times the timeout of a diff_drive_controller."""
_BRAKES_S = 0.1
_ON_S = 0.9
"""How much longer its motion is asked for."""
_CREEP = 0.05
"""rad/s at the end of a stop: little, and more than none."""


class SpoilsStop(AsReference):
    """Base of those who spoil the message of a stop after motion, with one interface."""

    def spoil(self, command: Command, observation: Observation) -> Command | Message:
        """Return the reference's motion, and something else for its stop."""
        stops = self._moved_ns is not None and not any(command.velocity)
        return self.stop(command, observation) if stops else command

    def stop(self, command: Command, observation: Observation) -> Command | Message:
        """Return what is said instead of a stop."""
        raise NotImplementedError


class SpoilsTrajectory(SpoilsStop):
    """
    Base of those who spoil a JointTrajectory of a stop that a controller would accept.

    Their motion is asked for a second ahead, so that the arm does not come to rest by itself.
    """

    def spoil(self, command: Command, observation: Observation) -> Command | Message:
        """Return the reference's motion for a second, and something else for its stop."""
        joints, known = self.context.robot.joints, self._joints(observation)
        if not known or not any(command.velocity):
            return super().spoil(command, observation)
        message = command_message(
            self.context.interface, command, joints,
            {name: position for name, (position, _) in known.items()},
            {name: speed for name, (_, speed) in known.items()})
        first, last = message.data['points']
        way = tuple(value + speed * _ON_S for value, speed
                    in zip(first['positions'], command.velocity, strict=True))
        rest = tuple(value + speed * _ON_S for value, speed
                     in zip(last['positions'], command.velocity, strict=True))
        return Message(type=message.type, data={**message.data, 'points': (
            first, {**first, 'positions': way, 'time_from_start': _due(_BRAKES_S + _ON_S)},
            {**last, 'positions': rest, 'time_from_start': _due(2 * _BRAKES_S + _ON_S)})})

    def stop(self, command: Command, observation: Observation) -> Command | Message:
        """Return one point in which the arm can be at rest, after ``spoilt``."""
        joints, known = self.context.robot.joints, self._joints(observation)
        if not known:
            return command
        good = {'joint_names': joints, 'points': ({
            'positions': tuple(known[name][0] + known[name][1] * _BRAKES_S / 2
                               for name in joints),
            'velocities': (0.0,) * len(joints), 'time_from_start': _due(_BRAKES_S)},)}
        return Message(type=self.context.interface, data=self.spoilt(good, _now_ns(observation)))

    def _joints(self, observation: Observation) -> dict[str, tuple[float, float]]:
        """Return joint to (position, velocity), empty where it speaks no JointTrajectory."""
        states = observation.readings.get('joint_states')
        if not self.context.interface.endswith('/JointTrajectory') or states is None:
            return {}
        data = states.message.data
        return dict(zip(data['name'], zip(data['position'], data['velocity'], strict=True),
                        strict=True))

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        """
        Return the fields of the trajectory with one fault.

        :param now_ns: the clock of the header stamps
        """
        raise NotImplementedError


class EmptyTrajectory(SpoilsTrajectory):
    """Stops by a trajectory without points, which is rejected."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        """Return it without points."""
        return {**good, 'points': ()}


class ForeignJoints(SpoilsTrajectory):
    """Stops the joints of another arm."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        """Return it for other names."""
        return {**good, 'joint_names': tuple(f'other_{name}' for name in good['joint_names'])}


class OneJoint(SpoilsTrajectory):
    """Stops the first joint only."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        """Return it for one joint."""
        point = good['points'][0]
        return {'joint_names': good['joint_names'][:1], 'points': ({
            **point, 'positions': point['positions'][:1], 'velocities': (0.0,)},)}


class InHalfAMinute(SpoilsTrajectory):
    """Asks the arm to be where it is now, in 30 s: it goes on, turns, and comes back."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        """Return it due much later."""
        return {**good, 'points': ({**good['points'][0], 'time_from_start': _due(_FAR_S)},)}


class StartsLater(SpoilsTrajectory):
    """Stamps its stop 10 s ahead."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        """Return it with a start in the future."""
        return {**good, 'header': {'stamp': _stamp(now_ns + _AHEAD_NS), 'frame_id': ''}}


class EndsMoving(SpoilsTrajectory):
    """Lets its stop end at a small speed, which is rejected."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        """Return it with a velocity at the end."""
        return {**good, 'points': ({**good['points'][0], 'velocities': (
            _CREEP,) * len(good['joint_names'])},)}


class TimesFallBack(SpoilsTrajectory):
    """Stops by two points that are due at the same time, which is rejected."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        """Return its point twice."""
        return {**good, 'points': good['points'] * 2}


class NamesTwice(SpoilsTrajectory):
    """Names its first joint twice, and its second not at all."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        """Return it with a name instead of another."""
        names = good['joint_names']
        return {**good, 'joint_names': (names[0], names[0], *names[2:])}


class NoPositions(SpoilsTrajectory):
    """Stops by velocities of 0 without positions, which is rejected."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        """Return it without positions."""
        return {**good, 'points': ({**good['points'][0], 'positions': ()},)}


class PastTrajectory(SpoilsTrajectory):
    """Stamps its stop so that it has ended by now, which is rejected."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        """Return it with a start long ago."""
        return {**good, 'header': {'stamp': _stamp(now_ns - _OLD_NS), 'frame_id': ''}}


class ShortArray(SpoilsStop):
    """Stops by an array of one number for all joints, which is an error."""

    def stop(self, command: Command, observation: Observation) -> Command | Message:
        """Return zeros, and not as many as there are joints."""
        if not self.context.interface.endswith('/Float64MultiArray'):
            return command
        return Message(type=self.context.interface, data={'data': (0.0,) * self._count})

    @property
    def _count(self) -> int:
        return 1


class LongArray(ShortArray):
    """Stops by an array with a number too many, which is an error."""

    @property
    def _count(self) -> int:
        return len(self.context.robot.joints) + 1


class StaleStamp(SpoilsStop):
    """Stamps its stop with a time 2 s ago, so that it is ignored."""

    def stop(self, command: Command, observation: Observation) -> Command | Message:
        """Return a stop that is too old to be taken."""
        interface, now_ns = self.context.interface, _now_ns(observation)
        if not interface.endswith('/TwistStamped') or not now_ns:
            return command
        message = command_message(interface, command, (), {})
        return message.stamped(now_ns - _OLD_NS)


class NotANumberStop(SpoilsStop):
    """Commands NaN instead of a stop, and numbers again when it moves on."""

    def stop(self, command: Command, observation: Observation) -> Command | Message:
        """Return no number."""
        return Command(velocity=(math.nan,) * len(command.velocity))


def _now_ns(observation: Observation) -> int:
    """Return the time on the clock of the header stamps, 0 if no input has one."""
    for reading in observation.readings.values():
        if reading.stamp_age_ns is not None:
            stamp = reading.message.data['header']['stamp']
            return int(stamp['sec']) * _NS + int(stamp['nanosec']) + reading.stamp_age_ns
    return 0


def _stamp(t_ns: int) -> dict[str, int]:
    return dict(zip(('sec', 'nanosec'), divmod(t_ns, _NS), strict=True))


def _due(seconds: float) -> dict[str, int]:
    return _stamp(round(seconds * _NS))
