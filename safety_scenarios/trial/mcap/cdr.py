# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Plain data to CDR and back, by the fields of a ROS message type; no ROS and no generated code.

The encoding is what DDS calls PLAIN_CDR, little endian: every number on a multiple of its size,
a count before a sequence, a count and a final zero with a string. ``byte`` is a tuple of one int,
as rclpy's bytes of length one become in plain data.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import math
import struct
from struct import Struct
from typing import Any

from rosbags.interfaces import Nodetype

Fields = Mapping[str, list[tuple[str, Any]]]
"""Type name to its fields: name and descriptor as in rosbags' type stores."""
Defaults = Mapping[tuple[str, str], Any]
"""(type name, field) to the default that the definition gives it; zero and empty otherwise."""
Write = Callable[[bytearray, Any], None]
Read = Callable[[bytes, int], tuple[Any, int]]

_HEADER = b'\0\1\0\0'
_FORMATS = {'bool': '?', 'byte': 'B', 'char': 'B', 'int8': 'b', 'uint8': 'B', 'int16': 'h',
            'uint16': 'H', 'int32': 'i', 'uint32': 'I', 'int64': 'q', 'uint64': 'Q',
            'float32': 'f', 'float64': 'd'}
_PADS = tuple(bytes(count) for count in range(8))
_COUNT = Struct('<I')
_NO_FIELD = 'structure_needs_at_least_one_member'


class UnfitError(ValueError):
    """The data does not fit the type, or the bytes are no such message."""


@dataclass(frozen=True)
class _Kind:
    """How one kind of value is written and read, and what it is when left out."""

    write: Write
    read: Read
    default: Any


class Codec:
    """
    Writes and reads messages of one type.

    :param types: fields of the type and of all types inside it
    :raises LookupError: a type inside it is not among them
    """

    def __init__(self, name: str, types: Fields, defaults: Defaults | None = None) -> None:
        self.name = name
        self.has_header = ('header', (Nodetype.NAME, 'std_msgs/msg/Header')) in types[name]
        self._kind = _message(name, types, defaults or {})

    def encode(self, data: Mapping[str, Any]) -> bytes:
        """
        Return a message with its encapsulation header; what is left out takes its default.

        :raises UnfitError: an unknown field, or a value that its field cannot hold
        """
        out = bytearray()
        try:
            self._kind.write(out, data)
        except (struct.error, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise UnfitError(f'{self.name}: {error}') from None
        return _HEADER + bytes(out)

    def decode(self, message: bytes) -> dict[str, Any]:
        """
        Return the data of a message; every NaN in it is ``math.nan``.

        :raises UnfitError: too short, big endian, or no such message
        """
        if message[:2] != _HEADER[:2]:
            raise UnfitError(f'{self.name}: got the CDR header {message[:2].hex()}, expected 0001')
        try:
            data: dict[str, Any] = self._kind.read(message[4:], 0)[0]
        except (struct.error, IndexError, ValueError) as error:
            raise UnfitError(f'{self.name}: {error}') from None
        return data


def _message(name: str, types: Fields, defaults: Defaults) -> _Kind:
    fields = [(field, _kind_of(descriptor, types, defaults), descriptor)
              for field, descriptor in types[name] if field != _NO_FIELD]
    writers = [(field, kind.write, defaults.get((name, field), kind.default))
               for field, kind, _ in fields]
    readers = [(field, kind.read) for field, kind, _ in fields]
    if not fields:
        writers = [(_NO_FIELD, *_without_fields())]

    def write(out: bytearray, value: Any) -> None:
        if not isinstance(value, Mapping):
            raise TypeError(f'got {value!r:.60}, expected the fields of {name}')
        left = len(value)
        for field, write_field, default in writers:
            if field in value:
                left -= 1
                write_field(out, value[field])
            else:
                write_field(out, default)
        if left:
            unknown = sorted(map(str, value.keys() - {field for field, *_ in fields}))
            raise ValueError(f'{name} has no field {", ".join(unknown)}')

    def read(data: bytes, at: int) -> tuple[Any, int]:
        found = {}
        for field, read_field in readers:
            found[field], at = read_field(data, at)
        return found, at if readers else at + 1
    return _Kind(write, read, {})


def _without_fields() -> tuple[Write, int]:
    """Return what stands for a message without fields: one byte, for IDL allows no such."""
    return _number('uint8').write, 0


def _kind_of(descriptor: Any, types: Fields, defaults: Defaults) -> _Kind:
    node, detail = descriptor
    if node == Nodetype.NAME:
        return _message(detail, types, defaults)
    if node == Nodetype.BASE:
        return _base(detail[0])
    element, count = detail
    if element[0] == Nodetype.BASE and element[1][0] not in ('string', 'byte'):
        return _numbers(element[1][0], count if node == Nodetype.ARRAY else None)
    return _items(_kind_of(element, types, defaults), count if node == Nodetype.ARRAY else None)


def _base(name: str) -> _Kind:
    if name == 'string':
        return _Kind(_write_string, _read_string, '')
    return _byte() if name == 'byte' else _number(name)


def _number(name: str) -> _Kind:
    layout = Struct(f'<{_FORMATS[name]}')
    size, pack, unpack = layout.size, layout.pack, layout.unpack_from
    is_float = name.startswith('float')

    def write(out: bytearray, value: Any) -> None:
        out += _PADS[-len(out) % size] + pack(value)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        at += -at % size
        value = unpack(data, at)[0]
        return math.nan if is_float and value != value else value, at + size
    return _Kind(write, read, False if name == 'bool' else 0)


def _byte() -> _Kind:
    def write(out: bytearray, value: Any) -> None:
        out.append(value if isinstance(value, int) else value[0])

    def read(data: bytes, at: int) -> tuple[Any, int]:
        return (data[at],), at + 1
    return _Kind(write, read, 0)


def _write_string(out: bytearray, value: Any) -> None:
    text = value.encode('utf-8')
    out += _PADS[-len(out) % 4] + _COUNT.pack(len(text) + 1) + text + b'\0'


def _read_string(data: bytes, at: int) -> tuple[str, int]:
    at += -at % 4 + 4
    end = at + _COUNT.unpack_from(data, at - 4)[0]
    if end > len(data) or end <= at:
        raise ValueError(f'a string ends at byte {end} of {len(data)}')
    return data[at:end - 1].decode('utf-8'), end


def _numbers(name: str, length: int | None) -> _Kind:
    """Return an array of ``length`` numbers, or with None a sequence of any length."""
    letter, size = _FORMATS[name], struct.calcsize(_FORMATS[name])
    is_float = name.startswith('float')

    def write(out: bytearray, value: Any) -> None:
        count = _written_count(out, value, length)
        if count:
            out += _PADS[-len(out) % size] + Struct(f'<{count}{letter}').pack(*value)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        count, at = (length, at) if length is not None else _read_count(data, at)
        if not count:
            return (), at
        at += -at % size
        values = struct.unpack_from(f'<{count}{letter}', data, at)
        if is_float and math.isnan(sum(values)):
            values = tuple(math.nan if value != value else value for value in values)
        return values, at + count * size
    return _Kind(write, read, (0,) * (length or 0))


def _items(kind: _Kind, length: int | None) -> _Kind:
    """Return an array or a sequence of strings or messages."""
    def write(out: bytearray, value: Any) -> None:
        _written_count(out, value, length)
        for item in value:
            kind.write(out, item)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        count, at = (length, at) if length is not None else _read_count(data, at)
        if count > len(data):
            raise ValueError(f'a sequence of {count} in a message of {len(data)} bytes')
        found = []
        for _ in range(count):
            item, at = kind.read(data, at)
            found.append(item)
        return tuple(found), at
    return _Kind(write, read, (kind.default,) * (length or 0))


def _written_count(out: bytearray, value: Any, length: int | None) -> int:
    if not isinstance(value, (tuple, list)):
        raise TypeError(f'got {value!r:.60}, expected a sequence')
    count = len(value)
    if length is None:
        out += _PADS[-len(out) % 4] + _COUNT.pack(count)
    elif count != length:
        raise ValueError(f'got {count} items, expected {length}')
    return count


def _read_count(data: bytes, at: int) -> tuple[int, int]:
    at += -at % 4
    return _COUNT.unpack_from(data, at)[0], at + 4
