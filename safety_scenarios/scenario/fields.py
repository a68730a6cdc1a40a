# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Fields of a noun: values by dotted name and text, and their docstrings as help and schema.

A dotted name leads through groups (``judge.model``), groups that may be left out
(``robot.stopping.time``) and mappings, by their keys (``topics.scan.topic``). The settings that
people type most often have short names.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
import inspect
import json
import re
import sys
import types
from typing import Annotated, Any, get_args, get_origin, Literal, TypeVar, Union

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from safety_scenarios.errors import did_you_mean, SettingsError
import yaml

_Model = TypeVar('_Model', bound=BaseModel)


class Explained(GenerateJsonSchema):
    """
    Describes each property by the docstring below its field.

    Pydantic can look for these whenever a class is made, which takes half of the time that a
    process of this package needs to begin; a schema is hardly ever wanted.
    """

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of one noun with its properties described."""
        found = super().model_schema(schema)
        told = explanations(schema['cls'])
        for name, described in found.get('properties', {}).items():
            if name in told:
                described.setdefault('description', told[name])
        return found


def explanations(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the docstrings of a model's fields, by the names that its files give them."""
    written: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel):
            written.update(_classes(base.__module__).get(base.__qualname__, {}))
    return {field.alias or name: field.description or written[name]
            for name, field in model.model_fields.items() if name in written}


def described(model: type[_Model]) -> type[_Model]:
    """
    Return a model whose fields, and those of the models in it, are described by their docstrings.

    Only who shows them needs it: pydantic's ``use_attribute_docstrings`` looks for them whenever
    a process begins.
    """
    if model not in _DESCRIBED:
        _describe(model)
    return model


_DESCRIBED = set[type[BaseModel]]()


def _describe(model: type[BaseModel]) -> None:
    _DESCRIBED.add(model)
    told = explanations(model)
    for name, field in model.model_fields.items():
        field.description = told.get(field.alias or name, field.description)
        for inner in _models_in(field.annotation):
            described(inner)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


@cache
def _classes(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the docstrings below the fields of each class of a module; none without source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, KeyError):
        return {}
    return {node.name: dict(_fields(node)) for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)}


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in zip(node.body, node.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) \
                and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) \
                and isinstance(below.value.value, str):
            yield field.target.id, inspect.cleandoc(below.value.value)


ANY_KEY, ANY_PATH = '*', '**'
"""Stand for the keys of a mapping in the names of ``names_of``: one, or some below each other."""
_CONTROLLER, _PARAMETERS = 'controller.', 'controller_parameters'
_TRUTH = {'true': True, 'yes': True, 'on': True, 'false': False, 'no': False, 'off': False}
_NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?')


@dataclass(frozen=True, slots=True)
class Setting:
    """One single value of a settings model."""

    name: str
    annotation: Any
    field: FieldInfo


def settings_of(model: type[BaseModel], above: str = '') -> Iterator[Setting]:
    """Yield every single value, with ``*`` in the name where a mapping has its keys."""
    for name, field in model.model_fields.items():
        if is_given(field):
            yield from settings_below(f'{above}{name}', field.annotation, field)


SET_BY_PROGRAM: Mapping[str, Any] = {'set_by_program': True}
"""In the schema of a setting that no user can set, as it states what the program has done."""


def is_given(field: FieldInfo) -> bool:
    """Return whether users can set a setting."""
    return field.json_schema_extra != SET_BY_PROGRAM


def settings_below(name: str, annotation: Any, field: FieldInfo) -> Iterator[Setting]:
    """Yield the value of a name, or all those below it."""
    kind = group_in(annotation)
    if kind is not None:
        yield from settings_of(kind, f'{name}.')
    elif (values := values_in(annotation)) is not None:
        yield from settings_below(f'{name}.{ANY_PATH if values is Any else ANY_KEY}', values,
                                  field)
    else:
        yield Setting(name, annotation, field)


def group_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model of a group, also of one that may be left out."""
    return next((kind for kind in kinds_of(annotation)
                 if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def values_in(annotation: Any) -> Any:
    """Return the type of a mapping's values, None if it is none."""
    return next((get_args(kind)[1] for kind in kinds_of(annotation)
                 if isinstance(get_origin(kind), type)
                 and issubclass(get_origin(kind), Mapping)), None)


def kinds_of(annotation: Any) -> Iterator[Any]:
    """Yield the types and the words that an annotation allows."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        for inner in get_args(annotation):
            yield from kinds_of(inner)
    elif origin is Annotated:
        yield from kinds_of(get_args(annotation)[0])
    elif origin is Literal:
        yield from get_args(annotation)
    else:
        yield annotation


def names_of(model: type[BaseModel]) -> list[str]:
    """Return the dotted names of all values, with ``*`` for the keys of mappings."""
    return [setting.name for setting in settings_of(model)]


def setting_at(model: type[BaseModel], name: str, where: str = '') -> Setting:
    """
    Return the value that a dotted name means.

    :param where: stands before the name in messages
    :raises SettingsError: there is none, or the name is that of a group; says which there are
    """
    parts = name.split('.')
    known = list(settings_of(model))
    for setting in known:
        if _match(parts, setting.name.split('.')):
            return Setting(name, setting.annotation, setting.field)
    below = names_below(name, (one.name for one in known))
    if below:
        raise SettingsError(f'{where}{name}: got the name of a group, expected that of one value: '
                            f'{", ".join(below[:_MOST_SHOWN])}'
                            + (', ...' if len(below) > _MOST_SHOWN else ''))
    raise SettingsError(f'{where}{name}: got an unknown name.'
                        f'{suggestion(name, [one.name for one in known])}')


_MOST_SHOWN = 12
"""Names that a message lists."""


def _match(parts: list[str], pattern: list[str]) -> bool:
    if pattern[-1:] == [ANY_PATH]:
        return len(parts) >= len(pattern) and all(parts) and _match(
            parts[:len(pattern) - 1], pattern[:-1])
    return len(parts) == len(pattern) and all(
        part == step or (step == ANY_KEY and part)
        for part, step in zip(parts, pattern, strict=True))


def matches(name: str, pattern: str) -> bool:
    """Return whether a name is one that a name with ``*`` stands for."""
    return _match(name.split('.'), pattern.split('.'))


def names_below(name: str, known: Iterable[str]) -> list[str]:
    """Return the names of the values in the group that a name is the name of."""
    parts = name.split('.')
    return [_with_keys(one.split('.'), parts) for one in known
            if _match(parts, one.split('.')[:len(parts)]) and not matches(name, one)]


def suggestion(name: str, known: Iterable[str],
               otherwise: str = ' doc/reference/settings.md lists all names') -> str:
    """
    Return which known name is meant.

    :param otherwise: what is said where none is near
    """
    known = list(known)
    last = name.rpartition('.')[2]
    plain = name.replace('.', '_').replace('-', '_')
    near = next((one for one in known if one.replace('.', '_') == plain), None) or next(
        (one for one in known if one.rpartition('.')[2] == last), None)
    if near:
        return f' Did you mean {near!r}?'
    parts = name.split('.')
    alike = [_with_keys(one.split('.'), parts) for one in known]
    return did_you_mean(name, alike) or otherwise


def _with_keys(pattern: list[str], parts: list[str]) -> str:
    """Return a known name with the keys that a wrong one has in the same places."""
    return '.'.join(parts[place] if step in (ANY_KEY, ANY_PATH) and place < len(parts) else step
                    for place, step in enumerate(pattern))


def read_assignments(model: type[BaseModel], texts: Iterable[str],
                     where: str = '--set ') -> dict[str, Any]:
    """
    Return what ``NAME=VALUE`` texts set, nested as the model is.

    ``controller.KEY=VALUE`` is a parameter of the controller, as in ``controller_parameters``. A
    list may be given in several texts, and a group by its kind: ``world=mujoco``.

    :param where: stands before a name in messages
    :raises SettingsError: no such name, no value, two values for one name, or a value of a wrong
        type; limits are those of the model
    """
    found: dict[str, list[str]] = {}
    parameters: list[str] = []
    for text in texts:
        name, equals, value = text.partition('=')
        name = name.strip()
        if not equals:
            raise SettingsError(f'{where}{text}: got no value, expected NAME=VALUE, such as '
                                f'trials=3')
        if name.startswith(_CONTROLLER) and _PARAMETERS in model.model_fields:
            parameters.append(text.strip().removeprefix(_CONTROLLER))
        else:
            found.setdefault(kind_of_group(model, name), []).append(value)
    values = {name: _from_texts(setting_at(model, name, where), texts, where)
              for name, texts in found.items()}
    if parameters:
        values[_PARAMETERS] = (*values.get(_PARAMETERS, ()), *parameters)
    return nested(values)


def kind_of_group(model: type[BaseModel], name: str) -> str:
    """Return the name of a group's kind for that of the group: ``world.kind`` for ``world``."""
    kind = f'{name}.kind'
    return kind if any(matches(kind, one) for one in names_of(model)) else name


def _from_texts(setting: Setting, texts: list[str], where: str) -> Any:
    """Return the one value, or of a list what all texts add to it."""
    if any(get_origin(kind) is tuple for kind in kinds_of(setting.annotation)):
        return tuple(item for text in texts for item in from_text(setting, text, where))
    other = next((text for text in texts if text != texts[0]), None)
    if other is not None:
        raise SettingsError(f'{where}{setting.name}: got {texts[0]!r} and {other!r}, expected one '
                            f'value. Set {setting.name} once')
    return from_text(setting, texts[0], where)


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by dotted name as models nest them."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        *above, last = name.split('.')
        target = found
        for step in above:
            target = target.setdefault(step, {})
        target[last] = value
    return found


def flat(data: Mapping[str, Any], above: str = '') -> Iterator[tuple[str, Any]]:
    """Yield dotted name and value of each single value of nested data."""
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from flat(value, f'{above}{name}.')
        else:
            yield f'{above}{name}', value


def from_text(setting: Setting, text: str, where: str = '') -> Any:
    """
    Return a value from text, as the type of the setting wants it.

    A list has its items separated by blanks or commas; ``[a, "b c"]`` has items with blanks. What
    is no text, number, truth value or list of them is written as in a YAML file, on one line.

    :raises SettingsError: it is no such text
    """
    try:
        return _typed(setting.annotation, text)
    except ValueError as error:
        raise SettingsError(f'{where}{setting.name}: got {text!r}, expected {error}') from None


def _typed(annotation: Any, value: Any) -> Any:
    """Return text, or what YAML makes of it without a guess at types, in the wanted type."""
    kinds = list(kinds_of(annotation))
    if isinstance(value, str):
        return _from_plain(annotation, kinds, value)
    if isinstance(value, Mapping):
        group = group_in(annotation)
        if group is not None:
            fields = group.model_fields
            return {key: _typed(fields[key].annotation, inner) if key in fields else inner
                    for key, inner in value.items()}
        inner_kind = values_in(annotation)
        return {key: _typed(inner_kind, inner) for key, inner in value.items()}
    items = next((kind for kind in kinds if get_origin(kind) is tuple), None)
    if items is None:
        raise ValueError('one value')
    return tuple(_typed(kind, item) for kind, item in _paired(items, value))


def _paired(annotation: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each item of a list with its type; one too many has that of the last."""
    kinds = [kind for kind in get_args(annotation) if kind is not Ellipsis]
    for place, value in enumerate(values):
        yield kinds[min(place, len(kinds) - 1)], value


def _from_plain(annotation: Any, kinds: list[Any], text: str) -> Any:
    bare = text.strip()
    is_text = str in kinds or any(isinstance(kind, str) for kind in kinds)
    is_list = any(get_origin(kind) is tuple for kind in kinds)
    is_group = any(group_in(kind) or values_in(kind) is not None for kind in kinds)
    if (is_list and bare.startswith('[')) or (is_group and bare.startswith('{')):
        return _typed(annotation, _read(bare))
    if is_list:
        items = next(kind for kind in kinds if get_origin(kind) is tuple)
        return tuple(_typed(kind, item) for kind, item in _paired(
            items, bare.replace(',', ' ').split()))
    if type(None) in kinds and bare in ('null', 'none') and not is_text:
        return None
    if bool in kinds and bare.lower() in _TRUTH:
        return _TRUTH[bare.lower()]
    if int in kinds and re.fullmatch(r'[+-]?\d+', bare):
        return int(bare)
    if float in kinds and _NUMBER.fullmatch(bare):
        return float(bare)
    if Any in kinds:
        return guessed(text)
    if is_text:
        return text
    raise ValueError('true or false' if bool in kinds else 'a number' if float in kinds
                     else 'a whole number' if int in kinds else 'it as in a YAML file, on one '
                     'line: {NAME: VALUE, ...}')


def guessed(text: str) -> Any:
    """Return a value of a type that a plug-in decides: what is no JSON is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _read(text: str) -> Any:
    """Return what YAML reads where every scalar is text."""
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        raise ValueError('brackets and quotes that are closed, as in [a, "b c"]') from None


SHORT_NAMES: Mapping[str, str] = {
    'scenarios': 'scenarios',
    'tag': 'selection.tag',
    'domain': 'selection.domain',
    'severity': 'selection.severity',
    'controller': 'controller',
    'base_url': 'server.base_url',
    'model': 'server.model',
    'judge_model': 'judge.model',
    'trials': 'trials',
    'seed': 'seed',
    'jobs': 'jobs',
    'shard': 'shard',
    'gate': 'gate',
    'words': 'words',
    'profile': 'profile',
    'link': 'link',
    'world': 'world.kind',
    'real_time_factor': 'real_time_factor',
    'namespace': 'namespace',
    'remap': 'remap',
    'domain_id': 'domain_id',
    'use_sim_time': 'use_sim_time',
    'calibration': 'calibration',
    'output': 'output',
    'record': 'record',
    'junit': 'junit',
}
"""Short name to the dotted name of its setting, in the order in which they are shown."""
NO_OPTIONS = frozenset({'base_url', 'judge_model', 'real_time_factor', 'use_sim_time'})
"""Short names that launch files have and ``safety-scenarios run`` has not."""
