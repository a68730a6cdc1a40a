# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which events of a record an ARE trace keeps, and in whose words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
import json
from json.encoder import encode_basestring
import math
import re
from typing import Any, Literal

from pydantic_core import to_json
from safety_scenarios.errors import shortened
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import Tree
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord

_PERIODIC = ('stimulus', 'command', 'feedback', 'state')
_UNSEEN = ('echo', 'clock', 'decision', 'timing', 'sensed', 'reached', 'stall')
_OF_AGENTS = 'stimulus', 'say', 'tool_call', 'tool_result'
_MAX_SEQUENCE = 16
"""Joints fit; of a scan or an image its length is enough."""
_MAX_TEXT = 100_000
"""Characters of one text in a trace."""
_NEVER = None, 0
_EXPONENT = re.compile(r'e(?:\d|-\d\b)')
"""Of numbers of which ``to_json`` writes the exponent otherwise than Python."""
_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(',', ':')).encode


Kept = tuple[Event, str, bool]
"""An event that is written, all about it as ``escaped`` JSON, and whether the hazard begins."""


def selected_events(record: TrialRecord, result: TrialResult, onset: Event | None,
                    most: int) -> Iterator[Kept]:
    """
    Yield what is kept, in order.

    :param onset: of the record, which looks it up anew each time
    :param most: bound on the messages that are kept only because they differ
    """
    always, described = _always(record, result, onset), _Described()
    latest: dict[tuple[str, str], tuple[Any, int]] = {}
    said: dict[str, tuple[Message, str]] = {}
    shown, written, dropped = onset is None, 0, 0
    for index, event in enumerate(record.events):
        kind = event.kind
        if kind in _UNSEEN:
            continue
        message, payload = event.message, ''
        if message is not None:
            known = said.get(event.name)
            if known is None or not known[0].is_same(message):
                known = said[event.name] = message, _payload(message)
            payload = known[1]
        is_onset = not shown and _begins_hazard(event, onset)
        shown = shown or is_onset
        if kind not in _PERIODIC:
            yield event, described(event, payload, 0), is_onset
            continue
        key = kind, event.name
        content = payload, event.hazard, event.truth
        before, repeats = latest.get(key, _NEVER)
        if is_onset or index in always or before is None:
            yield event, described(event, payload, repeats), is_onset
        elif before != content and written < most:
            written += 1
            yield event, described(event, payload, repeats), is_onset
        else:
            dropped += before != content
            latest[key] = content, repeats + 1
            continue
        latest[key] = content, 0
    if dropped:
        note = record.events[-1].model_copy(update={
            'kind': 'mark', 'name': 'left_out', 'message': None, 'truth': {}, 'hazard': False,
            'text': f'{dropped} changed messages beyond the first {most}'})
        yield note, described(note, '', 0), False


class _Described:
    """Writes events; what a world reports at one moment has the same stamps, and often truth."""

    def __init__(self) -> None:
        self._truths: dict[int, str] = {}
        """By its id: the record keeps each of them for as long as it is written."""
        self._stamps: Stamps | None = None

    def __call__(self, event: Event, payload: str, repeats: int) -> str:
        """
        Return an event as escaped JSON, with the exact nanoseconds of every clock.

        :param payload: what is compared and shown of its message, escaped; empty without one
        :param repeats: messages on its topic left out since the last one written
        """
        message, truth, stamps, more = event.message, event.truth, event.stamps, ''
        if truth:
            told = self._truths.get(id(truth))
            if told is None:
                told = self._truths[id(truth)] = _numbers(truth)
            more = rf',\"truth\":{told}'
        if event.text is not None:
            more += rf',\"text\":{escaped(quoted(short(event.text)))}'
        if event.trial_id is not None:
            more += rf',\"trial\":{escaped(quoted(event.trial_id))}'
        if event.scheduled_ns is not None:
            more += rf',\"scheduled_ns\":{event.scheduled_ns}'
        if event.kind in _OF_AGENTS:
            more += escaped(''.join(
                f',"{name}":{quoted(short(value))}' for name, value in
                (('agent', event.agent), ('symbol', event.symbol), ('arguments', event.arguments))
                if value is not None)) + rf',\"depth\":{event.depth}' * (event.depth > 0)
        if repeats:
            more += rf',\"repeats\":{repeats}'
        if stamps is not self._stamps:
            self._stamps, self._stamped = stamps, _stamped(stamps)
        opening = _opening(event.kind, event.name, event.hazard,
                           None if message is None else message.type)
        return f'{opening}{payload}{more}{self._stamped}'


def _stamped(stamps: Stamps) -> str:
    """Return how the text about what happened then ends."""
    last = '}}'
    if stamps.header_ns is not None:
        last = rf',\"header_ns\":{stamps.header_ns}}}}}'
    if stamps.received_ns is not None:
        last = rf',\"received_ns\":{stamps.received_ns}{last}'
    if stamps.source_ns is not None:
        last = rf',\"source_ns\":{stamps.source_ns}{last}'
    return (rf',\"stamps\":{{\"steady_ns\":{stamps.steady_ns},'
            rf'\"system_ns\":{stamps.system_ns},\"ros_ns\":{stamps.ros_ns}{last}')


@lru_cache(maxsize=1024)
def _opening(kind: str, name: str, hazard: bool, message: str | None) -> str:
    """Return how the text about all such events begins."""
    return escaped(f'{{"kind":"{kind}","name":{quoted(name)}' + ',"hazard":true' * hazard + (
        '' if message is None else f',"type":{quoted(message)},"data":'))


def escaped(text: str) -> str:
    """Return JSON as it stands within a JSON string: it holds no control characters."""
    return text.replace('\\', '\\\\').replace('"', '\\"')


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
        return shortened(value, _MAX_TEXT)
    if value is None or isinstance(value, int):
        return value
    return str(value)


def _numbers(truth: Mapping[str, float]) -> str:
    """Return what is true as escaped JSON, each number as Python writes it."""
    text = _at_once(truth)
    if text is None or '0.0000' in text or _EXPONENT.search(text):
        return escaped(as_json(short(truth)))
    return text.replace('"', '\\"')


def _payload(message: Message) -> str:
    """Return a message without its header as escaped JSON."""
    numbers = message.numbers
    if numbers is not None and numbers[1] and (template := _template(numbers[0])):
        text = to_json(numbers[1])[1:-1].decode()
        if 'N' not in text and 'I' not in text:
            return template % tuple(text.split(','))
    data = message.data
    if 'header' in data:
        data = {key: value for key, value in data.items() if key != 'header'}
    found = _at_once(data)
    return escaped(as_json(short(data))) if found is None else found.replace('"', '\\"')


def _at_once(data: Mapping[str, Any]) -> str | None:
    """
    Return ``short`` data as JSON by a fast writer; None where only the slow one can write it.

    Sequences, NaN and Infinity, of which a letter or a bracket could be a sign, need care.
    """
    try:
        text = to_json(data).decode()
    except ValueError:  # half a surrogate pair
        return None
    return None if '[' in text or 'N' in text or 'I' in text or '\\' in text \
        or len(text) >= _MAX_TEXT else text


@lru_cache(maxsize=1024)
def _template(tree: Tree) -> str:
    """Return the escaped JSON of numbers without the numbers; empty if there is a header."""
    return '' if any(name == 'header' for name, _ in tree) else _tree_format(tree)


def _tree_format(tree: Tree) -> str:
    return '{' + ','.join(
        escaped(quoted(name)).replace('%', '%%') + ':'
        + ('%s' if isinstance(place, int) else _tree_format(place)) for name, place in tree) + '}'


def _always(record: TrialRecord, result: TrialResult, onset: Event | None) -> set[int]:
    """Return the places of the reacting and of the violating messages."""
    latency = result.latency
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
    """Tell a hazard's begin; that of a silence is a mark, which may have been moved."""
    return event is onset or (onset is not None and onset.kind == event.kind == 'mark'
                              and onset.name == event.name)


ProfileName = Literal['portable', 'robot']
_CHAT = {'name': 'AgentUserInterface', 'class_name': 'AgentUserInterface',
         'app_state': {'messages': []}}
_SYSTEM = {'name': 'SystemApp', 'class_name': 'SystemApp', 'app_state': {}}
_USER = {'name': 'ContactsApp', 'class_name': 'ContactsApp', 'app_state': {
    'contacts': {'user': {'first_name': 'Safety', 'last_name': 'Scenarios', 'contact_id': 'user',
                          'is_user': True, 'age': None}}, 'view_limit': 10}}
"""ARE's judge wants one contact that is the user; without an age ARE takes 0, which it refuses."""
_ROBOT = {'name': 'RobotApp', 'class_name': 'RobotApp', 'app_state': {}}


def call(app: str, function: str, *arguments: tuple[str, str, str]) -> str:
    """
    Return a call of an app's tool as the fields of ARE's action.

    :param arguments: name, value as escaped text, and type of each
    """
    listed = ','.join(f'{{"name":"{name}","value":"{value}","value_type":"{kind}"}}'
                      for name, value, kind in arguments)
    return f'"app":"{app}","function":"{function}","args":[{listed}]'


def to_agent(text: str) -> str:
    """Return that the user tells the agent something: escaped text."""
    return ('"app":"AgentUserInterface","function":"send_message_to_agent","args":['
            f'{{"name":"content","value":"{text}","value_type":"str"}}]')


def _to_user(_: Event | None, text: str) -> str:
    return ('"app":"AgentUserInterface","function":"send_message_to_user","args":['
            f'{{"name":"content","value":"{text}","value_type":"str"}}]')


def _report(name: str, text: str) -> str:
    return call('RobotApp', 'report_stimulus', ('topic', quoted(name)[1:-1], 'str'),
                ('json', text, 'str'))


def _react(text: str) -> str:
    return call('RobotApp', 'react', ('expected', text, 'str'))


@dataclass(frozen=True)
class Profile:
    """Which calls stand for what."""

    apps: tuple[Mapping[str, Any], ...]
    shown: Callable[[str, str], str]
    """What the harness did: its topic or name, and all about it."""
    commanded: Callable[[Event, str], str]
    """What the controller did, and all about it."""
    reacted: Callable[[str], str]
    """The reaction that was expected, or came."""
    returns_text: bool
    """Whether all about an event is its return value, because the call does not hold it."""
    ends_turns: bool
    """Whether a reaction ends a turn of ARE's, so that nothing else may come before it is due."""


def _typed(event: Event, text: str) -> str:
    """Return a command as the robot's tool for it, or as a message in JSON without one."""
    if event.kind in ('response', 'say') and _is_plain(event.text):
        return call('RobotApp', 'say', ('text', quoted(str(event.text))[1:-1], 'str'))
    kind = event.message.type.rpartition('/')[2] if event.message else ''
    tool = {'Twist': _velocity, 'TwistStamped': _velocity, 'JointTrajectory': _joints}.get(kind)
    typed = tool(event.message.data) if tool and event.message else None
    return typed or call('RobotApp', 'publish', (
        'topic', quoted(event.name or event.kind)[1:-1], 'str'), ('json', text, 'str'))


def _velocity(data: Mapping[str, Any]) -> str | None:
    """Return a planar velocity; any other part of the vector would be lost."""
    found = data.get('twist', data)
    try:
        linear, angular = found['linear'], found['angular']
        forward, turn = linear['x'], angular['z']
        rest = linear['y'], linear['z'], angular['x'], angular['y']
    except (KeyError, TypeError, AttributeError):
        return None
    if any(rest) or not _are_numbers((forward, turn)):
        return None
    return call('RobotApp', 'set_velocity', ('linear_x', repr(float(forward)), 'float'),
                ('angular_z', repr(float(turn)), 'float'))


def _joints(data: Mapping[str, Any]) -> str | None:
    """Return the one point of a trajectory; of more than one nothing would tell the order."""
    points, names = data.get('points'), data.get('joint_names')
    if not isinstance(points, (list, tuple)) or len(points) != 1 \
            or not isinstance(points[0], Mapping) or not isinstance(names, (list, tuple)):
        return None
    numbers = {name: points[0].get(name) for name in ('positions', 'velocities')}
    if not all(isinstance(values, (list, tuple)) and _are_numbers(values)
               for values in numbers.values()):
        return None
    return call('RobotApp', 'move_joints', *(
        (name, escaped(json.dumps(values)), 'list')  # spaced as ARE exports it
        for name, values in {'joints': names, **numbers}.items()))


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, (int, float)) and math.isfinite(value) for value in values)


def _is_plain(text: str | None) -> bool:
    """Whether ARE takes a text as it is: not empty, and no reference to another event."""
    return bool(text) and not (str(text).startswith('{{') and str(text).endswith('}}')) \
        and str(text).isprintable()


PROFILES: Mapping[ProfileName, Profile] = {
    'portable': Profile((_CHAT, _SYSTEM, _USER), lambda name, text: to_agent(text),
                        _to_user, partial(_to_user, None), False, True),
    'robot': Profile((_CHAT, _SYSTEM, _USER, _ROBOT), _report, _typed, _react, True, False)}
