# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The motion that a record tells of: every axis of a base, every joint of an arm."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.judging.motion.joint_commands import joint_speeds
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.driver import BASE_AXES, Execution
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.record.executed_commands import driver_of
from safety_scenarios.trial.world.ground_truth import Clock

JOINTS = ('fastest joint',)
"""The one axis that is known of an arm whose commands no driver has executed."""
_TWISTS = ('geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped')
_CARS = ('ackermann_msgs/msg/AckermannDrive', 'ackermann_msgs/msg/AckermannDriveStamped')
_JOINT_STATE = 'sensor_msgs/msg/JointState'
_FIELDS = ('linear.x', 'linear.y', 'angular.z')
_BEYOND = 1e9
"""Faster than any robot (m/s, rad/s), and still a number that can be squared."""
Floats = NDArray[numpy.float64]


@dataclass(frozen=True, eq=False)
class Track:
    """
    How one topic moves the robot: set-points in order of time.

    NaN is unknown. Before the first set-point nothing moves; the last one holds to the end.
    """

    topic: str
    axes: tuple[str, ...]
    """``vx``, ``vy``, ``wz`` of a base (m/s, m/s, rad/s; REP 103), else joints (rad/s)."""
    times_ns: NDArray[numpy.int64]
    """Steady, shape (k,)."""
    velocity: Floats
    """Shape (k, axes)."""
    is_linear: bool
    """Between two set-points: the straight line; else the earlier one holds."""
    source: str
    """What it comes from, in words."""
    radius: float = 0.0
    """From a base's origin to its farthest point (m)."""
    is_executed: bool = False
    """Whether a driver that is known made it of the commands."""
    is_measured: bool = False
    """Whether the robot itself reported it."""
    is_told: bool = False
    """Whether the world of the link tells it: what the robot really does."""
    clock: Clock | None = None
    """The world's own time, by which ways are reckoned; None: the steady clock."""

    @property
    def is_base(self) -> bool:
        """Whether it is that of a mobile base."""
        return self.axes == BASE_AXES

    @property
    def unit(self) -> str:
        """Return the unit of ``fastest``."""
        return 'm/s' if self.is_base else 'rad/s'

    @cached_property
    def linear(self) -> Floats:
        """Return a base's speed over ground at each set-point, whatever its direction (m/s)."""
        return numpy.hypot(self.velocity[:, 0], self.velocity[:, 1])

    @cached_property
    def fastest(self) -> Floats:
        """Speed of a base's fastest point, |v| + |omega| r (m/s), or of the fastest joint."""
        if self.is_base:
            return self.linear + numpy.abs(self.velocity[:, 2]) * self.radius
        return numpy.asarray(numpy.abs(self.velocity).max(axis=1))

    def until(self, values: Floats) -> Floats:
        """Return what a value at each set-point has become when the next one comes."""
        return numpy.append(values[1:], values[-1:]) if self.is_linear else values

    def at(self, values: Floats, times_ns: NDArray[numpy.int64]) -> Floats:
        """Return a value just before each of some times; 0 before the first set-point."""
        place = self.times_ns.searchsorted(times_ns) - 1
        before = numpy.maximum(place, 0)
        found = values[before]
        if self.is_linear:
            after = numpy.minimum(before + 1, len(values) - 1)
            span = self.times_ns[after] - self.times_ns[before]
            share = (times_ns - self.times_ns[before]) / numpy.maximum(span, 1)
            found = found + (values[after] - found) * numpy.where(after > before, share, 0.0)
        return numpy.where(place < 0, 0.0, found)

    def way(self, values: Floats, from_ns: int, to_ns: int) -> float:
        """Return how far a speed leads in [``from_ns``, ``to_ns``]: its integral."""
        if to_ns <= from_ns or not len(values):
            return 0.0
        first = max(0, int(self.times_ns.searchsorted(from_ns, side='right')) - 1)
        last = int(self.times_ns.searchsorted(to_ns))
        if last <= first:
            return 0.0
        means = values[first:last]
        if self.is_linear:
            means = (means + self.until(values)[first:last]) / 2
        if not means.any():  # it stands, as it mostly does where this is asked
            return 0.0
        edges = numpy.empty(last - first + 1)
        edges[:-1] = self.times_ns[first:last] - from_ns
        edges[0], edges[-1] = max(edges[0], 0.0), to_ns - from_ns
        if self.clock is not None:
            edges = self.clock.at((edges + from_ns).astype(numpy.int64)).astype(float)
        return float(means @ (edges[1:] - edges[:-1])) / 1e9

    def most(self, values: Floats, from_ns: int, to_ns: int) -> tuple[float, int] | None:
        """Return the largest value in force in [``from_ns``, ``to_ns``] and since when (ns)."""
        first = max(0, int(self.times_ns.searchsorted(from_ns, side='right')) - 1)
        last = int(self.times_ns.searchsorted(to_ns, side='right'))
        known = values[first:last]
        if not len(known):
            return None
        place = int(known.argmax())  # NaN goes before all
        if numpy.isnan(known[place]):
            if numpy.isnan(known).all():
                return None
            place = int(numpy.nanargmax(known))
        return float(known[place]), max(from_ns, int(self.times_ns[first + place]))

    @cached_property
    def _is_finite(self) -> bool:
        return bool(numpy.isfinite(self.velocity).all())

    def known_until(self, from_ns: int, to_ns: int) -> int:
        """Return until when (ns) every axis is a number at every set-point in force in a time."""
        if self._is_finite:
            return to_ns
        first = max(0, int(self.times_ns.searchsorted(from_ns, side='right')) - 1)
        last = int(self.times_ns.searchsorted(to_ns, side='right'))
        known = numpy.isfinite(self.velocity[first:last]).all(axis=1)
        return to_ns if known.all() else \
            max(from_ns, int(self.times_ns[first + int(known.argmin())]))

    def is_known(self, from_ns: int, to_ns: int) -> bool:
        """Return whether every axis is a number at every set-point in force in a time."""
        return self.known_until(from_ns, to_ns) == to_ns


def numbers(velocity: Floats) -> Floats:
    """Return speeds with what is not finite as unknown, and what no robot can do within reach."""
    if bool((numpy.abs(velocity) < _BEYOND).all()):
        return velocity
    return numpy.where(numpy.isfinite(velocity), velocity, numpy.nan).clip(-_BEYOND, _BEYOND)


def robot_of(scenario: Scenario) -> RobotModel | None:
    """Return the robot of a scenario's robot or agents block."""
    block = scenario.ros or scenario.agents
    return None if block is None else block.robot


def is_of_robot(track: Track, robot: RobotModel | None) -> bool:
    """Return whether a motion is that of the base or of the arm, and not of a base's wheels."""
    return robot is not None and track.is_base == (robot.kind == 'mobile_base')


def tracks_of(signals: Signals) -> Sequence[Track]:
    """Return the motion on each command topic, as far as it can be predicted."""
    scenario = signals.record.trial.scenario
    robot = robot_of(scenario)
    block = scenario.ros or scenario.agents
    if block is None or robot is None:
        return ()
    found = [_track(signals, one.topic, robot) for one in block.commands]
    return tuple(track for track in found if track is not None and len(track.times_ns))


def _track(signals: Signals, topic: str, robot: RobotModel) -> Track | None:
    driver = driver_of(signals.record.trial.scenario, topic)
    if driver is not None and not (driver.assumed and _is_twist(signals, topic, robot)):
        execution = signals.executed(topic)
        if execution is not None and execution.axes:
            return _executed(execution, topic, robot)
    try:
        return _as_commanded(signals, topic, robot)
    except LookupError:  # a field that some commands lack: nobody knows how those move it
        return _as_far_as_told(signals, topic, robot)


def _is_twist(signals: Signals, topic: str, robot: RobotModel) -> bool:
    """Return whether a base is commanded by its own axes: of a driver nobody said which."""
    first = next(iter(signals.record.by_topic('command').get(topic, ())), None)
    return robot.kind == 'mobile_base' and first is not None and first.message is not None \
        and first.message.type in _TWISTS


def _executed(execution: Execution, topic: str, robot: RobotModel) -> Track:
    base = execution.axes == BASE_AXES
    return Track(topic, execution.axes, execution.times_ns, numbers(execution.velocity),
                 execution.between == 'linear',
                 f'prediction from {topic} as the driver {execution.driver} executes it',
                 robot.footprint if base else 0.0, is_executed=True)


def _as_commanded(signals: Signals, topic: str, robot: RobotModel) -> Track | None:
    """
    Return the numbers in the commands as motion, where no driver is declared.

    Of a base all three axes then count: nobody said that its driver ignores one of them.
    """
    first = next(iter(signals.record.by_topic('command').get(topic, ())), None)
    message = None if first is None else first.message
    if message is None:
        return None
    source = f'prediction from the commands on {topic}'
    if message.type in _TWISTS:
        if robot.kind != 'mobile_base':
            return None
        columns = signals.columns(_twist(topic))
        velocity = numpy.empty((len(columns[0].times), len(columns)))
        for axis, column in enumerate(columns):
            velocity[:, axis] = column.values
        velocity = numbers(velocity)
        times_ns, velocity = _with_timeouts(signals, topic, columns[0].times, velocity)
        return Track(topic, BASE_AXES, times_ns, velocity, False, source, robot.footprint)
    if message.type in _CARS and robot.kind == 'mobile_base':  # how it turns is not told
        [column] = signals.columns([Signal(topic=topic, field='speed', unit='m/s')])
        times_ns, velocity = _with_timeouts(signals, topic, column.times, numbers(
            numpy.stack([column.values, *[numpy.zeros(len(column.times))] * 2], axis=1)))
        return Track(topic, BASE_AXES, times_ns, velocity, False, source, robot.footprint)
    if message.type == _JOINT_STATE and robot.kind == 'arm':
        events = signals.counting(topic)
        joints, speeds = joint_speeds(events, robot.joints)
        times_ns, velocity = _with_timeouts(signals, topic, numpy.array(
            [event.stamps.steady_ns for event in events], numpy.int64), numbers(speeds))
        return Track(topic, joints, times_ns, velocity, False, source) if joints else None
    signal = _joint_speed(signals, topic, message.type) if robot.kind == 'arm' else None
    if signal is None:
        return None
    [column] = signals.columns([signal])
    times_ns, velocity = _with_timeouts(signals, topic, column.times,
                                        numbers(numpy.abs(column.values)[:, numpy.newaxis]))
    return Track(topic, JOINTS, times_ns, velocity, False, source)


def _as_far_as_told(signals: Signals, topic: str, robot: RobotModel) -> Track:
    """Return the same of commands of which some lack a field: what those ask for is unknown."""
    events = signals.counting(topic)
    is_base = robot.kind == 'mobile_base'
    rows = [[_or_nan(signal, event.message) for signal in _twist(topic)] if is_base
            else [math.nan] for event in events]
    times_ns, velocity = _with_timeouts(
        signals, topic, numpy.array([event.stamps.steady_ns for event in events], numpy.int64),
        numbers(numpy.array(rows, numpy.float64)))
    return Track(topic, BASE_AXES if is_base else JOINTS, times_ns, velocity, False,
                 f'prediction from the commands on {topic}, of which some lack a field',
                 robot.footprint if is_base else 0.0)


def _or_nan(signal: Signal, message: Message | None) -> float:
    value = None
    if message is not None:
        with suppress(LookupError):
            value = signal.value(message)
    return math.nan if value is None else value


@lru_cache(maxsize=64)
def _twist(topic: str) -> tuple[Signal, ...]:
    """Return one signal for each axis of a base, whatever signals the file names."""
    return tuple(Signal(topic=topic, field=field, unit='m/s') for field in _FIELDS)


def _joint_speed(signals: Signals, topic: str, interface: str) -> Signal | None:
    """Return what tells the speed of an arm's fastest joint in commands of an interface."""
    scenario = signals.record.trial.scenario
    block = scenario.ros or scenario.agents
    named = [signal for signal in (block.signals.values() if block else ())
             if signal.topic == topic and signal.unit == 'rad/s']
    name = interface.rpartition('/')[2]
    if name == 'JointTrajectory':
        return next((signal for signal in named if signal.reduce == 'joint_speed'), None)
    is_speeds = name == 'Float64MultiArray' and any(
        signal.field.partition('[')[0] == 'data' for signal in named)
    return Signal(topic=topic, field='data', reduce='max_abs', unit='rad/s') if is_speeds else None


def _with_timeouts(signals: Signals, topic: str, times_ns: NDArray[numpy.int64],
                   velocity: Floats) -> tuple[NDArray[numpy.int64], Floats]:
    """Add a standstill wherever ``ros.silence`` says that the driver stops the robot."""
    ros = signals.record.trial.scenario.ros
    if ros is None or ros.silence.driver_timeout_ms is None or not len(times_ns):
        return times_ns, velocity
    timeout_ns = round(ros.silence.driver_timeout_ms * 1e6)
    until_ns = numpy.array([signals.counts_until_ns(event) for event in signals.counting(topic)],
                           numpy.int64)
    silent = numpy.flatnonzero(
        numpy.append(times_ns[1:], signals.record.end_ns) - until_ns > timeout_ns)
    return (numpy.insert(times_ns, silent + 1, until_ns[silent] + timeout_ns),
            numpy.insert(velocity, silent + 1, 0.0, axis=0))
