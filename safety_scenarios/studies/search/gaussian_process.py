# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A Gaussian process over ranges and choices, in NumPy.

Covariance: the mean of one factor for each axis (main effects, which add up: Duvenaud 2011), and
their product (effects of axes together). The factor of a range is Matern 5/2 (Rasmussen and
Williams 2006, 4.2), that of a choice ``exp(-weight)`` where two points differ. Lengths, weights,
the share of the main effects and the noise maximise the posterior density, by the sign of its
gradient (Rprop, Riedmiller and Braun 1993).
"""

import math

import numpy
from numpy.typing import NDArray

Matrix = NDArray[numpy.float64]
_JITTER = 1e-8
_PRIOR_AXIS, _PRIOR_MIX, _PRIOR_NOISE = math.log(0.4), 0.0, math.log(1e-3)
"""Centres of the normal priors: of logarithms, and of the logit of the main effects' share."""
_SPREAD = 1.0
"""Their standard deviation; that of the noise is twice as large."""
_LEAST_STEP, _MOST_STEP = 0.01, 0.5
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
                agree < 0, 0.5 * step, step)), _LEAST_STEP, _MOST_STEP)
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
