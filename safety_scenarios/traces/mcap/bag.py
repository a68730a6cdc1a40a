# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
A recording that somebody else made, on a real robot, as the record of a trial.

Nothing was published by us: the hazard begins when a declared predicate on a recorded topic comes
true, and ends when it is false again or after the scenario's all-clear. Times are those at which
the recorder received the messages, so that latencies carry the uncertainty of no calibration.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
import operator
from pathlib import Path
import re
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import MissingDependencyError, SettingsError, TraceError
from safety_scenarios.model.event import Event, Stamps
from safety_scenarios.model.message import Message
from safety_scenarios.model.scenario import RosBlock
from safety_scenarios.model.signal import Signal
from safety_scenarios.model.trial import ALL_CLEAR, END, NOMINAL, ONSET, Trial, TrialRecord

try:
    from rosbags.highlevel import AnyReader
    from rosbags.highlevel.anyreader import AnyReaderError
    from rosbags.interfaces import MessageDefinitionFormat
except ImportError as error:
    raise MissingDependencyError('reading a bag', 'rosbags', "pip install 'rosbags>=0.11'") \
        from error

from safety_scenarios.traces.mcap.cdr import Codec, UnfitError
from safety_scenarios.traces.mcap.definitions import codec_of, Definition, interface, standard

_ONSET = re.compile(r'([^:\s]{1,200}):([^:<>=\s]{1,200})(?::([a-z_]{1,20}))?\s{0,9}'
                    r'(<=|>=|<|>)\s{0,9}(\S{1,40})')
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    '<=': operator.le, '>=': operator.ge, '<': operator.lt, '>': operator.gt}


@dataclass(frozen=True)
class Onset:
    """When the hazard is there: a limit on a field of a recorded topic."""

    topic: str
    signal: Signal
    compare: str
    limit: float

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
            return Onset(match[1], Signal.model_validate(
                {'topic': match[1], 'field': match[2], 'reduce': match[3] or 'none', 'unit': '1'}),
                match[4], float(match[5]))
        except (ValueError, ValidationError) as error:
            raise SettingsError(f'--onset: got {text!r}, expected TOPIC:FIELD[:REDUCE] <= NUMBER '
                                f'such as /scan:ranges:min <= 1.5 ({str(error)[:200]})') from None

    def holds(self, message: Message) -> bool:
        """
        Return whether the hazard is there; what a message does not tell is none.

        :raises SettingsError: the message has no such field
        """
        try:
            value = self.signal.value(message)
        except LookupError as error:
            raise SettingsError(f'--onset: {error.args[0]}') from None
        return value is not None and _COMPARE[self.compare](value, self.limit)


def read_bag(path: Path, trial: Trial, onset: Onset, *,
             full_name: Callable[[str], str], definition: Definition | None = None,
             distro: str = 'jazzy') -> TrialRecord:
    """
    Return the record of a trial that a bag holds.

    :param path: folder or file of a rosbag2, in MCAP or SQLite
    :param trial: what it is judged by
    :param full_name: the scenario's relative topic name to the name in the bag
    :param definition: knows .msg files that are installed; for bags that hold no definitions
    :raises TraceError: no bag, a topic of the scenario that is not in it, or no onset in it
    """
    ros = trial.scenario.ros
    if ros is None:
        raise SettingsError(f'--scenario: {trial.scenario.id} is a text scenario, expected one '
                            f'with a ros: block to judge a bag by')
    names = _names(ros, full_name)
    events: list[Event] = []
    try:
        with AnyReader([path], default_typestore=standard(distro)) as reader:
            _check_topics(path, {found.topic for found in reader.connections}, names, onset)
            wanted = [found for found in reader.connections
                      if found.topic in names or found.topic == onset.topic]
            codecs = {found.id: _codec(found, definition, distro) for found in wanted}
            for connection, stamp_ns, raw in reader.messages(connections=wanted):
                message = Message.model_construct(
                    type=connection.msgtype, data=codecs[connection.id].decode(bytes(raw)))
                kind, name = names.get(connection.topic, ('stimulus', connection.topic))
                events.append(Event(kind=kind, name=name, stamps=_stamps(stamp_ns),
                                    message=message))
    except (AnyReaderError, UnfitError, OSError, ValueError) as error:
        raise TraceError(f'{path}: cannot be read as a bag: {error!s:.300}') from None
    return TrialRecord(trial=trial, events=tuple(_marked(path, events, onset, names, ros)))


def _names(ros: RosBlock, full_name: Callable[[str], str]) -> dict[str, tuple[Any, str]]:
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


def _codec(connection: Any, definition: Definition | None, distro: str) -> Codec:
    told = connection.msgdef
    if told.format is MessageDefinitionFormat.MSG and told.data.strip():
        return codec_of(connection.msgtype, told.data)
    known = interface(connection.msgtype, definition, distro)
    if known is None:
        raise TraceError(f'{connection.topic}: nobody knows the type {connection.msgtype}. '
                         f'Install its package, or record with MCAP, which holds it')
    return known.codec


def _marked(path: Path, events: list[Event], onset: Onset, names: Mapping[str, Any],
            ros: RosBlock) -> Iterator[Event]:
    """Yield the events with the marks of the phases where they belong."""
    if not events:
        raise TraceError(f'{path}: holds no message on the topics of the scenario')
    topic = names.get(onset.topic, (None, onset.topic))[1]
    begin_ns, end_ns = None, None
    before: bool | None = None
    for event in events:
        if event.name != topic or event.message is None:
            continue
        holds, at_ns = onset.holds(event.message), event.stamps.steady_ns
        if begin_ns is None and holds and before is False:
            begin_ns = at_ns
        elif begin_ns is not None and end_ns is None and not holds:
            end_ns = at_ns
        before = holds
    if begin_ns is None:
        raise TraceError(f'{path}: {onset.signal.field} on {onset.topic} never came to be '
                         f'{onset.compare} {onset.limit:g} after it was not: there is no onset')
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


def _stamps(at_ns: int) -> Stamps:
    """Return the recorder's time as every clock there is."""
    return Stamps(steady_ns=at_ns, system_ns=at_ns, ros_ns=at_ns)
