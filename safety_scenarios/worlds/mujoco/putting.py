# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""From what a scenario says to the entities that it takes in a world."""

from collections.abc import Sequence

from safety_scenarios.scenario.intent import ObstacleAt, PersonAt, VehicleAt
from safety_scenarios.scenario.world.block import WorldBlock
from safety_scenarios.worlds.mujoco.entities import Entity
from safety_scenarios.worlds.mujoco.people.people import Person
from safety_scenarios.worlds.mujoco.second_robot import SecondRobot
from safety_scenarios.worlds.mujoco.things import MovingWall, Obstacle


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
