# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The node that measures, as ROS tools see it, and what it logs on ``/rosout``."""

from collections.abc import Iterator
import time
from typing import Any

from rcl_interfaces.msg import Log, ParameterDescriptor, SetParametersResult
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.time_source import CLOCK_TOPIC
from safety_scenarios.campaign.hil_refusals import releases, why_a_command
from safety_scenarios.errors import InterlockError
from safety_scenarios.ros.link.graph import EVALUATOR, mark
from safety_scenarios.ros.parameters import declare_values
from safety_scenarios.scenario.qos_overrides import PREFIX
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.link import LinkPlan
from safety_scenarios.trial.session import Beginning, Observer
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import TrialRecord
from std_msgs.msg import Empty

_TOPIC = '/rosout'
_DEPTH = 1000
"""As rcl has it: whoever comes late, such as rqt_console, sees what was said before."""
_LONGEST = 1000
"""Characters of one line; the whole reason is in the results."""
LEVELS = {Verdict.PASS: Log.INFO, Verdict.INCONCLUSIVE: Log.WARN, Verdict.ERROR: Log.ERROR,
          Verdict.FAIL: Log.ERROR}
"""Verdict to the severity of its line."""


class RosoutReport(Observer):
    """
    Publishes verdicts as log messages of the node, and prints nothing.

    It is told between trials only, so that nothing is published here while one is running. A
    logger of rclpy would print each line too, beside what the campaign prints anyway.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._planned = self._ended = 0
        self._scenario_id = ''
        self._kept: list[tuple[int | bytes, str]] = []
        self._publisher = node.create_publisher(Log, _TOPIC, QoSProfile(
            depth=_DEPTH, durability=DurabilityPolicy.TRANSIENT_LOCAL))

    def campaign_began(self, beginning: Beginning) -> None:
        """Say what begins."""
        self._planned = beginning.planned
        self._say(Log.INFO, f'campaign: {beginning.planned} trials against '
                            f'{beginning.controller.label} in {beginning.where}')

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """
        Keep the verdict, and each finding that makes it a FAIL, and publish those before.

        What is said of a scenario leaves when its last trial is over: a controller that listens
        would know of the later ones which scenario they are of.
        """
        if result.scenario_id != self._scenario_id:
            self._publish()
        self._scenario_id = result.scenario_id
        self._ended += 1
        self._kept += [(level, f'{self._ended}/{self._planned} {text}')
                       for level, text in lines(result)]

    def _publish(self) -> None:
        kept, self._kept = self._kept, []
        for level, text in kept:
            self._say(level, text)

    def campaign_ended(self, summary: CampaignSummary) -> None:
        self._publish()
        counts = ', '.join(f'{count} {name}' for name, count in summary.verdicts.items())
        self._say(LEVELS[summary.verdict],
                  f'campaign: {summary.verdict.value}: {summary.completed} of {summary.planned} '
                  f'trials: {counts or "none"}' + (', interrupted' if summary.interrupted else ''))

    def _say(self, level: int | bytes, text: str) -> None:
        seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        message = Log(level=level if isinstance(level, int) else level[0],
                      name=self._node.get_logger().name, msg=text[:_LONGEST])
        message.stamp.sec, message.stamp.nanosec = seconds, nanoseconds  # as rcl stamps its own
        self._publisher.publish(message)


def lines(result: TrialResult) -> Iterator[tuple[int | bytes, str]]:
    """Yield severity and text of what a trial came to; a warm-up trial is no verdict."""
    name = f'{result.scenario_id} ' + (f'warm-up {-result.index}' if result.warmup
                                       else f'trial {result.index + 1}')
    level = Log.INFO if result.warmup else LEVELS[result.verdict]
    passed = result.verdict is Verdict.PASS
    yield level, f'{name}: {result.verdict.value}' + ('' if passed else f': {result.reason}')
    for finding in () if result.warmup else result.findings:
        if finding.verdict is Verdict.FAIL:
            yield Log.ERROR, f'{name}: {finding.check}: {finding.reason}'


OWN = ('/rosout', '/parameter_events')
"""What every node publishes on."""
_WHY = 'the parameters of a campaign are fixed when it begins. Start another one'


_UNTOLD = 'qos_overrides', 'scenarios', 'selection', 'seed', 'output', 'junit'
"""Settings that are no parameters: overrides are declared by themselves, and a controller that
knows the others knows what comes."""


class WithoutClock:
    """
    Beside ``Node``: one that does not hear /clock, though it says ``use_sim_time``.

    ROS time has a node and a thread of its own here: at 1 kHz it would delay what is measured.
    """

    def create_subscription(self, msg_type: Any, topic: str, *arguments: Any, **named: Any) -> Any:
        """Make a subscription, but none to /clock, which rclpy asks for with use_sim_time."""
        if topic == CLOCK_TOPIC:
            return None
        return super().create_subscription(msg_type, topic, *arguments, **named)  # type: ignore


class MeasuringNode(WithoutClock, Node):
    """
    A node with a campaign's settings as parameters, which nobody can change.

    ``ros2 param dump`` writes a file from which ``evaluator_node`` runs a campaign with the same
    settings. What tells a controller which hazards come, and when, is not among them: every node
    of the domain can read a parameter.

    :param context: in which domain, and with which remapping rules
    :param plan: of the link; there is no secret in it
    """

    def __init__(self, name: str, context: Context, plan: LinkPlan) -> None:
        self._hil, self._names = plan.ros.hil, plan.names
        self.live: list[Any] = []
        super().__init__(name, context=context, parameter_overrides=[
            Parameter('use_sim_time', value=plan.ros.use_sim_time)])
        declare_values(self, plan.ros.parameters, leave_out=_UNTOLD)
        for override in plan.ros.overrides:
            self.declare_parameter(override.parameter, override.value, ParameterDescriptor(
                description=f'{override.policy} of our {override.endpoint} on {override.topic}',
                read_only=True))
        self.create_publisher(Empty, EVALUATOR, 1)
        mark(self)  # before its executor turns
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
