# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How much of the differences between trials each draw explains: Sobol indices.

A polynomial chaos expansion is fitted to the trials: products of orthonormal polynomials, one of
each draw, by least squares. Its coefficients are the variances of the effects, so the indices
follow without another trial (Sudret 2008, Reliab. Eng. Syst. Saf. 93:964). The degree is the one
with the best leave-one-out fit. Indices of a poor fit mean nothing; the fit is stated with them.
Of many degrees one may fit noise: so the best fit is also compared with that of permuted values.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy
from numpy.typing import NDArray
from safety_scenarios.studies.conditions.condition import Axis

Numbers = NDArray[numpy.float64]
_MOST_DEGREE = 12
_FEWEST_A_TERM = 2.5
"""Trials for each coefficient: with fewer the expansion follows the noise."""
_FEWEST = 20
_LEAST_FIT = 0.1
"""Below this share of explained variance no index is stated."""
_PERMUTATIONS, _ALPHA = 99, 0.05
"""Nor where so many permutations of the values fit as well with a larger probability."""


@dataclass(frozen=True)
class Effect:
    """What one draw explains of the variance between trials."""

    axis: str
    alone: float
    """First-order Sobol index: by itself."""
    with_others: float
    """Total Sobol index: by itself and together with other draws."""


@dataclass(frozen=True)
class Effects:
    """The draws by what they explain, the largest first."""

    effects: tuple[Effect, ...]
    """Empty where the fit is too poor."""
    fit: float
    """Share of the variance that the fitted model predicts of trials it has not seen (Q2)."""
    trials: int
    p: float
    """Of such a fit where no draw matters, by permutation."""


def effects_of(axes: Sequence[Axis], values: Sequence[float]) -> Effects | None:
    """
    Return the Sobol indices of draws on a value of each trial, such as 1 where it failed.

    Draws are independent of each other, as ``ros.vary`` makes them.

    :return: None for fewer than 20 trials, or where nothing differs
    """
    told = numpy.asarray(values, float)
    columns = {axis.name: _columns(axis) for axis in axes}
    columns = {name: some for name, some in columns.items() if some}
    if len(told) < _FEWEST or not columns or told.std() == 0:
        return None
    chance = numpy.random.default_rng(0)
    rows = numpy.stack([told, *(chance.permutation(told) for _ in range(_PERMUTATIONS))], axis=1)
    largest = numpy.full(1 + _PERMUTATIONS, -numpy.inf)
    best: list[tuple[tuple[str, int], ...]] = []
    for degree, ways in product(range(1, _MOST_DEGREE + 1), (1, 2)):
        terms = list(_terms(columns, degree, ways))
        if _FEWEST_A_TERM * (len(terms) + 1) > len(told):
            break
        fits = _fits(_matrix(columns, terms), rows)
        if fits[0] > largest[0]:
            best = terms
        largest = numpy.maximum(largest, fits)
    if not best:
        return Effects((), 0.0, len(told), 1.0)
    fit, terms = float(largest[0]), best
    p = float((largest >= fit - 1e-9).mean())
    if fit < _LEAST_FIT or p > _ALPHA:
        return Effects((), fit, len(told), p)
    weights, *_ = numpy.linalg.lstsq(_matrix(columns, terms), told, rcond=None)
    parts = weights[1:] ** 2
    total = float(parts.sum())
    found = [Effect(name,
                    float(sum(part for term, part in zip(terms, parts, strict=True)
                              if {axis for axis, _ in term} == {name})) / total,
                    float(sum(part for term, part in zip(terms, parts, strict=True)
                              if name in {axis for axis, _ in term})) / total)
             for name in columns]
    return Effects(tuple(sorted(found, key=lambda one: -one.with_others)), fit, len(told), p)


def _columns(axis: Axis) -> list[tuple[int, Numbers]]:
    """Return orthonormal functions of a draw in these trials, each with its degree."""
    is_number = axis.is_number and len(set(axis.values)) > 2
    if is_number:
        numbers = numpy.asarray(axis.values, float)
        spread = numpy.ptp(numbers)
        scaled = 2 * (numbers - numbers.min()) / spread - 1
        raw = numpy.polynomial.legendre.legvander(
            scaled, min(_MOST_DEGREE, len(set(axis.values)) - 1))
    else:
        values = [str(value) for value in axis.values]
        raw = numpy.stack([numpy.ones(len(values)), *(
            numpy.array([value == one for value in values], float)
            for one in sorted(set(values))[1:])], axis=1)
    if raw.shape[1] < 2:
        return []
    orthogonal, _ = numpy.linalg.qr(raw)  # by these trials, whatever the draw's law is
    return [(place if is_number else 1, orthogonal[:, place] * numpy.sqrt(len(raw)))
            for place in range(1, raw.shape[1])]


def _terms(columns: Mapping[str, Sequence[tuple[int, Numbers]]], degree: int, ways: int) -> \
        Iterator[tuple[tuple[str, int], ...]]:
    """Yield the products of at most so many draws, up to a total degree."""
    for count in range(1, ways + 1):
        for names in combinations(columns, count):
            for places in product(*(range(len(columns[name])) for name in names)):
                whole = sum(columns[name][place][0]
                            for name, place in zip(names, places, strict=True))
                if whole <= degree + count - 1:
                    yield tuple(zip(names, places, strict=True))


def _matrix(columns: Mapping[str, Sequence[tuple[int, Numbers]]],
            terms: Sequence[tuple[tuple[str, int], ...]]) -> Numbers:
    """Return the terms of each trial, the constant first."""
    rows = len(next(iter(columns.values()))[0][1])
    return numpy.stack([numpy.ones(rows), *(
        numpy.prod([columns[name][place][1] for name, place in term], axis=0)
        for term in terms)], axis=1)


def _fits(matrix: Numbers, values: Numbers) -> Numbers:
    """Return the leave-one-out fit of each column of values."""
    orthogonal, _ = numpy.linalg.qr(matrix)
    leverage = numpy.minimum((orthogonal ** 2).sum(axis=1), 1 - 1e-9)
    left_out = (values - orthogonal @ (orthogonal.T @ values)) / (1 - leverage)[:, None]
    found: Numbers = 1 - (left_out ** 2).mean(axis=0) / values.var(axis=0)
    return found
