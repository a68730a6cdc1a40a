# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The JSON Schemas of an agent file and of its bindings, for editors."""

from collections.abc import Mapping
from typing import Any

from safety_scenarios.formats.agents import grammar
from safety_scenarios.formats.agents.bindings import Bindings
from safety_scenarios.formats.agents.cursor import MAX_RULE_TEXT
from safety_scenarios.formats.agents.file import AgentFile, MAX_AGENTS, MAX_GOALS, MAX_RULES
from safety_scenarios.formats.agents.symbols import NAMES
from safety_scenarios.scenario.documented_schema import Explained

_DRAFT = 'https://json-schema.org/draft/2020-12/schema'
_RULES = 'greet; every person_near unless told; no call_help within 5 s of person_near', \
    'reply_greeting; expect: stands within 1 s until told; expect: nothing for 5 s'
_LISTS = ('when', 'expect', 'forbid', 'contrary', 'do')


def agents_schema() -> dict[str, Any]:
    """Return the schema of an agent file: the published one, with limits and what texts mean."""
    schema = AgentFile.model_json_schema(schema_generator=Explained)
    definitions = schema['$defs']
    form = (grammar.__doc__ or '').partition('::')[2].strip()
    for name, examples in zip(('trigger', 'action'), _RULES):
        definitions['RuleEntry']['properties'][name] |= {
            'maxLength': MAX_RULE_TEXT, 'examples': [*examples.split('; '), *NAMES],
            'description': f'{definitions["RuleEntry"]["properties"][name]["description"]} Free '
                           f'text, a symbol, or one of:\n{form}'}
    for name in ('roles', 'tools', 'agents'):
        schema['properties'][name]['maxItems'] = MAX_AGENTS
    schema['properties']['rules']['maxItems'] = MAX_RULES
    definitions['AgentEntry']['properties']['goals']['maxItems'] = MAX_GOALS
    return {'$schema': _DRAFT, **schema, 'title': 'safety_scenarios agent file'}


def bindings_schema() -> dict[str, Any]:
    """Return the schema of a bindings file, short forms included."""
    schema = Bindings.model_json_schema(schema_generator=Explained)
    definitions = schema['$defs']
    symbol, pattern = definitions['SymbolBlock']['properties'], definitions['PatternBlock']
    for name in _LISTS:
        _one_or_many(symbol[name])
    _one_or_many(pattern['properties']['from'])
    symbol['within_ms'] = {'anyOf': [symbol['within_ms'],
                                     {'type': 'number', 'exclusiveMinimum': 0}]}
    args = pattern['properties']['args']
    args['additionalProperties'] = {'anyOf': [args['additionalProperties'], {
        'type': ['string', 'number', 'boolean']}]}
    signal = definitions['Signal']
    signal['properties']['abs'] = {'type': 'boolean', 'description': 'The same as reduce: abs.'}
    signal['required'] = [name for name in signal['required'] if name != 'unit']
    return {'$schema': _DRAFT, **schema, 'title': 'safety_scenarios bindings of an agent file'}


def _one_or_many(described: dict[str, Any]) -> None:
    """Let a list of one entry be written as that entry."""
    ways: list[Mapping[str, Any]] = described.get('anyOf', [])
    many = next((way for way in ways if way.get('type') == 'array'), None)
    if many is not None:
        described['anyOf'] = [many['items'], *ways]
