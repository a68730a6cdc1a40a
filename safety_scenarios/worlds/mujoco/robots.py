# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The robot of a world: a plain base, or a file with its model, put into a scene."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
from safety_scenarios.errors import did_you_mean, InputError
from safety_scenarios.formats.companion_files import read_robot, ReadRobot
from safety_scenarios.formats.document.file_contents import names_in
from safety_scenarios.formats.scenario_files import installed_packs, share_folder
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.companion_files import Drive, Mount, RobotLimits
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.world import WorldBlock

ROBOT = 'robot'
"""Name of the body that everything of the robot hangs on."""
JOINTS = tuple(f'{ROBOT}.{axis}' for axis in ('x', 'y', 'heading'))
PREFIX = f'{ROBOT}/'
"""Of every name in a model of the user, so that none is in a scene twice."""
MASS = 40.0
"""Of a plain base (kg)."""
HEIGHT = 0.35
"""Of its body above the floor (m)."""
UNSEEN = 5
"""Group of geometries that no scanner sees."""
TOUCHES = 1
"""Bit of what touches everything but the floor: robots are held on it by their joints."""
STIFFNESS = (0.01, 1.0)
"""Of contacts: within how long they are as good as over (s), and their damping ratio."""
_ABOVE = 0.05
"""Of a plain base's body above the floor, where its wheels are (m)."""
_LIVELY = 1.5
"""A plain base speeds up this much harder than it is declared to brake."""
_UNDECLARED = 1.0
"""Braking of a base that declares none (m/s^2)."""
_DELAY_MS = 30.0
"""From a command to a plain base until it follows it, unless it declares a longer delay."""
_ANY_SPEED = 20.0
"""Faster than any base drives (m/s, rad/s); a plain one has no top speed but this."""
_SUFFIXES = ('.yaml', '.yml')
_PLANE = ((mujoco.mjtJoint.mjJNT_SLIDE, (1, 0, 0)), (mujoco.mjtJoint.mjJNT_SLIDE, (0, 1, 0)),
          (mujoco.mjtJoint.mjJNT_HINGE, (0, 0, 1)))


@dataclass(frozen=True)
class Chassis:
    """How a base moves, and what its motors and brakes can do without a load."""

    drive: Drive | None
    """None: of a plain base, which goes wherever its driver says."""
    limits: RobotLimits
    radius: float
    """Of the footprint (m)."""
    mass: float | None
    """None: as its model has it."""
    payload: float
    file: ReadRobot | None = None

    def mount(self, kind: str, topic: str = '') -> Mount:
        """Return where a sensor is."""
        found = None if self.file is None else self.file.file.mount(kind, topic)
        return Mount.model_construct(kind=kind) if found is None else found

    def build(self, spec: Any) -> None:
        """
        Add the robot to a scene that is not compiled yet.

        :raises InputError: MuJoCo does not take its model
        """
        body = spec.worldbody.add_body(name=ROBOT, pos=[0, 0, 0])
        for name, (kind, axis) in zip(JOINTS, _PLANE, strict=True):
            body.add_joint(name=name, type=kind, axis=axis)
        if self.file is not None:
            body.add_frame().attach_body(_model(self.file), PREFIX, '')
            if self.payload:
                _load(body, self.payload, self.radius)
            return
        _smooth(body.add_geom(
            name=ROBOT, type=mujoco.mjtGeom.mjGEOM_CYLINDER, group=0,
            size=[self.radius, (HEIGHT - _ABOVE) / 2, 0], pos=[0, 0, (HEIGHT + _ABOVE) / 2],
            mass=MASS + self.payload, contype=TOUCHES, conaffinity=TOUCHES,
            rgba=[0.0, 0.45, 0.7, 1]))

    def finish(self, model: Any) -> None:
        """Give the compiled robot the mass that its file says."""
        if self.file is None or self.mass is None:
            return
        bodies = [body for body in family(model, ROBOT) if model.body(body).name != ROBOT]
        share = self.mass / sum(float(model.body_mass[body]) for body in bodies)
        for body in bodies:
            model.body_mass[body] *= share
            model.body_inertia[body] *= share
        mujoco.mj_setConst(model, mujoco.MjData(model))


def brakes_after_ms(robot: RobotModel, least_ms: float) -> float:
    """Return how long after a command a robot follows it (ms): as declared, at least so long."""
    return max(least_ms, 1e3 * (robot.brake_delay or 0.0))


def chassis_of(scenario: Scenario, robot: RobotModel, world: WorldBlock) -> Chassis:
    """
    Return the base that a scenario drives in a world.

    :raises InputError: as ``robot_of``
    """
    found = robot_of(scenario)
    if found is None:
        brakes = robot.deceleration() or _UNDECLARED
        limits = RobotLimits.model_construct(
            max_speed=_ANY_SPEED, acceleration=_LIVELY * brakes, deceleration=brakes,
            max_yaw_rate=_ANY_SPEED, delay_ms=brakes_after_ms(robot, _DELAY_MS))
        return Chassis(None, limits, robot.footprint, MASS, world.payload)
    file = found.file
    assert file.limits is not None and file.footprint is not None
    limits = file.limits.model_copy(update={
        'delay_ms': brakes_after_ms(robot, file.limits.delay_ms)})
    return Chassis(file.driver, limits, file.footprint.reach, file.mass, world.payload, found)


def robot_of(scenario: Scenario) -> ReadRobot | None:
    """
    Return the robot file that a scenario asks for by ``ros.world.robot``; None: it asks for none.

    :raises InputError: there is no such robot, its file is wrong, or it is of another kind
    """
    asked = scenario.body.world.robot if scenario.body.world else ''
    if not asked:
        return None
    found, robot = read_robot(_robot_file(scenario, asked)), scenario.body.robot
    if robot is not None and kind_of(robot).has_joints is found.file.is_base:
        got, expected = ('a base that drives (planar)', 'the joints of an arm') \
            if found.file.is_base else ('an arm', 'a base that drives (planar)')
        raise found.refused('joints', f'got {got}, expected {expected}, as {scenario.id} says by '
                                      f'ros.robot.kind. Choose another robot in ros.world.robot')
    return found


def _robot_file(scenario: Scenario, asked: str) -> Path:
    if asked.endswith(_SUFFIXES) or '/' in asked:
        path = (Path(scenario.origin.path).parent if scenario.origin else Path()) / asked
        if not path.is_file():
            raise InputError(
                f'{scenario.place}: ros.world.robot: got {asked!r}, where no file is, expected '
                f'the path of a robot file, relative to the scenario. Correct it')
        return path
    known = installed_robots()
    if asked not in known:
        raise InputError(
            f'{scenario.place}: ros.world.robot: got {asked!r}, expected one of '
            f'{", ".join(known)}, or the path of a robot file that ends with '
            f'.yaml.{did_you_mean(asked, known)}')
    return known[asked]


def check_robot(scenario: Scenario) -> None:
    """
    See that the robot of a scenario can be put into a world, before any trial begins.

    :raises InputError: its robot file is none, or MuJoCo does not take its model
    """
    found = robot_of(scenario)
    if found is not None and found.file.is_base:
        _model(found)


def installed_robots() -> Mapping[str, Path]:
    """Return the robots that are installed by name: ours, then those beside other packs."""
    found: dict[str, Path] = {}
    folders = [share_folder() / 'config' / 'robots',
               *(pack.folder.parent / 'robots' for pack in installed_packs()
                 if pack.folder is not None)]
    for folder in folders:
        for path in map(folder.joinpath, sorted(names_in(folder))):
            if path.suffix == '.yaml':
                found.setdefault(path.stem, path)
    return found


def family(model: Any, root: str) -> list[int]:
    """Return the ids of a body and of all that hangs on it."""
    found = {int(model.body(root).id)}
    for body in range(model.nbody):  # parents have lower ids
        if int(model.body_parentid[body]) in found and body:
            found.add(body)
    return sorted(found)


def read_model(robot: ReadRobot) -> tuple[Any, Any]:
    """
    Return the model of a robot, as it is and compiled.

    :raises InputError: MuJoCo does not take it, or it has no such base
    """
    path = robot.path.parent / robot.file.model
    if not path.is_file():
        raise robot.refused('model', f'got {robot.file.model}, where no file is, expected an MJCF '
                                     f'or URDF file. Check the path, relative to this file')
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        spec.compiler.fusestatic = False
        model = spec.copy().compile()
    except Exception as error:  # MuJoCo raises several kinds for what is wrong with a file
        raise robot.refused('model', f'{path}: MuJoCo does not take it: '
                                     f'{" ".join(str(error).split())}. Correct the file') from None
    names = [body.name for body in spec.bodies if body.name and body.name != 'world']
    if robot.file.base not in names:
        raise robot.refused('base', f'got {robot.file.base!r}, which {path} does not have, '
                                    f'expected one of its bodies: {", ".join(names[:20])}.'
                                    f'{did_you_mean(robot.file.base, names)}')
    return spec, model


def _model(robot: ReadRobot) -> Any:
    """Return the base body of the user's model, without joints and what goes with them."""
    spec, _ = read_model(robot)
    base = spec.body(robot.file.base)
    for kind in ('keys', 'actuators', 'sensors', 'equalities', 'tendons', 'excludes', 'pairs'):
        for part in list(getattr(spec, kind)):
            spec.delete(part)
    for joint in list(spec.joints):
        spec.delete(joint)
    geoms = list(base.find_all('geom'))
    if not any(geom.contype or geom.conaffinity for geom in geoms):
        path = robot.path.parent / robot.file.model
        raise robot.refused('model', f'{path}: got no geometry that touches anything, expected at '
                                     f'least one below {robot.file.base}. Give one contype 1')
    for geom in geoms:
        geom.contype = geom.conaffinity = TOUCHES if geom.contype or geom.conaffinity else 0
        geom.group = UNSEEN
        _smooth(geom)
    return base


def _smooth(geom: Any) -> None:
    """
    Let the hull of a base slide along whatever it touches.

    It cannot be lifted: one that sticks would jam a box between itself and the floor.
    """
    geom.condim, geom.priority, geom.solref[:] = 1, 1, STIFFNESS


def _load(body: Any, mass: float, radius: float) -> None:
    """Put a load on the middle of a base."""
    body.explicitinertial = True
    body.mass, body.ipos = mass, [0, 0, HEIGHT]
    body.inertia = [mass * radius**2 / 4] * 2 + [mass * radius**2 / 2]
