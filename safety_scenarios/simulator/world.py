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
"""The embedded world of one trial: commands and intents in, sensors and truth out."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
import math
from typing import Any

import mujoco
import numpy
from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.model.intent import ContactForce, Intent, Silence, StreamFault
from safety_scenarios.model.message import Message
from safety_scenarios.model.scenario import RosBlock, Scenario
from safety_scenarios.model.stimulus import StimulusContext, StimulusPlugin
from safety_scenarios.model.world_block import WorldBlock
from safety_scenarios.simulator.base import Base, DRIVER_NS
from safety_scenarios.simulator.entities import entities_of, Entity
from safety_scenarios.simulator.lidar import LASER_SCAN, Lidar
from safety_scenarios.simulator.robots import chassis_of, family, JOINTS, ROBOT, UNSEEN
from safety_scenarios.simulator.scene import compiled, refuse_overlaps, soften, STEP_S
from safety_scenarios.simulator.sensed import Sensed
from safety_scenarios.simulator.sensing import (
    motion_message,
    ODOMETRY,
    POSE,
    pose_message,
    Sensor,
    STAMPED,
)
from safety_scenarios.simulator.task import Route
from safety_scenarios.simulator.truth import Truth

STATE_NS = 20_000_000
"""Between two tellings of the truth."""
TASK_NS = 100_000_000
"""Between two tellings of how far the robot has come with its work."""
_REPORT_HZ = 50.0
"""Of odometry, as often as it commonly comes."""
_ROOM_M = 0.3
"""With less than this around the robot each step of the physics is looked at."""
_UNSTABLE = [int(kind) for kind in (
    mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC)]
mujoco.set_mju_user_warning(lambda text: None)  # else it writes MUJOCO_LOG.TXT wherever it is
_FAULTS = (StreamFault, Silence)


class World:
    """
    A robot, what stimuli may put around it, and the sensors that show it.

    Nothing in it waits, and it has no clock but its own: time passes when ``advance`` says so.

    :param seed: of whatever is drawn in it, such as the noise of a scanner
    :param step_s: of the physics; a link leaves it as it is
    :raises InputError: the scenario asks for a scene, a robot or an intent that cannot be
    """

    def __init__(self, scenario: Scenario, seed: int, step_s: float = STEP_S) -> None:
        ros = scenario.ros
        if ros is None:
            raise InputError(f'{scenario.id}: got a scenario without ros, expected one with a '
                             f'robot: a world has nothing to move. Use link loopback')
        block = ros.world or WorldBlock()
        self.now_ns = 0
        self._random = numpy.random.default_rng(seed)
        self._known = _entities(scenario, ros)
        self._entities = [entity for found in self._known.values() for entity in found]
        self._chassis = chassis_of(scenario, ros.robot, block)
        self._model = compiled(self._chassis, block, self._entities, step_s)
        self._data = mujoco.MjData(self._model)
        self._step_s, self._step_ns = step_s, round(step_s * 1e9)
        self._base = Base(self._model, self._data, JOINTS, self._chassis,
                          {one.topic: one.driver for one in ros.commands
                           if one.driver is not None}, block)
        for entity in self._entities:
            entity.bind(self._model, self._data)
        soften(self._model, [entity for entity in self._entities if entity.is_body],
               self._base.mass)
        mujoco.mj_forward(self._model, self._data)
        refuse_overlaps(self._model, self._data)
        bodies = set(family(self._model, ROBOT))
        self._truth = Truth(self._model, self._data, [
            geom for geom in range(self._model.ngeom)
            if int(self._model.geom_bodyid[geom]) in bodies], self._entities)
        self._route = Route(block)
        self._radius = self._chassis.radius
        self._is_placed = True
        self._usual_friction, self._is_on_patch = block.floor.friction, False
        self._around_ns = self._task_ns = 0
        self._shown: dict[str, list[Entity]] = {}
        self._forces: dict[str, float] = {}
        self._gone: list[str] = []
        self._groups: dict[str, int] = {}
        self._sensors = {sensor.topic: sensor for sensor in self._made(
            ros, block, int(self._model.body(ROBOT).id))}
        self._state_ns = 0
        self._told_ns: dict[str, int] = {}

    def close(self) -> None:
        """Give up what it holds; calling it again does nothing."""

    @property
    def due_ns(self) -> int:
        """When the next sensor or state is due."""
        return min([self._state_ns, *(sensor.due_ns for sensor in self._sensors.values())])

    @property
    def topics(self) -> Collection[str]:
        """Topics on which its sensors publish, whether they show anything now or not."""
        return self._sensors.keys()

    def command(self, topic: str, message: Message, now_ns: int, clock_ns: int) -> None:
        """
        Take a command of the controller.

        :param now_ns: in the time of this world
        :param clock_ns: on the clock of header stamps
        """
        self._base.take(topic, message, now_ns, clock_ns)

    def apply(self, topic: str, intent: Intent, hazard: bool) -> bool:
        """Let something happen; False: it is nothing that this world can show."""
        sensor = self._sensors.get(topic)
        if isinstance(intent, _FAULTS):
            if sensor is not None:
                sensor.fail(intent)
            return sensor is not None
        if isinstance(intent, ContactForce):
            self._forces[topic] = intent.force
            return sensor is not None
        found = self._known.get((hazard, intent.model_dump_json()))
        if found is None or sensor is None:
            return False
        self._take_away(topic)
        new: list[Entity] = []
        for entity in found:
            if not entity.topics:
                entity.is_kept = not hazard
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
        return True

    def withdraw(self, topic: str) -> None:
        """Take back what was applied on a topic."""
        if topic in self._sensors:
            self._sensors[topic].fail(None)
        if self._forces.pop(topic, None) is not None:
            self._gone.append(topic)
        self._take_away(topic)

    def advance(self, until_ns: int) -> None:
        """
        Let time pass.

        :raises MeasurementError: the physics has become unstable
        """
        if self.now_ns + self._step_ns > until_ns:
            return
        shown = [entity for entity in self._entities if entity.topics]
        while self.now_ns + self._step_ns <= until_ns:
            steps = self._steps(until_ns)
            ahead_s = steps * self._step_s
            self._base.push(self.now_ns, ahead_s)
            if shown:
                place = self._base.pose
                for entity in shown:
                    entity.move(place, ahead_s)
            mujoco.mj_step(self._model, self._data, steps)
            self.now_ns += steps * self._step_ns
            self._truth.watch(ahead_s)
        self._is_placed = False
        if self._data.warning.number[_UNSTABLE].any():
            raise MeasurementError(
                f'the world: got physics without a solution {self.now_ns / 1e9:.2f} s after its '
                f'begin, expected numbers. Check masses and sizes of the robot and of ros.world')

    def _steps(self, until_ns: int) -> int:
        """Return how many steps the same forces hold for: near anything they are looked at."""
        if self._truth.clear < _ROOM_M:
            return 1
        ahead_ns = min(until_ns - self.now_ns, DRIVER_NS - self.now_ns % DRIVER_NS)
        return max(1, ahead_ns // self._step_ns)

    def _place(self) -> None:
        """Let surfaces be where their joints are by now: a step leaves them where they were."""
        if not self._is_placed:
            mujoco.mj_kinematics(self._model, self._data)
            self._is_placed = True

    def _refuse_overlap(self, topic: str, entity: Entity) -> None:
        gap = self._truth.gap(entity.geoms)
        if gap < 0:
            raise MeasurementError(
                f'the world: got what appears on {topic} {-gap:.2f} m inside the robot, expected '
                f'it beside the robot. Let it appear farther away than both are wide')

    def sensed(self, until_ns: int) -> Sequence[Sensed]:
        """Return what has become due, in order; called after ``advance`` to the same time."""
        found = [sensed for sensor in self._sensors.values() if sensor.due_ns <= until_ns
                 if (sensed := sensor.sense()) is not None]
        if self._state_ns <= until_ns:
            self._state_ns += STATE_NS
            found += [Sensed(name, truth=truth) for name, truth in self.states().items()]
        return found

    def states(self) -> Mapping[str, Mapping[str, float]]:
        """Return what is true now, by entity; without anything: it is gone since."""
        self._place()
        x, y, heading = place = self._base.pose
        vx, vy, turn = self._base.twist
        told: dict[str, Mapping[str, float]] = {name: {} for name in self._gone}
        self._gone = []
        told['robot'] = {'x': x, 'y': y, 'heading': heading, 'vx': vx, 'vy': vy, 'wz': turn,
                         'radius': self._radius}
        if self.now_ns >= self._task_ns:
            self._task_ns = self.now_ns + TASK_NS
            told['task'] = self._route.told(x, y)
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
            truth = self._truth.told(entity, place, since_ns * 1e-9)
            _, mark, number = entity.name.partition('#')
            for topic in sorted(entity.topics):
                told[topic + mark + number] = truth
        told |= self._truth.around((self.now_ns - self._around_ns) * 1e-9)
        self._around_ns = self.now_ns
        for topic, force in self._forces.items():
            told[topic] = {'force': force}
        return told

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
        groups = {self._groups[topic] for topic in entity.topics if topic in self._groups}
        entity.seen_by(groups.pop() if len(groups) == 1 else 0 if groups else UNSEEN)

    def _made(self, ros: RosBlock, block: WorldBlock, body: int) -> Sequence[Sensor]:
        made: dict[str, Sensor] = {}
        for plugin in (*ros.nominal.stimuli, *ros.stimuli):
            interface, topic = plugin.interface(), plugin.topic
            if topic in made or interface is None:
                continue
            frame = getattr(plugin, 'frame', 'base_link')
            if interface == LASER_SCAN:
                self._groups[topic] = group = 1 + len(self._groups) % (UNSEEN - 1)
                lidar = Lidar(self._model, self._data, group, body, frame, plugin.rate_hz,
                              block.senses, self._random, self._chassis.mount('lidar', topic))
                made[topic] = Sensor(topic, plugin.rate_hz,
                                     partial(self._scanned, lidar))
            elif interface == POSE:
                made[topic] = Sensor(topic, plugin.rate_hz, partial(self._tracked, topic, frame))
            elif plugin.kind == 'contact':
                made[topic] = Sensor(topic, plugin.rate_hz, partial(self._pressed, plugin))
        for one in ros.feedback:
            interface = ODOMETRY if one.message == 'auto' else one.message
            if interface in (ODOMETRY, STAMPED, 'geometry_msgs/msg/Twist'):
                made[one.topic] = Sensor(
                    one.topic, _REPORT_HZ, partial(self._moved, interface), is_report=True)
        return list(made.values())

    def _scanned(self, lidar: Lidar) -> Message:
        self._place()
        return lidar.message(*self._base.pose)

    def _moved(self, interface: str) -> Message:
        return motion_message(interface, self._base.pose, self._base.twist)

    def _tracked(self, topic: str, frame: str) -> Message | None:
        """Return where the nearest person is that a tracker sees, seen from the robot."""
        x, y, heading = place = self._base.pose
        seen = [entity for entity in self._shown.get(topic, ()) if entity.is_body]
        if not seen:
            return None
        nearest = min(seen, key=lambda entity: entity.distance(place))
        east, north = nearest.pose[0] - x, nearest.pose[1] - y
        cos, sin = math.cos(heading), math.sin(heading)
        return pose_message(frame, cos * east + sin * north, cos * north - sin * east)

    def _pressed(self, plugin: StimulusPlugin) -> Message:
        """Return what a force sensor shows."""
        pressed: Any = plugin.model_copy(update={'force': self._forces.get(plugin.topic, 0.0)})
        message: Message = pressed.at(0, 0, StimulusContext('', (), None)).message
        return message


def _entities(scenario: Scenario, ros: RosBlock) -> dict[tuple[bool, str], Sequence[Entity]]:
    """Return what each intent of a scenario puts into the world; equal ones put it there once."""
    found: dict[tuple[bool, str], Sequence[Entity]] = {}
    context = StimulusContext('', scenario.messages, None)
    for hazard, plugins in ((False, ros.nominal.stimuli), (True, ros.stimuli)):
        for plugin in plugins:
            intent = plugin.intent(context)
            if intent is None:
                continue
            key = (hazard, intent.model_dump_json())
            if key not in found:
                made = entities_of(f'{"hazard" if hazard else "nominal"}:{plugin.topic}', intent)
                if made:
                    found[key] = made
    return found
