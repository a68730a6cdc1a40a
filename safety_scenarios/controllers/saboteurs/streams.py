# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Saboteurs whose decisions are right, and whose command stream or wiring is not.

Each is the reference but for one fault of its numbers, its rhythm or its messages.
"""

from collections.abc import Mapping
import math
import random

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
        """Return NaN in every component, for good."""
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
        """Return too fast a motion for any motion."""
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
        """Return nothing in a gap after each 2 s."""
        beat_ns = self.moving_ns(observation) % (_BETWEEN_GAPS_NS + _GAP_NS)
        return None if beat_ns >= _BETWEEN_GAPS_NS else command


class Flood(AsReference):
    """Commands 250 times a second, as only arms may be commanded."""

    @property
    def period_ns(self) -> int:
        """4 ms, whatever the settings say."""
        return _FLOOD_PERIOD_NS


class WrongJoint(AsReference):
    """Names joints that its robot does not have, where commands name joints."""

    def spoil(self, command: Command, observation: Observation) -> Command | Message:
        """Return the command for other joints."""
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
        """Return the other topic, with the interface of the commands."""
        return {f'{self.context.topic}{_BESIDE}': self.context.interface}

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return the reference's command, and remember whether it drove on at cruise speed."""
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
