# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A planar laser scanner by ray casting."""

from collections.abc import Sequence
import math
from typing import Any

import mujoco
import numpy
from safety_scenarios.scenario.interfaces import RANGE_MIN, scan_fields
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world.block import Senses
from safety_scenarios.scenario.world.body import SQUARELY
from safety_scenarios.scenario.world.robot_file import Mount
from safety_scenarios.scenario.world.scanner import ALL_AROUND, Scanner
from safety_scenarios.worlds.misread import Weather
from safety_scenarios.worlds.mujoco.entities import GLASS

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
