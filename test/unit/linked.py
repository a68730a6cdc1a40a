# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Controllers that are begun, and loopback links with one inside."""

from collections.abc import Callable, Mapping
from typing import Any

from safety_scenarios.controllers.adapters import WrappedController
from safety_scenarios.controllers.host import ControllerHost
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.settings import ControllerContext, ControllerSettings
from safety_scenarios.trial.links.loopback import LoopbackLink

Make = Callable[[Any], Any]
"""From settings to a controller: its class, or a function."""


def begun(kind: type[ControllerPlugin] | ControllerPlugin,
          context: ControllerContext | None = None, **parameters: Any) -> Any:
    plugin = kind if isinstance(kind, ControllerPlugin) else kind(**parameters)
    plugin.begin(context or ControllerSettings())
    return plugin


def host(make: Make, settings: ControllerSettings) -> ControllerHost:
    return ControllerHost(begun(wrapped(make), settings))


def wrapped(make: Make) -> WrappedController:
    """Return the controller that wraps what is made of its settings."""
    plugin = WrappedController()
    plugin._make = make
    return plugin


def linked(make: Make, settings: ControllerSettings,
           participants: Mapping[str, Make] | None = None) -> LoopbackLink:
    """Return a link to what is made of its settings, and to the others that take part."""
    return LoopbackLink(host(make, settings), participants={
        agent_id: host(other, settings) for agent_id, other in (participants or {}).items()})
