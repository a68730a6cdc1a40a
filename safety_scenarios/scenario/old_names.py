# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Names in files of earlier versions, and what they are called now; they mean the same.

Whoever reads such a file looks the names up here: a scenario and its bindings with a note to the
user, what a campaign has written without one for each trial.
"""

from collections.abc import Mapping
from typing import Any

KeyPath = tuple[str, ...]
Names = Mapping[KeyPath, str]
"""Path of an old key to the new name of its last step."""

SCENARIO: Names = {('ros', 'clearance'): 'all_clear', ('metadata', 'twin_of'): 'variant_of'}
"""In a scenario file."""
BINDINGS: Names = {('seats',): 'participants'}
"""In the bindings file of a scenario with agents."""
PLAN: Names = {('clearance_ns',): 'all_clear_ns',
               **{('scenario', *path): name for path, name in SCENARIO.items()}}
"""In the plan of a trial, with which its journal and its recording begin."""
MARKS = {'clearance': 'all_clear'}
"""Events that mark a phase."""


def current(data: Mapping[str, Any], names: Names) -> Mapping[str, Any]:
    """Return a copy with the names of today; what is there under both names stays as it is."""
    found = dict(data)
    for (*parents, old), new in names.items():
        _rename(found, parents, old, new)
    return found


def used(data: Mapping[str, Any], names: Names) -> tuple[KeyPath, ...]:
    """Return the old keys in the data."""
    return tuple(path for path in names if _holds(data, path))


def _rename(block: dict[str, Any], parents: list[str], old: str, new: str) -> None:
    for step in parents:
        if not isinstance(block.get(step), Mapping):
            return
        block[step] = block = dict(block[step])
    if old in block and new not in block:
        renamed = {new if name == old else name: value for name, value in block.items()}
        block.clear()
        block.update(renamed)


def _holds(data: Any, path: KeyPath) -> bool:
    for step in path:
        if not isinstance(data, Mapping) or step not in data:
            return False
        data = data[step]
    return True
