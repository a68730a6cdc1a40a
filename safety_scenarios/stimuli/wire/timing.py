# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
When a message arrives, if at all: faults that never look at what they delay or lose.

Each takes messages one by one, in the order of their times, and returns which come out, and when;
what comes out is in the order of its times too. The first message that comes is always hit: a
fault begins when somebody says so, and not when chance has its way.
"""

from collections.abc import Sequence
from functools import lru_cache
import random
from typing import Generic, TypeVar

from safety_scenarios.scenario.world.wire_fault import WireFault

Item = TypeVar('Item')
Due = list[tuple[int, Item]]
"""When something arrives (ns), and what."""
_SLACK = 0.25
"""Of the period of a throttle: so much earlier a message may come, so that the jitter of a sender
does not halve the rate."""
_FRUITLESS = 1_000_000
"""Messages that go in while none comes out; more never will."""


class Timing(Generic[Item]):
    """Base of the faults of time; this one passes everything on at once."""

    def __init__(self, fault: WireFault) -> None:
        self._fault = fault
        self._chance = random.Random(fault.number('seed') or 0)
        self._is_first = True

    def take(self, item: Item, now_ns: int) -> Due[Item]:
        """Return what comes out because of this message, and when; never before ``now_ns``."""
        return [(now_ns, item)]

    def held(self) -> Sequence[Item]:
        """Return what waits for another message to come, and give it up."""
        return ()

    def _is_hit(self) -> bool:
        """Draw whether chance hits the message; the first one in any case."""
        drawn = self._chance.random() < self._fault.number('share')
        is_first, self._is_first = self._is_first, False
        return drawn or is_first


class Freeze(Timing[Item]):
    """The same message again and again, each time that one comes."""

    def __init__(self, fault: WireFault, last: Item | None = None) -> None:
        super().__init__(fault)
        self._last = last

    def take(self, item: Item, now_ns: int) -> Due[Item]:
        """Return the last message before the fault, or the first in it."""
        if self._last is None:
            self._last = item
        return [(now_ns, self._last)]


class Drop(Timing[Item]):
    """A share of the messages is lost, until so many are."""

    _lost = 0

    def take(self, item: Item, now_ns: int) -> Due[Item]:
        """Return the message, or nothing."""
        most = self._fault.number('messages')
        if (most is not None and self._lost >= most) or not self._is_hit():
            return [(now_ns, item)]
        self._lost += 1
        return []


class Delay(Timing[Item]):
    """Everything comes later, and as much later each time."""

    def take(self, item: Item, now_ns: int) -> Due[Item]:
        """Return the message for later."""
        return [(now_ns + round(self._fault.number('delay_ms') * 1e6), item)]


class Jitter(Timing[Item]):
    """Everything comes later, now more and now less; nothing overtakes."""

    _before_ns = 0

    def take(self, item: Item, now_ns: int) -> Due[Item]:
        """Return the message for later; not before the one that came before it."""
        most_ns = round(self._fault.number('jitter_ms') * 1e6)
        late_ns = most_ns if self._is_first else round(self._chance.random() * most_ns)
        self._is_first = False
        self._before_ns = max(self._before_ns, now_ns + late_ns)
        return [(self._before_ns, item)]


class Duplicate(Timing[Item]):
    """A share of the messages comes several times."""

    def take(self, item: Item, now_ns: int) -> Due[Item]:
        """Return the message, and its copies if it is hit."""
        return [(now_ns, item)] * (1 + (self._fault.number('copies') if self._is_hit() else 0))


class Reorder(Timing[Item]):
    """A share of the messages is overtaken by the one behind it."""

    def __init__(self, fault: WireFault) -> None:
        super().__init__(fault)
        self._held: list[Item] = []

    def take(self, item: Item, now_ns: int) -> Due[Item]:
        """Return the message and then the one that it has overtaken; or keep it back."""
        if not self._held and self._is_hit():
            self._held = [item]
            return []
        return [(now_ns, item), *((now_ns, late) for late in self.held())]

    def held(self) -> Sequence[Item]:
        """Return the message that nobody has overtaken yet."""
        held, self._held = self._held, []
        return held


class Throttle(Timing[Item]):
    """No more messages in a second than a number; the others are lost."""

    _next_ns = 0

    def take(self, item: Item, now_ns: int) -> Due[Item]:
        """Return the message if it is time for one."""
        period_ns = round(1e9 / self._fault.number('most_hz'))
        if self._is_first:
            self._is_first = False
            self._next_ns = now_ns + period_ns
            return []
        if now_ns < self._next_ns - round(_SLACK * period_ns):
            return []
        self._next_ns = max(self._next_ns, now_ns) + period_ns
        return [(now_ns, item)]


def timing(fault: WireFault, last: Item | None = None) -> Timing[Item]:
    """
    Return what a fault of time does, with nothing having come yet.

    :param last: what came last before the fault, which a freeze repeats
    """
    if fault.kind == 'freeze':
        return Freeze(fault, last)
    kinds: dict[str, type[Timing[Item]]] = {
        'drop': Drop, 'delay': Delay, 'jitter': Jitter, 'duplicate': Duplicate,
        'reorder': Reorder, 'throttle': Throttle}
    return kinds[fault.kind](fault)


class Schedule:
    """
    What comes out, and when, of a stream whose message k is due at ``k / rate_hz``.

    :ivar out: (ns after the begin, which message), as far as anybody has asked
    """

    def __init__(self, fault: WireFault, rate_hz: float) -> None:
        self._timing: Timing[int] = timing(fault)
        self._rate_hz = rate_hz
        self._taken = 0
        self.out: Due[int] = []

    def at(self, place: int) -> tuple[int, int]:
        """
        Return when the message at a place comes out (ns), and which it is.

        :raises ValueError: so many go in, and none comes out
        """
        patience = self._taken + _FRUITLESS
        while len(self.out) <= place:
            if self._taken > patience:
                raise ValueError(f'got a fault that loses {_FRUITLESS} messages in a row, '
                                 f'expected one that lets some pass')
            due_ns = self.due_ns(self._taken)
            self.out += self._timing.take(self._taken, due_ns)
            self._taken += 1
        return self.out[place]

    def due_ns(self, number: int) -> int:
        """Return when a message goes in."""
        return round(number * 1e9 / self._rate_hz)


@lru_cache(maxsize=64)
def schedule(fault: WireFault, rate_hz: float) -> Schedule:
    """Return the schedule of a stream with a fault; it is the same each time."""
    return Schedule(fault, rate_hz)
