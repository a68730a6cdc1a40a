# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From what a Python user gives as a controller to the name that the results will bear."""

from typing import Any

from safety_scenarios.campaign.plugin_roles import Controller
from safety_scenarios.controllers.adapters import Decide, parameter_model
from safety_scenarios.scenario.controller import ControllerPlugin

GivenController = str | type[Any] | ControllerPlugin | Controller | Decide


def given(controller: GivenController) -> tuple[str, Any]:
    """
    Return the name that the results will bear, and the controller; None for that of a plug-in.

    :param controller: the name of a plug-in, for which nothing else is needed; or whatever
        ``controllers.adapters`` takes for a controller
    :raises SettingsError: it is nothing of that kind
    """
    if isinstance(controller, str):
        return controller, None
    parameter_model(controller)
    named = controller if hasattr(controller, '__qualname__') else type(controller)
    return f'{named.__module__}:{named.__qualname__}', controller
