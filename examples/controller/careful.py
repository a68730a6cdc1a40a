# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Stops for a person, and stands until nobody has been near for a while."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.message import Command, Observation


class Careful(ControllerPlugin):
    """Drives at a share of the top speed, but not while somebody is near."""

    limit_m: float = Field(default=2.5, gt=0)
    """Somebody nearer than this: stop (m)."""
    hold_ms: float = Field(default=500.0, ge=0)
    """How long nobody must have been near before it drives on (ms)."""

    inputs: ClassVar[Mapping[str, str]] = {'human_pose': 'geometry_msgs/msg/PoseStamped'}

    _near_ns: int | None = None

    def decide(self, observation: Observation) -> Command:
        """Return half of the top speed, or standstill."""
        person = observation.readings.get('human_pose')
        if person is None or person.message.at('pose.position.x') < self.limit_m:
            self._near_ns = observation.t_ns
        near_ns = self._near_ns
        waits = near_ns is not None and observation.t_ns - near_ns < self.hold_ms * 1e6
        return Command(velocity=(0.0 if waits else 0.5 * self.context.robot.max_speed, 0.0))
