# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
One operator each, sample by sample: what is known for good comes out, in the order of the stamps.

Every stream gives one item for each stamp, as soon as no later sample can change it, and the rest
at the end. It is amortised O(1) a sample and keeps no more than its own window; only an operator
into the future without bounds, inside another one, has to keep everything until the end.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
import math
from typing import NamedTuple, Protocol, TypeAlias

from safety_scenarios.temporal_logic.formula import Bounds
from safety_scenarios.temporal_logic.trace import Ending
from safety_scenarios.temporal_logic.windows import Clamp, Known, Queue

Item: TypeAlias = tuple[int, Known]
"""A stamp (ns), and what is known there for good."""
Combine: TypeAlias = Callable[[Sequence[Known]], Known]
NOTHING: Known = (-math.inf, math.inf)


class End(NamedTuple):
    """Where the observation ends."""

    end_ns: int
    ending: Ending

    def open_from(self, t_ns: int, bounds: Bounds | None, kept: float) -> Known | None:
        """
        Return what to assume beyond the end for a window from ``t_ns``, None before it has begun.

        :param kept: what a window that is over begins with, -inf or +inf
        """
        if self.ending is Ending.HELD:
            return kept, kept
        if bounds is None:
            return (kept, kept) if self.ending is Ending.OVER else NOTHING
        if t_ns + bounds.last_ns <= self.end_ns:
            return kept, kept
        return NOTHING if t_ns + bounds.first_ns <= self.end_ns else None


class Stream(Protocol):
    """A part of a formula at each stamp."""

    def step(self, t_ns: int, values: Mapping[str, float]) -> Sequence[Item]:
        """Take one sample of all signals; return what is known for good by now."""

    def end(self, end: End) -> Sequence[Item]:
        """Return all that is left."""


class Margin:
    """A predicate; not a number is unknown."""

    def __init__(self, larger: Callable[[Mapping[str, float]], float],
                 smaller: Callable[[Mapping[str, float]], float]) -> None:
        self._larger = larger
        self._smaller = smaller

    def step(self, t_ns: int, values: Mapping[str, float]) -> Sequence[Item]:
        """Return the margin now."""
        margin = self._larger(values) - self._smaller(values)
        return [(t_ns, (margin, margin) if margin == margin else NOTHING)]

    def end(self, end: End) -> Sequence[Item]:
        """Return nothing: all was told."""
        return []


class Aligned:
    """Several parts, where all of them are known."""

    def __init__(self, parts: Sequence[Stream]) -> None:
        self._parts = parts
        self._waiting: list[deque[Item]] = [deque() for _ in parts]

    def step(self, t_ns: int, values: Mapping[str, float]) -> Iterator[tuple[int, list[Known]]]:
        """Yield what is known in all parts."""
        if len(self._parts) == 1:
            return ((at_ns, [known]) for at_ns, known in self._parts[0].step(t_ns, values))
        for part, waiting in zip(self._parts, self._waiting, strict=True):
            waiting.extend(part.step(t_ns, values))
        return self._ready()

    def end(self, end: End) -> Iterator[tuple[int, list[Known]]]:
        """Yield the rest."""
        for part, waiting in zip(self._parts, self._waiting, strict=True):
            waiting.extend(part.end(end))
        return self._ready()

    def _ready(self) -> Iterator[tuple[int, list[Known]]]:
        while all(self._waiting):
            items = [waiting.popleft() for waiting in self._waiting]
            yield items[0][0], [known for _, known in items]


class Pointwise:
    """An operator that looks at one stamp at a time."""

    def __init__(self, parts: Sequence[Stream], combine: Combine) -> None:
        self._parts = Aligned(parts)
        self._combine = combine

    def step(self, t_ns: int, values: Mapping[str, float]) -> Sequence[Item]:
        """Return it where all parts are known."""
        return [(at_ns, self._combine(known)) for at_ns, known in self._parts.step(t_ns, values)]

    def end(self, end: End) -> Sequence[Item]:
        """Return the rest."""
        return [(at_ns, self._combine(known)) for at_ns, known in self._parts.end(end)]


class Clamps:
    """The parts of a temporal operator as clamps; a part that it lacks lets everything pass."""

    def __init__(self, hold: Stream | None, reach: Stream | None) -> None:
        self._parts = Aligned([part for part in (hold, reach) if part is not None])
        self._has_hold, self._has_reach = hold is not None, reach is not None

    @property
    def is_guarded(self) -> bool:
        """Whether one part must hold until, or since, the other."""
        return self._has_hold and self._has_reach

    def step(self, t_ns: int, values: Mapping[str, float]) -> Iterator[tuple[int, Clamp]]:
        """Yield the clamps that are known now."""
        return map(self._clamp, self._parts.step(t_ns, values))

    def end(self, end: End) -> Iterator[tuple[int, Clamp]]:
        """Yield the rest."""
        return map(self._clamp, self._parts.end(end))

    def _clamp(self, item: tuple[int, list[Known]]) -> tuple[int, Clamp]:
        t_ns, known = item
        hold = known[0] if self._has_hold else (math.inf, math.inf)
        reach = known[-1] if self._has_reach else (-math.inf, -math.inf)
        return t_ns, Clamp(*reach, *hold)


class FutureWindow:
    """
    An operator that looks ahead, with bounds: known as soon as its window has elapsed.

    :param kept: what an elapsed window begins with, +inf for ``always`` and ``weak_until``
    """

    def __init__(self, parts: Clamps, bounds: Bounds, kept: float) -> None:
        self._parts = parts
        self._bounds = bounds
        self._kept = kept
        self._asked: deque[int] = deque()
        self._window = Queue(forward=False)
        self._has_guard = parts.is_guarded and bounds.first_ns > 0
        self._unguarded: deque[tuple[int, Clamp]] = deque()
        self._guard = Queue(forward=False)

    def step(self, t_ns: int, values: Mapping[str, float]) -> Sequence[Item]:
        """Return the stamps whose windows are over."""
        return [item for clamp in self._parts.step(t_ns, values) for item in self._taken(*clamp)]

    def end(self, end: End) -> Sequence[Item]:
        """Return the rest; windows beyond the end are open."""
        found = [item for clamp in self._parts.end(end) for item in self._taken(*clamp)]
        return found + [self._answer(end.open_from(self._asked[0], self._bounds, self._kept))
                        for _ in range(len(self._asked))]

    def _taken(self, t_ns: int, clamp: Clamp) -> Iterator[Item]:
        over = self._kept, self._kept
        while self._asked and self._asked[0] + self._bounds.last_ns < t_ns:
            yield self._answer(over)
        self._window.push(t_ns, clamp)
        self._asked.append(t_ns)
        if self._has_guard:
            self._unguarded.append((t_ns, clamp))
        while self._asked and self._asked[0] + self._bounds.last_ns == t_ns:
            yield self._answer(over)

    def _answer(self, beyond: Known | None) -> Item:
        t_ns = self._asked.popleft()
        begin_ns = t_ns + self._bounds.first_ns
        self._window.drop_before(begin_ns)
        low, high = NOTHING if beyond is None else self._window.of(beyond)
        if self._has_guard:
            while self._unguarded and self._unguarded[0][0] < begin_ns:
                self._guard.push(*self._unguarded.popleft())
            least, most = self._guard.hold()
            low, high = min(low, least), min(high, most)
            self._guard.drop_until(t_ns)
        return t_ns, (low, high)


class FutureRest:
    """An operator that looks ahead without bounds: known at the end, and not before."""

    def __init__(self, parts: Clamps, kept: float) -> None:
        self._parts = parts
        self._kept = kept
        self._clamps: list[tuple[int, Clamp]] = []

    def step(self, t_ns: int, values: Mapping[str, float]) -> Sequence[Item]:
        """Return nothing: it depends on all that will come."""
        self._clamps += self._parts.step(t_ns, values)
        return []

    def end(self, end: End) -> Sequence[Item]:
        """Return all."""
        self._clamps += self._parts.end(end)
        known, found = end.open_from(0, None, self._kept) or NOTHING, list[Item]()
        for t_ns, clamp in reversed(self._clamps):
            known = clamp.of(known)
            found.append((t_ns, known))
        return found[::-1]


class PastWindow:
    """
    An operator that looks back, with bounds.

    :param kept: what an empty window comes to, +inf for ``historically``
    """

    def __init__(self, parts: Clamps, bounds: Bounds, kept: float) -> None:
        self._parts = parts
        self._bounds = bounds
        self._kept = kept
        self._window = Queue(forward=True)
        self._recent: deque[tuple[int, Clamp]] = deque()
        """Too young for the window."""
        self._guard = Queue(forward=True)

    def step(self, t_ns: int, values: Mapping[str, float]) -> Sequence[Item]:
        """Return the same stamps as the parts."""
        return [self._answer(*clamp) for clamp in self._parts.step(t_ns, values)]

    def end(self, end: End) -> Sequence[Item]:
        """Return the rest."""
        return [self._answer(*clamp) for clamp in self._parts.end(end)]

    def _answer(self, t_ns: int, clamp: Clamp) -> Item:
        self._recent.append((t_ns, clamp))
        self._guard.push(t_ns, clamp)
        while self._recent and self._recent[0][0] <= t_ns - self._bounds.first_ns:
            self._guard.drop_until(self._recent[0][0])
            self._window.push(*self._recent.popleft())
        self._window.drop_before(t_ns - self._bounds.last_ns)
        low, high = self._window.of((self._kept, self._kept))
        if self._parts.is_guarded:
            least, most = self._guard.hold()
            low, high = min(low, least), min(high, most)
        return t_ns, (low, high)


class PastRest:
    """An operator that looks back without bounds: its last answer and the sample now."""

    def __init__(self, parts: Clamps, kept: float) -> None:
        self._parts = parts
        self._known: Known = (kept, kept)

    def step(self, t_ns: int, values: Mapping[str, float]) -> Sequence[Item]:
        """Return the same stamps as the parts."""
        return [self._answer(*clamp) for clamp in self._parts.step(t_ns, values)]

    def end(self, end: End) -> Sequence[Item]:
        """Return the rest."""
        return [self._answer(*clamp) for clamp in self._parts.end(end)]

    def _answer(self, t_ns: int, clamp: Clamp) -> Item:
        self._known = clamp.of(self._known)
        return t_ns, self._known
