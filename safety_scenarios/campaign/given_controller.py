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

"""From what a Python user gives as a controller to the name that the results will bear."""

from typing import Any

from safety_scenarios.controllers.making import Decide, parameter_model
from safety_scenarios.model.contracts import Controller
from safety_scenarios.model.controller import ControllerPlugin

GivenController = str | type[Any] | ControllerPlugin | Controller | Decide


def given(controller: GivenController) -> tuple[str, Any]:
    """
    Return the name that the results will bear, and the controller; None for that of a plug-in.

    :param controller: the name of a plug-in, for which nothing else is needed; or whatever
        ``controllers.making`` takes for a controller
    :raises SettingsError: it is nothing of that kind
    """
    if isinstance(controller, str):
        return controller, None
    parameter_model(controller)
    named = controller if hasattr(controller, '__qualname__') else type(controller)
    return f'{named.__module__}:{named.__qualname__}', controller
