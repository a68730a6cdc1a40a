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
"""From what a scenario says to the entities that it takes in a world."""

from collections.abc import Sequence

from safety_scenarios.model.intent import ObstacleAt, PersonAt, VehicleAt
from safety_scenarios.model.world.block import WorldBlock
from safety_scenarios.simulators.mujoco.entities import Entity
from safety_scenarios.simulators.mujoco.people.people import Person
from safety_scenarios.simulators.mujoco.second_robot import SecondRobot
from safety_scenarios.simulators.mujoco.things import MovingWall, Obstacle


def entities_of(name: str, intent: object) -> Sequence[Entity]:
    """Return what an intent puts into the world, named in order; empty if it puts nothing."""
    if isinstance(intent, PersonAt):
        return [Person(name if place == 0 else f'{name}#{place + 1}', intent, place)
                for place in range(intent.count)]
    if isinstance(intent, VehicleAt):
        return [SecondRobot(name, intent)]
    return [Obstacle(name, intent)] if isinstance(intent, ObstacleAt) else []


def moving_walls(block: WorldBlock) -> Sequence[MovingWall]:
    """Return the walls of a scene that come along, and its doors."""
    return [MovingWall(wall) for wall in block.walls if wall.moves]
