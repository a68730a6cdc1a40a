# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Signals over time on common stamps, their extremes over windows, and intervals of robustness."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
import enum
from functools import reduce
import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Outcome(enum.Enum):
    """What an interval of robustness says."""

    HOLDS = 'holds'
    VIOLATED = 'violated'
    OPEN = 'open'


class Interval(NamedTuple):
    """Bounds on a robustness (a margin): whatever is still unknown, it lies between the two."""

    low: float
    high: float

    @property
    def outcome(self) -> Outcome:
        """Judge the margin; zero is a violation: it is not known to be on the safe side."""
        if self.low > 0:
            return Outcome.HOLDS
        return Outcome.VIOLATED if self.high <= 0 else Outcome.OPEN


UNKNOWN = Interval(-math.inf, math.inf)


class Ending(enum.Enum):
    """
    What is after the end of the observation.

    A bounded window that reaches beyond the end is open, but for ``HELD``. An operator without
    bounds reaches to the end of time (``RUNNING``) or of the observation (the other two).
    """

    RUNNING = 'running'
    """More will come: ``always`` cannot hold yet, ``eventually`` cannot be broken yet."""
    OVER = 'over'
    """The trial is over: without bounds, an operator has seen all it asks for."""
    HELD = 'held'
    """Nothing changes any more: the last values stay for ever, nothing is open."""


Stamps: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trace:
    """
    The values of all signals at each stamp; NaN is unknown.

    :param stamps: shape (n,), ns on one clock, strictly ascending
    :param columns: for each signal shape (n,), SI units
    :param end_ns: how far the signals were observed, not before the last stamp
    """

    stamps: Stamps
    columns: Mapping[str, Values]
    end_ns: int

    def __post_init__(self) -> None:
        if len(self.stamps) and (np.any(self.stamps[1:] <= self.stamps[:-1])
                                 or self.end_ns < self.stamps[-1]):
            raise ValueError('got stamps out of order, expected strictly ascending ones up to '
                             'end_ns. Sort them, and let no two samples share a stamp')
        for name, column in self.columns.items():
            if column.shape != self.stamps.shape:
                raise ValueError(f'{name}: got {column.shape} values for {len(self.stamps)} '
                                 f'stamps, expected one each')


def resample(signals: Mapping[str, tuple[ArrayLike, ArrayLike]], end_ns: int, *,
             begin_ns: int | None = None, stale_ns: Mapping[str, int] | None = None) -> Trace:
    """
    Return signals on the union of their stamps, each value held until the next.

    A signal is unknown before its first sample, where it is NaN, and where its last sample is
    older than it may be. It becomes so at a stamp of its own, or nobody would ask in the gap.

    :param signals: name to (stamps in ns, strictly ascending; values)
    :param begin_ns: the first stamp; what was in force then counts. None: the first sample
    :param stale_ns: how old the last sample of a signal may be, inclusive
    """
    sampled = {name: _with_gaps(np.asarray(stamps, np.int64), np.asarray(values, np.float64),
                                (stale_ns or {}).get(name), end_ns)
               for name, (stamps, values) in signals.items()}
    stamps = _union([stamps for stamps, _ in sampled.values()])
    stamps = stamps[:np.searchsorted(stamps, end_ns, 'right')]
    if begin_ns is not None:
        after = stamps[np.searchsorted(stamps, begin_ns, 'right'):]
        stamps = np.concatenate([np.array([begin_ns], np.int64), after])
    return Trace(stamps, {name: _held(*samples, stamps) for name, samples in sampled.items()},
                 end_ns)


def _union(found: Sequence[Stamps]) -> Stamps:
    """Return all stamps, each once; signals that share theirs, as those of one topic, are free."""
    def joined(so_far: Stamps, more: Stamps) -> Stamps:
        if so_far is more or np.array_equal(so_far, more):
            return so_far
        both = np.sort(np.concatenate([so_far, more]), kind='stable')
        return both[np.flatnonzero(np.diff(both, prepend=both[:1] - 1))]
    return reduce(joined, found, np.empty(0, np.int64)) if len(found) > 1 else \
        found[0] if found else np.empty(0, np.int64)


def _with_gaps(stamps: Stamps, values: Values, stale_ns: int | None,
               end_ns: int) -> tuple[Stamps, Values]:
    """Add an unknown sample where the one before is too old."""
    if np.any(stamps[1:] <= stamps[:-1]):
        raise ValueError('got samples of a signal out of order, expected strictly ascending '
                         'stamps. Sort them, and let no two share a stamp')
    if stale_ns is None or not len(stamps):
        return stamps, values
    too_old = stamps + (stale_ns + 1)
    following = np.append(stamps[1:], end_ns + 1)
    gaps = np.flatnonzero(too_old < following)
    return (np.insert(stamps, gaps + 1, too_old[gaps]), np.insert(values, gaps + 1, np.nan))


def _held(stamps: Stamps, values: Values, at: Stamps) -> Values:
    """Return the value in force at each stamp."""
    if len(stamps) == len(at) and np.array_equal(stamps, at):
        return values
    in_force = np.searchsorted(stamps, at, 'right') - 1
    return np.append(values, np.nan)[in_force]  # index -1: no sample yet


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
