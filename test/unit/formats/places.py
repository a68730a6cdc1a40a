# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where values stand in plain data, so that one of them can be changed."""

from collections.abc import Iterator
from typing import Any

Way = tuple[Any, ...]


def places(value: Any, path: Way = ()) -> Iterator[Way]:
    """Yield the keys and indices that lead to each value inside another, the outer ones first."""
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def holder(data: Any, way: Way) -> Any:
    """Return the mapping or the list in which the last step of a way is a key or an index."""
    for step in way[:-1]:
        data = data[step]
    return data
