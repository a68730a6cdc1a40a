# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The bindings file beside an agent file, and the topics in it."""

from collections.abc import Iterator, Mapping
import os
import re
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import did_you_mean, InputError, Problem
from safety_scenarios.formats.agents.bindings import Bindings, TopicBlock
from safety_scenarios.formats.agents.file import FOREIGN_TOPIC, Remarks
from safety_scenarios.formats.agents.grammar import is_free_text, normal
from safety_scenarios.formats.document.json_document import JsonDocument, Reading, Resolve
from safety_scenarios.formats.document.json_document import MAX_BYTES as MAX_JSON
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Document, Path
from safety_scenarios.formats.document.positions import MAX_BYTES as MAX_YAML
from safety_scenarios.scenario.blocks.agents import AGENTS
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.stimulus import StimulusPlugin

SUFFIXES = ('.bindings.yaml', '.bindings.yml', '.bindings.json')
_SYMBOL = re.compile(r'[a-z][a-z0-9_-]{0,199}')
_NAMES = 'symbols', 'topics', 'signals', 'faults', 'sets'


def find_sidecar(path: str, reading: Reading) -> tuple[Document, bytes] | None:
    """
    Return the bindings file beside a scenario file, and its bytes; None when there is none.

    What is wrong with it is told as problems of the bindings file.
    """
    stem = os.path.splitext(path)[0]
    found = [stem + suffix for suffix in SUFFIXES if os.path.lexists(stem + suffix)]
    if not found:
        return None
    name, raw = found[0], b''
    if len(found) > 1:
        reading.problems.append(Problem(name, None, None, '', f'is one of {len(found)} bindings '
                                        f'files of {path}, expected one. Remove the others'))
    try:
        if os.path.exists(name) and not os.path.isfile(name):
            raise OSError(None, 'it is no regular file')
        most = MAX_JSON if name.endswith('.json') else MAX_YAML
        with open(name, 'rb') as file:
            raw = file.read(most + 1)
        if len(raw) > most:
            raise OSError(None, f'got {max(os.path.getsize(name), len(raw))} bytes, expected at '
                                f'most {most}. Make the file smaller')
    except OSError as error:
        reading.problems.append(Problem(name, None, None, '', f'cannot be read: {error.strerror}'))
        return None
    document = (JsonDocument if name.endswith('.json') else Document)(name, raw)
    reading.problems += document.problems
    return document, raw


def read_bindings(remarks: Remarks) -> Bindings:
    """Return what a bindings file says; where something is wrong with it, empty ones."""
    bindings = Bindings(version=1)
    if not remarks.document.problems:
        try:
            bindings = Bindings.model_validate(_spelled_out(remarks.document.data, remarks))
        except ValidationError as error:
            remarks.refuse_fields((), error, Bindings)
        else:
            _names(bindings, remarks)
    return bindings


def _spelled_out(data: Any, remarks: Remarks) -> Any:
    """Return the bindings with short forms in full, and warn where that is a guess."""
    if not isinstance(data, Mapping):
        return data
    full = dict(data)
    for key in ('topics', 'signals'):
        if isinstance(full.get(key), Mapping):
            full[key] = {name: dict(block) if isinstance(block, Mapping) else block
                         for name, block in full[key].items()}
    for name, block in _mappings(full.get('topics')):
        if isinstance(block.get('name'), str) and block['name'].startswith('/'):
            remarks.warn(('topics', name, 'name'), f'got {block["name"]!r}; taken below the '
                                                   f"run's namespace. Remove the slash")
            block['name'] = block['name'][1:]
    for name, block in _mappings(full.get('signals')):
        if block.get('abs') is True and 'reduce' not in block:
            del block['abs']
            block['reduce'] = 'abs'
        if 'unit' not in block:
            remarks.warn(('signals', name), 'has no unit; taken as a pure number. Add unit')
            block['unit'] = '1'
    return full


def _mappings(blocks: Any) -> list[tuple[Any, dict[str, Any]]]:
    return [(name, block) for name, block in blocks.items() if isinstance(block, dict)] \
        if isinstance(blocks, Mapping) else []


def _names(bindings: Bindings, remarks: Remarks) -> None:
    """Refuse what no rule could name."""
    for path, name in _named(bindings):
        is_sentence = path[0] == 'symbols' and len(path) == 2 and is_free_text(name) \
            and name == normal(name) and ' ' in name
        if not (_SYMBOL.fullmatch(name) or is_sentence):
            remarks.refuse(path, f'got {name[:60]!r}, expected a small letter, then small '
                                 f'letters, digits, _ and -. Rename it', at_key=True)


def _named(bindings: Bindings) -> Iterator[tuple[Path, str]]:
    for key in _NAMES:
        yield from (((key, name), name) for name in getattr(bindings, key))
    for index, line in enumerate(bindings.script or ()):
        if line.symbol is not None:
            yield ('script', index, 'as'), line.symbol
    for name, symbol in bindings.symbols.items():
        for index, effect in enumerate(symbol.do or ()):
            if effect.symbol is not None:
                yield ('symbols', name, 'do', index, 'as'), effect.symbol


_ACTUATOR_NAMES = ('cmd', 'command', 'commands', 'joint_trajectory')
_ACTUATOR_TYPES = ('Twist', 'TwistStamped', 'JointTrajectory', 'JointJog', 'AckermannDrive',
                   'AckermannDriveStamped')


class Topics:
    """What the topics, signals, faults and sets of a bindings file come to."""

    def __init__(self, bindings: Bindings, remarks: Remarks, resolve: Resolve) -> None:
        self._bindings = bindings
        self._remarks = remarks
        self._resolve = resolve
        self.published: dict[str, StimulusPlugin] = {}
        """Key of a topic to its stimulus."""
        self.faults: dict[str, StimulusPlugin] = {}
        self.signals: dict[str, Signal] = {}
        self.stimuli: list[StimulusPlugin] = []
        """Those from the start."""
        self._names()
        for key, topic in bindings.topics.items():
            self._topic(key, topic)
        self._start()
        for name, block in bindings.faults.items():
            self._fault(name, block)
        for name, signal in bindings.signals.items():
            self._signal(name, signal)
        for name, entry in bindings.sets.items():
            self._stimulus_key(('sets', name, 'topic'), entry.topic)
        self._alterations()

    def listened(self, feedback: bool) -> tuple[CommandTopic, ...]:
        """Return the topics on which the robot, or else its controller, publishes."""
        return tuple(CommandTopic(topic=topic.name, message=topic.type)
                     for topic in self._bindings.topics.values()
                     if topic.use == 'observe' and topic.feedback == feedback)

    @property
    def has_robot(self) -> bool:
        """Whether what the controller under test does can be seen, and not only what it says."""
        return self._bindings.robot is not None or any(
            topic.use == 'observe' for topic in self._bindings.topics.values())

    def is_observed(self, key: str) -> bool:
        """Whether a key is of a topic that the harness only listens to."""
        topic = self._bindings.topics.get(key)
        return topic is not None and topic.use == 'observe'

    def set_to(self, name: str, value: float) -> StimulusPlugin | None:
        """Return the message that sets a field, None when nobody says which."""
        entry = self._bindings.sets.get(name)
        topic = self._bindings.topics.get(entry.topic) if entry else None
        if entry is None or topic is None:
            return None
        is_switch = topic.type.endswith('/Bool')
        data: Any = bool(value) if is_switch else int(value) if value.is_integer() else value
        for step in reversed(entry.field.split('.')):
            data = {step: data}
        return self._plugin(('sets', name), topic, {'kind': 'message', 'data': data})

    def _names(self) -> None:
        first: dict[str, str] = {}
        for key, topic in self._bindings.topics.items():
            path = ('topics', key, 'name')
            if topic.name == AGENTS or topic.name.startswith(f'{AGENTS}/'):
                self._remarks.refuse(path, f'got {topic.name!r}, where the agents talk. '
                                           f'Choose another topic')
            other = self._bindings.topics[first.setdefault(topic.name, key)]
            if other is topic:
                continue
            if 'observe' in (topic.use, other.use):
                self._remarks.refuse(path, f'got {topic.name!r}, which is also the topic of '
                                     f'{first[topic.name]!r}. Only stimuli may share a topic')
            elif topic.type != other.type:
                self._remarks.refuse(('topics', key, 'type'), f'got {topic.type} on '
                                     f'{topic.name!r}, expected {other.type} as in '
                                     f'{first[topic.name]!r}. Use one type a topic')

    def _topic(self, key: str, topic: TopicBlock) -> None:
        if topic.use == 'observe':
            return
        path: Path = ('topics', key)
        last = topic.name.rpartition('/')[2]
        kind = topic.type.rpartition('/')[2]
        if last in _ACTUATOR_NAMES or last.startswith('cmd_') or kind in _ACTUATOR_TYPES:
            self._remarks.refuse((*path, 'use'), f'got a stimulus on {topic.name!r} ({topic.type})'
                                 f', which commands a robot. The harness must not: use: observe',
                                 FOREIGN_TOPIC)
            return
        block = {'kind': 'message', 'data': topic.data or {}} if topic.stimulus is None \
            else dict(topic.stimulus)
        place = path if topic.stimulus is None else (*path, 'stimulus')
        plugin = self._plugin(place, topic, block)
        if plugin is not None:
            self.published[key] = plugin

    def _plugin(self, path: Path, topic: TopicBlock,
                block: Mapping[str, Any]) -> StimulusPlugin | None:
        if not isinstance(block.get('kind'), str):
            self._remarks.refuse((*path, 'kind'), f'got {show(block.get("kind"))}, expected text. '
                                                  f'Say which of the stimuli it is')
            return None
        if 'topic' in block:
            self._remarks.refuse((*path, 'topic'), 'is known already. Remove the key', at_key=True)
            return None
        try:
            model = self._resolve('stimuli', block['kind'])
        except InputError as error:
            self._remarks.refuse((*path, 'kind'), str(error))
            return None
        told = {'message': topic.type} if 'message' in model.model_fields else {}
        try:
            plugin: StimulusPlugin = model.model_validate({**told, **block, 'topic': topic.name})
        except ValidationError as error:
            self._remarks.refuse_fields(path, error, model)
            return None
        interface = plugin.interface()
        if interface is not None and interface != topic.type:
            self._remarks.refuse(path, f'publishes {interface}, and the type of the topic is '
                                       f'{topic.type}. Make them the same')
            return None
        return plugin

    def _start(self) -> None:
        taken: dict[str, str] = {}
        for index, key in enumerate(self._bindings.stimuli):
            plugin = self.published.get(key)
            if not self._stimulus_key(('stimuli', index), key) or plugin is None:
                continue
            if plugin.topic in taken:
                self._remarks.refuse(('stimuli', index), f'got {key!r}, on the same topic as '
                                     f'{taken[plugin.topic]!r}. Begin with one of them')
            taken[plugin.topic] = key
            self.stimuli.append(plugin)

    def _fault(self, name: str, block: Mapping[str, Any]) -> None:
        path: Path = ('faults', name)
        key = block.get('topic')
        if not isinstance(key, str):
            self._remarks.refuse((*path, 'topic'), f'got {show(key)}, expected the key of a topic '
                                                   f'with use: stimulus')
        elif self._stimulus_key((*path, 'topic'), key):
            rest = {field: value for field, value in block.items() if field != 'topic'}
            plugin = self._plugin(path, self._bindings.topics[key], rest)
            if plugin is not None:
                self.faults[name] = plugin

    def _alterations(self) -> None:
        """Refuse what alters a stimulus where there is none."""
        topics = {plugin.topic for plugin in self.stimuli if plugin.interface() is not None}
        for kind, found in (('topics', self.published), ('faults', self.faults)):
            for name, plugin in found.items():
                if plugin.interface() is None and plugin.topic not in topics:
                    self._remarks.refuse((kind, name), f'got {plugin.kind} on {plugin.topic!r}, '
                                         f'on which nothing is published from the start, so it '
                                         f'cannot fail. Add a topic of it to stimuli')

    def _signal(self, name: str, signal: Signal) -> None:
        topics = self._bindings.topics
        named: dict[str, str] = {}
        for field in ('topic', 'current'):
            key = getattr(signal, field)
            if key is None:
                continue
            if not self.is_observed(key):
                known = [one for one in topics if self.is_observed(one)]
                self._remarks.refuse(('signals', name, field), f'got {show(key)}, expected the '
                                     f'key of a topic with use: observe: '
                                     f'{", ".join(known) or "none"}.{did_you_mean(key, known)}')
                return
            named[field] = topics[key].name
        self.signals[name] = signal.model_copy(update=named)

    def _stimulus_key(self, path: Path, key: str) -> bool:
        topic = self._bindings.topics.get(key)
        if topic is not None and topic.use == 'stimulus':
            return True
        known = [one for one, block in self._bindings.topics.items() if block.use == 'stimulus']
        self._remarks.refuse(path, f'got {show(key)}, expected the key of a topic with use: '
                             f'stimulus: {", ".join(known) or "none"}.{did_you_mean(key, known)}',
                             FOREIGN_TOPIC if topic is not None else '')
        return False
