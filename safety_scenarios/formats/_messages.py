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

"""A pydantic error as one sentence: what was got, what was expected, what to do."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from safety_scenarios.errors import did_you_mean

_TYPES = {
    'float_type': 'a number', 'float_parsing': 'a number', 'int_type': 'a whole number',
    'int_from_float': 'a whole number', 'string_type': 'text', 'bool_type': 'true or false',
    'tuple_type': 'a list', 'list_type': 'a list', 'dict_type': 'a mapping',
    'mapping_type': 'a mapping', 'model_type': 'a mapping', 'model_attributes_type': 'a mapping',
    'finite_number': 'a finite number',
}
_BOUNDS = {'greater_than': ('>', 'gt'), 'greater_than_equal': ('>=', 'ge'),
           'less_than': ('<', 'lt'), 'less_than_equal': ('<=', 'le')}
_SHOWN = 60


def describe(error: Mapping[str, Any], model: type[BaseModel]) -> str:
    """
    Return the sentence for one entry of ``ValidationError.errors()``.

    :param model: the model that was validated; gives units and neighbouring keys
    """
    kind, got, context = error['type'], error['input'], error.get('ctx', {})
    owner = _owner(model, error['loc'])
    unit = _unit(owner, error['loc'])
    if kind == 'missing':
        expected = _doc(owner, error['loc'])
        return f'missing. Add it{": " + expected if expected else ""}'
    if kind == 'extra_forbidden':
        known = list(owner.model_fields) if owner else []
        hint = did_you_mean(str(error['loc'][-1]), known)
        return f'unknown key, expected one of {", ".join(known)}.{hint}'
    if kind in _BOUNDS:
        sign, name = _BOUNDS[kind]
        return f'got {_show(got)}, expected a number {sign} {context[name]:g}{unit}'
    if kind in _TYPES:
        quotes = '. Remove the quotes' if isinstance(got, str) and _is_number(got) else ''
        return f'got {_show(got)}, expected {_TYPES[kind]}{unit}{quotes}'
    if kind == 'literal_error':
        return (f'got {_show(got)}, expected {context["expected"]}.'
                f'{did_you_mean(str(got), context["expected"].replace(chr(39), "").split(", "))}')
    if kind in ('string_too_short', 'too_short'):
        return f'got nothing, expected at least {context["min_length"]}. Fill it in'
    if kind in ('string_too_long', 'too_long'):
        return f'too long, expected at most {context["max_length"]}'
    if kind == 'string_pattern_mismatch':
        return f'got {_show(got)}, expected text of the form {context["pattern"]}'
    if kind == 'value_error':
        return str(context['error'])
    return f'got {_show(got)}: {error["msg"]}'


def _owner(model: type[BaseModel], loc: tuple[Any, ...]) -> type[BaseModel] | None:
    """Return the model that the last step of ``loc`` belongs to."""
    owner: type[BaseModel] | None = model
    for step in loc[:-1]:
        if owner is None or isinstance(step, int) or step not in owner.model_fields:
            continue
        owner = _model_in(owner.model_fields[step].annotation)
    return owner


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, '__args__', ()):
        found = _model_in(inner)
        if found is not None:
            return found
    return None


def _unit(owner: type[BaseModel] | None, loc: tuple[Any, ...]) -> str:
    field = owner.model_fields.get(str(loc[-1])) if owner and loc else None
    extra = field.json_schema_extra if field else None
    return f' ({extra["unit"]})' if isinstance(extra, dict) and 'unit' in extra else ''


def _doc(owner: type[BaseModel] | None, loc: tuple[Any, ...]) -> str:
    field = owner.model_fields.get(str(loc[-1])) if owner and loc else None
    return (field.description or '').rstrip('.') if field else ''


def _show(value: Any) -> str:
    if value is None:
        return 'nothing'
    if isinstance(value, Mapping):
        return 'a mapping'
    if isinstance(value, (tuple, list)):
        return f'a list of {len(value)}'
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + '...'


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
