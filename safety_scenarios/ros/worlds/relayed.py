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

"""Sensors that fail: a relay between the simulator and the controller does it to their topics."""

from typing import Any

from rclpy.node import Node
from safety_scenarios.errors import MeasurementError
from safety_scenarios.model.intent import Silence, StreamFault

_KINDS = {'frozen': 'freeze', 'nan': 'nan'}


class Relayed:
    """
    The relays that run here, asked for when the first fault is due.

    :param node: a spinning node, whose callbacks run in another thread
    """

    def __init__(self, node: Node, timeout_s: float) -> None:
        self._node, self._timeout_s = node, timeout_s
        self._control: Any = None
        self._failing: set[str] = set()

    def fail(self, topic: str, intent: StreamFault | Silence) -> int:
        """
        Let a sensor fail; return the simulated time right before it did (ns).

        :raises MeasurementError: no relay carries the topic
        """
        from safety_scenarios.model.wire_fault import WireFault
        if self._control is None:
            from safety_scenarios.ros.relay_control import RelayControl
            self._control = RelayControl(self._node, self._timeout_s)
        known = sorted(self._control.topics())
        name = self._node.resolve_topic_name(topic)
        if not {topic, name} & set(known):
            raise MeasurementError(
                f'{name}: got a fault of a sensor that no relay carries, expected one of '
                f'{", ".join(known) or "no relay at all"}: a simulator\'s own sensors do not '
                f'fail. Start a relay_node between bridge and controller (doc/gazebo.md)')
        fault = WireFault(kind='drop', share=1.0) if isinstance(intent, Silence) \
            else WireFault(kind=_KINDS[intent.fault])
        self._failing.add(topic)
        return int(self._control.apply(topic, [fault]))

    def clear(self, topic: str | None = None) -> None:
        """Let a sensor tell the truth again; None: all of them."""
        for failing in sorted(self._failing if topic is None else self._failing & {topic}):
            self._failing.discard(failing)
            self._control.clear(failing)

    def close(self) -> None:
        """Give up the endpoints."""
        if self._control is not None:
            self._control.close()
