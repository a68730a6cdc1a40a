# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Faults on the way of messages: when they arrive, what they say, and several in a row.

Each takes messages one by one, in the order of their times, and returns which come out, and when;
what comes out is in the order of its times too. The first message that comes is always hit: a
fault begins when somebody says so, and not when chance has its way.

They change what is *measured*: floating-point numbers, and lists, of the payload. A field that
says how it was measured is left alone: the header, ``angle_*``, ``range_m*``, ``scan_*``,
``time_*`` and covariances. Whole numbers and words are left alone, too.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
import math
import random
from typing import Any, Generic, TypeVar

from safety_scenarios.scenario.interfaces import stamp_shifted
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.message_types import MEASURING, without_numbers
from safety_scenarios.scenario.wire_fault import WireFault

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
    """The same message again and again, each time that one comes, until so many were hit."""

    _repeated = 0

    def __init__(self, fault: WireFault, last: Item | None = None) -> None:
        super().__init__(fault)
        self._last = last

    def take(self, item: Item, now_ns: int) -> Due[Item]:
        """Return the last message before the fault, or the first in it."""
        most = self._fault.number('messages')
        if most is not None and self._repeated >= most:
            return [(now_ns, item)]
        if self._last is None:
            self._last = item
        else:
            self._repeated += 1
        return [(now_ns, self._last)]


class Drop(Timing[Item]):
    """A share of the messages is lost, until so many are."""

    _lost = 0

    def take(self, item: Item, now_ns: int) -> Due[Item]:
        most = self._fault.number('messages')
        if (most is not None and self._lost >= most) or not self._is_hit():
            return [(now_ns, item)]
        self._lost += 1
        return []


class Delay(Timing[Item]):
    """Everything comes later, and as much later each time."""

    def take(self, item: Item, now_ns: int) -> Due[Item]:
        return [(now_ns + round(self._fault.number('delay_ms') * 1e6), item)]


class Jitter(Timing[Item]):
    """Everything comes later, now more and now less; nothing overtakes."""

    _before_ns = 0

    def take(self, item: Item, now_ns: int) -> Due[Item]:
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


_DRAWS = 2**32
"""More messages than anybody sends."""
_SECOND_NS = 1_000_000_000
"""Any time in which a clock drifts."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A message on its way."""

    message: Message
    stamp_ns: int | None
    """Its header stamp, whether the message itself has it yet or not, and whether a header can
    say it or not; None: it has no header."""


@dataclass(frozen=True, slots=True)
class _Hit:
    """Which fields are hit."""

    fields: tuple[str, ...]
    fixed: Collection[str] = ()
    """Paths of lists whose length is part of the interface."""

    def __call__(self, path: str) -> bool:
        if self.fields:
            return any(path == one or path.startswith(f'{one}.') for one in self.fields)
        return not any(name.startswith(MEASURING) or 'covariance' in name
                       for name in path.split('.'))

    def leads(self, path: str) -> bool:
        """Return whether something below a path may be hit."""
        return not path or self(path) or any(one.startswith(f'{path}.') for one in self.fields)

    def is_fixed(self, path: str) -> bool:
        """Return whether a list has to keep its length."""
        return path in self.fixed or 'covariance' in path


def altered(fault: WireFault, packet: Packet, index: int, elapsed_ns: int,
            fixed: Collection[str] = ()) -> Packet:
    """
    Return what a fault of content makes of a message.

    :param index: 0 for the first message since the fault began
    :param elapsed_ns: since that one
    :param fixed: paths of lists whose length is part of the interface
    """
    kind, message = fault.kind, packet.message
    if kind in _SHIFTS:
        return _shifted(packet, round(_SHIFTS[kind](fault, elapsed_ns)))
    if kind == 'wrong_frame':
        return replace(packet, message=_remade(message, _framed(message.data, fault.frame)))
    if kind == 'nan' and fault.fields is None:
        return replace(packet, message=without_numbers(message))
    hit = _Hit(fault.fields or (), fixed)
    if kind == 'truncated':
        data = _cut(message.data, '', hit, fault.number('keep'))
    elif kind == 'wrong_modality' and fault.how != 'units':
        make = _emptied if fault.how == 'empty' else _swapped
        data = make(message.data, '', hit)
    else:
        data = _each(message.data, '', hit, _change(fault, index))
    return replace(packet, message=_remade(message, data))


_SHIFTS: Mapping[str, Callable[[WireFault, int], float]] = {
    'stale': lambda fault, elapsed_ns: -1e6 * fault.number('age_ms'),
    'future': lambda fault, elapsed_ns: 1e6 * fault.number('ahead_ms'),
    'foreign_clock': lambda fault, elapsed_ns: (
        1e9 * fault.number('offset_s') + 1e-6 * fault.number('drift_ppm') * elapsed_ns)}
"""By how much a header stamp is off (ns)."""


def changes(fault: WireFault, packet: Packet) -> bool:
    """Return whether a fault changes anything in a message: one of time does not look at it."""
    if fault.is_of_time:
        return True
    after = altered(fault, packet, 0, _SECOND_NS)
    return after.message != packet.message and repr(after.message) != repr(packet.message) \
        or after.stamp_ns != packet.stamp_ns  # NaN is the same as NaN


def _change(fault: WireFault, index: int) -> Callable[[float], float]:
    """Return what becomes of one number."""
    if fault.kind == 'nan':
        return lambda value: math.nan
    if fault.kind == 'noise':
        chance = random.Random(fault.number('seed') * _DRAWS + index)
        sigma = fault.number('sigma')
        return lambda value: value + chance.gauss(0.0, sigma)
    if fault.kind == 'bias':
        offset = fault.number('offset')
        return lambda value: value + offset
    if fault.kind == 'quantise':
        step = fault.number('step')
        return lambda value: _rounded(value, step)
    factor = fault.number('factor')
    return lambda value: value * factor


def _rounded(value: float, step: float) -> float:
    steps = value / step
    return float(round(steps) * step) if math.isfinite(steps) else value


def _remade(message: Message, data: Mapping[str, Any]) -> Message:
    return Message.model_construct(type=message.type, data=data)


def _each(value: Any, path: str, hit: _Hit, change: Callable[[float], float]) -> Any:
    """Return plain data with each number changed that is hit."""
    if isinstance(value, Mapping):
        return {name: _each(inner, _below(path, name), hit, change)
                for name, inner in value.items()}
    if isinstance(value, tuple):
        return tuple(_each(inner, path, hit, change) for inner in value) \
            if hit.leads(path) else value
    return change(value) if isinstance(value, float) and hit(path) else value


def _cut(value: Any, path: str, hit: _Hit, keep: float) -> Any:
    if isinstance(value, Mapping):
        return {name: _cut(inner, _below(path, name), hit, keep) for name, inner in value.items()}
    if not isinstance(value, tuple):
        return value
    if hit(path) and not hit.is_fixed(path):
        return value[:math.floor(len(value) * keep)]
    return tuple(_cut(inner, path, hit, keep) for inner in value) if hit.leads(path) else value


def _emptied(value: Any, path: str, hit: _Hit) -> Any:
    """Return plain data as nobody has filled it in: nothing in lists, and zeros."""
    if isinstance(value, Mapping):
        return {name: _emptied(inner, _below(path, name), hit) for name, inner in value.items()}
    if isinstance(value, tuple):
        if hit(path) and not hit.is_fixed(path):
            return ()
        return tuple(_emptied(inner, path, hit) for inner in value)
    return type(value)() if hit(path) and isinstance(value, (bool, int, float, str)) else value


def _swapped(value: Any, path: str, hit: _Hit) -> Any:
    """Return plain data as somebody fills it in who counts the axes, and the beams, otherwise."""
    if isinstance(value, Mapping):
        inner = {name: _swapped(one, _below(path, name), hit) for name, one in value.items()}
        at = {name: _below(path, name) for name in ('x', 'y', 'z')}
        if {'x', 'y'} <= inner.keys() and hit(at['x']) and hit(at['y']) and 'w' not in inner:
            inner['x'], inner['y'] = inner['y'], inner['x']
            if isinstance(inner.get('z'), float) and hit(at['z']):
                inner['z'] = -inner['z']
        return inner
    if isinstance(value, tuple):
        if hit(path) and all(isinstance(one, (int, float)) for one in value):
            return value[::-1]
        return tuple(_swapped(one, path, hit) for one in value)
    return value


def _shifted(packet: Packet, by_ns: int) -> Packet:
    """Return a message with its header stamps moved, and those of what it lists."""
    data = _restamped(packet.message.data, by_ns)
    message = packet.message if data == packet.message.data else _remade(packet.message, data)
    return Packet(message, None if packet.stamp_ns is None else packet.stamp_ns + by_ns)


def _restamped(value: Any, by_ns: int) -> Any:
    if isinstance(value, tuple):
        return tuple(_restamped(one, by_ns) for one in value) \
            if value and isinstance(value[0], Mapping) else value
    if not isinstance(value, Mapping):
        return value
    found = {name: _restamped(inner, by_ns) for name, inner in value.items()}
    header = found.get('header')
    if isinstance(header, dict) and 'stamp' in header:
        stamp = header['stamp']
        sec, nanosec = divmod(stamp_shifted(
            stamp['sec'] * 1_000_000_000 + stamp['nanosec'], by_ns), 1_000_000_000)
        header['stamp'] = {'sec': sec, 'nanosec': nanosec}
    return found


def _framed(value: Any, frame: str | None) -> Any:
    """Return plain data in which every header names a frame."""
    if isinstance(value, tuple):
        return tuple(_framed(one, frame) for one in value) \
            if value and isinstance(value[0], Mapping) else value
    if not isinstance(value, Mapping):
        return value
    return {name: {**inner, 'frame_id': frame} if name == 'header' and isinstance(inner, Mapping)
            else _framed(inner, frame) for name, inner in value.items()}


def _below(path: str, name: str) -> str:
    return f'{path}.{name}' if path else name


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
