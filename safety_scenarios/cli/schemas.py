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

"""Which kinds of files have a JSON Schema, and where it comes from; imported when it is named."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pydantic import BaseModel
from safety_scenarios.model.explained import Explained

_SOURCES = {
    'scenario': 'safety_scenarios.scenario_schema:scenario_schema',
    'agents': 'safety_scenarios.formats.agents.schema:agents_schema',
    'bindings': 'safety_scenarios.formats.agents.schema:bindings_schema',
    'are': 'safety_scenarios.formats.are.schema:are_schema',
    'rubric': 'safety_scenarios.model.blocks.rubric:Rubric',
    'settings': 'safety_scenarios.model.settings:RunSettings'}
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
