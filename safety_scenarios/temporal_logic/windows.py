# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Smallest and largest values over sliding windows, of a whole trace or as it grows."""

from collections.abc import Iterable
import math
from typing import NamedTuple, TypeAlias

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


Known: TypeAlias = tuple[float, float]
"""Lower and upper bound of a robustness."""


class Clamp(NamedTuple):
    """
    x made at most ``hold`` and then at least ``reach``, for the lower and the upper bound.

    One sample of ``hold until reach`` does this to what follows it, so a row of samples is a
    clamp too. ``eventually`` has a ``hold`` of +inf, ``always`` a ``reach`` of -inf.
    """

    reach_low: float
    reach_high: float
    hold_low: float
    hold_high: float

    def after(self, inner: 'Clamp') -> 'Clamp':
        """Return both in one, ``inner`` first."""
        low, high, most_low, most_high = inner
        if low > self.hold_low:
            low = self.hold_low
        if low < self.reach_low:
            low = self.reach_low
        if high > self.hold_high:
            high = self.hold_high
        if high < self.reach_high:
            high = self.reach_high
        return Clamp(low, high,
                     most_low if most_low < self.hold_low else self.hold_low,
                     most_high if most_high < self.hold_high else self.hold_high)

    def of(self, known: Known) -> Known:
        """Return what becomes of two bounds."""
        return (max(self.reach_low, min(self.hold_low, known[0])),
                max(self.reach_high, min(self.hold_high, known[1])))


class Queue:
    """
    Clamps in the order of their stamps, and all of them in one.

    Two stacks: new ones go on the one, and move over to the other, with what all younger ones of
    it come to, when the oldest is asked for. So each is handled a fixed number of times.

    :param forward: whether a later one is applied to what earlier ones gave (past operators), or
        an earlier one to what later ones gave (future operators)
    """

    def __init__(self, *, forward: bool) -> None:
        self._forward = forward
        self._young: list[tuple[int, Clamp]] = []
        self._young_in_one: Clamp | None = None
        self._old: list[tuple[int, Clamp]] = []

    def push(self, t_ns: int, clamp: Clamp) -> None:
        """Add the youngest."""
        self._young.append((t_ns, clamp))
        self._young_in_one = self._joined(self._young_in_one, clamp)

    def drop_before(self, t_ns: int) -> None:
        """Drop the oldest ones that are no longer in force at ``t_ns``."""
        while (second := self._second_ns()) is not None and second <= t_ns:
            self._pop()

    def drop_until(self, t_ns: int) -> None:
        """Drop all with a stamp up to ``t_ns``."""
        self.drop_before(t_ns)
        if (self._old or self._young) and self._first_ns() <= t_ns:
            self._pop()

    def of(self, known: Known) -> Known:
        """Return what becomes of two bounds; the same if the queue is empty."""
        for clamp in self._in_two() if self._forward else reversed(self._in_two()):
            known = clamp.of(known)
        return known

    def hold(self) -> Known:
        """Return the smallest ``hold`` in the queue."""
        both = self._in_two()
        return (min((clamp.hold_low for clamp in both), default=math.inf),
                min((clamp.hold_high for clamp in both), default=math.inf))

    def _in_two(self) -> list[Clamp]:
        """Return the older and the younger half, each in one."""
        halves = (self._old[-1][1] if self._old else None, self._young_in_one)
        return [clamp for clamp in halves if clamp is not None]

    def _joined(self, earlier: Clamp | None, later: Clamp) -> Clamp:
        if earlier is None:
            return later
        return later.after(earlier) if self._forward else earlier.after(later)

    def _first_ns(self) -> int:
        return self._old[-1][0] if self._old else self._young[0][0]

    def _second_ns(self) -> int | None:
        if len(self._old) > 1:
            return self._old[-2][0]
        rest = self._young if self._old else self._young[1:2]
        return rest[0][0] if rest else None

    def _pop(self) -> None:
        if not self._old:
            in_one: Clamp | None = None
            for t_ns, clamp in reversed(self._young):
                in_one = clamp if in_one is None else self._joined(clamp, in_one)
                self._old.append((t_ns, in_one))
            self._young, self._young_in_one = [], None
        self._old.pop()
