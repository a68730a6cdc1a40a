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
"""Another robot: a round body on wheels of its own."""

from typing import Any

import mujoco
from safety_scenarios.model.intent import VehicleAt
from safety_scenarios.simulators.mujoco.entities import UNSEEN
from safety_scenarios.simulators.mujoco.people.walkers import Walker

_ABOVE = 0.02
"""Of its body above the floor (m)."""


class SecondRobot(Walker):
    """It drives its way, and as its way says it waits for this robot or does not."""

    def __init__(self, name: str, intent: VehicleAt) -> None:
        super().__init__(name, intent.distance, intent.bearing, intent.mass, walk=intent.drives)
        self.radius, self._height = intent.radius, intent.height

    def build(self, spec: Any) -> None:
        """Add an upright cylinder."""
        body = self.begin(spec)
        half = max(self._height - _ABOVE, _ABOVE) / 2
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, mass=self._mass, group=UNSEEN,
                      size=[self.radius, half, 0], pos=[0, 0, _ABOVE + half],
                      rgba=[0.8, 0.47, 0.65, 1])
