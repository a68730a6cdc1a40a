# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a relay makes of scans and odometry, so that a sensor is as wrong as a scenario says."""

import math
from typing import Any

import numpy
from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world.block import Senses
from safety_scenarios.stimuli.wire.content import Packet
from safety_scenarios.worlds.misread import odometry, Weather

SCAN, ODOMETRY = 'sensor_msgs/msg/LaserScan', 'nav_msgs/msg/Odometry'
_USUAL = Senses()
_LONGEST_S = 1.0
"""Between two messages of odometry that are farther apart nobody knows what was driven."""


class Misreader:
    """
    Sensors of one topic, as the embedded world has them wrong: by the same formulas.

    :param seed: of what is drawn
    :raises MeasurementError: nothing is known of such sensors
    """

    def __init__(self, senses: Senses, seed: int, interface: str) -> None:
        if interface:
            _refuse_others(interface)
        self._senses, self._random = senses, numpy.random.default_rng(seed)
        self._beams: tuple[float, float, int] | None = None
        self._start: tuple[float, float, float] | None = None
        self._driven, self._last_ns = 0.0, 0

    def read(self, packet: Packet) -> Packet:
        """
        Return what is published where nothing would be wrong with this.

        :raises MeasurementError: a scanner that does not look all around would be turned, or
            nothing is known of such a message
        """
        message = packet.message
        if message.type == SCAN:
            return Packet(self._scanned(message), packet.stamp_ns)
        _refuse_others(message.type)
        return Packet(self._moved(message, packet.stamp_ns), packet.stamp_ns)

    def _scanned(self, message: Message) -> Message:
        data = message.data
        first, apart = data['angle_min'], data['angle_increment']
        count = len(data['ranges'])
        whole, rest = self._turned(apart, count)
        ranges = numpy.roll(numpy.array(data['ranges'], float), -whole)
        if self._beams != (first, apart, count):
            self._beams = first, apart, count
            senses = self._senses
            if senses.range_max == _USUAL.range_max:  # nobody has said otherwise
                senses = senses.model_copy(update={'range_max': data['range_max']})
            self._most = min(senses.range_max, data['range_max'])
            self._weather = Weather(senses, self._random, first + numpy.arange(count) * apart,
                                    data['range_min'])
        read = {**data, 'angle_min': first - rest, 'angle_max': data['angle_max'] - rest,
                'range_max': self._most,
                'ranges': tuple(self._weather.disturbed(ranges).tolist())}
        if len(data['intensities']) == count:
            read['intensities'] = (*data['intensities'][whole:], *data['intensities'][:whole])
        return Message.model_construct(type=SCAN, data=read)

    def _turned(self, apart: float, count: int) -> tuple[int, float]:
        """Return by how many whole beams a scanner is turned to the left, and the rest (rad)."""
        offset = self._senses.yaw_offset
        if not offset or not count:
            return 0, 0.0
        if not apart or abs(count * abs(apart) - 2 * math.pi) > abs(apart) / 2:
            raise MeasurementError(
                f'got a scanner turned by {offset:g} rad whose {count} beams are {apart:g} rad '
                f'apart, expected one that looks all around: what a turned one would see beyond '
                f'its edge is not known')
        whole = round(offset / apart)
        return whole % count, offset - whole * apart

    def _moved(self, message: Message, stamp_ns: int | None) -> Message:
        data = message.data
        told, moves = data['pose']['pose'], data['twist']['twist']
        twist = moves['linear']['x'], moves['linear']['y'], moves['angular']['z']
        pose = told['position']['x'], told['position']['y'], _heading(told['orientation'])
        if self._start is None:
            self._start = pose
        elif stamp_ns is not None:
            passed_s = (stamp_ns - self._last_ns) / 1e9
            self._driven += math.hypot(*twist[:2]) * passed_s if 0 < passed_s < _LONGEST_S else 0.0
        self._last_ns = stamp_ns or 0
        (x, y, heading), (ahead, left, turn) = odometry(
            pose, twist, self._start, self._driven, self._senses)
        read = {**data, 'pose': {**data['pose'], 'pose': {
            'position': {**told['position'], 'x': x, 'y': y},
            'orientation': {'x': 0.0, 'y': 0.0, 'z': math.sin(heading / 2),
                            'w': math.cos(heading / 2)}}}, 'twist': {**data['twist'], 'twist': {
                                'linear': {**moves['linear'], 'x': ahead, 'y': left},
                                'angular': {**moves['angular'], 'z': turn}}}}
        return Message.model_construct(type=ODOMETRY, data=read)


def _refuse_others(interface: str) -> None:
    if interface not in (SCAN, ODOMETRY):
        raise MeasurementError(f'got wrong senses for a {interface}, expected {SCAN} or '
                               f'{ODOMETRY}: of others a relay knows nothing')


def _heading(rotation: Any) -> float:
    x, y, z, w = (rotation[name] for name in 'xyzw')
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
