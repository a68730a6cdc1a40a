# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The embedded world of one trial: commands and intents in, sensors and truth out."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import math

import mujoco
import numpy
from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import (
    ContactForce,
    Intent,
    JointsAt,
    Silence,
    StimulusContext,
    StreamFault,
)
from safety_scenarios.scenario.world import MountedFrame, WorldBlock
from safety_scenarios.scenario.world_body import Body
from safety_scenarios.worlds.arm_reference import DRIVER_NS
from safety_scenarios.worlds.mujoco.arm import Arm
from safety_scenarios.worlds.mujoco.entities import Block, Entity, KEPT, MovingWall
from safety_scenarios.worlds.mujoco.mobile_base import Base
from safety_scenarios.worlds.mujoco.people import Person, Walker
from safety_scenarios.worlds.mujoco.physics import Physics
from safety_scenarios.worlds.mujoco.robot_sensors import Carried, RobotSensors
from safety_scenarios.worlds.mujoco.robots import (
    Chassis,
    chassis_of,
    family,
    JOINTS,
    ROBOT,
    UNSEEN,
)
from safety_scenarios.worlds.mujoco.scene import (
    arm_of,
    compiled,
    MountedArm,
    OVERLAP_M,
    refuse_overlaps,
    soften,
    STEP_S,
)
from safety_scenarios.worlds.mujoco.truth import Truth
from safety_scenarios.worlds.mujoco.wires import CommandWires, Sensed
from safety_scenarios.worlds.task import Route

STATE_NS = 20_000_000
"""Between two tellings of the truth."""
TASK_NS = 100_000_000
"""Between two tellings of how far the robot has come with its work."""
_SETTLED = 2
"""Reports after which a third is the same unless something moves: the second has no more speed at
which gaps close, which the first may have."""
_ROOM_M = 0.3
"""With less than this around the robot each step of the physics is looked at."""
_UNSTABLE = slice(int(mujoco.mjtWarning.mjWARN_BADQPOS), int(mujoco.mjtWarning.mjWARN_BADQACC) + 1)
"""Warnings of a place, a speed or an acceleration that is no number, or a very large one."""
mujoco.set_mju_user_warning(lambda text: None)  # else it writes MUJOCO_LOG.TXT wherever it is
_FAULTS = (StreamFault, Silence)


class World:
    """
    A robot, what stimuli may put around it, and the sensors that show it.

    Nothing in it waits, and it has no clock but its own: time passes when ``advance`` says so.

    :param seed: of whatever is drawn in it, such as the noise of a scanner
    :param step_s: of the physics; a link leaves it as it is
    :param entities: instead of what the stimuli of the scenario may put there
    :raises InputError: the scenario asks for a scene, a robot or an intent that cannot be
    """

    def __init__(self, scenario: Scenario, seed: int, step_s: float = STEP_S,
                 entities: Sequence[Entity] | None = None) -> None:
        ros = scenario.body
        if not isinstance(ros, RobotBody):
            raise InputError(f'{scenario.id}: got a scenario without ros, expected one with a '
                             f'robot: a world has nothing to move. Use link loopback')
        block = ros.world or WorldBlock()
        self.now_ns = self._asked_ns = 0
        self._known = _entities(scenario, ros) if entities is None else {}
        self._entities = [entity for found in self._known.values() for entity in found] \
            if entities is None else list(entities)
        self._walls = [MovingWall(wall) for wall in block.walls if wall.moves]
        self._chassis: Chassis | MountedArm = _robot_of(scenario, ros, block)
        self._model = compiled(self._chassis, block, [*self._walls, *self._entities], step_s)
        self._data = mujoco.MjData(self._model)
        self._physics = Physics(self._model, self._data)
        self._unstable = memoryview(self._data.warning.number)[_UNSTABLE]
        self._step_s, self._step_ns = step_s, round(step_s * 1e9)
        drivers = {one.topic: one.driver for one in ros.commands if one.driver is not None}
        self._arm: Arm | None = None
        if isinstance(self._chassis, MountedArm):
            self._arm = Arm(self._model, self._data, self._chassis, ros.robot, drivers, block,
                            ros.separation.metres_per_unit if ros.separation else 1.0)
            self._base: Base | Arm = self._arm
        else:
            stops_ms = ros.silence.driver_timeout_ms
            self._base = Base(self._model, self._data, JOINTS, self._chassis, drivers, block,
                              None if stops_ms is None else round(stops_ms * 1e6))
        self._commands = CommandWires([one.topic for one in ros.commands], self._base.take)
        for entity in (*self._walls, *self._entities):
            entity.bind(self._model, self._data)
        for wall in self._walls:
            wall.appear(self._base.pose)
        soften(self._model, [entity for entity in self._entities if entity.is_body],
               self._base.mass)
        mujoco.mj_forward(self._model, self._data)
        if self._arm is not None:
            for shown in (None, *_poses(ros)):
                self._arm.fits(shown.names if shown else (), shown.positions if shown else ())
        refuse_overlaps(self._model, self._data)
        bodies = set(family(self._model, ROBOT))
        own = [geom for geom in range(self._model.ngeom)
               if int(self._model.geom_bodyid[geom]) in bodies]
        self._model.geom_contype[own] |= KEPT * (self._model.geom_contype[own] > 0)
        self._truth = Truth(self._model, self._data, own, self._entities)
        self._route = Route(block)
        self._radius = self._chassis.radius
        self._is_placed = True
        self._usual_friction, self._is_on_patch = block.floor.friction, False
        self._around_ns = self._task_ns = 0
        self._shown: dict[str, list[Entity]] = {}
        self._forces: dict[str, float] = {}
        self._pushes: dict[str, tuple[float, float, float]] = {}
        """Stimulus topic to the force along x, y, z of the tool (N)."""
        self._gone: list[str] = []
        self._body = int(self._model.body(ROBOT).id)
        self._has_camera = block.camera is not None  # which sees all, and nobody tells what
        self._robot_sensors = RobotSensors(
            ros, block, Carried(self._model, self._data, self._base, self._chassis, self._body,
                                self._place, self._entities, self._shown, self._forces),
            numpy.random.default_rng(seed))
        self._sensors = self._robot_sensors.by_topic
        self._without(())
        self._state_ns = 0
        self._told_ns: dict[str, int] = {}
        self._unmoved = 0
        """Reports of the truth since anything has moved, come or gone."""
        self._latest: dict[str, Mapping[str, float]] = {}
        """The latest one, but for the task."""
        self._unseen: Sequence[bool] = ()
        """Which of what it holds no sensor had shown by then."""

    def _without(self, topics: Iterable[str]) -> None:
        """Have the sensors that it has, but for those of some topics."""
        for topic in topics:
            self._sensors.pop(topic, None)
        self._each_sensor = tuple(self._sensors.values())

    def close(self) -> None:
        """Give up what it holds; calling it again does nothing."""
        self._robot_sensors.close()

    @property
    def due_ns(self) -> int:
        """When the next sensor or state is due."""
        return min([self._state_ns, *[sensor.due_ns for sensor in self._each_sensor]])

    @property
    def topics(self) -> Collection[str]:
        """Topics on which its sensors publish, whether they show anything now or not."""
        return self._sensors.keys()

    @property
    def frames(self) -> Collection[MountedFrame]:
        """Where on the robot its sensors are, but for those at its own origin."""
        return self._robot_sensors.frames

    def command(self, topic: str, message: Message, now_ns: int, clock_ns: int) -> None:
        """
        Take a command of the controller, which reaches the driver if its way is as it should be.

        :param now_ns: in the time of this world
        :param clock_ns: on the clock of header stamps
        """
        self._commands.take(topic, message, now_ns, clock_ns)

    def apply(self, topic: str, intent: Intent, hazard: bool) -> bool:
        """Let something happen; False: it is nothing that this world can show."""
        if hazard:
            for wall in self._walls:
                wall.hazard_comes()
        self._state_ns = self._asked_ns + 1  # what is true has changed: it is told right after
        self._unmoved = 0
        sensor = self._sensors.get(topic)
        if isinstance(intent, StreamFault) and topic in self._commands.topics:
            self._commands.fail(topic, intent.on_wire(), self._asked_ns)
            return True
        if isinstance(intent, _FAULTS):
            if sensor is not None:
                sensor.fail(intent)
            return sensor is not None
        if isinstance(intent, ContactForce):
            self._forces[topic], self._pushes[topic] = intent.force, intent.vector
            self._press()
            return sensor is not None
        if isinstance(intent, JointsAt):
            return self._jointed_at(topic, intent, hazard)
        found = self._known.get((hazard, intent.model_dump_json()))
        if found is None or sensor is None:
            return False
        self._take_away(topic)
        new: list[Entity] = []
        for entity in found:
            if not entity.topics:
                entity.is_kept = not hazard
                entity.looks, entity.is_seen = 0, self._has_camera
                entity.appear(self._base.pose)
                self._truth.forget(entity.name)
                new.append(entity)
            entity.topics.add(topic)
            self._show(entity)
        self._shown[topic] = list(found)
        self._is_placed = False
        self._place()
        for entity in new:
            self._refuse_overlap(topic, entity)
            if hazard:
                self._refuse_in_scene(topic, entity)
        return True

    def withdraw(self, topic: str) -> None:
        """Take back what was applied on a topic."""
        self._state_ns = self._asked_ns + 1
        self._unmoved = 0
        self._commands.fail(topic, None, self._asked_ns)
        if topic in self._sensors:
            self._sensors[topic].fail(None)
        self._pushes.pop(topic, None)
        if self._forces.pop(topic, None) is not None:
            self._gone.append(topic)
            self._press()
        self._take_away(topic)

    def advance(self, until_ns: int) -> None:
        """
        Let time pass.

        :raises MeasurementError: the physics has become unstable
        """
        self._asked_ns = max(until_ns, self._asked_ns)
        if self.now_ns + self._step_ns > until_ns:
            return
        base, truth = self._base, self._truth
        while self.now_ns + self._step_ns <= until_ns:
            self._commands.arrive(self.now_ns)
            steps = self._steps(until_ns)
            ahead_s = steps * self._step_s
            base.push(self.now_ns, ahead_s)
            place = base.pose
            for wall in self._walls:
                wall.move(place, ahead_s)
            for entity in self._entities:
                if entity.topics:
                    entity.move(place, ahead_s)
            if self._forces:
                self._press()
            if self._physics.step(steps, stands=base.stands):
                self._is_placed = False
            self.now_ns += steps * self._step_ns
            truth.watch(ahead_s)
            if truth.hit and self._robot_sensors.felt(truth.hit):
                truth.hit = 0.0
        if any(self._unstable):
            raise MeasurementError(
                f'the world: got physics without a solution {self.now_ns / 1e9:.2f} s after its '
                f'begin, expected numbers. Check masses and sizes of the robot and of ros.world, '
                f'and the speeds that the controller commands')

    def _steps(self, until_ns: int) -> int:
        """Return how many steps the same forces hold for: near anything they are looked at."""
        if self._arm is not None or self._truth.clear < _ROOM_M:
            return 1
        end_ns = min(until_ns, self.now_ns // DRIVER_NS * DRIVER_NS + DRIVER_NS,
                     self._commands.due_ns)
        return max(1, int(end_ns - self.now_ns) // self._step_ns)

    def _place(self) -> None:
        """Let surfaces be where their joints are by now: a step leaves them where they were."""
        if not self._is_placed:
            mujoco.mj_kinematics(self._model, self._data)
            self._truth.moved()
            self._is_placed, self._unmoved = True, 0

    def _refuse_overlap(self, topic: str, entity: Entity) -> None:
        gap = self._truth.gap(entity.geoms)
        if gap < 0:
            raise MeasurementError(
                f'the world: got what appears on {topic} {-gap:.2f} m inside the robot, expected '
                f'it beside the robot. Let it appear farther away than both are wide')

    def _refuse_in_scene(self, topic: str, entity: Entity) -> None:
        """Refuse what lives in the world from now on, and begins inside of the scene."""
        for other, deep in self._truth.inside(entity.geoms, {}):
            if other != ROBOT and deep > OVERLAP_M:
                raise MeasurementError(
                    f'the world: got what appears on {topic} {deep:.2f} m inside of {other}, '
                    f'expected room for it. Let it appear elsewhere, or move {other}')

    def sensed(self, until_ns: int) -> Sequence[Sensed]:
        """Return what has become due, in order; called after ``advance`` to the same time."""
        return list(self.sensing(until_ns))

    def sensing(self, until_ns: int) -> Iterator[Sensed]:
        """
        Yield the same one by one, each as soon as it is read: a picture is last, and takes long.

        It has to be exhausted, as what is not read stays due.
        """
        for sensor in self._each_sensor:
            if sensor.due_ns <= until_ns:
                yield from sensor.sense(until_ns)
        if self._state_ns <= until_ns:
            self._state_ns += STATE_NS
            yield Sensed('', None, self.states())

    def states(self) -> Mapping[str, Mapping[str, float]]:
        """Return what is true now, by entity; without anything: it is gone since."""
        self._place()
        x, y, _ = self._base.pose
        task: dict[str, Mapping[str, float]] = {}
        if self.now_ns >= self._task_ns:
            self._task_ns = self.now_ns + TASK_NS
            task['task'] = self._route.task_state(x, y) if self._arm is None \
                else {'progress': self._arm.cycles()}
        unseen = [entity.is_seen for entity in self._entities]
        if self._truth.touched or self._arm is not None or unseen != self._unseen:
            self._truth.touched, self._unseen, self._unmoved = False, unseen, 0
        if self._unmoved < _SETTLED:  # after that each report is as the one before
            self._unmoved += 1
            self._latest = self._things()
        else:
            for name in self._told_ns:
                self._told_ns[name] = self.now_ns
        self._around_ns = self.now_ns
        gone: dict[str, Mapping[str, float]] = {name: {} for name in self._gone}
        self._gone = []
        # in the order in which they are reported: what is gone, the robot, its task, all others
        return gone | {'robot': self._latest['robot']} | task | self._latest

    def _things(self) -> dict[str, Mapping[str, float]]:
        """Return what is true of the robot, and of what is around it."""
        x, y, heading = place = self._base.pose
        vx, vy, turn = self._base.twist
        told: dict[str, Mapping[str, float]] = {}
        told['robot'] = {'x': x, 'y': y, 'heading': heading, 'vx': vx, 'vy': vy, 'wz': turn,
                         'radius': self._radius} if self._arm is None else self._arm.truth()
        friction = self._base.friction()
        if friction != self._usual_friction:
            told['floor'] = {'friction': friction}
        elif self._is_on_patch:
            told['floor'] = {}
        self._is_on_patch = friction != self._usual_friction
        self._truth.clear = math.inf
        for entity in self._entities:
            if not entity.topics:
                continue
            since_ns = self.now_ns - self._told_ns.get(entity.name, self.now_ns)
            self._told_ns[entity.name] = self.now_ns
            truth = self._truth.entity_state(entity, place, since_ns * 1e-9)
            if not entity.is_seen and not entity.is_kept:
                truth = {**truth, 'unseen': 1.0}
            _, mark, number = entity.name.partition('#')
            for topic in sorted(entity.topics):
                told[topic + mark + number] = truth
        told |= self._truth.around((self.now_ns - self._around_ns) * 1e-9)
        for topic, force in self._forces.items():
            told[topic] = {'force': abs(force)}
        return told

    def _press(self) -> None:
        """Let what presses against the front of a base push it back, or the tool of an arm."""
        if self._arm is not None:
            self._arm.press([sum(along) for along in zip(*self._pushes.values(), strict=True)]
                            or (0.0, 0.0, 0.0))
        else:
            force = sum(self._forces.values())
            heading = self._base.pose[2]
            self._data.xfrc_applied[self._body, :2] = (
                -force * math.cos(heading), -force * math.sin(heading))

    def _jointed_at(self, topic: str, intent: JointsAt, hazard: bool) -> bool:
        """Let an arm be where its joints are shown, and show them from now on."""
        if self._arm is None or topic not in self._sensors:
            return False
        moved = self._arm.place(intent.names, intent.positions)
        self._robot_sensors.joints[topic] = intent.names
        self._is_placed = False
        return moved or not hazard

    def _take_away(self, topic: str) -> None:
        for place, entity in enumerate(self._shown.pop(topic, ())):
            entity.topics.discard(topic)
            self._gone.append(topic if place == 0 else f'{topic}#{place + 1}')
            if not entity.topics:
                entity.vanish()
                self._told_ns.pop(entity.name, None)
            self._show(entity)

    def _show(self, entity: Entity) -> None:
        """Let the scanners see it whose topics it is shown on, and no others."""
        known = self._robot_sensors.groups
        groups = {known[topic] for topic in entity.topics if topic in known}
        entity.show_to(groups.pop() if len(groups) == 1 else 0 if groups else UNSEEN)


def _poses(ros: RobotBody) -> Iterator[JointsAt]:
    """Yield where the stimuli of a scenario show the joints of its arm."""
    context = StimulusContext('', (), None)
    for plugin in ros.published:
        intent = plugin.intent(context)
        if isinstance(intent, JointsAt):
            yield intent


def _robot_of(scenario: Scenario, ros: RobotBody, block: WorldBlock) -> Chassis | MountedArm:
    """Return the robot by how its kind moves."""
    kind = kind_of(ros.robot)
    if kind.has_joints:
        return arm_of(scenario, ros.robot, block)
    if kind.drives:
        return chassis_of(scenario, ros.robot, block)
    raise InputError(f'ros.robot.kind: got {ros.robot.kind}, expected a kind of robot that drives '
                     f'or has joints, as this world moves no other. Use link loopback')


def _entities(scenario: Scenario, ros: RobotBody) -> dict[tuple[bool, str], Sequence[Entity]]:
    """Return what each intent of a scenario puts into the world; equal ones put it there once."""
    found: dict[tuple[bool, str], Sequence[Entity]] = {}
    context = StimulusContext('', scenario.messages, None)
    for hazard, plugins in ((False, ros.nominal.published), (True, ros.stimuli)):
        named: set[str] = set()
        for plugin in plugins:
            intent = plugin.intent(context)
            bodies = () if intent is None else intent.bodies()
            if intent is None or not bodies:
                continue
            key = hazard, intent.model_dump_json()
            if key in found:
                continue
            name = f'{"hazard" if hazard else "nominal"}:{plugin.topic}'
            while name in named:  # a harmless change on the topic
                name += "'"
            named.add(name)
            found[key] = [
                _entity(name if place == 0 else f'{name}#{place + 1}', body)
                for place, body in enumerate(bodies)]
    return found


def _entity(name: str, body: Body) -> Entity:
    if body.figure is not None:
        return Person(name, body, body.figure)
    return Block(name, body) if body.mass is None or body.to_face else Walker(name, body)
