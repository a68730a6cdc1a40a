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
"""A scenario as one model: floor, walls, boxes, the robot, and all that stimuli may put there."""

from collections.abc import Iterable
import math
from typing import Any

import mujoco
from safety_scenarios.errors import InputError
from safety_scenarios.model.robot import RobotModel
from safety_scenarios.model.world_block import WorldBlock
from safety_scenarios.simulator.base import GRAVITY, HEIGHT, MASS
from safety_scenarios.simulator.entities import Entity, UNSEEN

STEP_S = 0.005
"""Of the physics."""
ROBOT = 'robot'
JOINTS = tuple(f'{ROBOT}.{axis}' for axis in ('x', 'y', 'heading'))
_ABOVE = 0.05
"""Of the robot's body above the floor, where its wheels are (m)."""


def compiled(robot: RobotModel, world: WorldBlock, entities: Iterable[Entity]) -> Any:
    """
    Return the model of a scene.

    :raises InputError: MuJoCo does not take it
    """
    spec = mujoco.MjSpec()
    spec.option.timestep = STEP_S
    spec.option.gravity = [0, 0, -GRAVITY]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.worldbody.add_geom(name='floor', type=mujoco.mjtGeom.mjGEOM_PLANE, size=[50, 50, 0.1],
                            rgba=[0.9, 0.9, 0.88, 1])
    _walls(spec, world)
    _boxes(spec, world)
    _base(spec, robot, world)
    for entity in entities:
        entity.build(spec)
    try:
        return spec.compile()
    except ValueError as error:
        raise InputError(f'ros.world: MuJoCo does not take this scene: {error}') from error


def _walls(spec: Any, world: WorldBlock) -> None:
    for wall in world.walls:
        (x, y), (x_end, y_end) = wall.begin, wall.end
        length = math.hypot(x_end - x, y_end - y)
        spec.worldbody.add_geom(
            name=f'wall:{wall.name}', type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[max(length, 1e-3) / 2, wall.thickness / 2, wall.height / 2],
            pos=[(x + x_end) / 2, (y + y_end) / 2, wall.height / 2],
            euler=[0, 0, math.degrees(math.atan2(y_end - y, x_end - x))],
            group=UNSEEN if wall.glass else 0, rgba=[0.6, 0.8, 0.9, 0.3] if wall.glass
            else [0.7, 0.7, 0.7, 1])


def _boxes(spec: Any, world: WorldBlock) -> None:
    for box in world.boxes:
        length, width, height = box.size
        body = spec.worldbody.add_body(
            name=f'box:{box.name}', pos=[*box.at, height / 2],
            euler=[0, 0, math.degrees(box.heading)])
        if box.mass:
            body.add_freejoint()
        body.add_geom(name=f'box:{box.name}', type=mujoco.mjtGeom.mjGEOM_BOX, group=0,
                      size=[length / 2, width / 2, height / 2], mass=box.mass or 1.0,
                      rgba=[0.6, 0.45, 0.25, 1])


def _base(spec: Any, robot: RobotModel, world: WorldBlock) -> None:
    body = spec.worldbody.add_body(name=ROBOT, pos=[0, 0, 0])
    kinds = (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_SLIDE,
             mujoco.mjtJoint.mjJNT_HINGE)
    for name, kind, axis in zip(JOINTS, kinds, ([1, 0, 0], [0, 1, 0], [0, 0, 1]), strict=True):
        body.add_joint(name=name, type=kind, axis=axis)
    body.add_geom(name=ROBOT, type=mujoco.mjtGeom.mjGEOM_CYLINDER, group=0,
                  size=[robot.footprint, (HEIGHT - _ABOVE) / 2, 0],
                  pos=[0, 0, (HEIGHT + _ABOVE) / 2], mass=MASS + world.payload,
                  rgba=[0.0, 0.45, 0.7, 1])
