# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Slow files come first: a worker that begins with one last of all would leave the other idle.

Of those that talk DDS it is the ones that let nobody run beside them.

Where few examples are wanted, every twelfth case of a slow test is tried, every eighth of one with
many cases, every fourth of one with some, and no test that is thorough; the last line of pytest
counts the others as deselected. A test that classes inherit has a case in each.
"""

from collections import Counter
from zlib import crc32

from examples import FEW
import pytest

_FIRST = ('slow', 'environment', 'linter')
_OF_SLOW, _OF_MANY, _OF_SOME = 12, 8, 4
_MANY, _SOME = 6, 3
"""Cases of one test."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the files with such a test before the others, without changing the order in either."""
    if FEW:
        _leave_out(config, items)
    first = {item.path for item in items if any(
        item.get_closest_marker(name)
        for name in (('exact',) if item.get_closest_marker('alone') else _FIRST))}
    items.sort(key=lambda item: item.path not in first)


def _leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep some cases of each slow test, and of each with many."""
    names = [_name(item) for item in items]
    cases, seen = Counter(names), Counter[str]()
    kept, left_out = [], []
    for item, name in zip(items, names, strict=True):
        if item.get_closest_marker('thorough') is not None:
            left_out.append(item)
            continue
        is_slow = item.get_closest_marker('slow') is not None
        every = 1 if cases[name] == 1 else _OF_SLOW if is_slow \
            else _OF_MANY if cases[name] >= _MANY else _OF_SOME if cases[name] >= _SOME else 1
        first = crc32(name.encode()) % min(every, cases[name]) \
            if getattr(item, 'cls', None) else 0  # or one class would have every test
        (left_out if (seen[name] - first) % every else kept).append(item)
        seen[name] += 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def _name(item: pytest.Item) -> str:
    """Return what the cases of a test have in common, also where classes inherit it."""
    if getattr(item, 'cls', None) is None:
        return item.nodeid.partition('[')[0]
    return f'{item.function.__module__}.{item.function.__qualname__}'
