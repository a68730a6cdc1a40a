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

"""Controllers that are begun, and loopback links with one inside."""

from collections.abc import Callable, Mapping
from typing import Any

from safety_scenarios.controllers.host import ControllerHost
from safety_scenarios.controllers.making import OldController
from safety_scenarios.links.loopback import LoopbackLink
from safety_scenarios.model.controller import ControllerPlugin
from safety_scenarios.model.settings import ControllerContext, ControllerSettings

Make = Callable[[Any], Any]
"""From settings to a controller: its class, or a function."""


def begun(kind: type[ControllerPlugin] | ControllerPlugin,
          context: ControllerContext | None = None, **parameters: Any) -> Any:
    """Return a controller that knows its context."""
    plugin = kind if isinstance(kind, ControllerPlugin) else kind(**parameters)
    plugin.begin(context or ControllerSettings())
    return plugin


def host(make: Make, settings: ControllerSettings) -> ControllerHost:
    """Return a host of what is made of its settings."""
    plugin = OldController.around(make)
    plugin.begin(settings)
    return ControllerHost(plugin)


def linked(make: Make, settings: ControllerSettings,
           participants: Mapping[str, Make] | None = None) -> LoopbackLink:
    """Return a link to what is made of its settings, and to the others that take part."""
    return LoopbackLink(host(make, settings), participants={
        agent_id: host(other, settings) for agent_id, other in (participants or {}).items()})
