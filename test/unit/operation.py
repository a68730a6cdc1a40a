# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A robot in operation, as a list of what it publishes, for a monitor that hears all of it."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.judging.monitoring import Level, NewViolation, Watch
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import MonitorSettings

FILE = Path(__file__).parents[1] / 'data' / 'monitor_base.yaml'
STEADY_NS, SYSTEM_NS = 10**12, 1_700_000_000 * 10**9
Value = Callable[[float], float]
"""ms to a value."""


def at(t_ms: float) -> Stamps:
    """Return stamps so long after the monitor began."""
    t_ns = round(t_ms * 1e6)
    return Stamps(steady_ns=STEADY_NS + t_ns, system_ns=SYSTEM_NS + t_ns, ros_ns=SYSTEM_NS + t_ns,
                  header_ns=SYSTEM_NS + t_ns)


def _vector(x: float) -> Mapping[str, float]:
    return {'x': x, 'y': 0.0, 'z': 0.0}


def robot(until_ms: int, speed: Value = lambda t: 0.4, near: Value = lambda t: 6.0,
          x: Value = lambda t: 0.0, period_ms: int = 20,
          dies: Mapping[str, float] = {}, lost: Collection[int] = ()) -> Iterator[Event]:
    """
    Yield what a base publishes: its command every period, all else every 50 ms.

    :param dies: topic to when nothing more comes on it (ms)
    :param lost: numbers of commands that never arrive
    """
    count = 0
    for t in range(until_ms):
        found: list[tuple[Any, str, Message | None]] = []
        if t % 50 == 0:
            found += [
                ('feedback', 'odom', Message(type='nav_msgs/msg/Odometry', data={
                    'pose': {'pose': {'position': _vector(x(t))}}})),
                ('feedback', 'human_pose', Message(type='geometry_msgs/msg/PoseStamped', data={
                    'pose': {'position': _vector(near(t))}})),
                ('sensed', 'scan', None)]
        if t % period_ms == 0:
            count += 1
            if count not in lost:
                found.append(('command', 'cmd_vel', Message(type='geometry_msgs/msg/Twist', data={
                    'linear': _vector(speed(t)), 'angular': _vector(0.0)})))
        for kind, name, message in found:
            if t < dies.get(name, until_ms):
                yield Event(kind=kind, name=name, stamps=at(t), message=message,
                            sequence=count if kind == 'command' else None)


@cache
def monitor_file() -> Scenario:
    """Return the monitor file of these tests."""
    return load_scenario(FILE)


class Operation:
    """A monitor at work; ``levels`` has what it said of each check in each turn, with its time."""

    def __init__(self, events: Iterator[Event], turns_ms: Collection[float],
                 file: Scenario | None = None, **settings: Any) -> None:
        self.watch = Watch(file or monitor_file(), MonitorSettings(**{
            'window_s': 1.0, **settings}), at(0))
        self.found: list[tuple[float, NewViolation]] = []
        self.kept: list[list[Event]] = []
        self.levels: list[tuple[float, dict[str, Level]]] = []
        self.size = 0
        waiting = next(events, None)
        for turn in turns_ms:
            while waiting is not None and waiting.stamps.steady_ns <= at(turn).steady_ns:
                self.watch.add(waiting)
                for record in self.kept:
                    record.append(waiting)
                waiting = next(events, None)
            for one in self.watch.judge(at(turn)):
                self.found.append((turn, one))
                self.kept.append(list(self.watch.window.to_keep(one.cut)))
            self.size = max(self.size, self.watch.window.size)
            self.levels.append((turn, {
                name: known.level for name, known in self.watch.watched.items()}))

    @property
    def checks(self) -> set[str]:
        """Return which checks were violated."""
        return {one.finding.check for _, one in self.found}

    def after(self, t_ms: float) -> set[Level]:
        """Return all that was said after a time, of whatever check."""
        return {level for turn, levels in self.levels if turn > t_ms for level in levels.values()}
