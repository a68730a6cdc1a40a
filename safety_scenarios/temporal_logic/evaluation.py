# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A formula over a whole trace, or sample by sample, and which predicate and sample decided.

What must always hold is asked at each sample of a window of the recent past, as soon as the past
that it looks back to is in the window. What it looks ahead to may still come: that is open, and
nothing unknown.
"""

from collections.abc import Iterator
import math
from typing import NamedTuple, TypeAlias

import numpy as np
from safety_scenarios.errors import InputError
from safety_scenarios.temporal_logic.formula import (
    And,
    Bounds,
    children,
    Constant,
    Edge,
    Formula,
    Future,
    Iff,
    Implies,
    Not,
    Or,
    Past,
    Predicate,
    reader,
    Since,
    Until,
)
from safety_scenarios.temporal_logic.trace import (
    Ending,
    extreme,
    from_here,
    Indices,
    Interval,
    since,
    so_far,
    Trace,
    UNKNOWN,
    until,
    Values,
)

Rows: TypeAlias = Values
"""
Robustness at each stamp: the lower and the upper bound, or one row where both are the same.

Row 0 is always the lower and row -1 the upper bound, and numpy broadcasts one row to two.
"""
_INF = math.inf


def evaluate(formula: Formula, trace: Trace, ending: Ending = Ending.RUNNING) -> Interval:
    """Return what a trace says of a formula at its first stamp; nothing says an empty one."""
    return Evaluation(formula, trace, ending).interval


class Evaluation:
    """
    A formula and all that is below it, at each stamp of a trace.

    :param ending: what comes after the trace's end
    """

    def __init__(self, formula: Formula, trace: Trace, ending: Ending = Ending.RUNNING) -> None:
        self.formula = formula
        self.trace = trace
        self.ending = ending
        self._t = trace.stamps
        self._n = len(trace.stamps)
        self._known: dict[int, tuple[Formula, Rows]] = {}

    @property
    def interval(self) -> Interval:
        """Return the formula at the first stamp."""
        return self.at(self.formula, 0) if self._n else UNKNOWN

    def at(self, node: Formula, index: int) -> Interval:
        """Return a part of the formula at one stamp."""
        rows = self.rows(node)
        return Interval(float(rows[0, index]), float(rows[-1, index]))

    def rows(self, node: Formula) -> Rows:
        """Return a part of the formula at each stamp, shape (1, n) or (2, n)."""
        if id(node) not in self._known:
            with np.errstate(all='ignore'):
                self._known[id(node)] = node, self._rows(node)
        return self._known[id(node)][1]

    def window(self, node: Future | Past, index: int) -> tuple[int, int]:
        """Return first and last sample that an operator looks at; last < first: at none."""
        if node.bounds is None:
            return (index, self._n - 1) if isinstance(node, Future) else (0, index)
        first, last = self._ahead(node.bounds) if isinstance(node, Future) \
            else self._behind(node.bounds)
        return int(first[index]), int(last[index])

    def _rows(self, node: Formula) -> Rows:
        match node:
            case Constant(value):
                return np.full((1, self._n), _INF if value else -_INF)
            case Predicate():
                return self._predicate(node)
            case Not(part):
                return _opposite(self.rows(part))
            case And(parts):
                return self._all(np.minimum, parts)
            case Or(parts):
                return self._all(np.maximum, parts)
            case Implies(left, right):
                return np.maximum(_opposite(self.rows(left)), self.rows(right))
            case Iff(left, right):
                one, other = self.rows(left), self.rows(right)
                return np.minimum(np.maximum(_opposite(one), other),
                                  np.maximum(_opposite(other), one))
            case Edge(part, rising):
                now = self.rows(part) if rising else _opposite(self.rows(part))
                return np.minimum(now, np.pad(_opposite(now)[:, :-1], ((0, 0), (1, 0)),
                                              constant_values=_INF))
            case Future(part, every, bounds):
                return self._future(self.rows(part), every, bounds)
            case Past(part, every, bounds):
                return self._past(self.rows(part), every, bounds)
            case Until():
                return self._until(node)
            case Since():
                return self._since(node)

    def _predicate(self, node: Predicate) -> Rows:
        columns = self.trace.columns
        margin = reader(node.larger)(columns) - reader(node.smaller)(columns)
        unknown = np.isnan(margin)
        if not unknown.any():
            return np.asarray(margin)[None]
        return np.array([np.where(unknown, -_INF, margin), np.where(unknown, _INF, margin)])

    def _all(self, choose: np.ufunc, parts: tuple[Formula, ...]) -> Rows:
        found = self.rows(parts[0])
        for part in parts[1:]:
            found = choose(found, self.rows(part))
        return found

    def _ahead(self, bounds: Bounds) -> tuple[Indices, Indices]:
        """Return for each stamp the samples in force within a window after it."""
        first = np.arange(self._n) if not bounds.first_ns else \
            np.searchsorted(self._t, self._t + bounds.first_ns, 'right') - 1
        return first, np.searchsorted(self._t, self._t + bounds.last_ns, 'right') - 1

    def _behind(self, bounds: Bounds) -> tuple[Indices, Indices]:
        """Return for each stamp the samples in force within a window before it; -1: too early."""
        first = np.searchsorted(self._t, self._t - bounds.last_ns, 'right') - 1
        last = np.arange(self._n) if not bounds.first_ns else \
            np.searchsorted(self._t, self._t - bounds.first_ns, 'right') - 1
        return np.maximum(first, 0), last

    def _observed_stamps(self, after_ns: int) -> int:
        """Return for how many stamps the time that much later was observed."""
        return int(np.searchsorted(self._t, self.trace.end_ns - after_ns, 'right'))

    def _open(self, rows: Rows, bounds: Bounds | None, *, low: bool, high: bool) -> Rows:
        """
        Return rows with what windows beyond the end leave open.

        A window that has begun leaves one bound open, one that has not leaves both.

        :param low: whether a window that has begun may still go down
        :param high: whether it may still go up
        """
        if self.ending is Ending.HELD or (bounds is None and self.ending is Ending.OVER):
            return rows
        over, begun = (self._observed_stamps(bounds.last_ns),
                       self._observed_stamps(bounds.first_ns)) if bounds else \
            (0, self._n)
        if over == self._n:
            return rows
        found = np.array(np.broadcast_to(rows, (2, self._n)))
        found[0, over if low else begun:] = -_INF
        found[1, over if high else begun:] = _INF
        return found

    def _future(self, rows: Rows, every: bool, bounds: Bounds | None) -> Rows:
        choose = np.minimum if every else np.maximum
        found = from_here(choose, rows) if bounds is None else \
            extreme(choose, rows, *self._ahead(bounds))
        return self._open(found, bounds, low=every, high=not every)

    def _past(self, rows: Rows, every: bool, bounds: Bounds | None) -> Rows:
        choose = np.minimum if every else np.maximum
        if bounds is None:
            return so_far(choose, rows)
        first, last = self._behind(bounds)
        early = int(np.searchsorted(last, 0))
        found = np.full((len(rows), self._n), _INF if every else -_INF)
        found[:, early:] = extreme(choose, rows, first[early:], last[early:])
        return found

    def _until(self, node: Until) -> Rows:
        """
        Return until by the rule f U[a,b] g = f on [t, t+a), g within [t+a, t+b], f U g at t+a.

        All three are exact for any future, so their smallest is exact for an open one too.
        """
        bounds = node.bounds
        hold, reach = _both(self.rows(node.left), self.rows(node.right))
        if bounds is None:
            kept = _INF if node.weak else -_INF
            return until(hold, reach, (kept, kept) if self.ending is not Ending.RUNNING
                         else (-_INF, _INF))
        beyond = (-_INF, -_INF) if self.ending is Ending.HELD else (-_INF, _INF)
        later = until(hold, reach, beyond)[:, self._ahead(bounds)[0]]
        found = np.minimum(self._open(later, bounds, low=False, high=False),
                           self._future(reach, False, bounds))
        if bounds.first_ns:
            now = np.arange(self._n)
            before = np.searchsorted(self._t, self._t + bounds.first_ns, 'left') - 1
            found = np.minimum(found, extreme(np.minimum, hold, now, before))
        if node.weak:
            found = np.maximum(found, self._future(hold, True, Bounds(0, bounds.last_ns)))
        return found

    def _since(self, node: Since) -> Rows:
        bounds = node.bounds
        hold, reach = _both(self.rows(node.left), self.rows(node.right))
        found = since(hold, reach)
        if bounds is None:
            return found
        first, last = self._behind(bounds)
        early = int(np.searchsorted(last, 0))
        found = np.minimum(found[:, last], self._past(reach, False, bounds))
        if bounds.first_ns:
            now = np.arange(early, self._n)
            found[:, early:] = np.minimum(found[:, early:], extreme(
                np.minimum, hold, last[early:] + 1, now))
        return found


def _opposite(rows: Rows) -> Rows:
    return -rows[::-1]


def _both(one: Rows, other: Rows) -> tuple[Rows, Rows]:
    shape = (2, one.shape[1])
    return np.broadcast_to(one, shape), np.broadcast_to(other, shape)


class Decision(NamedTuple):
    """The weakest link: where one bound of the formula's robustness comes from."""

    predicate: Predicate | None
    """None: no sample, but a constant, an empty window or the end of the observation."""
    sample: int
    """Index of the stamp."""
    is_wanted: bool
    """Whether the predicate had better hold here; if not, it had better not."""
    is_end: bool = False
    """Whether the observation ended too early to tell."""


def decide(evaluation: Evaluation, *, low: bool) -> Decision:
    """
    Trace one bound of the formula at the first stamp down to a predicate and a sample.

    :param low: the lower bound, else the upper one
    """
    return _Descent(evaluation).into(evaluation.formula, 0, 0 if low else 1, True)


def decide_at(evaluation: Evaluation, node: Formula, index: int, *, low: bool) -> Decision:
    """
    Trace one bound of a part of the formula at one stamp down to a predicate and a sample.

    :param low: the lower bound, else the upper one
    """
    return _Descent(evaluation).into(node, index, 0 if low else 1, True)


def triggers(evaluation: Evaluation) -> list[int]:
    """
    Return for each implication that must always hold how often its left side newly became true.

    Implications below ``always`` and ``and`` count, with what surrounds them on the left side:
    a -> (b -> c) is triggered by a and b. None of them: an empty list.
    """
    return [_risen(evaluation, left, window)
            for left, window in _implications(evaluation.formula, (0, 0))]


def _implications(node: Formula, window: tuple[int, int | None]) -> \
        list[tuple[Formula, tuple[int, int | None]]]:
    match node:
        case Implies(left, Implies() as right):
            return [(And((left, inner)), window) for inner, _ in _implications(right, window)]
        case Implies(left, _):
            return [(left, window)]
        case And(parts):
            return [found for part in parts for found in _implications(part, window)]
        case Future(part, True, bounds):
            first, last = bounds or (0, None)
            return _implications(part, (
                window[0] + first, None if last is None or window[1] is None
                else window[1] + last))
    return []


def _risen(evaluation: Evaluation, left: Formula, window: tuple[int, int | None]) -> int:
    stamps = evaluation.trace.stamps
    if not len(stamps):
        return 0
    first = np.searchsorted(stamps, stamps[0] + window[0], 'right') - 1
    last = len(stamps) if window[1] is None else \
        np.searchsorted(stamps, stamps[0] + window[1], 'right')
    true = evaluation.rows(left)[0, first:last] > 0
    return int(np.count_nonzero(true[1:] & ~true[:-1]) + true[0])


class _Descent:
    """Follows the value of one bound (0 lower, 1 upper) into the part that it comes from."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._t = evaluation.trace.stamps

    def into(self, node: Formula, index: int, bound: int, is_wanted: bool) -> Decision:
        match node:
            case Predicate():
                return Decision(node, index, is_wanted)
            case Constant():
                return Decision(None, index, is_wanted)
            case Not(part):
                return self.into(part, index, 1 - bound, not is_wanted)
            case And(parts) | Or(parts):
                choose = min if isinstance(node, And) else max
                part = choose(parts, key=lambda part: self._value(part, index, bound))
                return self.into(part, index, bound, is_wanted)
            case Implies(left, right):
                return self.into(Or((right, Not(left))), index, bound, is_wanted)
            case Iff(left, right):
                return self.into(And((Implies(left, right), Implies(right, left))), index, bound,
                                 is_wanted)
            case Edge(part, rising):
                now = part if rising else Not(part)
                if index and self._value(now, index, bound) > \
                        self._value(Not(now), index - 1, bound):
                    return self.into(Not(now), index - 1, bound, is_wanted)
                return self.into(now, index, bound, is_wanted)
            case Future() | Past():
                return self._extreme(node, index, bound, is_wanted)
            case Until():
                return self._until(node, index, bound, is_wanted)
            case Since():
                return self._since(node, index, bound, is_wanted)

    def _value(self, node: Formula, index: int, bound: int) -> float:
        return self._evaluation.at(node, index)[bound]

    def _span(self, node: Formula, first: int, last: int, bound: int) -> Values:
        rows: Values = self._evaluation.rows(node)[0 if bound == 0 else -1, first:last + 1]
        return rows

    def _extreme(self, node: Future | Past, index: int, bound: int, is_wanted: bool) -> Decision:
        """
        Go to the smallest or largest of a window, unless what lies beyond it is more so.

        Of several to the first; but what was to come, and did not, is known at the last alone.
        """
        first, last = self._evaluation.window(node, index)
        values = self._span(node.part, first, last, bound)
        if values.size:
            at = int(np.argmin(values) if node.every else np.argmax(values))
            if not node.every and values[at] < 0:
                at = int(np.flatnonzero(values == values[at])[-1])
            if values[at] == self._value(node, index, bound):
                return self.into(node.part, first + at, bound, is_wanted)
        return Decision(None, index, is_wanted, is_end=isinstance(node, Future))

    def _until(self, node: Until, index: int, bound: int, is_wanted: bool) -> Decision:
        first, last = self._evaluation.window(Future(node.right, False, node.bounds), index)
        begin_ns = self._t[index] + (node.bounds.first_ns if node.bounds else 0)
        held = self._span(node.left, index, last, bound)
        needed = np.searchsorted(self._t, np.maximum(begin_ns, self._t[first:last + 1])) - index
        guard = np.append(np.inf, np.minimum.accumulate(held))[needed]
        reach = self._span(node.right, first, last, bound)
        at, target = int(np.argmax(np.minimum(reach, guard))), self._value(node, index, bound)
        if target == reach[at] <= guard[at]:
            return self.into(node.right, first + at, bound, is_wanted)
        if target == guard[at] or target == held.min():
            return self.into(node.left, index + int(np.argmax(held == target)), bound, is_wanted)
        return Decision(None, index, is_wanted, is_end=True)

    def _since(self, node: Since, index: int, bound: int, is_wanted: bool) -> Decision:
        first, last = self._evaluation.window(Past(node.right, False, node.bounds), index)
        if last < first:
            return Decision(None, index, is_wanted)
        held = self._span(node.left, first + 1, index, bound)
        guard = np.append(np.minimum.accumulate(held[::-1])[::-1], np.inf)[:last - first + 1]
        reach = self._span(node.right, first, last, bound)
        at = int(np.argmax(np.minimum(reach, guard)))
        if reach[at] <= guard[at]:
            return self.into(node.right, first + at, bound, is_wanted)
        return self.into(node.left, first + 1 + at + int(np.argmin(held[at:])), bound, is_wanted)


class Horizon(NamedTuple):
    """How far around a sample a formula looks."""

    past_ns: int
    future_ns: int
    samples: int
    """How many samples before it, whatever their age: ``rise`` looks at one."""


class Running(NamedTuple):
    """What a window says of what must always hold."""

    body: Formula
    sample: int
    """The sample that decided."""
    margin: float
    """Upper bound where it is violated, else the lower one."""
    outcome: bool | None
    """True: it held wherever that is known by now; None: something is unknown."""


def bodies(formula: Formula) -> tuple[Formula, ...]:
    """
    Return what must always hold, for each ``always`` that a formula joins by ``and``.

    :raises InputError: it asks for anything else, or looks ahead or back without bounds
    """
    if isinstance(formula, And):
        return tuple(body for part in formula.parts for body in bodies(part))
    if not isinstance(formula, Future) or not formula.every or formula.bounds is not None:
        raise InputError('a robot in operation has no first moment, expected always (...) '
                         'without bounds around the whole formula, or several joined by and')
    horizon(formula.part)
    return (formula.part,)


def horizon(node: Formula) -> Horizon:
    """
    Return how far around a sample a formula looks.

    :raises InputError: without bounds
    """
    below = [horizon(part) for part in children(node)]  # type: ignore[arg-type]
    past_ns, future_ns, samples = (max((one[place] for one in below), default=0)
                                   for place in range(3))
    if isinstance(node, Edge):
        return Horizon(past_ns, future_ns, samples + 1)
    if isinstance(node, (Future, Until, Past, Since)):
        if node.bounds is None:
            name = type(node).__name__.lower()
            raise InputError(f'got an operator of the {name} kind without bounds inside '
                             f'always, expected bounds such as eventually[0, 1]: a robot in '
                             f'operation has no end and no beginning')
        if isinstance(node, (Future, Until)):
            return Horizon(past_ns, future_ns + node.bounds.last_ns, samples)
        return Horizon(past_ns + node.bounds.last_ns, future_ns, samples)
    return Horizon(past_ns, future_ns, samples)


def running(evaluation: Evaluation) -> Iterator[Running]:
    """
    Yield what the trace of a window says, for each body of its formula; nothing of one too short.

    :param evaluation: of the whole formula, of which more will come
    """
    stamps, end_ns = evaluation.trace.stamps, evaluation.trace.end_ns
    for body in bodies(evaluation.formula) if len(stamps) else ():
        looks = horizon(body)
        first = max(int(np.searchsorted(stamps, stamps[0] + looks.past_ns)), looks.samples)
        over = int(np.searchsorted(stamps, end_ns - looks.future_ns, 'right'))
        rows = evaluation.rows(body)
        low, high = rows[0, first:], rows[-1, first:]
        if not len(low):
            continue
        at = int(np.argmin(high))
        if high[at] <= 0:
            yield Running(body, first + at, float(high[at]), False)
            continue
        if over <= first:
            continue
        at = int(np.argmin(low[:over - first]))
        yield Running(body, first + at, float(low[at]), True if low[at] > 0 else None)
