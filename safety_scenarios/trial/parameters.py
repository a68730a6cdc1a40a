# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From what the user calls a controller, and its parameters as text, to the controller.

A controller ``my_pkg.policy:Policy`` is a class, an object or a function in the user's own
repository, which need not be packaged: the current folder counts as importable, after everything
that is installed. Only who runs a campaign names a controller so. A scenario file cannot: it would
run any code.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import enum
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
import json
import os
from pathlib import Path, PurePath
import re
import sys
from sysconfig import get_path
from typing import Any, cast

from pydantic import (
    create_model,
    field_validator,
    SecretBytes,
    SecretStr,
    ValidationError,
    ValidationInfo,
)
from pydantic.fields import FieldInfo
from safety_scenarios import registry
from safety_scenarios.controllers.adapters import (
    brake_lag,
    configured,
    FORM_EXPECTED,
    has_threads,
    imported_object,
    parameter_model,
    takes_real_time,
)
from safety_scenarios.controllers.policies.learned import Learned
from safety_scenarios.controllers.policies.model import is_code
from safety_scenarios.controllers.policies.policy import policy_class, PolicyController
from safety_scenarios.errors import (
    did_you_mean,
    refused,
    SettingsError,
    UnknownPluginError,
    USER_INFO,
    without_credentials,
)
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.fields import kinds_of
from safety_scenarios.scenario.servers import ModelServer
from safety_scenarios.scenario.settings import leaves
from safety_scenarios.trial.link import ControllerFacts

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
        kind in (SecretStr, SecretBytes) for kind in kinds_of(field.annotation))


def _from_text(text: str, annotation: Any) -> Any:
    if any(_is_text(kind) for kind in kinds_of(annotation)):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text  # the model says what it expected instead


def _is_text(kind: Any) -> bool:
    return isinstance(kind, str) or (
        isinstance(kind, type) and issubclass(kind, (str, enum.Enum, PurePath)))


def _reason(error: ValidationError, where: str) -> str:
    first = error.errors(include_url=False)[0]
    name = '.'.join(map(str, first['loc']))
    if first['type'] == 'missing':
        return f'{where}{name}: got nothing, expected a value. Set it as {where}{name}=VALUE'
    return refused(f'{where}{name}', first)


_PACKAGE = Path(registry.__file__).parent
_OURS = 'safety_scenarios.controllers.'
_CHAT_MODEL, _ASKS_CHAT_MODEL = 'openai:', 'llm'
"""Beginning of a name that says which chat model is asked, and the controller that asks it."""
IN_PYTHON = 'python'
"""Kind of a policy that is code of the user's own."""


def is_own(name: str) -> bool:
    """Return whether a controller's name says where in the user's own code it is."""
    return ':' in name and not is_policy(name) and not is_chat_model(name)


def is_policy(name: str) -> bool:
    """Return whether a controller's name says where its model is: onnx:policy.onnx."""
    kind, colon, _ = name.partition(':')
    return bool(colon) and registry.is_known('policies', kind)


def is_chat_model(name: str) -> bool:
    """Return whether a controller's name says which chat model it asks, and at which server."""
    return name.startswith(_CHAT_MODEL)


def is_bundled(name: str, given: Any = None) -> bool:
    """
    Return whether a controller comes with the harness, so that its code can be trusted.

    :param given: the controller itself, if no plug-in has the name; of the harness are its classes
    """
    bundled = registry.BUILT_IN['controllers']
    if given is None and is_chat_model(name):
        return True
    if given is None and is_policy(name):
        return not is_code(name.partition(':')[0])
    if given is None:
        return name in bundled
    return isinstance(given, type) and given.__module__.startswith(_OURS) and any(
        registry.resolve('controllers', one) is given for one in bundled)


def named_controller(name: str) -> Any:
    """
    Import a controller.

    :raises UnknownPluginError: no controller has this name
    :raises SettingsError: there is no such module, it cannot be imported, or nothing in it has
        the name or can be a controller
    """
    if is_policy(name):
        kind, _, address = name.partition(':')
        return policy_class(kind, address)
    if is_chat_model(name):
        return _chat_model(name)
    kind = Path(name).suffix.removeprefix('.')
    if kind and registry.is_known('policies', kind):
        raise SettingsError(f'controller: got {name}, expected the kind of the policy before its '
                            f'file: {kind}:{name}')
    if not is_own(name):
        try:
            return registry.resolve('controllers', name)
        except UnknownPluginError as error:
            raise UnknownPluginError('controllers', name, registry.names('controllers'), (
                f' One in code of your own is named {FORM_EXPECTED}')) from error
    found = imported_object(name)
    try:
        parameter_model(found)
    except SettingsError as error:
        raise SettingsError(f'controller: {name}: {str(error).removeprefix("controller: ")}') \
            from None
    return found


@cache
def _chat_model(name: str) -> type[ControllerPlugin]:
    """Return the controller llm with server and model as a name says: openai:URL#MODEL."""
    url, _, model = name.removeprefix(_CHAT_MODEL).partition('#')
    if not url or not model:
        raise SettingsError(f'controller: got {without_credentials(name)!r}, expected '
                            f'{_CHAT_MODEL}URL#MODEL, such as '
                            f'{_CHAT_MODEL}http://127.0.0.1:8080/v1#my-model')
    plugin: type[ControllerPlugin] = registry.resolve('controllers', _ASKS_CHAT_MODEL)
    named = {'base_url': url, 'model': model}
    configured(plugin, named)

    def refuse_another(value: str, info: ValidationInfo) -> str:
        wanted = named[info.field_name or '']
        if value != wanted:
            raise ValueError(f'got {without_credentials(value)!r} beside the controller {name}, '
                             f'expected {wanted!r} or nothing. Set it in one place')
        return value
    made: type[ControllerPlugin] = create_model(
        plugin.__name__, __base__=plugin, __module__=plugin.__module__, __doc__=plugin.__doc__,
        __validators__={'refuse_another': cast(Any, field_validator(*named)(refuse_another))},
        base_url=(str, url), model=(str, model))
    return made


def source_of(name: str) -> tuple[str | None, Path | None]:
    """Return ``module:Class`` of a controller and the file it is in; None for what is unknown."""
    if is_policy(name):
        kind, _, address = name.partition(':')
        path = Path(address)
        if kind != IN_PYTHON:
            return name, path if path.is_file() else None
    known = _ASKS_CHAT_MODEL if is_chat_model(name) else name
    target = name.removeprefix(f'{IN_PYTHON}:') if is_own(name) or is_policy(name) \
        else registry.names('controllers').get(known)
    if target is None:
        return None, None
    spec = _module_spec(target.partition(':')[0])
    return target, Path(spec.origin) if spec and spec.origin and spec.has_location else None


def _module_spec(module: str) -> ModuleSpec | None:
    """Return where a module is, without importing the packages around it."""
    if module in sys.modules:
        return getattr(sys.modules[module], '__spec__', None)
    spec, path, name = None, None, ''
    for step in module.split('.'):
        name = f'{name}.{step}' if name else step
        specs = (finder.find_spec(name, path) for finder in sys.meta_path)
        spec = next((one for one in specs if one is not None), None)
        if spec is None and path is None:
            spec = PathFinder.find_spec(name, [os.getcwd()])
        if spec is None:
            return None
        path = spec.submodule_search_locations
    return spec


def controller_facts(plugin: Any, texts: Sequence[str], server: ModelServer) -> ControllerFacts:
    """
    Return what planning has to know of a controller.

    :param plugin: a class, an object or a function
    :param texts: its parameters as ``KEY=VALUE``
    :raises SettingsError: a parameter that it does not have, or not like this
    """
    model = parameter_model(plugin)
    given = [*server_parameters(server, model), *texts]
    set_up = configured(plugin, read_parameters(given, model))
    needed, files, starts_within_s = _policy_needs(set_up)
    is_set = {*split(given, model), *_own_parameters(plugin, model)}
    return ControllerFacts(
        set_parameters(set_up), tuple(known_parameters(model)),
        tuple(server_parameters(server, model)),
        {name: share for name, share in model.critical_shares.items() if name not in is_set},
        _model(set_up), takes_real_time(plugin), _declared_topics(
            set_up if isinstance(set_up, PolicyController) else plugin), brake_lag(plugin),
        has_threads(set_up), needed, (*files, *class_files(plugin)), starts_within_s)


def class_files(plugin: Any) -> Sequence[str]:
    """Return the files of a controller's class and of those that it inherits from, in order."""
    kind = plugin if isinstance(plugin, type) else type(plugin)
    modules = (sys.modules.get(one.__module__) for one in kind.__mro__
               if one.__module__ not in ('builtins', '__main__'))
    files = (getattr(module, '__file__', None) for module in modules)
    return [file for file in dict.fromkeys(files) if file and not _is_installed(Path(file))]


def _is_installed(file: Path) -> bool:
    """Return whether a file is of a package that a version names, or of Python."""
    return bool({'site-packages', 'dist-packages'} & set(file.parts)) or any(
        file.is_relative_to(place) for place in (_PACKAGE, get_path('stdlib')))


def connection_problem(name: str, texts: Sequence[str], server: ModelServer) -> str:
    """
    Return that the server of a controller's language model cannot be reached; empty: it can.

    Of a controller of the harness that asks one; nothing of others, which report it themselves.

    :param texts: its parameters as ``KEY=VALUE``
    """
    if name != _ASKS_CHAT_MODEL and not is_chat_model(name):
        return ''
    plugin = named_controller(name)
    model = parameter_model(plugin)
    asked: Any = configured(plugin, read_parameters(
        [*server_parameters(server, model), *texts], model))
    return str(asked.connection_problem())


def _policy_needs(plugin: ControllerPlugin) -> tuple[tuple[str, ...], tuple[str, ...], float]:
    """Return the topics that a policy needs, its files, and how long it may take to start (s)."""
    if isinstance(plugin, Learned):
        return (), tuple(map(str, plugin.files)), 0.0
    if not isinstance(plugin, PolicyController):
        return (), (), float(getattr(plugin, 'cold_start_s', 0.0))
    return (tuple(f'{role}:{interface}' for role, interface in plugin.needed.items()),
            tuple(map(str, plugin.files)), plugin.cold_start_s)


def policy_of(name: str, texts: Sequence[str]) -> PolicyController:
    """
    Return a policy with its parameters, which is not begun.

    :param name: for which ``is_policy`` is true
    :raises InputError: a parameter that it does not have, or not like this
    """
    plugin = named_controller(name)
    found = configured(plugin, read_parameters(texts, parameter_model(plugin)))
    assert isinstance(found, PolicyController)
    return found


def _declared_topics(plugin: Any) -> tuple[str, ...]:
    declared = getattr(plugin, 'inputs', None), getattr(plugin, 'outputs', None)
    return tuple(topic for topics in declared if isinstance(topics, Mapping) for topic in topics)


def _model(plugin: ControllerPlugin) -> str:
    """Return the language model that a controller asks; empty if nothing says which."""
    values = plugin.model_dump()
    server = values.get('server')
    inner = server.get('model') if isinstance(server, Mapping) else ''
    return str(values.get('model') or inner or '')


def _own_parameters(plugin: Any, model: type[ControllerPlugin]) -> Iterable[str]:
    """Return the parameters that an object brings with it, and nobody else may set."""
    if isinstance(plugin, ControllerPlugin):
        return plugin.model_fields_set
    return () if isinstance(plugin, type) else model.critical_shares
