# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The way from the controller to the driver of its robot, and what may be wrong with it."""

from collections import deque
from collections.abc import Callable, Collection
import math

from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.interfaces import stamp_of
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world.wire_fault import WireFault
from safety_scenarios.stimuli.wire import changes, Packet, Wire

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
