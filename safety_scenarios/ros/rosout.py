# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What comes of a campaign on ``/rosout``, beside the logs of the robot's own nodes."""

from collections.abc import Iterator
import time

from rcl_interfaces.msg import Log
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from safety_scenarios.scenario.result import TrialResult, Verdict
from safety_scenarios.trial.observer import Beginning, Observer
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import TrialRecord

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

    :param node: whose messages they are
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._planned = self._ended = 0
        self._publisher = node.create_publisher(Log, _TOPIC, QoSProfile(
            depth=_DEPTH, durability=DurabilityPolicy.TRANSIENT_LOCAL))

    def campaign_began(self, beginning: Beginning) -> None:
        """Say what begins."""
        self._planned = beginning.planned
        self._say(Log.INFO, f'campaign: {beginning.planned} trials against '
                            f'{beginning.controller.label} in {beginning.where}'
                            + (f', results in {beginning.folder}' if beginning.folder else ''))

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Say the verdict, and each finding that makes it a FAIL."""
        self._ended += 1
        for level, text in lines(result):
            self._say(level, f'{self._ended}/{self._planned} {text}')

    def campaign_ended(self, summary: CampaignSummary) -> None:
        """Say the verdict of all."""
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
