# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The JSON Schema of a file of Meta's ARE as this program reads it, for editors."""

from typing import Any

_TEXT, _NUMBER = {'type': ['string', 'null']}, {'type': ['number', 'null']}
_ARGUMENT = {
    'type': 'object', 'required': ['name'],
    'properties': {'name': {'type': 'string'}, 'value': _TEXT, 'value_type': _TEXT}}
_ACTION = {
    'type': ['object', 'null'], 'required': ['action_id'],
    'properties': {
        'action_id': {'type': 'string'}, 'app': _TEXT, 'function': _TEXT,
        'operation_type': {**_TEXT, 'examples': ['read', 'write']},
        'args': {'type': ['array', 'null'], 'items': _ARGUMENT}}}


def are_schema() -> dict[str, Any]:
    """Return the schema: what is read, and of the rest nothing but its type."""
    return {
        '$schema': 'https://json-schema.org/draft/2020-12/schema',
        'title': "safety_scenarios scenario of Meta's ARE", 'type': 'object',
        'required': ['version', 'metadata'],
        'properties': {
            'version': {'type': 'string', 'description': 'Such as are_simulation_v1.'},
            'metadata': {
                'type': 'object', 'anyOf': [{'required': ['definition']}, _definition()],
                'properties': {
                    'definition': _definition(),
                    **{name: {'type': ['object', 'null']} for name in (
                        'annotation', 'simulation', 'execution', 'runner_config')}}},
            'context': _TEXT, 'augmentation': {},
            'world_logs': {'type': ['array', 'null'], 'items': {'type': 'string'}},
            'apps': {'type': ['array', 'null'], 'items': {
                'type': 'object', 'required': ['name'], 'properties': {
                    'name': {'type': 'string'}, 'class_name': _TEXT,
                    'app_state': {'type': ['object', 'null']}}}},
            'events': {'type': ['array', 'null'], 'items': _event()},
            'completed_events': {'type': ['array', 'null'], 'items': _event()}}}


def _definition() -> dict[str, Any]:
    return {
        'type': 'object', 'required': ['scenario_id'],
        'properties': {
            'scenario_id': {'type': 'string', 'minLength': 1},
            'seed': {'type': ['integer', 'null']}, 'duration': _NUMBER,
            'time_increment_in_seconds': {'type': ['integer', 'null']}, 'start_time': _NUMBER,
            'run_number': {'type': ['integer', 'null']}, 'config': _TEXT,
            'hints': {'type': ['array', 'null'], 'items': {
                'type': 'object', 'required': ['hint_type', 'content', 'associated_event_id']}},
            'tags': {'type': ['array', 'null'], 'items': {'type': 'string'}},
            **{name: {'type': 'boolean'} for name in (
                'has_a2a_augmentation', 'has_tool_augmentation', 'has_env_events_augmentation',
                'has_exception')},
            'exception_type': _TEXT, 'exception_message': _TEXT,
            'hf_metadata': {'type': ['object', 'null']}}}


def _event() -> dict[str, Any]:
    return {
        'type': 'object', 'required': ['class_name', 'event_type', 'event_id', 'dependencies'],
        'properties': {
            'class_name': {'type': 'string'},
            'event_type': {'type': 'string', 'examples': ['AGENT', 'ENV', 'USER']},
            'event_id': {'type': 'string', 'minLength': 1}, 'event_time': _NUMBER,
            'dependencies': {'type': 'array', 'items': {'type': 'string'}},
            'event_relative_time': {**_NUMBER, 'description': 'Seconds after its dependencies.'},
            'event_time_comparator': _TEXT, 'action': _ACTION,
            'metadata': {'type': ['object', 'null']}}}
