# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A scenario as one model: floor, walls, boxes, the robot, and all that stimuli may put there."""

from collections.abc import Iterable
import math
from typing import Any, Protocol

import mujoco
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.world.block import WorldBlock
from safety_scenarios.worlds.mujoco.entities import Entity, GLASS
from safety_scenarios.worlds.mujoco.mobile_base import GRAVITY
from safety_scenarios.worlds.mujoco.robots import STIFFNESS, TOUCHES

STEP_S = 0.005
"""Of the physics."""
ON_FLOOR = 2
"""Bit of what lies or falls on the floor; what its joints hold upright has no need of it."""
BODY_N_M = 60_000.0
"""Spring constant of a lower leg, where a base meets a person (N/m; ISO/TS 15066:2016 A.3)."""
_DECIDES = 2
"""Priority of a body's softness over that of what it meets."""
_BODY_DAMPS = 0.1
"""Damping ratio of a body; with more the peak of a contact force would be told too low."""
OVERLAP_M = 1e-3
"""What begins nearer than touching by more than this is inside of something."""


class Built(Protocol):
    """A robot that can be put into a scene."""

    def build(self, spec: Any) -> None:
        """Add it to a scene that is not compiled yet."""

    def finish(self, model: Any) -> None:
        """Set in the compiled scene what only its numbers tell."""


def compiled(chassis: Built, world: WorldBlock, entities: Iterable[Entity],
             step_s: float = STEP_S) -> Any:
    """
    Return the model of a scene.

    :param step_s: of the physics; a link leaves it as it is
    :raises InputError: MuJoCo does not take it
    """
    spec = mujoco.MjSpec()
    spec.option.timestep = step_s
    spec.option.gravity = [0, 0, -GRAVITY]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.default.geom.solref[:] = STIFFNESS
    spec.worldbody.add_geom(name='floor', type=mujoco.mjtGeom.mjGEOM_PLANE, size=[50, 50, 0.1],
                            contype=ON_FLOOR, conaffinity=ON_FLOOR,
                            friction=[world.floor.friction, 0.005, 0.0001],
                            rgba=[0.9, 0.9, 0.88, 1])
    _walls(spec, world)
    _boxes(spec, world)
    if world.camera is not None:
        _sky(spec)
    chassis.build(spec)
    for entity in entities:
        entity.build(spec)
    try:
        model = spec.compile()
    except ValueError as error:
        raise InputError(f'ros.world: MuJoCo does not take this scene: '
                         f'{" ".join(str(error).split())}. Check the robot and ros.world'
                         ) from error
    chassis.finish(model)
    return model


def _sky(spec: Any) -> None:
    """Let there be something behind everything, so that dark clothes are seen before it."""
    spec.add_texture(name='sky', type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=32, height=192,
                     builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
                     rgb1=[0.55, 0.65, 0.8], rgb2=[0.8, 0.82, 0.85])


def soften(model: Any, people: Iterable[Entity], robot_kg: float) -> None:
    """
    Let people be as soft as bodies are, so that a contact with one has a force that means much.

    :param robot_kg: of the robot; with the person's it makes the mass that the spring stops
    """
    for person in people:
        root = int(model.geom_bodyid[person.geoms[0]]) if person.geoms else 0
        body_kg = float(model.body_subtreemass[root])
        if not body_kg:
            continue
        rate = BODY_N_M * (1 / robot_kg + 1 / body_kg)
        model.geom_solref[person.geoms] = -rate, -2 * _BODY_DAMPS * math.sqrt(rate)
        model.geom_priority[person.geoms] = _DECIDES


def refuse_overlaps(model: Any, data: Any) -> None:
    """
    See that nothing begins inside of anything else.

    :raises InputError: it does; what, and how far
    """
    for place in range(data.ncon):
        contact = data.contact[place]
        if contact.dist < -OVERLAP_M:
            one, other = (_named(model, geom) for geom in (contact.geom1, contact.geom2))
            raise InputError(
                f'ros.world: got {one} and {other} {-contact.dist:.2f} m inside each other where '
                f'they begin, expected room between them. Move one of them, or the start')


def _named(model: Any, geom: int) -> str:
    """Return what a geometry belongs to, as the scenario calls it."""
    own = str(model.geom(geom).name)
    body = str(model.body(int(model.body_rootid[model.geom_bodyid[geom]])).name)
    return own if body == 'world' else body


def _walls(spec: Any, world: WorldBlock) -> None:
    for wall in world.walls:
        if wall.moves:
            continue  # an entity
        (x, y), (x_end, y_end) = wall.begin, wall.end
        spec.worldbody.add_geom(
            name=f'wall:{wall.name}', type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[math.hypot(x_end - x, y_end - y) / 2, wall.thickness / 2, wall.height / 2],
            pos=[(x + x_end) / 2, (y + y_end) / 2, wall.height / 2],
            euler=[0, 0, math.degrees(math.atan2(y_end - y, x_end - x))],
            contype=TOUCHES, conaffinity=TOUCHES,
            group=GLASS if wall.glass else 0, rgba=[0.6, 0.8, 0.9, 0.3] if wall.glass
            else [0.7, 0.7, 0.7, 1])


def _boxes(spec: Any, world: WorldBlock) -> None:
    for box in world.boxes:
        length, width, height = box.size
        body = spec.worldbody.add_body(
            name=f'box:{box.name}', pos=[*box.at, height / 2],
            euler=[0, 0, math.degrees(box.heading)])
        if box.mass:
            body.add_freejoint()
        touches = TOUCHES | ON_FLOOR if box.mass else TOUCHES
        body.add_geom(name=f'box:{box.name}', type=mujoco.mjtGeom.mjGEOM_BOX, group=0,
                      size=[length / 2, width / 2, height / 2], mass=box.mass or 1.0,
                      contype=touches, conaffinity=touches, rgba=[0.6, 0.45, 0.25, 1])
