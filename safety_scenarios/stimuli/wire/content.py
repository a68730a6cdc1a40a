# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a message says instead of the truth: faults that never change when it arrives.

They change what is *measured*: floating-point numbers, and lists, of the payload. A field that
says how it was measured is left alone: the header, ``angle_*``, ``range_m*``, ``scan_*``,
``time_*`` and covariances. Whole numbers and words are left alone, too.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
import math
import random
from typing import Any

from safety_scenarios.scenario.interfaces.robot_interfaces import stamp_shifted
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.sensor_faults import KEPT, without_numbers
from safety_scenarios.scenario.world.wire_fault import WireFault

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
        return not any(name.startswith(KEPT) or 'covariance' in name for name in path.split('.'))

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
