# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How rare a failure is, where plain sampling would take too many trials.

In standard normal deviates, whose distribution function gives the unit cube. Fitted by expectation
and maximisation (Dempster 1977) from weighted points; its covariances are widened, and one part
draws from everywhere, so that no weight is large.

First *adaptive multilevel splitting* (Cerou and Guyader 2007; unbiased: Brehier 2016): of many
points those with large margins are replaced by copies of the others, which move by a Markov chain
that keeps the uniform distribution below the level. Several independent runs of it find failing
regions. Then *importance sampling* from a mixture around the failures that were found, and of the
whole cube (defensive: Hesterberg 1995), so that no failure is impossible in it. That is done as
often as there are runs, each time by what all but one have found: a region that a single run has
found shows as a difference.

Splitting, importance sampling and the plain trials among them estimate the same share. They have
to agree, and no failure may weigh too much; else no interval is stated.

A failing region that no run has met is in neither estimate, however well the runs agree. Only the
plain trials bound what it may add: the upper end is never below theirs (Clopper-Pearson).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.campaign.statistics.special_functions import noncentral_t_quantile

Array = NDArray[numpy.float64]
_CONFIDENCE = 0.95
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


Margins = Callable[[Array], Array]
"""Points of the unit cube, a row each, to their margins: below 0 fails, NaN is undecided."""
RUNS = 6
"""Independent runs of splitting."""
_KEPT = 0.5
"""Share of the points that stays at each level."""
_STEPS = 3
"""Moves of each copy."""
_LEVELS, _MOST_LEVELS = 20, 40
_SPLITTING = 0.75
"""Share of the budget for splitting; the rest is for importance sampling."""
_FIRST = 0.35
"""Share of importance sampling by which its mixture is improved; the rest is the estimate."""
_LEAST_SIZE, _LARGEST_WEIGHT, _LARGEST_ERROR = 100.0, 0.1, 0.3
"""Effective number of failures that an estimate takes, the largest share that one may have of
it, and its largest standard error, as a share of the estimate."""
_LEAST_AGREEMENT = 0.6
"""Share of the runs that meet an ordinary failing region: with 6 runs, one is then missed by all
with a probability of 0.4 %."""
_FURTHEST = 5.0
"""Standard deviations by which two estimates of the same share may differ."""


@dataclass(frozen=True)
class Rate:
    """How rare failures are, by one method, or why that cannot be stated."""

    share: float | None
    """Of the declared distribution that fails."""
    low: float | None
    high: float | None
    """Of the 95 % interval; None: a check of the method failed."""
    relative_error: float | None
    """Standard error as a share of the estimate."""
    trials: int

    @property
    def plain_trials(self) -> float | None:
        """Return how many plain trials would have the same variance."""
        if not self.share or not self.relative_error:
            return None
        return (1.0 - self.share) / (self.share * self.relative_error**2)


@dataclass(frozen=True)
class RareEvent:
    """What is known of the share of failures."""

    rate: Rate
    """By importance sampling, with the upper end of the plain trials where that is higher; without
    an interval where ``problems`` are named."""
    splitting: Rate
    importance: Rate
    effective_failures: float
    """Of importance sampling: as many equally weighted ones would tell as much."""
    problems: tuple[str, ...]
    """Checks that failed: no interval may be stated."""
    undecided: int
    trials: int
    drawn: int
    """Trials among them that were drawn as declared."""
    drawn_failed: int


class _Budget:
    """Counts trials, and those that were not decided."""

    def __init__(self, margins: Margins, trials: int) -> None:
        self._margins, self.left = margins, trials
        self.used = self.undecided = 0

    def of(self, points: Array) -> Array:
        """Return the margins of points; one that is not decided holds, and is counted."""
        found = self._margins(points)
        self.used += len(points)
        self.left -= len(points)
        self.undecided += int(numpy.isnan(found).sum())
        return numpy.where(numpy.isnan(found), numpy.inf, found)


@dataclass(frozen=True)
class _Run:
    share: float
    failures: Array
    """As normal deviates."""
    drawn_failed: int
    problem: str = ''


def estimate(margins: Margins, axes: int, trials: int, seed: int) -> RareEvent:
    """
    Return the share of the unit cube in which a margin is below 0.

    :param margins: whatever is random in it has to be in the point
    :param trials: at most
    :param seed: of everything random in the method
    """
    chance, budget = numpy.random.default_rng(seed), _Budget(margins, trials)
    points = max(8, int(trials * _SPLITTING / RUNS / (1.0 + _STEPS * _LEVELS)))
    most = int(2.0 * _SPLITTING * trials / RUNS)
    runs = [_split(budget, axes, points, chance, min(most, budget.left - points * to_begin))
            for to_begin in range(RUNS, 0, -1)]
    splitting = _rate(numpy.array([run.share for run in runs]), budget.used)
    failed = sum(run.drawn_failed for run in runs)
    problems = _problems(runs, splitting, failed, points * RUNS)
    parts = [_Part.of(budget, runs[:place] + runs[place + 1:],
                      max(0, budget.left) // (RUNS - place), chance) for place in range(RUNS)]
    importance = _pooled(parts)
    size = sum(part.size for part in parts)
    agreement = _agreement(runs, chance)
    if agreement < _LEAST_AGREEMENT:
        problems.append(f'a failing region was met by {100 * agreement:.0f} % of the runs of '
                        f'splitting on average, expected at least '
                        f'{100 * _LEAST_AGREEMENT:.0f} %: others may have been met by none. '
                        f'Ask for more trials')
    problems += _disagreements(splitting, importance, size, parts)
    if budget.undecided:
        problems.append(f'{budget.undecided} of {budget.used} trials were not decided, and each '
                        f'may be a failure')
    low, high = importance.low, importance.high
    if problems or high is None:
        low = high = None
    else:
        high = max(high, clopper_pearson(failed, points * RUNS, _CONFIDENCE).high or 1.0)
    rate = Rate(importance.share, low, high, importance.relative_error, budget.used)
    return RareEvent(rate, splitting, importance, size,
                     tuple(dict.fromkeys(problems)), budget.undecided, budget.used,
                     points * RUNS, failed)


def _split(budget: _Budget, axes: int, points: int, chance: numpy.random.Generator,
           most: int) -> _Run:
    """Return one run of splitting, whose points move by at most so many trials."""
    cloud = chance.standard_normal((points, axes))
    margins = budget.of(shares_of(cloud))
    sizes = numpy.full(points, 0.5)
    share, end = 1.0, budget.used + most
    drawn_failed = int((margins < 0).sum())
    for _ in range(_MOST_LEVELS):
        level = float(numpy.sort(margins)[int(points * _KEPT)])  # of the best that goes
        if level < 0:
            return _Run(share * float((margins < 0).mean()), cloud[margins < 0], drawn_failed)
        stay = numpy.flatnonzero(margins < level)
        if not len(stay):
            return _Run(0.0, cloud[:0], drawn_failed, (
                'the least margin does not fall any more: it has no slope to follow'))
        share *= len(stay) / points
        gone = numpy.flatnonzero(margins >= level)
        parents = _one_after_the_other(stay, len(gone), chance)
        cloud[gone], margins[gone], sizes[gone] = cloud[parents], margins[parents], sizes[parents]
        if budget.used + points * _STEPS > end:
            break
        _move(budget, cloud, margins, sizes, level, chance)
    failing = margins < 0
    return _Run(share * float(failing.mean()), cloud[failing], drawn_failed,
                '' if failing.any() else 'the trials ended before a failure was reached')


def _one_after_the_other(stay: NDArray[numpy.intp], number: int,
                         chance: numpy.random.Generator) -> NDArray[numpy.intp]:
    """Return parents, each as often as any other but for one: chance alone loses fewer."""
    order = numpy.concatenate([chance.permutation(stay)
                               for _ in range(1 + number // max(1, len(stay)))])
    return order[:number]


def _move(budget: _Budget, cloud: Array, margins: Array, sizes: Array, level: float,
          chance: numpy.random.Generator) -> None:
    """
    Move points by some steps of a chain that stays below a level.

    A step mixes a deviate with a new one, so that it stays normal (Neal 1998; preconditioned
    Crank-Nicolson, Cotter 2013). How far it goes is adapted to what was accepted.
    """
    rows, axes = cloud.shape
    for _ in range(_STEPS):
        moves = chance.random((rows, axes)) < chance.choice([1.0 / axes, 0.5, 1.0], (rows, 1))
        size = numpy.minimum(1.0, sizes * 10.0 ** chance.uniform(-0.5, 0.5, rows))[:, None]
        tried = numpy.where(moves, numpy.sqrt(1.0 - size**2) * cloud
                            + size * chance.standard_normal((rows, axes)), cloud)
        found = budget.of(shares_of(tried))
        better = found < level
        cloud[better], margins[better] = tried[better], found[better]
        sizes *= numpy.where(better, 1.25, 0.85)
        numpy.clip(sizes, 1e-3, 1.0, out=sizes)


def _rate(shares: Array, trials: int) -> Rate:
    """Return the mean of independent estimates, with the interval of its logarithm."""
    mean = float(shares.mean())
    if mean <= 0:
        return Rate(0.0 if not mean else None, None, None, None, trials)
    error = float(shares.std(ddof=1)) / math.sqrt(len(shares)) / mean
    reach = noncentral_t_quantile((1.0 + _CONFIDENCE) / 2.0, len(shares) - 1, 0.0) * error
    return Rate(mean, mean * math.exp(-reach), min(1.0, mean * math.exp(reach)), error, trials)


def _problems(runs: Sequence[_Run], splitting: Rate, failed: int, drawn: int) -> list[str]:
    found = [run.problem for run in runs if run.problem]
    if not splitting.share:
        return [*found, 'no run of splitting reached a failure']
    if any(not run.share for run in runs):
        found.append(f'{sum(not run.share for run in runs)} of {len(runs)} runs of splitting '
                     f'reached no failure')
    plain = clopper_pearson(failed, drawn, 0.999)
    if plain.low is not None and plain.high is not None \
            and not plain.low <= splitting.share <= plain.high:
        found.append(f'of {drawn} plain trials {failed} failed, which does not agree with the '
                     f'estimate of splitting, {splitting.share:.2g}')
    return found


def _agreement(runs: Sequence[_Run], chance: numpy.random.Generator) -> float:
    """
    Return how many of the runs have met an ordinary failing region, as a share.

    Where that is small, there may well be regions that no run has met.
    """
    known = numpy.vstack([run.failures for run in runs])
    if not len(known):
        return 0.0
    mixture = Mixture.around(known, numpy.ones(len(known)), chance)
    met = [set(mixture.part_of(run.failures).tolist()) if len(run.failures) else set()
           for run in runs]
    parts = set.union(*met)
    return sum(len(one) for one in met) / (len(parts) * len(runs))


@dataclass(frozen=True)
class _Part:
    """Importance sampling by what all runs but one have found."""

    share: float
    variance: float
    """Of the share."""
    size: float
    """Effective number of failures."""
    largest: float
    """The largest share of one failure."""
    failed: int
    trials: int

    @staticmethod
    def of(budget: _Budget, runs: Sequence[_Run], number: int,
           chance: numpy.random.Generator) -> '_Part':
        """Return what so many trials come to."""
        known = numpy.vstack([run.failures for run in runs])
        if not len(known) or number < 10:
            return _Part(0.0, 0.0, 0.0, 1.0, 0, 0)
        first = int(_FIRST * number)
        mixture = Mixture.around(known, numpy.ones(len(known)), chance)
        deviates, weights = _drawn(budget, mixture, first, chance)
        failed = weights > 0
        if failed.any():  # the failures of splitting keep half the say
            mixture = Mixture.around(
                numpy.vstack([known, deviates[failed]]),
                numpy.append(numpy.full(len(known), 1.0 / len(known)),
                             weights[failed] / weights.sum()), chance)
        _, weights = _drawn(budget, mixture, number - first, chance)
        total = float(weights.sum())
        if not total:
            return _Part(0.0, 0.0, 0.0, 1.0, 0, len(weights))
        return _Part(total / len(weights), float(weights.var(ddof=1)) / len(weights),
                     total**2 / float((weights**2).sum()), float(weights.max()) / total,
                     int((weights > 0).sum()), len(weights))


def _drawn(budget: _Budget, mixture: Mixture, number: int, chance: numpy.random.Generator) \
        -> tuple[Array, Array]:
    """Return deviates drawn from a mixture, and the weight of each: 0 where it does not fail."""
    deviates = mixture.draw(number, chance)
    failed = budget.of(shares_of(deviates)) < 0
    weights = numpy.zeros(number)
    weights[failed] = 1.0 / mixture.density(deviates[failed])
    return deviates, weights


def _pooled(parts: Sequence[_Part]) -> Rate:
    """Return the mean of the parts, with the interval of its logarithm by how they differ."""
    trials = sum(part.trials for part in parts)
    shares = numpy.array([part.share for part in parts])
    share = float(shares.mean())
    if not share:
        return Rate(None, None, None, None, trials)
    error = max(float(shares.std(ddof=1)) / math.sqrt(len(parts)),
                math.sqrt(sum(part.variance for part in parts)) / len(parts)) / share
    reach = noncentral_t_quantile((1.0 + _CONFIDENCE) / 2.0, len(parts) - 1, 0.0) * error
    return Rate(min(1.0, share), min(1.0, share * math.exp(-reach)),
                min(1.0, share * math.exp(reach)), error, trials)


def _disagreements(splitting: Rate, importance: Rate, size: float,
                   parts: Sequence[_Part]) -> list[str]:
    if not importance.share or importance.relative_error is None:
        return ['importance sampling met no failure']
    found = []
    if size < _LEAST_SIZE:
        found.append(f'importance sampling has an effective size of {size:.0f} failures, '
                     f'expected at least {_LEAST_SIZE:.0f}')
    largest = max(part.largest * part.share for part in parts) / sum(part.share for part in parts)
    if largest > _LARGEST_WEIGHT:
        found.append(f'one failure of importance sampling has {100 * largest:.0f} % of the '
                     f'weight, expected at most {100 * _LARGEST_WEIGHT:.0f} %')
    if importance.relative_error > _LARGEST_ERROR:
        found.append(f'what the runs have found differs: the standard error is '
                     f'{100 * importance.relative_error:.0f} %, expected at most '
                     f'{100 * _LARGEST_ERROR:.0f} %')
    if splitting.share:
        errors = math.hypot(splitting.relative_error or 0.0, importance.relative_error)
        off = abs(math.log(splitting.share / importance.share)) / max(1e-9, errors)
        if off > _FURTHEST:
            found.append(f'splitting has {splitting.share:.2g} and importance sampling '
                         f'{importance.share:.2g}, which differ by {off:.1f} standard errors')
    return found
