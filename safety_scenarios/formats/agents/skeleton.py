# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What of an agent file nothing binds, and the bindings to fill in for it."""

from collections.abc import Iterator, Mapping
import json
import re

from safety_scenarios.scenario.blocks.agents import Rule
from safety_scenarios.scenario.body import AgentsBody

BLANK = '???'
"""What is to be filled in: bindings with it do not load."""
_TOPIC_OF_SIGNALS = 'observed'
_ENTRIES: Mapping[str, tuple[str, str]] = {
    'signal': ('signals', '{topic: observed, field: "???", unit: "???"}'),
    'publish': ('topics', '{name: "???", type: "???", use: stimulus, stimulus: {kind: "???"}}'),
    'set': ('sets', '{topic: "???", field: "???"}'),
    'fault': ('faults', '{topic: "???", kind: sensor_fault, fault: "???"}')}
"""Kind of a name without a meaning to the key of the bindings, and what stands there."""


def without_meaning(block: AgentsBody) -> Mapping[str, tuple[int, str]]:
    """Return what nothing gives a meaning: its name to the first entry, and the place in it."""
    found: dict[str, tuple[int, str]] = {}
    for index, rule in enumerate(block.rules):
        for name in rule.unbound:
            found.setdefault(name, (block.entry(index), _place(name, rule)))
    return found


def skeleton(block: AgentsBody) -> str:
    """Return bindings in YAML that give a meaning to all that can have one there."""
    entries: dict[str, dict[str, str]] = {}
    for name, (_, place) in without_meaning(block).items():
        kind, colon, rest = name.partition(':')
        if colon and kind in _ENTRIES:
            key, text = _ENTRIES[kind]
            entries.setdefault(key, {})[rest] = text
            if kind == 'signal':
                entries.setdefault('topics', {})[_TOPIC_OF_SIGNALS] = \
                    '{name: "???", use: observe}'
        elif not (colon and kind in ('tool', 'agent', 'say')) and not name.startswith('('):
            way = 'when' if place == 'trigger' else 'expect'
            entries.setdefault('symbols', {})[' '.join(name.lower().split())] = \
                f'{{{way}: {{kind: say, any_word: ["???"]}}}}'
    return '\n'.join(_lines(block, entries))


def _lines(block: AgentsBody, entries: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    yield 'version: 1'
    if not block.sut and block.agents:
        ids = ', '.join(json.dumps(agent.id, ensure_ascii=False) for agent in block.agents)
        yield f'sut: "{BLANK}"  # one of {ids}'
    for key, named in entries.items():
        yield f'{key}:'
        for name, text in named.items():
            yield f'  {json.dumps(name, ensure_ascii=False)}: {text}'


def _place(name: str, rule: Rule) -> str:
    """Return in which text of a rule a name stands."""
    word = name.partition(':')[2] or name
    said = ' '.join(rule.trigger_text.split()).lower()
    return 'trigger' if re.search(rf'(?<![\w-]){re.escape(word.lower())}(?![\w-])', said) \
        else 'action'
