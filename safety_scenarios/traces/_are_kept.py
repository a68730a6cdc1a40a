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

"""Which events of a record an ARE trace keeps, and what it says of each."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
import json
from json.encoder import encode_basestring
import math
from typing import Any, NamedTuple

from pydantic_core import to_json

from safety_scenarios.model.event import Event
from safety_scenarios.model.message import Message
from safety_scenarios.model.result import TrialResult, Verdict
from safety_scenarios.model.trial import TrialRecord

_PERIODIC = ('stimulus', 'command', 'feedback')
_UNSEEN = ('echo', 'clock')
_MAX_SEQUENCE = 16
_MAX_TEXT = 100_000
_SEQUENCES = {tuple, list}
_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(',', ':')).encode


class Kept(NamedTuple):
    """One event that is written."""

    event: Event
    repeats: int
    """Messages on its topic left out since the last one written."""
    payload: str
    """What is compared and shown of its message, as JSON; empty without a message."""
    is_onset: bool


def kept(record: TrialRecord, result: TrialResult, most: int) -> Iterator[Kept]:
    """
    Yield what is kept, in order.

    :param most: bound on the messages that are kept only because they differ
    """
    onset, always = record.onset, _always(record, result)
    latest: dict[tuple[str, str], tuple[Any, int]] = {}
    shown, written, dropped = False, 0, 0
    for index, event in enumerate(record.events):
        kind, message = event.kind, event.message
        if kind in _UNSEEN:
            continue
        payload = '' if message is None else _payload(message)
        is_onset = not shown and _begins_hazard(event, onset)
        shown = shown or is_onset
        if kind not in _PERIODIC:
            yield Kept(event, 0, payload, is_onset)
            continue
        key = kind, event.name
        content = payload, event.hazard, event.truth
        before, repeats = latest.get(key, (None, 0))
        if is_onset or index in always or before is None:
            yield Kept(event, repeats, payload, is_onset)
        elif before != content and written < most:
            written += 1
            yield Kept(event, repeats, payload, is_onset)
        else:
            dropped += before != content
            latest[key] = content, repeats + 1
            continue
        latest[key] = content, 0
    if dropped:
        note = record.events[-1].model_copy(update={
            'kind': 'mark', 'name': 'left_out', 'message': None, 'truth': {}, 'hazard': False,
            'text': f'{dropped} changed messages beyond the first {most}'})
        yield Kept(note, 0, '', False)


def describe(found: Kept) -> str:
    """Return an event as JSON text, with the exact nanoseconds of every clock."""
    event, stamps = found.event, found.event.stamps
    told = f'{{"kind":"{event.kind}","name":{_name(event.name)}'
    if event.hazard:
        told += ',"hazard":true'
    if event.message is not None:
        told += f',"type":{_name(event.message.type)},"data":{found.payload}'
    if event.truth:
        told += f',"truth":{as_json(short(event.truth))}'
    if event.text is not None:
        told += f',"text":{quoted(short(event.text))}'
    if event.trial_id is not None:
        told += f',"trial":{quoted(event.trial_id)}'
    if event.scheduled_ns is not None:
        told += f',"scheduled_ns":{event.scheduled_ns}'
    if found.repeats:
        told += f',"repeats":{found.repeats}'
    told += (f',"stamps":{{"steady_ns":{stamps.steady_ns},"system_ns":{stamps.system_ns},'
             f'"ros_ns":{stamps.ros_ns}')
    if stamps.source_ns is not None:
        told += f',"source_ns":{stamps.source_ns}'
    if stamps.received_ns is not None:
        told += f',"received_ns":{stamps.received_ns}'
    if stamps.header_ns is not None:
        told += f',"header_ns":{stamps.header_ns}'
    return told + '}}'


def quoted(text: str) -> str:
    """Return a JSON string that UTF-8 can hold: half of a surrogate pair is escaped."""
    found = encode_basestring(text)
    return found if found.isascii() else found.encode('utf-8', 'backslashreplace').decode('utf-8')


def as_json(value: Any) -> str:
    """Return JSON text that UTF-8 can hold."""
    text = _encode(value)
    return text if text.isascii() else text.encode('utf-8', 'backslashreplace').decode('utf-8')


def short(value: Any) -> Any:
    """Return data that JSON can hold: no NaN, long sequences as counts, long text cut."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: short(inner) for key, inner in value.items()}
    if isinstance(value, (tuple, list)):
        return {'length': len(value)} if len(value) > _MAX_SEQUENCE else [
            short(inner) for inner in value]
    if isinstance(value, str):
        return value if len(value) <= _MAX_TEXT else value[:_MAX_TEXT] + '...'
    if value is None or isinstance(value, int):
        return value
    return str(value)


@lru_cache(maxsize=1024)
def _name(text: str) -> str:
    return quoted(text)


def _payload(message: Message) -> str:
    """Return a message without its header as JSON; finite numbers alone need no care."""
    data = message.data
    if 'header' in data:
        data = {key: value for key, value in data.items() if key != 'header'}
    if not _SEQUENCES.intersection(map(type, data.values())):
        try:
            text = to_json(data).decode()
        except ValueError:  # half a surrogate pair
            text = '['
        if len(text) < _MAX_TEXT and '[' not in text and 'NaN' not in text \
                and 'Infinity' not in text:
            return text
    return as_json(short(data))


def _always(record: TrialRecord, result: TrialResult) -> set[int]:
    """Return the places of the reacting and of the violating messages."""
    onset, latency = record.onset, result.latency
    if onset is None:
        return set()
    begin_ns = onset.stamps.steady_ns
    wanted = [begin_ns + round(finding.at_ms * 1e6) for finding in result.findings
              if finding.verdict is Verdict.FAIL and finding.at_ms is not None]
    if latency is not None:
        wanted += [latency.onset_steady_ns + found.callback_ns
                   for found in (latency.reaction, latency.confirmed)
                   if found is not None]
    return _valid_at(record.events, sorted(wanted))


def _valid_at(events: Sequence[Event], times_ns: Sequence[int]) -> set[int]:
    """Return the places of the last message of each topic at some times (steady, ascending)."""
    found: set[int] = set()
    latest: dict[str, int] = {}
    done = 0
    for index, event in enumerate(events if times_ns else ()):
        while done < len(times_ns) and event.stamps.steady_ns > times_ns[done]:
            found.update(latest.values())
            done += 1
        if done == len(times_ns):
            return found
        if event.kind in ('command', 'feedback'):
            latest[event.name] = index
    return found.union(latest.values())


def _begins_hazard(event: Event, onset: Event | None) -> bool:
    """A silence begins with a mark, which may have been moved to when it was due."""
    return event is onset or (onset is not None and onset.kind == event.kind == 'mark'
                              and onset.name == event.name)
