# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How much of the space was looked at: what a search that found nothing may say, and what not.

The share of pairs of values that occurred together (t-way coverage, Kuhn 2013; a range counts as
four parts), the largest part of the ranges without any trial, and, of trials that were drawn as
the file declares, an upper bound on the share that fails. A searched trial bounds nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy
from numpy.typing import NDArray
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.studies.search.space import Point, Space

_PARTS = 4
"""Of a range, each as one value."""
_CENTRES, _SEED = 256, 20
"""Where a largest empty part is looked for; the seed of these points is part of the method."""


@dataclass(frozen=True)
class Gap:
    """A part of the space without a trial."""

    centre: Point
    radius: float
    """Of the ball in which no trial lies, in shares of a range, over the ranges alone."""
    low: Point
    high: Point
    """Corners of a box without a trial."""
    volume: float
    """Of the box, as a share of the ranges: the largest empty box has at least that."""


@dataclass(frozen=True)
class Coverage:
    """How much of a space some trials have looked at."""

    trials: int
    """That were decided."""
    pairs_seen: int
    pairs: int
    """Of two values of two draws; a range counts as four values."""
    values_seen: int
    values: int
    gap: Gap | None
    """None: the space has no range."""
    drawn: int
    """Trials that were drawn as the file declares."""
    failing: Estimate | None
    """Share of failures under the declared distribution; None: no trial was drawn from it."""


def cover(space: Space, points: Sequence[Point], drawn: int = 0, failed: int = 0) -> Coverage:
    """
    Return how much of a space points cover.

    :param points: of trials that were decided
    :param drawn: how many trials were drawn from the declared distribution, by no search
    :param failed: how many of those failed
    """
    cells = _cells(space, points)
    sizes = [axis.size or _PARTS for axis in space.axes]
    pairs_seen = sum(len({(row[one], row[other]) for row in cells})
                     for one, other in combinations(range(len(sizes)), 2))
    return Coverage(
        len(points), pairs_seen,
        sum(one * other for one, other in combinations(sizes, 2)),
        sum(len({row[place] for row in cells}) for place in range(len(sizes))), sum(sizes),
        _largest_gap(space, points), drawn,
        clopper_pearson(failed, drawn, sided='upper') if drawn else None)


def _cells(space: Space, points: Sequence[Point]) -> list[tuple[int, ...]]:
    return [tuple(int(one) if axis.size else min(int(one * _PARTS), _PARTS - 1)
                  for axis, one in zip(space.axes, point)) for point in points]


def _largest_gap(space: Space, points: Sequence[Point]) -> Gap | None:
    ranges = numpy.flatnonzero(space.sizes == 0)
    if not len(ranges):
        return None
    known = numpy.array([point[ranges] for point in points]).reshape(len(points), len(ranges))
    centres = numpy.random.default_rng(_SEED).random((_CENTRES, len(ranges)))
    if not len(points):
        whole = numpy.ones(len(ranges))
        return Gap(whole / 2, float(numpy.linalg.norm(whole) / 2), 0 * whole, whole, 1.0)
    near = numpy.sqrt(((centres[:, None, :] - known[None]) ** 2).sum(2)).min(1)
    best = int(near.argmax())
    boxes = [_empty_box(centre, known) for centre in centres]
    volumes = [float(numpy.prod(high - low)) for low, high in boxes]
    widest = int(numpy.argmax(volumes))
    low, high = boxes[widest]
    return Gap(centres[best], float(near[best]), low, high, volumes[widest])


def _empty_box(centre: NDArray[numpy.float64], points: NDArray[numpy.float64]) \
        -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Return a box around a centre without a point inside.

    It begins as the whole; the point inside that is cut away at the least cost goes first.
    """
    low, high = numpy.zeros(len(centre)), numpy.ones(len(centre))
    inside = points
    while True:
        inside = inside[((inside > low) & (inside < high)).all(1)]
        if not len(inside):
            return low, high
        nearest = inside[numpy.abs(inside - centre).max(1).argmin()]
        left = numpy.where(nearest > centre, (nearest - low) / (high - low),
                           (high - nearest) / (high - low))
        axis = int(left.argmax())  # what is left of the box if this side moves to the point
        if nearest[axis] > centre[axis]:
            high[axis] = nearest[axis]
        else:
            low[axis] = nearest[axis]
