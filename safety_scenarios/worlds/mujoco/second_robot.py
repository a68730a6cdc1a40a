# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Another robot: a round body on wheels of its own."""

from typing import Any

import mujoco
from safety_scenarios.scenario.intent import VehicleAt
from safety_scenarios.worlds.mujoco.entities import UNSEEN
from safety_scenarios.worlds.mujoco.people.walkers import Walker

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
