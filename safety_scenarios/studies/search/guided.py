# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The search of this package: for failures in narrow regions of ranges and choices.

Covariance: the mean of one factor for each axis (main effects, which add up: Duvenaud 2011), and
their product (effects of axes together). The factor of a range is Matern 5/2 (Rasmussen and
Williams 2006, 4.2), that of a choice ``exp(-weight)`` where two points differ. Lengths, weights,
the share of the main effects and the noise maximise the posterior density, by the sign of its
gradient (Rprop, Riedmiller and Braun 1993).

Four ways to choose the next point take turns. A *model* (a Gaussian process of one check's
margins) names the point of the greatest expected improvement. A *sweep* keeps the draws of a good
point that a margin is known to depend on, and draws all others anew. A *local* step moves one or
two draws of a good point, by less where that did not help. A *new* point is far from all others.
Each check is modelled alone: the least of many margins hides the one that falls.
Failures that are known repel: a second one must be somewhere else.
"""

from collections.abc import Sequence
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.studies.search.space import History, Point, Space

Matrix = NDArray[numpy.float64]
_JITTER = 1e-8
_PRIOR_AXIS, _PRIOR_MIX, _PRIOR_NOISE = math.log(0.4), 0.0, math.log(1e-3)
"""Centres of the normal priors: of logarithms, and of the logit of the main effects' share."""
_SPREAD = 1.0
"""Their standard deviation; that of the noise is twice as large."""
_LEAST_FIT_STEP, _MOST_STEP = 0.01, 0.5
_TINY = 1e-300


def prior(axes: int) -> Matrix:
    """Return where a fit begins: a parameter for each axis, that of the mixture, the noise."""
    return numpy.array([_PRIOR_AXIS] * axes + [_PRIOR_MIX, _PRIOR_NOISE])


def _factors(one: Matrix, other: Matrix, sizes: NDArray[numpy.intp], shape: Matrix) \
        -> tuple[Matrix, Matrix]:
    """Return the factor of each axis, and its slope in the logarithm of length or weight."""
    scale = numpy.exp(shape[:len(sizes)])[:, None, None]
    apart = numpy.abs(one.T[:, :, None] - other.T[:, None, :])
    is_range = (sizes == 0)[:, None, None]
    away = math.sqrt(5.0) * apart / scale
    decay = numpy.exp(-away)
    weight = scale * (apart > 0)
    factors = numpy.where(is_range, (1.0 + away + away * away / 3.0) * decay, numpy.exp(-weight))
    slopes = numpy.where(is_range, away * away * (1.0 + away) / 3.0 * decay, -weight * factors)
    return factors, slopes


def _share(mix: float) -> float:
    return 1.0 / (1.0 + math.exp(-mix))


def covariance(one: Matrix, other: Matrix, sizes: NDArray[numpy.intp], shape: Matrix) -> Matrix:
    """Return the covariance of every row of one with every row of the other; variance 1."""
    factors, share = _factors(one, other, sizes, shape)[0], _share(shape[-2])
    found: Matrix = share * factors.mean(0) + (1.0 - share) * factors.prod(0)
    return found


class GaussianProcess:
    """
    What points have told about a function, fitted.

    :ivar shape: what was fitted, from which the next fit may begin

    :param points: one row each
    :param values: of the function; they are standardised here
    :param sizes: of the space: 0 for a range
    :param shape: where the fit begins
    :param steps: of the fit
    """

    def __init__(self, points: Matrix, values: Matrix, sizes: NDArray[numpy.intp],
                 shape: Matrix | None = None, steps: int = 20) -> None:
        self._points, self._sizes = points, sizes
        self._mean = float(values.mean())
        self._scale = float(values.std()) or 1.0
        self._targets = (values - self._mean) / self._scale
        self.shape = self._fitted(prior(len(sizes)) if shape is None else shape, steps)
        matrix = covariance(points, points, sizes, self.shape)
        matrix[numpy.diag_indices_from(matrix)] += math.exp(self.shape[-1]) + _JITTER
        self._inverse = numpy.linalg.inv(numpy.linalg.cholesky(matrix))
        self._weights = self._inverse.T @ (self._inverse @ self._targets)

    def _fitted(self, now: Matrix, steps: int) -> Matrix:
        centre, width = prior(len(self._sizes)), numpy.full(len(now), _SPREAD)
        width[-1] *= 2.0
        best, best_loss = now, math.inf
        step, before = numpy.full(len(now), 0.2), numpy.zeros(len(now))
        for _ in range(steps):
            loss, slope = self.loss(now)
            loss += 0.5 * float((((now - centre) / width) ** 2).sum())
            slope += (now - centre) / width**2
            if loss < best_loss:
                best, best_loss = now, loss
            agree = slope * before
            step = numpy.clip(numpy.where(agree > 0, 1.2 * step, numpy.where(
                agree < 0, 0.5 * step, step)), _LEAST_FIT_STEP, _MOST_STEP)
            now, before = now - numpy.sign(slope) * step, slope
            now = numpy.clip(now, centre - 4.0 * width, centre + 4.0 * width)
        return best

    def loss(self, shape: Matrix) -> tuple[float, Matrix]:
        """Return the negative log likelihood without its constant, and its slope."""
        share, noise = _share(shape[-2]), math.exp(shape[-1])
        factors, slopes = _factors(self._points, self._points, self._sizes, shape)
        mean, product = factors.mean(0), factors.prod(0)
        matrix = share * mean + (1.0 - share) * product
        root = numpy.linalg.cholesky(matrix + (noise + _JITTER) * numpy.eye(len(matrix)))
        half = numpy.linalg.inv(root)
        inverse = half.T @ half
        weights = inverse @ self._targets
        loss = 0.5 * float(self._targets @ weights) + float(numpy.log(numpy.diag(root)).sum())
        outer = inverse - numpy.outer(weights, weights)
        each = slopes * (share / len(factors) + (1.0 - share) * product[None] / (factors + _TINY))
        slope = numpy.append(0.5 * numpy.einsum('ij,kij->k', outer, each), [
            0.5 * share * (1.0 - share) * float((outer * (mean - product)).sum()),
            0.5 * noise * float(numpy.trace(outer))])
        return loss, slope

    def predict(self, points: Matrix) -> tuple[Matrix, Matrix]:
        """Return mean and standard deviation of the function at points, noise left out."""
        cross = covariance(points, self._points, self._sizes, self.shape)
        left = cross @ self._inverse.T
        variance = numpy.maximum(1e-12, 1.0 - (left * left).sum(1))
        return (self._mean + self._scale * (cross @ self._weights),
                self._scale * numpy.sqrt(variance))


_CYCLE = ('model', 'sweep', 'local', 'sweep', 'model', 'sweep', 'model', 'local', 'sweep', 'new')
_CANDIDATES = 300
_ROUNDS = 3
"""In which the best candidates are moved a little, by the model alone."""
_MOST_POINTS = 160
"""What the model is fitted to: the points with the least margins, and the newest."""
_ELITES = 6
_FIRST_STEP, _LEAST_STEP = 0.15, 0.002
_APART = 0.12
"""Of a range, or one choice: nearer to a known failure is the same failure."""
_GOOD = 0.9
"""Quantile of the margins above which a larger one tells nothing."""
_LONG, _WEAK = math.log(1.0), math.log(0.25)
"""A length from which on, and a weight up to which, a draw has no known effect."""
_OTHER_CHECK = 0.5
"""How often another check is followed than the one with the least margin."""


class Guided:
    """
    Chooses points where a margin may be least.

    :param seed: of everything random in the choice
    :param history: of the trials so far, which the caller extends
    """

    def __init__(self, space: Space, seed: int, history: History) -> None:
        self._space, self._history = space, history
        self._chance = numpy.random.default_rng(seed)
        self._shapes: dict[str, NDArray[numpy.float64]] = {}
        self._steps: dict[int, float] = {}
        self._asked = 0
        self._start = max(8, len(space.axes) + 2)
        self._waits_since, self._waiting = 0, list[Point]()
        """Points that were asked for since the history had this length."""
        self._moved: tuple[int, int] | None = None
        """The point that the last local step left, and where the history was then."""

    def ask(self) -> Point:
        """Return the next point to try; of several that run side by side none is near another."""
        if self._waits_since != len(self._history):
            self._waits_since, self._waiting = len(self._history), []
        point = self._next()
        self._waiting.append(point)
        return point

    def _next(self) -> Point:
        self._asked += 1
        self._learn()
        scores = self._history.scores()
        if len(self._history) < self._start or numpy.isnan(scores).all():
            return self._new()
        turn = _CYCLE[self._asked % len(_CYCLE)]
        checks, rows = self._history.by_check()
        if turn == 'new' or not checks:
            return self._new()
        place = self._followed(rows)
        values = rows[:, place]
        if turn == 'model':
            return self._model(scores, checks[place], values)
        elites = self._open(values, scores)
        return self._local(elites) if turn == 'local' else self._sweep(elites, values)

    def _new(self) -> Point:
        """Return the one of some random points that is farthest from all others."""
        pool = [self._space.random(self._chance) for _ in range(48)]
        known = [*self._history.points, *self._waiting]
        if not known:
            return pool[0]
        near = _distances(numpy.array(pool), numpy.array(known), self._space.sizes).min(1)
        return pool[int(near.argmax())]

    def _learn(self) -> None:
        """Lengthen or shorten the step of the point that the last local step left."""
        if self._moved is None or len(self._history) <= self._moved[1]:
            return
        (left, place), self._moved = self._moved, None
        checks, rows = self._history.by_check()
        step = self._steps.get(left, _FIRST_STEP)
        if numpy.nanmin(rows[place] - rows[left], initial=numpy.inf) < -0.02:
            self._steps[place] = min(1.5 * step, 2.0 * _FIRST_STEP)
        else:
            self._steps[left] = 0.7 * step

    def _open(self, values: NDArray[numpy.float64], scores: NDArray[numpy.float64]) -> list[int]:
        """Return the trials that held, the least margin first, away from known failures."""
        points = numpy.array(self._history.points)
        held = numpy.flatnonzero((scores > 0) & (values > 0))
        failed = numpy.flatnonzero(scores < 0)
        if len(failed) and len(held):
            apart = _distances(points[held], points[failed], self._space.sizes).min(1)
            away = held[apart > _APART]
            held = away if len(away) else held
        found: list[int] = []
        for place in held[numpy.argsort(values[held])]:
            if all(_distances(points[place:place + 1], points[other:other + 1],
                              self._space.sizes)[0, 0] > 0.02 for other in found):
                found.append(int(place))
            if len(found) == _ELITES:
                break
        return found

    def _local(self, elites: Sequence[int]) -> Point:
        elites = [place for place in elites if self._steps.get(place, _FIRST_STEP) > _LEAST_STEP]
        if not elites:
            return self._new()
        left = elites[min(int(self._chance.exponential(1.5)), len(elites) - 1)]
        self._moved = left, len(self._history) + len(self._waiting)
        return self._near(self._history.points[left], self._steps.get(left, _FIRST_STEP))

    def _sweep(self, elites: Sequence[int], values: NDArray[numpy.float64]) -> Point:
        """
        Return a point with a small margin whose draws without a known effect are all drawn anew.

        A narrow region in one of them is met as soon as by a sweep along that one alone.
        """
        if not elites:
            return self._new()
        points = numpy.array(self._history.points)
        base = points[elites[min(int(self._chance.exponential(1.0)), len(elites) - 1)]]
        matters = self._matters()
        low = points[numpy.argsort(numpy.where(numpy.isnan(values), numpy.inf, values))[:64]]
        best: Point = base
        farthest = -1.0
        for _ in range(24):
            drawn = self._space.random(self._chance)
            found = numpy.where(matters, base, drawn)
            free = numpy.abs(low - found)[:, ~matters]
            free[:, self._space.sizes[~matters] > 0] = 0.5 * (
                free[:, self._space.sizes[~matters] > 0] > 0)
            apart = float(free.min(0, initial=1.0).sum() + free.mean(1).min(initial=1.0))
            if apart > farthest:
                best, farthest = found, apart
        return best

    def _matters(self) -> NDArray[numpy.bool_]:
        """Return which draws a margin is known to depend on, by the fitted lengths."""
        sizes = self._space.sizes
        found = numpy.zeros(len(sizes), bool)
        for shape in self._shapes.values():
            found |= numpy.where(sizes == 0, shape[:-2] < _LONG, shape[:-2] > _WEAK)
        if found.all():  # some are drawn anew all the same
            found = self._chance.random(len(sizes)) < 0.5
            found[int(self._chance.integers(len(sizes)))] = False
        return found

    def _near(self, point: Point, step: float) -> Point:
        """Return a point that differs in one or two draws."""
        found, sizes = point.copy(), self._space.sizes
        for place in self._chance.choice(len(sizes), size=min(
                len(sizes), 1 + int(self._chance.random() < 0.5)), replace=False):
            if sizes[place]:
                found[place] = self._chance.integers(sizes[place])
            else:
                found[place] = found[place] + step * self._chance.standard_normal()
        return self._space.snapped(numpy.clip(found, 0.0, numpy.maximum(1.0, sizes - 1.0)))

    def _model(self, scores: NDArray[numpy.float64], check: str,
               values: NDArray[numpy.float64]) -> Point:
        known = ~numpy.isnan(values)
        if known.sum() < self._start or float(numpy.ptp(values[known])) <= 0:
            return self._new()
        points = numpy.array(self._history.points)
        # an undecided trial must not attract: there the margin is taken for an ordinary one
        values = numpy.where(known, values, numpy.median(values[known]))
        values = numpy.minimum(values, max(float(numpy.quantile(values, _GOOD)), 1e-3))
        chosen = _chosen(values)
        process = GaussianProcess(points[chosen], numpy.maximum(values[chosen], -0.5),
                                  self._space.sizes, self._shapes.get(check),
                                  6 if check in self._shapes else 25)
        self._shapes[check] = process.shape
        best = max(float(values.min()), 0.0)
        failed = points[scores < 0]

        def gain(pool: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
            found = _expected_improvement(*process.predict(pool), best)
            if len(failed):
                found[_distances(pool, failed, self._space.sizes).min(1) < _APART] = -1.0
            found[_distances(pool, points, self._space.sizes).min(1) < 1e-6] = -2.0
            if self._waiting:
                found[_distances(pool, numpy.array(self._waiting),
                                 self._space.sizes).min(1) < _APART / 2.0] = -2.0
            return found

        pool = self._pool(points, values)
        gains = gain(pool)
        for _ in range(_ROUNDS):
            top = numpy.argsort(-gains)[:8]
            near = numpy.array([self._near(pool[place], float(
                _FIRST_STEP * 10.0 ** self._chance.uniform(-1.5, 0.3)))
                for place in top for _ in range(8)])
            pool, gains = numpy.vstack([pool[top], near]), numpy.append(gains[top], gain(near))
        found: Point = pool[int(gains.argmax())]
        return found

    def _followed(self, rows: NDArray[numpy.float64]) -> int:
        """Return which check is modelled: mostly that with the least margin that still holds."""
        least = numpy.array([column[column > 0].min(initial=math.inf) for column in rows.T])
        if self._chance.random() < _OTHER_CHECK:
            return int(self._chance.integers(len(least)))
        return int(least.argmin())

    def _pool(self, points: NDArray[numpy.float64], values: NDArray[numpy.float64]) \
            -> NDArray[numpy.float64]:
        """Return the candidates: random ones, near the best ones, and mixtures of two of them."""
        best = numpy.argsort(values)[:_ELITES]
        pool = [self._space.random(self._chance) for _ in range(_CANDIDATES // 2)]
        for place in best:
            for _ in range(_CANDIDATES // 3 // len(best)):
                pool.append(self._near(points[place], float(
                    _FIRST_STEP * 10.0 ** self._chance.uniform(-1.5, 0.3))))
        for _ in range(_CANDIDATES // 6):
            one, other = self._chance.choice(best, 2)
            mixed = self._chance.random(points.shape[1]) < 0.5
            pool.append(numpy.where(mixed, points[one], points[other]))
        return numpy.array(pool)


def _chosen(values: NDArray[numpy.float64]) -> NDArray[numpy.intp]:
    """Return which points the model is fitted to: at most ``_MOST_POINTS``."""
    if len(values) <= _MOST_POINTS:
        return numpy.arange(len(values))
    best = numpy.argsort(values)[:_MOST_POINTS // 2]
    newest = numpy.arange(len(values) - _MOST_POINTS // 2, len(values))
    return numpy.unique(numpy.concatenate([best, newest]))


def _distances(one: NDArray[numpy.float64], other: NDArray[numpy.float64],
               sizes: NDArray[numpy.intp]) -> NDArray[numpy.float64]:
    """Return the greatest difference in any draw; another choice counts as half a range."""
    apart = numpy.abs(one[:, None, :] - other[None, :, :])
    apart[:, :, sizes > 0] = 0.5 * (apart[:, :, sizes > 0] > 0)
    found: NDArray[numpy.float64] = apart.max(2) + 0.1 * apart.mean(2)
    return found


def _expected_improvement(mean: NDArray[numpy.float64], deviation: NDArray[numpy.float64],
                          best: float) -> NDArray[numpy.float64]:
    """Return by how much each point is expected to be below the best (Jones 1998)."""
    z = (best - mean) / deviation
    density = numpy.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    found: NDArray[numpy.float64] = deviation * (z * _normal_share(z) + density)
    return found


def _normal_share(z: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    return 0.5 * (1.0 + numpy.array([math.erf(one / math.sqrt(2.0)) for one in z]))


def far_from_all(points: Sequence[Point], sizes: NDArray[numpy.intp], point: Point) -> bool:
    """Return whether a point is none of the same region as any of the others."""
    return not points or bool(_distances(point[None], numpy.array(points), sizes).min() > _APART)
