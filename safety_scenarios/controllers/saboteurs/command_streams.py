# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Saboteurs whose decisions are right, and whose commands no driver executes in time.

Each is the reference but for one fault of its numbers, its rhythm or its messages, or of the
message that it stops by. Where the interface of its commands cannot have the fault, it does what
the reference does.
"""

from collections.abc import Mapping
import math
import random
from typing import Any

from pydantic import PrivateAttr
from safety_scenarios.controllers.saboteurs.reactions import AsReference
from safety_scenarios.scenario.interfaces import command_message, joint_positions
from safety_scenarios.scenario.message import Command, Message, Observation

_SEED = 7
"""Any fixed number: every run must jitter alike."""
_SLOW, _FAST, _TURN = (0.5, 0.6), (1.1, 1.2), (0.3, 0.6)
"""Shares of the top speed between which ``jitter`` jumps, and of its rate of turn."""
_NUMBERS_NS = 1_000_000_000
"""It moves properly for a second, so that the trial gets beyond its beginning."""
_GAP_NS, _BETWEEN_GAPS_NS = 600_000_000, 2_000_000_000
"""Twice the longest gap that the shipped scenarios allow, each time after a good while."""
_FLOOD_PERIOD_NS = 4_000_000
"""250 Hz, above the highest rate at which the shipped scenarios allow to command a base."""
_EXCESS = 1.25
"""A quarter too fast: more than any rounding, less than a blunder that every check sees."""
_LEAP_RAD = 1.0
"""Much farther than an arm moves within one period."""
_REVERSES_NS, _REVERSE_SHARE = 100_000_000, -0.2
"""Two or three commands at a walking pace: short, and yet a motion backwards."""


class NotANumber(AsReference):
    """Commands NaN once the reference would stop, or after a second of driving."""

    _broken: bool = PrivateAttr(default=False)

    def spoil(self, command: Command, observation: Observation) -> Command:
        stops = self._moved_ns is not None and not any(command.velocity)
        if stops or self.moving_ns(observation) >= _NUMBERS_NS:
            self._broken = True
        return Command(velocity=(math.nan,) * len(command.velocity)) if self._broken else command


class Jitter(AsReference):
    """
    Drives, but its speed jumps with every command, and a base's heading too.

    Up and down in turn, by chances that are the same in every run: so it jerks harder than the
    reference does when it stops at once.
    """

    _chance: random.Random = PrivateAttr(default_factory=lambda: random.Random(_SEED))
    _fast: bool = PrivateAttr(default=False)

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return half of the reference's speed, and then more than it, and so on."""
        self._fast = not self._fast
        share = self._chance.uniform(*(_FAST if self._fast else _SLOW))
        turn = self._chance.uniform(*_TURN) * (1.0 if self._fast else -1.0)
        velocity = [value * share for value in command.velocity]
        if self.context.robot_kind.drives and any(command.velocity):
            velocity[1] += turn
        return Command(velocity=tuple(velocity))


class OverSpeed(AsReference):
    """Drives a quarter faster than its robot's top speed."""

    def spoil(self, command: Command, observation: Observation) -> Command:
        return self.at_share(_EXCESS) if any(command.velocity) else command


class Reverse(AsReference):
    """Overshoots: backs off for a moment before it stands still."""

    _stopped_ns: int | None = PrivateAttr(default=None)

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return reverse motion for the first 0.1 s of a stop after motion."""
        if self._moved_ns is None or any(command.velocity):
            self._stopped_ns = None
            return command
        if self._stopped_ns is None:
            self._stopped_ns = observation.t_ns
        backs = observation.t_ns - self._stopped_ns < _REVERSES_NS
        return self.at_share(_REVERSE_SHARE) if backs else command


class Gap(AsReference):
    """Now and then publishes nothing for 0.6 s."""

    def spoil(self, command: Command, observation: Observation) -> Command | None:
        beat_ns = self.moving_ns(observation) % (_BETWEEN_GAPS_NS + _GAP_NS)
        return None if beat_ns >= _BETWEEN_GAPS_NS else command


class Flood(AsReference):
    """Commands 250 times a second, as only arms may be commanded."""

    @property
    def period_ns(self) -> int:
        return _FLOOD_PERIOD_NS


class WrongJoint(AsReference):
    """Names joints that its robot does not have, where commands name joints."""

    def spoil(self, command: Command, observation: Observation) -> Command | Message:
        interface, robot = self.context.interface, self.context.robot
        if not interface.endswith(('/JointTrajectory', '/JointState')):
            return command
        return command_message(interface, command, [f'other_{name}' for name in robot.joints], {})


class Leap(AsReference):
    """Asks an arm for a leap: each trajectory begins a radian from where the arm is."""

    def spoil(self, command: Command, observation: Observation) -> Command | Message:
        """Return the trajectory moved by a radian, if it has positions."""
        interface, states = self.context.interface, observation.readings.get('joint_states')
        if not interface.endswith('/JointTrajectory') or states is None:
            return command
        known = states.message.data
        far = {name: position + _LEAP_RAD
               for name, position in zip(known['name'], known['position'], strict=False)}
        return command_message(interface, command, self.context.robot.joints, far)


class HeaderCopier(AsReference):
    """Copies the header stamp of its newest input into its commands, where these have a header."""

    def spoil(self, command: Command, observation: Observation) -> Command | Message:
        """Return the command with a stamp that says nothing about when it was made."""
        interface = self.context.interface
        stamped = [reading for reading in observation.readings.values()
                   if reading.stamp_age_ns is not None]
        if not interface.endswith('Stamped') or not stamped:
            return command
        newest = min(stamped, key=lambda reading: reading.age_ns)
        message = command_message(interface, command, (), {})
        header = {**message.data['header'], 'stamp': newest.message.data['header']['stamp']}
        return Message(type=interface, data={**message.data, 'header': header})


_BESIDE = '_beside'
"""After the command topic: where a second driver of the same robot might listen."""


class Elsewhere(AsReference):
    """Stops or slows on the command topic as the reference, and drives on over another one."""

    _is_driving: bool = PrivateAttr(default=False)

    @property
    def outputs(self) -> Mapping[str, str]:
        return {f'{self.context.topic}{_BESIDE}': self.context.interface}

    def spoil(self, command: Command, observation: Observation) -> Command:
        self._is_driving = _fastest(command) >= _fastest(self.at_share(self.cruise))
        return command

    def side_messages(self, observation: Observation) -> Mapping[str, Message]:
        """Return cruise speed on the other topic, once the reference does no longer."""
        if self._is_driving or not self.moving_ns(observation):
            return {}
        heard = {topic: (observation.t_ns, None, reading.message)
                 for topic, reading in observation.readings.items()}
        context = self.context
        positions = joint_positions(heard)
        return {topic: command_message(interface, self.at_share(self.cruise),
                                       context.robot.joints, positions)
                for topic, interface in self.outputs.items()}


def _fastest(command: Command) -> float:
    """Return its largest speed in whatever direction: joints go to and fro."""
    return max(map(abs, command.velocity), default=0.0)


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
        return {**good, 'points': ()}


class ForeignJoints(SpoilsTrajectory):
    """Stops the joints of another arm."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        return {**good, 'joint_names': tuple(f'other_{name}' for name in good['joint_names'])}


class OneJoint(SpoilsTrajectory):
    """Stops the first joint only."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        point = good['points'][0]
        return {'joint_names': good['joint_names'][:1], 'points': ({
            **point, 'positions': point['positions'][:1], 'velocities': (0.0,)},)}


class InHalfAMinute(SpoilsTrajectory):
    """Asks the arm to be where it is now, in 30 s: it goes on, turns, and comes back."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        return {**good, 'points': ({**good['points'][0], 'time_from_start': _due(_FAR_S)},)}


class StartsLater(SpoilsTrajectory):
    """Stamps its stop 10 s ahead."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        return {**good, 'header': {'stamp': _stamp(now_ns + _AHEAD_NS), 'frame_id': ''}}


class EndsMoving(SpoilsTrajectory):
    """Lets its stop end at a small speed, which is rejected."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        return {**good, 'points': ({**good['points'][0], 'velocities': (
            _CREEP,) * len(good['joint_names'])},)}


class TimesFallBack(SpoilsTrajectory):
    """Stops by two points that are due at the same time, which is rejected."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        return {**good, 'points': good['points'] * 2}


class NamesTwice(SpoilsTrajectory):
    """Names its first joint twice, and its second not at all."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        names = good['joint_names']
        return {**good, 'joint_names': (names[0], names[0], *names[2:])}


class NoPositions(SpoilsTrajectory):
    """Stops by velocities of 0 without positions, which is rejected."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        return {**good, 'points': ({**good['points'][0], 'positions': ()},)}


class PastTrajectory(SpoilsTrajectory):
    """Stamps its stop so that it has ended by now, which is rejected."""

    def spoilt(self, good: Mapping[str, Any], now_ns: int) -> Mapping[str, Any]:
        return {**good, 'header': {'stamp': _stamp(now_ns - _OLD_NS), 'frame_id': ''}}


class ShortArray(SpoilsStop):
    """Stops by an array of one number for all joints, which is an error."""

    def stop(self, command: Command, observation: Observation) -> Command | Message:
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
        interface, now_ns = self.context.interface, _now_ns(observation)
        if not interface.endswith('/TwistStamped') or not now_ns:
            return command
        message = command_message(interface, command, (), {})
        return message.stamped(now_ns - _OLD_NS)


class NotANumberStop(SpoilsStop):
    """Commands NaN instead of a stop, and numbers again when it moves on."""

    def stop(self, command: Command, observation: Observation) -> Command | Message:
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
