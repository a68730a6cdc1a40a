# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A pydantic error as one sentence: what was got, what was expected, what to do."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
import datetime
import inspect
import math
import re
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, Union

from pydantic import BaseModel
from safety_scenarios.errors import did_you_mean, shortened
from safety_scenarios.formats.document.positions import Path
from safety_scenarios.scenario.fields import explanations

_TYPES = {
    'float_type': 'a number', 'float_parsing': 'a number', 'int_type': 'a whole number',
    'int_from_float': 'a whole number', 'string_type': 'text', 'bool_type': 'true or false',
    'tuple_type': 'a list', 'list_type': 'a list', 'dict_type': 'a mapping',
    'mapping_type': 'a mapping', 'model_type': 'a mapping', 'model_attributes_type': 'a mapping',
    'finite_number': 'a finite number',
}
AS_LIST = 'Write each entry after a dash on a line of its own, or all of them in [ ]'
AS_MAPPING = 'Write it as keys with values'
_BOUNDS = {'greater_than': ('>', 'gt'), 'greater_than_equal': ('>=', 'ge'),
           'less_than': ('<', 'lt'), 'less_than_equal': ('<=', 'le')}
_PLAIN = re.compile(r'[-+]?(0|[1-9][0-9]*)(\.[0-9]*([eE][-+][0-9]+)?)?')
"""A number in every reader's eyes, were it not for its quotes."""
_SHOWN = 60
"""Characters of a value in a message."""


def describe(errors: Sequence[Mapping[str, Any]],
             model: type[BaseModel]) -> Iterator[tuple[Path, str, bool]]:
    """
    Yield (field path, sentence, whether the key is meant) from ``ValidationError.errors()``.

    One mistake gives one sentence: alternatives of a field are joined, and a sequence is not
    called too short because an item of it was refused.

    :param model: the model that was validated; gives units and neighbouring keys
    """
    told: dict[Path, str] = {}
    for error in errors:
        if error['type'] == 'too_short' and _size(error['input']) >= error['ctx']['min_length']:
            continue
        owner, path, is_alternative = _field(model, error['loc'])
        sentence = _sentence(error, owner, path)
        if is_alternative and path in told:
            told[path] += f', or {sentence.partition(", expected ")[2]}'
        elif is_alternative:
            told[path] = sentence
        else:
            yield path, sentence, error['type'] == 'extra_forbidden'
    for path, sentence in told.items():
        yield path, sentence, False


def show(value: Any) -> str:
    """Return a value as a message names it: short, and in the words of YAML."""
    if value is None:
        return 'nothing'
    if isinstance(value, Mapping):
        return 'a mapping'
    if isinstance(value, (tuple, list)):
        return f'a list of {len(value)}'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.date):
        return f'the date {value.isoformat()}'
    if isinstance(value, bytes):
        return f'{len(value)} bytes'
    if isinstance(value, (set, frozenset)):
        return f'a set of {len(value)}'
    is_huge = isinstance(value, int) and value.bit_length() > 4 * _SHOWN
    return shortened(hex(value) if is_huge else repr(value), _SHOWN)


def _sentence(error: Mapping[str, Any], owner: type[BaseModel] | None, path: Path) -> str:
    kind, got, context = error['type'], error['input'], error.get('ctx', {})
    unit = _unit(owner, path)
    doc = _doc(owner, path) if kind in _EXPLAINED else ''
    if kind == 'missing':
        unit = '' if unit.strip() in doc else unit
        needed = _needed_in(owner, path) if _is_block(owner, path) else []
        return f'missing. Add it{unit}{": " + doc if doc else ""}' \
               f'{". Its required keys: " + ", ".join(needed) if needed else ""}'
    if kind == 'extra_forbidden':
        known = [field.alias or name for name, field in owner.model_fields.items()] \
            if owner else []
        hint = did_you_mean(str(path[-1]), known)
        return f'unknown key, expected one of {", ".join(known)}.{hint or " Remove it"}'
    if kind in _BOUNDS:
        sign, name = _BOUNDS[kind]
        return f'got {show(got)}, expected a number {sign} {context[name]:g}{unit}' \
               f'{_in_degrees(got) if unit == " (rad)" else ""}'
    if kind in _TYPES:
        return f'got {show(got)}, expected {_TYPES[kind]}{_range(owner, path)}{unit}' \
               f'{_advice(_TYPES[kind], got, owner, path)}'
    if kind == 'literal_error':
        hint = did_you_mean(got if isinstance(got, str) else '',
                            re.findall("'([^']*)'", context['expected']))
        return f'got {show(got)}, expected {context["expected"]}{"." + hint if hint else ""}'
    if kind in ('string_too_short', 'too_short'):
        return (f'got {_size(got)} {_counted(got)}, expected at least {context["min_length"]}. '
                f'Fill it in')
    if kind in ('string_too_long', 'too_long'):
        return (f'got {_size(got)} {_counted(got)}, expected at most {context["max_length"]}. '
                f'Shorten it{": " + doc if doc and not isinstance(got, str) else ""}')
    if kind == 'string_pattern_mismatch':
        return f'got {show(got)}, expected: {doc or "text of the form " + context["pattern"]}'
    if kind == 'value_error':
        return str(context['error'])
    return f'got {show(got)}: {error["msg"]}'


def _in_degrees(got: Any) -> str:
    """Return what to write for a number of radians that is more than a turn."""
    turns = abs(got) / math.tau
    return f'. In degrees? Then write {math.radians(got):.4g}' if 1 < turns <= 360 / math.tau \
        else ''


def _range(owner: type[BaseModel] | None, path: Path) -> str:
    """Return between which bounds a field's number lies, where it has both."""
    field = owner.model_fields.get(str(path[-1])) if owner and path else None
    bounds = [next((value for one in field.metadata if (value := getattr(one, name, None))
                    is not None), None) for name in ('ge', 'le')] if field else []
    return f' from {bounds[0]:g} to {bounds[1]:g}' if None not in bounds and bounds else ''


def _advice(wanted: str, got: Any, owner: type[BaseModel] | None, path: Path) -> str:
    """Return what to do about a value of another type, where that can be said."""
    if wanted == 'a list':
        return f'. {AS_LIST}'
    if wanted == 'a mapping':
        needed = _needed_in(owner, path)
        return f'. {AS_MAPPING}{": " if needed else ""}{", ".join(needed)}'
    if wanted == 'text' and isinstance(got, (bool, int, float, datetime.date)):
        return '. Put it in quotes'  # yes and on are true in YAML, and 2026-02-03 is a date
    if 'number' not in wanted or not isinstance(got, str):
        return ''
    if _PLAIN.fullmatch(got):
        return '. Remove the quotes'
    plain = _plain(got)  # such as 5e2 and 0200, which YAML takes for text
    if plain:
        return f'. Write {plain}, without quotes'
    return '. Write the number alone' if any(map(str.isdecimal, got)) else ''


def _needed_in(owner: type[BaseModel] | None, path: Path) -> list[str]:
    """Return the required keys of the block at a place; empty: it is none."""
    field = owner.model_fields.get(str(path[-1])) if owner and path else None
    block = _model_in(field.annotation) if field else owner
    is_block = field is not None or not path or isinstance(path[-1], int)
    return [one.alias or name for name, one in block.model_fields.items()
            if one.is_required()] if block and is_block else []


def _field(model: type[BaseModel], loc: Path) -> tuple[type[BaseModel] | None, Path, bool]:
    """
    Return the model that the last step of ``loc`` belongs to, and ``loc`` as the file has it.

    The flag tells that pydantic tried one of several types, whose name it puts into ``loc``.
    """
    owner: type[BaseModel] | None = model
    path: Path = ()
    free_name = False
    for index, step in enumerate(loc):
        path = (*path, step)
        field = None if free_name or owner is None or isinstance(step, int) \
            else owner.model_fields.get(step)
        free_name = False
        if field is None or index == len(loc) - 1:
            continue
        if _has_alternatives(field.annotation):
            return owner, path, True
        is_of_numbers = index == len(loc) - 2 and isinstance(loc[-1], int)
        owner = _model_in(field.annotation) or (owner if is_of_numbers else None)
        free_name = get_origin(field.annotation) is Mapping
    return owner, path, False


def _has_alternatives(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _has_alternatives(get_args(annotation)[0])
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    return get_origin(annotation) in (Union, UnionType) and (
        len(kinds) > 1 or _has_alternatives(kinds[0]))


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, '__args__', ()):
        found = _model_in(inner)
        if found is not None:
            return found
    return None


def _unit(owner: type[BaseModel] | None, path: Path) -> str:
    name = next((step for step in reversed(path) if isinstance(step, str)), '')
    field = owner.model_fields.get(name) if owner else None
    extra = field.json_schema_extra if field else None
    return f' ({extra["unit"]})' if isinstance(extra, dict) and 'unit' in extra else ''


_EXPLAINED = 'missing', 'string_pattern_mismatch', 'too_long'
"""Errors that say what the field is for."""


def _is_block(owner: type[BaseModel] | None, path: Path) -> bool:
    field = owner.model_fields.get(str(path[-1])) if owner and path else None
    return field is not None and isinstance(field.annotation, type) \
        and issubclass(field.annotation, BaseModel)


def _doc(owner: type[BaseModel] | None, path: Path) -> str:
    """Return what a field is for: a block's own first line, else what the field's says."""
    field = owner.model_fields.get(str(path[-1])) if owner and path else None
    if owner is None or field is None:
        return ''
    doc = field.annotation.__doc__ if _is_block(owner, path) else None
    told = doc or field.description \
        or explanations(owner).get(field.alias or str(path[-1]), '')
    return inspect.cleandoc(told).partition('\n')[0].rstrip('.') \
        .replace('``', '')


def _size(value: Any) -> int:
    return len(value) if isinstance(value, Sized) else len(str(value))


def _counted(value: Any) -> str:
    return 'entries' if isinstance(value, (tuple, list, Mapping)) else 'characters'


def _plain(text: str) -> str:
    """Return a number in the digits that every reader takes for one; nothing of anything else."""
    try:
        value = float(text)
    except ValueError:
        return ''
    if not math.isfinite(value):
        return ''
    digits, sign, power = repr(value).partition('e')
    if sign and '.' not in digits:
        digits += '.0'  # YAML reads 1e-15 as text
    return digits + sign + power if sign else digits.removesuffix('.0')


def has_keys(data: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return which of some keys a file has, as the reason why a reader takes it."""
    found = [name for name in names if name in data]
    return f'it has the key{"s" if len(found) > 1 else ""} {", ".join(found)}'
