# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ROS messages to plain data and back, for any installed interface and its text."""

from array import array
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from operator import attrgetter
import os
from pathlib import Path
import re
import struct
import sys
from typing import Any

import numpy
from rclpy.serialization import deserialize_message, serialize_message
from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import Key, Shape, shape_of
from safety_scenarios.trial.mcap.cdr import Codec, Field, UnfitError

_NAME = re.compile(r'([A-Za-z]\w*)/msg/([A-Za-z]\w*)')


def definition(name: str) -> str | None:
    """
    Return the text of the .msg file of an interface.

    It stands below ``share/`` of a prefix in ``AMENT_PREFIX_PATH``, or of the Python environment,
    where the wheels of ROS put it. A type made of an .idl file alone has none.

    :param name: such as ``geometry_msgs/msg/Twist``
    :return: None when no such file is installed
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    listed = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    for prefix in (*filter(None, listed), sys.prefix):
        path = Path(prefix, 'share', match[1], 'msg', f'{match[2]}.msg')
        if path.is_file():
            return path.read_text(encoding='utf-8', errors='replace')
    return None


_ONE = {'boolean': bool, 'double': float, 'float': float, 'string': str, 'wstring': str} | {
    f'{sign}int{bits}': int for sign in ('', 'u') for bits in (8, 16, 32, 64)}
"""Type of a field of one value; an octet comes as bytes."""
_NAMES = {'boolean': 'bool', 'double': 'float64', 'float': 'float32', 'octet': 'byte'}
"""What generated Python code calls another name than .msg files."""
_FIELD = re.compile(r'(sequence<)?([\w/]+)(?:<\d+>)?(?:, \d+)?>?(?:\[(\d+)\])?')
Read = Callable[[bytes], tuple[Message, int | None]]
"""Serialised message to the message and its header stamp (ns)."""

_KINDS = {'msg': 'message', 'srv': 'service', 'action': 'action'}


@lru_cache(maxsize=256)
def interface_class(name: str) -> Any:
    """
    Return the class of an interface name such as ``geometry_msgs/msg/Twist``.

    :param name: of a message, a service (``/srv/``) or an action (``/action/``)
    :raises MeasurementError: the package is not installed or has no such interface
    """
    kind = next((kind for kind in _KINDS if f'/{kind}/' in name), 'msg')
    package, _, interface = name.partition(f'/{kind}/')
    try:
        return getattr(import_module(f'{package}.{kind}'), interface)
    except (ImportError, AttributeError):
        raise MeasurementError(
            f'{name}: no such {_KINDS[kind]} type here. Install the package {package!r} for this '
            f'ROS distribution, or correct the name (package/{kind}/Type)') from None


def warm_up(name: str) -> None:
    """Load now what the first message of an interface would load while it is measured."""
    kind = interface_class(name)
    from_ros(deserialize_message(serialize_message(kind()), kind))


def type_name(message: Any) -> str:
    """Return the interface name of a message object."""
    package = type(message).__module__.partition('.')[0]
    return f'{package}/msg/{type(message).__name__}'


def from_ros(message: Any) -> Message:
    """Return a ROS message as plain data; arrays become tuples, byte strings become ints."""
    name, shape, read = _reader(type(message))
    values = read(message)
    try:
        return Message.of(name, shape, *shape.held(values))
    except struct.error:  # an int beyond 64 bits with a sign, which the shape does not expect
        return Message.model_construct(type=name, data=_plain(message))


def from_raw(raw: bytes, interface: str) -> tuple[Message, int | None]:
    """Return a serialised message as plain data, and its header stamp (ns) if it has one."""
    read = reader(interface)
    if read is not None:
        try:
            return read(raw)
        except (UnfitError, struct.error):  # the middleware may read it, or raises what is wrong
            pass
    message = deserialize_message(raw, interface_class(interface))
    return from_ros(message), header_stamp_ns(message)


@lru_cache(maxsize=256)
def reader(interface: str) -> Read | None:
    """
    Return what reads an interface's messages from their bytes, with no message object in between.

    :return: None: it has fields that only the middleware can read. What is returned raises
        ``UnfitError`` or ``struct.error`` for what only the middleware can read
    """
    kind = interface_class(interface)
    name, shape, fields = leaves(kind)
    try:
        codec = Codec(name, _types(kind), text=_text)
    except LookupError:
        return None
    paths = list(fields)
    stamp = [paths.index(f'header.stamp.{part}') for part in ('sec', 'nanosec')] \
        if 'header.stamp.sec' in paths else None
    is_packed = bool(fields) and set(fields.values()) <= {'double', 'int64'}
    size = 8 * len(fields)

    def read(raw: bytes) -> tuple[Message, int | None]:
        if is_packed and len(body := codec.body(raw)) >= size:  # the bytes are those of the shape
            return Message.of(name, shape, body[:size], ()), None
        values = codec.values(raw)
        message = Message.of(name, shape, *shape.held(tuple(values)))
        return message, None if stamp is None \
            else values[stamp[0]] * 1_000_000_000 + values[stamp[1]]
    return read


def _text(text: bytes) -> str:
    """Return a string as rclpy does: up to a zero, with a mark in place of what is no UTF-8."""
    return text.partition(b'\0')[0].decode('utf-8', 'replace')


def field_of(name: str, field_type: str) -> Field:
    """
    Return a field by its type as generated Python code has it, such as ``sequence<double, 3>``.

    :raises LookupError: a type that no .msg file has
    """
    match = _FIELD.fullmatch(field_type)
    if match is None:
        raise LookupError(field_type)
    kind = _NAMES.get(match[2], match[2]).replace('/', '/msg/')
    return Field(name, kind, 0 if match[1] else int(match[3]) if match[3] else None)


def _types(kind: type) -> dict[str, list[Field]]:
    """Return the fields of a message class and of all inside it, by interface name."""
    found: dict[str, list[Field]] = {}
    wanted = [type_name(kind())]
    while wanted:
        name = wanted.pop()
        fields = interface_class(name).get_fields_and_field_types()
        found[name] = [field_of(*field) for field in fields.items()]
        wanted += {field.type for field in found[name]
                   if '/' in field.type and field.type not in found}
    return found


def header_stamp_ns(message: Any) -> int | None:
    """Return the header stamp in ns, None for a message without header."""
    stamp = getattr(getattr(message, 'header', None), 'stamp', None)
    return None if stamp is None else stamp.sec * 1_000_000_000 + stamp.nanosec


def set_header_stamp(message: Any, stamp_ns: int) -> None:
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 1_000_000_000)


def to_ros(message: Message) -> Any:
    """
    Return plain data as a ROS message; what is left out keeps the interface's default.

    :raises MeasurementError: unknown interface or field, or a value that does not fit
    """
    target = interface_class(message.type)()
    _fill(target, message.data, message.type)
    return target


def part_to_ros(name: str, part: str, data: Mapping[str, Any]) -> Any:
    """
    Return plain data as a part of a service or an action, as ``to_ros`` does a message.

    :param part: ``Request``, or ``Goal``
    :raises MeasurementError: unknown interface or field, or a value that does not fit
    """
    target = getattr(interface_class(name), part)()
    _fill(target, data, name)
    return target


def restamp(message: Any, stamp_ns: int) -> None:
    """
    Write the time into the header of a message, and into those of what it lists.

    A listed one that has a stamp keeps it; ``/tf`` is a list of messages with a header each.
    """
    if hasattr(message, 'header'):
        set_header_stamp(message, stamp_ns)
    for name in _listed(type(message)):
        for item in getattr(message, name):
            if header_stamp_ns(item) == 0:
                set_header_stamp(item, stamp_ns)


@lru_cache(maxsize=256)
def _listed(kind: type) -> tuple[str, ...]:
    """Return the fields of a message class that are sequences of messages with a header."""
    found = []
    for name, field_type in kind.get_fields_and_field_types().items():
        field = field_of(name, field_type)
        if field.length == 0 and '/' in field.type and hasattr(
                interface_class(field.type)(), 'header'):
            found.append(name)
    return tuple(found)


@lru_cache(maxsize=256)
def _reader(kind: type) -> tuple[str, Shape, Callable[[Any], tuple[Any, ...]]]:
    """Return a message class's interface name, its shape, and what reads its values in order."""
    name, shape, fields = leaves(kind)
    if not fields:
        return name, shape, lambda message: ()
    read, is_one = attrgetter(*fields), len(fields) == 1
    bulky = [index for index, field in enumerate(fields.values()) if _value_type(field) is tuple]
    if not bulky and not is_one:
        return name, shape, read

    def values(message: Any) -> tuple[Any, ...]:
        found = [read(message)] if is_one else list(read(message))
        for index in bulky:
            found[index] = _plain(found[index])
        return tuple(found)
    return name, shape, values


def leaves(kind: type) -> tuple[str, Shape, Mapping[str, str]]:
    """Return a message class's interface name, its shape, and each path's field type, in order."""
    blank, fields = kind(), dict[str, str]()
    return type_name(blank), shape_of(_key(blank, '', fields)), fields


def _key(blank: Any, before: str, fields: dict[str, str]) -> Key:
    """Return the key of a message's shape, and add the type of the field at each path."""
    key: list[tuple[str, Any]] = []
    for name, field_type in blank.get_fields_and_field_types().items():
        value = getattr(blank, name)
        if _field_names(type(value)) is not None:
            key.append((name, _key(value, f'{before}{name}.', fields)))
            continue
        fields[before + name] = field_type
        key.append((name, _value_type(field_type)))
    return tuple(key)


def _value_type(field_type: str) -> type:
    """Return the type of a field's values."""
    is_one = not field_type.startswith('sequence<') and not field_type.endswith(']')
    return _ONE.get(field_type.partition('<')[0], tuple) if is_one else tuple


def _plain(value: Any) -> Any:
    if isinstance(value, (float, int, str)):
        return value
    names = _field_names(type(value))
    if names is not None:
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, (numpy.ndarray, array)):
        return tuple(value.tolist())
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
    if isinstance(value, bytes):
        return tuple(value)
    return value


@lru_cache(maxsize=1024)
def _field_names(kind: type) -> tuple[str, ...] | None:
    """Return the fields of a message class, None for any other class."""
    fields = getattr(kind, 'get_fields_and_field_types', None)
    return None if fields is None else tuple(fields())


def _fill(target: Any, data: Mapping[str, Any], path: str) -> None:
    fields = target.get_fields_and_field_types()
    if hasattr(target, '_check_fields'):  # off by default since Jazzy: a wrong type ends in C
        target._check_fields = True
    for name, value in data.items():
        place = f'{path}.{name}'
        if name not in fields:
            raise MeasurementError(f'{place}: no such field, expected one of {", ".join(fields)}')
        current = getattr(target, name)
        if isinstance(value, Mapping):
            if not hasattr(current, 'get_fields_and_field_types'):
                raise MeasurementError(f'{place}: got a mapping, expected {fields[name]}')
            _fill(current, value, place)
            continue
        try:
            setattr(target, name, _value(value, fields[name], place))
        except (AssertionError, TypeError, ValueError, OverflowError):
            raise MeasurementError(
                f'{place}: got {str(value)[:60]!r}, expected {fields[name]}') from None


def _value(value: Any, field_type: str, place: str) -> Any:
    element = field_of(place, field_type).type
    number = float if element in ('float64', 'float32') else None
    if isinstance(value, bytes) and element == 'uint8':
        return array('B', value)  # pixels; looked at one by one they would take their time
    if not isinstance(value, (tuple, list)):
        return number(value) if number and isinstance(value, (int, float)) else value
    if '/' in element:
        items = []
        for index, item in enumerate(value):
            inner = interface_class(element)()
            _fill(inner, item, f'{place}[{index}]')
            items.append(inner)
        return items
    return [number(item) for item in value] if number else list(value)
