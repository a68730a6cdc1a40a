# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Quality of service: what we offer as publisher and ask for as subscriber."""

from collections.abc import Callable, Sequence
from typing import Any

from rclpy import qos
from rclpy.duration import Duration
from rclpy.node import Node
from safety_scenarios.scenario.qos_overrides import DEEP_ENOUGH, QosOverride

STIMULUS_DEPTH = 10
"""As sensors are published; an old stimulus is of no use."""
COMMAND_DEPTH = DEEP_ENOUGH
_ENUMS = {'reliability': qos.ReliabilityPolicy, 'durability': qos.DurabilityPolicy,
          'history': qos.HistoryPolicy}


def stimulus() -> qos.QoSProfile:
    """Return reliable, volatile, keep last 10: matches reliable and best-effort subscribers."""
    return qos.QoSProfile(depth=STIMULUS_DEPTH, reliability=qos.ReliabilityPolicy.RELIABLE,
                          durability=qos.DurabilityPolicy.VOLATILE)


def in_lock_step() -> qos.QoSProfile:
    """Return what hears sensors whose time may pass faster than they can be received."""
    profile = stimulus()
    profile.depth = COMMAND_DEPTH
    return profile


def sensor(is_in_lock_step: bool, is_best_effort: bool) -> qos.QoSProfile:
    """
    Return what a controller of ours receives a sensor with.

    :param is_best_effort: the sensor is published so, and a reliable subscription would not match
    """
    profile = in_lock_step() if is_in_lock_step else stimulus()
    if is_best_effort:
        profile.reliability = qos.ReliabilityPolicy.BEST_EFFORT
    return profile


def pictures() -> qos.QoSProfile:
    """Return the same, and keep last 1: pictures are large, and of old ones there is no use."""
    profile = stimulus()
    profile.depth = 1
    return profile


def echo() -> qos.QoSProfile:
    """Return what hears our own messages, deep enough for the fastest and for a stall."""
    return qos.QoSProfile(depth=COMMAND_DEPTH, reliability=qos.ReliabilityPolicy.RELIABLE,
                          durability=qos.DurabilityPolicy.VOLATILE)


def conversation() -> qos.QoSProfile:
    """Return what agents hear and speak with: reliable, volatile, deep enough for a burst."""
    return qos.QoSProfile(depth=COMMAND_DEPTH, reliability=qos.ReliabilityPolicy.RELIABLE,
                          durability=qos.DurabilityPolicy.VOLATILE)


def command(publishers: list[Any]) -> qos.QoSProfile:
    """
    Return a profile that hears the given publishers, deep enough for a fast stream.

    :param publishers: what ``get_publishers_info_by_topic`` says of the topic
    """
    best_effort = any(info.qos_profile.reliability == qos.ReliabilityPolicy.BEST_EFFORT
                      for info in publishers)
    return qos.QoSProfile(
        depth=COMMAND_DEPTH, durability=qos.DurabilityPolicy.VOLATILE,
        reliability=qos.ReliabilityPolicy.BEST_EFFORT if best_effort
        else qos.ReliabilityPolicy.RELIABLE)


def publisher_count(node: Node, topic: str, subscription: Any) -> int:
    """Return how many publish what a subscription receives, on Humble by the graph."""
    return int(subscription.get_publisher_count()) \
        if hasattr(subscription, 'get_publisher_count') else int(node.count_publishers(topic))


class Profiles:
    """
    What our endpoints offer and ask for: the defaults above, and what somebody asked for instead.

    :param overrides: what was asked for
    :param resolve: relative topic name to its full name
    """

    def __init__(self, overrides: Sequence[QosOverride], resolve: Callable[[str], str]) -> None:
        self._overrides = overrides
        self._resolve = resolve

    def stimulus(self, topic: str) -> qos.QoSProfile:
        return self._overridden(stimulus(), topic, 'publisher')

    def echo(self, topic: str) -> qos.QoSProfile:
        """Return what hears our own stimulus: as reliable as that is, else nothing would match."""
        profile = echo()
        profile.reliability = self.stimulus(topic).reliability
        return profile

    def command(self, topic: str, publishers: list[Any]) -> qos.QoSProfile:
        return self._overridden(command(publishers), topic, 'subscription')

    def is_latched(self, topic: str) -> bool:
        """Return whether who comes late gets what was published before."""
        return self.stimulus(topic).durability == qos.DurabilityPolicy.TRANSIENT_LOCAL

    def requested_text(self, topic: str, endpoint: str) -> str:
        """Return what was asked for, in words; empty: nothing."""
        return ', '.join(f'{override.policy} {override.value}' for override
                         in self._matching_overrides(topic, endpoint))

    def _matching_overrides(self, topic: str, endpoint: str) -> list[QosOverride]:
        name = self._resolve(topic)
        return [override for override in self._overrides
                if (override.topic, override.endpoint) == (name, endpoint)]

    def _overridden(self, profile: qos.QoSProfile, topic: str, endpoint: str) -> qos.QoSProfile:
        for override in self._matching_overrides(topic, endpoint):
            value: Any = override.value
            if override.policy in _ENUMS:
                value = _ENUMS[override.policy][str(value).upper()]
            elif override.policy == 'deadline':
                value = Duration(nanoseconds=value)
            setattr(profile, override.policy, value)
        return profile
