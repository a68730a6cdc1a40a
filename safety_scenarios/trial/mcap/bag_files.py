# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The messages of a rosbag2 that somebody else recorded, in the order in which they were written.

Every message of every file is read, whatever ``metadata.yaml`` or an index says of it. A bag is
refused where its files and what they say of themselves disagree. Where the times of one topic go
back, the clock of the recorder was set back, and what came later stands before what it answers.
Those of different topics also interleave in a healthy bag: the recorder stamps a message when it
arrives, and writes it when its executor takes it, so that after a stall one topic lags. A clock
that was set back by less than a topic's period looks the same, and makes latencies uncertain.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
import sqlite3
from tempfile import TemporaryDirectory
from typing import Any

from safety_scenarios.errors import in_words, MissingDependencyError, SettingsError, TraceError
from safety_scenarios.formats.document.file_contents import bytes_of
import yaml

try:
    from mcap import records
    from safety_scenarios.trial.mcap.cdr import Codec
    from safety_scenarios.trial.mcap.reading import codec_of, interface, MAX_UNPACKED, records_of
    import zstandard
except ImportError as error:
    raise MissingDependencyError('reading a bag', 'rosbags',
                                 "pip install 'mcap>=1.5' 'rosbags>=0.11'") from error

METADATA = 'metadata.yaml'
_MAX_METADATA = 1_000_000
_NEWEST = 9
"""Version of ``metadata.yaml``, the last one known."""
CDR = 'cdr'
"""Encoding of the messages of ROS 2."""
_SUFFIXES = ('.mcap', '.db3')
_COMPRESSED = '.zstd'
_REORDERED_NS = 10_000_000
"""By so much messages may be written in another order than they came: less than U."""
_MAX_LAG_NS = 200_000_000
"""By so much a message may be earlier than one on another topic that was written before it."""
_MAX_FILE = 10_000_000_000
"""Bytes of a file that was compressed as a whole; they need as much space on the disk."""
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Channel:
    """What a bag says of the messages of one topic, type and publisher."""

    topic: str
    """Full name, as recorded."""
    type: str  # noqa: A003
    encoding: str
    """Of the messages, such as cdr."""
    schema_encoding: str
    """Of the definition, such as ros2msg; empty: there is none."""
    schema: str

    def codec(self) -> Codec:
        """
        Return what reads the messages, by a standard interface where the bag holds no definition.

        :raises TraceError: it is no ROS 2 message, or of an unknown type
        """
        if self.encoding != CDR:
            raise TraceError(f'has messages in {self.encoding or "no encoding"}, expected {CDR}, '
                             f'that of ROS 2')
        if self.schema_encoding == 'ros2msg' and self.schema.strip():
            return codec_of(self.type, self.schema)
        known = interface(self.type, None)
        if known is None:
            raise TraceError(f'is of the type {self.type}, which neither the bag nor a standard '
                             f'package defines: record it as MCAP')
        return known.codec


Written = tuple[Channel, int, bytes]
"""Channel, the recorder's time (ns since 1970), and the message."""


class BagFiles:
    """
    A rosbag2: a file in MCAP or SQLite, or a folder of them with ``metadata.yaml``.

    It is read twice: here to check it as a whole, then for the messages that are asked for.

    :ivar channels: in the order in which they were found
    :ivar first_ns: topic to the time of its earliest message; none without a message
    :ivar disorder: why the order of the messages is unknown, on whatever topic; empty: it is not
    :ivar set_back_ns: by so much the recorder's clock may have been set back where one topic lags
        behind another: the sum of the largest lag and of the largest pause without a message on
        any topic, as the one before the step is unknown; 0: no topic lags
    :raises TraceError: no bag, damaged, or without messages that it counts, or with more of them
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with _readable():
            self._metadata = _metadata(path) if path.is_dir() else {}
            self._files = _files(path, self._metadata)
            self.channels: list[Channel] = []
            self.first_ns: dict[str, int] = {}
            self.disorder = ''
            self.set_back_ns = 0
            self._check()

    def messages(self, channels: Collection[Channel]) -> Iterator[Written]:
        """Yield the messages of some channels, in the order in which they were written."""
        with _readable():
            is_packed = str(self._metadata.get('compression_mode', '')).lower() == 'message'
            for _, channel, at_ns, raw in self._written():
                if channel in channels:
                    yield channel, at_ns, _unpack(channel, raw) if is_packed else raw

    def _check(self) -> None:
        """Read everything, to find a clock that was set back and to refuse what is incomplete."""
        latest_ns, latest_of, counts = 0, '', Counter[str]()
        latest_on, lag_ns, pause_ns = dict[str, int](), 0, 0
        found = dict[Channel, None]()
        for file, channel, at_ns, _ in self._written(found):
            counts[channel.topic] += 1
            self.first_ns[channel.topic] = min(at_ns, self.first_ns.get(channel.topic, at_ns))
            if channel.encoding != CDR:
                continue  # the recorder of ROS has not written it
            if channel.topic in latest_on:  # else it begins here, and no pause ends
                pause_ns = max(pause_ns, at_ns - latest_ns)
            own_ns = max(at_ns, latest_on.get(channel.topic, at_ns))
            latest_on[channel.topic] = own_ns
            lag_ns = max(lag_ns, latest_ns - at_ns)
            if (own_ns - at_ns > _REORDERED_NS or latest_ns - at_ns > _MAX_LAG_NS) \
                    and not self.disorder:
                self.disorder = (
                    f'{file}: got a message on {channel.topic} '
                    f'{(latest_ns - at_ns) / 1e6:.0f} ms before the one on {latest_of} that was '
                    f'written before it: the clock of the recorder was set back, or {METADATA} '
                    f'lists the files in another order, so that no latency can be measured')
            if at_ns >= latest_ns:
                latest_ns, latest_of = at_ns, channel.topic
        if lag_ns > _REORDERED_NS:
            self.set_back_ns = lag_ns + pause_ns
        listed = self._metadata.get('topics_with_message_count', ())
        expected = Counter[str]()
        for one in listed:
            topic = one['topic_metadata']
            expected[topic['name']] += one['message_count']
            if topic['name'] not in {channel.topic for channel in found}:
                found[Channel(topic['name'], topic['type'], topic['serialization_format'], '',
                              '')] = None
        for name in sorted(counts | expected) if self._path.is_dir() else ():
            if counts[name] != expected[name]:
                raise TraceError(
                    f'got {counts[name]} messages on {name} in the files, expected the '
                    f'{expected[name]} that {METADATA} counts. Complete the folder, or write '
                    f'{METADATA} anew with ros2 bag reindex')
        self.channels += found

    def _written(self, found: dict[Channel, None] | None = None) -> \
            Iterator[tuple[str, Channel, int, bytes]]:
        """
        Yield the file of each message, its channel, its time, and itself, compressed or not.

        :param found: gets every channel, also those without a message
        """
        found = {} if found is None else found
        for file in self._files:
            with _unpacked(file) as plain:
                read = _in_mcap if plain.suffix == '.mcap' else _in_sqlite
                for channel, at_ns, raw in read(plain, found):
                    yield file.name, channel, at_ns, raw


@contextmanager
def _readable() -> Iterator[None]:
    """Turn whatever a damaged file makes the libraries raise into a message."""
    try:
        yield
    except (SettingsError, TraceError):
        raise
    except OSError as error:
        raise TraceError(f'cannot be read: {error.strerror or error}') from None
    except Exception as error:
        raise TraceError(f'cannot be read as a bag, as it seems damaged or unfinished: '
                         f'{type(error).__name__}: {in_words(error):.200}. Try ros2 bag info on '
                         f'it, and ros2 bag reindex') from None


def _metadata(folder: Path) -> Mapping[str, Any]:
    path = folder / METADATA
    if not path.is_file():
        raise TraceError(f'got a folder without {METADATA}, expected that of a rosbag2. Name the '
                         f'folder that ros2 bag record wrote, or a .mcap or .db3 file')
    try:
        raw = bytes_of(path, _MAX_METADATA)
    except ValueError as error:
        raise TraceError(f'{METADATA}: {error}. Record into fewer files') from None
    found: Mapping[str, Any] = yaml.safe_load(raw)['rosbag2_bagfile_information']
    if found['version'] > _NEWEST:
        raise TraceError(f'{METADATA}: got version {found["version"]}, expected at most '
                         f'{_NEWEST}. Convert the bag with an earlier ros2 bag convert')
    return found


def _files(path: Path, metadata: Mapping[str, Any]) -> list[Path]:
    """Return the files of a bag in the order in which they were written."""
    if not path.is_dir():
        files = [path]
    else:
        names = [PurePath(name) for name in metadata['relative_file_paths']]
        foreign = next((name for name in names if name.parent.name not in ('', path.name)), None)
        if foreign is not None:
            raise TraceError(f'{METADATA}: got the file {foreign}, expected one in the same '
                             f'folder. Move it there')
        files = [path / name.name for name in names]
        beside = sorted(one for one in path.iterdir()
                        if one.name.removesuffix(_COMPRESSED).endswith(_SUFFIXES)
                        and one not in files)
        if beside:
            raise TraceError(f'got the file {beside[0].name}, which {METADATA} does not list. '
                             f'Remove it, or write {METADATA} anew with ros2 bag reindex')
    for file in files:
        if not file.is_file():
            raise TraceError(f'{file.name}: no such file')
        if PurePath(file.name.removesuffix(_COMPRESSED)).suffix not in _SUFFIXES:
            raise TraceError(f'got a {file.suffix or "nameless"} file, expected .mcap, .db3 or '
                             f'the folder of a rosbag2')
        log = file.with_name(f'{file.name}-wal')
        if log.is_file() and log.stat().st_size:
            raise TraceError(f'{log.name}: holds messages that never got into {file.name}, as '
                             f'after a crash. Open {file.name} once with sqlite3')
    return files


@contextmanager
def _unpacked(file: Path) -> Iterator[Path]:
    """Give a file, or a copy of one that is compressed as a whole."""
    if file.suffix != _COMPRESSED:
        yield file
        return
    with TemporaryDirectory() as folder:
        plain = Path(folder) / file.name.removesuffix(_COMPRESSED)
        with file.open('rb') as packed, plain.open('wb') as out:
            reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
            while block := reader.read(_BLOCK):
                if out.tell() + len(block) > _MAX_FILE:
                    raise TraceError(f'{file.name}: got more than {_MAX_FILE / 1e9:g} GB when '
                                     f'unpacked, expected at most that much. Cut out what is '
                                     f'judged, as with ros2 bag convert')
                out.write(block)
        yield plain


def _unpack(channel: Channel, raw: bytes) -> bytes:
    plain = zstandard.ZstdDecompressor().stream_reader(raw).read(MAX_UNPACKED + 1)
    if len(plain) > MAX_UNPACKED:
        raise TraceError(f'{channel.topic}: got a message of more than {MAX_UNPACKED / 1e6:g} MB '
                         f'when unpacked, expected at most that much')
    return plain


def _in_mcap(file: Path, found: dict[Channel, None]) -> Iterator[Written]:
    schemas: dict[int, tuple[str, str, str]] = {0: ('', '', '')}
    channels: dict[int, Channel] = {}
    count = 0
    with file.open('rb') as stream:
        for record in records_of(stream, partial=False):
            if isinstance(record, records.Schema):
                schemas[record.id] = (record.name, record.encoding,
                                      record.data.decode('utf-8', 'replace'))
            elif isinstance(record, records.Channel):
                channel = Channel(record.topic, schemas[record.schema_id][0],
                                  record.message_encoding, *schemas[record.schema_id][1:])
                if channels.setdefault(record.id, channel) != channel:
                    raise TraceError(f'{file.name}: got two channels {record.id}, expected one')
                found[channel] = None
            elif isinstance(record, records.Message):
                count += 1
                yield channels[record.channel_id], record.log_time, record.data
            elif isinstance(record, records.Statistics) and record.message_count != count:
                raise TraceError(f'{file.name}: got {count} messages, expected the '
                                 f'{record.message_count} that it counts itself: some are '
                                 f'missing, or were added')


def _in_sqlite(file: Path, found: dict[Channel, None]) -> Iterator[Written]:
    # Not changed by whoever reads it: else files appear beside it, or it fails where none can.
    with closing(sqlite3.connect(f'{file.absolute().as_uri()}?immutable=1', uri=True)) as base:
        definitions = {}
        if base.execute("SELECT 1 FROM sqlite_master WHERE name = 'message_definitions'"
                        ).fetchone():
            definitions = {name: (encoding, text) for name, encoding, text in base.execute(
                'SELECT topic_type, encoding, encoded_message_definition '
                'FROM message_definitions')}
        channels = {number: Channel(name, kind, encoding, *definitions.get(kind, ('', '')))
                    for number, name, kind, encoding in base.execute(
                        'SELECT id, name, type, serialization_format FROM topics ORDER BY id')}
        found.update(dict.fromkeys(channels.values()))
        for number, at_ns, raw in base.execute(
                'SELECT topic_id, timestamp, data FROM messages ORDER BY id'):
            yield channels[number], at_ns, bytes(raw)
