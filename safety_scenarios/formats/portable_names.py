# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Names of files that say nothing of the machine: what a campaign leaves may be sent to another team.

An installed file is ``package://PACKAGE/...`` as in ROS, any other absolute path its last part.
A relative path stays as it is.
"""

from collections.abc import Mapping
from functools import lru_cache
import os
import re
import tempfile
from typing import Any, TypeVar

from pydantic import BaseModel
from safety_scenarios.errors import InputError
from safety_scenarios.formats.scenario_files import PACKAGE, prefixes, share_folder

_Model = TypeVar('_Model', bound=BaseModel)
_PLACES = re.compile(r'(?:(?<=file://)|(?<![\w:/.~-]))(?:/[^/\s\'"<>|:;,()]+){2,}/?')
"""Absolute paths of two parts at least within a text; a topic may look the same."""
_FIELDS = frozenset(('output', 'junit', 'scenarios', 'sut_artifact', 'cache'))
"""Of settings: they hold paths, whether there is a file or not."""


@lru_cache(maxsize=1024)
def portable_name(path: str) -> str:
    """Return a file's name without where this machine keeps it."""
    if not path.startswith(('/', '~')):
        return '/'.join(part for part in path.split('/') if part != '..') or path
    for name, share in _shares(path):
        if path.startswith(f'{share}/'):
            return f'package://{name}/{path[len(share) + 1:]}'
    return path.rstrip('/').rpartition('/')[2]


def _shares(path: str) -> list[tuple[str, str]]:
    """Return the packages that a path may be in, with their share folders."""
    found = list[tuple[str, str]]()
    try:
        found.append((PACKAGE, str(share_folder())))
    except InputError:
        pass
    for prefix in prefixes():
        below = path.removeprefix(f'{prefix}/share/')
        if below != path:
            name = below.partition('/')[0]
            found.append((name, f'{prefix}/share/{name}'))
    return found


def without_places(text: str) -> str:
    """Return a text, such as a traceback, with the names of files instead of their paths."""
    return _PLACES.sub(lambda found: portable_name(found[0]) if _is_place(found[0])
                       else found[0], text) if '/' in text else text


def _is_place(path: str) -> bool:
    """Return whether a text that looks like a path is none of a topic or a service."""
    own = (os.path.expanduser('~'), os.getcwd(), tempfile.gettempdir())
    if any(path == place or path.startswith(f'{place}/') for place in own if place != '/'):
        return True
    above = os.path.dirname(path.rstrip('/'))
    return os.path.lexists(path) or (above.count('/') > 1 and os.path.isdir(above))


def portable(model: _Model) -> _Model:
    """
    Return settings, or a controller's parameters, with names of files instead of paths.

    The profile of settings stays, because its values are read again.
    """
    changes = {name: _portable(name, value) for name, value in model
               if value is not None and name != 'profile'}
    return model.model_copy(update={name: value for name, value in changes.items()
                                    if value != getattr(model, name)})


def _portable(name: str, value: Any) -> Any:
    if isinstance(value, str):
        if name in _FIELDS or (value.startswith('/') and _is_place(value)):
            return portable_name(value)
        key, equals, rest = value.partition('=')
        return key + equals + portable_name(rest) \
            if rest.startswith('/') and _is_place(rest) else value
    if isinstance(value, BaseModel):
        return portable(value)
    if isinstance(value, Mapping):
        return {key: _portable(str(key), inner) for key, inner in value.items()}
    return tuple(_portable(name, inner) for inner in value) if isinstance(value, tuple) else value
