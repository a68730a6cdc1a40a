# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Plain data to CDR and back, by the fields of a ROS message type.

The encoding is what DDS calls PLAIN_CDR (OMG DDS-XTypes 1.3, 7.4.3, encoding 1), little endian:
every number on a multiple of its size, a count before a sequence, a count and a final zero with a
string. ``byte`` is a tuple of one int, as rclpy's bytes of length one become in plain data.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
import math
import struct
from struct import Struct
from typing import Any, NamedTuple


class Field(NamedTuple):
    """One field of a message type."""

    name: str
    type: str  # noqa: A003
    """As in a .msg file, such as ``float64``; a message by its interface name."""
    length: int | None = None
    """None: one value; 0: a sequence of any length; else an array of so many."""


Types = Mapping[str, Sequence[Field]]
"""Interface name to its fields."""
Defaults = Mapping[tuple[str, str], Any]
"""(type name, field) to the default that the definition gives it; zero and empty otherwise."""
Write = Callable[[bytearray, Any], None]
Read = Callable[[bytes, int, list[Any]], int]
"""Appends the values that begin at an offset, and returns where they end."""

_HEADER = b'\0\1\0\0'
_STAMPS = {b'\0\0': Struct('>iI'), b'\0\1': Struct('<iI')}
_FORMATS = {'bool': '?', 'byte': 'B', 'char': 'B', 'int8': 'b', 'uint8': 'B', 'int16': 'h',
            'uint16': 'H', 'int32': 'i', 'uint32': 'I', 'int64': 'q', 'uint64': 'Q',
            'float32': 'f', 'float64': 'd'}
BASIC = {*_FORMATS, 'string'}
"""The types that are no messages."""
_PADS = tuple(bytes(count) for count in range(8))
_COUNT = Struct('<I')
_PADDING = 3
"""Bytes behind a message at most: middlewares fill it up to a multiple of 4."""
_MORE = 8
"""The same for each empty sequence in it: Fast DDS makes room to align what would be there."""
_NO_FIELD = Field('structure_needs_at_least_one_member', 'padding')
"""Stands for a message without fields: one byte, for IDL allows no such."""


class UnfitError(ValueError):
    """The data does not fit the type, or the bytes are no such message."""


def read_stamp_ns(message: bytes) -> int | None:
    """
    Return the stamp (ns) of a message that begins with a header.

    :return: None: it is not plain CDR of either byte order, or too short for a stamp
    """
    layout = _STAMPS.get(bytes(message[:2]))
    if layout is None or len(message) < len(_HEADER) + layout.size:
        return None
    sec, nanosec = layout.unpack_from(message, len(_HEADER))
    return int(sec) * 1_000_000_000 + int(nanosec)


def _empty(values: Iterable[Any]) -> int:
    return sum((not value) + _empty(value) if isinstance(value, tuple) else
               _empty(value.values()) if isinstance(value, Mapping) else 0 for value in values)


def _utf8(text: bytes) -> str:
    return text.decode('utf-8')


class Codec:
    """
    Writes and reads messages of one type.

    :param types: fields of the type and of all types inside it
    :param text: decodes the bytes of a string
    :raises LookupError: a type inside it is not among them
    """

    def __init__(self, name: str, types: Types, defaults: Defaults | None = None,
                 text: Callable[[bytes], str] = _utf8) -> None:
        self.name = name
        self.has_header = Field('header', 'std_msgs/msg/Header') in types[name]
        self._write = _message_writer(name, types, defaults or {})
        self._reader = _Reader(name, types, text)

    def encode(self, data: Mapping[str, Any]) -> bytes:
        """
        Return a message with its encapsulation header; what is left out takes its default.

        :raises UnfitError: an unknown field, or a value that its field cannot hold
        """
        out = bytearray()
        try:
            self._write(out, data)
        except (struct.error, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise UnfitError(f'{self.name}: {error}') from None
        return _HEADER + bytes(out)

    def decode(self, message: bytes) -> dict[str, Any]:
        """
        Return the data of a message; every NaN in it is ``math.nan``.

        :raises UnfitError: too short or too long, big endian, or no such message
        """
        return self._reader.mapping(self.values(message))

    def values(self, message: bytes) -> list[Any]:
        """
        Return the values of a message in order, those of a nested message in its place.

        :raises UnfitError: too short or too long, big endian, or no such message
        """
        values: list[Any] = []
        body = self.body(message)
        try:
            end = self._reader.read(body, 0, values)
        except (struct.error, ValueError) as error:
            raise UnfitError(f'{self.name}: {error}') from None
        more = len(body) - end
        if more > _PADDING and more > _PADDING + _MORE * _empty(values):
            raise UnfitError(f'{self.name}: got {len(body)} bytes, expected {end}: the message '
                             f'is of another definition')
        return values

    def body(self, message: bytes) -> bytes:
        """
        Return a message without its encapsulation header.

        :raises UnfitError: it is not plain little-endian CDR
        """
        if message[:2] != _HEADER[:2]:
            raise UnfitError(f'{self.name}: got the CDR header {message[:2].hex()}, expected 0001')
        return message[len(_HEADER):]


class _Reader:
    """Reads the values of one message type: neighbouring numbers with one call."""

    def __init__(self, name: str, types: Types, text: Callable[[bytes], str]) -> None:
        fields = list(_flat(name, types))
        self._steps: list[Read] = []
        for is_numeric, run in groupby(fields, key=_is_numeric):
            if is_numeric:
                self._steps.append(_Numbers(list(run)).read)
            else:
                self._steps += [_field_reader(field, types, text) for field in run]
        self._build = _builder(name, types)
        self._floats = [place for place, field in enumerate(
            field for field in fields if field is not _NO_FIELD) if 'float' in field.type]

    def read(self, data: bytes, at: int, values: list[Any]) -> int:
        """Append the values of a message, and return where it ends."""
        for step in self._steps:
            at = step(data, at, values)
        return at

    def mapping(self, values: list[Any]) -> dict[str, Any]:
        """Return the values of one message by their fields, every NaN as ``math.nan``."""
        for place in self._floats:
            value = values[place]
            if value.__class__ is not tuple:
                if value != value:
                    values[place] = math.nan
            elif math.isnan(sum(value)):
                values[place] = tuple(math.nan if one != one else one for one in value)
        return self._build(iter(values))


class _Numbers:
    """
    Numbers and arrays of them, one after the other.

    :ivar layouts: how they are read from an offset of 0 to 7
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        # A byte is read as an array of one.
        counts = [1 if field.type == 'byte' else field.length or 0 for field in fields
                  if field is not _NO_FIELD]
        self._layouts = [_layout(fields, offset) for offset in range(8)]
        self._counts = counts if any(counts) else []

    def read(self, data: bytes, at: int, values: list[Any]) -> int:
        """Append the numbers, and return where they end."""
        layout = self._layouts[at % 8]
        found = layout.unpack_from(data, at)
        if not self._counts:
            values += found
        place = 0
        for count in self._counts:
            values.append(found[place:place + count] if count else found[place])
            place += count or 1
        return at + layout.size


def _layout(fields: Sequence[Field], offset: int) -> Struct:
    """Return the layout of fields that begin at an offset; each is aligned to its own size."""
    text, at = '<', offset
    for field in fields:
        code, count = _FORMATS.get(field.type, 'x'), field.length or 1
        size = struct.calcsize(f'<{code}')
        gap = -at % size
        text += 'x' * gap + f'{count}{code}'
        at += gap + count * size
    return Struct(text)


def _flat(name: str, types: Types) -> Iterator[Field]:
    """Yield the fields of a message, of a nested one its fields in its place."""
    fields = _fields(name, types)
    for field in fields or [_NO_FIELD]:
        if field.length is None and field.type not in BASIC and field is not _NO_FIELD:
            yield from _flat(field.type, types)
        else:
            yield field


def _fields(name: str, types: Types) -> Sequence[Field]:
    return [field for field in types[name] if field.name != _NO_FIELD.name]


def _is_numeric(field: Field) -> bool:
    """Return whether it is a number or an array of numbers."""
    return field is _NO_FIELD or field.type in _FORMATS and field.length != 0 and (
        field.type != 'byte' or field.length is None)


def _builder(name: str, types: Types) -> Callable[[Iterator[Any]], dict[str, Any]]:
    """Return what takes the values of a message in order and gives them their names."""
    parts: list[tuple[str, Callable[[Iterator[Any]], Any]]] = [
        (field.name, next if field.length is not None or field.type in BASIC
         else _builder(field.type, types)) for field in _fields(name, types)]
    return lambda values: {field: take(values) for field, take in parts}


def _field_reader(field: Field, types: Types, text: Callable[[bytes], str]) -> Read:
    """Return what reads a string, or a sequence or an array of anything but numbers."""
    if field.type == 'string':
        one = _string_reader(text)
        return one if field.length is None else _items_reader(field.length, one)
    if field.type == 'byte':
        return _items_reader(field.length, _Numbers([Field('', 'byte')]).read)
    if field.type in _FORMATS:
        return _sequence_reader(field.type)
    message = _Reader(field.type, types, text)

    def read(data: bytes, at: int, values: list[Any]) -> int:
        found: list[Any] = []
        at = message.read(data, at, found)
        values.append(message.mapping(found))
        return at
    return _items_reader(field.length, read)


def _string_reader(decode: Callable[[bytes], str]) -> Read:
    def read(data: bytes, at: int, values: list[Any]) -> int:
        count, at = _read_count(data, at)
        end = at + count
        if end > len(data) or not count:
            raise ValueError(f'a string ends at byte {end} of {len(data)}')
        values.append(decode(data[at:end - 1]))
        return end
    return read


def _sequence_reader(name: str) -> Read:
    letter, size = _FORMATS[name], struct.calcsize(_FORMATS[name])

    def read(data: bytes, at: int, values: list[Any]) -> int:
        count, at = _read_count(data, at)
        at += -at % size if count else 0
        values.append(struct.unpack_from(f'<{count}{letter}', data, at))
        return at + count * size
    return read


def _items_reader(length: int | None, one: Read) -> Read:
    """Return what reads an array of ``length`` items, a sequence for 0."""
    def read(data: bytes, at: int, values: list[Any]) -> int:
        count, at = (length, at) if length else _read_count(data, at)
        if count > len(data):
            raise ValueError(f'a sequence of {count} in a message of {len(data)} bytes')
        found: list[Any] = []
        for _ in range(count):
            at = one(data, at, found)
        values.append(tuple(found))
        return at
    return read


def _read_count(data: bytes, at: int) -> tuple[int, int]:
    at += -at % 4
    return _COUNT.unpack_from(data, at)[0], at + 4


def _message_writer(name: str, types: Types, defaults: Defaults) -> Write:
    writers = [(field.name, write, defaults.get((name, field.name), default))
               for field in _fields(name, types)
               for write, default in [_writer(field, types, defaults)]]
    known = {field for field, *_ in writers}

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
            unknown = sorted(map(str, value.keys() - known))
            raise ValueError(f'{name} has no field {", ".join(unknown)}')
        if not writers:
            out.append(0)
    return write


def _writer(field: Field, types: Types, defaults: Defaults) -> tuple[Write, Any]:
    """Return what writes a field, and what the field is when it is left out."""
    name, length = field.type, field.length
    if name in _FORMATS and name != 'byte':
        return (_number_writer(name), False if name == 'bool' else 0) if length is None else \
            (_numbers_writer(name, length), (0,) * length)
    write, default = (_write_string, '') if name == 'string' else \
        (_write_byte, 0) if name == 'byte' else (_message_writer(name, types, defaults), {})
    return (write, default) if length is None else \
        (_items_writer(write, length), (default,) * length)


def _number_writer(name: str) -> Write:
    layout = Struct(f'<{_FORMATS[name]}')
    size, pack = layout.size, layout.pack

    def write(out: bytearray, value: Any) -> None:
        out += _PADS[-len(out) % size] + pack(value)
    return write


def _write_byte(out: bytearray, value: Any) -> None:
    out.append(value if isinstance(value, int) else value[0])


def _write_string(out: bytearray, value: Any) -> None:
    text = value.encode('utf-8')
    out += _PADS[-len(out) % 4] + _COUNT.pack(len(text) + 1) + text + b'\0'


def _numbers_writer(name: str, length: int) -> Write:
    """Return what writes an array of ``length`` numbers, for 0 a sequence."""
    letter, size = _FORMATS[name], struct.calcsize(_FORMATS[name])

    def write(out: bytearray, value: Any) -> None:
        count = _written_count(out, value, length)
        if count:
            out += _PADS[-len(out) % size] + Struct(f'<{count}{letter}').pack(*value)
    return write


def _items_writer(one: Write, length: int) -> Write:
    """Return what writes an array or a sequence of strings or messages."""
    def write(out: bytearray, value: Any) -> None:
        _written_count(out, value, length)
        for item in value:
            one(out, item)
    return write


def _written_count(out: bytearray, value: Any, length: int) -> int:
    if not isinstance(value, (tuple, list)):
        raise TypeError(f'got {value!r:.60}, expected a sequence')
    count = len(value)
    if not length:
        out += _PADS[-len(out) % 4] + _COUNT.pack(count)
    elif count != length:
        raise ValueError(f'got {count} items, expected {length}')
    return count
