# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
A world of closed formulas that tells the whole truth, for the tests of what is drawn of it.

The robot drives along x, gains and loses speed at 1 m/s^2; people stand or walk straight toward
it, boxes stand. Gaps are those of discs and boxes, to the closest point.
"""

from contextlib import closing
import math

from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.interfaces import Cylinder, Face, laser_scan, stamped
from safety_scenarios.scenario.message import Message
from safety_scenarios.stimuli.bodies import PersonAt
from safety_scenarios.trial.links.controller_settings import controller_settings, plugin_of
from safety_scenarios.trial.links.loopback import hosted
from safety_scenarios.trial.session import LinkPlugin, Session
from unit.trial.links.toy_world import EPOCH_NS, SCAN, STEP_NS, ToyLink

RATE = 1.0
"""How fast the robot gains and loses speed (m/s^2)."""
RADIUS, DEEP = 0.3, 0.4
"""Of the robot, and of a box along x (m)."""


class Standing:
    """A person or a box in the plane; ``x`` and ``y`` of its middle or of its face's."""

    def __init__(self, intent, robot_x):
        self.intent, self.is_person = intent, isinstance(intent, PersonAt)
        if self.is_person:
            self.x = robot_x + intent.distance * math.cos(intent.bearing)
            self.y = intent.distance * math.sin(intent.bearing)
        else:
            self.x, self.y = robot_x + intent.distance, intent.lateral

    def away(self, robot_x):
        return math.hypot(self.x - robot_x, self.y)

    def gap(self, robot_x):
        if self.is_person:
            return self.away(robot_x) - RADIUS - self.intent.radius
        half = self.intent.width / 2
        ahead = max(self.x - robot_x, 0.0, robot_x - self.x - DEEP)
        return math.hypot(ahead, max(0.0, abs(self.y) - half)) - RADIUS

    def step(self, robot_x, seconds):
        if self.is_person and self.away(robot_x) > self.intent.nearest:
            share = self.intent.speed * seconds / self.away(robot_x)
            self.x -= (self.x - robot_x) * share
            self.y -= self.y * share

    def shape(self, robot_x):
        if self.is_person:
            return Cylinder(self.away(robot_x), math.atan2(self.y, self.x - robot_x),
                            self.intent.radius)
        half = self.intent.width / 2
        return Face(self.x - robot_x, self.y - half, self.y + half)

    def truth(self, robot_x, nearest):
        found = {'x': self.x, 'y': self.y, 'heading': 0.0, 'gap': self.gap(robot_x),
                 'nearest': nearest, 'body': float(self.is_person)}
        if self.is_person:
            return {**found, 'distance': self.away(robot_x), 'radius': self.intent.radius}
        return {**found, 'x': self.x + DEEP / 2, 'distance': self.x - robot_x}


class PlaneLink(ToyLink):
    """Moves the world in steps of 10 ms, tells it every 20 ms; scans and commands at 20 Hz."""

    def _place(self):
        super()._place()
        self.asked, self.nearest = 0.0, {}

    def apply(self, topic, intent, *, hazard):
        stamps = super().apply(topic, intent, hazard=hazard)
        if stamps is not None:
            self.things[topic] = Standing(intent, self.robot_x)
            self.nearest[topic] = math.inf
        return stamps

    def _step(self, seconds):
        more = RATE * seconds
        before = self.robot_speed
        self.robot_speed += min(more, max(-more, self.asked - before))
        self.robot_x += (before + self.robot_speed) / 2 * seconds
        for topic, thing in self.things.items():
            thing.step(self.robot_x, seconds)
            self.nearest[topic] = min(self.nearest[topic], thing.gap(self.robot_x))
        events = [] if self._now_ns % (2 * STEP_NS) else list(self._told())
        if self._now_ns % (5 * STEP_NS):
            return events
        stamp_ns = EPOCH_NS + self._now_ns
        shapes = [thing.shape(self.robot_x) for thing in self.things.values()]
        scan = Message(type=SCAN, data=laser_scan('base_link', 20.0, shapes))
        self._controller.receive('scan', stamped(scan, stamp_ns), self._now_ns, stamp_ns)
        command = self._controller.tick(self._now_ns, stamp_ns)
        if command is None:
            return events
        self.asked = command.data['linear']['x']
        return [*events, Event(kind='command', name='cmd_vel', message=command,
                               stamps=self._stamps())]

    def _told(self):
        truths = {'robot': {'x': self.robot_x, 'y': 0.0, 'heading': 0.0, 'vx': self.robot_speed,
                            'vy': 0.0, 'wz': 0.0, 'radius': RADIUS},
                  **{topic: thing.truth(self.robot_x, self.nearest[topic])
                     for topic, thing in self.things.items()}}
        self.nearest = dict.fromkeys(self.things, math.inf)
        for name, truth in truths.items():
            yield Event(kind='state', name=name, stamps=self._stamps(), truth=truth)


class PlaneWorld(LinkPlugin):
    """What ``--link plane`` opens."""

    in_simulated_time = True
    is_repeatable = True

    def session(self, stack):
        def open_link(scenario):
            own = controller_settings(self.plan.controller, scenario)
            return closing(PlaneLink(hosted(plugin_of(self.plan.controller), own)))
        return Session(open_link, 'a world of closed formulas')
