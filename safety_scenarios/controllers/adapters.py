# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From a class, a function, own code or a plug-in's name to a controller that is ready to run.

The current folder counts as importable, after everything that is installed.

A controller is a class with ``ControllerPlugin`` as its base, an instance of one, a function of an
observation, or a class or an object as ``campaign.plugin_roles.Controller`` describes it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
import os
from pathlib import Path
import re
import sys
import types
from typing import Any, get_args, get_origin, Literal, Union

from pydantic import ConfigDict, create_model, PrivateAttr, ValidationError
from safety_scenarios.errors import described, did_you_mean, line_of, refused, SettingsError
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.conversation import Turn, Utterance
from safety_scenarios.scenario.event import LONGEST_CAUSE
from safety_scenarios.scenario.message import ChatMessage, Command, Message, Observation
from safety_scenarios.scenario.settings import ControllerContext

_FORM = re.compile(r'[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*')
FORM_EXPECTED = 'MODULE:NAME as Python imports it, such as my_pkg.policy:Policy'


def imported_object(name: str) -> Any:
    """
    Return what ``MODULE:NAME`` is.

    :raises SettingsError: there is no such module, it cannot be imported, or nothing in it has
        the name
    """
    if not _FORM.fullmatch(name):
        raise SettingsError(f'controller: got {name!r}, expected {FORM_EXPECTED}: dots for '
                            f'slashes, and no .py')
    module, _, attribute = name.partition(':')
    if module.endswith('.py') and os.path.isfile(module):
        raise SettingsError(f'controller: got {name}, expected {FORM_EXPECTED}, without .py. '
                            f'Write {module[:-3]}:{attribute}')
    found: Any = _imported(module, name)
    for step in attribute.split('.'):
        try:
            found = getattr(found, step)
        except AttributeError:
            raise SettingsError(_missing(name, module, attribute)) from None
    return found


def _imported(module: str, name: str) -> Any:
    here = os.getcwd()
    if not {here, ''} & set(sys.path):
        sys.path.append(here)  # last: nothing of the user's hides what is installed
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or ''
        if module == missing or module.startswith(f'{missing}.'):
            known = sorted({path.stem for path in Path().glob('*.py')} | {
                path.parent.name for path in Path().glob('*/__init__.py')})
            raise SettingsError(
                f'controller: got {name}, expected a module that can be imported: there is no '
                f'{missing} in {here}, on PYTHONPATH or installed. Run this in the folder that '
                f'holds it, or set PYTHONPATH.{did_you_mean(missing, known)}') from error
        raise SettingsError(f'controller: {name}: {_place(error)}: needs the module {missing}, '
                            f'which is not installed. Install it in {sys.prefix}') from error
    except (Exception, SystemExit) as error:  # whatever the user's code raises
        raise SettingsError(f'controller: {name}: {_place(error)}: cannot be imported: '
                            f'{described(error)}. Correct it there') from error


def _place(error: BaseException) -> str:
    """Return the line of the user's code that went wrong."""
    if isinstance(error, SyntaxError) and error.filename:
        return f'{error.filename}:{error.lineno}'
    found = line_of(error)
    return f'{found[0]}:{found[1]}' if found else 'its module'


def _missing(name: str, module: str, attribute: str) -> str:
    imported = sys.modules[module]
    own = sorted(key for key, value in vars(imported).items() if not key.startswith('_')
                 and getattr(value, '__module__', None) == module and callable(value))
    return (f'controller: got {name}, expected a name in {getattr(imported, "__file__", module)}, '
            f'which has {", ".join(own) or "none of its own"}.{did_you_mean(attribute, own)}')


_PLAIN = (bool, int, float, str, Path, type(None))
_LISTS = (list, tuple, dict, Sequence, Mapping)
_NAMES = ('settings', 'context')


def keywords(thing: type[Any]) -> Mapping[str, tuple[Any, Any]]:
    """
    Return name to (type, default) of what can be set by text; ... for no default.

    What has another type, such as a device, keeps its default.

    :raises SettingsError: a parameter has neither a default nor a type
    """
    found = {}
    for parameter in _parameters(thing):
        kind = parameter.annotation
        default = ... if parameter.default is Parameter.empty else parameter.default
        if kind is Parameter.empty and default is ...:
            raise SettingsError(
                f'controller: got the parameter {parameter.name} with neither a default nor a '
                f'type, expected one of them. Write {parameter.name}: float, or name it settings '
                f'if it takes the settings')
        if kind is Parameter.empty and default is not None:
            kind = type(default)
        if kind is Parameter.empty and default is None:
            kind = str | None
        if _is_plain(kind):
            found[parameter.name] = kind, default
    return found


def takes_settings(thing: type[Any]) -> str | None:
    """Return by which name its constructor takes the settings, None if it does not."""
    try:
        every = list(signature(thing, eval_str=True).parameters.values())
    except (NameError, TypeError, ValueError):
        every = _all(thing)
    for parameter in every:
        kind = parameter.annotation
        if isinstance(kind, type) and issubclass(kind, ControllerContext):
            return parameter.name
    if every and every[0].name in _NAMES:
        return every[0].name
    alone = len(every) == 1 and every[0].kind is Parameter.POSITIONAL_OR_KEYWORD
    is_unknown = alone and every[0].default is Parameter.empty \
        and not _is_plain(every[0].annotation) and every[0].annotation is not Parameter.empty
    return every[0].name if is_unknown else None


def _parameters(thing: type[Any]) -> list[Parameter]:
    told = takes_settings(thing)
    named = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    return [parameter for parameter in _all(thing)
            if parameter.name != told and parameter.kind in named
            and not parameter.name.startswith('_')]


def _all(thing: type[Any]) -> list[Parameter]:
    try:
        return list(signature(thing, eval_str=True).parameters.values())
    except (NameError, TypeError):  # an annotation that only a type checker can read
        return list(signature(thing).parameters.values())
    except ValueError:  # a class of C, which does not tell
        return []


def _is_plain(kind: Any) -> bool:
    """Return whether values of a type can be written as text."""
    origin = get_origin(kind)
    if origin is Literal:
        return True
    if origin in (Union, types.UnionType) or origin in (list, tuple, dict):
        return all(_is_plain(inner) for inner in get_args(kind) if inner is not ...)
    return kind in _PLAIN or kind in _LISTS


Decide = Callable[[Observation], Command | Message | None]
_ASKED = ('decide', 'answer', 'converse')
"""What a controller without our base may have, one of them at least."""


class WrappedController(ControllerPlugin):
    """Runs a class or an object with ``decide``, ``answer`` or ``converse``, and not our base."""

    model_config = ConfigDict(protected_namespaces=())

    _make: Callable[[ControllerContext], Any] = PrivateAttr()
    _wrapped: Any = PrivateAttr(default=None)

    def start(self) -> None:
        self._wrapped = self._make(self.context)

    @property
    def period_ns(self) -> int:
        """Its own wish, or the settings'."""
        wanted: int = getattr(self._wrapped, 'period_ns', super().period_ns)
        return wanted

    @property
    def inputs(self) -> Mapping[str, str]:
        own: Mapping[str, str] | None = getattr(self._wrapped, 'inputs', None)
        return super().inputs if own is None else own

    @property
    def outputs(self) -> Mapping[str, str]:
        own: Mapping[str, str] | None = getattr(self._wrapped, 'outputs', None)
        return super().outputs if own is None else own

    @property
    def answer_delay_ns(self) -> int:
        """Its own wish, or none."""
        wanted: int = getattr(self._wrapped, 'answer_delay_ns', 0)
        return wanted

    @property
    def truncated_by(self) -> str:
        return str(getattr(self._wrapped, 'truncated_by', '') or '')[:LONGEST_CAUSE]

    def decide(self, observation: Observation) -> Command | Message | None:
        """Return its decision, if it commands at all."""
        own: Decide | None = getattr(self._wrapped, 'decide', None)
        return None if own is None else own(observation)

    def side_messages(self, observation: Observation) -> Mapping[str, Message]:
        """Return what it publishes beside its command, if anything."""
        own: Callable[[Observation], Mapping[str, Message]] | None = getattr(
            self._wrapped, 'side_messages', None)
        return {} if own is None else own(observation)

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        own: Callable[[Sequence[ChatMessage]], str | None] | None = getattr(
            self._wrapped, 'answer', None)
        return None if own is None else own(messages)

    def converse(self, turn: Turn) -> Sequence[Utterance]:
        own: Callable[[Turn], Sequence[Utterance]] | None = getattr(
            self._wrapped, 'converse', None)
        return super().converse(turn) if own is None else own(turn)

    def close(self) -> None:
        """Let it hang up, if it can."""
        getattr(self._wrapped, 'close', lambda: None)()


class FunctionController(ControllerPlugin):
    """Commands by a function of the observation, and answers nothing."""

    _function: Decide = PrivateAttr()

    def decide(self, observation: Observation) -> Command | Message | None:
        return self._function(observation)


def parameter_model(thing: Any) -> type[ControllerPlugin]:
    """
    Return the class whose fields are the parameters of a controller.

    :raises SettingsError: it cannot be a controller
    """
    if isinstance(thing, ControllerPlugin):
        return type(thing)
    if isinstance(thing, type) and issubclass(thing, ControllerPlugin):
        return thing
    if any(callable(getattr(thing, name, None)) for name in _ASKED):
        return _keyword_model(thing) if isinstance(thing, type) and keywords(thing) \
            else WrappedController
    if callable(thing) and not isinstance(thing, type):
        return FunctionController
    raise SettingsError(f'controller: got {thing!r:.100}, expected a name, a class or an object '
                        f'with decide(observation), answer(messages) or converse(turn), such '
                        f'as a ControllerPlugin, or a function from an Observation to a Command')


def takes_real_time(thing: Any) -> bool:
    """Return whether a controller thinks where no simulated clock can hold it."""
    return bool(getattr(thing, 'takes_real_time', False))


def has_threads(thing: Any) -> bool:
    """Return whether a controller of ours decides by several threads, so that processors count."""
    return bool(getattr(thing, 'threads', 1) != 1)


def brake_lag(thing: Any) -> float:
    """Return how much too late a simulated robot under a controller brakes."""
    return float(getattr(thing, 'simulated_brake_lag', 0.0))


def make_controller(thing: Any, context: ControllerContext,
                    parameters: Mapping[str, Any] | None = None) -> ControllerPlugin:
    """
    Return a controller that is begun.

    Of a ``ControllerPlugin`` instance it is a new one, so that nothing is carried over from
    scenario to scenario; any other object, and what a function remembers, is used as it is.

    :param parameters: field name to value, instead of the defaults or those of the instance
    :raises SettingsError: it cannot be a controller, or a parameter does not fit
    """
    plugin = configured(thing, parameters or {})
    if isinstance(plugin, WrappedController):
        plugin._make = _constructor(thing, plugin) if isinstance(thing, type) \
            else lambda context: thing
    elif isinstance(plugin, FunctionController):
        plugin._function = thing
    plugin.begin(context)
    return plugin


@cache
def _keyword_model(thing: Any) -> type[ControllerPlugin]:
    """Return the parameters of a plain class as a model."""
    fields: Any = dict(keywords(thing))
    taken = sorted(name for name in fields if hasattr(WrappedController, name))
    if taken:
        raise SettingsError(f'controller: {thing.__module__}:{thing.__qualname__}: got the '
                            f'parameter {taken[0]}, expected another name, because every '
                            f'controller has {taken[0]}. Rename it in the constructor')
    model: type[ControllerPlugin] = create_model(
        thing.__name__, __base__=WrappedController, **fields)
    return model


def _constructor(thing: type[Any],
                 plugin: WrappedController) -> Callable[[ControllerContext], Any]:
    """Return a class as a function of the settings, which it need not take."""
    told = takes_settings(thing)
    values = {name: getattr(plugin, name) for name in keywords(thing)}
    return lambda context: thing(**({} if told is None else {told: context}), **values)


def configured(thing: Any, parameters: Mapping[str, Any]) -> ControllerPlugin:
    """
    Return a controller with its parameters, which is not begun: only they may be looked at.

    :raises SettingsError: it cannot be a controller, or a parameter does not fit
    """
    model = parameter_model(thing)
    if parameters and model is WrappedController and not isinstance(thing, type):
        raise SettingsError(f'controller.{next(iter(parameters))}: got a parameter for an object '
                            f'that is made already, expected none. Give its class instead')
    own = {name: getattr(thing, name) for name in thing.model_fields_set} \
        if isinstance(thing, ControllerPlugin) else {}
    try:
        return model(**{**own, **parameters})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = '.'.join(map(str, first['loc']))
        raise SettingsError(refused(f'controller.{place}', first)) from None
