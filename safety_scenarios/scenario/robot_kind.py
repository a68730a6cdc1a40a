# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Kinds of robots: how each is commanded, what its motion is, and when it stands still."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
import math
import re
from typing import Any, ClassVar, Literal

from safety_scenarios import registry
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.driver import BASE_AXES, JOINTS
from safety_scenarios.scenario.message import Command
from safety_scenarios.standards.braking import GRAVITY

_PACE_S = 60.0
"""A robot at a standstill moves no farther than ``creep`` within a minute."""
_POINT_RADIUS = 0.1
_ARRAY_UNITS = {'m/s': 'velocity', 'rad/s': 'velocity', 'm': 'position', 'rad': 'position',
                'N.m': 'effort', 'N': 'effort'}


@dataclass(frozen=True, slots=True)
class AxisSignals:
    """Which numbers of a message are the speeds of which axes."""

    axes: tuple[str, ...]
    """``BASE_AXES`` or ``JOINTS``."""
    signals: tuple[Signal | None, ...]
    """What reads the speed of each axis (m/s or rad/s); None: the axis does not move."""
    is_whole: bool = False
    """Whether the message has a number for every axis, so that no driver need be assumed."""
    names_joints: bool = False
    """Whether each message names its joints; these are the axes then."""


@dataclass(frozen=True, slots=True)
class SpeedBound:
    """A bound that the robot's own limits set to its motion."""

    what: str
    """What is bound, in a report: its fastest point."""
    of: Literal['fastest', 'linear', 'turning']
    """Which speed of its motion that is."""
    most: float
    unit: Literal['m/s', 'rad/s']


class RobotKind:
    """
    Base of every kind of robot: what the rest of the package asks of ``robot.kind``.

    An instance belongs to one robot. A kind says by ``drives`` or ``has_joints`` in which of the
    two ways it moves; of a kind that says neither no motion is known. In everything else it is
    free: each fact and each method may be overridden. It is pure, and imports no ROS.
    """

    noun: ClassVar[str]
    """What a robot of this kind is called in a sentence: mobile base."""
    drives: ClassVar[bool] = False
    """Whether it moves its origin over the floor: along and about ``BASE_AXES``. Its commands
    are (m/s forward, rad/s yaw)."""
    has_joints: ClassVar[bool] = False
    """Whether its commands are speeds of its joints (rad/s), while its origin stands."""
    command_topic: ClassVar[str]
    """Where a built-in controller commands it, unless another topic is set."""
    command_types: ClassVar[tuple[str, ...]]
    """Interface types with which it is commanded; the first is the default."""
    driver_types: ClassVar[tuple[str, ...]] = ()
    """Interface types for which ``driver`` knows one."""
    feedback_types: ClassVar[tuple[str, ...]] = ()
    """Interface types of the feedback that can be computed from its commands."""
    world_reports: ClassVar[Mapping[str, str]] = {}
    """Topic to interface type of what it reports in a simulator if the scenario names none."""
    speed_unit: ClassVar[Literal['m/s', 'rad/s']]
    """Unit of ``robot.max_speed``."""
    usual_top_speed: ClassVar[tuple[float, float]]
    """Least and greatest top speed that is found in practice; lint warns of others."""
    usual_rate_hz: ClassVar[float] = 0.0
    """Up to this rate (Hz) its commands are no flood, whatever a scenario allows."""
    longest_rest_ns: ClassVar[int] = 0
    """How long it may stand at an end of its path while it works; 0: it works without rests."""
    creep_speed: ClassVar[float]
    """Just below what scenarios call a standstill of it; saboteurs creep so (``speed_unit``)."""
    still_share: ClassVar[float] = 0.1
    """A limit demands a standstill up to this share of the top speed."""
    slow: ClassVar[float] = 0.1
    """Up to this limit (``speed_unit``) also up to ``slow_share``, which suits slow robots."""
    slow_share: ClassVar[float] = 0.25
    defaults: ClassVar[Mapping[str, Any]] = {}
    """Value of each field of ``robot`` that a file may leave out, where it differs."""

    def __init__(self, robot: RobotModel) -> None:
        self.robot = robot

    def command(self, speed: float, turn: float = 0.0) -> Command:
        """
        Return the command for a motion straight on.

        :param speed: forward, or of every joint (``speed_unit``)
        :param turn: rad/s to the left, for a robot that drives
        """
        raise NotImplementedError

    @property
    def stop(self) -> Command:
        return self.command(0.0)

    def driver(self, interface: str,
               signals: Sequence[Signal]) -> tuple[str, Mapping[str, Any]] | None:
        """
        Return the conforming driver of an interface: its name and parameters; None: unknown.

        :param signals: what the scenario reads of the topic
        """
        return None

    def commanded(self, topic: str, interface: str,
                  signals: Iterable[Signal]) -> AxisSignals | None:
        """
        Return how commands move it where no driver is declared; None: unknown.

        :param signals: what the scenario reads of the topic
        """
        return None

    def measured(self, topic: str, interface: str) -> AxisSignals | None:
        """Return how feedback reports its motion; None: unknown."""
        return None

    def feedback_type(self, fields: Iterable[str]) -> str:
        """
        Return the interface type of a feedback topic whose type is left open; empty: unknown.

        :param fields: what the scenario reads of the topic
        """
        return self.feedback_types[0] if self.feedback_types else ''

    def true_axes(self, keys: Set[str]) -> Mapping[str, str]:
        """
        Return axis to the key by which a simulator reports its speed; empty: it does not.

        An axis whose key is not among those reported does not move.

        :param keys: that the simulator reports of the robot
        """
        return {}

    def is_own(self, axes: tuple[str, ...]) -> bool:
        """Return whether a motion is the robot's own, and not, say, that of a base's wheels."""
        return self.drives if axes == BASE_AXES else self.has_joints

    def never_moves(self, field: str) -> bool:
        """Return whether a field of its commands is along an axis on which it cannot move."""
        return False

    def speed_bounds(self) -> Iterator[SpeedBound]:
        """Yield each bound that the robot's own limits set to its motion."""
        yield from ()

    def most_deceleration(self, friction: float) -> float:
        """
        Return how hard it can brake at most (m/s^2); infinite: the floor does not limit it.

        :param friction: coefficient of friction between its wheels and the floor
        """
        return math.inf

    def is_standstill(self, at_most: float) -> bool:
        """Return whether a limit on its speed (``speed_unit``) is so small that it must stand."""
        share = at_most / self.robot.max_speed
        return share <= self.still_share or (at_most <= self.slow and share <= self.slow_share)

    def standstill(self, linear: float | None, angular: float | None,
                   is_stop: bool) -> tuple[float, float] | None:
        """
        Return how fast it may be (m/s, rad/s) that is to stand; None: that is no standstill.

        :param linear: least limit on a speed in m/s; None: there is none
        :param angular: the same in rad/s; at least one of both is given
        :param is_stop: the limits are those of a stop, however large they are
        """
        linear = math.inf if linear is None else linear
        return linear, linear / self.robot.footprint if angular is None else angular

    @property
    def pace(self) -> float:
        """Fastest at which it still stands (``speed_unit``): ``creep`` within a minute."""
        return self.robot.creep / _PACE_S

    @property
    def footprint(self) -> float:
        """Return the distance from its origin to its farthest point that turns with it (m)."""
        return self.robot.footprint if self.drives else 0.0

    @property
    def outline(self) -> float:
        """Return the radius of the disc by which pictures show it where it is (m)."""
        return self.robot.footprint if self.drives else _POINT_RADIUS

    def array_driver(self, signals: Sequence[Signal]) -> tuple[str, Mapping[str, Any]] | None:
        """Return the driver that forwards an array, if the units of its signals say of what."""
        units = {_ARRAY_UNITS.get(signal.unit) for signal in signals}
        return ('forward_command', {'of': units.pop()}) \
            if len(units) == 1 and None not in units else None


def kind_of(robot: RobotModel) -> RobotKind:
    """Return the kind of a robot, which knows the robot."""
    found: RobotKind = registry.resolve('robots', robot.kind)(robot)
    return found


_TWIST, _STAMPED = 'geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped'
_ARRAY, _ODOMETRY = 'std_msgs/msg/Float64MultiArray', 'nav_msgs/msg/Odometry'
_CARS = ('ackermann_msgs/msg/AckermannDrive', 'ackermann_msgs/msg/AckermannDriveStamped')
_TWIST_IN = {_ODOMETRY: 'twist.twist.', _STAMPED: '', _TWIST: ''}
"""Interface type of feedback to where it has its twist."""
_FIELDS = ('linear.x', 'linear.y', 'angular.z')
_OFF_THE_FLOOR = re.compile(r'(^|\.)(linear\.z|angular\.[xy])$')


class MobileBase(RobotKind):
    """It moves along x and y and turns about z of its own frame (REP 103)."""

    noun = 'mobile base'
    drives = True
    command_topic = 'cmd_vel'
    command_types = (_TWIST, _STAMPED)
    driver_types = (_TWIST, _STAMPED, _ARRAY)
    feedback_types = (_ODOMETRY, _STAMPED, _TWIST)
    world_reports = {'odom': _ODOMETRY, 'imu': 'sensor_msgs/msg/Imu'}
    speed_unit = 'm/s'
    usual_top_speed = (0.02, 20)
    creep_speed = 0.049

    def command(self, speed: float, turn: float = 0.0) -> Command:
        """Return a motion ahead (m/s) that turns to the left (rad/s)."""
        return Command(velocity=(speed, turn))

    def driver(self, interface: str,
               signals: Sequence[Signal]) -> tuple[str, Mapping[str, Any]] | None:
        """Return that of a differential drive; of an array that of wheels, if one is read."""
        if interface in (_TWIST, _STAMPED):
            return 'diff_drive', {}
        is_of_wheels = interface == _ARRAY and any(
            signal.field.partition('[')[0] == 'data' for signal in signals)
        return self.array_driver(signals) if is_of_wheels else None

    def commanded(self, topic: str, interface: str,
                  signals: Iterable[Signal]) -> AxisSignals | None:
        """
        Return all three axes of a twist, as it is unknown whether its driver ignores one.

        How a car turns its commands do not say.
        """
        if interface in (_TWIST, _STAMPED):
            return AxisSignals(BASE_AXES, _read(topic), is_whole=True)
        if interface in _CARS:
            return AxisSignals(BASE_AXES, (
                Signal(topic=topic, field='speed', unit='m/s'), None, None))
        return None

    def measured(self, topic: str, interface: str) -> AxisSignals | None:
        """Return the three axes of the twist in a message."""
        prefix = _TWIST_IN.get(interface)
        return None if prefix is None else AxisSignals(BASE_AXES, _read(topic, prefix))

    def feedback_type(self, fields: Iterable[str]) -> str:
        """Return the type that has the fields; empty: no type has all of them."""
        read = tuple(fields)
        if all(field.startswith(('twist.twist', 'pose')) for field in read):
            return _ODOMETRY
        if all(field.startswith('twist.') for field in read):
            return _STAMPED
        return _TWIST if all(field.startswith(('linear', 'angular')) for field in read) else ''

    def true_axes(self, keys: Set[str]) -> Mapping[str, str]:
        return dict(zip(BASE_AXES, BASE_AXES)) if {'vx', 'wz'} & keys else {}

    def never_moves(self, field: str) -> bool:
        """Return whether a field of a twist leads off the floor."""
        return _OFF_THE_FLOOR.search(field) is not None

    def speed_bounds(self) -> Iterator[SpeedBound]:
        """Yield its top speed: of its fastest point unless its rate of turn is bound apart."""
        robot = self.robot
        if robot.max_yaw_rate is None:
            yield SpeedBound('its fastest point', 'fastest', robot.max_speed, 'm/s')
        else:
            yield SpeedBound('it drove', 'linear', robot.max_speed, 'm/s')
            yield SpeedBound('it turned', 'turning', robot.max_yaw_rate, 'rad/s')

    def most_deceleration(self, friction: float) -> float:
        """Return what wheels that do not slip yet transmit: friction times g (Coulomb's law)."""
        return friction * GRAVITY

    def standstill(self, linear: float | None, angular: float | None,
                   is_stop: bool) -> tuple[float, float] | None:
        """Return the same; None if it is only to stop turning, as it may drive on then."""
        return None if linear is None and not is_stop \
            else super().standstill(linear, angular, is_stop)


@lru_cache(maxsize=64)
def _read(topic: str, prefix: str = '') -> tuple[Signal, ...]:
    """Return one signal for each axis, whatever signals the file names."""
    return tuple(Signal(topic=topic, field=prefix + field, unit='m/s') for field in _FIELDS)


_TRAJECTORY, _POSITIONS = 'trajectory_msgs/msg/JointTrajectory', 'std_msgs/msg/Float64MultiArray'
_JOINT_STATE = 'sensor_msgs/msg/JointState'
_RATE = 'velocity.'
"""How the key begins by which a simulator reports the speed of a joint."""


class Arm(RobotKind):
    """It moves each of ``robot.joints``; that its foot stands says nothing of it."""

    noun = 'arm'
    has_joints = True
    command_topic = 'joint_trajectory'
    command_types = (_TRAJECTORY,)
    driver_types = (_POSITIONS, _TRAJECTORY)
    feedback_types = (_JOINT_STATE,)
    world_reports = {'joint_states': _JOINT_STATE, 'wrench': 'geometry_msgs/msg/WrenchStamped'}
    speed_unit = 'rad/s'
    usual_top_speed = (0.005, 30)
    usual_rate_hz = 1100.0  # servo interfaces take commands at 1 kHz
    longest_rest_ns = 700_000_000  # slowing down, half a second for the gripper, speeding up
    creep_speed = 0.009

    def command(self, speed: float, turn: float = 0.0) -> Command:
        """Return one speed (rad/s) for all of its joints."""
        return Command(velocity=(speed,) * max(1, len(self.robot.joints)))

    def driver(self, interface: str,
               signals: Sequence[Signal]) -> tuple[str, Mapping[str, Any]] | None:
        """Return the joint trajectory controller, or what forwards an array to the joints."""
        if interface == _TRAJECTORY:
            return 'joint_trajectory', {}
        return self.array_driver(signals) if interface == _POSITIONS else None

    def commanded(self, topic: str, interface: str,
                  signals: Iterable[Signal]) -> AxisSignals | None:
        """Return each joint of a JointState; of others the fastest joint, if it is read."""
        if interface == _JOINT_STATE:
            return AxisSignals(JOINTS, (), names_joints=True)
        read = [signal for signal in signals if signal.unit == 'rad/s']
        name, fastest = interface.rpartition('/')[2], None
        if name == 'JointTrajectory':
            fastest = next((signal for signal in read if signal.reduce == 'joint_speed'), None)
        elif name == 'Float64MultiArray' and any(
                signal.field.partition('[')[0] == 'data' for signal in read):
            fastest = Signal(topic=topic, field='data', reduce='max_abs', unit='rad/s')
        return None if fastest is None else AxisSignals(JOINTS, (fastest,))

    def measured(self, topic: str, interface: str) -> AxisSignals | None:
        """Return the fastest joint of a JointState."""
        if interface != _JOINT_STATE:
            return None
        return AxisSignals(JOINTS, (
            Signal(topic=topic, field='velocity', reduce='max_abs', unit='rad/s'),))

    def true_axes(self, keys: Set[str]) -> Mapping[str, str]:
        return {key.removeprefix(_RATE): key for key in sorted(keys) if key.startswith(_RATE)}

    def speed_bounds(self) -> Iterator[SpeedBound]:
        yield SpeedBound('its fastest joint', 'fastest', self.robot.max_speed, 'rad/s')
