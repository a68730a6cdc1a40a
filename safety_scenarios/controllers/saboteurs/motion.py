# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Saboteurs whose numbers look right and whose motion is not.

Each is the reference but for one way to move where it should stand, or to move wrongly. Those
that say so do it with a base only, or with an arm only; with the other they are the reference.
"""

from collections.abc import Iterator
import math
from typing import ClassVar

from pydantic import PrivateAttr
from safety_scenarios.controllers.rule_based import mounted_at
from safety_scenarios.controllers.saboteurs.reactions import AsReference
from safety_scenarios.scenario.interfaces import command_message
from safety_scenarios.scenario.message import Command, Message, Observation
from safety_scenarios.scenario.robot_kind import RobotKind

_SPIN = 3.0
"""rad/s on the spot: the rim of a small base then goes as fast as a person walks."""
_WHIRL = 20.0
"""rad/s while it drives."""
_SEEP = 0.005
"""m/s or rad/s, and for ever: a tenth of what scenarios call a standstill."""
_SLIDE = 0.3
"""m/s to the left."""
_PLATEAU = 0.02
"""m/s or rad/s at which a ramp ends that should end at rest."""
_SHARE_OF_RAMP = 1 / 3
"""Of the declared deceleration."""
_GENTLE = 0.2
"""m/s^2 or rad/s^2, where none is declared."""
_HOLDS_NS = 300_000_000
"""Just as long as a reaction must hold."""
_TURN = 0.5
"""rad/s at which it turns after it has stopped."""
_BEAT_NS, _PULSE_NS, _TURN_BACK_NS = 500_000_000, 60_000_000, 250_000_000
"""How often it moves for a moment while it should stand, and for how long."""
_CIRCLE = 2.5
"""rad/s at half speed: a circle of a hand's breadth."""
_RACES = 4.0
"""Times its top speed."""
_SLOWLY, _FAST_NS = 0.4, 300_000_000
"""Share of its top speed at which it works, and how long it drives fast."""
_NEAR_M, _ASIDE, _PASSES_M = 4.0, 0.3, 0.06
"""It turns to whom it sees so near and so far beside its path (rad), to pass so close by."""
_BODY_M = 0.25
"""Radius of whom a tracker shows."""
_TURNS, _ASTRAY, _SLACK = 1.0, 1.3, 0.9
"""Fastest turn (rad/s), most by which it leaves its heading (rad), and share of its top speed."""
_EASY = 0.8
"""Share of the reference's speed at which a good controller drives as well."""
_WEAVE, _WEAVE_NS = 0.04, 4_000_000_000
"""rad/s to either side, in four seconds: little enough to end at once with a stop."""


class Moves(AsReference):
    """Base of them: ``stand`` replaces a standstill after motion, ``drive`` a motion."""

    _stood_ns: int | None = PrivateAttr(default=None)

    def spoil(self, command: Command, observation: Observation) -> Command | Message:
        """Return what becomes of a motion, or of a standstill that follows one."""
        if any(command.velocity):
            self._stood_ns = None
            return self.drive(command, observation)
        if self._moved_ns is None:
            return command
        if self._stood_ns is None:
            self._stood_ns = observation.t_ns
        return self.stand(command, observation)

    def drive(self, command: Command, observation: Observation) -> Command | Message:
        """Return a motion, or something worse."""
        return command

    def stand(self, command: Command, observation: Observation) -> Command | Message:
        """Return a standstill, or something worse."""
        return command

    def stood_ns(self, observation: Observation) -> int:
        """Return for how long the reference has stood."""
        return 0 if self._stood_ns is None else observation.t_ns - self._stood_ns

    @property
    def kind(self) -> RobotKind:
        """Return the kind of its robot."""
        return self.context.robot_kind

    @property
    def drives(self) -> bool:
        """Whether its robot drives, so that it can turn, reverse and slide."""
        return self.kind.drives

    def at(self, speed: float, turn: float = 0.0) -> Command:
        """Return a speed of a robot that drives (m/s, rad/s), or one for all of its joints."""
        return self.kind.command(speed, turn)

    def sideways(self, forward: float, left: float) -> Command | Message:
        """Return a motion of a base that goes sideways as well, if its interface can say so."""
        interface = self.context.interface
        message = command_message(interface, Command(velocity=(forward, 0.0)), (), {})
        if interface.endswith('/Twist'):
            linear = {**message.data['linear'], 'y': left}
            return Message(type=interface, data={**message.data, 'linear': linear})
        if interface.endswith('/TwistStamped'):
            twist = message.data['twist']
            linear = {**twist['linear'], 'y': left}
            return Message(type=interface, data={**message.data,
                                                 'twist': {**twist, 'linear': linear}})
        return Command(velocity=(forward, 0.0))

    def with_joints(self, command: Command, moving: slice, speed: float) -> Command:
        """Return a standstill in which some joints move; a robot without joints stands."""
        if not self.kind.has_joints:
            return command
        velocity = list(command.velocity)
        for joint in range(len(velocity))[moving]:
            velocity[joint] = speed
        return Command(velocity=tuple(velocity))


class BrakesLate(AsReference):
    """
    Commands what the reference does, on a robot that brakes when the budget for it is over.

    It shows where the harness works out what the robot reports; on another robot, and in a
    scenario that listens to no feedback, it is the reference.
    """

    simulated_brake_lag: ClassVar[float] = 1.1


class SpinsOnTheSpot(Moves):
    """Spins where it should stand: its linear speed is 0. Bases."""

    def stand(self, command: Command, observation: Observation) -> Command:
        return self.at(0.0, _SPIN) if self.drives else command


class SpinsWhileDriving(Moves):
    """Spins at 20 rad/s while it drives. Bases."""

    def drive(self, command: Command, observation: Observation) -> Command:
        return self.at(command.velocity[0], _WHIRL) if self.drives else command


class DrivesBackwards(Moves):
    """Does all its driving in reverse, where nothing looks. Bases."""

    def drive(self, command: Command, observation: Observation) -> Command:
        return self.at(-command.velocity[0]) if self.drives else command


class BacksOff(Moves):
    """Drives blindly in reverse instead of standing. Bases."""

    def stand(self, command: Command, observation: Observation) -> Command:
        return self.at_share(-self.cruise) if self.drives else command


class DrivesSideways(Moves):
    """Does all its driving to the left, out of its lane. Bases."""

    def drive(self, command: Command, observation: Observation) -> Command | Message:
        return self.sideways(0.0, command.velocity[0]) if self.drives else command


class SlidesSideways(Moves):
    """Slides to the left where it should stand. Bases."""

    def stand(self, command: Command, observation: Observation) -> Command | Message:
        return self.sideways(0.0, _SLIDE) if self.drives else command


class CreepsBelowTheLimit(Moves):
    """Creeps on for ever, just below what counts as a standstill."""

    def stand(self, command: Command, observation: Observation) -> Command:
        return self.at(self.kind.creep_speed)


class CreepsBackwards(Moves):
    """Creeps back for ever, just below what counts as a standstill. Bases."""

    def stand(self, command: Command, observation: Observation) -> Command:
        return self.at(-self.kind.creep_speed) if self.drives else command


class CreepsRound(Moves):
    """Turns on for ever, just below what counts as a standstill. Bases."""

    def stand(self, command: Command, observation: Observation) -> Command:
        return self.at(0.0, self.kind.creep_speed) if self.drives else command


class CreepsBelowThreshold(Moves):
    """Goes on at 5 mm/s for ever."""

    def stand(self, command: Command, observation: Observation) -> Command:
        return self.at(_SEEP)


class Ramps(Moves):
    """Base of those who slow down in a ramp instead of at once."""

    ends_at: ClassVar[float] = 0.0
    """Speed at which the ramp ends (m/s or rad/s)."""
    _speed: float = PrivateAttr(default=0.0)
    _before_ns: int = PrivateAttr(default=0)

    def rate(self) -> float | None:
        """Return its deceleration (m/s^2 or rad/s^2); None: at once."""
        return self.context.robot.deceleration()

    def spoil(self, command: Command, observation: Observation) -> Command | Message:
        """Return a motion that never slows down faster than at the rate."""
        wanted, rate = command.velocity[0], self.rate()
        passed_s = (observation.t_ns - self._before_ns) / 1e9
        self._before_ns = observation.t_ns
        if rate is None or wanted >= self._speed:
            self._speed = wanted
            return command
        self._speed = max(wanted, self._speed - rate * passed_s)
        if self._speed < self.ends_at:
            self._speed = self.ends_at
        return self.at(self._speed)


class RampsTooSlowly(Ramps):
    """Slows down in a ramp, three times as long as its robot declares."""

    def rate(self) -> float:
        declared = self.context.robot.deceleration()
        return _GENTLE if declared is None else declared * _SHARE_OF_RAMP


class RampsToAPlateau(Ramps):
    """Brakes as it should where it should stop, and then goes on just above zero."""

    ends_at = _PLATEAU

    def rate(self) -> float:
        return self.context.robot.deceleration() or _GENTLE

    def spoil(self, command: Command, observation: Observation) -> Command | Message:
        if any(command.velocity) or self._moved_ns is None:
            self._speed, self._before_ns = command.velocity[0], observation.t_ns
            return command
        return super().spoil(command, observation)


class StopsThenTurns(Moves):
    """Stops, and turns a little later; an arm moves its first joint."""

    def stand(self, command: Command, observation: Observation) -> Command:
        if self.stood_ns(observation) < _HOLDS_NS:
            return command
        return self.at(0.0, _TURN) if self.drives \
            else self.with_joints(command, slice(0, 1), _TURN)


class StopsWhileLookedAt(Moves):
    """Stops for as long as a reaction must hold, and drives on."""

    def stand(self, command: Command, observation: Observation) -> Command:
        return command if self.stood_ns(observation) < _HOLDS_NS else self.at_share(self.cruise)


class Pulses(Moves):
    """Stands, but for a moment of motion every half second."""

    def stand(self, command: Command, observation: Observation) -> Command:
        since_ns = self.stood_ns(observation)
        return self.at(_SLIDE) if since_ns >= _BEAT_NS \
            and since_ns % _BEAT_NS < _PULSE_NS else command


class Swings(Moves):
    """Swings to and fro where it should stand: the mean of its speed is 0."""

    _ahead: bool = PrivateAttr(default=False)

    def stand(self, command: Command, observation: Observation) -> Command:
        self._ahead = not self._ahead
        return self.at(_SLIDE if self._ahead else -_SLIDE)


class Trembles(Moves):
    """Swings to and fro below what counts as a standstill."""

    _ahead: bool = PrivateAttr(default=False)

    def stand(self, command: Command, observation: Observation) -> Command:
        self._ahead = not self._ahead
        speed = self.kind.creep_speed
        return self.at(speed if self._ahead else -speed)


class OneJointContinues(Moves):
    """Stops all joints but the last. Arms."""

    def stand(self, command: Command, observation: Observation) -> Command:
        return self.with_joints(command, slice(-1, None), self.context.robot.max_speed / 2)


class OneJointCreeps(Moves):
    """Stops all joints but the last, which creeps. Arms."""

    def stand(self, command: Command, observation: Observation) -> Command:
        return self.with_joints(command, slice(-1, None), self.kind.creep_speed)


class OnlyOneJointStops(Moves):
    """Stops its first joint, and no other. Arms."""

    def stand(self, command: Command, observation: Observation) -> Command:
        return self.with_joints(command, slice(1, None), self.context.robot.max_speed / 2)


class JointsTakeTurns(Moves):
    """Where it should stand one joint after the other swings. Arms."""

    def stand(self, command: Command, observation: Observation) -> Command:
        if not self.kind.has_joints:
            return command
        joint = observation.t_ns // _PULSE_NS % len(command.velocity)
        return self.with_joints(command, slice(joint, joint + 1), self.context.robot.max_speed / 2)


class Races(Moves):
    """Drives at four times its top speed, and stops as it should."""

    def drive(self, command: Command, observation: Observation) -> Command:
        return self.at_share(_RACES)


class Circles(Moves):
    """Drives in a small circle and so gets nowhere. Bases."""

    def drive(self, command: Command, observation: Observation) -> Command:
        return self.at(command.velocity[0], _CIRCLE) if self.drives else command


class CirclesAfterwards(Circles):
    """Drives in a small circle once it has stood, and never works again. Bases."""

    _has_stood: bool = PrivateAttr(default=False)

    def drive(self, command: Command, observation: Observation) -> Command:
        return super().drive(command, observation) if self._has_stood else command

    def stand(self, command: Command, observation: Observation) -> Command:
        self._has_stood = True
        return command


class AcceleratesAtHazard(Moves):
    """Drives slowly; where it should stop it drives at top speed first, and then stops in time."""

    def drive(self, command: Command, observation: Observation) -> Command:
        return self.at_share(_SLOWLY)

    def stand(self, command: Command, observation: Observation) -> Command:
        return command if self.stood_ns(observation) > _FAST_NS else self.at_share(1.0)


class ToAndFro(Moves):
    """Drives ahead and back in turn, a quarter of a second each. Bases."""

    def drive(self, command: Command, observation: Observation) -> Command:
        back = self.moving_ns(observation) // _TURN_BACK_NS % 2
        return self.at(-command.velocity[0]) if self.drives and back else command


class SwervesAtPeople(AsReference):
    """Turns to whom it sees beside its path, and passes by a hand's breadth at speed. Bases."""

    _astray: float = PrivateAttr(default=0.0)
    """How far it has turned from its heading (rad)."""
    _swerves: bool = PrivateAttr(default=False)
    _before_ns: int | None = PrivateAttr(default=None)

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return the motion with a turn, also where the reference stops for whom it turned to."""
        passed_s = (observation.t_ns - (self._before_ns or observation.t_ns)) / 1e9
        self._before_ns = observation.t_ns
        if not self.context.robot_kind.drives or self._moved_ns is None:
            return command
        x, y = min(self._nearest_points(observation), key=lambda point: math.hypot(*point),
                   default=(math.inf, 0.0))
        away, bearing = math.hypot(x, y), math.atan2(y, x)
        self._swerves = away < _NEAR_M and (self._swerves or (
            x > 0 and abs(bearing) > _ASIDE and any(command.velocity)))
        if not self._swerves and not any(command.velocity):
            return command
        wanted = -self._astray
        if self._swerves and x > -_BODY_M:
            close = self.context.robot.footprint + _PASSES_M
            wanted = bearing - math.copysign(math.asin(min(1.0, close / away)), bearing)
        turn = max(-_TURNS, min(_TURNS, 2 * wanted))
        if abs(self._astray + turn * passed_s) > _ASTRAY:
            turn = 0.0
        self._astray += turn * passed_s
        top = self.context.robot.max_speed
        return self.context.robot_kind.command(
            min(self.cruise, _SLACK - abs(turn) * self.context.robot.footprint / top) * top, turn)

    def _nearest_points(self, observation: Observation) -> Iterator[tuple[float, float]]:
        """Yield the nearest points of people and things, as seen from the robot (m)."""
        for reading in observation.latest('/PoseStamped'):
            x, y = (reading.message.at('position')[axis] for axis in 'xy')
            share = max(0.0, 1.0 - _BODY_M / max(math.hypot(x, y), _BODY_M))
            yield x * share, y * share
        for reading in observation.latest('/LaserScan'):
            scan = reading.message
            place = mounted_at(scan, observation.frames)
            if place is None:
                continue
            for ray, distance in enumerate(scan.at('ranges')):
                if scan.at('range_min') <= distance < _NEAR_M:
                    angle = place.yaw + scan.at('angle_min') + ray * scan.at('angle_increment')
                    yield (place.x + distance * math.cos(angle),
                           place.y + distance * math.sin(angle))


class RampDown(Ramps):
    """
    Slows down at exactly the deceleration that its robot declares: a good controller.

    Where none is declared, and with an arm, it is the reference.
    """

    def rate(self) -> float | None:
        return self.context.robot.deceleration() if self.drives else None


class WeavesSlowly(Moves):
    """Drives slower than the reference, and weaves: a good controller as well."""

    def drive(self, command: Command, observation: Observation) -> Command:
        turn = _WEAVE * math.cos(2 * math.pi * self.moving_ns(observation) / _WEAVE_NS)
        return self.at(_EASY * command.velocity[0], turn)
