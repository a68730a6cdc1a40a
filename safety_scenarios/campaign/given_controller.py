# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From what a Python user gives as a controller to the name that the results will bear."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from safety_scenarios.campaign.plugin_roles import Controller
from safety_scenarios.controllers.adapters import Decide, parameter_model
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.trial.links.controller_facts import is_bundled
from safety_scenarios.trial.links.isolated_controller import IsolatedController

GivenController = str | type[Any] | ControllerPlugin | Controller | Decide


@contextmanager
def given(controller: GivenController, isolate: bool) -> Iterator[tuple[str, Any]]:
    """
    Give the name that the results will bear, and the controller; None for that of a plug-in.

    What is not the harness's own is given as its process, which ends with the context.

    :param controller: the name of a plug-in, for which nothing else is needed; or whatever
        ``controllers.adapters`` takes for a controller
    :param isolate: False to leave it in this process
    :raises SettingsError: it is nothing of that kind
    :raises ControllerError: its process could not be started
    """
    if isinstance(controller, str):
        yield controller, None
        return
    parameter_model(controller)
    named = controller if hasattr(controller, '__qualname__') else type(controller)
    name = f'{named.__module__}:{named.__qualname__}'
    if not isolate or is_bundled(name, controller):
        yield name, controller
        return
    with IsolatedController(thing=controller) as process:
        yield name, process
