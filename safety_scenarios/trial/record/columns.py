# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A signal read from many messages at once: one array of numbers instead of an object each."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.message import Message, parse_path
from safety_scenarios.scenario.storage.packed import lead, Shape

_AT_ONCE = 4096
"""Messages unpacked together: enough that each costs next to nothing, few in memory."""
Rows = dict[int, NDArray[numpy.void]]
"""Messages unpacked together, by the identity of the first of them."""
_DTYPES = {'d': '<f8', 'q': '<i8', '?': '?'}


@dataclass(frozen=True, slots=True)
class Column:
    """A signal's value in each message that carries it, in the order of the record."""

    times: NDArray[numpy.int64]
    """Steady ns."""
    values: NDArray[numpy.float64]
    unknown: NDArray[numpy.bool_] | None
    """Where the message does not tell, None if each does. A NaN that is known was sent."""
    failed: tuple[int, Exception] | None = None
    """How many messages could be read, and why not the next; nothing then counts."""

    @property
    def told(self) -> list[float | None]:
        """Return the values, None where the message does not tell."""
        values: list[float | None] = self.values.tolist()
        for place in () if self.unknown is None else numpy.flatnonzero(self.unknown).tolist():
            values[place] = None
        return values

    @property
    def pairs(self) -> list[tuple[int, float | None]]:
        """(steady ns, value) of each."""
        return list(zip(self.times.tolist(), self.told, strict=True))


def read(signal: Signal, times: NDArray[numpy.int64], messages: Sequence[Message],
         currents: Sequence[Message | None] | None = None, rows: Rows | None = None) -> Column:
    """
    Return ``signal.value`` of each message.

    :param times: steady ns of each
    :param currents: the latest message on the signal's ``current`` topic, if it has one
    :param rows: the messages unpacked, if another signal did so before; kept for the next one
    """
    is_one = len(messages) <= _AT_ONCE
    values = numpy.empty(len(messages))
    unknown: list[int] = []
    for begin in range(0, len(messages), _AT_ONCE):
        some = messages[begin:begin + _AT_ONCE]
        # who commands the same again sends the same object, with which several parts may begin
        found = _at_once(signal, some, rows if is_one and rows is not None else {})
        if found is not None:
            if is_one:
                return Column(times, found, None)
            values[begin:begin + _AT_ONCE] = found
            continue
        for place, message in enumerate(some, begin):
            try:
                value = signal.value(message, currents[place] if currents else None)
            except Exception as error:  # whatever it is, it is told where the signal is asked for
                return Column(times, values, None, (place, error))
            if value is None:
                unknown.append(place)
            values[place] = math.nan if value is None else value
    if not unknown:
        return Column(times, values, None)
    flags = numpy.zeros(len(messages), bool)
    flags[unknown] = True
    return Column(times, values, flags)


def _at_once(signal: Signal, messages: Sequence[Message],
             unpacked: Rows) -> NDArray[numpy.float64] | None:
    """Return the values where all messages have one shape, and the signal only numbers of it."""
    shape = messages[0].shape
    places = None if shape is None or signal.reduce == 'joint_speed' \
        else _places(shape, parse_path(signal.field))
    if shape is None or places is None:
        return None
    rows = unpacked.get(id(messages[0]))
    if rows is None and any(message.shape is not shape for message in messages):
        return None
    is_one, several = places
    if not is_one and len(several) > 1 and signal.reduce in ('none', 'abs'):
        return None
    if rows is None:
        rows = numpy.frombuffer(b''.join([message.packed for message in messages]), _dtype(shape))
        unpacked.clear()
        unpacked[id(messages[0])] = rows
    columns = [rows[f'f{place}'].astype(float) for place in several]
    if signal.reduce == 'none' or (is_one and signal.reduce in ('min', 'max')):
        return columns[0]
    found = _reduced(signal.reduce, columns)
    if len(columns) == 1:
        return found
    found[numpy.isnan(columns).any(axis=0)] = math.nan
    return found


def _reduced(how: str, columns: Sequence[NDArray[numpy.float64]]) -> NDArray[numpy.float64]:
    """Return the columns as one; as Python's functions do it, to the bit."""
    if how == 'norm' and len(columns) > 1:
        return numpy.array(list(map(math.hypot, *[column.tolist() for column in columns])))
    if how in ('abs', 'norm', 'max_abs'):
        columns = [numpy.abs(column) for column in columns]
    found = columns[0].copy()
    for column in columns[1:]:
        found = numpy.where(column < found if how == 'min' else column > found, column, found)
    return found


@lru_cache(maxsize=1024)
def _places(shape: Shape, steps: tuple[str | int, ...]) -> tuple[bool, tuple[int, ...]] | None:
    """Return whether a field is one number, and its places; None if it is no number or vector."""
    found = lead(shape, steps)
    if found is None or found[1]:
        return None
    is_one = isinstance(found[0], int)
    places = (found[0],) if isinstance(found[0], int) else tuple(place for _, place in found[0])
    numbers = range(len(shape.codes))
    return (is_one, places) if places and all(place in numbers for place in places) else None


@lru_cache(maxsize=1024)
def _dtype(shape: Shape) -> numpy.dtype[numpy.void]:
    return numpy.dtype([(f'f{place}', _DTYPES[code]) for place, code in enumerate(shape.codes)])
