# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Where in the plane of two draws a controller passes, where it fails, and where that is unknown.

A Gaussian process classifier (logistic, by Laplace's approximation: Rasmussen and Williams 2006,
3.4) tells for each cell how probable it is that most trials fail there: the mean over shapes of
the covariance, weighted by their evidence, as few trials do not decide between them. No cell is
certain against a trial in it or beside it, or if undecided trials had come out otherwise. Trials
go where the likeliest shape is least certain.
Whatever else is drawn differs from trial to trial, so outcomes may be noisy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
import math
from typing import Literal

import numpy
from numpy.typing import NDArray

Array = NDArray[numpy.float64]
Flags = NDArray[numpy.bool_]
Failing = Callable[[Array], Sequence[bool | None]]
"""Points of the unit square, a row each, to whether each trial fails; None: not decided."""
Snap = Callable[[Array], Array]
"""Points of the unit square to the nearest ones that can be drawn."""
Shape = tuple[tuple[float, float], float]
"""Of the covariance: the length on each axis, and the variance of the logit."""
Weights = Sequence[tuple[Shape, float]]
"""Of shapes: their shares of the evidence."""
State = Literal['passes', 'fails', 'unknown']
_UNKNOWN: State = 'unknown'
CERTAIN = 0.95
"""Probability above which a cell counts as one or the other."""
_LENGTHS = (0.1, 0.2, 0.4, 0.7)
"""Of the covariance, in shares of a range: none is so long that far cells are known."""
_VARIANCES = (4.0, 30.0)
"""Of the logit: outcomes that are noisy everywhere, or sure up to a narrow boundary."""
_FIRST_SHAPE: Shape = ((0.4, 0.4), 4.0)
_REFIT, _BATCH, _NEWTON, _FOLDS = 24, 4, 12, 5
_ROUNDING = 1e-9
_CELLS = 20
"""Of each range."""
_LEAST_WEIGHT = 1e-3
"""Of a shape, against that of the best one, to count."""
_MOST_UNDECIDED = 3
"""Trials without a decision after which a cell is left alone."""


@dataclass(frozen=True)
class BoundaryMap:
    """What is known of each cell."""

    probability: Array
    """That most trials of a cell fail: a row for each cell of the first axis."""
    states: tuple[tuple[State, ...], ...]
    """Of the same cells."""
    points: Array
    failing: tuple[bool | None, ...]
    """Of the trials at the points."""
    accuracy: float | None
    """Share of decided trials that the map tells rightly when it is fitted without them."""
    usual: float | None
    """Share that is told rightly by naming whatever is more frequent."""

    def share(self, state: State) -> float:
        """Return the share of the cells in a state."""
        every = [one for row in self.states for one in row]
        return every.count(state) / len(every)


def map_boundary(fails: Failing, sizes: tuple[int, int], trials: int, seed: int,
                 snap: Snap = numpy.array) -> BoundaryMap:
    """
    Return the map of the unit square.

    :param fails: runs trials
    :param sizes: of the two axes: how many values a choice has, in equal parts of the side; 0
        for a range
    :param seed: of where they are
    :param snap: to where trials can be; a cell that holds none of it stays unknown
    """
    chance = numpy.random.default_rng(seed)
    counts = [size or _CELLS for size in sizes]
    sides = [(numpy.arange(count) + 0.5) / count for count in counts]
    grid = numpy.array([(one, other) for one in sides[0] for other in sides[1]])
    half = numpy.array([0.5 / count for count in counts])
    can_be = numpy.max(numpy.abs(snap(grid) - grid) - half, axis=1) <= _ROUNDING
    points, found = numpy.empty((0, 2)), list[bool | None]()
    shape = _FIRST_SHAPE
    first = min(trials, max(12, trials // 6))
    refitted = 0
    while len(points) < trials:
        number = min(_BATCH, trials - len(points))
        decided = [one is not None for one in found]
        if len(points) < first or len({one for one in found if one is not None}) < 2:
            wanted = _spread(points, chance, number, snap)
        else:
            if len(points) - refitted >= _REFIT or not refitted:
                shape, refitted = _best_shape(points[decided], _signs(found)), len(points)
            mean, deviation = _predict(points[decided], _signs(found), shape, grid)
            mean[~can_be], deviation[~can_be] = numpy.inf, 0.0
            wanted = _ambiguous(grid, mean, deviation, points, found, number)
            wanted = snap(wanted + half * chance.uniform(-1.0, 1.0, wanted.shape))
        found += fails(wanted)
        points = numpy.vstack([points, wanted])
    return _mapped(points, found, grid, can_be, (sizes[0], sizes[1]), counts)


def _mapped(points: Array, found: Sequence[bool | None], grid: Array, can_be: Flags,
            sizes: tuple[int, int], counts: Sequence[int]) -> BoundaryMap:
    decided = numpy.array([one is not None for one in found], bool)
    known, signs = points[decided], _signs(found)
    if not len(known):
        nowhere = tuple(tuple(_UNKNOWN for _ in range(counts[1])) for _ in range(counts[0]))
        return BoundaryMap(numpy.full(counts, 0.5), nowhere, points, tuple(found), None, None)
    weights = _weighted_shapes(known, signs)

    def probability(told: Sequence[bool | None]) -> Array:
        """Return that of each cell by those trials that are decided."""
        is_told, signs = [one is not None for one in told], _signs(told)
        every = _mean(weights, partial(_failing, points[is_told], signs, at=grid))
        for sign, least, most in ((1.0, 1.0 - CERTAIN, 1.0), (-1.0, 0.0, CERTAIN)):
            near = _near(grid, points[is_told][signs == sign], sizes, counts)
            every[near] = every[near].clip(least, most)
        every[~can_be] = 0.5
        return every.reshape(counts)
    by_decided = probability(found)
    least, most = by_decided, by_decided
    for undecided in (False, True) if not decided.all() else ():
        other = probability([undecided if one is None else one for one in found])
        least, most = numpy.minimum(least, other), numpy.maximum(most, other)
    states: tuple[tuple[State, ...], ...] = tuple(tuple(
        'fails' if low > CERTAIN else 'passes' if high < 1.0 - CERTAIN else 'unknown'
        for low, high in zip(*rows, strict=True)) for rows in zip(least, most, strict=True))
    usual = max(float((signs > 0).mean()), float((signs < 0).mean()))
    return BoundaryMap(by_decided, states, points, tuple(found),
                       _cross_validated(known, signs, weights), usual)


def _near(grid: Array, points: Array, sizes: tuple[int, int], counts: Sequence[int]) -> Flags:
    """Return which cells have one of some points in them or beside them; no choice has a side."""
    reach = numpy.array([(0.5 if size else 1.5) / count
                         for size, count in zip(sizes, counts, strict=True)])
    apart = numpy.abs(grid[:, None, :] - points[None])
    found: Flags = numpy.max(apart - reach, axis=2).min(axis=1, initial=1.0) <= _ROUNDING
    return found


def _signs(found: Sequence[bool | None]) -> Array:
    return numpy.array([1.0 if one else -1.0 for one in found if one is not None])


def _spread(points: Array, chance: numpy.random.Generator, number: int, snap: Snap) -> Array:
    """Return points far from all others."""
    chosen: list[Array] = []
    for _ in range(number):
        pool = snap(chance.random((64, 2)))
        known = numpy.vstack([points, *(one[None] for one in chosen)])
        apart = numpy.abs(pool[:, None, :] - known[None]).max(2).min(1, initial=1.0)
        chosen.append(pool[int(apart.argmax())])
    return numpy.array(chosen)


def _ambiguous(grid: Array, mean: Array, deviation: Array, points: Array,
               found: Sequence[bool | None], number: int) -> Array:
    """Return cells of which it is least certain on which side they are, not beside each other."""
    score = 1.64 * deviation - numpy.abs(mean)
    undecided = points[[one is None for one in found]]
    if len(undecided):
        near = numpy.abs(grid[:, None, :] - undecided[None]).max(2) < 0.05
        score[near.sum(1) >= _MOST_UNDECIDED] = -numpy.inf
    chosen: list[int] = []
    for place in numpy.argsort(-score):
        if all(float(numpy.abs(grid[place] - grid[other]).max()) > 0.1 for other in chosen):
            chosen.append(int(place))
        if len(chosen) == number:
            break
    return grid[chosen]


def _covariance(one: Array, other: Array, shape: Shape) -> Array:
    lengths, variance = shape
    squared = (((one[:, None, :] - other[None]) / numpy.array(lengths)) ** 2).sum(2)
    root = numpy.sqrt(5.0 * squared)
    found: Array = variance * (1.0 + root + 5.0 / 3.0 * squared) * numpy.exp(-root)
    return found


def _laplace(matrix: Array, signs: Array) -> tuple[Array, Array, float]:
    """Return the mode of the logits, the square roots of the weights there, and the evidence."""
    logits = numpy.zeros(len(signs))
    target = (signs + 1.0) / 2.0
    weights = numpy.zeros(len(signs))
    for _ in range(_NEWTON):
        share = 1.0 / (1.0 + numpy.exp(-logits))
        curve = share * (1.0 - share)
        root = numpy.sqrt(curve)
        inner = numpy.eye(len(signs)) + root[:, None] * matrix * root[None]
        right = curve * logits + target - share
        weights = right - root * numpy.linalg.solve(inner, root * (matrix @ right))
        before, logits = logits, matrix @ weights
        if float(numpy.abs(logits - before).max()) < 1e-6:
            break
    share = 1.0 / (1.0 + numpy.exp(-logits))
    root = numpy.sqrt(share * (1.0 - share))
    inner = numpy.eye(len(signs)) + root[:, None] * matrix * root[None]
    evidence = -0.5 * float(weights @ logits) \
        - float(numpy.logaddexp(0.0, -signs * logits).sum()) \
        - 0.5 * float(numpy.linalg.slogdet(inner)[1])
    return logits, root, evidence


def _best_shape(points: Array, signs: Array) -> Shape:
    """Return the lengths and the variance of greatest evidence."""
    return max(_weighted_shapes(points, signs), key=lambda one: one[1])[0]


def _weighted_shapes(points: Array, signs: Array) -> Weights:
    """Return the shapes that have evidence, with their shares of it."""
    shapes: list[Shape] = [((one, other), variance) for one in _LENGTHS for other in _LENGTHS
                           for variance in _VARIANCES]
    evidence = numpy.array([_laplace(_covariance(points, points, shape), signs)[2]
                            for shape in shapes])
    weights = numpy.exp(evidence - evidence.max())
    weights[weights < _LEAST_WEIGHT] = 0.0
    return [(shape, float(weight)) for shape, weight in zip(
        shapes, weights / weights.sum(), strict=True) if weight]


def _predict(points: Array, signs: Array, shape: Shape, at: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation of the logit of the failing share."""
    matrix = _covariance(points, points, shape)
    logits, root, _ = _laplace(matrix, signs)
    cross = _covariance(at, points, shape)
    mean = cross @ ((signs + 1.0) / 2.0 - 1.0 / (1.0 + numpy.exp(-logits)))
    inner = numpy.eye(len(signs)) + root[:, None] * matrix * root[None]
    half = numpy.linalg.solve(numpy.linalg.cholesky(inner), root[:, None] * cross.T)
    variance = numpy.maximum(1e-9, shape[1] - (half * half).sum(0))
    return mean, numpy.sqrt(variance)


def _mean(weights: Weights, of: Callable[[Shape], Array]) -> Array:
    """Return the mean over shapes."""
    found: Array = numpy.sum([weight * of(shape) for shape, weight in weights], axis=0)
    return found


def _failing(points: Array, signs: Array, shape: Shape, at: Array) -> Array:
    """Return how probable it is that most trials fail."""
    mean, deviation = _predict(points, signs, shape, at)
    return _normal_share(mean / deviation)


def _cross_validated(points: Array, signs: Array, weights: Weights) -> float | None:
    """Return the share told rightly of trials that the fit has not seen."""
    if len(signs) < 2 * _FOLDS:
        return None
    right = 0
    fold = numpy.arange(len(signs)) % _FOLDS
    for one in range(_FOLDS):
        seen, unseen = fold != one, fold == one
        share = _mean(weights, partial(_failing, points[seen], signs[seen], at=points[unseen]))
        right += int((numpy.sign(share - 0.5) == signs[unseen]).sum())
    return right / len(signs)


def _normal_share(z: Array) -> Array:
    found: Array = numpy.array([0.5 * (1.0 + math.erf(one / math.sqrt(2.0))) for one in z])
    return found
