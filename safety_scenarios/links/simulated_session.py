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
"""The link plug-in ``simulated``: the controller and the embedded world, in simulated time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.links.loopback import LoopbackLink
from safety_scenarios.links.loopback_session import Loopback
from safety_scenarios.model.link import Link
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.simulators.mujoco.loading import load_physics


class Simulated(Loopback):
    """Reaches a controller plug-in in this process, which drives a robot in the embedded world."""

    where = 'this process, in lock-step with the embedded world'
    has_robot = True
    worlds = ('none', 'mujoco')
    other_world = 'A simulator in another process needs --link ros'

    def link(self) -> type[LoopbackLink]:
        """
        Return the kind of link that is opened.

        :raises MissingDependencyError: MuJoCo is not installed
        """
        try:
            load_physics()
            from safety_scenarios.links.simulated import SimulatedLink
        except ImportError as error:
            raise MissingDependencyError('the embedded world', 'mujoco',
                                         "pip install 'safety_scenarios[sim]'") from error
        return SimulatedLink

    @contextmanager
    def _open(self, plugin: Any, kind: type[LoopbackLink], scenario: Scenario) -> Iterator[Link]:
        from safety_scenarios.simulators.mujoco.robots import check_robot
        check_robot(scenario)
        if scenario.ros is not None and scenario.ros.world is not None \
                and scenario.ros.world.camera is not None:
            from safety_scenarios.simulators.mujoco.sensors.offscreen import can_draw
            can_draw()
        with super()._open(plugin, kind, scenario) as link:
            yield link
