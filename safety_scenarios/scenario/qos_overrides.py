# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which policies of quality of service (QoS) may be overridden, and how an override is read."""

from collections.abc import Iterable
import re

from safety_scenarios.errors import did_you_mean
from safety_scenarios.scenario.noun import Noun

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
