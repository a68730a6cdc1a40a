# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether the quality of service of both sides fits, and who asked for ours."""

from collections.abc import Callable, Iterable, Iterator
import time
from typing import Any, NoReturn

from rclpy import qos
from rclpy.duration import Duration
from rclpy.node import Node
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.graph.graph import full_node_name, Graph, NAMED_S, UNNAMED
from safety_scenarios.ros.messages.qos import Profiles
from safety_scenarios.trial.preflight import PreflightRow

_POLL_S = 0.05
_INFINITE_NS = 9_223_372_036_000_000_000
"""From here on a duration is infinite, as the middlewares show it."""


class Fit:
    """
    Compares what the graph shows with what we offer and ask for.

    :param node: of the harness
    :param graph: as that node sees it
    :param profiles: of our endpoints
    """

    def __init__(self, node: Node, graph: Graph, profiles: Profiles) -> None:
        self._node, self._graph, self._profiles = node, graph, profiles

    def refuse_deaf(self, stimuli: Iterable[str]) -> None:
        """
        Refuse listeners that will never hear a stimulus: they did not fail to react.

        :raises MeasurementError: says which node, which policy, and who asked for it
        """
        for topic in stimuli:
            for info in self._graph.subscribers_of(topic):
                reason = _misfit(self._profiles.stimulus(topic), info.qos_profile)
                if reason is not None:
                    who = self._name(info, lambda topic=topic: self._graph.subscribers_of(topic))
                    self._refuse(topic, 'publisher', f'{who or "a subscriber"} cannot hear it',
                                 reason)

    def refuse_unheard(self, topic: str, publishers: Iterable[Any], asked: qos.QoSProfile) -> None:
        """
        Refuse publishers that our subscription would never hear.

        :raises MeasurementError: says which node, which policy, and who asked for it
        """
        for info in publishers:
            reason = _misfit(info.qos_profile, asked)
            if reason is not None:
                who = self._name(info, lambda: self._graph.publishers(topic))
                self._refuse(topic, 'subscription', f'we cannot hear {who or "the publisher"}',
                             reason)

    def rows(self, publishers: Iterable[str], subscriptions: Iterable[str]) -> \
            Iterator[PreflightRow]:
        """Yield which of our endpoints do not have the default quality of service."""
        for endpoint, topics in (('publisher', publishers), ('subscription', subscriptions)):
            for topic in sorted(topics):
                asked = self._profiles.asked(topic, endpoint)
                if asked:
                    yield PreflightRow(check='QoS', status='ok', detail=(
                        f'{self._node.resolve_topic_name(topic)}: our {endpoint} has {asked}, as '
                        f'qos_overrides says'))

    def unexecuted_rows(self, commands: Iterable[str]) -> Iterator[PreflightRow]:
        """Yield who listens to the commands, as a driver does, and will never hear them."""
        for topic in sorted(commands):
            for sent in self._graph.publishers(topic):
                for info in self._graph.subscribers_of(topic):
                    reason = f'{sent.topic_type} is published, and the subscription is of ' \
                        f'{info.topic_type}' if sent.topic_type != info.topic_type \
                        else _misfit(sent.qos_profile, info.qos_profile)
                    if reason is not None:
                        yield PreflightRow(check='commands', status='warn', detail=(
                            f'{self._node.resolve_topic_name(topic)}: {full_node_name(info)} '
                            f'cannot hear {full_node_name(sent)}: {reason}. What is judged does '
                            f'not move it. Change one of them'))

    def _name(self, info: Any, look: Callable[[], Iterable[Any]]) -> str | None:
        """Return whose endpoint it is: a name may be known a little later than an endpoint."""
        deadline = time.monotonic() + NAMED_S
        while info.node_name == UNNAMED and time.monotonic() < deadline:
            time.sleep(_POLL_S)
            info = next((other for other in look()
                         if bytes(other.endpoint_gid) == bytes(info.endpoint_gid)), info)
        return None if info.node_name == UNNAMED else full_node_name(info)

    def _refuse(self, topic: str, endpoint: str, what: str, reason: str) -> NoReturn:
        name, asked = self._node.resolve_topic_name(topic), self._profiles.asked(topic, endpoint)
        advice = f'Our {endpoint} has {asked}: change qos_overrides.{name}.{endpoint}' if asked \
            else f'Change that node, or set qos_overrides.{name}.{endpoint}'
        raise MeasurementError(f'not connected: {name}: {what}: {reason}. {advice}')


def _misfit(offered: qos.QoSProfile, asked: qos.QoSProfile) -> str | None:
    """
    Return why a publisher and a subscription will never match, None when they may.

    What is rarer, such as liveliness, the middleware tells by an event. rclpy's own comparison
    takes the infinite durations that the graph shows for wanted ones.
    """
    reasons = []
    if (offered.reliability, asked.reliability) == (
            qos.ReliabilityPolicy.BEST_EFFORT, qos.ReliabilityPolicy.RELIABLE):
        reasons.append('the publisher is best effort, and the subscription asks for reliable')
    if (offered.durability, asked.durability) == (
            qos.DurabilityPolicy.VOLATILE, qos.DurabilityPolicy.TRANSIENT_LOCAL):
        reasons.append('the publisher is volatile, and the subscription asks for transient local')
    wanted_ns, given_ns = (_finite_ns(profile.deadline) for profile in (asked, offered))
    if wanted_ns and not 0 < given_ns <= wanted_ns:
        reasons.append(f'the subscription asks for a deadline of {wanted_ns} ns, and the '
                       f'publisher promises {f"{given_ns} ns" if given_ns else "none"}')
    return ', '.join(reasons) or None


def _finite_ns(duration: Duration) -> int:
    """Return nanoseconds; 0 for what is not set, or infinite."""
    return duration.nanoseconds if duration.nanoseconds < _INFINITE_NS else 0
