# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A topic that the harness listens to, and commands or states of the robot come on."""

from pydantic import Field
from safety_scenarios.scenario.driver import DriverPlugin
from safety_scenarios.scenario.noun import Noun, TopicName


class CommandTopic(Noun):
    """A topic that the harness listens to."""

    topic: TopicName
    """Relative topic name such as cmd_vel or odom."""
    message: str = Field(default='auto', pattern=r'^(auto|[A-Za-z]\w*/msg/[A-Za-z]\w*)$')
    """Interface type such as geometry_msgs/msg/Twist; auto: whatever the graph shows."""
    driver: DriverPlugin | None = None
    """What turns its commands into motion; left out: a conforming driver of that interface."""
