# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What goes to and from a robot in a world: commands and readings, and what is wrong with them."""

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
import math
from typing import Any, NamedTuple

from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.interfaces import has_header, stamp_of
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.message_types import without_numbers
from safety_scenarios.scenario.noun import shape_of
from safety_scenarios.scenario.stimulus import Silence, StreamFault
from safety_scenarios.scenario.wire_fault import WireFault
from safety_scenarios.scenario.world import IMAGE
from safety_scenarios.stimuli.wire import changes, Packet, Wire
from safety_scenarios.worlds.mujoco.mobile_base import GRAVITY


class Sensed(NamedTuple):
    """One message that a sensor publishes, or with ``truths`` how entities are."""

    name: str
    """Topic; empty with ``truths``."""
    message: Message | None = None
    """Without a header stamp: the link writes it."""
    truths: Mapping[str, Mapping[str, float]] = {}
    """By entity as ``state`` events have it; one without anything is gone."""
    is_held: bool = False
    """Whether the sensor repeats its last header stamp, because it is frozen."""
    is_report: bool = False
    """Whether it is the robot's report of its own state, which the record keeps."""
    shift_ns: int = 0
    """What is added to the header stamp: it is of another moment, or of another clock."""


def spelled_out(message: Message) -> Message:
    """Return a message whose pixels are a tuple, as every sequence is that a controller hears."""
    if message.type != IMAGE:
        return message
    data = message.data
    return Message.model_construct(type=IMAGE, data={**data, 'data': tuple(data['data'])})


POSE = 'geometry_msgs/msg/PoseStamped'
ODOMETRY = 'nav_msgs/msg/Odometry'
STAMPED = 'geometry_msgs/msg/TwistStamped'
IMU = 'sensor_msgs/msg/Imu'
BOOL = 'std_msgs/msg/Bool'
_AXES = ('x', float), ('y', float), ('z', float)
_POSE = shape_of((('header', (('frame_id', str),)),
                  ('pose', (('position', _AXES), ('orientation', (*_AXES, ('w', float)))))))


class Sensor:
    """
    One topic: a reading at each period, as long as nothing is wrong with it.

    :param read: what it would publish now; None: nothing
    """

    def __init__(self, topic: str, rate_hz: float, read: Callable[[], Message | None],
                 is_report: bool = False) -> None:
        self.topic = topic
        self._read, self._is_report = read, is_report
        self._rate_hz = rate_hz
        self._count = self._reads_ns = 0
        self.due_ns = 0
        """When the next message is due, or what is still on its way."""
        self._last: Message | None = None
        self._fault: StreamFault | Silence | None = None
        self._wire: Wire | None = None
        self._untried: WireFault | None = None
        self._coming: deque[tuple[int, Packet]] = deque()
        self._dropped = 0

    def fail(self, fault: StreamFault | Silence | None) -> None:
        """
        Let something be wrong with it from now on; None: no longer.

        What is on its way then is lost: the next message of a sensor takes its place.
        """
        self._fault, self._dropped, self._wire, self._untried = fault, 0, None, None
        self._coming.clear()
        self.due_ns = self._reads_ns
        if isinstance(fault, StreamFault) and not (
                fault.fault == 'frozen' or (fault.wire is None and fault.fault == 'nan')):
            self._untried = fault.on_wire()
            self._wire = Wire((self._untried,))

    def sense(self, now_ns: int) -> Sequence[Sensed]:
        """Return the messages that arrive by now."""
        found: list[Sensed] = []
        if self._reads_ns <= now_ns:
            self._count += 1
            self._reads_ns = round(self._count * 1e9 / self._rate_hz)
            if self._wire is not None:
                self._send(self._wire, now_ns)
            elif (sensed := self._next()) is not None:
                found.append(sensed)
        while self._coming and self._coming[0][0] <= now_ns:
            _, packet = self._coming.popleft()
            shift_ns = 0 if packet.stamp_ns is None else packet.stamp_ns - now_ns
            found.append(Sensed(self.topic, packet.message, is_report=self._is_report,
                                shift_ns=shift_ns))
        self.due_ns = min(self._reads_ns, self._coming[0][0]) if self._coming else self._reads_ns
        return found

    def _send(self, wire: Wire, now_ns: int) -> None:
        """
        Let what it would publish now go on its way.

        :raises MeasurementError: the fault changes nothing in the first message: it would count
            as one that was shown
        """
        message = self._read()
        if message is not None:
            packet = Packet(message, now_ns if has_header(message) else None)
            fault, self._untried = self._untried, None
            if fault is not None and not changes(fault, packet):
                raise MeasurementError(
                    f'{self.topic}: got {fault}, which changes nothing in a {message.type} as '
                    f'this sensor sends it, expected one that does. Choose another fault, or its '
                    f'fields')
            self._coming.extend(wire.take(packet, now_ns))

    def _next(self) -> Sensed | None:
        """Return the message that is due, None if there is none."""
        fault = self._fault
        if isinstance(fault, Silence) and (
                fault.messages is None or self._dropped < fault.messages):
            self._dropped += 1
            return None
        if isinstance(fault, StreamFault) and fault.fault == 'frozen' \
                and self._last is not None and self._repeats(fault):
            self._dropped += 1
            return Sensed(self.topic, self._last, is_held=True, is_report=self._is_report)
        found = self._read()
        if found is None:
            return None
        if isinstance(fault, StreamFault) and fault.fault == 'nan':
            return Sensed(self.topic, without_numbers(found), is_report=self._is_report)
        self._last = found
        return Sensed(self.topic, found, is_report=self._is_report)

    def _repeats(self, fault: StreamFault) -> bool:
        most = None if fault.wire is None else fault.wire.messages
        return most is None or self._dropped < most


def pose_message(frame: str, x: float, y: float) -> Message:
    """Return where somebody is, in the frame of a tracker on the robot (m)."""
    return Message.of(POSE, _POSE, _POSE.pack(x, y, 0.0, 0.0, 0.0, 0.0, 1.0), (frame,))


def imu_message(heading: float, turn: float, ahead: float, left: float) -> Message:
    """
    Return what an IMU in the middle of a base tells: it lies flat, and feels gravity.

    :param ahead: acceleration of the base along x (m/s^2)
    """
    unknown = (0.0,) * 9
    return Message.model_construct(type=IMU, data={
        'header': {'frame_id': 'base_link'},
        'orientation': {'x': 0.0, 'y': 0.0, 'z': math.sin(heading / 2),
                        'w': math.cos(heading / 2)},
        'orientation_covariance': unknown,
        'angular_velocity': {'x': 0.0, 'y': 0.0, 'z': turn},
        'angular_velocity_covariance': unknown,
        'linear_acceleration': {'x': ahead, 'y': left, 'z': GRAVITY},
        'linear_acceleration_covariance': unknown})


def motion_message(interface: str, pose: tuple[float, float, float],
                   twist: tuple[float, float, float]) -> Message:
    """Return odometry, or a twist with or without header, of a base."""
    moves: dict[str, Any] = {'linear': {'x': twist[0], 'y': twist[1], 'z': 0.0},
                             'angular': {'x': 0.0, 'y': 0.0, 'z': twist[2]}}
    if interface == STAMPED:
        moves = {'header': {'frame_id': 'base_link'}, 'twist': moves}
    elif interface == ODOMETRY:
        unknown, (x, y, heading) = (0.0,) * 36, pose
        moves = {'header': {'frame_id': 'odom'}, 'child_frame_id': 'base_link',
                 'pose': {'pose': {'position': {'x': x, 'y': y, 'z': 0.0},
                                   'orientation': {'x': 0.0, 'y': 0.0,
                                                   'z': math.sin(heading / 2),
                                                   'w': math.cos(heading / 2)}},
                          'covariance': unknown},
                 'twist': {'twist': moves, 'covariance': unknown}}
    return Message.model_construct(type=interface, data=moves)


Take = Callable[[str, Message, int, int], None]
"""The driver: topic, command, time in the world (ns), the same on the clock of stamps (ns)."""
_BY_VALUE = 'quantise', 'wrong_modality'
"""Faults that leave some commands as they are, such as a standstill: they wait for another."""


class CommandWires:
    """
    Hands commands to the driver: at once, or as a fault of their wire has it.

    :param topics: on which the robot is commanded
    """

    def __init__(self, topics: Collection[str], take: Take) -> None:
        self.topics = frozenset(topics)
        self._take = take
        self._wires: dict[str, Wire] = {}
        self._last: dict[str, Packet] = {}
        self._coming: dict[str, deque[tuple[int, Packet]]] = {}
        self._untried: dict[str, WireFault] = {}
        self._unchanged: dict[str, str] = {}
        """Topic to the interface of commands that an untried fault has left as they were."""
        self._clock_ns = 0

    @property
    def due_ns(self) -> float:
        """When the next command arrives that is on its way; infinite: none is."""
        return min((coming[0][0] for coming in self._coming.values() if coming),
                   default=math.inf) if self._coming else math.inf

    def take(self, topic: str, message: Message, now_ns: int, clock_ns: int) -> None:
        """
        Take what the controller has sent.

        :raises MeasurementError: the fault of its wire changes nothing in such a command
        """
        wire = self._wires.get(topic)
        if wire is None:
            if topic in self.topics:
                self._last[topic] = Packet(message, None)
            self._take(topic, message, now_ns, clock_ns)
            return
        self._clock_ns = clock_ns - now_ns
        self._refuse_unchanged(topic, message)
        self._coming[topic].extend(wire.take(Packet(message, stamp_of(message)), now_ns))
        self.arrive(now_ns)

    def arrive(self, now_ns: int) -> None:
        """Let the driver have what arrives by now."""
        while self.due_ns <= now_ns:
            topic = min((one for one, coming in self._coming.items() if coming),
                        key=lambda one: self._coming[one][0][0])
            due_ns, packet = self._coming[topic].popleft()
            self._take(topic, packet.message, due_ns, due_ns + self._clock_ns)

    def _refuse_unchanged(self, topic: str, message: Message) -> None:
        """Look at the first commands: a fault that is none would count as one that was shown."""
        fault = self._untried.get(topic)
        if fault is None:
            return
        if changes(fault, Packet(message, stamp_of(message))):
            del self._untried[topic]
        elif fault.kind in _BY_VALUE:
            self._unchanged[topic] = message.type
        else:
            raise MeasurementError(_unchanged(topic, fault, message.type))

    def fail(self, topic: str, fault: WireFault | None, now_ns: int) -> None:
        """
        Let something be wrong with a wire from now on; None: no longer.

        What is on its way then arrives at once, in order: of commands none is made up for.

        :raises MeasurementError: the fault that was there has changed no command at all, nor
            would it have changed the one before it
        """
        wire, coming = self._wires.pop(topic, None), self._coming.pop(topic, deque())
        for _, packet in [*coming, *(() if wire is None else wire.held(now_ns))]:
            self._take(topic, packet.message, now_ns, now_ns + self._clock_ns)
        untried, unchanged = self._untried.pop(topic, None), self._unchanged.pop(topic, None)
        if fault is not None:
            before = self._last.get(topic)
            if before is None or not changes(fault, before):
                self._untried[topic] = fault
            self._wires[topic] = Wire((fault,), last=self._last.get(topic))
            self._coming[topic] = deque()
        if untried is not None and unchanged is not None:
            raise MeasurementError(_unchanged(topic, untried, unchanged))


def _unchanged(topic: str, fault: WireFault, interface: str) -> str:
    return (f'{topic}: got {fault}, which changes nothing in a {interface} as the controller '
            f'sends it, expected one that does. Choose another fault, or its fields')
