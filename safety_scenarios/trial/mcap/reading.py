# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The events of a recording, one by one, its metadata, and the fields of message types.

The metadata has version 5, what Humble writes: each later release reads it too (Jazzy and Kilted
write 9, whose other form of quality of service Humble cannot read).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
import re
import struct
from typing import Any, get_args

import lz4.frame
from mcap import records
from mcap.exceptions import EndOfFile
from mcap.reader import make_reader
from mcap.stream_reader import breakup_chunk, StreamReader
from pydantic import ValidationError
from rosbags.interfaces import Nodetype
from rosbags.typesys import get_types_from_msg, get_typestore, Stores
from rosbags.typesys.base import TypesysError
from rosbags.typesys.store import Typestore
from safety_scenarios.errors import in_words, TraceError
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.invariant import Judgement
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.trial.mcap.cdr import BASIC, Codec, Field, UnfitError
from safety_scenarios.trial.plan_data import from_text, Loss
import yaml
import zstandard

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
def interface(name: str, definition: Definition | None) -> Interface | None:
    """
    Return a message type, None for one that nobody knows.

    :param definition: asked first, before the standard interfaces
    """
    texts: dict[str, str] = {}
    types: dict[str, list[Field]] = {}
    defaults: dict[tuple[str, str], Any] = {}
    wanted = [name]
    while wanted:
        one = wanted.pop(0)
        if one in types:
            continue
        text = _text(one, definition)
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


@cache
def standard() -> Typestore:
    """Return the standard interfaces of ROS."""
    return get_typestore(Stores.ROS2_JAZZY)


def _text(name: str, definition: Definition | None) -> str | None:
    text = definition(name) if definition is not None else None
    if text is not None:
        return text.replace('\r\n', '\n').rstrip('\n') + '\n'
    if name == 'geometry_msgs/msg/Quaternion':
        return _QUATERNION
    try:
        return standard().generate_msgdef(name, ros_version=2)[0].partition(_SEPARATOR)[0]
    except TypesysError:
        return None


def _field(name: str, descriptor: Any) -> Field:
    """Return a field by its descriptor in rosbags' type stores."""
    (node, detail), length = descriptor, None
    if node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        length = detail[1] if node == Nodetype.ARRAY else 0
        node, detail = detail[0]
    return Field(name, str(detail) if node == Nodetype.NAME else detail[0], length)


_VERSION = 5
"""Of the format of ``metadata.yaml``."""
_FOREVER = {'sec': 9_223_372_036, 'nsec': 854_775_807}
_RELIABLE, _VOLATILE, _UNKNOWN_HISTORY, _AUTOMATIC = 1, 2, 3, 1
"""Numbers of the QoS policies in rmw."""
QOS = yaml.safe_dump([{
    'history': _UNKNOWN_HISTORY, 'depth': 0, 'reliability': _RELIABLE, 'durability': _VOLATILE,
    'deadline': _FOREVER, 'lifespan': _FOREVER, 'liveliness': _AUTOMATIC,
    'liveliness_lease_duration': _FOREVER, 'avoid_ros_namespace_conventions': False}])
"""Reliable and volatile, as the harness publishes; numbers as in versions up to 8."""


@dataclass
class Topic:
    """One topic of a recording."""

    name: str
    type: str  # noqa: A003
    messages: int = 0


def metadata(file: str, topics: Iterable[Topic], first_ns: int, last_ns: int) -> str:
    """
    Return the text of ``metadata.yaml``.

    :param file: name of the only file
    :param first_ns: log time of the earliest message, in ns since 1970
    """
    topics = list(topics)
    span = {'starting_time': {'nanoseconds_since_epoch': first_ns},
            'duration': {'nanoseconds': last_ns - first_ns},
            'message_count': sum(topic.messages for topic in topics)}
    return yaml.safe_dump({'rosbag2_bagfile_information': {
        'version': _VERSION, 'storage_identifier': 'mcap', **span,
        'topics_with_message_count': [
            {'topic_metadata': {'name': topic.name, 'type': topic.type,
                                'serialization_format': 'cdr', 'offered_qos_profiles': QOS},
             'message_count': topic.messages} for topic in topics],
        'compression_format': '', 'compression_mode': '', 'relative_file_paths': [file],
        'files': [{'path': file, **span}]}}, sort_keys=False)


MAX_UNPACKED = 256_000_000
"""Bytes of one chunk of a file, or of one message, that was compressed."""

FORMAT = 1
"""Of the events; one that readers of this version cannot read gets the next."""
EVENTS, TRIAL = '/safety_scenarios/events', '/safety_scenarios/trial'
STRING = 'std_msgs/msg/String'
METADATA, RECORD_SHA256 = 'safety_scenarios', 'record_sha256'
"""Name of the metadata of a file, and its key for the head of the journal's chain of hashes."""
NOTE = 'safety_scenarios'
"""Key in a channel's metadata: why its messages are JSON."""

_KINDS = set(get_args(Event.model_fields['kind'].annotation))
_DEFAULTS = {name: field.default for name, field in Event.model_fields.items()
             if name not in ('stamps', 'message')}


def as_line(event: Event, number: int) -> dict[str, Any]:
    """Return everything of an event but its message, without what is at its default."""
    stamps = event.stamps
    line: dict[str, Any] = {'n': number}
    for name, default in _DEFAULTS.items():
        value = getattr(event, name)
        if value != default:
            line[name] = value
    line['stamps'] = {name: value for name in Stamps.model_fields
                      if (value := getattr(stamps, name)) is not None}
    return line


class Reading:
    """
    What a file holds.

    :param partial: take a file that ends too early for what it has
    :raises TraceError: with the file's name and what is wrong with it
    """

    def __init__(self, path: Path, partial: bool) -> None:
        self.plan: Mapping[str, Any] = {}
        self.measuring = Measuring()
        self.judgements: tuple[Judgement, ...] = ()
        self._events: list[Event] = []
        self._is_whole = False
        self._schemas: dict[int, records.Schema] = {}
        self._channels: dict[int, records.Channel] = {}
        self._codecs: dict[int, Codec] = {}
        self._messages: dict[tuple[str, int], records.Message] = {}
        try:
            with path.open('rb') as stream:
                for record in records_of(stream, partial):
                    self._take(record)
        except OSError as error:
            raise TraceError(f'{path}: cannot be read: {error.strerror}') from error
        except (TraceError, UnfitError) as error:
            raise TraceError(f'{path}: {error}') from error
        except (KeyError, TypeError, AttributeError, ValidationError) as error:
            raise TraceError(f'{path}: got what is no recording of a trial: '
                             f'{in_words(error):.200}. Was it written by this '
                             f'version, and by no other tool since?') from error
        if not self.plan:
            raise TraceError(f'{path}: got no plan of a trial on {TRIAL}, expected one. Was it '
                             f'recorded by this package?')
        if not (self._is_whole or partial):
            raise TraceError(f'{path}: the recording of a trial has no end. Run campaign repair')

    def all_events(self) -> tuple[Event, ...]:
        """Return every event; when the end is missing, with a fault that says so."""
        if self._is_whole or not self._events:
            return tuple(self._events)
        return (*self._events, Event(
            kind='fault', name=TraceError.__name__, stamps=self._events[-1].stamps,
            text=f'the recording breaks off after {len(self._events)} events'))

    def _take(self, record: records.McapRecord) -> None:
        if isinstance(record, records.Schema):
            self._schemas[record.id] = record
        elif isinstance(record, records.Channel):
            self._channels[record.id] = record
        elif isinstance(record, records.Message):
            topic = self._channels[record.channel_id].topic
            if self._is_whole and topic in (EVENTS, TRIAL):
                raise TraceError('got something of the trial after its end, expected nothing. Was '
                                 'the file changed?')
            if topic == EVENTS:
                self._events.append(self._event(from_text(self._decoded(record)['data'])))
            elif topic == TRIAL:
                self._receive(from_text(self._decoded(record)['data']))
            else:
                self._messages[topic, record.sequence] = record

    def _receive(self, data: Mapping[str, Any]) -> None:
        if 'trial' in data:
            if data['format'] != FORMAT:
                raise TraceError(f'got format {data["format"]}, expected {FORMAT}. Read it by the '
                                 f'version that has written it')
            if self.plan:
                raise TraceError('got two plans of a trial, expected one. Was the file changed?')
            self.plan = data['trial']
            return
        if data['events'] != len(self._events):
            raise TraceError(f'got {len(self._events)} events, expected {data["events"]}. Parts '
                             f'of the file are missing')
        self.measuring = Measuring.model_validate(data['measuring'])
        self.judgements = tuple(Judgement.model_validate(one) for one in data['judgements'])
        self._is_whole = True

    def _event(self, line: dict[str, Any]) -> Event:
        number, stamps, place = line.pop('n'), line.pop('stamps'), line.pop('message', None)
        if number != len(self._events) or line['kind'] not in _KINDS \
                or not line.keys() <= _DEFAULTS.keys():
            raise TraceError(f'got {line!r:.100} as event {number}, expected event '
                             f'{len(self._events)}. Was the file changed?')
        # Not validated, as nothing is that a link makes: what was recorded is what comes back.
        return Event.model_construct(
            **line, stamps=Stamps.model_validate(stamps),
            message=None if place is None else self._message(place))

    def _message(self, place: Mapping[str, Any]) -> Message:
        if 'topic' not in place:
            data = {} if place.get('left_out') else place['data']
            return Message.model_construct(type=place['type'], data=data)
        recorded = self._messages.pop((place['topic'], place['sequence']))
        copy = self._decoded(recorded)
        if 'type' in place:
            return Message.model_construct(type=place['type'], data=from_text(copy['data']))
        loss = Loss(place.get('without', ()), place.get('exact', {}))
        return Message.model_construct(type=self._codecs[recorded.channel_id].name,
                                       data=loss.restore(copy))

    def _decoded(self, recorded: records.Message) -> dict[str, Any]:
        codec = self._codecs.get(recorded.channel_id)
        if codec is None:
            schema = self._schemas[self._channels[recorded.channel_id].schema_id]
            codec = codec_of(schema.name, schema.data.decode('utf-8', 'replace'))
            self._codecs[recorded.channel_id] = codec
        return codec.decode(recorded.data)


def record_sha256_in(path: Path) -> str:
    """
    Return the head of the journal's chain of hashes that a recording names; empty: none.

    :raises TraceError: with what is wrong with the file
    """
    try:
        with path.open('rb') as stream:
            found = [one.metadata for one in make_reader(stream).iter_metadata()
                     if one.name == METADATA]
    except OSError as error:
        raise TraceError(f'cannot be read: {error.strerror}') from error
    except Exception as error:  # whatever a damaged file makes the libraries raise
        raise TraceError(f'the file is damaged: {in_words(error):.200}') from error
    return found[0].get(RECORD_SHA256, '') if len(found) == 1 else ''


def records_of(stream: Any, partial: bool) -> Iterator[records.McapRecord]:
    """Yield the records of a file, each checked by the checksum of its chunk."""
    found = StreamReader(stream, emit_chunks=True, validate_crcs=True).records
    while True:
        try:
            record = next(found, None)
            if record is None:
                return
            inside = breakup_chunk(_unpacked(record), validate_crc=True) \
                if isinstance(record, records.Chunk) else [record]
        except TraceError:
            raise
        except (EndOfFile, struct.error):
            if partial:
                return
            raise TraceError('the file is unfinished, as after a crash. Record it again, or take '
                             'what there is by mcap recover') from None
        except Exception as error:  # whatever a damaged file makes the libraries raise
            raise TraceError(f'the file is damaged: {in_words(error):.200}') \
                from error
        yield from inside


def _unpacked(chunk: records.Chunk) -> records.Chunk:
    """Return a chunk that is not compressed; a small one can hold more than there is memory."""
    size = chunk.uncompressed_size
    if chunk.compression not in ('zstd', 'lz4'):
        return chunk
    if size > MAX_UNPACKED:
        raise TraceError(f'got a chunk of {size / 1e6:.0f} MB when unpacked, expected at most '
                         f'{MAX_UNPACKED / 1e6:g}. Write the file anew with smaller chunks')
    data = zstandard.ZstdDecompressor().stream_reader(chunk.data).read(size + 1) \
        if chunk.compression == 'zstd' else \
        lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=size + 1)
    if len(data) != size:
        raise TraceError(f'the file is damaged: a chunk holds other than the {size} bytes that '
                         f'it counts itself')
    return replace(chunk, compression='', data=data)
