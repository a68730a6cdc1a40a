# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The topics of a bindings file: what the harness may publish, and what it listens to."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import did_you_mean, InputError
from safety_scenarios.formats.agents.bindings import Bindings, TopicBlock
from safety_scenarios.formats.agents.remarks import FOREIGN_TOPIC, Remarks
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Path
from safety_scenarios.formats.document.reading import Resolve
from safety_scenarios.scenario.blocks.agents import AGENTS
from safety_scenarios.scenario.blocks.command_topic import CommandTopic
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.stimulus import StimulusPlugin

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
