# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which kinds of files have a JSON Schema, and where it comes from; imported when it is named."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pydantic import BaseModel
from safety_scenarios.scenario.documented_schema import Explained

_SOURCES = {
    'scenario': 'safety_scenarios.formats.scenario_schema:scenario_schema',
    'agents': 'safety_scenarios.formats.agents.schema:agents_schema',
    'bindings': 'safety_scenarios.formats.agents.schema:bindings_schema',
    'are': 'safety_scenarios.are.scenarios.schema:are_schema',
    'rubric': 'safety_scenarios.scenario.blocks.rubric:Rubric',
    'settings': 'safety_scenarios.scenario.settings:RunSettings'}
"""Kind of file to a function that returns its schema, or to the model that reads it."""
KINDS = tuple(kind for kind, source in _SOURCES.items() if find_spec(source.partition(':')[0]))


def schema_of(kind: str) -> Mapping[str, Any]:
    """Return the JSON Schema of one kind of file."""
    module, _, name = _SOURCES[kind].partition(':')
    source = getattr(import_module(module), name)
    if isinstance(source, type) and issubclass(source, BaseModel):
        return {'$schema': 'https://json-schema.org/draft/2020-12/schema',
                **source.model_json_schema(schema_generator=Explained),
                'title': f'safety_scenarios {kind} file'}
    found: Mapping[str, Any] = source()
    return found
