# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A topic that the harness listens to, and commands or states of the robot come on."""

from pydantic import Field
from safety_scenarios.model.driver import DriverPlugin
from safety_scenarios.model.noun import Noun, TopicName


class CommandTopic(Noun):
    """A topic that the harness listens to."""

    topic: TopicName
    """Relative topic name such as cmd_vel or odom."""
    message: str = Field(default='auto', pattern=r'^(auto|[A-Za-z]\w*/msg/[A-Za-z]\w*)$')
    """Interface type such as geometry_msgs/msg/Twist; auto: whatever the graph shows."""
    driver: DriverPlugin | None = None
    """What turns its commands into motion; left out: a conforming driver of that interface."""
