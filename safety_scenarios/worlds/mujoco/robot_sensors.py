# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The sensors of a robot in a world, which topics each has, and its laser scanner."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
import math
import re
from typing import Any

import mujoco
import numpy
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.companion_files import Mount
from safety_scenarios.scenario.frames import ALL_AROUND, Scanner
from safety_scenarios.scenario.interfaces import RANGE_MIN, scan_fields
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import StimulusContext, StimulusPlugin
from safety_scenarios.scenario.world import (
    BASE,
    Camera,
    FRAME_NAME,
    Mounted,
    MountedFrame,
    Senses,
    WorldBlock,
)
from safety_scenarios.scenario.world_body import SQUARELY
from safety_scenarios.stimuli.bodies import Contact
from safety_scenarios.worlds.mujoco.arm import Arm, FRAME, JOINT_STATE, WRENCH
from safety_scenarios.worlds.mujoco.camera import camera_frame, PictureTaker
from safety_scenarios.worlds.mujoco.entities import Entity, GLASS, SCANNERS
from safety_scenarios.worlds.mujoco.mobile_base import Base
from safety_scenarios.worlds.mujoco.robots import Chassis
from safety_scenarios.worlds.mujoco.scene import MountedArm
from safety_scenarios.worlds.mujoco.wires import (
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
from safety_scenarios.worlds.sensor_errors import odometry, Weather

_MIDDLE = Mount.model_construct(kind='lidar')
LASER_SCAN = 'sensor_msgs/msg/LaserScan'
_SAME_M = 0.01
"""Nearer than that to a surface it is the surface that returned a beam."""
_TURN = 2 * math.pi
_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)
_SQUARELY = math.cos(SQUARELY)


class Lidar:
    """
    Sees what is in the groups of its mask, along its rays, from where it is mounted.

    :param group: of geometries that only this scanner sees; group 0 is seen by all
    :param body: of the robot itself, which it looks through
    :param mount: where on the robot it is; 0.2 m above its origin
    :param scanner: how its rays are laid out
    """

    def __init__(self, model: Any, data: Any, group: int, body: int, frame: str,
                 rate_hz: float, senses: Senses, random: numpy.random.Generator,
                 mount: Mount = _MIDDLE, scanner: Scanner = ALL_AROUND) -> None:
        self._model, self._data, self._body = model, data, body
        self._senses, self._mount, self._scanner = senses, mount, scanner
        angles = scanner.angles
        self._cos, self._sin = numpy.cos(angles), numpy.sin(angles)
        self._all = 0, scanner.rays
        self._weather = Weather(senses, random, angles, RANGE_MIN)
        self._empty = Message.model_construct(type=LASER_SCAN, data={
            'header': {'frame_id': frame}, **scan_fields(scanner, rate_hz),
            'range_max': senses.range_max, 'ranges': (), 'intensities': ()})
        self._groups = numpy.zeros(6, numpy.uint8)
        self._groups[[0, group]] = 1
        count = scanner.rays
        self._void, self._nothing = numpy.full(count, math.inf), numpy.full(count, -1, numpy.int32)
        self._hit, self._ranges = numpy.zeros(count, numpy.int32), numpy.zeros(count)
        self._solid = (model.geom_bodyid != body) & (model.geom_type != _PLANE)
        self._grouped, self._seen, self._has_panes = b'', numpy.zeros(0, int), False
        """Groups of geometries as they were, those it sees by them, and whether any is glass."""
        self._panes = numpy.zeros(6, numpy.uint8)
        self._panes[GLASS] = 1
        self._beams, self._normals = numpy.zeros((count, 3)), numpy.zeros((count, 3))
        self._turned, self._run = math.nan, self._all
        self._surfaces, self._last = self._nothing, self._empty
        self._true = self._read = numpy.zeros(0)
        self._scene: tuple[Any, ...] = ()

    def message(self, x: float, y: float, heading: float) -> Message:
        """Return the scan of now, its header without a stamp."""
        mount = self._mount
        cos, sin = math.cos(heading), math.sin(heading)
        origin = numpy.array([x + cos * mount.x - sin * mount.y,
                              y + sin * mount.x + cos * mount.y, mount.height])
        turned = heading + mount.yaw + self._senses.yaw_offset
        if turned != self._turned:  # who drives straight on looks the same way as before
            self._turned = turned
            cos, sin = math.cos(turned), math.sin(turned)
            self._beams[:, 0] = cos * self._cos - sin * self._sin
            self._beams[:, 1] = sin * self._cos + cos * self._sin
        model, data = self._model, self._data
        scene = x, y, turned, b''.join((
            data.geom_xpos, data.geom_xmat, model.geom_group, model.geom_size))
        if scene == self._scene and not self._weather.is_random:
            return self._last  # nothing has moved, and one object says so
        self._scene, self._true = scene, self._cast(origin)
        first, after = self._run if self._weather.is_clear else self._all  # the others see nothing
        before, self._read = self._read, self._true.copy()
        read = self._read[first:after] = self._weather.disturbed(self._read[first:after])
        if before.tobytes() != self._read.tobytes():
            self._last = self._empty.replaced('ranges', (
                *(math.inf,) * first, *read.tolist(),
                *(math.inf,) * (self._scanner.rays - after)))
        return self._last

    def shows(self, geoms: Sequence[int]) -> bool:
        """Return whether the last scan shows any of some geometries by at least one beam."""
        returned = numpy.isfinite(self._read) & (self._read > 0)
        if self._senses.short_returns:  # what a drop returns shows nothing behind it
            returned &= self._read >= self._true - 3 * self._senses.range_noise - _SAME_M
        return bool(numpy.isin(self._surfaces[returned], geoms).any())

    def _cast(self, origin: Any) -> Any:
        """Return how far away the nearest surface along each beam is; infinity: there is none."""
        most = self._senses.range_max
        ranges, self._surfaces = self._void.copy(), self._nothing.copy()
        self._look()
        first, after = self._run = self._may_meet(*origin.tolist())
        if first < after:
            far = ranges[first:after]
            mujoco.mj_multiRay(self._model, self._data, origin,
                               self._beams[first:after].reshape(-1), self._groups, True,
                               self._body, self._surfaces[first:after], far, None,
                               after - first, most)
            far[far < 0] = math.inf
        if self._has_panes:
            self._run = self._all
            mujoco.mj_multiRay(self._model, self._data, origin, self._beams.reshape(-1),
                               self._panes, True, self._body, self._hit, self._ranges,
                               self._normals.reshape(-1), self._scanner.rays, most)
            squarely = numpy.abs((self._beams * self._normals).sum(axis=1)) >= _SQUARELY
            panes = (self._ranges >= 0) & squarely & (self._ranges <= ranges)
            ranges = numpy.where(panes, self._ranges, ranges)
            self._surfaces = numpy.where(panes, self._hit, self._surfaces)
        return ranges

    def _look(self) -> None:
        """Find out which geometries it sees now: groups change as things come and go."""
        groups = self._model.geom_group
        grouped = groups.tobytes()
        if grouped != self._grouped:
            self._grouped = grouped
            self._seen = numpy.flatnonzero(self._solid & (self._groups[groups] > 0))
            self._has_panes = GLASS in groups.tolist()

    def _may_meet(self, east: float, north: float, height: float) -> tuple[int, int]:
        """
        Return the first beam from there that may meet something, and the one after the last.

        A beam that misses the ball around a surface misses that, and one that lies flat the floor.
        Most look into the void, and to cast them costs more than all of this; of what is on both
        sides those in between are cast too, and all where something is behind the scanner.
        """
        scanner, (first, after) = self._scanner, (self._scanner.rays, 0)
        step = abs(scanner.angle_increment)
        turned = self._turned + scanner.angle_min
        for (x, y, z), ball in zip(self._data.geom_xpos.take(self._seen, axis=0).tolist(),
                                   self._model.geom_rbound[self._seen].tolist(), strict=True):
            section = (ball + _SAME_M)**2 - (z - height)**2
            if section <= 0:
                continue
            x, y = x - east, y - north
            away = x * x + y * y
            if away <= section:
                return self._all
            half = math.asin(math.sqrt(section / away))
            middle = math.copysign(1.0, scanner.angle_increment) * (
                math.atan2(y, x) - turned) % _TURN
            first = min(first, math.floor((middle - half) / step))
            after = max(after, math.ceil((middle + half) / step) + 1)
        return (min(first, after), after) if first >= 0 and after <= scanner.rays else self._all


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
                self._add_stimulus(plugin)
        for one in ros.feedback:
            interface = one.message
            if interface == 'auto':
                interface = ODOMETRY if self._arm is None else JOINT_STATE
            self._add_report(one.topic, interface)
        self._refuse_unmounted(block.camera)
        self._camera: PictureTaker | None = None
        if block.camera is not None:
            self._camera = self._add_camera(block.camera)

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

    def _add_stimulus(self, plugin: StimulusPlugin) -> None:
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

    def _add_report(self, topic: str, interface: str) -> None:
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

    def _add_camera(self, camera: Camera) -> PictureTaker:
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
