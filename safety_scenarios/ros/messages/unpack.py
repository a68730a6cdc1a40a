# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Serialised ROS messages to plain data without a message object in between.

Only what most commands are: numbers, fixed arrays of them and text, in nested messages, as plain
little-endian CDR (OMG DDS-XTypes 1.3, 7.4.3, encoding 1). Of anything else nothing is read: the
middleware has to do it.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
import re
import struct
from typing import Any

from rclpy.serialization import deserialize_message
from safety_scenarios.ros.messages.convert import (
    from_ros,
    header_stamp_ns,
    interface_class,
    leaves,
)
from safety_scenarios.scenario.message import Message

_HEADER = b'\x00\x01'
_BODY = 4
"""Alignment counts from here, behind the header."""
_CODES = {'boolean': '?', 'double': 'd', 'float': 'f', 'int8': 'b', 'uint8': 'B', 'int16': 'h',
          'uint16': 'H', 'int32': 'i', 'uint32': 'I', 'int64': 'q', 'uint64': 'Q'}
_FIELD = re.compile(r'(\w+)(?:\[(\d+)\])?')
_LENGTH = struct.Struct('<I')

Read = Callable[[bytes], tuple[Message, int | None]]
"""Serialised message to the message and its header stamp (ns)."""


def from_raw(raw: bytes, interface: str) -> tuple[Message, int | None]:
    """Return a serialised message as plain data, and its header stamp (ns) if it has one."""
    read = reader(interface)
    if read is not None:
        try:
            return read(raw)
        except ValueError:  # the middleware may know better, and says what is wrong if not
            pass
    message = deserialize_message(raw, interface_class(interface))
    return from_ros(message), header_stamp_ns(message)


@lru_cache(maxsize=256)
def reader(interface: str) -> Read | None:
    """
    Return what reads an interface's messages; None: it has fields that this cannot read.

    What is returned raises ``ValueError`` for bytes that are not what the interface says.
    """
    name, shape, fields = leaves(interface_class(interface))
    known = [(_CODES.get(match[1], match[1]), int(match[2] or 0)) for field in fields.values()
             if (match := _FIELD.fullmatch(field))]
    if not fields or len(known) < len(fields) or not all(
            code in _CODES.values() or (code == 'string' and not count) for code, count in known):
        return None
    paths = list(fields)
    stamp = [paths.index(f'header.stamp.{part}') if f'header.stamp.{part}' in paths else None
             for part in ('sec', 'nanosec')]
    runs = [_Text() if is_text else _Numbers(list(run)) for is_text, run in
            groupby(known, key=lambda one: one[0] == 'string') for run in (
                [[one] for one in run] if is_text else [list(run)])]
    is_plain = {code for code, _ in known} <= {'d', 'q'} and not any(count for _, count in known)
    size = _BODY + 8 * len(known)

    def read(raw: bytes) -> tuple[Message, int | None]:
        if raw[:2] != _HEADER:
            raise ValueError(f'{interface}: is not plain little-endian CDR')
        if is_plain and len(raw) >= size:  # what is sent is what is kept
            return Message.of(name, shape, raw[_BODY:size], ()), None
        values: list[Any] = []
        offset = _BODY
        try:
            for run in runs:
                offset = run.read(raw, offset, values)
            message = Message.of(name, shape, *shape.held(tuple(values)))
        except struct.error as error:
            raise ValueError(f'{interface}: {error}') from None
        sec, nanosec = stamp
        return message, None if sec is None or nanosec is None \
            else values[sec] * 1_000_000_000 + values[nanosec]
    return read


class _Text:
    """One text: its length with the zero at its end, and UTF-8."""

    def read(self, raw: bytes, offset: int, values: list[Any]) -> int:
        """Append the text, and return where it ends."""
        offset += -(offset - _BODY) % 4
        begin = offset + _LENGTH.size
        end = begin + _LENGTH.unpack_from(raw, offset)[0]
        if end > len(raw):
            raise struct.error('a text is cut off')
        values.append(raw[begin:end].partition(b'\0')[0].decode('utf-8', 'replace'))
        return end


class _Numbers:
    """
    Numbers and fixed arrays of them, one after the other.

    :param fields: code of each in ``struct``, and how many an array has; 0: no array
    """

    def __init__(self, fields: Sequence[tuple[str, int]]) -> None:
        self._layouts = [_layout(fields, offset) for offset in range(8)]
        self._counts = [count for _, count in fields] if any(count for _, count in fields) else []

    def read(self, raw: bytes, offset: int, values: list[Any]) -> int:
        """Append the numbers, and return where they end."""
        layout = self._layouts[(offset - _BODY) % 8]
        found = layout.unpack_from(raw, offset)
        if not self._counts:
            values += found
        place = 0
        for count in self._counts:
            values.append(found[place:place + count] if count else found[place])
            place += count or 1
        return offset + layout.size


def _layout(fields: Sequence[tuple[str, int]], offset: int) -> struct.Struct:
    """Return the layout of fields that begin at an offset; each is aligned to its own size."""
    text, at = '<', offset
    for code, count in fields:
        size = struct.calcsize(f'<{code}')
        gap = -at % size
        text += 'x' * gap + f'{count or 1}{code}'
        at += gap + (count or 1) * size
    return struct.Struct(text)
