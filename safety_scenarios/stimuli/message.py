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

"""Any message of any installed interface, as the file gives it."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from safety_scenarios.model.contracts import Stimulus, StimulusContext, StimulusPlugin
from safety_scenarios.model.message import Message


class RawMessage(StimulusPlugin):
    """A constant message: a heartbeat, joint states, a battery state, an operator's stop."""

    kind: Literal['message'] = 'message'
    message: str = Field(pattern=r'^[A-Za-z]\w*/msg/[A-Za-z]\w*$')
    """Interface type, such as std_msgs/msg/Empty."""
    data: Mapping[str, Any] = {}
    """Field to value, in the units of the message definition; what is left out keeps its
    default. A header stamp is filled in when it is sent."""

    def interface(self) -> str:
        """Return the interface type."""
        return self.message

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the message."""
        return Stimulus(self.topic, Message.model_construct(type=self.message, data=self.data))
