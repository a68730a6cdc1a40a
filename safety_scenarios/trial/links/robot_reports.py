# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What stands in for a robot: odometry, joint states, a reference sensor."""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
import math
import random
from typing import Any

from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.blocks.onset import ObservedOnset
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.driver import BASE_AXES, Commanded, Follower
from safety_scenarios.scenario.message import Message, parse_path
from safety_scenarios.scenario.robot_drivers import (
    JOINT_STATE,
    ODOMETRY,
    SimulatedRobot,
    STAMPED,
)
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.trial.summary import PreflightRow
from safety_scenarios.trial.trial import Trial

PERIOD_NS = 20_000_000
"""Of the reports: as often as odometry commonly comes."""


def feedback_rows(robot: SimulatedRobot) -> Sequence[PreflightRow]:
    """Return what a preflight says of the reports, and of those that nobody can work out."""
    told = [PreflightRow(check='feedback', status='ok', detail=f'simulated: {robot}')] \
        if robot.feedback else []
    return [*told, *(PreflightRow(check='feedback', status='warn', detail=(
        f'{topic}: it has no publisher here: {why}')) for topic, why in robot.untold.items())]


class SimulatedReports:
    """
    Takes commands, and says what a robot would report that executes them.

    A base follows its driver's set-points at once, but slows down no harder than the robot
    declares; nobody declares how fast it speeds up. Several topics that command it: the fastest
    counts. An arm is where its driver has got it, and begins with every joint at 0.
    It has no clock, and nothing in it waits.
    """

    def __init__(self, robot: SimulatedRobot) -> None:
        self._robot = robot
        self._kind = kind_of(robot.robot)
        self._rate = robot.robot.deceleration() or math.inf
        self.begin()

    def begin(self) -> None:
        """Begin a trial: nothing moves, and nothing was commanded."""
        start = dict.fromkeys(self._robot.robot.joints, 0.0)
        self._followers: dict[str, Follower] = {
            topic: follower for topic, driver in self._robot.drivers.items()
            if (follower := driver.follow(start)) is not None}
        self._joints = {name: (position, 0.0) for name, position in start.items()}
        self._speed, self._pose = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        self._past: deque[tuple[int, list[float]]] = deque()
        self._commanded_ns: int | None = None
        self._now_ns: int | None = None

    def take(self, topic: str, message: Message, now_ns: int, clock_ns: int) -> None:
        """
        Take a command; one that the driver rejects changes nothing.

        :param now_ns: steady clock
        :param clock_ns: the clock of header stamps
        """
        follower = self._followers.get(topic)
        if follower is None:
            return
        self._to(now_ns)
        self._commanded_ns = now_ns
        with suppress(ValueError):  # rejected: it goes on as before
            follower.take(Commanded(now_ns, clock_ns, message))

    def reports(self, now_ns: int) -> Mapping[str, Message]:
        """Return what it reports now, by topic; a message has no header stamp."""
        self._to(now_ns)
        return {topic: Message(type=interface, data=self._data(interface))
                for topic, interface in self._robot.feedback.items()}

    def _to(self, now_ns: int) -> None:
        """Let time pass: the base brakes, and the joints go where their drivers say."""
        now_ns = max(now_ns, self._now_ns or now_ns)
        passed_s = 0.0 if self._now_ns is None else max(0, now_ns - self._now_ns) * 1e-9
        self._now_ns = now_ns
        states = [follower.state(now_ns) for follower in self._followers.values()]
        if self._kind.has_joints:
            self._joints_to(states, now_ns)
            return
        wanted = max(([state.get(axis, (0.0, math.nan))[1] for axis in BASE_AXES]
                      for state in states if state), key=self._fastest, default=[0.0] * 3)
        silence_ns, since_ns = self._robot.silence_ns, self._commanded_ns
        if silence_ns is not None and since_ns is not None and now_ns - since_ns > silence_ns:
            wanted = [0.0] * 3
        wanted = self._lagging(wanted, now_ns)
        most = self._rate * passed_s
        before, self._speed = self._speed, [
            _braked(now, aim, most / (1.0 if axis != 'wz' else self._robot.robot.footprint))
            for axis, now, aim in zip(BASE_AXES, self._speed, wanted, strict=True)]
        self._move([(one + other) / 2 for one, other in zip(before, self._speed, strict=True)],
                   passed_s)

    def _joints_to(self, states: Sequence[Mapping[str, tuple[float, float]]], now_ns: int) -> None:
        for state in states:
            self._joints |= state
        if self._robot.brake_lag_ns:
            speeds = self._lagging([speed for _, speed in self._joints.values()], now_ns)
            self._joints = {name: (position, speed) for (name, (position, _)), speed
                            in zip(self._joints.items(), speeds, strict=True)}

    def _lagging(self, speeds: list[float], now_ns: int) -> list[float]:
        """Return the fastest of the time in which it does not brake yet."""
        if not self._robot.brake_lag_ns:
            return speeds
        self._past.append((now_ns, speeds))
        while self._past[0][0] < now_ns - self._robot.brake_lag_ns:
            self._past.popleft()
        return max((speed for _, speed in self._past), key=self._fastest if self._kind.drives
                   else lambda joints: max(map(abs, joints), default=0.0))

    def _fastest(self, speed: list[float]) -> float:
        fastest = math.hypot(*speed[:2]) + abs(speed[2]) * self._robot.robot.footprint
        return math.inf if math.isnan(fastest) else fastest

    def _move(self, speed: list[float], seconds: float) -> None:
        x, y, heading = self._pose
        forward, left, turn = (step * seconds for step in speed)
        middle = heading + turn / 2
        self._pose = [x + forward * math.cos(middle) - left * math.sin(middle),
                      y + forward * math.sin(middle) + left * math.cos(middle), heading + turn]

    def _data(self, interface: str) -> dict[str, Any]:
        if interface == JOINT_STATE:
            names = tuple(self._joints)
            return {'header': {'frame_id': ''}, 'name': names,
                    'position': tuple(self._joints[name][0] for name in names),
                    'velocity': tuple(self._joints[name][1] for name in names), 'effort': ()}
        twist = {'linear': {'x': self._speed[0], 'y': self._speed[1], 'z': 0.0},
                 'angular': {'x': 0.0, 'y': 0.0, 'z': self._speed[2]}}
        if interface == STAMPED:
            return {'header': {'frame_id': 'base_link'}, 'twist': twist}
        if interface != ODOMETRY:
            return twist
        x, y, heading = self._pose
        unknown = (0.0,) * 36
        return {'header': {'frame_id': 'odom'}, 'child_frame_id': 'base_link',
                'pose': {'pose': {'position': {'x': x, 'y': y, 'z': 0.0},
                                  'orientation': {'x': 0.0, 'y': 0.0, 'z': math.sin(heading / 2),
                                                  'w': math.cos(heading / 2)}},
                         'covariance': unknown},
                'twist': {'twist': twist, 'covariance': unknown}}


def _braked(now: float, wanted: float, most: float) -> float:
    """Return the next speed: as wanted, unless it would slow down by more than ``most``."""
    if math.isnan(wanted) or math.isnan(now):
        return wanted
    if now * wanted >= 0 and abs(wanted) >= abs(now):
        return wanted
    slowest = max(0.0, abs(now) - most)
    if now * wanted < 0:  # through standstill, and not before it stands
        return math.copysign(slowest, now) if slowest else wanted
    return math.copysign(max(abs(wanted), slowest), now)


_TYPES = {'data': 'std_msgs/msg/Bool', 'range': 'sensor_msgs/msg/Range'}
"""Interface of a topic whose file leaves it open, by the field that is read."""


class ReferenceSensor:
    """
    Tells of the hazard that the harness plays, as late as the scenario says its sensor is.

    In each trial it is late by another time, drawn from the trial's seed within the uncertainty
    that the scenario states: what is made of it has to get along with that.

    :ivar topic: on which it tells
    :raises MeasurementError: no message can be made that shows the hazard, or its absence
    """

    def __init__(self, trial: Trial, wanted: ObservedOnset, signals: Mapping[str, Signal]) -> None:
        self.topic = wanted.topic
        off_ns = random.Random(f'{trial.seed}/reference sensor').uniform(-1.0, 1.0) \
            * wanted.uncertainty_ns
        self.latency_ns = max(0, round(wanted.latency_ns + off_ns))
        self._quiet, self._alarm = _both(wanted, signals[wanted.when.signal])
        self._shown_ns: float = math.inf
        self.there_ns: float = math.inf if wanted.release_within_ms is None \
            or trial.all_clear_ns is None else trial.all_clear_ns
        """How long the hazard is there; infinite: nobody asks when it is over."""

    def see(self, now_ns: int) -> bool:
        """Take that a hazard is shown now; return whether it is the first."""
        is_first = math.isinf(self._shown_ns)
        self._shown_ns = min(self._shown_ns, now_ns)
        return is_first

    def reading(self, now_ns: int) -> Message:
        """Return what it sends now."""
        since_ns = now_ns - self._shown_ns - self.latency_ns
        return self._alarm if 0 <= since_ns < self.there_ns else self._quiet


def _both(wanted: ObservedOnset, signal: Signal) -> tuple[Message, Message]:
    """Return a message without the hazard, and one with it."""
    found: dict[bool, Message] = {}
    for value in _values(wanted):
        message = _message(wanted, signal, value)
        margin = None if message is None else wanted.when.margin(signal.value(message))
        if message is not None and margin is not None:
            found.setdefault(margin >= 0, message)
    if len(found) < 2:
        raise MeasurementError(
            f'ros.onset: got {wanted.when} of the field {signal.field!r}, expected a number or a '
            f'truth value on its own, which a stand-in for the sensor can send: there is no real '
            f'hazard here. Use link ros')
    return found[False], found[True]


def _values(wanted: ObservedOnset) -> list[float]:
    bounds = [bound for bound in (wanted.when.at_least, wanted.when.at_most) if bound is not None]
    return [0.0, 1.0, *bounds, sum(bounds) / len(bounds),
            *(bound + step for bound in bounds for step in (1.0, -1.0))]


def _message(wanted: ObservedOnset, signal: Signal, value: float) -> Message | None:
    steps = parse_path(signal.field)
    interface = _TYPES.get(signal.field, '') if wanted.message == 'auto' else wanted.message
    if not interface:
        raise MeasurementError(
            f'ros.onset.message: got auto for the field {signal.field!r}, expected the interface '
            f'type of {wanted.topic}, such as std_msgs/msg/Bool: it has no publisher whose '
            f'type could be read')
    if not all(isinstance(step, str) and step != '*' for step in steps):
        return None
    told: Any = value
    if interface == _TYPES['data']:
        if value not in (0.0, 1.0):
            return None
        told = bool(value)
    for step in reversed(steps):
        told = {step: told}
    return Message.model_construct(type=interface, data=told)
