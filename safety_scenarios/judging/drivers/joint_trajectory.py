# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The joint_trajectory_controller of ros2_controllers: its waypoints, and how it follows them."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy
from numpy.typing import NDArray
from pydantic import Field
from safety_scenarios.errors import in_words
from safety_scenarios.judging.drivers.twist_commands import LONGEST_NS
from safety_scenarios.scenario.driver import (
    Commanded,
    DriverPlugin,
    Execution,
    Follower,
    Rejection,
    Start,
)
from safety_scenarios.scenario.interfaces import stamp_of

Vector = NDArray[numpy.float64]


@dataclass(frozen=True, slots=True)
class State:
    """Where all joints are and how they move; velocity and acceleration may be left out."""

    position: Vector
    velocity: Vector | None
    acceleration: Vector | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """One polynomial of the time since ``origin_ns``, executed from ``begin_ns`` to the next."""

    begin_ns: int
    coefficients: Vector
    """Of the position, shape (6, joints), the constant first."""
    origin_ns: int
    repeats: Vector | None = None
    """Instead of the derivative: a velocity that is repeated while the position stays."""

    def at(self, t_ns: int) -> State:
        """Return the state at a time."""
        s = (t_ns - self.origin_ns) * 1e-9
        c = self.coefficients
        position = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))))
        if self.repeats is not None:
            return State(position, self.repeats)
        return State(position, c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (
            4 * c[4] + s * 5 * c[5]))))


def segment(begin: State, end: State, begin_ns: int, end_ns: int, from_ns: int) -> Segment:
    """
    Return the way between two states: linear, cubic or quintic, as far as both are told.

    :param from_ns: executed from then on, if it joins the way later than at ``begin_ns``
    """
    c = numpy.zeros((6, len(begin.position)))
    s = (end_ns - begin_ns) * 1e-9
    way = end.position - begin.position
    c[0] = begin.position
    if begin.velocity is None or end.velocity is None:
        c[1] = way / s
        return Segment(from_ns, c, begin_ns)
    v0, v1 = begin.velocity, end.velocity
    c[1] = v0
    if begin.acceleration is None or end.acceleration is None:
        c[2] = (3 * way - (2 * v0 + v1) * s) / s ** 2
        c[3] = (-2 * way + (v0 + v1) * s) / s ** 3
        return Segment(from_ns, c, begin_ns)
    a0, a1 = begin.acceleration, end.acceleration
    c[2] = a0 / 2
    c[3] = (20 * way - (8 * v1 + 12 * v0) * s - (3 * a0 - a1) * s ** 2) / (2 * s ** 3)
    c[4] = (-30 * way + (14 * v1 + 16 * v0) * s + (3 * a0 - 2 * a1) * s ** 2) / (2 * s ** 4)
    c[5] = (12 * way - 6 * (v1 + v0) * s + (a1 - a0) * s ** 2) / (2 * s ** 5)
    return Segment(from_ns, c, begin_ns)


def rest(position: Vector, begin_ns: int, repeats: Vector | None = None) -> Segment:
    """Return standing at a position for ever; with ``repeats`` the velocity is still commanded."""
    c = numpy.zeros((6, len(position)))
    c[0] = position
    if repeats is not None and not repeats.any():
        repeats = None
    return Segment(begin_ns, c, begin_ns, repeats)


@dataclass(slots=True)
class Path:
    """What is executed: segments without a gap, the later ones replacing what was to come."""

    segments: list[Segment] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)

    def replace(self, segments: Sequence[Segment]) -> None:
        """Execute these from the beginning of the first; what was before ends there."""
        begin_ns = segments[0].begin_ns
        while self.begins and self.begins[-1] >= begin_ns:
            self.begins.pop()
            self.segments.pop()
        self.segments += segments
        self.begins += [one.begin_ns for one in segments]

    def at(self, t_ns: int) -> State:
        """Return the state that is executed at a time, not before the first segment."""
        return self.segments[max(0, bisect_right(self.begins, t_ns) - 1)].at(t_ns)


@dataclass(frozen=True, slots=True)
class Sampled:
    """Set-points of a path: each beginning and end of a segment, and a raster in between."""

    times_ns: NDArray[numpy.int64]
    position: Vector
    velocity: Vector


def sample(path: Path, until_ns: int, period_ns: int) -> Sampled:
    """
    Return a path as samples; two at one time where one segment ends and the next begins.

    A jump of the position has one control period to happen in, so its speed is the way by that.
    """
    begins = numpy.array(path.begins, numpy.int64)
    kept = begins <= until_ns
    begins = begins[kept]
    ends = numpy.append(begins[1:], max(until_ns, int(begins[-1])))
    raster = numpy.arange(int(begins[0]), int(ends[-1]), period_ns)
    owner = begins.searchsorted(raster, side='right') - 1
    inside = (raster > begins[owner]) & (raster < ends[owner])
    places = numpy.arange(len(begins))
    times = numpy.concatenate((begins, ends, raster[inside]))
    owner = numpy.concatenate((places, places, owner[inside]))
    order = numpy.lexsort((times, owner))
    times, owner = times[order], owner[order]
    c = numpy.stack([one.coefficients for one in path.segments[:len(begins)]])[owner]
    origins = numpy.array([one.origin_ns for one in path.segments[:len(begins)]], numpy.int64)
    s = ((times - origins[owner]) * 1e-9)[:, None]
    position = c[:, 0] + s * (c[:, 1] + s * (c[:, 2] + s * (c[:, 3] + s * (
        c[:, 4] + s * c[:, 5]))))
    velocity = c[:, 1] + s * (2 * c[:, 2] + s * (3 * c[:, 3] + s * (
        4 * c[:, 4] + s * 5 * c[:, 5])))
    velocity[numpy.abs(velocity) < _ROUNDING] = 0.0
    for place, one in enumerate(path.segments[:len(begins)]):
        if one.repeats is not None:
            velocity[owner == place] = one.repeats
    return Sampled(times, position, _with_jumps(times, position, velocity, period_ns))


_ROUNDING = 1e-9
"""rad/s or m/s: a polynomial that comes to rest does so up to this."""
_NO_JUMP = 1e-4
"""rad or m: less is no motion but rounding, or a joint state a moment old."""


def _with_jumps(times: NDArray[numpy.int64], position: Vector, velocity: Vector,
                period_ns: int) -> Vector:
    with numpy.errstate(invalid='ignore'):
        ways = position[1:] - position[:-1]
        jumps = (times[1:] == times[:-1]) & (numpy.abs(ways) > _NO_JUMP).any(axis=1)
    for place in numpy.flatnonzero(jumps).tolist():
        speed = ways[place] / (period_ns * 1e-9)
        last = max(place + 2, int(times.searchsorted(times[place] + period_ns)))
        part = velocity[place + 1:last]
        velocity[place + 1:last] = numpy.where(numpy.abs(part) < numpy.abs(speed), speed, part)
    return velocity


_EPSILON = 1.1920929e-07
"""float's, against which the velocity at the end is compared."""
_TYPE = 'trajectory_msgs/msg/JointTrajectory'


class Refused(ValueError):
    """
    A trajectory that is not executed, in the controller's words.

    :ivar line: of joint_trajectory_controller.cpp, master
    """

    def __init__(self, why: str, line: str) -> None:
        super().__init__(why)
        self.line = line


@dataclass(frozen=True, slots=True)
class Point:
    """One waypoint in the controller's order of joints."""

    offset_ns: int
    """After the start of the trajectory."""
    position: Vector | None
    velocity: Vector | None
    acceleration: Vector | None


@dataclass(slots=True)
class Rules:
    """What the controller lets pass, and what it keeps from trajectory to trajectory."""

    joints: Sequence[str]
    partial: bool
    integrates: bool
    ends_moving: bool
    buffer: list[float] = field(default_factory=list)
    """Of ``sort_to_local_joint_order`` (1917): what a name given twice leaves out stays in it."""


def read_points(command: Commanded, rules: Rules, now: Vector) -> tuple[list[Point], int]:
    """
    Return the waypoints and the stamp at which they start (ns, 0: at once).

    :param now: where the joints are, for those that a partial trajectory leaves out
    :raises Refused: the controller rejects it
    """
    message = command.message
    if message.type != _TYPE:
        raise Refused(f'got {message.type}, expected {_TYPE}', '1490')
    try:
        data = message.data
        names, points = tuple(data.get('joint_names', ())), tuple(data.get('points', ()))
        offsets = [_offset_ns(point) for point in points]
        stamp_ns = _in_range(stamp_of(message) or 0)
        _check_names(names, points, rules)
        _check_times(command, stamp_ns, offsets)
        _check_values(names, points, rules)
        places = [rules.joints.index(name) for name in names]
        return [_sorted(point, offset, places, rules, now)
                for point, offset in zip(points, offsets, strict=True)], stamp_ns
    except Refused:
        raise
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise Refused(f'no JointTrajectory: {in_words(error)}', '1490') from error


def _check_names(names: Sequence[str], points: Sequence[Any], rules: Rules) -> None:
    if not rules.partial and len(names) != len(rules.joints):
        raise Refused(f"Joints on incoming trajectory don't match the controller joints: "
                      f'{len(names)} names, {len(rules.joints)} joints', '1966')
    if not names:
        raise Refused('Empty joint names on incoming trajectory.', '1966')
    for name in names:
        if name not in rules.joints:
            raise Refused(f"Incoming joint {name} doesn't match the controller's joints.", '1966')
    if not points:
        raise Refused('Empty trajectory received.', '1966')


def _check_times(command: Commanded, stamp_ns: int, offsets: Sequence[int]) -> None:
    if stamp_ns and stamp_ns + offsets[-1] < command.clock_ns:
        late_s = (command.clock_ns - stamp_ns - offsets[-1]) * 1e-9
        raise Refused(f'Received trajectory with non-zero start time that ends in the past, by '
                      f'{late_s:.3f} s', '2050')
    for place, (before, after) in enumerate(zip(offsets, offsets[1:], strict=False)):
        if after <= before:
            raise Refused(f'Time between points {place} and {place + 1} is not strictly '
                          f'increasing, it is {before * 1e-9:g} and {after * 1e-9:g} '
                          f'respectively', '2050')


def _check_values(names: Sequence[str], points: Sequence[Any], rules: Rules) -> None:
    if not rules.ends_moving:
        for name, speed in zip(names, points[-1].get('velocities', ()), strict=False):
            if abs(speed) > _EPSILON:
                raise Refused(f'Velocity of last trajectory point of joint {name} is not zero: '
                              f'{speed:g}', '2030')
    for place, point in enumerate(points):
        sizes = {what: len(point.get(what, ()))
                 for what in ('positions', 'velocities', 'accelerations', 'effort')}
        if sizes.pop('effort'):
            raise Refused(f'Effort at point #{place}, but the controller commands none', '2060')
        told = {what: size for what, size in sizes.items() if size}
        if rules.integrates and told:
            sizes = told
        elif sizes['positions'] == len(names):
            sizes = {'positions': len(names), **told}
        for what, size in sizes.items():
            if size != len(names) and (what == 'positions' or size):
                raise Refused(f'Mismatch between joint_names size ({len(names)}) and {what} '
                              f'({size}) at point #{place}.', '2060')


def _sorted(point: Mapping[str, Any], offset_ns: int, places: Sequence[int], rules: Rules,
            now: Vector) -> Point:
    """Return a waypoint in the controller's order; joints that are left out hold."""
    found: dict[str, Vector | None] = {}
    for what in ('positions', 'velocities', 'accelerations'):
        values = point.get(what, ())
        if not values:
            found[what] = None
            continue
        if len(rules.buffer) != len(rules.joints):
            rules.buffer = [0.0] * len(rules.joints)
        if len(places) < len(rules.joints):
            filled = now.tolist() if what == 'positions' else [0.0] * len(rules.joints)
        else:
            filled = rules.buffer
        for place, value in zip(places, values, strict=True):
            filled[place] = float(value)
        found[what] = numpy.array(filled)
    return Point(offset_ns, found['positions'], found['velocities'], found['accelerations'])


def _offset_ns(point: Mapping[str, Any]) -> int:
    due = point.get('time_from_start', {})
    return _in_range(int(due.get('sec', 0)) * 1_000_000_000 + int(due.get('nanosec', 0)))


def _in_range(time_ns: int) -> int:
    """Return a time that a ROS message can hold; plain data may say anything."""
    if abs(time_ns) > LONGEST_NS:
        raise ValueError(f'got a time of {time_ns} ns, expected seconds of 32 bits')
    return time_ns


_SOURCE = 'joint_trajectory_controller.cpp'
CANCEL = 'action_msgs/srv/CancelGoal_Request'
"""A command of this type cancels the goal that is executed."""


class JointTrajectory(DriverPlugin):
    """
    Decides and interpolates as ``validate_trajectory_msg`` and ``Trajectory::sample`` do.

    Source: ros2_controllers, joint_trajectory_controller/src/joint_trajectory_controller.cpp 1966
    to 2060 and src/trajectory.cpp 243, humble ad559d9c8 to master 94e74de35. A trajectory starts
    from what was executed so far; its first start is the JointState before the first command.
    Each change of a position is a motion, also one of 0.2 mrad: an arm that should stand is
    commanded one position again and again, and not the measured one with its noise.
    """

    kind: Literal['joint_trajectory'] = 'joint_trajectory'
    joints: tuple[str, ...] = ()
    """In the controller's order; left out: those of ``robot.joints``."""
    allow_partial_joints_goal: bool = False
    """A trajectory may leave joints out, which then hold their position."""
    allow_integration_in_goal_trajectories: bool = False
    """Points may leave positions out where they have velocities."""
    allow_nonzero_velocity_at_trajectory_end: bool | None = None
    """Left out: true on humble, false since."""
    interpolation_method: Literal['splines', 'none'] = 'splines'
    """``none``: the next waypoint is commanded as soon as the one before it is due."""
    allow_trajectory_replacement: bool = True
    """rolling only: a trajectory of later lets the one that is executed go on until then."""
    decelerate_on_cancel: float = Field(default=0.0, ge=0, json_schema_extra={'unit': 'rad/s^2'})
    """Deceleration when a goal is cancelled; 0: a step to where it is (always on humble)."""
    update_rate_hz: float = Field(default=100.0, gt=0, le=10_000, json_schema_extra={'unit': 'Hz'})
    """How often set-points go to the arm: a jump takes one period."""

    interfaces: ClassVar[tuple[str, ...]] = ('trajectory_msgs/msg/JointTrajectory',)

    @property
    def is_joint_space(self) -> bool:
        return True

    @property
    def lenient(self) -> 'JointTrajectory':
        """Return one that takes whatever a parameter lets it take."""
        return self.model_copy(update={
            'distro': 'humble', 'allow_partial_joints_goal': True,
            'allow_integration_in_goal_trajectories': True,
            'allow_nonzero_velocity_at_trajectory_end': True})

    def follow(self, start: Start) -> 'Follower':
        return _Controller(self, start)

    def execute(self, commands: Sequence[Commanded], start: Start, until_ns: int) -> Execution:
        """Return the sampled trajectories, and which were rejected why."""
        controller = _Controller(self, start)
        rejections: list[Rejection] = []
        accepted = numpy.ones(len(commands), bool)
        for place, command in enumerate(commands):
            try:
                controller.take(command)
            except Refused as refused:
                accepted[place] = False
                rejections.append(Rejection(place, command.t_ns, str(refused),
                                            f'{_SOURCE} {refused.line}'))
        joints, path = self.joints, controller.path
        with numpy.errstate(all='ignore'):
            found = sample(path, until_ns, round(1e9 / self.update_rate_hz)) \
                if path.segments else None
        empty = numpy.empty((0, len(joints)))
        return Execution(
            driver=self.kind, axes=joints, between='linear', accepted=accepted,
            times_ns=found.times_ns if found else numpy.empty(0, numpy.int64),
            velocity=found.velocity if found else empty,
            position=found.position if found else empty, rejections=tuple(rejections))


class _Controller(Follower):
    """What the controller does command by command: the same for judging and for showing."""

    def __init__(self, driver: JointTrajectory, start: Start) -> None:
        self._driver = driver
        self._joints = driver.joints
        self._start = numpy.array([start.get(name, numpy.nan) for name in driver.joints], float)
        ends_moving = driver.allow_nonzero_velocity_at_trajectory_end
        self._rules = Rules(
            joints=driver.joints, partial=driver.allow_partial_joints_goal,
            integrates=driver.allow_integration_in_goal_trajectories,
            ends_moving=driver.distro == 'humble' if ends_moving is None else ends_moving)
        self._points = 0
        self.path = Path()

    def take(self, command: Commanded) -> None:
        """Execute a command from now on; raise ``Refused`` and go on as before if it is none."""
        with numpy.errstate(all='ignore'):  # positions may be too far to be numbers
            self._take(command)

    def _take(self, command: Commanded) -> None:
        now_ns = command.t_ns
        before = self.path.at(now_ns) if self.path.segments \
            else State(self._start, numpy.zeros(len(self._joints)))
        if command.message.type == CANCEL:
            self.path.replace(self._halt(before, now_ns))
            return
        points, stamp_ns = read_points(command, self._rules, before.position)
        begin_ns = now_ns if stamp_ns == 0 else now_ns + stamp_ns - command.clock_ns
        from_ns = now_ns
        if begin_ns > now_ns and self._driver.distro == 'rolling' and self._points > 1 \
                and self._driver.allow_trajectory_replacement:
            from_ns, before = begin_ns, self.path.at(begin_ns)
        self._points = len(points)
        self.path.replace(self._ways(from_ns, before, points, begin_ns))

    def state(self, t_ns: int) -> Mapping[str, tuple[float, float]]:
        """Return joint to (position, velocity); only joints of which both are known."""
        if not self.path.segments:
            return {}
        with numpy.errstate(all='ignore'):  # as in take
            now = self.path.at(t_ns)
        velocity = now.position * numpy.nan if now.velocity is None else now.velocity
        return {name: (float(p), float(v)) for name, p, v
                in zip(self._joints, now.position, velocity, strict=True)
                if numpy.isfinite(p) and numpy.isfinite(v)}

    def _ways(self, from_ns: int, before: State, points: Sequence[Point],
              begin_ns: int) -> list[Segment]:
        """Return the segments from a state on; waypoints whose time is past are passed over."""
        found: list[Segment] = []
        at_ns, at = from_ns, before
        for point in points:
            due_ns = begin_ns + point.offset_ns
            goal = _goal(at, point, (due_ns - at_ns) * 1e-9)
            if due_ns > from_ns:
                begins_ns = max(at_ns, from_ns)
                found.append(segment(at, goal, at_ns, due_ns, begins_ns)
                             if self._driver.interpolation_method == 'splines'
                             else rest(goal.position if found or at is not before
                                       else at.position, begins_ns))
            at_ns, at = due_ns, goal
        return [*found, rest(at.position, max(from_ns, at_ns), at.velocity)]

    def _halt(self, now: State, now_ns: int) -> list[Segment]:
        """Return a step to where the arm is, or the ramp of ``decelerate_on_cancel``."""
        speed = numpy.zeros(len(self._joints)) if now.velocity is None else now.velocity
        limit = 0.0 if self._driver.distro == 'humble' else self._driver.decelerate_on_cancel
        longest = float(numpy.abs(speed).max(initial=0.0)) / limit if limit else 0.0
        if not longest > 0:
            return [rest(now.position, now_ns)]
        end = State(now.position + speed * longest / 2, numpy.zeros(len(speed)))
        end_ns = now_ns + round(longest * 1e9)
        return [segment(now, end, now_ns, end_ns, now_ns), rest(end.position, end_ns)]


def _goal(before: State, point: Point, seconds: float) -> State:
    """Return a waypoint with its position, from its velocity where it has none of its own."""
    if point.position is not None:
        return State(point.position, point.velocity, point.acceleration)
    end = numpy.zeros(len(before.position)) if point.velocity is None else point.velocity
    mean = end if before.velocity is None else (before.velocity + end) / 2
    return State(before.position + mean * max(0.0, seconds), end, point.acceleration)
