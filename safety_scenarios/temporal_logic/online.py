# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A formula one sample at a time, in a trial or about a robot in operation.

What must always hold is asked at each sample of a window of the recent past, as soon as the past
that it looks back to is in the window. What it looks ahead to may still come: that is open, and
nothing unknown.
"""

from collections.abc import Iterator, Mapping, Sequence
import math
from typing import NamedTuple, Protocol

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
    names_in,
    Not,
    Or,
    Past,
    Predicate,
    reader,
    Since,
    Until,
)
from safety_scenarios.temporal_logic.offline import Evaluation
from safety_scenarios.temporal_logic.streams import (
    Clamps,
    Combine,
    End,
    FutureRest,
    FutureWindow,
    Margin,
    NOTHING,
    PastRest,
    PastWindow,
    Pointwise,
    Stream,
)
from safety_scenarios.temporal_logic.trace import Ending, Interval, UNKNOWN
from safety_scenarios.temporal_logic.windows import Clamp, Known


class Monitor:
    """
    What is known of a formula at the first stamp, while samples come in.

    A stamp counts as soon as the windows it opens have elapsed, so that ``interval`` only ever
    narrows, and trails what could be known by no more than the formula looks ahead. ``finish``
    gives what ``offline`` would, and so does finishing a deep copy at any time. Memory is that of
    the formula's windows; only ``always``, ``eventually`` and until without bounds *inside*
    another temporal operator keep every sample and are silent until the end.

    :param stale_ns: how old the last sample of a signal may be, as in ``trace.resample``
    """

    def __init__(self, formula: Formula, stale_ns: Mapping[str, int] | None = None) -> None:
        self._head = _head(formula)
        self._ages = dict(stale_ns or {})
        self._values = dict.fromkeys((*names_in(formula), *self._ages), math.nan)
        self._stale_at: dict[str, int] = {}
        self._last_ns: int | None = None
        self._is_over = False

    @property
    def interval(self) -> Interval:
        """Return what is known by now."""
        return self._head.interval

    def update(self, t_ns: int, values: Mapping[str, float | None]) -> None:
        """
        Take what changed at one stamp; other signals stay as they are.

        :param t_ns: later than any stamp before
        :param values: SI units; None and NaN are unknown. Signals of no interest are ignored
        """
        if self._is_over or (self._last_ns is not None and t_ns <= self._last_ns):
            raise ValueError(f'got a sample at {t_ns} ns, expected one after {self._last_ns} ns '
                             f'and before the end. Feed all signals of a stamp at once')
        if self._stale_at:
            self._grow_stale(t_ns - 1)
            self._forget(t_ns)
        for name, value in values.items():
            if name in self._values:
                self._values[name] = math.nan if value is None else value
                if name in self._ages:
                    self._stale_at[name] = t_ns + self._ages[name] + 1
        self._step(t_ns)

    def finish(self, end_ns: int, ending: Ending = Ending.RUNNING) -> Interval:
        """
        Return what is known when the observation ends; nothing may come after it.

        :param end_ns: not before the last stamp
        """
        if self._is_over or (self._last_ns is not None and end_ns < self._last_ns):
            raise ValueError(f'got the end at {end_ns} ns, expected it once, and not before the '
                             f'last sample at {self._last_ns} ns')
        self._grow_stale(end_ns)
        self._is_over = True
        self._head.end(End(end_ns, ending))
        return self.interval

    def _grow_stale(self, until_ns: int) -> None:
        """Let signals become unknown at stamps of their own, in order."""
        while self._stale_at and min(self._stale_at.values()) <= until_ns:
            due_ns = min(self._stale_at.values())
            self._forget(due_ns)
            self._step(due_ns)

    def _forget(self, t_ns: int) -> None:
        for name in [name for name, due_ns in self._stale_at.items() if due_ns == t_ns]:
            self._values[name] = math.nan
            del self._stale_at[name]

    def _step(self, t_ns: int) -> None:
        self._last_ns = t_ns
        self._head.step(t_ns, self._values)


class _Head(Protocol):
    """A part of the formula of which only the first stamp counts."""

    @property
    def interval(self) -> Interval:
        """Return what is known of it by now."""

    def step(self, t_ns: int, values: Mapping[str, float]) -> None:
        """Take one sample of all signals."""

    def end(self, end: End) -> None:
        """Take the end."""


class _First:
    """The first item of a stream."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.interval = UNKNOWN
        self._is_known = False

    def step(self, t_ns: int, values: Mapping[str, float]) -> None:
        if not self._is_known:
            self._note(self._stream.step(t_ns, values))

    def end(self, end: End) -> None:
        if not self._is_known:
            self._note(self._stream.end(end))

    def _note(self, items: Sequence[tuple[int, Known]]) -> None:
        if items:
            self.interval, self._is_known = Interval(*items[0][1]), True


class _Together:
    """Several heads in one."""

    def __init__(self, parts: Sequence[_Head], combine: Combine) -> None:
        self._parts = parts
        self._combine = combine

    @property
    def interval(self) -> Interval:
        return Interval(*self._combine([part.interval for part in self._parts]))

    def step(self, t_ns: int, values: Mapping[str, float]) -> None:
        for part in self._parts:
            part.step(t_ns, values)

    def end(self, end: End) -> None:
        for part in self._parts:
            part.end(end)


class _Fold:
    """``always``, ``eventually`` or until from the first stamp: all samples so far in one."""

    def __init__(self, parts: Clamps, bounds: Bounds | None, kept: float) -> None:
        self._parts = parts
        self._bounds = bounds
        self._kept = kept
        self._begin_ns: int | None = None
        self._guard: Known = (math.inf, math.inf)
        self._whole: Clamp | None = None
        """Before the window begins the newest sample, which may be the one in force then."""
        self._end: End | None = None

    @property
    def interval(self) -> Interval:
        if self._begin_ns is None or self._end is None:
            return UNKNOWN
        known = self._end.open_from(self._begin_ns, self._bounds, self._kept)
        known = NOTHING if known is None or self._whole is None else self._whole.of(known)
        return Interval(min(known[0], self._guard[0]), min(known[1], self._guard[1]))

    def step(self, t_ns: int, values: Mapping[str, float]) -> None:
        for clamp in self._parts.step(t_ns, values):
            self._take(*clamp)

    def end(self, end: End) -> None:
        for clamp in self._parts.end(end):
            self._take(*clamp)
        self._end = end

    def _take(self, t_ns: int, clamp: Clamp) -> None:
        if self._begin_ns is None:
            self._begin_ns = t_ns
        self._end = End(t_ns, Ending.RUNNING)
        after_ns = t_ns - self._begin_ns
        if self._bounds is not None and after_ns <= self._bounds.first_ns:
            self._whole = clamp
            if self._parts.is_guarded and after_ns < self._bounds.first_ns:
                self._guard = (min(self._guard[0], clamp.hold_low),
                               min(self._guard[1], clamp.hold_high))
        elif self._bounds is None or after_ns <= self._bounds.last_ns:
            self._whole = clamp if self._whole is None else self._whole.after(clamp)


def _head(node: Formula) -> _Head:
    match node:
        case Not(part):
            return _Together([_head(part)], _not)
        case And(parts):
            return _Together([_head(part) for part in parts], _all)
        case Or(parts):
            return _Together([_head(part) for part in parts], _any)
        case Implies(left, right):
            return _Together([_head(left), _head(right)], _implies)
        case Iff(left, right):
            return _Together([_head(left), _head(right)], _iff)
        case Future() | Until():
            return _Fold(_clamps(node), node.bounds, _kept(node))
    return _First(_stream(node))


def _stream(node: Formula) -> Stream:
    match node:
        case Constant(value):
            return Margin(lambda values: math.inf if value else -math.inf, lambda values: 0.0)
        case Predicate(larger, smaller):
            return Margin(reader(larger), reader(smaller))
        case Not(part):
            return Pointwise([_stream(part)], _not)
        case And(parts):
            return Pointwise([_stream(part) for part in parts], _all)
        case Or(parts):
            return Pointwise([_stream(part) for part in parts], _any)
        case Implies(left, right):
            return Pointwise([_stream(left), _stream(right)], _implies)
        case Iff(left, right):
            return Pointwise([_stream(left), _stream(right)], _iff)
        case Edge(part, rising):
            return Pointwise([_stream(part)], _Change(rising))
    return _temporal(node)


def _temporal(node: Future | Past | Until | Since) -> Stream:
    parts, bounds, kept = _clamps(node), node.bounds, _kept(node)
    if isinstance(node, (Future, Until)):
        return FutureWindow(parts, bounds, kept) if bounds else FutureRest(parts, kept)
    return PastWindow(parts, bounds, kept) if bounds else PastRest(parts, kept)


def _kept(node: Future | Past | Until | Since) -> float:
    """Return what a window comes to that is over and in which nothing was reached."""
    if isinstance(node, (Future, Past)):
        return math.inf if node.every else -math.inf
    return math.inf if isinstance(node, Until) and node.weak else -math.inf


def _clamps(node: Future | Past | Until | Since) -> Clamps:
    if isinstance(node, (Until, Since)):
        return Clamps(_stream(node.left), _stream(node.right))
    part = _stream(node.part)
    return Clamps(part, None) if node.every else Clamps(None, part)


def _not(known: Sequence[Known]) -> Known:
    (low, high), = known
    return -high, -low


def _all(known: Sequence[Known]) -> Known:
    return min(low for low, _ in known), min(high for _, high in known)


def _any(known: Sequence[Known]) -> Known:
    return max(low for low, _ in known), max(high for _, high in known)


def _implies(known: Sequence[Known]) -> Known:
    (low, high), right = known
    return max(-high, right[0]), max(-low, right[1])


def _iff(known: Sequence[Known]) -> Known:
    return _all([_implies(known), _implies(known[::-1])])


class _Change:
    """``rise`` or ``fall``: remembers the stamp before."""

    def __init__(self, rising: bool) -> None:
        self._rising = rising
        self._before: Known = (-math.inf, -math.inf)

    def __call__(self, known: Sequence[Known]) -> Known:
        now = known[0] if self._rising else _not(known)
        before, self._before = self._before, now
        return min(now[0], -before[1]), min(now[1], -before[0])


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
