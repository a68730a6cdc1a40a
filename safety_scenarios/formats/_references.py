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
What the parts of a ``ros:`` block say about each other: names must exist, times must fit.

Works on data that may be broken elsewhere, so that every problem of a file shows at once.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats._positions import Path
from safety_scenarios.model.contracts import InvariantPlugin, StimulusPlugin

Found = tuple[Path, str]


def dangling(data: Mapping[str, Any]) -> Iterator[Found]:
    """Yield (field path, message) for each contradiction in prepared scenario data."""
    ros = data.get('ros')
    if not isinstance(ros, Mapping):
        return
    topics = [item.get('topic') for item in _mappings(ros.get('commands'))]
    signals: Any = ros.get('signals')
    signals = signals if isinstance(signals, Mapping) else {}
    yield from _signals(signals, [topic for topic in topics if isinstance(topic, str)])
    yield from _limits(ros, list(signals))
    yield from _invariants(ros, topics)
    yield from _stimuli(ros)
    yield from _reaction(data, ros)
    yield from _times(data, ros)


def _signals(signals: Mapping[str, Any], topics: list[str]) -> Iterator[Found]:
    for name, signal in signals.items():
        topic = signal.get('topic') if isinstance(signal, Mapping) else None
        if isinstance(topic, str) and topic not in topics:
            yield (('ros', 'signals', name, 'topic'),
                   f'got {topic!r}, expected one of the command topics: {_list(topics)}. '
                   f'List it under ros.commands.{did_you_mean(topic, topics)}')


def _limits(ros: Mapping[str, Any], signals: list[str]) -> Iterator[Found]:
    nominal, reaction = ros.get('nominal'), ros.get('reaction')
    require = nominal.get('require') if isinstance(nominal, Mapping) else None
    for path, block in (*((('ros', 'nominal', 'require'), require),
                          (('ros', 'reaction'), reaction)),
                        *((('ros', 'reaction', 'all', index), item) for index, item in
                          enumerate(_mappings(reaction.get('all'))
                                    if isinstance(reaction, Mapping) else ()))):
        if isinstance(block, Mapping):
            yield from _known_signal(path, block.get('signal'), signals)
    for index, plugin in _plugins(ros.get('invariants'), InvariantPlugin):
        yield from _known_signal(('ros', 'invariants', index), getattr(plugin, 'signal', None),
                                 signals)


def _known_signal(path: Path, name: Any, signals: list[str]) -> Iterator[Found]:
    if isinstance(name, str) and name not in signals:
        yield ((*path, 'signal'), f'got {name!r}, expected one of the signals: {_list(signals)}. '
                                  f'Define it under ros.signals.{did_you_mean(name, signals)}')


def _invariants(ros: Mapping[str, Any], topics: list[Any]) -> Iterator[Found]:
    for index, plugin in _plugins(ros.get('invariants'), InvariantPlugin):
        topic = getattr(plugin, 'topic', None)
        if isinstance(topic, str) and topic not in topics:
            yield (('ros', 'invariants', index, 'topic'),
                   f'got {topic!r}, expected one of the command topics: '
                   f'{_list([str(known) for known in topics])}')
        if getattr(plugin, 'kind', None) == 'stop' and ros.get('reaction') is None \
                and getattr(plugin, 'signal', None) is None:
            yield (('ros', 'invariants', index),
                   'a stop needs a signal with at_most, or a reaction to take them from')


def _stimuli(ros: Mapping[str, Any]) -> Iterator[Found]:
    nominal_block = ros.get('nominal')
    nominal: dict[str, StimulusPlugin] = {}
    phases = ((('ros', 'nominal', 'stimuli'),
               nominal_block.get('stimuli') if isinstance(nominal_block, Mapping) else ()),
              (('ros', 'stimuli'), ros.get('stimuli')))
    for phase, (path, stimuli) in enumerate(phases):
        seen: dict[str, int] = {}
        for index, plugin in _plugins(stimuli, StimulusPlugin):
            topic = getattr(plugin, 'topic', None)
            if not isinstance(topic, str):
                continue
            if topic in seen:
                yield ((*path, index, 'topic'), f'{topic!r} is already published by the stimulus '
                       f'at {path[-1]}[{seen[topic]}]. One stimulus a topic and phase')
            seen[topic] = index
            yield from _interface(plugin, nominal.get(topic), (*path, index), phase)
            if phase == 0:
                nominal[topic] = plugin


def _interface(plugin: StimulusPlugin, nominal: StimulusPlugin | None, path: Path,
               phase: int) -> Iterator[Found]:
    try:
        interface = plugin.interface()
    except (AttributeError, NotImplementedError):
        return
    if interface is None and phase == 0:
        yield path, f'{plugin.kind} cannot be nominal. Put it under ros.stimuli'
    elif interface is None and nominal is None:
        yield ((*path, 'topic'), f'nothing is published on {plugin.topic!r} before the hazard, so '
                                 f'it cannot fail. Add it to ros.nominal.stimuli')
    elif nominal is not None and interface not in (None, nominal.interface()):
        yield ((*path, 'topic'), f'{plugin.topic!r} carries {nominal.interface()} before the '
                                 f'hazard and {interface} in it. One type a topic')


def _reaction(data: Mapping[str, Any], ros: Mapping[str, Any]) -> Iterator[Found]:
    domain = data.get('domain')
    if not isinstance(domain, str):
        return
    if domain.endswith('_defer') and ros.get('reaction') is not None:
        yield (('ros', 'reaction'), f'got a reaction in the domain {domain!r}, where restraint is '
                                    f'right. Remove it, or drop _defer')
    if not domain.endswith('_defer') and ros.get('reaction') is None:
        yield (('ros', 'reaction'), 'missing. Say which command answers the hazard; without one '
                                    'a deaf controller would pass')


def _times(data: Mapping[str, Any], ros: Mapping[str, Any]) -> Iterator[Found]:
    budget, clearance, reaction = (data.get('latency_budget'), ros.get('clearance'),
                                   ros.get('reaction'))
    critical = budget.get('critical_ms') if isinstance(budget, Mapping) else None
    at = clearance.get('at_ms') if isinstance(clearance, Mapping) else None
    if not _is_number(critical) or not _is_number(at):
        return
    holds: list[tuple[Path, Any]] = [
        (('ros', 'reaction', 'hold_ms'), reaction.get('hold_ms', 200.0))] \
        if isinstance(reaction, Mapping) else []
    holds += [(('ros', 'invariants', index, 'hold_ms'), plugin.hold_ms)
              for index, plugin in _plugins(ros.get('invariants'), InvariantPlugin)
              if _is_number(getattr(plugin, 'hold_ms', None))]
    for path, hold in holds:
        if _is_number(hold) and critical + hold > at:
            yield (path, f'critical_ms {critical:g} + hold {hold:g} ms is after the clearance at '
                         f'{at:g} ms, so a reaction in time could not be seen to hold. '
                         f'Set ros.clearance.at_ms to at least {critical + hold:g}')


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, tuple):
        yield from (item for item in value if isinstance(item, Mapping))


def _plugins(value: Any, kind: type) -> Iterator[tuple[int, Any]]:
    if isinstance(value, tuple):
        yield from ((index, item) for index, item in enumerate(value) if isinstance(item, kind))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _list(names: list[str]) -> str:
    return ', '.join(names) or 'none'
