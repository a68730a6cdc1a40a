# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The semantics again, by definition and sample by sample, and random formulas and traces."""

import math
import random

from safety_scenarios.temporal_logic.formula import (
    And,
    Bounds,
    Constant,
    Edge,
    Future,
    Iff,
    Implies,
    Name,
    Not,
    Number,
    Or,
    Past,
    Predicate,
    Since,
    Until,
)
from safety_scenarios.temporal_logic.trace import Ending, Interval, resample, Trace

SIGNALS = ('a', 'b', 'c')
HELD, OVER, RUNNING = Ending.HELD, Ending.OVER, Ending.RUNNING
INF = math.inf


class Reference:
    """
    Looks at every sample of every window, for every stamp; nothing is clever here.

    What a part comes to at a stamp is asked for by many windows, and reckoned once.
    """

    def __init__(self, trace: Trace, ending: Ending) -> None:
        self.trace = trace
        self.ending = ending
        self.t = trace.stamps.tolist()
        self.n = len(self.t)
        self._reckoned = {}
        """By the identity of a part: it is kept beside, so that no other part can have that."""

    def at(self, node, k: int) -> tuple[float, float]:
        known = self._reckoned.get((id(node), k))
        if known is None:
            known = node, getattr(self, f'_{type(node).__name__.lower()}')(node, k)
            self._reckoned[id(node), k] = known
        return known[1]

    def _constant(self, node, k):
        return (INF, INF) if node.value else (-INF, -INF)

    def _predicate(self, node, k):
        def value(term):
            return term.value if isinstance(term, Number) else self.trace.columns[term.name][k]
        margin = float(value(node.larger) - value(node.smaller))
        return (-INF, INF) if math.isnan(margin) else (margin, margin)

    def _not(self, node, k):
        low, high = self.at(node.part, k)
        return -high, -low

    def _and(self, node, k):
        return smallest([self.at(part, k) for part in node.parts])

    def _or(self, node, k):
        return largest([self.at(part, k) for part in node.parts])

    def _implies(self, node, k):
        return self._or(Or((Not(node.left), node.right)), k)

    def _iff(self, node, k):
        return self._and(And((Implies(node.left, node.right), Implies(node.right, node.left))), k)

    def _edge(self, node, k):
        now = node.part if node.rising else Not(node.part)
        before = (INF, INF) if k == 0 else self.at(Not(now), k - 1)
        return smallest([self.at(now, k), before])

    def _future(self, node, k):
        reach = Not(node.part) if node.every else node.part
        found = self._until(Until(Constant(True), reach, False, node.bounds), k)
        return (-found[1], -found[0]) if node.every else found

    def _past(self, node, k):
        reach = Not(node.part) if node.every else node.part
        found = self._since(Since(Constant(True), reach, node.bounds), k)
        return (-found[1], -found[0]) if node.every else found

    def _until(self, node, k):
        """Try every sample, as the last moment at which the left side need not hold any more."""
        first, last = node.bounds or (0, INF)
        begin, end = self.t[k] + first, self.t[k] + last
        if self.ending is HELD or (node.bounds is None and self.ending is OVER):
            seen = INF
        else:
            seen = self.trace.end_ns
        found = [(-INF, -INF)]
        for j in range(k, self.n):
            from_ns = self.t[j]
            to_ns = self.t[j + 1] if j + 1 < self.n else seen + 1
            if from_ns > end or to_ns <= begin:
                continue  # its value is not in force within the window
            before = [i for i in range(k, j + 1) if self.t[i] < max(begin, from_ns)]
            found.append(smallest([self.at(node.right, j),
                                   *(self.at(node.left, i) for i in before)]))
        if end > seen:
            held = [self.at(node.left, i) for i in range(k, self.n)]
            found.append((-INF, smallest(held)[1]))  # what may still come
        result = largest(found)
        if node.weak:
            kept = [self.at(node.left, i) for i in range(k, self.n) if self.t[i] <= end]
            kept += [(-INF, INF)] if end > seen else []
            result = largest([result, smallest(kept)])
        return result

    def _since(self, node, k):
        first, last = node.bounds or (0, INF)
        begin, end = self.t[k] - last, self.t[k] - first
        found = [(-INF, -INF)]
        for j in range(k + 1):
            to_ns = self.t[j + 1] if j + 1 < self.n else INF
            if self.t[j] <= end and to_ns > begin:
                found.append(smallest([self.at(node.right, j),
                                       *(self.at(node.left, i) for i in range(j + 1, k + 1))]))
        return largest(found)


def smallest(intervals):
    return min(low for low, _ in intervals), min(high for _, high in intervals)


def largest(intervals):
    return max(low for low, _ in intervals), max(high for _, high in intervals)


def by_definition(formula, trace: Trace, ending: Ending) -> Interval:
    return Interval(*Reference(trace, ending).at(formula, 0))


def random_formula(chance: random.Random, depth: int = 3):
    """Return a formula whose bounds are multiples of half the usual step between stamps."""
    def part():
        return random_formula(chance, depth - 1)

    def bounds(optional: bool = True):
        if optional and chance.random() < 0.3:
            return None
        first = chance.choice([0, 0, 1, 2, 5])
        return Bounds(first, first + chance.choice([0, 1, 2, 4, 9, 30]))
    if depth == 0 or chance.random() < 0.1:
        limit, name = Number(float(chance.randint(-3, 3))), Name(chance.choice(SIGNALS))
        return Predicate(*chance.choice([(limit, name), (name, limit)]), 'p')
    kind = chance.choice(['not', 'and', 'or', 'implies', 'iff', 'edge', 'constant'] +
                         ['future', 'past', 'until', 'since'] * 3)
    if kind == 'constant':
        return Constant(chance.random() < 0.5)
    if kind == 'not':
        return Not(part())
    if kind in ('and', 'or'):
        return (And if kind == 'and' else Or)(tuple(part() for _ in range(chance.randint(2, 3))))
    if kind in ('implies', 'iff'):
        return (Implies if kind == 'implies' else Iff)(part(), part())
    if kind == 'edge':
        return Edge(part(), chance.random() < 0.5)
    if kind in ('future', 'past'):
        return (Future if kind == 'future' else Past)(part(), chance.random() < 0.5, bounds())
    if kind == 'until':
        return Until(part(), part(), chance.random() < 0.5, bounds())
    return Since(part(), part(), bounds())


def random_samples(chance: random.Random, most: int = 12):
    """Return signals on uneven stamps of their own, some unknown, and the end."""
    signals = {}
    for name in SIGNALS:
        stamps = sorted(chance.sample(range(4 * most), chance.randint(1, most)))
        signals[name] = (stamps, [math.nan if chance.random() < 0.05
                                  else float(chance.randint(-4, 4)) for _ in stamps])
    last = max(stamps[-1] for stamps, _ in signals.values())
    return signals, last + chance.choice([0, 0, 1, 7])


def random_trace(chance: random.Random, most: int = 12, stale_ns=None) -> Trace:
    signals, end_ns = random_samples(chance, most)
    return resample(signals, end_ns, stale_ns=stale_ns)
