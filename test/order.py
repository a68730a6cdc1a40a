# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Slow files come first: a worker that begins with one last of all would leave the other idle.

Of those that talk DDS it is the ones that let nobody run beside them.

Where few examples are wanted, every third case of a slow test is tried; the last line of pytest
counts the others as deselected.
"""

from collections import Counter

from examples import FEW
import pytest

_FIRST = ('slow', 'environment', 'linter')


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the files with such a test before the others, without changing the order in either."""
    if FEW:
        _leave_out(config, items)
    first = {item.path for item in items if any(
        item.get_closest_marker(name)
        for name in (('exact',) if item.get_closest_marker('alone') else _FIRST))}
    items.sort(key=lambda item: item.path not in first)


def _leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep every third case of each slow test."""
    seen: Counter[tuple[object, str]] = Counter()
    kept, left_out = [], []
    for item in items:
        if item.get_closest_marker('slow') is not None and hasattr(item, 'callspec'):
            key = item.path, item.originalname
            seen[key] += 1
            if seen[key] % 3 != 1:
                left_out.append(item)
                continue
        kept.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept
