# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Samples for imitation: what a policy is shown, in random still scenes too, and its labels.

They cover what trials seldom show: objects at every distance and on every side, several at once,
and every layout of a scanner. Where a decision changes, they are denser.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Any

import numpy
from numpy.typing import NDArray
from safety_scenarios.controllers.policies.contract import PolicyContract
from safety_scenarios.controllers.policies.inputs import PolicyInputs
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.frames import LAYOUTS
from safety_scenarios.scenario.interfaces import Cylinder, Face, laser_scan, ScanShape
from safety_scenarios.scenario.message import Command, Message, Observation, Reading
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.settings import ControllerContext

Floats = NDArray[numpy.float32]

_STANDS = 0.02
"""A joint slower than this (rad/s) does not show which way it was going."""
_AT_START = 0.02
"""A joint so near to where it began (rad) begins as the reference does."""
_EYES = ('scan', 'human_pose', 'wrench')
"""Without any of these a policy has seen nothing, and shall stand; the reference would go."""
_SIDEWAYS = ('position.y', 'angular.z')
"""Fields that change their sign where left becomes right."""


@dataclass(frozen=True)
class Samples:
    """Rows of inputs, and what is wanted of the network for each."""

    inputs: Mapping[str, Floats]
    steps: Floats
    """1 for each step up from standstill that the reference takes, else 0."""
    senses: Floats
    """1 or -1 for each joint; 0 where either will do. No columns for a base."""

    def __len__(self) -> int:
        return len(self.steps)

    @staticmethod
    def joined(parts: Iterable['Samples']) -> 'Samples':
        """Return all rows in order."""
        every = [part for part in parts if len(part)]
        return Samples({name: numpy.concatenate([part.inputs[name] for part in every])
                        for name in every[0].inputs},
                       numpy.concatenate([part.steps for part in every]),
                       numpy.concatenate([part.senses for part in every]))


def mirrored(samples: Samples, contract: PolicyContract) -> Samples:
    """Return what a base sees and does where left is right: the reference does not know sides."""
    found = {}
    for name, parts in contract.inputs.items():
        columns, signs = list[int](), list[float]()
        for part in parts:
            own = range(len(columns), len(columns) + part.values)
            columns += reversed(own) if part.rays else own
            signs += [-1.0 if path.endswith(_SIDEWAYS) else 1.0 for path in part.fields] \
                or [1.0] * part.values
        found[name] = samples.inputs[name][:, columns] * numpy.array(signs, numpy.float32)
    return Samples(found, samples.steps, samples.senses)


class Teacher:
    """The reference, which labels what a policy is shown."""

    def __init__(self, contract: PolicyContract, context: ControllerContext) -> None:
        self._reference = RuleBased()
        self._reference.begin(context)
        self._robot = context.robot
        self._inputs = PolicyInputs(contract, context.robot)
        self._start: dict[str, float] = {}
        self._rows: list[Mapping[str, Floats]] = []
        self._steps: list[Sequence[float]] = []
        self._senses: list[Sequence[float]] = []

    def label(self, observation: Observation, keep: bool = True) -> Command:
        """
        Return what the reference does.

        :param keep: as a sample, unless nothing has changed since the last one
        """
        command = self._reference.command(observation)
        if not any(role in observation.readings for role in _EYES):
            command = kind_of(self._robot).stop
        arrays = self._inputs.arrays(observation) if keep else None
        senses = self._wanted_senses(observation, command)
        if arrays is None:
            return command
        steps = self._wanted_steps(command)
        if self._rows and self._steps[-1] == steps and self._senses[-1] == senses and all(
                numpy.array_equal(arrays[name], self._rows[-1][name]) for name in arrays):
            return command
        self._rows.append(arrays)
        self._steps.append(steps)
        self._senses.append(senses)
        return command

    @property
    def samples(self) -> Samples:
        """Return everything that was kept."""
        names = self._rows[0] if self._rows else {}
        return Samples({name: numpy.array([row[name] for row in self._rows]) for name in names},
                       numpy.array(self._steps, dtype=numpy.float32),
                       numpy.array(self._senses, dtype=numpy.float32).reshape(len(self._rows), -1))

    def _wanted_steps(self, command: Command) -> Sequence[float]:
        share = max(map(abs, command.velocity)) / self._robot.max_speed / self._reference.cruise
        return float(share > 0.25), float(share > 0.75)

    def _wanted_senses(self, observation: Observation, command: Command) -> Sequence[float]:
        """Return which way joints shall go, as far as a policy without memory can see it."""
        if not self._robot.joints:
            return ()
        states = observation.readings.get('joint_states')
        if states is None:
            return (0.0,) * len(self._robot.joints)
        data = states.message.data
        places = dict(zip(data['name'], data['position'], strict=False))
        speeds = dict(zip(data['name'], data['velocity'], strict=False))
        found = []
        for name, speed in zip(self._robot.joints, command.velocity, strict=True):
            place = places.get(name, 0.0)
            off = abs(place - self._start.setdefault(name, place))
            is_clear = abs(speeds.get(name, 0.0)) > _STANDS or off < _AT_START
            found.append(math.copysign(1.0, speed) if speed and is_clear else 0.0)
        return tuple(found)


Chance = numpy.random.Generator

_HOME = (0.0, -2.1, 2.2, -0.1, 1.5, 0.0)
"""Where the arm of the scenarios begins (rad)."""
_MOVES = 9
"""Of so many scenes of a moving arm, and one more, it stands in one."""
_TURNS = 0.7
"""An arm is shown so far to each side of that (rad)."""
_BLIND = 0.03
"""Share of the scenes in which nothing has been seen yet."""
_PERIOD_S, _LATE_S, _LOST_S = 0.06, 0.2, 1.0
"""A message is as old as this at most (s); late; and lost, where the policy is to notice that."""
_LATE = 0.15
"""Share of the messages that are late."""
_FARTHEST = 11.5
_RATE_HZ = 20.0


def scene_samples(contract: PolicyContract, count: int, chance: Chance) -> Samples:
    """Return the reference's decisions in so many random scenes."""
    if contract.robot == 'arm':
        return _arm_samples(contract, count, chance)
    teacher = Teacher(contract, ControllerContext(
        robot=RobotModel(kind='mobile_base', max_speed=1.0)))
    for observation in _base_scenes(count, chance):
        teacher.label(observation)
    return teacher.samples


def _base_scenes(count: int, chance: Chance) -> Iterator[Observation]:
    layouts = list(LAYOUTS.values())
    for _ in range(count):
        has_scan = chance.random() < 0.8
        readings, frames = dict[str, Reading](), []
        if has_scan:
            scanner = layouts[chance.integers(len(layouts))]
            shapes = [_shape(chance) for _ in range(chance.integers(0, 5))]
            readings['scan'] = _reading('sensor_msgs/msg/LaserScan', laser_scan(
                'base_link', _RATE_HZ, shapes, scanner), chance)
            frames = [] if scanner.mounted is None else [scanner.mounted]
        is_blind = chance.random() < _BLIND
        if is_blind:
            readings, frames = {}, []
        elif not has_scan or chance.random() < 0.6:
            readings['human_pose'] = _person(chance)
        if chance.random() < 0.6:
            speed, turn = chance.uniform(0.0, 1.5), chance.normal(0.0, 0.1)
            readings['odom'] = _reading('nav_msgs/msg/Odometry', {'twist': {'twist': {
                'linear': {'x': speed, 'y': 0.0, 'z': 0.0},
                'angular': {'x': 0.0, 'y': 0.0, 'z': turn}}}}, chance)
        if chance.random() < 0.3:
            readings['keep_clear'] = _reading(
                'std_msgs/msg/Bool', {'data': bool(chance.random() < 0.6)}, chance)
        if chance.random() < 0.5:
            readings['heartbeat'] = _reading('std_msgs/msg/Empty', {}, chance, _LOST_S)
        yield Observation(t_ns=0, readings=readings, frames=tuple(frames))


def _arm_samples(contract: PolicyContract, count: int, chance: Chance) -> Samples:
    """Return decisions for an arm on its way; each scene comes after what led to it."""
    robot = RobotModel(kind='arm', max_speed=0.5,
                       joints=tuple(f'joint_{place + 1}' for place in range(len(_HOME))))
    context, found = ControllerContext(robot=robot), []
    stands = (0.0,) * len(_HOME)
    for first in range(0, count, _MOVES + 1):
        teacher = Teacher(contract, context)
        teacher.label(_arm_scene(robot, _HOME, stands, _around(chance), chance))
        for _ in range(min(_MOVES, count - first - 1)):
            sense = chance.choice((-1.0, 1.0), len(_HOME))
            turned = numpy.array(_HOME) - 2.0 * sense  # beyond the end, where each turned back
            teacher.label(_arm_scene(robot, turned, sense, {}, chance), keep=False)
            places = numpy.array(_HOME) + chance.uniform(-_TURNS, _TURNS, len(_HOME))
            speeds = sense * chance.uniform(0.03, 0.8)
            teacher.label(_arm_scene(robot, places, speeds, _around(chance), chance))
        found.append(teacher.samples)
    return Samples.joined(found)


def _around(chance: Chance) -> Mapping[str, Reading]:
    """Return what is around an arm: a person, a force, both, or seldom nothing at all."""
    found = dict[str, Reading]()
    if chance.random() < 0.8:
        found['human_pose'] = _person(chance)
    if chance.random() < (0.7 if found else 0.9):
        found['wrench'] = _wrench(chance)
    return found


def _arm_scene(robot: RobotModel, places: Any, speeds: Any, around: Mapping[str, Reading],
               chance: Chance) -> Observation:
    states = _reading('sensor_msgs/msg/JointState', {
        'name': robot.joints, 'position': tuple(map(float, places)),
        'velocity': tuple(map(float, speeds))}, chance)
    return Observation(t_ns=0, readings={**around, 'joint_states': states})


def _distance(chance: Chance) -> float:
    """Return a distance (m), more often where the reference changes its mind."""
    near = chance.random()
    distance = chance.normal(2.5, 0.12 if near < 0.2 else 0.4) if near < 0.4 \
        else chance.normal(4.0, 0.3) if near < 0.55 else chance.uniform(0.3, _FARTHEST)
    return float(min(_FARTHEST, max(0.3, distance)))


def _shape(chance: Chance) -> ScanShape:
    """Return a person, a post, or the face of a box or of a wall."""
    kind, distance = chance.random(), _distance(chance)
    if kind < 0.5:
        around = 0.5 if chance.random() < 0.6 else math.pi
        radius = float(chance.uniform(0.1, 0.5))
        return Cylinder(distance + radius, float(chance.uniform(-around, around)), radius)
    width = float(chance.uniform(0.3, 4.0))
    middle = float(chance.normal(0.0, 0.3) if chance.random() < 0.3 else chance.uniform(-3.0, 3.0))
    if chance.random() < 0.35:  # its near edge beside the path, where it is close
        distance = float(chance.uniform(0.3, 3.0))
        middle = math.copysign(width / 2 + chance.uniform(0.4, 1.5), chance.random() - 0.5)
    return Face(distance, middle - width / 2, middle + width / 2)


def _person(chance: Chance) -> Reading:
    distance = _distance(chance)
    bearing = float(chance.uniform(-math.pi, math.pi))
    return _reading('geometry_msgs/msg/PoseStamped', {
        'header': {'frame_id': 'base_link'}, 'pose': {
            'position': {'x': distance * math.cos(bearing), 'y': distance * math.sin(bearing),
                         'z': 0.0},
            'orientation': {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}}}, chance)


def _wrench(chance: Chance) -> Reading:
    near = chance.random()
    force = abs(chance.normal(40.0, 5.0)) if near < 0.5 else chance.uniform(0.0, 120.0)
    way = chance.normal(size=3)
    x, y, z = (float(one) for one in force * way / numpy.linalg.norm(way))
    return _reading('geometry_msgs/msg/WrenchStamped', {
        'header': {'frame_id': 'tool0'}, 'wrench': {
            'force': {'x': x, 'y': y, 'z': z}, 'torque': {'x': 0.0, 'y': 0.0, 'z': 0.0}}}, chance)


def _reading(interface: str, data: Mapping[str, Any], chance: Chance,
             lost_s: float = _LATE_S) -> Reading:
    """Return a message that came just now, or seldom late."""
    age_s = chance.uniform(0.0, lost_s if chance.random() < _LATE else _PERIOD_S)
    age_ns = round(age_s * 1e9)
    return Reading.model_construct(
        message=Message.model_construct(type=interface, data=data), age_ns=age_ns,
        stamp_age_ns=age_ns)
