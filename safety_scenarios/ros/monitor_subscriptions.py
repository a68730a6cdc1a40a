# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a monitor listens to, and the one topic on which it publishes diagnostics."""

from collections.abc import Callable, Iterator
import time
from typing import Any

from rcl_interfaces.msg import ParameterEvent
from rclpy.context import Context

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time_source import CLOCK_TOPIC
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.link.convert import from_raw, interface_class, warm_up
from safety_scenarios.ros.spinning import Arrival, Inbox, with_info
from safety_scenarios.scenario.body import MonitorBody
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.trial.mcap.cdr import read_stamp_ns

DIAGNOSTICS, DIAGNOSTICS_TYPE = '/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray'


class _Nowhere:
    """Instead of the publisher of parameter events, which rclpy gives to every node."""

    def publish(self, message: Any) -> None:
        """Publish nothing."""


class SilentNode(Node):
    """
    A node that observes: whatever asks it for another publisher, a service or a client gets none.

    It has neither /rosout nor /parameter_events, and no parameter services. What is left is what
    the middleware itself sends so that others discover it.

    :param context: in which domain, and with which remapping rules
    :param hears_clock: it has ROS time for others, and no arguments. All others may say
        ``use_sim_time`` and leave /clock alone, which at 1 kHz would delay what they hear
    """

    def __init__(self, name: str, context: Context, hears_clock: bool = False) -> None:
        self._hears_clock = hears_clock
        super().__init__(name, context=context, enable_rosout=False,
                         start_parameter_services=False, use_global_arguments=not hears_clock,
                         parameter_overrides=[
                             Parameter('start_type_description_service', value=False)])

    def create_subscription(self, msg_type: Any, topic: str, *arguments: Any, **named: Any) -> Any:
        """Make a subscription, but none to /clock unless that is what this node is for."""
        if topic == CLOCK_TOPIC and not self._hears_clock:
            return None
        return super().create_subscription(msg_type, topic, *arguments, **named)

    def create_publisher(self, msg_type: Any, topic: str, *arguments: Any, **named: Any) -> Any:
        """
        Make the publisher of diagnostics.

        :raises MeasurementError: any other is asked for
        """
        if msg_type is ParameterEvent:
            return _Nowhere()
        interface = f'{msg_type.__module__.partition(".")[0]}/msg/{msg_type.__name__}'
        if (topic, interface) != (DIAGNOSTICS, DIAGNOSTICS_TYPE):
            raise MeasurementError(f'{topic}: a monitor publishes nothing but {DIAGNOSTICS}, and '
                                   f'was asked for {interface}')
        return super().create_publisher(msg_type, topic, *arguments, **named)

    def create_service(self, srv_type: Any, srv_name: str, *arguments: Any, **named: Any) -> Any:
        """
        Refuse.

        :raises MeasurementError: always
        """
        raise MeasurementError(f'{srv_name}: a monitor offers no service')

    def create_client(self, srv_type: Any, srv_name: str, *arguments: Any, **named: Any) -> Any:
        """
        Refuse.

        :raises MeasurementError: always
        """
        raise MeasurementError(f'{srv_name}: a monitor calls no service')


_HEADER = 'std_msgs/Header'


class Hearing:
    """
    Subscriptions that follow the graph.

    :ivar troubles: topic to why not everything that is published there can be heard

    :param node: a spinning node, whose callbacks run in another thread
    :param block: what it declares
    :param clock: ROS time
    """

    def __init__(self, node: Node, block: MonitorBody, clock: RosClock) -> None:
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
        for topic, (wanted, _) in self._wanted.items():
            publishers = self._node.get_publishers_info_by_topic(
                self._node.resolve_topic_name(topic))
            types = {info.topic_type for info in publishers}
            self.troubles.pop(topic, None)
            if not types:
                continue
            if len(types) > 1 or (wanted != 'auto' and wanted not in types):
                self.troubles[topic] = (
                    f'{topic} is published as {", ".join(sorted(types))}, expected '
                    f'{"one type" if wanted == "auto" else wanted}')
                continue
            self._subscribe(topic, types.pop(), qos.command(publishers))

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

    def _subscribe(self, topic: str, interface: str, profile: Any) -> None:
        key = interface, profile.reliability
        if topic in self._made and self._made[topic][0] == key:
            return
        try:
            warm_up(interface)
        except MeasurementError as error:
            self.troubles[topic] = str(error)
            return
        if topic in self._made:
            self._node.destroy_subscription(self._made.pop(topic)[1])
        self._made[topic] = key, self._node.create_subscription(
            interface_class(interface), topic, self._callback(topic, interface), profile,
            raw=True, event_callbacks=SubscriptionEventCallbacks(
                incompatible_qos=self._misfit(topic), use_default_callbacks=False))

    def _callback(self, topic: str, interface: str) -> Callable[..., None]:
        put, now = self._inbox.put, self._now

        def receive(raw: Any, info: Any) -> None:
            put(Arrival(*now(), interface, topic, raw, info))
        return with_info(receive)

    def _misfit(self, topic: str) -> Callable[[Any], None]:
        """Return what notes that a publisher has come that this subscription does not hear."""
        def incompatible(_: Any) -> None:
            steady_ns, system_ns, ros_ns = self._now()
            self._inbox.put(Event.model_construct(
                kind='fault', name='MeasurementError', stamps=Stamps.model_construct(
                    steady_ns=steady_ns, system_ns=system_ns, ros_ns=ros_ns),
                text=f'{topic}: a publisher with another quality of service has come, and what it '
                     f'sent first was not received'))
        return incompatible

    def _now(self) -> tuple[int, int, int]:
        """Return steady, system and ROS time (ns)."""
        steady_ns, system_ns = time.monotonic_ns(), time.time_ns()
        return steady_ns, system_ns, self._clock.now_ns() if self._clock.sim_time else system_ns

    def _events(self, arrived: Arrival) -> Iterator[Event]:
        topic, info = arrived.topic, arrived.info or {}
        interface, message, header_ns = arrived.kind, None, None
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
