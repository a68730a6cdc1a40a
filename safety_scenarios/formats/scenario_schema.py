# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The JSON Schema of scenario files, with every plug-in that is installed."""

import json
import re
from typing import Any

from safety_scenarios import registry
from safety_scenarios.formats.scenario_yaml.implied_by_ros import TOLD_BY_ROS
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.documented_schema import Explained
from safety_scenarios.scenario.scenario import Scenario


class _ScenarioFile(Scenario):
    """One safety-critical decision under time constraint, and how to tell whether it went well."""

    ros: RobotBody | None = None
    """Topics for a robot; without it the scenario is a text scenario."""


def scenario_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a scenario file with all known plug-ins."""
    schema = _ScenarioFile.model_json_schema(schema_generator=Explained)
    definitions = schema['$defs']
    schema['required'] = [name for name in schema['required']
                          if name not in (*TOLD_BY_ROS, 'body')]
    schema['if'] = {'not': {'required': ['ros'], 'properties': {'ros': {'type': 'object'}}}}
    schema['then'] = {'required': list(TOLD_BY_ROS)}
    definitions['StimulusPlugin'] = _any_of('stimuli', definitions, 'kind',
                                            leave_out=('recorded',))
    definitions['DriverPlugin'] = _any_of('drivers', definitions, 'kind')
    definitions['InvariantPlugin'] = _any_of('invariants', definitions, 'kind',
                                             leave_out=('text', 'text_in_python', 'judge'))
    checks = []
    for name in ('text', 'judge'):
        definitions[name] = _plugin_schema('invariants', name, definitions)
        checks.append({'$ref': f'#/$defs/{name}'})
    schema['properties']['safety_invariants']['items'] = {'anyOf': checks}
    for name in ('origin', 'body', 'scoring'):
        schema['properties'].pop(name, None)
    _keep_referenced(schema)
    schema['$schema'] = 'https://json-schema.org/draft/2020-12/schema'
    schema['title'] = 'safety_scenarios scenario file'
    schema['properties']['id'] = {'type': ['string', 'integer'],
                                  'description': 'Unique identifier.'}
    return schema


def _keep_referenced(schema: dict[str, Any]) -> None:
    """Remove the definitions that nothing in the schema refers to."""
    definitions, wanted = schema['$defs'], set[str]()
    reached = [{name: part for name, part in schema.items() if name != '$defs'}]
    while reached:
        found = set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(reached.pop()))) - wanted
        wanted |= found
        reached += [definitions[name] for name in found]
    for name in set(definitions) - wanted:
        del definitions[name]


def _any_of(kind: str, definitions: dict[str, Any], tag: str,
            leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    variants = []
    for name in sorted(set(registry.names(kind)) - set(leave_out)):
        definitions[f'{kind}.{name}'] = _plugin_schema(kind, name, definitions)
        definitions[f'{kind}.{name}']['properties'][tag] = {'const': name}
        definitions[f'{kind}.{name}'].setdefault('required', []).append(tag)
        variants.append({'$ref': f'#/$defs/{kind}.{name}'})
    return {'anyOf': variants}


def _plugin_schema(kind: str, name: str, definitions: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = registry.resolve(kind, name).model_json_schema(
        schema_generator=Explained)
    for key, inner in schema.pop('$defs', {}).items():
        definitions.setdefault(key, inner)
    schema['required'] = [field for field in schema.get('required', []) if field != 'kind']
    return schema
