# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The names of topics: what ROS calls them, what a controller hears, what is drawn into what.

A relative name of a topic or service is completed by namespace and remapping rules.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
import re

from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.robot_drivers import simulated_robot
from safety_scenarios.scenario.scenario import Scenario

MERGED = ('sensor_msgs/msg/LaserScan', 'geometry_msgs/msg/PoseArray',
          'geometry_msgs/msg/PoseStamped')
"""Interfaces into which something can be drawn."""
DRAWN, LIVE, PASSING = 'drawn_distance', 'live_distance', 'passing'
"""In the truth of what was drawn: how near it is, how near what is really there, and by how much
later (s) the live message left again than it had come."""
_NAME = r'[A-Za-z_]\w*(/[A-Za-z_]\w*)*'
_RULE = re.compile(rf'({_NAME}):=(/?{_NAME})', re.ASCII)


def read_merges(texts: Iterable[str]) -> dict[str, str]:
    """
    Return topic of a stimulus to topic of the live data that it is drawn into.

    :raises ValueError: a text is no such rule, or a topic has two
    """
    found: dict[str, str] = {}
    for text in texts:
        match = _RULE.fullmatch(text)
        if match is None:
            raise ValueError(f'got {text!r}, expected STIMULUS_TOPIC:=LIVE_TOPIC, such as '
                             f"scan:=/front/scan, with the stimulus' topic as the scenario has "
                             f'it')
        topic, live = match[1], match[3]
        if topic in found:
            raise ValueError(f'got two live topics for {topic}, {found[topic]} and {live}, '
                             f'expected one. Remove one of the two')
        if topic == live:
            raise ValueError(f'got {text!r}, expected two topics: the harness would hear itself. '
                             f'Name the topic on which the sensor publishes')
        found[topic] = live
    return found


def published_topics(scenario: Scenario) -> tuple[str, ...]:
    """Return every topic on which a scenario or its robot shows something, as topic:type."""
    body = scenario.body
    shown = _published(scenario, body) if isinstance(body, RobotBody) else ()
    return tuple(dict.fromkeys(f'{topic}:{interface}' for topic, interface in shown))


def _published(scenario: Scenario, body: RobotBody) -> Iterator[tuple[str, str]]:
    for plugin in body.published:
        interface = plugin.interface()
        if interface is not None:
            yield plugin.topic, interface
    robot = simulated_robot(scenario)
    if robot is not None:
        yield from robot.feedback.items()
    if body.world is not None and body.world.camera is not None:
        yield from body.world.camera.interfaces.items()


def input_names(inputs: Mapping[str, str], shown: Sequence[str]) -> Mapping[str, str]:
    """
    Return the name of each input to the topic that is heard by it.

    An input whose name no topic has is the one of its type whose last part is its name. Where
    several could be meant none is, and a type alone means nothing: a pose may be a goal.

    :param inputs: relative topic name to interface type
    :param shown: topics as topic:type
    """
    topics = dict(entry.partition(':')[::2] for entry in shown)
    found = {name: name for name in inputs}
    for name, interface in inputs.items():
        if name in topics:
            continue
        meant = [topic for topic, kind in topics.items()
                 if kind == interface and topic.rpartition('/')[2] == name]
        if len(meant) == 1:
            found[name] = meant[0]
    return found


@dataclass(frozen=True)
class RosNames:
    """
    Namespace and remapping rules of a node.

    As ROS does, both sides of a rule are full names before they are compared, and the first rule
    that matches counts.
    """

    namespace: str = ''
    remap: tuple[str, ...] = ()
    """Rules ``FROM:=TO``."""
    roles: tuple[str, ...] = ()
    """Rules ``ROLE:=TOPIC`` of a robot's profile; they count after ``remap``."""

    def full(self, name: str) -> str:
        """Return the full name after namespace and remapping."""
        placed = self.unmapped(name)
        return self._rules.get(placed, placed)

    def unmapped(self, name: str) -> str:
        """Return the full name of what is named after remapping, as in the profile of a robot."""
        return name if name.startswith('/') else self.space + name

    @property
    def space(self) -> str:
        """Return what stands before a relative name."""
        inner = self.namespace.strip('/')
        return f'/{inner}/' if inner else '/'

    @property
    def arguments(self) -> Sequence[str]:
        """Return the ROS arguments that give a process the same names."""
        arguments = [part for rule in (*self.remap, *self.roles) for part in ('-r', rule)]
        if self.namespace:
            arguments += ['-r', f'__ns:=/{self.namespace.lstrip("/")}']
        return arguments

    @cached_property
    def _rules(self) -> Mapping[str, str]:
        rules: dict[str, str] = {}
        for rule in (*self.remap, *self.roles):
            name, _, target = rule.partition(':=')
            rules.setdefault(self.unmapped(name.strip().removeprefix('rostopic://')),
                             self.unmapped(target.strip()))
        return rules
