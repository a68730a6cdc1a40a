# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The simplest world that still fails.

Each draw is put back to its ordinary value (what the file says, else the middle of its range);
where the trial then no longer fails, the draw is needed, and is moved as far towards the ordinary
value as the trial still fails. The rule is that of delta debugging (Zeller and Hildebrandt 2002).
"""

from collections.abc import Callable
from dataclasses import dataclass

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
