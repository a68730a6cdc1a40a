# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A controller's parameters from text, as its own model says them, and back to what was set."""

from collections.abc import Iterator, Mapping, Sequence
import enum
import json
from pathlib import PurePath
import re
import types
from typing import Annotated, Any, get_args, get_origin, Literal, Union

from pydantic import SecretBytes, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from safety_scenarios.errors import did_you_mean, refused, SettingsError, USER_INFO
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.servers import ModelServer
from safety_scenarios.scenario.settings import leaves

WHERE = 'controller.'
"""Stands before a parameter's name on the command line and in messages."""
_SECRET = re.compile(r'(^|_)(api_?key|access_?key|private_?key|token|password|passwd|secret|'
                     r'credentials?|auth|authorization|bearer|pwd|passphrase)$', re.IGNORECASE)


def known_parameters(model: type[ControllerPlugin]) -> dict[str, FieldInfo]:
    """Return dotted name to field of every parameter of a controller that may be set."""
    return {'.'.join(path): field for path, field in leaves(model) if not _is_secret(path, field)}


def split(texts: Sequence[str], model: type[ControllerPlugin],
          where: str = WHERE) -> dict[str, str]:
    """
    Return today's name to text of the parameters that are set.

    :param texts: ``KEY=VALUE``
    :raises SettingsError: no such parameter, a secret, or two values for one
    """
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition('=')
        key = key.strip()
        if not equals:
            raise SettingsError(f'{where}{key}: got no value, expected {where}KEY=VALUE')
        name = model.old_names.get(key, key)
        _refuse_unknown(name, key, model, where)
        if found.setdefault(name, value) != value:
            raise SettingsError(f'{where}{key}: got {found[name]!r} and {value!r}, expected one '
                                f'value. Set {name} once')
    return found


def server_parameters(server: ModelServer, model: type[ControllerPlugin]) -> Iterator[str]:
    """Yield what the settings say of a model's server, for a controller that asks one."""
    known = known_parameters(model)
    for path, _ in leaves(ModelServer):
        name, value = f'server.{path[0]}', getattr(server, path[0])
        if value and (name in known or name in model.old_names):
            yield to_text(name, value)


def read_parameters(texts: Sequence[str], model: type[ControllerPlugin],
                    where: str = WHERE) -> dict[str, Any]:
    """
    Return field name to value, typed and checked by the controller's own model.

    A value is JSON, such as ``0.5``, ``true`` or ``["a", "b"]``; where text is wanted it is taken
    as it stands.

    :raises SettingsError: a parameter that is unknown, missing or of the wrong type or size
    """
    fields = known_parameters(model)
    data: dict[str, Any] = {}
    for name, text in split(texts, model, where).items():
        *above, last = name.split('.')
        target = data
        for step in above:
            target = target.setdefault(step, {})
        target[last] = _from_text(text, fields[name].annotation)
        if json.dumps(_without_secrets(target[last])) != json.dumps(target[last]):
            raise _refused_secret(where + name)
    try:
        made = model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        raise SettingsError(_reason(error, where)) from None
    return {name: getattr(made, name) for name in made.model_fields_set}


def to_text(name: str, value: Any) -> str:
    """Return ``KEY=VALUE`` that reads as this value."""
    return f'{name}={value if isinstance(value, str) else json.dumps(value)}'


def set_parameters(plugin: ControllerPlugin) -> dict[str, Any]:
    """Return dotted name to JSON value of the parameters that differ from their defaults."""
    known, model = known_parameters(type(plugin)), type(plugin)
    defaults = dict(_flat(model.model_construct().model_dump(mode='json'), known))
    return {name: _without_secrets(value)
            for name, value in _flat(plugin.model_dump(mode='json'), known)
            if name in known and not (name in defaults and value == defaults[name])}


def _flat(data: Mapping[str, Any], known: Mapping[str, FieldInfo],
          prefix: str = '') -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        name = f'{prefix}{key}'
        if isinstance(value, Mapping) and name not in known:
            yield from _flat(value, known, f'{name}.')
        else:
            yield name, value


def _refuse_unknown(name: str, key: str, model: type[ControllerPlugin], where: str) -> None:
    known = sorted(known_parameters(model))
    if name in known:
        return
    if _SECRET.search(name.rpartition('.')[2]) or name in {
            '.'.join(path) for path, _ in leaves(model)}:
        raise _refused_secret(where + key)
    listed = f'one of {", ".join(known)}' if known else 'none: this controller has no parameters'
    raise SettingsError(f'{where}{key}: got an unknown parameter, expected {listed}.'
                        f'{did_you_mean(key, known)}')


def _refused_secret(name: str) -> SettingsError:
    return SettingsError(f'{name}: got a secret, expected none here, because parameters are '
                         f'recorded in every trace. Let the controller read it from an '
                         f'environment variable')


def _without_secrets(value: Any) -> Any:
    """Return a JSON value without what its keys, or an address in it, tell to be secret."""
    if isinstance(value, Mapping):
        return {key: _without_secrets(inner) for key, inner in value.items()
                if not _SECRET.search(str(key))}
    if isinstance(value, (list, tuple)):
        return [_without_secrets(inner) for inner in value]
    return USER_INFO.sub('', value) if isinstance(value, str) else value


def _is_secret(path: Sequence[str], field: FieldInfo) -> bool:
    return bool(_SECRET.search(path[-1])) or any(
        kind in (SecretStr, SecretBytes) for kind in _kinds(field.annotation))


def _from_text(text: str, annotation: Any) -> Any:
    if any(_is_text(kind) for kind in _kinds(annotation)):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text  # the model says what it expected instead


def _is_text(kind: Any) -> bool:
    return isinstance(kind, str) or (
        isinstance(kind, type) and issubclass(kind, (str, enum.Enum, PurePath)))


def _kinds(annotation: Any) -> Iterator[Any]:
    """Yield the types and the words that an annotation allows."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _kinds(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        for inner in get_args(annotation):
            yield from _kinds(inner)
    elif origin is Literal:
        yield from get_args(annotation)
    else:
        yield annotation


def _reason(error: ValidationError, where: str) -> str:
    first = error.errors(include_url=False)[0]
    name = '.'.join(map(str, first['loc']))
    if first['type'] == 'missing':
        return f'{where}{name}: got nothing, expected a value. Set it as {where}{name}=VALUE'
    return refused(f'{where}{name}', first)
