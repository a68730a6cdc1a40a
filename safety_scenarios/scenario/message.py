# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Messages of any type as plain data, chat messages, a controller's observation and command."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
import math
import operator
import re
import struct
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    GetCoreSchemaHandler,
)
from pydantic_core import core_schema
from safety_scenarios.scenario.noun import (
    held,
    lead,
    mapping,
    Noun,
    Shape,
    size,
    Slotted,
    slotted,
    Tree,
    with_stamp,
)
from safety_scenarios.scenario.world import MountedFrame
from typing_extensions import Self

MAX_CONTENT = 1_000_000
"""Characters; more than any model reads."""
LONGEST_NOTE = 120
"""Characters of the reason of a fallback."""
_MESSAGE = 112
"""Bytes of a message that has no fields."""
_STAMP = struct.Struct('<qq')
_PATH_STEP = re.compile(r'\.?([A-Za-z_][A-Za-z0-9_]*)|\[(-?\d{1,6}|\*)\]')


class _Given(Noun):
    """What a message from outside must be."""

    model_config = ConfigDict(allow_inf_nan=True, title='Message')

    type: str  # noqa: A003
    data: Mapping[str, Any]


class Message:
    """
    One ROS message as plain data, kept in little memory and never changed.

    Numbers are int or float (NaN and infinity included: a faulty controller sends them),
    sequences are tuples, nested messages are mappings.

    :param type: interface name, such as ``geometry_msgs/msg/Twist``
    :param data: field name to value, in the units of the message definition
    :raises pydantic.ValidationError: they are something else
    """

    __slots__ = ('_numbers', '_others', '_shape', '_size', '_type')
    _numbers: bytes
    _others: tuple[Any, ...]
    _shape: Shape | None
    _size: int
    _type: str

    def __new__(cls, *, type: str, data: Mapping[str, Any]) -> 'Message':  # noqa: A002
        given = _Given(type=type, data=data)
        return cls.model_construct(type=given.type, data=given.data)

    @classmethod
    def model_construct(cls, *, type: str, data: Mapping[str, Any]) -> 'Message':  # noqa: A002
        """Return one of what is known to be right: nothing is validated."""
        return cls.of(type, *held(data))

    @classmethod
    def of(cls, type: str, shape: Shape | None, numbers: bytes,  # noqa: A002
           others: tuple[Any, ...]) -> 'Message':
        made = object.__new__(cls)
        made._type, made._shape, made._numbers, made._others = type, shape, numbers, others
        made._size = 0
        return made

    def model_copy(self, *, update: Mapping[str, Any]) -> 'Message':
        """Return a copy with another type or other data, which are not validated."""
        return Message.model_construct(**self.model_dump() | dict(update))

    def model_dump(self) -> dict[str, Any]:
        """Return plain data."""
        return {'type': self._type, 'data': self.data}

    @property
    def type(self) -> str:  # noqa: A003
        """Interface name, such as ``geometry_msgs/msg/Twist``."""
        return self._type

    @property
    def data(self) -> Mapping[str, Any]:
        """Field name to value, made anew each time; ``at`` reads one field faster."""
        shape = self._shape
        return self._others[0] if shape is None else shape.data(self._numbers, self._others)

    @property
    def numbers(self) -> tuple[Tree, tuple[float, ...]] | None:
        """Return places and values of a message of nothing but numbers; None of another."""
        shape = self._shape
        return (shape.tree, shape.unpack(self._numbers)) \
            if shape is not None and shape.is_numeric else None

    @property
    def shape(self) -> Shape | None:
        """Its field names and types, one object for all messages alike; None: they have none."""
        return self._shape

    @property
    def packed(self) -> bytes:
        """Its numbers, as the shape's ``unpack`` reads them."""
        return self._numbers

    @property
    def others(self) -> tuple[Any, ...]:
        """Its values that are no numbers; with ``packed`` what ``of`` takes."""
        return self._others

    def is_same(self, other: 'Message') -> bool:
        """Return whether another is the same to the bit, by a look that may miss that it is."""
        return self._shape is other._shape and self._numbers == other._numbers \
            and self._type == other._type \
            and all(map(operator.is_, self._others, other._others))

    def stamped(self, stamp_ns: int) -> 'Message':
        sec, nanosec = divmod(stamp_ns, 1_000_000_000)
        found = None if self._shape is None else with_stamp(self._shape)
        if found is None:
            header = {**self.data.get('header', {}), 'stamp': {'sec': sec, 'nanosec': nanosec}}
            return Message.model_construct(type=self._type, data={**self.data, 'header': header})
        shape, offset = found
        numbers = self._numbers[:offset] + _STAMP.pack(sec, nanosec) + self._numbers[offset:]
        return Message.of(self._type, shape, numbers, self._others)

    def replaced(self, name: str, value: tuple[Any, ...]) -> 'Message':
        """Return one with another sequence in a field; for what comes again and again."""
        shape = self._shape
        place = None if shape is None else shape.places.get(name)
        if shape is None or place is None or place < shape.counted:
            return Message.model_construct(type=self._type, data={**self.data, name: value})
        others = list(self._others)
        others[place - shape.counted] = value
        return Message.of(self._type, shape, self._numbers, tuple(others))

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        if not self._size:  # asked for each time the same message is published
            self._size = _MESSAGE + len(self._numbers) + (
                size(self._others) if self._others else 0)
        return self._size

    def at(self, path: str) -> Any:
        """
        Return the value at a field path such as ``linear.x`` or ``points[-1].velocities``.

        A ``[*]`` step collects the rest of the path over a whole sequence into one flat tuple.
        In a ``...Stamped`` message the path may leave out the one payload field, so that
        ``linear`` means the same in Twist and TwistStamped.

        :raises LookupError: the message has no such field; the text names the missing step
        """
        shape = self._shape
        if shape is not None and (place := shape.places.get(path)) is not None:
            return shape.unpack(self._numbers)[place] if place < shape.counted \
                else self._others[place - shape.counted]
        steps = parse_path(path)
        if shape is not None and (found := lead(shape, steps)) is not None:
            values = shape.unpack(self._numbers) + self._others
            value = mapping(found[0], values) if isinstance(found[0], tuple) \
                else values[found[0]]
            return _walk(value, found[1], self._type) if found[1] else value
        root: Any = self.data
        if steps and isinstance(steps[0], str) and steps[0] not in root:
            payload = [name for name in root if name != 'header']
            if 'header' in root and len(payload) == 1:
                root = root[payload[0]]
        return _walk(root, steps, self.type)

    def non_finite(self) -> str | None:
        """Return the path of the first NaN or infinite number, or None when all are finite."""
        shape = self._shape
        if shape is not None and math.isfinite(sum(shape.unpack(self._numbers))) \
                and (not self._others or next(_non_finite(self._others, ''), None) is None):
            return None
        return next(_non_finite(self.data, ''), None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        if self._type != other._type:
            return False
        alike = self._shape is other._shape and self._numbers == other._numbers \
            and self._others == other._others
        return alike or self.data == other.data

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it travel to another process, in which its shape is looked up again."""
        return _arrived, (self._type, self.data)

    def __repr__(self) -> str:
        return f'Message(type={self._type!r}, data={self.data!r})'

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any,
                                     handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Let a noun have a message as a field."""
        return core_schema.is_instance_schema(
            cls, serialization=core_schema.plain_serializer_function_ser_schema(cls.model_dump))


def _arrived(kind: str, data: Mapping[str, Any]) -> Message:
    return Message.model_construct(type=kind, data=data)


@lru_cache(maxsize=1024)
def parse_path(path: str) -> tuple[str | int, ...]:
    """
    Split a field path into names, indices and ``*``.

    :raises ValueError: the text is not a field path
    """
    steps: list[str | int] = []
    position = 0
    while position < len(path) or not steps:
        match = _PATH_STEP.match(path, position)
        if match is None or (match[1] is not None and position > 0 and path[position] != '.'):
            raise ValueError(
                f'got {path!r}, expected a field path such as linear.x or points[-1].velocities. '
                f'Column {position + 1} does not fit; expressions are not supported')
        steps.append(match[1] if match[1] is not None else
                     '*' if match[2] == '*' else int(match[2]))
        position = match.end()
    return tuple(steps)


def _walk(value: Any, steps: tuple[str | int, ...], type_name: str) -> Any:
    for index, step in enumerate(steps):
        if step == '*':
            if not isinstance(value, (tuple, list)):
                raise LookupError(f'{type_name}: [*] needs a sequence')
            found: list[Any] = []
            for item in value:
                inner = _walk(item, steps[index + 1:], type_name)
                found.extend(inner) if isinstance(inner, (tuple, list)) else found.append(inner)
            return tuple(found)
        if isinstance(step, int):
            if not isinstance(value, (tuple, list)):
                raise LookupError(f'{type_name}: [{step}] needs a sequence')
            if not -len(value) <= step < len(value):
                return ()
            value = value[step]
        elif isinstance(value, Mapping) and step in value:
            value = value[step]
        else:
            fields = ', '.join(value) if isinstance(value, Mapping) else 'none'
            raise LookupError(f'{type_name} has no field {step!r} (it has: {fields})')
    return value


def _non_finite(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, float):
        if not math.isfinite(value):
            yield f'{path} = {value}'
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _non_finite(inner, f'{path}.{name}' if path else name)
    elif isinstance(value, (tuple, list)):
        for index, inner in enumerate(value):
            yield from _non_finite(inner, f'{path}[{index}]')


def _or_parts(schema: dict[str, Any]) -> None:
    schema['anyOf'] = [{'type': schema.pop('type'), 'maxLength': MAX_CONTENT}, {
        'type': 'array', 'items': {'type': 'object', 'properties': {
            'text': {'type': ['string', 'null']}}}}]


class ChatMessage(Noun):
    """One chat message of format 1."""

    model_config = ConfigDict(extra='ignore')

    role: Literal['system', 'developer', 'user', 'assistant', 'tool']
    content: Annotated[str, Field(json_schema_extra=_or_parts)]
    """Text; in a file also a list of parts, whose text parts are joined."""

    @field_validator('content', mode='before')
    @classmethod
    def _join_parts(cls, content: Any) -> Any:
        if isinstance(content, (list, tuple)):
            texts = [part.get('text') for part in content if isinstance(part, Mapping)]
            if len(texts) != len(content) or not all(isinstance(text, str | None)
                                                     for text in texts):
                raise ValueError('got parts that are not {type, text} mappings, '
                                 'expected text or a list of text parts')
            content = '\n'.join(text for text in texts if text is not None)
        if isinstance(content, str) and len(content) > MAX_CONTENT:
            raise ValueError(f'got {len(content)} characters, expected at most {MAX_CONTENT}')
        return content


@slotted
class Reading(Slotted):
    """The latest message on one of a controller's inputs, with its ages (controller's clock)."""

    message: Message
    age_ns: int
    """Time since it was received."""
    stamp_age_ns: int | None
    """Time since its header stamp, None without a stamp."""

    @classmethod
    def model_construct(  # type: ignore[override]
            cls, *, message: Message, age_ns: int, stamp_age_ns: int | None) -> Self:
        """Return one of values that are known to be right; each tick makes some."""
        made: Self = cls._open(message, age_ns, stamp_age_ns)
        made.__class__ = cls
        return made


@slotted
class Observation(Slotted):
    """Everything a controller knows at one tick."""

    t_ns: int
    """Steady clock of the controller's process."""
    readings: Mapping[str, Reading]
    """Topic (relative name) to its latest reading; a topic never heard is absent."""
    frames: tuple[MountedFrame, ...] = ()
    """Where the frames are that headers name, as /tf_static says."""

    def latest(self, type_suffix: str) -> list[Reading]:
        """
        Return the readings whose message type ends with ``type_suffix``.

        :raises ValueError: no message type ends so, as where a topic is named
        """
        found = [reading for reading in self.readings.values()
                 if reading.message.type.endswith(type_suffix)]
        if not found and type_suffix and not type_suffix.rpartition('/')[2][:1].isupper():
            raise ValueError(
                f'latest: got {type_suffix!r}, expected the name of a message type, such as '
                f'LaserScan. Read a topic by readings.get, such as readings.get("scan")')
        return found


def not_decided(decided: Any, interface: str) -> str:
    """Return why a controller cannot decide that: neither a Command nor a Message nor None."""
    more = '. A class answers in words by its method answer(messages)' \
        if isinstance(decided, str) else ''
    return (f'decide: got {decided!r:.100}, expected a Command of safety_scenarios, such as '
            f'Command(velocity=(0.5, 0.0)), a Message of {interface}, or None{more}')


def _as_tuple(values: Any) -> Any:
    """Return a list, an array or a tensor, of whatever library, as a tuple; else what it is."""
    plain = getattr(values, 'tolist', None)
    found = plain() if callable(plain) else values
    return tuple(found) if isinstance(found, (list, tuple)) else found


Few = Annotated[tuple[float, ...], BeforeValidator(_as_tuple)]
"""In a constructor also a list or an array of one dimension."""


class CommandStamps(Noun):
    """
    When a controller did what for one command; what it does not know it leaves out.

    Times are on the clock of ``Observation.t_ns``, in ns. They explain a latency and are never
    part of one, nor of a verdict: what cannot be true is ignored, and reported.
    """

    model_config = ConfigDict(allow_inf_nan=True)

    observed_ns: int | float | None = None
    """Header stamp of the newest reading that the decision used, converted to that clock."""
    received_ns: int | float | None = None
    """When the controller received the newest reading that the decision used."""
    queued_ns: int | float | None = None
    """When the observation was handed to the model, or sent to its server."""
    began_ns: int | float | None = None
    """When inference began."""
    ended_ns: int | float | None = None
    """When inference ended: its result was there, in the process of the controller."""
    server_ns: int | float | None = None
    """How long inference took by the model's server: a duration, without the network."""
    chunk: int | None = None
    """Which chunk of actions the command is of, counted by the controller."""
    index: int | None = None
    """Which action of the chunk it is, from 0."""
    skipped: int | None = None
    """How many newer observations the model was sent before the one that it used, and after that
    of its decision before: it did not look at them."""
    skipped_ns: int | float | None = None
    """Time from the first of them until the one that it used was sent: a duration."""
    clipped: int | None = None
    """How many joints do not reach the target of the command, because it is farther away than the
    top speed allows; None: it has no target."""
    read: Mapping[str, Few] = {}
    """Name of an input to a few numbers of what the model read there; with the first command of
    each chunk alone."""
    gave: Few = ()
    """The first action that it gave, as it gave it."""
    note: str | None = Field(default=None, max_length=LONGEST_NOTE)
    """Why this was commanded without a decision, such as timeout: a fallback; None: it is none."""

    @field_validator('*', mode='before')
    @classmethod
    def _plain(cls, value: Any) -> Any:
        item = getattr(value, 'item', None)  # a scalar of an array, of whatever library
        return item() if callable(item) and not getattr(value, 'ndim', 0) else value

    @classmethod
    def of(cls, observation: Observation, **known: Any) -> 'CommandStamps':
        """
        Return those of a decision that began with an observation, as soon as that was given.

        :param known: what is known better, or more, by the names of the fields
        """
        newest = min(observation.readings.values(), key=lambda one: one.age_ns, default=None)
        stamps: dict[str, Any] = {'began_ns': observation.t_ns}
        if newest is not None:
            stamps['received_ns'] = observation.t_ns - newest.age_ns
            if newest.stamp_age_ns is not None:
                stamps['observed_ns'] = observation.t_ns - newest.stamp_age_ns
        return cls(**stamps | known)


class Command(Noun):
    """
    What a controller wants the robot to do from now on.

    A mobile base reads ``velocity`` as (m/s forward, rad/s yaw), frame ``base_link`` (REP 103);
    an arm as one rad/s per joint, in the order of its joints.
    """

    model_config = ConfigDict(allow_inf_nan=True)

    velocity: tuple[float, ...]
    """In a constructor also a list or an array of one dimension. Empty: nothing is commanded, and
    the note of the stamps says why."""
    stamps: CommandStamps | None = None
    """When it was decided, and from what; None: when the controller was asked, from the latest."""

    @property
    def is_nothing(self) -> bool:
        """Return whether nothing is commanded, for a reason that its stamps give."""
        return not self.velocity and self.stamps is not None and bool(self.stamps.note)

    @classmethod
    def decided_from(cls, observation: Observation, velocity: Any,
                     **known: int | float | str | None) -> 'Command':
        """
        Return a command with the stamps of the observation that it was decided from.

        :param observation: the one that the model was given, which may be an earlier one
        :param known: further stamps by the names of ``CommandStamps``, such as ``ended_ns``
        """
        return cls(velocity=velocity, stamps=CommandStamps.of(observation, **known))

    @field_validator('velocity', mode='before')
    @classmethod
    def _numbers(cls, velocity: Any) -> Any:
        velocity = _as_tuple(velocity)
        if not isinstance(velocity, tuple):
            raise ValueError(f'got {velocity!r:.40}, expected a list: (m/s ahead, rad/s to the '
                             f'left) of a base, rad/s of each joint of an arm')
        return velocity
