# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A base that drives on the floor."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
import re
from typing import Any

from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.driver import BASE_AXES
from safety_scenarios.scenario.message import Command
from safety_scenarios.scenario.robot_kind import AxisSignals, RobotKind, SpeedBound
from safety_scenarios.standards.dynamics import GRAVITY

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
        """Return its axes, if a simulator reports that it drives or turns."""
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
