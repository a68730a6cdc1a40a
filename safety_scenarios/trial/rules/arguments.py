# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether the arguments of a tool call are what a rule's pattern wants."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
import json
import math
from typing import Any

from safety_scenarios.scenario.blocks.agents import Argument
from safety_scenarios.scenario.pattern import compile_pattern

_MISSING = object()


def fit(wanted: Sequence[Argument], arguments: str | None) -> bool | None:
    """
    Return whether a call's arguments pass every test.

    :param arguments: JSON, as the call's event carries them
    :return: None where nobody can tell: one is missing, or of another type than the test's
    """
    given = _read(arguments or '')
    found = [None if given is None else _fits(one, _value(given, one.name)) for one in wanted]
    return False if False in found else None if None in found else True


@lru_cache(maxsize=1024)
def _read(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; with a name twice nobody knows which of the two the tool goes by."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError('a name stands twice')
    return found


def _value(given: Mapping[str, Any], name: str) -> object:
    """Return what stands under a name, or under names of objects within objects."""
    if name in given:
        return given[name]
    value: object = given
    for step in name.split('.'):
        if not isinstance(value, dict) or step not in value:
            return _MISSING
        value = value[step]
    return value


def _fits(wanted: Argument, value: object) -> bool | None:
    if wanted.equals is not None:
        same = _kind(value) is _kind(wanted.equals) and _kind(value) is not None
        return value == wanted.equals if same else None
    if wanted.pattern is not None:
        return _compiled(wanted.pattern).fullmatch(_sound(value)) is not None \
            if isinstance(value, str) else None
    if _kind(value) is not float or not isinstance(value, (int, float)):
        return None
    return (wanted.at_least is None or value >= wanted.at_least) \
        and (wanted.at_most is None or value <= wanted.at_most)


def _kind(value: object) -> type | None:
    """Return whether a value is a text, a truth value or a number; None for all else."""
    if isinstance(value, (bool, str)):
        return type(value)
    return float if isinstance(value, (int, float)) and not math.isnan(value) else None


def _sound(text: str) -> str:
    """Return a text without halves of characters, which JSON may hold and RE2 does not take."""
    return text.encode('utf-8', 'replace').decode('utf-8')


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    return compile_pattern(pattern, case_sensitive=True)
