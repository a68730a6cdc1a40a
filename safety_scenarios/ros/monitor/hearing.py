# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a monitor listens to: each declared topic, with type and QoS of its publishers."""

from collections.abc import Callable, Iterator
import time
from typing import Any

from rclpy.node import Node
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.clocks.clock import RosClock
from safety_scenarios.ros.messages import qos
from safety_scenarios.ros.messages.convert import from_raw, interface_class, warm_up
from safety_scenarios.ros.messages.inbox import Arrival, Inbox
from safety_scenarios.ros.messages.receiving import with_info
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.monitor import MonitorBlock
from safety_scenarios.trial.mcap.cdr import read_stamp_ns

_HEADER = 'std_msgs/Header'


class Hearing:
    """
    Subscriptions that follow the graph.

    :ivar troubles: topic to why it cannot be heard

    :param node: a spinning node, whose callbacks run in another thread
    :param block: what it declares
    :param clock: ROS time
    """

    def __init__(self, node: Node, block: MonitorBlock, clock: RosClock) -> None:
        self.troubles: dict[str, str] = {}
        self._node, self._clock = node, clock
        self._inbox = Inbox()
        self._made: dict[str, tuple[tuple[Any, ...], Any]] = {}
        self._wanted: dict[str, tuple[str, list[str]]] = {}
        for kind, topics in (('command', block.commands), ('feedback', block.feedback),
                             ('sensed', block.inputs)):
            for known in topics:
                message, kinds = self._wanted.setdefault(known.topic, (known.message, []))
                kinds.append(kind)
                if message == 'auto':
                    self._wanted[known.topic] = known.message, kinds

    @property
    def names(self) -> dict[str, str]:
        """Return topic to its full name after remapping."""
        return {topic: self._node.resolve_topic_name(topic) for topic in self._wanted}

    def follow_graph(self) -> None:
        """Subscribe to what is there by now, and again where publishers have changed."""
        for topic, (wanted, kinds) in self._wanted.items():
            publishers = self._node.get_publishers_info_by_topic(
                self._node.resolve_topic_name(topic))
            types = {info.topic_type for info in publishers}
            if not types:
                continue
            if len(types) > 1 or (wanted != 'auto' and wanted not in types):
                self.troubles[topic] = (
                    f'{topic} is published as {", ".join(sorted(types))}, expected '
                    f'{"one type" if wanted == "auto" else wanted}')
                continue
            self._subscribe(topic, types.pop(), kinds, qos.command(publishers))

    def take(self) -> Iterator[Event]:
        """
        Yield what has arrived by now, in order.

        :raises MeasurementError: more arrived than can be kept
        """
        for arrived in self._inbox.take():
            if isinstance(arrived, Event):
                yield arrived
            else:
                yield from self._events(arrived)

    def close(self) -> None:
        """Give up the subscriptions."""
        for _, subscription in self._made.values():
            self._node.destroy_subscription(subscription)
        self._made.clear()

    def _subscribe(self, topic: str, interface: str, kinds: list[str], profile: Any) -> None:
        key = interface, profile.reliability
        if topic in self._made and self._made[topic][0] == key:
            return
        try:
            warm_up(interface)
        except MeasurementError as error:
            self.troubles[topic] = str(error)
            return
        self.troubles.pop(topic, None)
        if topic in self._made:
            self._node.destroy_subscription(self._made.pop(topic)[1])
        self._made[topic] = key, self._node.create_subscription(
            interface_class(interface), topic, self._callback(topic), profile, raw=True)

    def _callback(self, topic: str) -> Callable[..., None]:
        put, clock = self._inbox.put, self._clock

        def receive(raw: Any, info: Any) -> None:
            steady_ns, system_ns = time.monotonic_ns(), time.time_ns()
            put(Arrival(steady_ns, system_ns,
                        clock.now_ns() if clock.sim_time else system_ns, '', topic, raw, info))
        return with_info(receive)

    def _events(self, arrived: Arrival) -> Iterator[Event]:
        topic, info = arrived.topic, arrived.info or {}
        known = self._made.get(topic)
        if known is None:
            return
        interface, message, header_ns = known[0][0], None, None
        kinds = self._wanted[topic][1]
        try:
            if kinds == ['sensed']:
                header_ns = _header_ns(arrived.raw, interface)
            else:
                message, header_ns = from_raw(arrived.raw, interface)
        except Exception as error:  # whatever it is, others go on being heard
            yield self._event('fault', 'MeasurementError', arrived, None, info,
                              text=f'{topic}: a message cannot be read: {error!s:.200}')
            return
        for kind in kinds:
            yield self._event(kind, topic, arrived, header_ns, info,
                              message=None if kind == 'sensed' else message)

    def _event(self, kind: Any, name: str, arrived: Arrival, header_ns: int | None, info: Any,
               **more: Any) -> Event:
        return Event.model_construct(
            kind=kind, name=name, stamps=Stamps.model_construct(
                steady_ns=arrived.steady_ns, system_ns=arrived.system_ns, ros_ns=arrived.ros_ns,
                source_ns=info.get('source_timestamp'),
                received_ns=info.get('received_timestamp'), header_ns=header_ns),
            sequence=info.get('publication_sequence_number'), **more)


def _header_ns(raw: bytes, interface: str) -> int | None:
    """Return the header stamp of a message, which is not read any further; None without one."""
    fields = interface_class(interface).get_fields_and_field_types()
    if next(iter(fields.values()), '') != _HEADER:
        return None
    stamp_ns = read_stamp_ns(raw)
    return from_raw(raw, interface)[1] if stamp_ns is None else stamp_ns
