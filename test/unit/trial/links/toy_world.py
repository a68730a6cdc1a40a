# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A link of another package, in one file: a robot and people on a line, seen by a scanner.

The robot drives as it is told, at once; a person who is put before it stands, or walks toward it.
Both move while the harness waits, and nothing else takes time.
"""

from contextlib import closing

from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.interfaces import Cylinder, Face, laser_scan, stamped
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.stimuli.bodies import ObstacleAt, PersonAt
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.links.controller_settings import controller_settings, plugin_of
from safety_scenarios.trial.links.loopback import hosted
from safety_scenarios.trial.session import LinkPlugin, Session

STEP_NS = 10_000_000
EPOCH_NS = 1_700_000_000 * 10**9
SCAN = 'sensor_msgs/msg/LaserScan'


class Thing:
    """Somebody or something ahead of the robot, at ``x`` (m) on the line."""

    def __init__(self, intent, robot_x):
        self.intent = intent
        self.is_person = isinstance(intent, PersonAt)
        self.speed = intent.speed if self.is_person else 0.0
        self.x = robot_x + intent.distance

    def shape(self, robot_x):
        """Return how the scanner sees it."""
        if self.is_person:
            return Cylinder(self.x - robot_x, self.intent.bearing, 0.25)
        half = self.intent.width / 2
        return Face(self.x - robot_x, self.intent.lateral - half, self.intent.lateral + half)


class ToyLink(Link):
    """Moves the world in steps of 10 ms, scans it at 20 Hz, and asks the controller at 20 Hz."""

    def __init__(self, controller):
        self.measuring = Measuring(exact=True, one_host=True)
        self.calls = []
        self._controller = controller
        self._now_ns = 10**9
        self._place()

    def _place(self):
        self.things = {}
        self.robot_x = self.robot_speed = 0.0

    def open(self, trial):  # noqa: A003
        self._place()

    def disarm(self):
        self.calls.append('disarm')
        self.things.clear()

    def apply(self, topic, intent, *, hazard):
        if not isinstance(intent, (PersonAt, ObstacleAt)):
            return None
        self.calls.append(f'apply {topic}')
        self.things[topic] = Thing(intent, self.robot_x)
        return self._stamps()

    def withdraw(self, topic):
        self.calls.append(f'withdraw {topic}')
        del self.things[topic]

    def mark(self, name):
        return Event(kind='mark', name=name, stamps=self._stamps())

    def send(self, stimulus, *, hazard, scheduled_ns):
        self._controller.receive(stimulus.topic, stimulus.message, self._now_ns, None)
        return Event(kind='stimulus', name=stimulus.topic, stamps=self._stamps(),
                     message=stimulus.message, hazard=hazard, truth=dict(stimulus.truth),
                     scheduled_ns=scheduled_ns)

    def receive_until(self, schedule_ns):
        while self._now_ns < schedule_ns:
            due_ns = (self._now_ns // STEP_NS + 1) * STEP_NS
            if due_ns > schedule_ns:
                self._now_ns = schedule_ns
                return []
            self._now_ns = due_ns
            events = self._step(STEP_NS / 1e9)
            if events:
                return events
        return []

    def _step(self, seconds):
        self.robot_x += self.robot_speed * seconds
        for thing in self.things.values():
            if thing.is_person and thing.x - self.robot_x > thing.intent.nearest:
                thing.x -= thing.speed * seconds
        if self._now_ns % (5 * STEP_NS):
            return []
        shapes = [thing.shape(self.robot_x) for thing in self.things.values()]
        scan = Message(type=SCAN, data=laser_scan('base_link', 20.0, shapes))
        stamp_ns = EPOCH_NS + self._now_ns
        self._controller.receive('scan', stamped(scan, stamp_ns), self._now_ns, stamp_ns)
        told = [Event(kind='state', name=topic, stamps=self._stamps(),
                      truth={'distance': thing.x - self.robot_x})
                for topic, thing in self.things.items()]
        command = self._controller.tick(self._now_ns, stamp_ns)
        if command is None:
            return told
        self.robot_speed = command.data['linear']['x']
        return [*told, Event(kind='command', name='cmd_vel', message=command,
                             stamps=self._stamps())]

    def _stamps(self):
        system_ns = EPOCH_NS + self._now_ns
        return Stamps(steady_ns=self._now_ns, system_ns=system_ns, ros_ns=system_ns,
                      source_ns=system_ns, received_ns=system_ns)


class ToyWorld(LinkPlugin):
    """What ``--link toy`` opens."""

    in_simulated_time = True
    is_repeatable = True

    def session(self, stack):
        def open_link(scenario):
            own = controller_settings(self.plan.controller, scenario)
            return closing(ToyLink(hosted(plugin_of(self.plan.controller), own)))
        return Session(open_link, 'a world with one dimension')
