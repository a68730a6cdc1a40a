# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The search for failures: trials by a sampler, then each different failure made simple."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy
from safety_scenarios.studies.search.evaluation import Evaluate, World
from safety_scenarios.studies.search.guided import far_from_all
from safety_scenarios.studies.search.history import History, Outcome
from safety_scenarios.studies.search.samplers import Sampler
from safety_scenarios.studies.search.space import Point, Space

Fails = Callable[[Point], bool]
_BISECTIONS = 6
"""To within a 64th of the way to the ordinary value."""
_PASSES = 2
"""A draw may turn out needless once another one has been put back."""


@dataclass(frozen=True)
class Shrunk:
    """A world that fails, and which draws it takes."""

    point: Point
    needed: tuple[int, ...]
    """Axes that cannot be put back one at a time."""
    trials: int
    """That were run to find out."""


def shrink(space: Space, point: Point, fails: Fails) -> Shrunk:
    """
    Return the simplest world near one that fails.

    :param fails: whether a world fails in the same way; it does at ``point``
    """
    found, trials, middle = point.copy(), 0, space.middle
    for _ in range(_PASSES):
        changed = False
        for place in range(len(space.axes)):
            if found[place] == middle[place]:
                continue
            tried = found.copy()
            tried[place] = middle[place]
            trials += 1
            if fails(tried):
                found, changed = tried, True
        if not changed:
            break
    needed = tuple(place for place in range(len(space.axes)) if found[place] != middle[place])
    for place in needed:
        if space.axes[place].size:
            continue
        bad, good = float(found[place]), float(middle[place])
        for _ in range(_BISECTIONS):
            tried = found.copy()
            tried[place] = space.axes[place].snapped((bad + good) / 2.0)
            if tried[place] in (bad, good):
                break
            trials += 1
            if fails(tried):
                found, bad = tried, float(tried[place])
            else:
                good = float(tried[place])
    return Shrunk(found, needed, trials)


MOST_DIFFERENT, _MOST_LOOKED_AT = 8, 40
"""Failures that are made simple, and failing trials that are compared with them."""
Tell = Callable[[int, History], None]
"""Takes how many trials were asked for, and the trials so far."""


@dataclass(frozen=True)
class Failure:
    """One way to fail, at its simplest."""

    point: Point
    needed: tuple[int, ...]
    """Axes that differ from their ordinary values; without them it does not fail."""
    checks: frozenset[str]
    """That fail at the point."""
    outcome: Outcome
    """At the point."""
    first: int
    """Number of the trial that found it, from 1."""
    seed: int
    """From which whatever else is drawn at the point."""
    alike: int = 1
    """Trials of the search that fail like that."""


def search(evaluate: Evaluate, sampler: Sampler, history: History, trials: int, *,
           seed_of: Callable[[int], int], batch: int = 1,
           tell: Tell = lambda trials, history: None,
           stop: Callable[[], bool] = lambda: False) -> None:
    """
    Try points until so many trials were run; what they come to is in the history.

    :param seed_of: place of a trial to the seed from which whatever is no axis is drawn
    :param batch: points that are chosen at a time, to be run side by side
    :param stop: asked after each batch, whether to end early
    """
    while len(history) < trials and not stop():
        points = [sampler.ask() for _ in range(min(batch, trials - len(history)))]
        worlds = [World(point, seed_of(len(history) + place))
                  for place, point in enumerate(points)]
        for point, outcome in zip(points, evaluate(worlds)):
            history.add(point, outcome)
        tell(trials, history)


def different_failures(space: Space, evaluate: Evaluate, history: History,
                       seed_of: Callable[[int], int],
                       tell: Callable[[str], None] = lambda text: None) -> Sequence[Failure]:
    """
    Return each way to fail once, made simple.

    Two failures are the same where they share a failing check, and a world half way between them
    fails too.
    """
    seed = 0

    def outcome_at(point: Point) -> Outcome:
        return evaluate([World(point, seed)])[0]

    def fails_like(checks: frozenset[str]) -> Callable[[Point], bool]:
        return lambda point: bool(outcome_at(point).failed & checks)

    found: list[Failure] = []
    for place in history.failures[:_MOST_LOOKED_AT]:
        point, outcome, seed = history.points[place], history.outcomes[place], seed_of(place)
        same = _same_as(space, found, point, outcome.failed, fails_like)
        if same is None and len(found) < MOST_DIFFERENT:
            tell(f'trial {place + 1} failed: looking for the simplest world that fails like it')
            simple = shrink(space, point, fails_like(outcome.failed))
            last = outcome_at(simple.point)
            if not last.is_failure:  # not the same twice: what was measured counts
                simple_point, needed, last = point, tuple(range(len(point))), outcome
            else:
                simple_point, needed = simple.point, simple.needed
            same = _same_as(space, found, simple_point, last.failed, fails_like)
            if same is None:
                found.append(Failure(simple_point, needed, last.failed, last, place + 1, seed))
                continue
        if same is not None:
            before = found[same]
            found[same] = Failure(**{**before.__dict__, 'alike': before.alike + 1})
    return found


def _same_as(space: Space, known: Sequence[Failure], point: Point, checks: frozenset[str],
             fails_like: Callable[[frozenset[str]], Callable[[Point], bool]]) -> int | None:
    """Return the place of the failure that a failing point belongs to, None: it is a new one."""
    for place, failure in enumerate(known):
        shared = failure.checks & checks
        if not shared:
            continue
        needed = list(failure.needed)
        if needed and not far_from_all([failure.point[needed]], space.sizes[needed],
                                       point[needed]):
            return place
        between = failure.point.copy()
        between[needed] = numpy.where(space.sizes[needed] > 0, point[needed],
                                      (point[needed] + failure.point[needed]) / 2.0)
        if fails_like(shared)(space.snapped(between)):
            return place
    return None
