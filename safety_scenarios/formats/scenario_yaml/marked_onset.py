# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ``ros.onset`` must agree with: the sensor's signal, its topic and the budget."""

from collections.abc import Iterator, Mapping
import math
from typing import Any, TypeGuard

from safety_scenarios.formats.document.positions import Path
from safety_scenarios.scenario.stimulus import StimulusPlugin

Found = tuple[Path, str]
_PATH = ('ros', 'onset')


def marked(data: Mapping[str, Any], ros: Mapping[str, Any],
           signals: Mapping[str, Any]) -> Iterator[Found]:
    """Yield what is wrong with the onset of prepared scenario data."""
    onset = ros.get('onset')
    if not isinstance(onset, Mapping):
        return
    topic = onset.get('topic')
    if isinstance(topic, str):
        yield from _whose(ros, topic)
        yield from _of_sensor(onset, topic, signals)
    budget = data.get('latency_budget')
    critical = budget.get('critical_ms') if isinstance(budget, Mapping) else None
    off = onset.get('uncertainty_ms')
    if _is_number(critical) and _is_number(off) and off >= critical:
        yield ((*_PATH, 'uncertainty_ms'), (
            f'got {off:g} ms, expected less than critical_ms {critical:g}: it is added to that of '
            f'every latency, so that no trial could pass. Use a faster sensor'))


def _whose(ros: Mapping[str, Any], topic: str) -> Iterator[Found]:
    """Refuse a sensor that the controller or the harness itself plays."""
    commands = ros.get('commands')
    if topic in [block.get('topic') for block in (commands if isinstance(commands, tuple) else ())
                 if isinstance(block, Mapping)]:
        yield ((*_PATH, 'topic'), (
            f'got {topic!r}, which is a command topic: the controller would say itself when its '
            f'time begins. Name the topic of a sensor that it does not control'))
    nominal = ros.get('nominal')
    blocks = [ros, nominal] if isinstance(nominal, Mapping) else [ros]
    shown = [plugin for block in blocks for plugin in (
        block['stimuli'] if isinstance(block.get('stimuli'), tuple) else ())]
    if topic in [getattr(plugin, 'topic', None) for plugin in shown
                 if isinstance(plugin, StimulusPlugin)]:
        yield ((*_PATH, 'topic'), (
            f'got {topic!r}, on which a stimulus is published: what the harness publishes marks '
            f'no real hazard. Name the topic of the reference sensor'))


def _of_sensor(onset: Mapping[str, Any], topic: str,
               signals: Mapping[str, Any]) -> Iterator[Found]:
    """Demand that ``when`` reads the sensor's own topic, in one message at a time."""
    when = onset.get('when')
    name = when.get('signal') if isinstance(when, Mapping) else None
    signal = signals.get(name) if isinstance(name, str) else None
    if not isinstance(signal, Mapping):
        return
    if isinstance(signal.get('topic'), str) and signal['topic'] != topic:
        yield ((*_PATH, 'when', 'signal'), (
            f'got a signal of {signal["topic"]!r}, expected one of {topic!r}, the topic of the '
            f'reference sensor. Define one under ros.signals'))
    if signal.get('reduce') == 'joint_speed':
        yield ((*_PATH, 'when', 'signal'), (
            'got the speed that a driver makes of commands (joint_speed), expected what one '
            'message of the sensor tells'))


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) \
        and math.isfinite(value)
