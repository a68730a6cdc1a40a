# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The one base of every noun, and nouns of which a trial has many, kept small in memory.

A dict for each nested message and an object for each number take some 800 bytes of a Twist; a
trial at 1 kHz has 600 000 of them in ten minutes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from functools import lru_cache
import re
import struct
import sys
from typing import Annotated, Any, cast, ClassVar, TypeVar

from safety_scenarios import registry
from safety_scenarios.dependencies import require
from safety_scenarios.errors import UnknownPluginError, UNSEEN

try:
    from pydantic import (
        AfterValidator,
        BaseModel,
        ConfigDict,
        Field,
        GetCoreSchemaHandler,
        GetJsonSchemaHandler,
    )
    from pydantic.dataclasses import dataclass as validated_dataclass
    from pydantic.fields import FieldInfo
    from pydantic_core import core_schema
    from typing_extensions import dataclass_transform, Self
except ImportError:
    require()
    raise

TopicName = Annotated[str, Field(
    max_length=200, pattern=r'^[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*$')]
"""A relative ROS topic name."""


MOST = 1000
"""Entries of a list in a scenario file: more are a file that went wrong."""
_CONTROL = re.compile(rf'[\t\n]|{UNSEEN.pattern}')
_EMPTY = re.compile('[\\s\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c\u200d\u2800\u3164'
                    '\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]+')
"""Spaces, and what only changes or joins the characters beside it."""


def is_unseen(text: str) -> bool:
    """Return whether nothing is seen of a text."""
    return not text or _EMPTY.fullmatch(text) is not None


def frozen(value: Any) -> Any:
    """Return plain data with its sequences as tuples, as nouns and messages have them."""
    if isinstance(value, dict):
        return {name: frozen(inner) for name, inner in value.items()}
    return tuple(map(frozen, value)) if isinstance(value, (list, tuple)) else value


def _as_written(text: str) -> str:
    found = _CONTROL.search(text.rstrip('\n'))  # a block of text ends with one
    if found:
        raise ValueError(f'got the control character U+{ord(found[0]):04X}, expected text on one '
                         f'line in which every character is seen. Remove it')
    if text and is_unseen(text):
        raise ValueError('got a text without a visible character, expected a letter or a digit '
                         'in it')
    return text


Label = Annotated[str, AfterValidator(_as_written)]
"""A name that is shown in tables: nothing in it moves the cursor or turns the text around."""


@dataclass(frozen=True, slots=True)
class PluginName:
    """
    Annotation of a text that names a plug-in: others are refused, and schemas list the known.

    :param kind: of the plug-in, such as robots
    """

    kind: str

    @property
    def choices(self) -> Sequence[str]:
        """Return the known names."""
        return tuple(registry.names(self.kind))

    def __get_pydantic_core_schema__(self, source: Any,
                                     handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Validate the text, then the name."""
        return core_schema.no_info_after_validator_function(self._check_name, handler(source))

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema,
                                     handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """List the known names."""
        return {**handler(schema), 'enum': list(self.choices)}

    def _check_name(self, name: str) -> str:
        if not registry.is_known(self.kind, name):
            raise ValueError(str(UnknownPluginError(self.kind, name, self.choices)))
        return name


class Noun(BaseModel):
    """A frozen value: unknown keys, NaN, infinity and silent conversions are refused."""

    model_config = ConfigDict(frozen=True, extra='forbid', strict=True, allow_inf_nan=False)


_T = TypeVar('_T', bound='Slotted')
_CONFIG = cast(ConfigDict, {key: value for key, value in Noun.model_config.items()
                            if key != 'frozen'})
"""Being frozen is said to the dataclass itself."""


class Slotted:
    """What makes a slotted dataclass usable as every other noun is."""

    __slots__ = ()
    model_fields: ClassVar[Mapping[str, FieldInfo]]
    _open: ClassVar[type[Any]]
    """The same fields in the same slots, which a plain constructor fills."""
    _defaults: ClassVar[Mapping[str, Any]]

    @classmethod
    def model_construct(cls, **values: Any) -> Self:
        """
        Return one of values that are known to be right: nothing is validated.

        :raises TypeError: a field without a default is not given, or there is no such field
        """
        made: Self = cls._open(**{**cls._defaults, **values})
        made.__class__ = cls  # frozen from now on: to write into that takes five times as long
        return made

    @classmethod
    def model_validate(cls, values: Mapping[str, Any]) -> Self:
        """
        Return one of values that came from outside.

        :raises pydantic.ValidationError: they do not fit
        """
        return cls(**values)

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return a copy with some fields changed, which are not validated."""
        values = {name: getattr(self, name) for name in self.model_fields}
        return self.model_construct(**values | dict(update or {}))

    def model_dump(self, mode: str = 'python') -> dict[str, Any]:
        """Return plain data."""
        serializer = cast(Any, self).__pydantic_serializer__
        return cast(dict[str, Any], serializer.to_python(self, mode=mode))


@dataclass_transform(kw_only_default=True, frozen_default=True)
def slotted(cls: type[_T]) -> type[_T]:
    """Make a frozen noun, as strictly validated as any, whose fields are in slots."""
    made: Any = validated_dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)(cls)
    made.model_fields = fields = made.__pydantic_fields__
    made._open = make_dataclass(cls.__name__, list(fields), bases=cls.__bases__, slots=True)
    made._defaults = {name: field.get_default() for name, field in fields.items()
                      if not field.is_required()}
    return cast(type[_T], made)


_CODES: dict[Any, str] = {float: 'd', int: 'q', bool: '?'}
_NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_]*')
_STRINGS = {str}
_INTERNED = 64
"""Longer text is hardly ever said twice."""

Key = tuple[tuple[str, Any], ...]
"""Each field's name, and its type or the key of the mapping in it."""
Tree = tuple[tuple[str, Any], ...]
"""Each field's name, and the place of its value or the tree of the mapping in it."""


class Shape:
    """
    The field names and types that all messages of one kind have in common.

    :param wide: an int does not fit into 64 bits, so that ints are kept as they are
    """

    __slots__ = ('_numbers', '_others', 'codes', 'counted', 'is_numeric', 'key', 'pack',
                 'places', 'tree', 'unpack', 'wide')

    def __init__(self, key: Key, wide: bool = False) -> None:
        kinds = list(_leaves(key))
        self.key, self.wide = key, wide
        self.is_numeric = set(kinds) <= {float, int} and not wide
        coded = [index for index, kind in enumerate(kinds)
                 if kind in _CODES and not (wide and kind is int)]
        self._numbers = None if len(coded) == len(kinds) else coded
        self._others = [index for index in range(len(kinds)) if index not in set(coded)]
        self.counted = len(coded)
        self.codes = ''.join(_CODES[kinds[index]] for index in coded)
        layout = struct.Struct('<' + self.codes)
        self.pack, self.unpack = layout.pack, layout.unpack
        kept = {index: place for place, index in enumerate([*coded, *self._others])}
        self.tree = _tree(key, iter(range(len(kinds))), kept)
        self.places = _places(self.tree, '')
        root = [name for name, _ in key]
        payload = [place for name, place in self.tree if name != 'header']
        if 'header' in root and len(payload) == 1 and isinstance(payload[0], tuple):
            short = _places(payload[0], '')
            self.places |= {path: place for path, place in short.items()
                            if path.partition('.')[0] not in root}

    def held(self, values: tuple[Any, ...]) -> tuple[bytes, tuple[Any, ...]]:
        """
        Return the numbers among values as bytes, and the others.

        :raises struct.error: an int needs more than 64 bits
        """
        if self._numbers is None:
            return self.pack(*values), ()
        return (self.pack(*[values[index] for index in self._numbers]),
                tuple([_shared(values[index]) for index in self._others]))

    def data(self, numbers: bytes, others: tuple[Any, ...]) -> dict[str, Any]:
        """Return the mapping that was held."""
        return mapping(self.tree, self.unpack(numbers) + others)


shape_of = lru_cache(maxsize=1024)(Shape)


@lru_cache(maxsize=4096)
def lead(shape: Shape, steps: tuple[str | int, ...]) -> \
        tuple[int | Tree, tuple[str | int, ...]] | None:
    """
    Return what the first steps of a field path lead to: a place or a tree, and the steps left.

    :return: None where a name is missing, or a mapping is not stepped into by a name
    """
    names = dict(shape.tree)
    if steps and isinstance(steps[0], str) and steps[0] not in names:
        payload = [name for name in names if name != 'header']
        if 'header' in names and len(payload) == 1:
            steps = (payload[0], *steps)
    found: int | Tree = shape.tree
    for index, step in enumerate(steps):
        if isinstance(found, int):
            return found, steps[index:]
        names = dict(found)
        if step == '*' or step not in names:
            return None
        found = names[step]
    return found, ()


@lru_cache(maxsize=1024)
def with_stamp(shape: Shape) -> tuple[Shape, int] | None:
    """
    Return the shape of the same messages with a header stamp, and the offset of it in the bytes.

    :return: None of messages without a header, or that have a stamp already
    """
    key, header = list(shape.key), dict(shape.key).get('header')
    if shape.wide or not isinstance(header, tuple) or 'stamp' in dict(header):
        return None
    index = [name for name, _ in key].index('header')
    before = (*key[:index], ('header', header))
    key[index] = 'header', (*header, ('stamp', (('sec', int), ('nanosec', int))))
    codes = ''.join(_CODES.get(kind, '') for kind in _leaves(before))
    return shape_of(tuple(key)), struct.calcsize('<' + codes)


def held(data: Mapping[str, Any]) -> tuple[Shape | None, bytes, tuple[Any, ...]]:
    """Return the shape of a mapping and what it holds; None where a name is no text."""
    if not set(map(type, data)) <= _STRINGS:
        return None, b'', (data,)
    values: list[Any] = []
    key = _key(data, values)
    shape = shape_of(key)
    try:
        return shape, *shape.held(tuple(values))
    except struct.error:
        shape = shape_of(key, wide=True)
        return shape, *shape.held(tuple(values))


def size(value: Any) -> int:
    """Return about how many bytes a value that is kept as it is takes."""
    kind = type(value)
    if kind is tuple or kind is list:
        if value and type(value[0]) in _CODES:
            return 64 + 40 * len(value)
        total = 64
        for inner in value:
            total += 8 + size(inner)
        return total
    if kind is dict or isinstance(value, Mapping):
        return 232 + sum(map(size, value.values()))
    return sys.getsizeof(value)


def _key(data: Mapping[str, Any], values: list[Any]) -> Key:
    key: list[tuple[str, Any]] = []
    for name, value in data.items():
        kind: Any = type(value)
        if kind is dict and set(map(type, value)) <= _STRINGS:
            kind = _key(value, values)
        else:
            values.append(value)
        key.append((name, kind))
    return tuple(key)


def _leaves(key: Key) -> Any:
    for _, kind in key:
        if isinstance(kind, tuple):
            yield from _leaves(kind)
        else:
            yield kind


def _tree(key: Key, indices: Any, kept: Mapping[int, int]) -> Tree:
    """Return the key with each type replaced by the place of its value."""
    return tuple((name, _tree(kind, indices, kept) if isinstance(kind, tuple)
                  else kept[next(indices)]) for name, kind in key)


def _places(tree: Tree, before: str) -> dict[str, int]:
    """Return where the value at each field path is."""
    found: dict[str, int] = {}
    for name, place in tree:
        if _NAME.fullmatch(name):
            found |= _places(place, f'{before}{name}.') if isinstance(place, tuple) \
                else {before + name: place}
    return found


def mapping(tree: Tree, values: tuple[Any, ...]) -> dict[str, Any]:
    return {name: values[place] if place.__class__ is int else mapping(place, values)
            for name, place in tree}


def _shared(value: Any) -> Any:
    """Return a text that many messages repeat, such as a frame id, as one object."""
    kind = type(value)
    if kind is str and len(value) <= _INTERNED:
        return sys.intern(value)
    if kind is tuple and value and type(value[0]) is str:
        return tuple(map(_shared, value))
    return value
