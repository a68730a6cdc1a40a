# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A node that can publish on one topic and nowhere else: no command, no service, no log."""

from typing import Any

from rcl_interfaces.msg import ParameterEvent
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time_source import CLOCK_TOPIC
from safety_scenarios.errors import MeasurementError

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

    :param name: of the node
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

    def create_subscription(self, msg_type: Any, topic: str, *arguments: Any,
                            **named: Any) -> Any:
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

    def create_service(self, srv_type: Any, srv_name: str, *arguments: Any,
                       **named: Any) -> Any:
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
