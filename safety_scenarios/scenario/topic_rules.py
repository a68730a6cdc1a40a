# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Rules about topics: merging, quality of service, and the names a controller knows.

And what a relative name of a topic or service is called by ROS, after namespace and remapping.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
import re

from safety_scenarios.errors import did_you_mean
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.noun import Noun
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


PREFIX = 'qos_overrides.'
"""Begins the name of such a ROS parameter, as rclcpp and rclpy have it."""
DEEP_ENOUGH = 1000
"""A second at 1 kHz: no command may be lost while Python is busy."""
_FORM = '/TOPIC.publisher.POLICY=VALUE or /TOPIC.subscription.POLICY=VALUE'
_TOPIC = re.compile(r'(/[A-Za-z_]\w*)+', re.ASCII)
_POLICIES = {'publisher': ('reliability', 'durability', 'history', 'depth', 'deadline'),
             'subscription': ('reliability', 'durability', 'history', 'depth')}
_WORDS = {'reliability': ('reliable', 'best_effort'), 'history': ('keep_last',),
          'durability': ('volatile', 'transient_local')}
_NOT_OF_A_SUBSCRIPTION = ('got transient_local for a subscription, expected volatile: what was '
                          'sent before a trial would be taken for a part of it. A volatile '
                          'subscription hears a transient_local publisher too')
_LARGEST = {'depth': 100_000, 'deadline': 3_600_000_000_000}


class QosOverride(Noun):
    """One policy of one of our endpoints."""

    topic: str
    """Full name, remapping and namespace applied."""
    endpoint: str
    """publisher, of a stimulus; or subscription, to commands, feedback or answers."""
    policy: str
    value: str | int
    """A word, a number of messages (``depth``), or nanoseconds (``deadline``)."""

    @property
    def parameter(self) -> str:
        """Name of the ROS parameter."""
        return f'{PREFIX}{self.topic}.{self.endpoint}.{self.policy}'


def read_override(text: str) -> QosOverride:
    """
    Return what a text such as ``/scan.publisher.reliability=best_effort`` asks for.

    :raises ValueError: nobody can offer that, or a trial could be misjudged with it
    """
    name, equals, value = text.partition('=')
    name = name.strip().rstrip(':').removeprefix(PREFIX)
    parts = name.rsplit('.', 2)
    if not equals or len(parts) != 3:
        raise ValueError(f'got {text!r}, expected {_FORM}')
    topic, endpoint, policy = parts
    if not _TOPIC.fullmatch(topic):
        raise ValueError(f'got the topic {topic!r}, expected its full name, such as /scan')
    if endpoint not in _POLICIES:
        raise ValueError(f'got {endpoint!r} in {name}, expected publisher or subscription.'
                         f'{did_you_mean(endpoint, _POLICIES)}')
    known = _POLICIES[endpoint]
    if policy not in known:
        raise ValueError(f'got the policy {policy!r} in {name}, expected one of '
                         f'{", ".join(known)}.{did_you_mean(policy, known)}')
    return QosOverride(topic=topic, endpoint=endpoint, policy=policy,
                       value=_value(name, endpoint, policy, value.strip()))


def read_overrides(texts: Iterable[str]) -> tuple[QosOverride, ...]:
    """
    Return what several texts ask for.

    :raises ValueError: as ``read_override``, or two values for one policy
    """
    found: dict[str, QosOverride] = {}
    for text in texts:
        override = read_override(text)
        if found.setdefault(override.parameter, override) != override:
            raise ValueError(f'got {found[override.parameter].value} and {override.value} for '
                             f'{override.parameter}, expected one value')
    return tuple(found.values())


def _value(name: str, endpoint: str, policy: str, text: str) -> str | int:
    if policy in _WORDS:
        if endpoint == 'subscription' and text == 'transient_local':
            raise ValueError(f'{name}: {_NOT_OF_A_SUBSCRIPTION}')
        if text not in _WORDS[policy]:
            raise ValueError(f'{name}: got {text!r}, expected {" or ".join(_WORDS[policy])}.'
                             f'{did_you_mean(text, _WORDS[policy])}')
        return text
    least = DEEP_ENOUGH if endpoint == 'subscription' else 1
    unit = ' (ns)' if policy == 'deadline' else ''
    if not (text.isascii() and text.isdigit() and least <= int(text) <= _LARGEST[policy]):
        raise ValueError(f'{name}: got {text!r}, expected a whole number from {least} to '
                         f'{_LARGEST[policy]}{unit}'
                         + (', so that no command is lost' if least > 1 else ''))
    return int(text)


def shown_topics(scenario: Scenario) -> tuple[str, ...]:
    """Return every topic on which a scenario or its robot shows something, as topic:type."""
    body = scenario.body
    shown = _shown(scenario, body) if isinstance(body, RobotBody) else ()
    return tuple(dict.fromkeys(f'{topic}:{interface}' for topic, interface in shown))


def _shown(scenario: Scenario, body: RobotBody) -> Iterator[tuple[str, str]]:
    for plugin in body.published:
        interface = plugin.interface()
        if interface is not None:
            yield plugin.topic, interface
    robot = simulated_robot(scenario)
    if robot is not None:
        yield from robot.feedback.items()
    if body.world is not None and body.world.camera is not None:
        yield from body.world.camera.interfaces.items()


def heard_as(inputs: Mapping[str, str], shown: Sequence[str]) -> Mapping[str, str]:
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
