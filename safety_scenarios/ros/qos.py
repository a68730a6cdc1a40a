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

"""Quality of service: what we offer as publisher and ask for as subscriber."""

from typing import Any

from rclpy import qos

STIMULUS_DEPTH = 10
"""As sensors are published; an old stimulus is of no use."""
COMMAND_DEPTH = 1000
"""A second at 1 kHz: no command may be lost while Python is busy."""


def stimulus() -> qos.QoSProfile:
    """Return reliable, volatile, keep last 10: matches reliable and best-effort subscribers."""
    return qos.QoSProfile(depth=STIMULUS_DEPTH, reliability=qos.ReliabilityPolicy.RELIABLE,
                          durability=qos.DurabilityPolicy.VOLATILE)


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
