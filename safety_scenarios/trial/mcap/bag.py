# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A recording that somebody else made, on a real robot, as the record of a trial.

Nothing was published by us: the hazard begins when a declared predicate on a recorded topic comes
true, and ends when it is false again or after the scenario's all-clear. Where the recording does
not tell when that was, it is refused. Times are those at which the recorder received the messages,
so that latencies carry the uncertainty of no calibration.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
import math
from pathlib import Path
import re
import sqlite3
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import in_words, MissingDependencyError, SettingsError, TraceError
from safety_scenarios.scenario.blocks.onset import ARMED, Edge, ObservedOnset, OnsetWatch
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message
from safety_scenarios.trial.trial import ALL_CLEAR, END, NOMINAL, ONSET, Trial, TrialRecord

try:
    from mcap import records
    from rosbags.highlevel import AnyReader
    from rosbags.highlevel.anyreader import AnyReaderError
    from rosbags.interfaces import MessageDefinitionFormat
except ImportError as error:
    raise MissingDependencyError('reading a bag', 'rosbags', "pip install 'rosbags>=0.11'") \
        from error

from safety_scenarios.trial.mcap.cdr import Codec, UnfitError  # noqa: I100
from safety_scenarios.trial.mcap.definitions import (  # noqa: I100
    codec_of,
    interface,
    standard,
)
from safety_scenarios.trial.mcap.reading import records_of

_ONSET = re.compile(r'([^:\s]{1,200}):([^:<>=\s]{1,200})(?::([a-z_]{1,20}))?\s{0,9}'
                    r'(<=|>=|<|>)\s{0,9}(\S{1,40})')
_REORDERED_NS = 10_000_000
"""By so much messages may be written in another order than they came: less than U."""


@dataclass(frozen=True)
class Onset:
    """When the hazard is there: a limit on a field of a recorded topic."""

    topic: str
    signal: Signal
    when: Edge

    @staticmethod
    def parse(text: str) -> 'Onset':
        """
        Return ``TOPIC:FIELD[:REDUCE] <= NUMBER``, such as ``/scan:ranges:min <= 1.5``.

        :raises SettingsError: the text is none
        """
        match = _ONSET.fullmatch(text.strip())
        try:
            if match is None:
                raise ValueError('it has another form')
            signal = Signal.model_validate({'topic': match[1], 'field': match[2],
                                            'reduce': match[3] or 'none', 'unit': '1'})
            return Onset(match[1], signal, _edge(signal.field, match[4], float(match[5])))
        except (ValueError, ValidationError) as error:
            raise SettingsError(f'--onset: got {text!r}, expected TOPIC:FIELD[:REDUCE] <= NUMBER '
                                f'such as /scan:ranges:min <= 1.5 '
                                f'({in_words(error):.200})') from None

    def holds(self, message: Message) -> bool | None:
        """
        Return whether the hazard is there; None: the message does not tell.

        :raises SettingsError: the message has no such field
        """
        try:
            margin = self.when.margin(self.signal.value(message))
        except LookupError as error:
            raise SettingsError(f'--onset: {error.args[0]}') from None
        return None if margin is None else margin >= 0

    def watch(self) -> OnsetWatch:
        """Return what looks for the hazard's beginning and end, as for one that a sensor tells."""
        return OnsetWatch(ObservedOnset.model_construct(
            topic=self.topic, when=self.when, latency_ms=0.0, uncertainty_ms=0.0,
            release_within_ms=0.0), {self.when.signal: self.signal})


def _edge(name: str, compare: str, limit: float) -> Edge:
    """Return a limit that includes itself, of one that may not."""
    if '=' not in compare:
        limit = math.nextafter(limit, math.inf if compare == '>' else -math.inf)
    return Edge(signal=name, **{'at_most' if '<' in compare else 'at_least': limit})


def read_bag(path: Path, trial: Trial, onset: Onset, *,
             full_name: Callable[[str], str], distro: str = 'jazzy') -> TrialRecord:
    """
    Return the record of a trial that a bag holds.

    :param path: folder or file of a rosbag2, in MCAP or SQLite
    :param trial: what it is judged by
    :param full_name: the scenario's relative topic name to the name in the bag
    :raises TraceError: no bag, a topic of the scenario that is not in it, or no onset in it
    """
    ros = trial.scenario.body
    if not isinstance(ros, RobotBody):
        raise SettingsError(f'--scenario: {trial.scenario.id} is a text scenario, expected one '
                            f'with a ros: block to judge a bag by')
    names = _names(ros, full_name)
    events: list[Event] = []
    try:
        with AnyReader([path], default_typestore=standard(distro)) as reader:
            _check_topics(path, {found.topic for found in reader.connections}, names, onset)
            wanted = [found for found in reader.connections
                      if found.topic in names or found.topic == onset.topic]
            codecs = {found.id: _codec(found, distro) for found in wanted}
            for connection, stamp_ns, raw in reader.messages(connections=wanted):
                message = Message.model_construct(
                    type=connection.msgtype, data=codecs[connection.id].decode(bytes(raw)))
                kind, name = names.get(connection.topic, ('stimulus', connection.topic))
                events.append(Event(kind=kind, name=name, stamps=_stamps(stamp_ns),
                                    message=message))
        _refuse_stepped(path, {found.topic for found in wanted}, len(events))
    except (AnyReaderError, UnfitError, OSError, ValueError, sqlite3.Error) as error:
        raise TraceError(f'{path}: cannot be read as a bag: {error!s:.300}') from None
    return TrialRecord(trial=trial, events=tuple(_marked(path, events, onset, names, ros)))


def _refuse_stepped(path: Path, topics: Collection[str], count: int) -> None:
    """
    Refuse a bag whose recorder's clock was set back while it recorded.

    Readers sort messages by its times, and what came later then stands before what it answers.
    A bag whose messages cannot be seen in the order in which they were written is refused as well,
    such as one whose files are compressed as a whole.

    :param count: how many messages the reader found on these topics
    """
    seen = 0
    for file in [path] if path.is_file() else sorted(path.iterdir()):
        latest: dict[str, int] = {}
        for topic, at_ns in _as_written(file):
            if topic in topics and latest.get(topic, at_ns) - at_ns > _REORDERED_NS:
                raise TraceError(
                    f'{file}: got a message on {topic} {(latest[topic] - at_ns) / 1e6:.0f} ms '
                    f'before the one that was written before it: the clock of the recorder was '
                    f'set back, so that no latency can be told')
            latest[topic] = max(at_ns, latest.get(topic, at_ns))
            seen += topic in topics
    if seen < count:
        raise TraceError(
            f'{path}: got {seen} messages in the order in which they were written, expected '
            f'{count}: nobody can tell whether the clock of the recorder was set back. Convert '
            f'the bag, with no compression or that of single messages or chunks')


def _as_written(file: Path) -> Iterator[tuple[str, int]]:
    """Yield the topic and the time of each message, in the order in which a file holds them."""
    if file.suffix == '.mcap':
        topics: dict[int, str] = {}
        with file.open('rb') as stream:
            for record in records_of(stream, partial=True):
                if isinstance(record, records.Channel):
                    topics[record.id] = record.topic
                elif isinstance(record, records.Message):
                    yield topics.get(record.channel_id, ''), record.log_time
    elif file.suffix == '.db3':
        # As the reader opens it: else files appear beside it, or it fails where none can.
        with closing(sqlite3.connect(f'{file.absolute().as_uri()}?immutable=1',
                                     uri=True)) as found:
            yield from found.execute(
                'SELECT topics.name, messages.timestamp FROM messages JOIN topics '
                'ON messages.topic_id = topics.id ORDER BY messages.id')


def _names(ros: RobotBody, full_name: Callable[[str], str]) -> dict[str, tuple[Any, str]]:
    """Return full name to (kind of event, name in the scenario)."""
    found: dict[str, tuple[Any, str]] = {
        full_name(signal.current): ('stimulus', signal.current)
        for signal in ros.signals.values() if signal.current is not None}
    found |= {full_name(topic.topic): ('feedback', topic.topic) for topic in ros.feedback}
    return found | {full_name(topic.topic): ('command', topic.topic) for topic in ros.commands}


def _check_topics(path: Path, there: set[str], names: Mapping[str, Any], onset: Onset) -> None:
    missing = sorted({onset.topic, *names} - there)
    if missing:
        raise TraceError(f'{path}: got no topic {missing[0]}, expected one of '
                         f'{", ".join(sorted(there))}. Use --remap FROM:=TO if it has another '
                         f'name')


def _codec(connection: Any, distro: str) -> Codec:
    told = connection.msgdef
    if told.format is MessageDefinitionFormat.MSG and told.data.strip():
        return codec_of(connection.msgtype, told.data)
    known = interface(connection.msgtype, None, distro)
    if known is None:
        raise TraceError(f'{connection.topic}: nobody knows the type {connection.msgtype}. '
                         f'Install its package, or record with MCAP, which holds it')
    return known.codec


def _marked(path: Path, events: list[Event], onset: Onset, names: Mapping[str, Any],
            ros: RobotBody) -> Iterator[Event]:
    """Yield the events with the marks of the phases where they belong."""
    if not events:
        raise TraceError(f'{path}: holds no message on the topics of the scenario')
    topic = names.get(onset.topic, (None, onset.topic))[1]
    begin_ns, end_ns = _there(path, [event for event in events if event.name == topic], onset, ros)
    latest_ns = begin_ns + round(ros.all_clear.at_ms * 1e6)
    clear_ns = latest_ns if end_ns is None else min(end_ns, latest_ns)
    marks = {NOMINAL: events[0].stamps.steady_ns, ONSET: begin_ns}
    if clear_ns <= events[-1].stamps.steady_ns:
        marks[ALL_CLEAR] = clear_ns
    waiting = sorted(marks.items(), key=lambda mark: mark[1])
    for event in events:
        while waiting and waiting[0][1] <= event.stamps.steady_ns:
            name, at_ns = waiting.pop(0)
            yield Event(kind='mark', name=name, stamps=_stamps(at_ns), scheduled_ns=at_ns)
        hazard = event.kind == 'stimulus' and event.name == topic and \
            begin_ns <= event.stamps.steady_ns < clear_ns
        yield event.model_copy(update={'hazard': True}) if hazard else event
        if event.name == topic and event.kind != 'stimulus' and not hazard \
                and event.stamps.steady_ns == begin_ns:
            yield event.model_copy(update={'kind': 'stimulus', 'hazard': True})
    yield Event(kind='mark', name=END, stamps=events[-1].stamps)


def _there(path: Path, told: Sequence[Event], onset: Onset, ros: RobotBody) -> \
        tuple[int, int | None]:
    """
    Return when the hazard began, and when it was gone before the scenario's all-clear, if it was.

    :param told: what there is on the topic of the onset
    :raises TraceError: it never began, or nobody knows when it began or whether it was gone
    """
    watch, is_armed, latest_ns = onset.watch(), False, math.inf
    for event in told:
        if event.message is None or event.stamps.steady_ns > latest_ns:
            continue
        watch.take(event.model_copy(update={'kind': 'feedback', 'name': onset.topic}))
        if not is_armed and onset.holds(event.message) is False:
            is_armed = True  # what was there when the recording began is no onset
            watch.take(Event(kind='mark', name=ARMED, stamps=event.stamps))
        if watch.edge is not None:
            latest_ns = watch.edge.stamps.steady_ns + round(ros.all_clear.at_ms * 1e6)
    if watch.problem:
        raise TraceError(f'{path}: {watch.problem.partition(". ")[0]}. Choose another --onset, or '
                         f'an earlier ros.all_clear')
    if watch.edge is None:
        raise TraceError(f'{path}: {onset.when} on {onset.topic} never came to hold after it did '
                         f'not: there is no onset')
    return watch.edge.stamps.steady_ns, \
        None if watch.release is None else watch.release.stamps.steady_ns


def _stamps(at_ns: int) -> Stamps:
    """Return the recorder's time as every clock there is."""
    return Stamps(steady_ns=at_ns, system_ns=at_ns, ros_ns=at_ns)
