# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The node that measures, as ROS tools see it: its parameters say what the campaign uses."""

from typing import Any

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time_source import CLOCK_TOPIC
from safety_scenarios.campaign.never_published import releases, why_a_command
from safety_scenarios.errors import InterlockError
from safety_scenarios.ros.parameters import declare_values
from safety_scenarios.scenario.qos_override import PREFIX
from safety_scenarios.trial.link_plan import LinkPlan

OWN = ('/rosout', '/parameter_events')
"""What every node publishes on."""
_WHY = 'the parameters of a campaign are fixed when it begins. Start another one'


class WithoutClock:
    """
    Beside ``Node``: one that does not hear /clock, though it says ``use_sim_time``.

    ROS time has a node and a thread of its own here: at 1 kHz it would delay what is measured.
    """

    def create_subscription(self, msg_type: Any, topic: str, *arguments: Any,
                            **named: Any) -> Any:
        """Make a subscription, but none to /clock, which rclpy asks for with use_sim_time."""
        if topic == CLOCK_TOPIC:
            return None
        return super().create_subscription(msg_type, topic, *arguments, **named)  # type: ignore


class MeasuringNode(WithoutClock, Node):
    """
    A node with a campaign's settings as parameters, which nobody can change.

    ``ros2 param dump`` writes a file from which ``evaluator_node`` runs the same campaign.

    :param name: of the node
    :param context: in which domain, and with which remapping rules
    :param plan: of the link; there is no secret in it
    """

    def __init__(self, name: str, context: Context, plan: LinkPlan) -> None:
        self._hil, self._names = plan.ros.hil, plan.names
        self.live: list[Any] = []
        super().__init__(name, context=context, parameter_overrides=[
            Parameter('use_sim_time', value=plan.ros.use_sim_time)])
        declare_values(self, plan.ros.parameters, leave_out=('qos_overrides',))
        for override in plan.ros.overrides:
            self.declare_parameter(override.parameter, override.value, ParameterDescriptor(
                description=f'{override.policy} of our {override.endpoint} on {override.topic}',
                read_only=True))
        self.add_on_set_parameters_callback(
            lambda parameters: SetParametersResult(successful=False, reason=_WHY))

    def create_publisher(self, msg_type: Any, topic: str, *arguments: Any, **named: Any) -> Any:
        """
        Make a publisher; where a robot is really there, none that its profile does not list.

        :raises InterlockError: names it, before anything was published there
        """
        full = self.resolve_topic_name(topic)
        own = self.resolve_topic_name('calibration') + '/'
        if self._hil.enabled and full not in OWN and not full.startswith(own):
            listed = set(map(self._names.unmapped, self._hil.publishes))
            if full not in listed:
                raise InterlockError(
                    f'{full}: got a publisher of the harness, expected one of '
                    f'{", ".join(sorted(listed)) or "none"}. Add it to hil.publishes')
        return super().create_publisher(msg_type, topic, *arguments, **named)

    def create_live_publisher(self, msg_type: Any, topic: str, profile: Any) -> Any:
        """
        Make a publisher for people and their tools, which no robot and no stimulus uses.

        :raises InterlockError: a robot is really there, and the topic is called otherwise by a
            remapping rule, or like one that a robot obeys
        """
        full = self.resolve_topic_name(topic)
        if self._hil.enabled:
            plain = topic.replace('~', self.get_fully_qualified_name(), 1)
            if full != plain or releases(full) or why_a_command(full, '') is not None:
                raise InterlockError(
                    f'{full}: got it as the name of the live topic {topic}, expected {plain}, and '
                    f'no name that a robot obeys. Change the remapping rule or the name of the '
                    f'node, or set live_topics to off')
        self.live.append(super().create_publisher(msg_type, topic, profile))
        return self.live[-1]


def given_overrides(node: Node) -> tuple[str, ...]:
    """
    Return the parameters ``qos_overrides.…`` that a node was given, as texts of the setting.

    Their names hold the names of topics, so that they cannot be declared and then read.
    """
    with node.handle:
        given = node.handle.get_parameters(Parameter)
    return tuple(f'{name.removeprefix(PREFIX)}={parameter.value}'
                 for name, parameter in sorted(given.items()) if name.startswith(PREFIX))
