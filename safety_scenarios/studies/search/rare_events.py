# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How rare a failure is, where plain sampling would take too many trials.

First *adaptive multilevel splitting* (Cerou and Guyader 2007; unbiased: Brehier 2016): of many
points those with large margins are replaced by copies of the others, which move by a Markov chain
that keeps the uniform distribution below the level. Several independent runs of it find failing
regions. Then *importance sampling* from a mixture around the failures that were found, and of the
whole cube (defensive: Hesterberg 1995), so that no failure is impossible in it. That is done
twice, each time by what one half of the runs has found.

Splitting, both halves and the plain trials among them estimate the same share. They have to agree,
and no failure may weigh too much; else no interval is stated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.campaign.statistics.special_functions import noncentral_t_quantile

Array = NDArray[numpy.float64]
Margins = Callable[[Array], Array]
"""Points of the unit cube, a row each, to their margins: below 0 fails, NaN is undecided."""
RUNS = 4
"""Independent runs of splitting."""
_KEPT = 0.5
"""Share of the points that stays at each level."""
_STEPS = 5
"""Moves of each copy."""
_LEVELS, _MOST_LEVELS = 14, 40
_SPLITTING = 0.55
"""Share of the budget for splitting; the rest is for importance sampling."""
_FIRST = 0.35
"""Share of importance sampling by which its mixture is improved; the rest is the estimate."""
_SCALES, _SHARES = (1.0, 2.0, 5.0), (0.6, 0.3, 0.1)
"""Widths of the mixture around each centre, as multiples, and how often each is drawn."""
_DEFENSIVE = 0.15
"""Share of importance sampling that is drawn from the whole cube."""
_CENTRES = 200
"""Failures around which importance sampling draws."""
_LEAST_SIZE, _LARGEST_WEIGHT = 50.0, 0.1
"""Effective number of failures that an estimate takes; the largest share one may have of it."""
_FURTHEST = 3.5
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
    """By both methods; without an interval where ``problems`` are named."""
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
    drawn_failed: int
    problem: str = ''


def estimate(margins: Margins, axes: int, trials: int, seed: int,
             confidence: float = 0.95) -> RareEvent:
    """
    Return the share of the unit cube in which a margin is below 0.

    :param margins: whatever is random in it has to be in the point
    :param axes: of the cube
    :param trials: at most, roughly
    :param seed: of everything random in the method
    """
    chance, budget = numpy.random.default_rng(seed), _Budget(margins, trials)
    points = max(8, int(trials * _SPLITTING / RUNS / (1.0 + (1.0 - _KEPT) * _STEPS * _LEVELS)))
    most = int(2.0 * _SPLITTING * trials / RUNS)
    runs = [_split(budget, axes, points, chance, most) for _ in range(RUNS)]
    splitting = _rate(numpy.array([run.share for run in runs]), budget.used, confidence)
    failed = sum(run.drawn_failed for run in runs)
    problems = _problems(runs, splitting, failed, points * RUNS)
    halves = [_Half.of(budget, runs[side::2], max(0, budget.left) // (2 - side), chance)
              for side in (0, 1)]
    importance = _pooled(halves, confidence)
    problems += _disagreements(splitting, importance, halves)
    if budget.undecided:
        problems.append(f'{budget.undecided} of {budget.used} trials were not decided, and each '
                        f'may be a failure')
    rate = Rate(importance.share, importance.low, importance.high, importance.relative_error,
                budget.used)
    if problems:
        rate = Rate(rate.share, None, None, rate.relative_error, rate.trials)
    return RareEvent(rate, splitting, importance, sum(half.size for half in halves),
                     tuple(dict.fromkeys(problems)), budget.undecided, budget.used,
                     points * RUNS, failed)


def _split(budget: _Budget, axes: int, points: int, chance: numpy.random.Generator,
           most: int) -> _Run:
    """Return one run of splitting, of at most so many trials."""
    cloud = chance.random((points, axes))
    margins = budget.of(cloud)
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
        gone = numpy.setdiff1d(numpy.arange(points), stay)
        parents = chance.choice(stay, len(gone))
        cloud[gone], margins[gone] = cloud[parents], margins[parents]
        if budget.used + len(gone) * _STEPS > end:
            break
        cloud[gone], margins[gone] = _moved(budget, cloud[gone], margins[gone], level,
                                            cloud[stay], chance)
    failing = margins < 0
    return _Run(share * float(failing.mean()), cloud[failing], drawn_failed,
                '' if failing.any() else 'the trials ended before a failure was reached')


def _moved(budget: _Budget, cloud: Array, margins: Array, level: float, others: Array,
           chance: numpy.random.Generator) -> tuple[Array, Array]:
    """
    Return points after some steps of a chain that stays below a level.

    A step moves some coordinates by a normal deviate, folded back into the cube: that is as
    likely there and back, so the uniform distribution stays. Its size is drawn anew each time.
    """
    spread = others.std(0) + 1e-9
    rows, axes = cloud.shape
    for _ in range(_STEPS):
        size = spread * 10.0 ** chance.uniform(-1.2, 0.4, (rows, 1))
        moves = chance.random((rows, axes)) < chance.choice([1.0 / axes, 0.5, 1.0], (rows, 1))
        tried = _folded(cloud + size * moves * chance.standard_normal((rows, axes)))
        found = budget.of(tried)
        better = found < level
        cloud = numpy.where(better[:, None], tried, cloud)
        margins = numpy.where(better, found, margins)
    return cloud, margins


def _folded(points: Array) -> Array:
    """Return points folded at the sides of the cube."""
    found = numpy.abs(points) % 2.0
    return numpy.where(found > 1.0, 2.0 - found, found)


def _rate(shares: Array, trials: int, confidence: float) -> Rate:
    """Return the mean of independent estimates, with the interval of its logarithm."""
    mean = float(shares.mean())
    if mean <= 0:
        return Rate(0.0 if not mean else None, None, None, None, trials)
    error = float(shares.std(ddof=1)) / math.sqrt(len(shares)) / mean
    reach = noncentral_t_quantile((1.0 + confidence) / 2.0, len(shares) - 1, 0.0) * error
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


@dataclass(frozen=True)
class _Half:
    """Importance sampling by what one half of the runs has found."""

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
           chance: numpy.random.Generator) -> '_Half':
        """Return what so many trials come to."""
        failures = numpy.vstack([run.failures for run in runs])
        if not len(failures) or number < 10:
            return _Half(0.0, 0.0, 0.0, 1.0, 0, 0)
        first = int(_FIRST * number)
        points, weights = _drawn(budget, _thinned(failures, None, chance), first, chance)
        failed = weights > 0
        if failed.any():
            failures = numpy.vstack([
                _thinned(points[failed], weights[failed], chance),
                _thinned(failures, None, chance)])
        points, weights = _drawn(budget, failures, number - first, chance)
        total = float(weights.sum())
        if not total:
            return _Half(0.0, 0.0, 0.0, 1.0, 0, len(weights))
        return _Half(total / len(weights), float(weights.var(ddof=1)) / len(weights),
                     total**2 / float((weights**2).sum()), float(weights.max()) / total,
                     int((weights > 0).sum()), len(weights))


def _thinned(points: Array, weights: Array | None, chance: numpy.random.Generator) -> Array:
    """Return at most ``_CENTRES`` of some points, by their weights."""
    if weights is None:
        return points if len(points) <= _CENTRES else \
            points[chance.choice(len(points), _CENTRES, replace=False)]
    return points[numpy.unique(chance.choice(len(points), _CENTRES, p=weights / weights.sum()))]


def _drawn(budget: _Budget, centres: Array, number: int, chance: numpy.random.Generator) \
        -> tuple[Array, Array]:
    """Return points drawn around centres, and the weight of each: 0 where it does not fail."""
    widths = _widths(centres)
    which = chance.integers(len(centres), size=number)
    scale = chance.choice(_SCALES, (number, 1), p=_SHARES)
    points = _folded(centres[which] + scale * widths[which] * chance.standard_normal(
        (number, centres.shape[1])))
    is_wide = chance.random(number) < _DEFENSIVE
    points[is_wide] = chance.random((int(is_wide.sum()), centres.shape[1]))
    failed = budget.of(points) < 0
    weights = numpy.zeros(number)
    weights[failed] = 1.0 / _density(points[failed], centres, widths)
    return points, weights


def _pooled(halves: Sequence[_Half], confidence: float) -> Rate:
    """Return the mean of both halves, with the interval of its logarithm."""
    trials, share = sum(half.trials for half in halves), sum(half.share for half in halves) / 2
    if not all(half.share for half in halves):
        return Rate(None, None, None, None, trials)
    error = math.sqrt(sum(half.variance for half in halves)) / 2.0 / share
    freedom = max(2.0, sum(half.size for half in halves) - 1.0)
    reach = noncentral_t_quantile((1.0 + confidence) / 2.0, freedom, 0.0) * error
    return Rate(share, share * math.exp(-reach), min(1.0, share * math.exp(reach)), error, trials)


def _widths(centres: Array) -> Array:
    """Return how wide the mixture is around each centre: as far as its nearest others lie."""
    count, axes = centres.shape
    if count < 3:
        return numpy.full(centres.shape, 0.02)
    near = max(2, min(count - 1, 2 * axes + 4))
    spread = centres.std(0) + 1e-9
    scaled = centres / spread
    squared = ((scaled[:, None, :] - scaled[None]) ** 2).sum(2)
    order = numpy.argsort(squared, axis=1)[:, 1:near + 1]
    apart = numpy.abs(centres[order] - centres[:, None, :])
    return numpy.maximum(numpy.sqrt((apart**2).mean(1)), 1e-6)


def _density(points: Array, centres: Array, widths: Array) -> Array:
    """Return the density of the mixture; that of the uniform distribution is 1."""
    found = numpy.empty(len(points))
    for begin in range(0, len(points), 128):
        part = points[begin:begin + 128, None, :]
        here = numpy.zeros(part.shape[0])
        for scale, share in zip(_SCALES, _SHARES):
            factors = numpy.zeros((part.shape[0], *centres.shape))
            for image in _images(part):
                factors += numpy.exp(-0.5 * ((image - centres[None])
                                             / (scale * widths[None])) ** 2)
            factors /= math.sqrt(2.0 * math.pi) * scale * widths[None]
            here += share * factors.prod(2).mean(1)
        found[begin:begin + 128] = here
    return _DEFENSIVE + (1.0 - _DEFENSIVE) * found


def _disagreements(splitting: Rate, importance: Rate, halves: Sequence[_Half]) -> list[str]:
    found = []
    for half in halves:
        if half.size < _LEAST_SIZE:
            found.append(f'a half of importance sampling has an effective size of '
                         f'{half.size:.0f} failures, expected at least {_LEAST_SIZE:.0f}')
        if half.size and half.largest > _LARGEST_WEIGHT:
            found.append(f'one failure of importance sampling has {100 * half.largest:.0f} % of '
                         f'the weight, expected at most {100 * _LARGEST_WEIGHT:.0f} %')
    if importance.share is None or not splitting.share:
        return found
    one, other = halves
    off = abs(one.share - other.share) / math.sqrt(one.variance + other.variance)
    if off > _FURTHEST:
        found.append(f'the two halves have {one.share:.2g} and {other.share:.2g}, which differ '
                     f'by {off:.1f} standard errors: one of them misses a failing region')
    errors = math.hypot(splitting.relative_error or 0.0, importance.relative_error or 0.0)
    off = abs(math.log(splitting.share / importance.share)) / max(1e-9, errors)
    if off > _FURTHEST:
        found.append(f'splitting has {splitting.share:.2g} and importance sampling '
                     f'{importance.share:.2g}, which differ by {off:.1f} standard errors')
    return found


def _images(points: Array) -> Sequence[Array]:
    """Return what is folded onto the points, as far as a deviate reaches."""
    return (points, -points, 2.0 - points, 2.0 + points, points - 2.0)
