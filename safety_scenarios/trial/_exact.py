# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Plain data as JSON and back without any loss, and what a copy of it has lost.

JSON arrays are tuples. What else JSON cannot say, such as NaN, stands under the key ``$``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
import json
import math
from typing import Any

from safety_scenarios.errors import in_words, TraceError

_KEY = '$'
_NON_FINITE = {'nan': math.nan, 'inf': math.inf, '-inf': -math.inf}
_PLAIN = {int, bool, str, type(None)}
_TAGS: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    list: ('list', tuple, list), set: ('set', tuple, set),
    bytes: ('bytes', bytes.hex, bytes.fromhex),
    date: ('date', date.isoformat, date.fromisoformat),
    datetime: ('datetime', datetime.isoformat, datetime.fromisoformat)}
"""What YAML gives besides: name, and how to plain data and back."""
_MAKE = {name: make for name, _, make in _TAGS.values()} | {'mapping': dict}
_encode = json.JSONEncoder(allow_nan=False, separators=(',', ':')).encode


def to_text(value: Any) -> str:
    """
    Return plain data as one line of ASCII.

    :raises TraceError: it is no plain data
    """
    return _encode(_tagged(value))


def from_text(text: str) -> Any:
    """
    Return the plain data of a line; every NaN in it is ``math.nan``.

    :raises TraceError: it is no such line
    """
    try:
        return _untagged(json.loads(text))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise TraceError(f'got the line {text:.60}, expected plain data as JSON: '
                         f'{in_words(error)}') from None


def _tagged(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {_KEY: repr(float(value))}
    if kind is tuple:
        if set(map(type, value)) == {float} and math.isfinite(sum(value)):
            return value
        return [_tagged(item) for item in value]
    if isinstance(value, Mapping):
        if set(map(type, value)) <= {str} and _KEY not in value:
            return {key: inner if type(inner) in _PLAIN else _tagged(inner)
                    for key, inner in value.items()}
        return {_KEY: 'mapping', 'items': _tagged(tuple(value.items()))}
    if kind in _TAGS:
        name, plain, _ = _TAGS[kind]
        return {_KEY: name, 'items': _tagged(plain(value))}
    raise TraceError(f'got {value!r:.60} of type {kind.__name__}, expected plain data: numbers, '
                     f'text, tuples and mappings of text. Let the plug-in that made it convert it')


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_untagged(item) for item in value)
    if not isinstance(value, dict):
        return value
    tag = value.get(_KEY)
    if tag is None:
        return {key: _untagged(inner) for key, inner in value.items()}
    return _NON_FINITE[tag] if tag in _NON_FINITE else _MAKE[tag](_untagged(value['items']))


@dataclass
class Loss:
    """What a copy of a message's data has too much, and where it is not the same."""

    without: list[str] = field(default_factory=list)
    """Paths of fields that the data leaves out, such as ``header`` or ``pose.orientation``."""
    exact: dict[str, Any] = field(default_factory=dict)
    """Path to the value that the copy has not kept; an empty path is all of it."""

    @classmethod
    def between(cls, data: Mapping[str, Any], copy: Mapping[str, Any]) -> 'Loss':
        """Return how ``copy`` differs from ``data``, in types and order of fields too."""
        loss = cls()
        loss._look(data, copy, '')
        return loss

    def restore(self, copy: dict[str, Any]) -> Any:
        """
        Return the data that a copy was made of; the copy itself is changed.

        :raises KeyError: it is another message's copy
        """
        for path in self.without:
            inner, name = _inside(copy, path)
            del inner[name]
        for path, value in self.exact.items():
            if not path:
                return value
            inner, name = _inside(copy, path)
            inner[name] = value
        return copy

    def _look(self, data: Any, copy: Any, path: str) -> None:
        if type(data) is not dict or type(copy) is not dict or \
                list(data) != [name for name in copy if name in data]:
            self.exact[path] = data
            return
        if len(data) < len(copy):
            self.without += [_joined(path, name) for name in copy if name not in data]
        for name, value in data.items():
            if type(value) is dict:
                self._look(value, copy[name], _joined(path, name))
            elif not _same(value, copy[name]):
                self.exact[_joined(path, name)] = value


def _joined(path: str, name: str) -> str:
    return f'{path}.{name}' if path else name


def _inside(copy: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    *outer, name = path.split('.')
    for step in outer:
        copy = copy[step]
    return copy, name


def _same(data: Any, copy: Any) -> bool:
    """Return whether two values are the same in type too; NaN is the same as NaN."""
    if type(data) is not type(copy):
        return False
    if isinstance(data, float):
        return data == copy or (data != data and copy != copy)
    if isinstance(data, tuple):
        if set(map(type, data)) == set(map(type, copy)) == {float} and data == copy:
            return True
        return len(data) == len(copy) and all(map(_same, data, copy))
    if isinstance(data, dict):
        return list(data) == list(copy) and all(map(_same, data.values(), copy.values()))
    return bool(data == copy)
