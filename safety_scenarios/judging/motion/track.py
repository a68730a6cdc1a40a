# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The motion that a record shows: every axis of a base, every joint of an arm."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
import math
from typing import Any, Literal

import numpy
from numpy.typing import NDArray
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.driver import BASE_AXES, Execution, JOINTS
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.robot_kind import AxisSignals, kind_of
from safety_scenarios.trial.executed_commands import driver_of
from safety_scenarios.trial.world_truth import Clock

_SAME = 1e-3
"""rad or m: no farther apart are positions that a sensor reads of a joint that stands."""
_AROUND = 2
"""So many gaps before and behind say with a gap how far apart messages are, whose times jitter."""
_ALIKE = 2.0
"""A speed that is told is believed where positions say no more than so many times of it."""
Floats = NDArray[numpy.float64]


def joint_speeds(events: Sequence[Event], joints: Sequence[str]) -> tuple[tuple[str, ...], Floats]:
    """
    Return joints, and their speeds from each of some JointState commands on (rad/s).

    A joint that a command does not name goes on as before, and one that the robot does not have
    moves nothing. Another position than before is a motion too, whatever the speed beside it
    says. NaN is what nobody can tell: a position without a speed, and more names than speeds.
    Numbers without a name are those of the robot's joints, and those beyond them move too.

    :param joints: those of the robot; empty: all that are named
    """
    told = [_places(_data(event), joints) for event in events]
    known = tuple(dict.fromkeys((*joints, *(
        name for places in told for name, (_, has_name) in places.items()
        if not joints or not has_name))))
    speeds = numpy.zeros((len(events), len(known)))
    for column, joint in enumerate(known):
        rows = [row for row, places in enumerate(told) if joint in places]
        if rows:
            found = _speeds([events[row] for row in rows], [told[row][joint][0] for row in rows])
            since = numpy.searchsorted(rows, numpy.arange(len(events)), 'right') - 1
            speeds[:, column] = numpy.where(since < 0, 0.0, found[since])
    return known, speeds


def _data(event: Event) -> Mapping[str, Any]:
    return {} if event.message is None else event.message.data


def _places(data: Mapping[str, Any], joints: Sequence[str]) -> dict[str, tuple[int, bool]]:
    """Return where the numbers of each joint stand in a command, and whether it has a name."""
    names = tuple(data.get('name', ())) or tuple(joints)
    most = max(len(data.get(field, ())) for field in ('position', 'velocity'))
    return {**{name: (place, True) for place, name in enumerate(names)},
            **{f'number {place}': (place, False) for place in range(len(names), most)}}


def _speeds(events: Sequence[Event], places: Sequence[int]) -> Floats:
    """Return the speed of a joint from each of the commands on that tell one."""
    times_s = numpy.array([event.stamps.steady_ns / 1e9 for event in events])
    velocity, position = (numpy.array([_at(_data(event), field, place) for event, place
                                       in zip(events, places, strict=True)])
                          for field in ('velocity', 'position'))
    there = ~numpy.isnan(position)
    jumps = numpy.zeros(len(events))
    jumps[there] = _jumps(times_s[there], position[there])
    return numpy.where(jumps > _ALIKE * numpy.abs(velocity), jumps, velocity)


def _at(data: Mapping[str, Any], field: str, index: int) -> float:
    values = data.get(field, ())
    return float(values[index]) if index < len(values) else numpy.nan


def _jumps(times_s: Floats, position: Floats) -> Floats:
    """
    Return the speed of the way to each position, in the time that is usual there.

    Messages that came late are close to those behind them, and one after a pause need not have
    taken all of it: neither gap says how long the way takes. Steps that could be noise of what a
    sensor read are a way as soon as they lead away, in all the time that they took for that.
    """
    speeds = numpy.zeros(len(times_s))
    last, begin = len(times_s) - 1, 0
    for place in range(1, len(times_s)):
        around = max(place - 1 - _AROUND, 0), min(place + _AROUND, last)
        step, way = (abs(position[place] - position[one]) for one in (place - 1, begin))
        if step > _SAME:
            usual_s = (times_s[around[1]] - times_s[around[0]]) / (around[1] - around[0])
            speeds[place] = step / usual_s if usual_s > 0 else numpy.inf
        elif way > _SAME:
            took_s = times_s[place] - times_s[begin]
            speeds[begin + 1:place + 1] = way / took_s if took_s > 0 else numpy.inf
        else:
            continue
        begin = place
    return speeds


_BEYOND = 1e9
"""Faster than any robot (m/s, rad/s), and still a number that can be squared."""


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
        """Whether it is along and about the axes of a base."""
        return self.axes == BASE_AXES

    @property
    def unit(self) -> str:
        """Return the unit of ``fastest``."""
        return 'm/s' if self.is_base else 'rad/s'

    @property
    def way_unit(self) -> Literal['m', 'rad']:
        return 'm' if self.is_base else 'rad'

    @cached_property
    def linear(self) -> Floats:
        """Return a base's speed over ground at each set-point, whatever its direction (m/s)."""
        return numpy.hypot(self.velocity[:, 0], self.velocity[:, 1])

    @property
    def turning(self) -> Floats:
        """Return how fast a base turns at each set-point, to either side (rad/s)."""
        return numpy.abs(self.velocity[:, 2])

    @property
    def speed(self) -> Floats:
        """Return a base's speed over ground at each set-point, or that of the fastest joint."""
        return self.linear if self.is_base else self.fastest

    @cached_property
    def fastest(self) -> Floats:
        """Speed of a base's fastest point, |v| + |omega| r (m/s), or of the fastest joint."""
        if self.is_base:
            return self.linear + self.turning * self.radius
        return numpy.asarray(numpy.abs(self.velocity).max(axis=1))

    def until(self, values: Floats) -> Floats:
        """Return what a value at each set-point has become when the next one comes."""
        return numpy.append(values[1:], values[-1:], axis=0) if self.is_linear else values

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
        means, spans_ns = self._means(values, from_ns, to_ns)
        return float(means @ spans_ns) / 1e9

    def ways(self, from_ns: int, to_ns: int) -> Floats:
        """
        Return how far each axis has come in [``from_ns``, ``to_ns``], at set-points and its end.

        It has a row for each of them, and none where nothing moves.
        """
        means, spans_ns = self._means(self.velocity, from_ns, to_ns)
        return numpy.cumsum(means * spans_ns[:, None], axis=0) / 1e9

    def _means(self, values: Floats, from_ns: int, to_ns: int) -> tuple[Floats, Floats]:
        """Return the mean of a value from set-point to set-point, and for how long (ns)."""
        none = values[:0], numpy.zeros(0)
        if to_ns <= from_ns or not len(values):
            return none
        first = max(0, int(self.times_ns.searchsorted(from_ns, side='right')) - 1)
        last = int(self.times_ns.searchsorted(to_ns))
        means = values[first:last]
        if self.is_linear:
            means = (means + self.until(values)[first:last]) / 2
        if not means.any():  # it stands, as it mostly does where this is asked
            return none
        edges = numpy.empty(last - first + 1)
        edges[:-1] = self.times_ns[first:last] - from_ns
        edges[0], edges[-1] = max(edges[0], 0.0), to_ns - from_ns
        if self.clock is not None:
            edges = self.clock.at((edges + from_ns).astype(numpy.int64)).astype(float)
        return means, edges[1:] - edges[:-1]

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


def is_of_robot(track: Track, robot: RobotModel | None) -> bool:
    """Return whether a motion is the robot's own, and not, say, that of a base's wheels."""
    return robot is not None and kind_of(robot).is_own(track.axes)


def tracks_of(signals: Signals) -> Sequence[Track]:
    """Return the motion on each command topic, as far as it can be predicted."""
    body = signals.record.trial.scenario.body
    robot = body.robot
    if robot is None:
        return ()
    found = [_track(signals, one.topic, robot) for one in body.commands]
    return tuple(track for track in found if track is not None and len(track.times_ns))


def _track(signals: Signals, topic: str, robot: RobotModel) -> Track | None:
    driver, read = driver_of(signals.record.trial.scenario, topic), _read(signals, topic, robot)
    if driver is not None and not (driver.assumed and read is not None and read.is_whole):
        execution = signals.executed(topic)
        if execution is not None and execution.axes:
            return _executed(execution, topic, robot)
    if read is None:
        return None
    try:
        return _as_commanded(signals, topic, robot, read)
    except LookupError:  # a field that some commands lack: how those move it is unknown
        return _partial_track(signals, topic, robot, read)


def _read(signals: Signals, topic: str, robot: RobotModel) -> AxisSignals | None:
    """Return how the commands on a topic move the robot where no driver is declared."""
    first = next(iter(signals.record.by_topic('command').get(topic, ())), None)
    if first is None or first.message is None:
        return None
    named = signals.record.trial.scenario.body.signals.values()
    return kind_of(robot).commanded(topic, first.message.type, [
        signal for signal in named if signal.topic == topic])


def _executed(execution: Execution, topic: str, robot: RobotModel) -> Track:
    base = execution.axes == BASE_AXES
    return Track(topic, execution.axes, execution.times_ns, numbers(execution.velocity),
                 execution.between == 'linear',
                 f'prediction from {topic} as the driver {execution.driver} executes it',
                 robot.footprint if base else 0.0, is_executed=True)


def _as_commanded(signals: Signals, topic: str, robot: RobotModel,
                  read: AxisSignals) -> Track | None:
    """Return the numbers in the commands as motion, where no driver is declared."""
    axes = read.axes
    if read.names_joints:
        events = signals.counting(topic)
        axes, velocity = joint_speeds(events, robot.joints)
        times_ns = numpy.array([event.stamps.steady_ns for event in events], numpy.int64)
    else:
        times_ns, velocity = speeds_along(signals, read)
    times_ns, velocity = _with_timeouts(signals, topic, times_ns, numbers(velocity))
    return Track(topic, axes, times_ns, velocity, False,
                 f'prediction from the commands on {topic}',
                 kind_of(robot).footprint) if axes else None


def speeds_along(signals: Signals, read: AxisSignals) -> tuple[NDArray[numpy.int64], Floats]:
    """
    Return when messages say how fast the robot moves along each axis, and what they say.

    :raises LookupError: a message lacks a field
    """
    columns = signals.columns([signal for signal in read.signals if signal is not None])
    velocity = numpy.zeros((len(columns[0].times), len(read.axes)))
    moving = [place for place, signal in enumerate(read.signals) if signal is not None]
    for place, column in zip(moving, columns, strict=True):
        velocity[:, place] = column.values
    return columns[0].times, numpy.abs(velocity) if read.axes == JOINTS else velocity


def _partial_track(signals: Signals, topic: str, robot: RobotModel, read: AxisSignals) -> Track:
    """Return the same of commands of which some lack a field: what those ask for is unknown."""
    events = signals.counting(topic)
    along = read.signals if read.is_whole else (None,) * len(read.axes)
    rows = [[_or_nan(signal, event.message) for signal in along] for event in events]
    times_ns, velocity = _with_timeouts(
        signals, topic, numpy.array([event.stamps.steady_ns for event in events], numpy.int64),
        numbers(numpy.array(rows, numpy.float64)))
    return Track(topic, read.axes, times_ns, velocity, False,
                 f'prediction from the commands on {topic}, of which some lack a field',
                 kind_of(robot).footprint)


def _or_nan(signal: Signal | None, message: Message | None) -> float:
    value = None
    if signal is not None and message is not None:
        with suppress(LookupError):
            value = signal.value(message)
    return math.nan if value is None else value


def _with_timeouts(signals: Signals, topic: str, times_ns: NDArray[numpy.int64],
                   velocity: Floats) -> tuple[NDArray[numpy.int64], Floats]:
    """Add a standstill wherever ``ros.silence`` says that the driver stops the robot."""
    timeout_ms = signals.record.trial.scenario.body.silence.driver_timeout_ms
    if timeout_ms is None or not len(times_ns):
        return times_ns, velocity
    timeout_ns = round(timeout_ms * 1e6)
    until_ns = numpy.array([signals.counts_until_ns(event) for event in signals.counting(topic)],
                           numpy.int64)
    silent = numpy.flatnonzero(
        numpy.append(times_ns[1:], signals.record.end_ns) - until_ns > timeout_ns)
    return (numpy.insert(times_ns, silent + 1, until_ns[silent] + timeout_ns),
            numpy.insert(velocity, silent + 1, 0.0, axis=0))
