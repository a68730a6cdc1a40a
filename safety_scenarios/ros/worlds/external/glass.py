# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Glass in a world of another simulator: felt by all, and seen where a beam meets it squarely; pure.

A pane has no visual. Thin pieces that nothing can touch lie on it where a scanner sees it, and
are moved there as the robot drives. They are of different lengths, and overlap: so they cover
any length between the shortest of them and all together.
"""

from collections.abc import Iterator, Sequence
import math

from safety_scenarios.ros.worlds.external.bodies import Model
from safety_scenarios.scenario.world.body import Solid, SQUARELY
from safety_scenarios.scenario.world.footprint import Footprint, Placed

SHORTEST_M = 0.05
"""Less of a pane than this is not shown: a robot is within 0.15 m of it then."""
FARTHEST_M = 12.0
"""No pane farther away is shown: beyond most scanners."""
_THICK_M = 0.01
_TAN = math.tan(SQUARELY)
Patch = tuple[Placed, float]
"""Middle of what is seen of a pane, on its face, and its length (m); headed away from the pane."""


def lengths(footprint: Footprint) -> Sequence[float]:
    """Return of which lengths the pieces of a pane are (m), the shortest first."""
    (ahead, left) = footprint.points[0]
    most = min(2 * max(ahead, left), 2 * FARTHEST_M * _TAN)
    found = [SHORTEST_M, SHORTEST_M]
    while sum(found) < most:
        found.append(2 * found[-1])
    return found


def piece(length: float, height: float) -> Model:
    """Return a piece of a pane, which is looked at from ahead of it."""
    return Model(Solid('box', _THICK_M, length, height), is_felt=False)


def seen_of(footprint: Footprint, pane: Placed, scanner: Placed) -> Patch | None:
    """Return what a scanner sees of a pane; None: nothing."""
    cos, sin = math.cos(pane[2]), math.sin(pane[2])
    east, north = scanner[0] - pane[0], scanner[1] - pane[1]
    there = cos * east + sin * north, cos * north - sin * east
    half = footprint.points[0]
    for axis in (0, 1):
        away = abs(there[axis]) - half[axis]
        if not 0 < away <= FARTHEST_M:
            continue
        side = math.copysign(1.0, there[axis])
        foot, ends = there[1 - axis], half[1 - axis]
        low, high = max(-ends, foot - away * _TAN), min(ends, foot + away * _TAN)
        if high - low < SHORTEST_M:
            continue
        at = [0.0, 0.0]
        at[axis], at[1 - axis] = side * half[axis], (low + high) / 2
        faces = pane[2] + (0.0 if axis == 0 else math.pi / 2) + (0.0 if side > 0 else math.pi)
        return (pane[0] + cos * at[0] - sin * at[1], pane[1] + sin * at[0] + cos * at[1],
                math.remainder(faces, math.tau)), high - low
    return None


def covering(patch: Patch, pieces: Sequence[float]) -> Iterator[tuple[int, Placed]]:
    """
    Yield which pieces cover a patch from end to end, and where; no piece reaches beyond it.

    :param pieces: their lengths (m), the shortest first
    """
    (x, y, faces), length = patch
    cos, sin = math.cos(faces), math.sin(faces)
    covered = 0.0
    for number in range(len(pieces) - 1, -1, -1):
        if pieces[number] > length + 1e-9 or covered >= length - 1e-9:
            continue
        along = min(covered, length - pieces[number]) + pieces[number] / 2 - length / 2
        covered += pieces[number]
        inside = -_THICK_M / 2
        yield number, (x + inside * cos - along * sin, y + inside * sin + along * cos, faces)
