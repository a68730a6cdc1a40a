# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A trial as an MCAP file in the layout of rosbag2, and back: every topic, and every event exactly.

Beside one channel a topic, in CDR with its definition, there are two topics with JSON in
``std_msgs/msg/String``, which every reader of ROS recordings accepts (rosbag2's and rosbags refuse
a file with any other encoding than CDR): ``/safety_scenarios/events`` says in order all of each
event but its message, and where that is; ``/safety_scenarios/trial`` says first what was planned
and last how it was measured. What CDR cannot hold of a message, such as a Python float in a
float32 field, stands in its event.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import lru_cache
import os
from pathlib import Path
from typing import Any

from safety_scenarios.errors import MissingDependencyError, TraceError
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.interfaces import stamped
from safety_scenarios.scenario.invariant import Judgement
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.trial.session import Observer, TraceContext
from safety_scenarios.trial.trial import PlannedTrial, Trial, TrialRecord

try:
    from mcap.writer import CompressionType, Writer
    import rosbags.typesys  # noqa: F401  (the modules below need it)
except ImportError as error:
    raise MissingDependencyError('a recording in MCAP', 'mcap or rosbags',
                                 "pip install 'mcap>=1.5' 'rosbags>=0.11'") from error
from safety_scenarios.trial.mcap.cdr import UnfitError  # noqa: I100
from safety_scenarios.trial.mcap.reading import (  # noqa: I100
    as_line,
    Definition,
    EVENTS,
    FORMAT,
    Interface,
    interface,
    METADATA,
    metadata,
    NOTE,
    QOS,
    Reading,
    RECORD_SHA256,
    record_sha256_in,
    STRING,
    Topic,
    TRIAL,
)
from safety_scenarios.trial.plan_data import (  # noqa: I100
    Change,
    Loss,
    plan_from_data,
    plan_to_data,
    refuse_unplanned,
    Resolve,
    to_text,
)

Include = Callable[[str, str], bool]
"""(topic, interface type) to whether its messages are recorded."""

_BULKY = ('sensor_msgs/msg/Image', 'sensor_msgs/msg/CompressedImage',
          'sensor_msgs/msg/PointCloud2')
_CLOCK = 'rosgraph_msgs/msg/Clock'
_CHUNK = 256 * 1024
"""Bytes that are compressed together: small enough to lose little in a crash."""
_FLUSH_NS = 1_000_000_000
"""A crash loses at most the events of this long."""
_LATEST_NS = 2**63 - 1
"""The largest time that rosbag2 holds."""


def without_bulk(topic: str, type_name: str) -> bool:
    """Include everything but images and point clouds."""
    return type_name not in _BULKY


def everything(topic: str, type_name: str) -> bool:
    """Include images and point clouds too."""
    return True


def absolute(name: str) -> str:
    """Return a topic's name as it is without namespace and remapping."""
    return f'/{name.lstrip("/")}'


class McapWriter:
    """
    Writes a trial's events as they happen, in constant memory but for the index of the chunks.

    After a crash the file can be read up to what was flushed: all but the events of the last
    second before the last one. It is not synchronised with the disk: a lost machine may lose more.

    :param folder: of this recording, new; its name becomes the file's
    :param definition: knows the text of .msg files; without it only standard interfaces are known
    :param include: asked for stimuli and feedback that no signal of the scenario reads; the event
        of a message that is left out says so, and is read back with a message without fields
    :param topic: gives the full name of a topic, as the node's namespace and remapping make it
    :raises TraceError: the file exists, or cannot be written
    """

    def __init__(self, folder: Path, trial: Trial, *, definition: Definition | None = None,
                 include: Include = without_bulk, topic: Callable[[str], str] = absolute) -> None:
        self._folder = folder
        self._plan = to_text({'format': FORMAT, 'trial': plan_to_data(trial)})
        self._definition, self._include = definition, include
        self._full_name = lru_cache(maxsize=None)(topic)
        self._signals = {name for signal in trial.scenario.body.signals.values()
                         for name in (signal.topic, signal.current)}
        for name in _planned_types(trial):
            self._interface(name)
        self._string = self._find_interface(STRING).codec
        self._clock = self._find_interface(_CLOCK).codec
        self._channels: dict[tuple[str, str], tuple[int, Topic]] = {}
        self._sequences: Counter[str] = Counter()
        self._notes: Counter[str] = Counter()
        self._events = 0
        self._first_ns, self._last_ns, self._flushed_ns = _LATEST_NS, 0, 0
        self._is_broken = False
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = (folder / f'{folder.name}_0.mcap').open('xb')
        except OSError as error:
            raise self._unwritten(error) from error
        self._writer = Writer(self._file, chunk_size=_CHUNK, compression=CompressionType.ZSTD)
        self._writer.start(profile='ros2', library='safety_scenarios')

    @property
    def notes(self) -> Sequence[str]:
        """Return what is not on the topics as it was sent, and how often."""
        return tuple(f'{text} ({count} x)' for text, count in self._notes.items())

    def add(self, event: Event) -> None:
        """
        Write one event.

        :raises TraceError: the disk is full, or a plug-in made what is no plain data. It is
            raised once: what comes after is not written, and the recording stays unfinished, as
            it does when Ctrl-C interrupts the writing of an event
        """
        if self._is_broken:
            return
        self._is_broken = True  # unless all of it can be written
        try:
            self._add(event)
        except OSError as error:
            raise self._unwritten(error) from error
        self._is_broken = False

    def finish(self, measuring: Measuring, judgements: Sequence[Judgement] = (),
               chain: str = '') -> None:
        """
        Write what is known when the trial is over, the index, and ``metadata.yaml``.

        :param chain: head of the chain of hashes of the trial's journal; empty: it has none
        :raises TraceError: the disk is full
        """
        if self._is_broken:
            return
        self._is_broken = True  # there is nothing to add any more
        try:
            if not self._events:
                self._write_text(self._plan, 0)
            self._write_text(to_text({
                'events': self._events, 'notes': self.notes, 'measuring': measuring.model_dump(),
                'judgements': tuple(one.model_dump() for one in judgements)}), self._last_ns)
            if chain:
                self._writer.add_metadata(METADATA, {RECORD_SHA256: chain})
            self._writer.finish()  # type: ignore[no-untyped-call]
            self._file.close()
            text = metadata(Path(self._file.name).name,
                            (topic for _, topic in self._channels.values()),
                            self._first_ns, self._last_ns)
            unfinished = self._folder / 'metadata.yaml.part'
            unfinished.write_text(text, encoding='utf-8')
            os.replace(unfinished, self._folder / 'metadata.yaml')
        except OSError as error:
            raise self._unwritten(error) from error

    def close(self) -> None:
        """Close the file; without ``finish`` before it stays as unfinished as after a crash."""
        with suppress(OSError):  # ``add`` or ``finish`` has raised it, or nobody asked for an end
            self._file.close()

    def _interface(self, name: str) -> Interface | None:
        return interface(name, self._definition)

    def _find_interface(self, name: str) -> Interface:
        found = interface(name, None)
        assert found is not None
        return found

    def _add(self, event: Event) -> None:
        stamps = event.stamps
        log_ns = _time(stamps.system_ns if stamps.received_ns is None else stamps.received_ns)
        if not self._events:
            self._write_text(self._plan, log_ns)
        publish_ns = log_ns if stamps.source_ns is None else _time(stamps.source_ns)
        line = as_line(event, self._events)
        if event.message is not None:
            line['message'] = self._message(event, event.message, log_ns, publish_ns)
        elif event.kind in ('response', 'say'):
            said = self._string.encode({'data': _encodable(event.text)})
            self._write(self._full_name(event.name), STRING, said, log_ns, publish_ns)
        elif event.kind == 'clock':
            sec, nanosec = divmod(stamps.ros_ns, 1_000_000_000)
            tick = self._clock.encode({'clock': {'sec': sec, 'nanosec': nanosec}})
            self._write(self._full_name(event.name), _CLOCK, tick, log_ns, publish_ns)
        self._write(EVENTS, STRING, self._string.encode({'data': to_text(line)}), log_ns, log_ns)
        self._events += 1
        if stamps.steady_ns - self._flushed_ns >= _FLUSH_NS:
            self._flushed_ns = stamps.steady_ns
            self._writer.flush()  # type: ignore[no-untyped-call]

    def _write_text(self, text: str, log_ns: int) -> None:
        self._write(TRIAL, STRING, self._string.encode({'data': text}), log_ns, log_ns)

    def _message(self, event: Event, message: Message, log_ns: int,
                 publish_ns: int) -> dict[str, Any]:
        """Record a message, and return where it is and what its copy there has lost."""
        name, kind = event.name, message.type
        if event.kind != 'command' and name not in self._signals \
                and not self._include(name, kind):
            self._notes[f'{name}: {kind} was left out by choice'] += 1
            return {'type': kind, 'left_out': True}
        known = self._interface(kind)
        if known is None:
            self._notes[f'{name}: there is no definition of {kind}, so that it is recorded '
                        f'as JSON'] += 1
            text = self._string.encode({'data': to_text(message.data)})
            return {'type': kind, **self._write(
                f'{self._full_name(name)}/json', STRING, text, log_ns, publish_ns,
                f'{kind} as JSON: its definition was not known')}
        try:
            sent = known.codec.encode(_as_sent(event, message, known))
            loss = Loss.between(message.data, known.codec.decode(sent))
        except UnfitError as error:
            self._notes[f'{name}: a message did not fit {kind}, and is in its event only'] += 1
            return {'type': kind, 'data': message.data, 'unfit': str(error)}
        place = self._write(self._full_name(name), kind, sent, log_ns, publish_ns)
        return place | {key: value for key, value in vars(loss).items() if value}

    def _write(self, name: str, kind: str, data: bytes, log_ns: int, publish_ns: int,
               note: str = '') -> dict[str, Any]:
        """Write one message and return where it is."""
        found = self._channels.get((name, kind))
        if found is None:
            found = self._channels[name, kind] = self._channel(name, kind, note)
        channel, topic = found
        sequence = self._sequences[name]
        self._writer.add_message(channel, log_ns, data, publish_ns, sequence)
        self._sequences[name] = sequence + 1
        topic.messages += 1
        self._first_ns = min(self._first_ns, log_ns)
        self._last_ns = max(self._last_ns, log_ns)
        return {'topic': name, 'sequence': sequence}

    def _channel(self, name: str, kind: str, note: str) -> tuple[int, Topic]:
        known = self._interface(kind)
        assert known is not None
        schema = self._writer.register_schema(kind, 'ros2msg', known.schema.encode('utf-8'))
        return self._writer.register_channel(name, 'cdr', schema, {
            'offered_qos_profiles': QOS, **({NOTE: note} if note else {})}), Topic(name, kind)

    def _unwritten(self, error: OSError) -> TraceError:
        return TraceError(f'{self._folder}: cannot be written: {error.strerror}. Free some space, '
                          f'or name another folder')


class McapRecording(Observer):
    """Writes each trial's recording when the trial has ended, so that no measurement waits."""

    def __init__(self, context: TraceContext) -> None:
        self._context = context
        self._include = everything if context.settings.record_images else without_bulk

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """
        Write the recording of a trial that has begun.

        :raises TraceError: the disk is full, or the folder is gone
        """
        if not record.events:
            return
        context = self._context
        with closing(McapWriter(
                context.place(record.trial.trial_id), record.trial,
                definition=context.definition, include=self._include,
                topic=context.full_name)) as recording:
            for event in record.events:
                recording.add(event)
            recording.finish(record.measuring, record.judgements, record.chain)


def read_mcap(path: Path, resolve: Resolve, change: Change | None = None, *,
              partial: bool = False, planned: PlannedTrial | None = None) -> TrialRecord:
    """
    Return the record of a trial from its recording, equal to the one that was written.

    A NaN comes back as ``math.nan``. What was cut off by a crash gets a ``fault`` at its end, so
    that it is never judged as if it were whole.

    :param path: the recording's folder, or its MCAP file
    :param resolve: (kind, name) to plug-in class, such as ``registry.resolve``
    :param change: alters the trial's scenario before it is read
    :param partial: read an unfinished recording too
    :param planned: what must have been planned in it
    :raises TraceError: no recording, an unfinished or a damaged one
    :raises InputError: the scenario needs a plug-in that is not installed
    """
    files = sorted(path.glob('*.mcap')) if path.is_dir() else [path]
    if len(files) != 1:
        raise TraceError(f'{path}: got {len(files)} MCAP files, expected one. Name the folder of '
                         f'one trial, or its file')
    reading = Reading(files[0], partial)
    try:
        if planned is not None:
            refuse_unplanned(reading.plan, planned)
        trial = plan_from_data(reading.plan, resolve, change)
    except TraceError as error:
        raise TraceError(f'{files[0]}: {error}') from error
    return TrialRecord(trial=trial, events=reading.all_events(), measuring=reading.measuring,
                       judgements=reading.judgements)


def unlike_record(folder: Path, chain: str) -> str:
    """
    Return why a recording cannot be that of a record; empty: it names the record's hash.

    :param chain: head of the chain of hashes of the trial's journal
    """
    files = sorted(folder.glob('*.mcap'))
    if len(files) != 1:
        return f'got {len(files)} MCAP files, expected one'
    try:
        found = record_sha256_in(files[0])
    except TraceError as error:
        return str(error)
    return '' if found == chain else (
        f'got a recording of the record {found[:12] or "(none)"}, expected {chain[:12]} as in the '
        f'journal')


def _planned_types(trial: Trial) -> set[str]:
    """Return the types that a plan names, so that no trial waits for their definitions."""
    body = trial.scenario.body
    topics = (*body.commands, *body.feedback)
    types = {plugin.interface() for plugin in (*trial.nominal, *trial.hazard)}
    types |= {body.onset.message} if body.onset is not None else set()
    return {name for name in {*types, *(topic.message for topic in topics)} - {'auto'} if name}


def _as_sent(event: Event, message: Message, known: Interface) -> Mapping[str, Any]:
    """Return the data with the header stamp that the link wrote into it."""
    header_ns = event.stamps.header_ns
    if header_ns is None or not known.codec.has_header \
            or not isinstance(message.data.get('header', {}), Mapping):
        return message.data
    return stamped(message, header_ns).data


def _time(stamp_ns: int) -> int:
    """Return a stamp that MCAP and rosbag2 can hold; the event has the exact one."""
    return min(max(stamp_ns, 0), _LATEST_NS)


def _encodable(text: str | None) -> str:
    """Escape half a surrogate pair, which no UTF-8 holds; the event has the exact text."""
    return (text or '').encode('utf-8', 'backslashreplace').decode('utf-8')
