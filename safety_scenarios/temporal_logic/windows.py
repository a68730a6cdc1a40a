# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Smallest and largest values over sliding windows of a whole trace."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from safety_scenarios.temporal_logic.trace import Values

Indices = NDArray[np.int64]


def extreme(choose: np.ufunc, rows: Values, first: Indices, last: Indices) -> Values:
    """
    Return the smallest or largest value over one window of indices for each column.

    Doubles the width of a table of all windows until it is half the longest one: each window is
    then covered by two entries of the row of its width, wherever it begins and however long it is.

    :param choose: numpy's minimum or maximum
    :param rows: shape (r, n)
    :param first: shape (m,), inclusive
    :param last: shape (m,), inclusive, not before ``first``
    """
    length = last - first + 1
    doublings = np.frexp(length)[1] - 1
    found = np.empty((len(rows), len(first)))
    table, width = rows, 1
    for level in range(int(doublings.max(initial=0)) + 1):
        chosen = np.flatnonzero(doublings == level)
        if chosen.size:
            begin, end = first[chosen], last[chosen] - (width - 1)
            for row, source in zip(found, table, strict=True):
                row[chosen] = choose(source[begin], source[end])
        table = choose(table[:, :-width], table[:, width:])
        width *= 2
    return found


def so_far(choose: np.ufunc, rows: Values) -> Values:
    """Return the smallest or largest value up to each column."""
    return np.asarray(choose.accumulate(rows, axis=1))


def from_here(choose: np.ufunc, rows: Values) -> Values:
    """Return the smallest or largest value from each column on."""
    return so_far(choose, rows[:, ::-1])[:, ::-1]


def until(hold: Values, reach: Values, beyond: tuple[float, float]) -> Values:
    """
    Return ``hold until reach`` without bounds, by one pass from the end.

    :param hold: shape (2, n)
    :param reach: shape (2, n)
    :param beyond: what it is after the last column, for each row
    """
    return np.array([list(_clamped(held[::-1], reached[::-1], last))[::-1]
                     for held, reached, last in zip(hold, reach, beyond, strict=True)])


def since(hold: Values, reach: Values) -> Values:
    """Return ``hold since reach`` without bounds; shapes as in ``until``."""
    return np.array([list(_clamped(held, reached, -np.inf))
                     for held, reached in zip(hold, reach, strict=True)])


def _clamped(hold: Values, reach: Values, found: float) -> Iterable[float]:
    """Yield ``found`` made at most ``hold``, then at least ``reach``, over and over."""
    for most, least in zip(hold.tolist(), reach.tolist(), strict=True):
        if found > most:
            found = most
        if found < least:
            found = least
        yield found
