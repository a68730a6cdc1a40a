# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A scenario as one model: floor, walls, boxes, the robot, an arm on its column, stimuli."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import math
from typing import Any, Protocol

import mujoco
from safety_scenarios.errors import did_you_mean, InputError
from safety_scenarios.formats.companion_files import read_robot, ReadRobot
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.companion_files import Mount, RobotLimits
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.world import WorldBlock
from safety_scenarios.worlds.mujoco.entities import Entity, GLASS
from safety_scenarios.worlds.mujoco.mobile_base import GRAVITY
from safety_scenarios.worlds.mujoco.robots import (
    PREFIX,
    read_model,
    ROBOT,
    robot_of,
    STIFFNESS,
    TOUCHES,
    UNSEEN,
)

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


FOOT_RADIUS = 0.06
"""Of the column on which an arm stands (m)."""
TORQUE = 150.0
"""Of a joint whose model names no limit (N.m)."""
FLANGE, TOOL = PREFIX + 'flange', PREFIX + 'tool'
"""Sites: where the wrench is measured, and what touches the work."""
FORCE, MOMENT, PAYLOAD = PREFIX + 'force', PREFIX + 'moment', PREFIX + 'payload'
_OURS = 'arm6.yaml'
_HOME = 'home'
_KINDS = {int(mujoco.mjtJoint.mjJNT_HINGE): 'hinge', int(mujoco.mjtJoint.mjJNT_SLIDE): 'slide'}
_LIMITS = RobotLimits.model_construct(max_speed=3.1, acceleration=20.0, deceleration=10.0,
                                      max_yaw_rate=20.0, delay_ms=20.0)
"""Of an arm whose robot file names none (rad/s, rad/s^2)."""


@dataclass(frozen=True)
class MountedArm:
    """An arm on its column."""

    file: ReadRobot
    spec: Any
    """Its own model, which is not compiled yet."""
    joints: tuple[str, ...]
    """All of them in the scene, those of the scenario first."""
    driven: tuple[str, ...]
    """Names of the first joints in the scenario; what is left stays where it is."""
    home: tuple[float, ...]
    """Where each joint is at first (rad or m): by the key ``home`` of its model, or 0."""
    torque: tuple[float, ...]
    """The most that each joint can exert (N.m or N)."""
    world: WorldBlock
    radius: float = FOOT_RADIUS

    @property
    def name(self) -> str:
        """Return what messages call it."""
        return self.file.path.name

    @property
    def limits(self) -> RobotLimits:
        """Return what its drives can do."""
        return self.file.file.limits or _LIMITS

    def mount(self, kind: str, topic: str = '') -> Mount:
        """Return where a sensor is."""
        return self.file.file.mount(kind, topic) or Mount.model_construct(kind=kind)

    def build(self, spec: Any) -> None:
        """Add the arm to a scene that is not compiled yet."""
        start, height = self.world.start, self.file.file.foot
        foot = spec.worldbody.add_body(
            name=ROBOT, pos=[start.x, start.y, 0],
            quat=[math.cos(start.heading / 2), 0, 0, math.sin(start.heading / 2)])
        if height:
            foot.add_geom(name='foot', type=mujoco.mjtGeom.mjGEOM_CYLINDER, group=UNSEEN,
                          size=[self.radius, height / 2, 0], pos=[0, 0, height / 2],
                          contype=TOUCHES, conaffinity=TOUCHES, rgba=[0.35, 0.35, 0.35, 1])
        base = self.spec.body(self.file.file.base)
        links = _first_links(base)
        foot.add_frame(pos=[0, 0, height]).attach_body(base, PREFIX, '')
        names = [ROBOT, *(PREFIX + link for link in links)]
        for place, name in enumerate(names):
            for other in names[:place]:
                spec.add_exclude(bodyname1=other, bodyname2=name)
        for name, kind in ((FORCE, mujoco.mjtSensor.mjSENS_FORCE),
                           (MOMENT, mujoco.mjtSensor.mjSENS_TORQUE)):
            spec.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=FLANGE)

    def finish(self, model: Any) -> None:
        """Leave the compiled arm as it is."""


def arm_of(scenario: Scenario, robot: RobotModel, world: WorldBlock) -> MountedArm:
    """
    Return the arm that a scenario commands in a world.

    :raises InputError: as ``robot_of``, or it has other joints than the scenario
    """
    found = robot_of(scenario) or read_robot(share_folder() / 'config' / 'robots' / _OURS)
    spec, model = read_model(found)
    own = [str(model.joint(place).name) for place in range(model.njnt)]
    for name, kind in zip(own, model.jnt_type.tolist(), strict=True):
        if not name or kind not in _KINDS:
            what = _KINDS.get(kind, 'ball or free joint')
            raise found.refused('model', f'got {name or "a joint without a name"} ({what}), '
                                         f'expected hinges and slides with names: an arm stands '
                                         f'fast. Name it, or remove it')
    for name in found.file.joints:
        if name not in own:
            raise found.refused('joints', f'got {name!r}, which its model does not have, expected '
                                          f'some of its joints: {", ".join(own) or "none"}.'
                                          f'{did_you_mean(name, own)}')
    first, driven = _mapped(found, robot.joints)
    ordered = [*first, *(name for name in own if name not in first)]
    keys = {str(model.key(place).name): place for place in range(model.nkey)}
    home = model.key_qpos[keys[_HOME]] if _HOME in keys else model.qpos0
    _prepare(found, spec, ordered, world.payload)
    return MountedArm(
        file=found, spec=spec, driven=driven, world=world,
        joints=tuple(PREFIX + name for name in ordered),
        home=tuple(float(home[int(model.joint(name).qposadr[0])]) for name in ordered),
        torque=tuple(_torque(model, name) for name in ordered))


def _mapped(robot: ReadRobot, names: Sequence[str]) -> tuple[Sequence[str], tuple[str, ...]]:
    """Return the joints of the robot that a scenario drives, and what it calls them."""
    own = tuple(robot.file.joints)
    if not names or set(names) <= set(own):
        driven = tuple(names) or own
        return driven, driven
    if set(names) & set(own):
        unknown = ', '.join(name for name in names if name not in own)
        raise robot.refused('joints', f'got {", ".join(own)}, where ros.robot.joints names '
                                      f'{unknown} too, expected all of those or none: then they '
                                      f'are taken in order. Correct one of the two')
    if len(names) > len(own):
        raise robot.refused('joints', f'got {len(own)}, expected at least the {len(names)} of '
                                      f'ros.robot.joints. Choose a robot with as many in '
                                      f'ros.world.robot')
    return own[:len(names)], tuple(names)


def _prepare(robot: ReadRobot, spec: Any, joints: Sequence[str], payload: float) -> None:
    """Leave of a model what moves and touches, and mark flange and tool."""
    last = spec.joint(joints[-1]).parent
    sites = {site.name: site for site in spec.sites}
    tool, flange = sites.get(robot.file.tool), sites.get('flange')
    bodies = {body.name: body for body in spec.bodies if body.name}
    if tool is None and robot.file.tool and robot.file.tool not in bodies:
        known = [*sites, *bodies]
        raise robot.refused('tool', f'got {robot.file.tool!r}, expected a site or a body of its '
                                    f'model: {", ".join(known[:20])}.'
                                    f'{did_you_mean(robot.file.tool, known)}')
    if tool is None:
        tool = bodies.get(robot.file.tool, last).add_site(name=TOOL.removeprefix(PREFIX))
    tool.name = TOOL.removeprefix(PREFIX)
    if flange is None:
        tool.parent.add_site(name=FLANGE.removeprefix(PREFIX))
    if payload:
        load = tool.parent.add_body(name=PAYLOAD.removeprefix(PREFIX), pos=tool.pos)
        load.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.03, 0, 0], mass=payload,
                      contype=0, conaffinity=0)
    for kind in ('keys', 'actuators', 'sensors', 'equalities', 'tendons', 'pairs'):
        for part in list(getattr(spec, kind)):
            spec.delete(part)
    for geom in spec.geoms:
        geom.group = UNSEEN
        if geom.contype or geom.conaffinity:
            geom.contype = geom.conaffinity = TOUCHES | ON_FLOOR
            geom.solref[:] = STIFFNESS


def _torque(model: Any, name: str) -> float:
    place = int(model.joint(name).id)
    least, most = model.jnt_actfrcrange[place].tolist()
    return float(min(-least, most)) if model.jnt_actfrclimited[place] and least < 0 < most \
        else TORQUE


def _first_links(base: Any) -> list[str]:
    """Return the bodies that are fixed to the foot, and those that hang on these by a joint."""
    found: list[str] = []
    waiting = [base]
    while waiting:
        body = waiting.pop(0)
        if not body.name:
            body.name = f'link{len(found)}'
        found.append(body.name)
        if not body.joints:
            waiting += list(body.bodies)
    return found
