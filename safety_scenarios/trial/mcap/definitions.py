# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the fields of a message type are: as installed, else as in a ROS distribution."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
import re
from typing import Any

from rosbags.interfaces import Nodetype
from rosbags.typesys import get_types_from_msg, get_typestore, Stores
from rosbags.typesys.base import TypesysError
from rosbags.typesys.store import Typestore
from safety_scenarios.errors import SettingsError, TraceError
from safety_scenarios.trial.mcap.cdr import BASIC, Codec, Field
import yaml

Definition = Callable[[str], str | None]
"""Interface name to the text of its .msg file, None for one that is not known."""

_SEPARATOR = '=' * 80
_DEFAULT = re.compile(r'^[ \t]*[\w/<=\[\]]+[ \t]+(\w+)[ \t]+([^\s=#][^#\n]*)', re.MULTILINE)
_QUATERNION = 'float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n'
"""The one standard interface with a default other than zero, which type stores do not tell."""


@dataclass(frozen=True)
class Interface:
    """One message type."""

    schema: str
    """Its definition and those of all types inside it, as rosbag2 concatenates them."""
    codec: Codec


@lru_cache(maxsize=256)
def interface(name: str, definition: Definition | None, distro: str) -> Interface | None:
    """
    Return a message type, None for one that nobody knows.

    :param definition: asked first
    :param distro: ROS distribution whose standard interfaces are known besides
    """
    texts: dict[str, str] = {}
    types: dict[str, list[Field]] = {}
    defaults: dict[tuple[str, str], Any] = {}
    wanted = [name]
    while wanted:
        one = wanted.pop(0)
        if one in types:
            continue
        text = _text(one, definition, distro)
        if text is None:
            return None
        try:
            [(_, fields)] = get_types_from_msg(text, one).values()
            defaults |= {(one, field): yaml.safe_load(value)
                         for field, value in _DEFAULT.findall(text)}
        except (TypesysError, yaml.YAMLError):
            return None
        texts[one], types[one] = text, [_field(*field) for field in fields]
        wanted += [field.type for field in types[one] if field.type not in BASIC]
    schema = ''.join(
        text if one == name else f'{_SEPARATOR}\nMSG: {one.replace("/msg/", "/")}\n{text}'
        for one, text in texts.items())
    return Interface(schema, Codec(name, types, defaults))


@lru_cache(maxsize=256)
def codec_of(name: str, schema: str) -> Codec:
    """
    Return the codec of a recorded type by nothing but its schema.

    :raises TraceError: the schema is not readable
    """
    try:
        types = get_types_from_msg(schema, name).items()
        return Codec(name, {one: [_field(*field) for field in fields]
                            for one, (_, fields) in types})
    except (TypesysError, LookupError, RecursionError) as error:
        raise TraceError(f'{name}: its schema cannot be read: {error!s:.200}. Was it written by '
                         f'this version?') from None


@lru_cache(maxsize=8)
def standard(distro: str) -> Typestore:
    """
    Return the standard interfaces of a ROS distribution.

    :raises SettingsError: no such distribution
    """
    try:
        return get_typestore(Stores(f'ros2_{distro}'))
    except ValueError:
        known = [store.value.removeprefix('ros2_') for store in Stores
                 if store.value.startswith('ros2_')]
        raise SettingsError(f'distro: got {distro!r}, expected one of '
                            f'{", ".join(known)}') from None


def _text(name: str, definition: Definition | None, distro: str) -> str | None:
    text = definition(name) if definition is not None else None
    if text is not None:
        return text.replace('\r\n', '\n').rstrip('\n') + '\n'
    if name == 'geometry_msgs/msg/Quaternion':
        return _QUATERNION
    try:
        return standard(distro).generate_msgdef(name, ros_version=2)[0].partition(_SEPARATOR)[0]
    except TypesysError:
        return None


def _field(name: str, descriptor: Any) -> Field:
    """Return a field by its descriptor in rosbags' type stores."""
    (node, detail), length = descriptor, None
    if node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        length = detail[1] if node == Nodetype.ARRAY else 0
        node, detail = detail[0]
    return Field(name, str(detail) if node == Nodetype.NAME else detail[0], length)
