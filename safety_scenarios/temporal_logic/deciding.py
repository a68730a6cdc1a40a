# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which predicate and which sample decided, and how often an implication was put to the test."""

from typing import NamedTuple

import numpy as np
from safety_scenarios.temporal_logic.formula import (
    And,
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
    Since,
    Until,
)
from safety_scenarios.temporal_logic.offline import Evaluation
from safety_scenarios.temporal_logic.trace import Values


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
        """Go to the smallest or largest of a window, unless what lies beyond it is more so."""
        first, last = self._evaluation.window(node, index)
        values = self._span(node.part, first, last, bound)
        if values.size:
            at = int(np.argmin(values) if node.every else np.argmax(values))
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
