# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
One topic that a relay carries, and what it makes of scans and odometry.

Without a fault that changes messages they are carried as the bytes that they are.
"""

from collections import deque
from collections.abc import Callable, Collection, Sequence
import math
import threading
import time
from typing import Any

import numpy
from rclpy.serialization import serialize_message
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.link.convert import from_raw, interface_class, leaves, to_ros
from safety_scenarios.ros.relay.protocol import RelayTopic
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.wire_fault import WireFault
from safety_scenarios.scenario.world import Senses
from safety_scenarios.stimuli.wire import Packet, Way, Wire
from safety_scenarios.worlds.sensor_errors import odometry, Weather

SCAN, ODOMETRY = 'sensor_msgs/msg/LaserScan', 'nav_msgs/msg/Odometry'
_USUAL = Senses()
_LONGEST_S = 1.0
"""Between two messages of odometry that are farther apart nobody knows what was driven."""


class Misreader:
    """
    Sensors of one topic, as the embedded world has them wrong: by the same formulas.

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
                               f'{ODOMETRY}: a relay cannot read other types')


def _heading(rotation: Any) -> float:
    x, y, z, w = (rotation[name] for name in 'xyzw')
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


_REMEMBERED = 100_000
"""Latencies that median and p99 are of: the latest ones."""
_PLAUSIBLE_NS = 1_000_000_000
"""The middleware's stamp of a receipt is no older than that when the callback begins."""


class Line:
    """
    One topic; its callbacks and its deliveries may come from different threads.

    :param source: full name of the topic that is carried
    :param clock: time by which a fault delays (ns)
    :param in_real_time: whether that is real time, so that a lateness by it is a latency
    """

    def __init__(self, source: str, target: str, clock: Callable[[], int],
                 in_real_time: bool) -> None:
        self.source, self.target = source, target
        self.interface = ''
        self.publish: Callable[[bytes], None] | None = None
        self.problem = ''
        self._clock, self._in_real_time = clock, in_real_time
        self._lock = threading.RLock()
        self._faults: Sequence[WireFault] = ()
        self._way, self._content = Way(()), Wire(())
        self._coming: deque[tuple[int, bytes]] = deque()
        self._latencies: deque[int] = deque(maxlen=_REMEMBERED)
        self._received = self._published = self._altered = 0
        self._last: bytes | None = None
        self._senses: Senses | None = None
        self._misreader: Misreader | None = None
        self._unread = ''
        """Why a message has come through with nothing wrong in it; empty: none has."""
        self._now_ns = 0

    def carry(self, raw: bytes, received_ns: int | None) -> bool:
        """
        Take a serialised message, and publish what is due; return whether something is left.

        :param received_ns: system time at which the middleware had it, None if it does not say
        """
        began_ns = time.time_ns()
        if received_ns is None or not 0 <= began_ns - received_ns < _PLAUSIBLE_NS:
            received_ns = began_ns
        with self._lock:
            now_ns = self._look_at_clock()
            self._received += 1
            before, self._last = self._last, raw
            if before is None:  # the faults that wait for a message can be tried now
                self._refuse_empty(self._faults)
            for due_ns, item in self._way.take(self._alter(raw, now_ns), now_ns):
                if due_ns <= now_ns and not self._coming:
                    self._send(item)
                    self._latencies.append(time.time_ns() - received_ns)
                else:
                    self._coming.append((due_ns, item))
            return bool(self._coming)

    def deliver(self) -> int | None:
        """Publish what is due; return how long the next one has time (ns), None: there is none."""
        with self._lock:
            now_ns = self._look_at_clock()
            while self._coming and self._coming[0][0] <= now_ns:
                due_ns, item = self._coming.popleft()
                self._send(item)
                if self._in_real_time:
                    self._latencies.append(self._clock() - due_ns)
            return self._coming[0][0] - now_ns if self._coming else None

    def set_faults(self, faults: Sequence[WireFault], clock: Callable[[], int]) -> int:
        """
        Let these be wrong from now on, instead of those before; return the time right before it.

        What is on its way then comes out at once, in order: nothing is lost by it.

        :raises MeasurementError: one of them changes nothing in the messages that come
        """
        with self._lock:
            if self._last is not None:
                reason = self._empty(faults)
                if reason is not None:
                    raise MeasurementError(f'{self.target}: {reason}')
            now_ns = clock()
            self._hurry()
            self.problem = ''
            self._begin(faults)
            return now_ns

    def misread(self, senses: Senses | None, seed: int, clock: Callable[[], int]) -> int:
        """
        Let its sensor be so wrong from now on; return the time right before it.

        :raises MeasurementError: this sensor cannot be
        """
        with self._lock:
            try:
                if senses is not None and self._last is not None:
                    Misreader(senses, seed, self.interface).read(self._packet(self._last))
                made = None if senses is None else Misreader(senses, seed, self.interface)
            except MeasurementError as error:
                raise MeasurementError(f'{self.target}: {error}') from None
            self._senses, self._misreader, self._unread = senses, made, ''
            return clock()

    def status(self) -> RelayTopic:
        with self._lock:
            found = sorted(self._latencies)
            return RelayTopic(
                source=self.source, interface=self.interface, faults=tuple(self._faults),
                senses=self._senses,
                received=self._received, published=self._published, altered=self._altered,
                median_ns=found[len(found) // 2] if found else None,
                p99_ns=found[min(len(found) - 1, len(found) * 99 // 100)] if found else None,
                problem=self.problem or self._unread)

    def _begin(self, faults: Sequence[WireFault]) -> None:
        self._faults = tuple(faults)
        self._way = Way(self._faults, self._last)
        self._content = self._contents(self._faults)
        self._altered = 0

    def _contents(self, faults: Sequence[WireFault]) -> Wire:
        fixed: Collection[str] = ()
        contents = [fault for fault in faults if not fault.is_of_time]
        if contents and self.interface:
            fields = leaves(interface_class(self.interface))[2]
            fixed = {path for path, kind in fields.items()
                     if kind.endswith(']') and not kind.startswith('sequence<')}
        return Wire(contents, fixed)

    def set_interface(self, interface: str, publish: Callable[[bytes], None]) -> None:
        """Carry messages of this type, and publish them so."""
        with self._lock:
            self.interface, self.publish = interface, publish
            self._coming.clear()
            self._last = None
            self._begin(self._faults)

    def _alter(self, raw: bytes, now_ns: int) -> bytes:
        """Return what faults of content make of a message; it is only read if there are some."""
        if self._misreader is None and all(fault.is_of_time for fault in self._faults):
            return raw
        before = self._packet(raw)
        try:
            read = self._misread(before)
            after = self._content.altered(read, now_ns)
            if after.message is before.message or after.message == before.message:
                return raw
            altered = serialize_message(to_ros(after.message))
        except MeasurementError as error:
            self.problem = f'a message was carried as it is: {error}'
            return raw
        self._altered += 1
        return altered

    def _misread(self, packet: Packet) -> Packet:
        if self._misreader is None:
            return packet
        try:
            return self._misreader.read(packet)
        except MeasurementError as error:
            self._unread = f'a message was carried with nothing wrong in it: {error}'
            return packet

    def _packet(self, raw: bytes) -> Packet:
        return Packet(*from_raw(raw, self.interface))

    def _refuse_empty(self, faults: Sequence[WireFault]) -> None:
        reason = self._empty(faults)
        if reason is not None:
            self.problem = reason

    def _empty(self, faults: Sequence[WireFault]) -> str | None:
        """Return which fault changes nothing in the last message, None if all change something."""
        for fault in faults:
            if fault.is_of_time or self._last is None \
                    or (fault.kind == 'foreign_clock' and not fault.offset_s):
                continue
            before = self._packet(self._last)
            after = self._contents((fault,)).altered(before, 0)
            try:
                to_ros(after.message)
            except MeasurementError as error:
                return f'got {fault}, which no {self.interface} can carry: {error}'
            if after.message is before.message or after.message == before.message:
                return (f'got {fault}, which changes nothing in a {self.interface} as it comes, '
                        f'expected one that does. Choose another fault, or its fields')
        return None

    def _look_at_clock(self) -> int:
        """Return the time; after a step back what is on its way arrives, and faults begin anew."""
        now_ns = self._clock()
        if now_ns < self._now_ns:
            self._hurry()
            self._begin(self._faults)
        self._now_ns = now_ns
        return now_ns

    def _hurry(self) -> None:
        """Let what is on its way arrive at once."""
        now_ns = self._now_ns
        for _, item in [*self._coming, *self._way.held(now_ns)]:
            self._send(item)
        self._coming.clear()

    def _send(self, raw: bytes) -> None:
        if self.publish is not None:
            self.publish(raw)
            self._published += 1


def as_bytes(raw: Any) -> bytes:
    """Return a serialised message as the bytes that it is."""
    return raw if isinstance(raw, bytes) else bytes(raw)
