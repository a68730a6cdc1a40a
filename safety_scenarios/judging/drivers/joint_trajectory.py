# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The joint_trajectory_controller of ros2_controllers, commanded on its topic."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy
from pydantic import Field
from safety_scenarios.judging.drivers._waypoints import (
    Path,
    Point,
    read_points,
    Refused,
    rest,
    Rules,
    sample,
    Segment,
    segment,
    State,
)
from safety_scenarios.scenario.driver import (
    Commanded,
    DriverPlugin,
    Execution,
    Follower,
    Rejection,
    Start,
)

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
        """Whether its axes are joints: yes."""
        return True

    @property
    def lenient(self) -> 'JointTrajectory':
        """Return one that takes whatever a parameter lets it take."""
        return self.model_copy(update={
            'distro': 'humble', 'allow_partial_joints_goal': True,
            'allow_integration_in_goal_trajectories': True,
            'allow_nonzero_velocity_at_trajectory_end': True})

    def follow(self, start: Start) -> 'Follower':
        """Return where the joints are, command by command."""
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
