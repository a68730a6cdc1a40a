# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Several faults in a row: what goes in at one end, and what comes out at the other, and when."""

from collections.abc import Collection, Sequence
from typing import Any

from safety_scenarios.scenario.world.wire_fault import WireFault
from safety_scenarios.stimuli.wire.content import altered, Packet
from safety_scenarios.stimuli.wire.timing import Due, Item, Timing, timing


class Way:
    """
    The faults of time of a wire, one behind the other; of whatever travels.

    :param last: what came last before them, which a freeze repeats
    """

    def __init__(self, faults: Sequence[WireFault], last: Any = None) -> None:
        self._stages: list[Timing[Any]] = [
            timing(fault, last) for fault in faults if fault.is_of_time]

    def take(self, item: Item, now_ns: int) -> Due[Item]:
        """Return what comes out because of this message, and when, in order."""
        return _through(self._stages, [(now_ns, item)])

    def held(self, now_ns: int) -> Due[Any]:
        """Return what waited for another message to come, now that none will."""
        found: Due[Any] = []
        for place, stage in enumerate(self._stages):
            found += _through(self._stages[place + 1:], [(now_ns, one) for one in stage.held()])
        return found


def _through(stages: Sequence[Timing[Any]], found: Due[Any]) -> Due[Any]:
    for stage in stages:
        found = [out for due_ns, one in found for out in stage.take(one, due_ns)]
    return found


class Wire:
    """
    All faults of a wire: what a message says is changed where it goes in, and then it travels.

    :param fixed: paths of lists whose length is part of the interface
    :param last: what went in last before the faults, which a freeze repeats
    """

    def __init__(self, faults: Sequence[WireFault], fixed: Collection[str] = (),
                 last: Packet | None = None) -> None:
        self._contents = [fault for fault in faults if not fault.is_of_time]
        self._way = Way(faults, last)
        self._fixed = fixed
        self._index, self._begin_ns = 0, 0

    def take(self, packet: Packet, now_ns: int) -> Due[Packet]:
        """Return what comes out because of this message, and when, in order."""
        if self._index == 0:
            self._begin_ns = now_ns
        return self._way.take(self.altered(packet, now_ns), now_ns)

    def altered(self, packet: Packet, now_ns: int) -> Packet:
        """Return what the faults of content make of the next message."""
        for fault in self._contents:
            packet = altered(fault, packet, self._index, now_ns - self._begin_ns, self._fixed)
        self._index += 1
        return packet

    def held(self, now_ns: int) -> Due[Packet]:
        """Return what waited for another message to come, now that none will."""
        return self._way.held(now_ns)
