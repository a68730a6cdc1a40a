# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The sensors of a robot in a world: which topics it has, and what is read for each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
import math
import re
from typing import Any

import numpy
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import StimulusContext, StimulusPlugin
from safety_scenarios.scenario.world.block import (
    BASE,
    Camera,
    FRAME_NAME,
    Mounted,
    MountedFrame,
    WorldBlock,
)
from safety_scenarios.scenario.world.robot_file import Mount
from safety_scenarios.scenario.world.scanner import ALL_AROUND, Scanner
from safety_scenarios.stimuli.contact import Contact
from safety_scenarios.worlds.misread import odometry
from safety_scenarios.worlds.mujoco.arm import Arm, FRAME, JOINT_STATE, WRENCH
from safety_scenarios.worlds.mujoco.arm_model import MountedArm
from safety_scenarios.worlds.mujoco.entities import Entity, SCANNERS
from safety_scenarios.worlds.mujoco.mobile_base import Base
from safety_scenarios.worlds.mujoco.robots import Chassis
from safety_scenarios.worlds.mujoco.sensors.camera import camera_frame, PictureTaker
from safety_scenarios.worlds.mujoco.sensors.lidar import LASER_SCAN, Lidar
from safety_scenarios.worlds.mujoco.sensors.sensor import (
    BOOL,
    IMU,
    imu_message,
    motion_message,
    ODOMETRY,
    POSE,
    pose_message,
    Sensor,
    STAMPED,
)

BUMPER_N = 5.0
"""A bumper feels no less than this (N)."""
_REPORT_HZ = 50.0
"""Of odometry, as often as it commonly comes."""
_IMU_HZ = 100.0
"""Of an IMU, as often as it commonly comes."""


@dataclass(frozen=True)
class Carried:
    """What sensors look at: the world, and the robot that carries them."""

    model: Any
    data: Any
    robot: Base | Arm
    chassis: Chassis | MountedArm
    body: int
    """Of the robot."""
    place: Callable[[], None]
    """Lets surfaces be where their joints are by now."""
    entities: Sequence[Entity]
    """That stimuli may put there."""
    shown: Mapping[str, Sequence[Entity]]
    """Stimulus topic to what it shows now."""
    forces: Mapping[str, float]
    """Stimulus topic to what presses (N)."""


class RobotSensors:
    """
    All sensors that a scenario reads, of its stimuli and of what the robot reports of itself.

    :param random: of whatever is drawn in them, such as the noise of a scanner
    :raises InputError: more scanners than can be told apart, or one is mounted that nobody has,
        or a camera where nothing can draw
    """

    def __init__(self, ros: RobotBody, block: WorldBlock, carried: Carried,
                 random: numpy.random.Generator) -> None:
        self._carried, self._senses, self._random = carried, block.senses, random
        self._robot = carried.robot
        self._arm = carried.robot if isinstance(carried.robot, Arm) else None
        self._begun, self._driven = self._robot.pose, 0.0
        self._felt_before = self._robot.twist
        self._hit: dict[str, float] = {}
        self.joints: dict[str, tuple[str, ...]] = {}
        """Topic of joint states to the names that it shows; without names: those of the arm."""
        self.groups: dict[str, int] = {}
        """Topic of a scanner to the group of geometries that it alone sees."""
        self.by_topic: dict[str, Sensor] = {}
        self.trackers: set[str] = set()
        """Topics on which it is told where a person is."""
        self.frames: list[MountedFrame] = []
        """Where on the robot they are, but for those whose frame is the robot's own."""
        for plugin in (*ros.nominal.stimuli, *ros.stimuli):
            if plugin.topic not in self.by_topic:
                self._of_stimulus(plugin)
        for one in ros.feedback:
            interface = one.message
            if interface == 'auto':
                interface = ODOMETRY if self._arm is None else JOINT_STATE
            self._of_report(one.topic, interface)
        self._refuse_unmounted(block.camera)
        self._camera: PictureTaker | None = None
        if block.camera is not None:
            self._camera = self._of_camera(block.camera)

    def close(self) -> None:
        """Give up what they hold; calling it again does nothing."""
        if self._camera is not None:
            self._camera.close()

    def felt(self, force: float) -> bool:
        """Let bumpers feel how hard something touches (N); False: the robot has none."""
        for topic, before in self._hit.items():
            self._hit[topic] = max(before, force)
        return bool(self._hit)

    def mount(self, kind: str, topic: str) -> Mount:
        """Return where a sensor is, as the scenario or else the robot's file says."""
        said = self._senses.mounts.get(topic)
        if said is None:
            return self._carried.chassis.mount(kind, topic)
        return _mounted(kind, topic, said)

    def _of_stimulus(self, plugin: StimulusPlugin) -> None:
        interface, topic = plugin.interface(), plugin.topic
        frame = getattr(plugin, 'frame', 'base_link')
        read: Callable[[], Message | None]
        is_report = False
        if interface == LASER_SCAN:
            read = partial(self._scanned, topic, self._lidar(
                topic, frame, plugin.rate_hz, getattr(plugin, 'scanner', ALL_AROUND)))
        elif interface == POSE:
            self.trackers.add(topic)
            read = partial(self._tracked, topic, frame)
        elif plugin.kind == 'contact' and interface is not None:
            read = partial(self._pressed, plugin)
            if interface == BOOL:
                self._hit[topic] = 0.0
        elif interface == JOINT_STATE and self._arm is not None:
            read, is_report = partial(self._jointed, topic), True
        else:
            return
        self.by_topic[topic] = Sensor(topic, plugin.rate_hz, read, is_report=is_report)

    def _lidar(self, topic: str, frame: str, rate_hz: float, scanner: Scanner) -> Lidar:
        self.groups[topic] = group = 1 + len(self.groups)
        if group > SCANNERS:
            raise InputError(
                f'ros.stimuli: got {group} scanners, {", ".join(self.groups)}, expected at most '
                f'{SCANNERS}. Show things on fewer topics')
        carried, mount = self._carried, self.mount('lidar', topic)
        if scanner.mounted is not None:
            frame, mount = scanner.frame, mount.model_copy(update={
                'x': mount.x + scanner.x, 'y': mount.y + scanner.y,
                'yaw': mount.yaw + scanner.yaw})
        known = {BASE, *(one.frame for one in self.frames)}
        if frame not in known and re.match(FRAME_NAME, frame):
            self.frames.append(MountedFrame(
                frame=frame, translation=(mount.x, mount.y, mount.height),
                rotation=(0.0, 0.0, mount.yaw)))
        return Lidar(carried.model, carried.data, group, carried.body, frame, rate_hz,
                     self._senses, self._random, mount, scanner)

    def _of_report(self, topic: str, interface: str) -> None:
        arm = self._arm
        read: Callable[[], Message | None]
        rate_hz = _REPORT_HZ
        if arm is not None and interface == JOINT_STATE:
            self.joints[topic] = ()
            read = partial(self._jointed, topic)
        elif arm is not None and interface == WRENCH:
            rate_hz, read = _IMU_HZ, partial(arm.wrench, FRAME)
        elif arm is None and interface in (ODOMETRY, STAMPED, 'geometry_msgs/msg/Twist'):
            read = partial(self._moved, interface)
        elif arm is None and interface == IMU:
            rate_hz, read = _IMU_HZ, self._felt
        elif interface == BOOL:
            self._hit[topic] = 0.0
            read = partial(self._bumped, topic)
        else:
            return
        self.by_topic[topic] = Sensor(topic, rate_hz, read, is_report=True)

    def _of_camera(self, camera: Camera) -> PictureTaker:
        carried, mount = self._carried, self.mount('camera', camera.topic)
        self.frames.append(camera_frame(camera.frame, mount))
        taker = PictureTaker(carried.model, carried.data, camera, mount, self._senses,
                             carried.entities, self._random)

        def picture() -> Message:
            carried.place()
            return taker.picture(self._robot.pose)
        for topic, read in ((camera.topic, picture), (camera.info, taker.info)):
            self.by_topic[topic] = Sensor(topic, camera.rate_hz, read)
        return taker

    def _refuse_unmounted(self, camera: Camera | None) -> None:
        mounts, scanners = self._senses.mounts, ', '.join(self.groups)
        known = {*self.groups} if camera is None else {*self.groups, camera.topic}
        unknown = sorted(set(mounts) - known)
        if unknown:
            raise InputError(
                f'ros.world.senses.mounts: got {", ".join(unknown)}, expected the topic of a '
                f'scanner: {scanners or "this scenario has none"}'
                f'{"" if camera is None else f"; or of the camera: {camera.topic}"}')
        tilted = sorted(topic for topic in self.groups if topic in mounts and mounts[topic].pitch)
        if tilted:
            raise InputError(f'ros.world.senses.mounts: got pitch for {", ".join(tilted)}, '
                             f'expected none: a scanner lies flat, and a camera alone has it')

    def _scanned(self, topic: str, lidar: Lidar) -> Message:
        self._carried.place()
        message = lidar.message(*self._robot.pose)
        for entity in self._carried.shown.get(topic, ()):
            if not entity.is_seen:
                entity.looked_at(is_seen=lidar.shows(entity.geoms))
        return message

    def _moved(self, interface: str) -> Message:
        pose, twist = self._robot.pose, self._robot.twist
        if self._senses.odometry_drift or self._senses.heading_drift:
            self._driven += math.hypot(*twist[:2]) / _REPORT_HZ
            pose, twist = odometry(pose, twist, self._begun, self._driven, self._senses)
        return motion_message(interface, pose, twist)

    def _felt(self) -> Message:
        """Return what an IMU tells: how fast it turns, and how hard the base speeds up."""
        (vx, vy, turn), before = self._robot.twist, self._felt_before
        self._felt_before = (vx, vy, turn)
        return imu_message(self._robot.pose[2], turn, (vx - before[0]) * _IMU_HZ - turn * vy,
                           (vy - before[1]) * _IMU_HZ + turn * vx)

    def _bumped(self, topic: str) -> Message:
        """Return whether the base has touched anything since the last message."""
        force, self._hit[topic] = self._hit[topic], 0.0
        return Message.model_construct(type=BOOL, data={'data': force > BUMPER_N})

    def _tracked(self, topic: str, frame: str) -> Message | None:
        """Return where the nearest person is that a tracker sees, seen from the robot."""
        x, y, heading = place = self._robot.pose
        seen = [entity for entity in self._carried.shown.get(topic, ()) if entity.is_tracked]
        dark = self._senses.darkness
        is_dark = bool(seen) and bool(dark) and self._random.random() < dark
        for entity in seen:
            entity.looked_at(is_seen=not is_dark)
        if not seen or is_dark:
            return None
        nearest = seen[0] if len(seen) == 1 else min(
            seen, key=lambda entity: entity.distance(place))
        there = nearest.pose
        east, north = there[0] - x, there[1] - y
        cos, sin = math.cos(heading), math.sin(heading)
        return pose_message(frame, cos * east + sin * north, cos * north - sin * east)

    def _jointed(self, topic: str) -> Message | None:
        names = self.joints.get(topic)
        return None if self._arm is None or names is None else self._arm.joint_state(names)

    def _pressed(self, plugin: StimulusPlugin) -> Message:
        """Return what a force sensor shows, and a bumper: that feels real contacts too."""
        if self._arm is not None and plugin.interface() == WRENCH:
            return _saturated(self._arm.wrench(getattr(plugin, 'frame', FRAME)), plugin)
        force = self._carried.forces.get(plugin.topic, 0.0)
        hit = self._hit.get(plugin.topic, 0.0)
        if hit:
            self._hit[plugin.topic] = 0.0
        pressed: Any = plugin.model_copy(
            update={'force': hit if hit > max(BUMPER_N, abs(force)) else force})
        message: Message = pressed.at(0, 0, StimulusContext('', (), None)).message
        return message


def _saturated(wrench: Message, plugin: StimulusPlugin) -> Message:
    """Return what a sensor reads of a wrench that takes no more along each axis."""
    if not isinstance(plugin, Contact) or plugin.saturation is None:
        return wrench
    data = wrench.data
    force = plugin.read(tuple(data['wrench']['force'].values()))
    return Message.model_construct(type=wrench.type, data={
        **data, 'wrench': {**data['wrench'], 'force': force}})


def _mounted(kind: str, topic: str, said: Mounted) -> Mount:
    return Mount.model_construct(kind=kind, topic=topic, x=said.x, y=said.y, height=said.height,
                                 yaw=said.yaw, pitch=said.pitch)
