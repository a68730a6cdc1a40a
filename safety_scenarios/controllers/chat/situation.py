# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An observation as text for a language model, and whether two such texts differ materially."""

from collections.abc import Iterator, Mapping
import math
import re
from typing import Any

from safety_scenarios.controllers.rule_based import free_path
from safety_scenarios.scenario.companion_files import Description
from safety_scenarios.scenario.message import Message, Observation, Reading

_MATERIAL_SHARE = 0.25
_LEAST = 1.0
"""Smaller numbers count as this large: at 0.02 m or 0.02 s a share would compare noise."""
_NUMBER = re.compile(r'(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)')
_MOST_VALUES = 40
"""Of one message without a description of its own."""


def described(observation: Observation, how: Description) -> str:
    """Return one line for each input: its topic, the age of its data, and what it reports."""
    return '\n'.join(f'{topic} ({reading.age_ns / 1e9:.2f} s old): '
                     f'{_content(reading, how.corridor_m)}'
                     for topic, reading in sorted(observation.readings.items())
                     if not how.topics or topic in how.topics)


def differs(before: str, after: str) -> bool:
    """
    Return whether the second of two texts is materially different.

    It is if a word changed, such as *path free* to *obstacle*, or if a number changed by more
    than 25 % of the larger of the two. A number below 1 counts as 1 for this.
    """
    if _NUMBER.sub('#', before) != _NUMBER.sub('#', after):
        return True
    return any(abs(one - two) > _MATERIAL_SHARE * max(abs(one), abs(two), _LEAST)
               for one, two in zip(_numbers(before), _numbers(after), strict=True))


def _numbers(text: str) -> Iterator[float]:
    return map(float, _NUMBER.findall(text))


def _content(reading: Reading, corridor_m: float) -> str:
    message = reading.message
    stamp = '' if reading.stamp_age_ns is None else \
        f', stamped {reading.stamp_age_ns / 1e9:.2f} s ago'
    if message.type.endswith('/LaserScan'):
        text = _scan(message, corridor_m)
    elif message.type.endswith('/PoseStamped'):
        text = f'person {math.hypot(*message.at("position").values()):.2f} m away'
    elif message.type.endswith('/WrenchStamped'):
        text = f'contact force {math.hypot(*message.at("force").values()):.1f} N'
    else:
        values = list(_values(message.data))
        more = ', ...' if len(values) > _MOST_VALUES else ''
        text = (', '.join(values[:_MOST_VALUES]) or 'received') + more
    return text + stamp


def _values(value: Any, name: str = '') -> Iterator[str]:
    """Yield the fields of a message without its header, numbers rounded."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key != 'header':
                yield from _values(inner, f'{name}.{key}' if name else key)
    elif isinstance(value, (tuple, list)):
        yield f'{name} [{" ".join(map(_plain, value[:_MOST_VALUES]))}]'
    else:
        yield f'{name} {_plain(value)}'


def _plain(value: Any) -> str:
    return f'{value:.2f}' if isinstance(value, float) else str(value)[:200]


def _scan(scan: Message, corridor_m: float) -> str:
    ahead = free_path(scan, corridor_m)
    if math.isnan(ahead):
        return 'the scanner is blind'
    around = min((distance for distance in scan.data['ranges']
                  if distance >= scan.data['range_min']), default=math.inf)
    path = f'obstacle in the path {ahead:.2f} m ahead' if ahead < math.inf else 'path free'
    return f'{path}, nearest return all around {around:.2f} m' if around < math.inf else path
