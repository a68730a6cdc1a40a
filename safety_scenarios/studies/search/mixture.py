# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A mixture of normal distributions around points, to draw more of their kind.

In standard normal deviates, whose distribution function gives the unit cube. Fitted by expectation
and maximisation (Dempster 1977) from weighted points; its covariances are widened, and one part
draws from everywhere, so that no weight is large.
"""

from dataclasses import dataclass
import math

import numpy
from numpy.typing import NDArray

Array = NDArray[numpy.float64]
_PARTS, _LEAST = 6, 8
"""Of the mixture; points for each axis that a part needs."""
_ROUNDS = 12
_WIDER = 1.5
"""By which covariances are multiplied."""
_EVERYWHERE = 0.15
"""Share that is drawn from everywhere."""
_LEAST_VARIANCE = 1e-8


def shares_of(deviates: Array) -> Array:
    """Return the points of the unit cube."""
    root = math.sqrt(2.0)
    return numpy.array([0.5 * math.erfc(-one / root) for one in deviates.ravel().tolist()]) \
        .reshape(deviates.shape)


@dataclass(frozen=True)
class Mixture:
    """Parts with their shares, means and roots of covariances, and one part for everywhere."""

    shares: Array
    means: Array
    roots: Array

    @staticmethod
    def around(points: Array, weights: Array, chance: numpy.random.Generator) -> 'Mixture':
        """Return the mixture that fits weighted points, widened."""
        count, axes = points.shape
        weights = weights / weights.sum()
        parts = max(1, min(_PARTS, count // (_LEAST * axes)))
        means = _spread(points, parts, chance)
        overall = _covariance(points, weights, (weights[:, None] * points).sum(0))
        shares = numpy.full(parts, 1.0 / parts)
        covariances = numpy.array([overall / parts**(2.0 / axes)] * parts)
        for _ in range(_ROUNDS if parts > 1 else 1):
            logs = _log_densities(points, means, numpy.linalg.cholesky(covariances)) \
                + numpy.log(shares)[None]
            belongs = numpy.exp(logs - logs.max(1)[:, None])
            belongs *= (weights / belongs.sum(1))[:, None]
            shares = numpy.maximum(belongs.sum(0), 1e-9)
            means = belongs.T @ points / shares[:, None]
            covariances = numpy.array([
                _covariance(points, belongs[:, part] / shares[part], means[part])
                for part in range(parts)])
            shares = shares / shares.sum()
        shares = 0.5 * shares + 0.5 / parts
        return Mixture(shares, means, numpy.asarray(
            numpy.linalg.cholesky(_WIDER * covariances), numpy.float64))

    def draw(self, number: int, chance: numpy.random.Generator) -> Array:
        """Return deviates drawn from it."""
        axes = self.means.shape[1]
        normal = chance.standard_normal((number, axes))
        which = chance.choice(len(self.shares), number, p=self.shares / self.shares.sum())
        found = self.means[which] + numpy.einsum('nij,nj->ni', self.roots[which], normal)
        return numpy.where(chance.random(number)[:, None] < _EVERYWHERE, normal, found)

    def part_of(self, deviates: Array) -> NDArray[numpy.intp]:
        """Return to which part each point belongs most probably."""
        logs = _log_densities(deviates, self.means, self.roots) + numpy.log(self.shares)
        return numpy.asarray(logs.argmax(1), numpy.intp)

    def density(self, deviates: Array) -> Array:
        """Return how much more often than everywhere it draws there."""
        axes = deviates.shape[1]
        everywhere = -0.5 * (deviates**2).sum(1) - 0.5 * axes * math.log(2.0 * math.pi)
        logs = _log_densities(deviates, self.means, self.roots) - everywhere[:, None]
        found: Array = _EVERYWHERE + (1.0 - _EVERYWHERE) * (
            self.shares * numpy.exp(numpy.minimum(logs, 600.0))).sum(1)
        return found


def _spread(points: Array, parts: int, chance: numpy.random.Generator) -> Array:
    """Return points that are far from each other, by which parts begin (k-means++)."""
    chosen = [points[int(chance.integers(len(points)))]]
    while len(chosen) < parts:
        apart = ((points[:, None] - numpy.array(chosen)[None]) ** 2).sum(2).min(1)
        total = float(apart.sum())
        chosen.append(points[int(chance.choice(len(points), p=apart / total))] if total
                      else chosen[0])
    return numpy.array(chosen)


def _covariance(points: Array, weights: Array, mean: Array) -> Array:
    """Return a weighted covariance, drawn towards its diagonal where few points tell it."""
    off = points - mean
    full: Array = (weights[:, None] * off).T @ off
    size = 1.0 / max(float((weights**2).sum()), 1e-12)
    few = points.shape[1] / (points.shape[1] + size)
    diagonal = numpy.diag(numpy.diag(full) + _LEAST_VARIANCE)
    found: Array = (1.0 - few) * full + few * diagonal + _LEAST_VARIANCE * numpy.eye(len(full))
    return found


def _log_densities(points: Array, means: Array, roots: Array) -> Array:
    """Return the logarithm of each part's density at each point."""
    found = numpy.empty((len(points), len(means)))
    for part, (mean, root) in enumerate(zip(means, roots)):
        scaled = numpy.linalg.solve(root, (points - mean).T)
        found[:, part] = -0.5 * (scaled**2).sum(0) - float(numpy.log(numpy.diag(root)).sum()) \
            - 0.5 * points.shape[1] * math.log(2.0 * math.pi)
    return found
