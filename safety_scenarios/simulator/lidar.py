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
"""A planar laser scanner by ray casting."""

from collections.abc import Sequence
import math
from typing import Any

import mujoco
import numpy
from safety_scenarios.model.message import Message
from safety_scenarios.model.robot_file import Mount
from safety_scenarios.model.scan import BEAMS, RANGE_MIN
from safety_scenarios.model.world_block import Senses
from safety_scenarios.simulator.entities import GLASS, SQUARELY
from safety_scenarios.simulator.misread import Weather

_MIDDLE = Mount.model_construct(kind='lidar')
LASER_SCAN = 'sensor_msgs/msg/LaserScan'
_STEP = 2 * math.pi / BEAMS
_ANGLES = -math.pi + numpy.arange(BEAMS) * _STEP
_COS, _SIN = numpy.cos(_ANGLES), numpy.sin(_ANGLES)
_SAME_M = 0.01
"""Nearer than that to a surface it is the surface that returned a beam."""
_SQUARELY = math.cos(SQUARELY)


class Lidar:
    """
    Sees what is in the groups of its mask, all around, from where it is mounted.

    :param group: of geometries that only this scanner sees; group 0 is seen by all
    :param body: of the robot itself, which it looks through
    :param mount: where on the robot it is; 0.2 m above its origin
    """

    def __init__(self, model: Any, data: Any, group: int, body: int, frame: str,
                 rate_hz: float, senses: Senses, random: numpy.random.Generator,
                 mount: Mount = _MIDDLE) -> None:
        self._model, self._data, self._body = model, data, body
        self._senses, self._mount = senses, mount
        self._weather = Weather(senses, random, _ANGLES, RANGE_MIN)
        self._empty = Message.model_construct(type=LASER_SCAN, data={
            'header': {'frame_id': frame}, 'angle_min': -math.pi,
            'angle_max': math.pi - _STEP, 'angle_increment': _STEP, 'time_increment': 0.0,
            'scan_time': 1.0 / rate_hz, 'range_min': RANGE_MIN,
            'range_max': senses.range_max, 'ranges': (), 'intensities': ()})
        self._groups = numpy.zeros(6, numpy.uint8)
        self._groups[[0, group]] = 1
        self._hit, self._ranges = numpy.zeros(BEAMS, numpy.int32), numpy.zeros(BEAMS)
        self._panes = numpy.zeros(6, numpy.uint8)
        self._panes[GLASS] = 1
        self._beams, self._normals = numpy.zeros((BEAMS, 3)), numpy.zeros((BEAMS, 3))
        self._turned = math.nan
        self._surfaces, self._returned = self._hit, numpy.zeros(BEAMS, bool)

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
            self._beams[:, 0] = cos * _COS - sin * _SIN
            self._beams[:, 1] = sin * _COS + cos * _SIN
        true = self._cast(origin)
        ranges = self._weather.disturbed(true.copy())
        self._returned = numpy.isfinite(ranges) & (ranges > 0)
        if self._senses.short_returns:  # what a drop returns shows nothing behind it
            self._returned &= ranges >= true - 3 * self._senses.range_noise - _SAME_M
        return self._empty.replaced('ranges', tuple(ranges.tolist()))

    def shows(self, geoms: Sequence[int]) -> bool:
        """Return whether the last scan shows any of some geometries by at least one beam."""
        return bool(numpy.isin(self._surfaces[self._returned], geoms).any())

    def _cast(self, origin: Any) -> Any:
        """Return how far away the nearest surface along each beam is; infinity: there is none."""
        most = self._senses.range_max
        beams = self._beams.reshape(-1)
        mujoco.mj_multiRay(self._model, self._data, origin, beams, self._groups, True, self._body,
                           self._hit, self._ranges, None, BEAMS, most)
        ranges = numpy.where(self._ranges < 0, math.inf, self._ranges)
        self._surfaces = self._hit.copy()
        if GLASS in self._model.geom_group.tolist():
            mujoco.mj_multiRay(self._model, self._data, origin, beams, self._panes, True,
                               self._body, self._hit, self._ranges, self._normals.reshape(-1),
                               BEAMS, most)
            squarely = numpy.abs((self._beams * self._normals).sum(axis=1)) >= _SQUARELY
            panes = (self._ranges >= 0) & squarely & (self._ranges <= ranges)
            ranges = numpy.where(panes, self._ranges, ranges)
            self._surfaces = numpy.where(panes, self._hit, self._surfaces)
        return ranges
