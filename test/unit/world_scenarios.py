# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Truth of worlds that never were, by closed formulas: a base that brakes, a person who walks."""

from collections.abc import Callable, Iterable, Mapping
import math
from typing import Any

from safety_scenarios.scenario.blocks.robot import RobotModel, Separation, Stopping
from safety_scenarios.scenario.event import Event
from safety_scenarios.trial.trial import TrialRecord
from unit.records import ALL_CLEAR_MS, driving, END_MS, hazard, NOMINAL_MS, record, stamps

RADIUS, BODY = 0.3, 0.25
"""Radii of the robot and of a person (m)."""
EVERY_MS = 20.0
BASE = RobotModel(kind='mobile_base', max_speed=1.0, radius=RADIUS,
                  stopping=Stopping(model='constant_deceleration', deceleration=1.0))
TERMS = Separation(signal='speed', approach_speed=0.0, other_time=0.1, reach=RADIUS + BODY)
Truth = Mapping[str, float] | None
Entity = Callable[[float], Truth]
"""Seconds after onset to what is told then; None: it is not there."""


def state(name: str, t_ms: float, **truth: float) -> Event:
    """Return what a world tells of an entity; nothing: it is gone."""
    return Event.model_construct(kind='state', name=name, stamps=stamps(t_ms), truth=truth)


def told(entities: Mapping[str, Entity], from_ms: float = NOMINAL_MS, to_ms: float = END_MS,
         every_ms: float = EVERY_MS) -> list[Event]:
    """Return what a world tells of all entities at every moment."""
    found: list[Event] = []
    there: set[str] = set()
    for count in range(round((to_ms - from_ms) / every_ms) + 1):
        t_ms = from_ms + count * every_ms
        for name, entity in entities.items():
            truth = entity(t_ms / 1e3)
            if truth is not None:
                found.append(state(name, t_ms, **truth))
                there.add(name)
            elif name in there:
                found.append(state(name, t_ms))
                there.discard(name)
    return found


class Brakes:
    """
    A base that drives straight ahead evenly and is at x = 0 at onset.

    :param brakes_s: from when it brakes, s after onset
    :param drives_s: when it drives on at once, None: never
    """

    def __init__(self, speed: float = 0.8, brakes_s: float = 0.3, deceleration: float = 1.0,
                 drives_s: float | None = ALL_CLEAR_MS / 1e3 + 0.01, wz: float = 0.0) -> None:
        self.speed, self.brakes_s, self.rate = speed, brakes_s, deceleration
        self.drives_s = math.inf if drives_s is None or drives_s < brakes_s else drives_s
        self.wz = wz

    @property
    def stands_s(self) -> float:
        """When it stands, s after onset."""
        return self.brakes_s + self.speed / self.rate

    def v(self, t_s: float) -> float:
        """Return its speed (m/s)."""
        if t_s <= self.brakes_s or t_s >= self.drives_s:
            return self.speed
        return max(0.0, self.speed - self.rate * (t_s - self.brakes_s))

    def x(self, t_s: float) -> float:
        braked_s = min(max(0.0, t_s - self.brakes_s), self.speed / self.rate)
        on_s = max(0.0, t_s - self.drives_s)
        return self.speed * min(t_s, self.brakes_s) + self.speed * braked_s \
            - self.rate * braked_s**2 / 2 + self.speed * on_s

    def __call__(self, t_s: float) -> Truth:
        """Return what the world tells of it."""
        return {'x': self.x(t_s), 'y': 0.0, 'heading': 0.0, 'vx': self.v(t_s), 'vy': 0.0,
                'wz': self.wz, 'radius': RADIUS}


def person(robot: Brakes, x: Callable[[float], float], y: Callable[[float], float] | None = None,
           from_s: float = 0.0, to_s: float = ALL_CLEAR_MS / 1e3, body: float = 1.0,
           **more: float) -> Entity:
    """
    Return somebody at (x, y) whose gap, speeds and contact follow from where both are.

    :param more: told while both touch, such as a force
    """
    def truth(t_s: float) -> Truth:
        if not from_s <= t_s < to_s:
            return None

        def gap(at_s: float) -> float:
            return math.hypot(x(at_s) - robot.x(at_s), beside(at_s)) - RADIUS - BODY
        before = max(from_s, t_s - EVERY_MS / 1e3)
        now, step = gap(t_s), 1e-4
        closing = (gap(t_s) - gap(t_s + step)) / step
        return {'x': x(t_s), 'y': beside(t_s), 'radius': BODY, 'gap': now, 'body': body,
                'vx': (x(t_s + step) - x(t_s)) / step,
                'vy': (beside(t_s + step) - beside(t_s)) / step,
                'distance': now + RADIUS + BODY, 'nearest': min(now, gap(before)),
                'closing': closing, 'touching': float(now <= 0.0),
                **({'ttc': now / closing} if closing > 0 and now > 0 else {}),

                **{name: value if now <= 0.0 else 0.0 for name, value in more.items()}}

    def beside(t_s: float) -> float:
        return 0.0 if y is None else y(t_s)
    return truth


def task(robot: Brakes, goal: float | None = None, lateral: float = 0.0) -> Entity:
    """Return the work of driving along x, to a goal if there is one (m from x = 0)."""
    def truth(t_s: float) -> Truth:
        done = goal is not None and robot.x(t_s) >= goal
        return {'progress': robot.x(t_s), 'lateral': lateral, 'done': float(done),
                **({} if goal is None else {'remaining': max(0.0, goal - robot.x(t_s))})}
    return truth


def commands(robot: Brakes) -> list[tuple[float, float | None]]:
    """Return commands of a controller that steps to zero when its robot begins to brake."""
    braked_ms, on_ms = (min(1e3 * time_s, END_MS) for time_s in (robot.brakes_s, robot.drives_s))
    return [*driving(NOMINAL_MS + 10, braked_ms, robot.speed), *driving(braked_ms, on_ms, 0.0),
            *driving(on_ms, END_MS, robot.speed)]


def in_world(robot: Brakes, entities: Mapping[str, Entity] = {}, scenario: Any = None,
             extra: Iterable[Event] = (), asked: Any = None, **changes: Any) -> TrialRecord:
    return record(commands(robot) if asked is None else asked,
                  scenario or hazard(robot=BASE, separation=TERMS),
                  extra=[*told({'robot': robot, **entities}), *extra], **changes)
