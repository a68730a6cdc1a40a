# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The parameters of a plain class: what its constructor takes by name, with a plain type."""

from collections.abc import Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path
import types
from typing import Any, get_args, get_origin, Literal, Union

from safety_scenarios.scenario.settings import ControllerContext

_PLAIN = (bool, int, float, str, Path, type(None))
_LISTS = (list, tuple, dict, Sequence, Mapping)
_NAMES = ('settings', 'context')


def keywords(thing: type[Any]) -> Mapping[str, tuple[Any, Any]]:
    """
    Return name to (type, default) of what can be set by text; ... for no default.

    What has another type, such as a device, keeps its default. A constructor that takes one thing
    of which nothing is known takes the settings, as ``campaign.plugin_roles.Controller`` says.
    """
    found = {}
    for parameter in _parameters(thing):
        kind = parameter.annotation
        default = ... if parameter.default is Parameter.empty else parameter.default
        if kind is Parameter.empty and default not in (..., None):
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
        and not _is_plain(every[0].annotation)
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
