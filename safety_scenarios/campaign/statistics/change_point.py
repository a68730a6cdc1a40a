# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
At which of several controllers in order the failures begin, by trials that may err.

Noisy bisection with a posterior over the place of the change (Horstein 1963, IEEE Trans. Inf.
Theory 9:136; Waeber, Frazier and Henderson 2013, SIAM J. Control Optim. 51:2261). The two failure
rates, before and after the change, are unknown and integrated out.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
import math

import numpy
from safety_scenarios.campaign.statistics.special_functions import check_count

_GRID = 100
"""Failure rates that are tried on each side; their error is far below that of any trial."""
_NO_STEP = 0.1
"""Prior probability that no single step explains the failures."""
Counts = Sequence[tuple[int, int]]
"""Of each controller in order: trials that failed, and all."""


@dataclass(frozen=True)
class ChangePoint:
    """What is known of where the failures begin."""

    first_bad: tuple[float, ...]
    """Probability of each controller to be the first bad one; of the first 0, as it is good."""
    no_step: float
    """Probability that every controller has a failure rate of its own instead."""

    @property
    def most_likely(self) -> int:
        """Return the place of the controller that is most likely the first bad one."""
        return max(range(len(self.first_bad)), key=lambda place: self.first_bad[place])

    def most_telling(self, places: Collection[int]) -> int | None:
        """
        Return the controller whose trials tell most: it halves the posterior best.

        :param places: of controllers that can still be tried; None if there is none
        """
        total = math.fsum(self.first_bad) or 1.0
        return min(sorted(places), default=None, key=lambda place: abs(
            math.fsum(self.first_bad[:place + 1]) / total - 0.5))


def change_point(counts: Counts) -> ChangePoint:
    """
    Return what trials say of the place where the failures begin.

    Every place is equally likely at first. Before the change all controllers fail with one rate,
    from it on with a larger one; any two rates are equally likely. Against it stands that each
    controller has a rate of its own, with a prior probability of 0.1.

    :param counts: at least of the first, which is good, and of the last, which is bad
    :raises ValueError: fewer than two controllers, or a count that is none
    """
    check_count('controllers', len(counts), 2)
    for one in counts:
        check_count('of', one[1], 0)
        check_count('failed', one[0], 0, one[1])
    rates = (numpy.arange(_GRID) + 0.5) / _GRID
    fails, passes = numpy.log(rates), numpy.log1p(-rates)
    is_apart = rates[:, None] < rates[None, :]
    failed, of = (numpy.array([one[side] for one in counts]) for side in (0, 1))
    logs = [-math.inf]
    for place in range(1, len(counts)):
        before, after = (failed[part].sum() * fails + (of[part] - failed[part]).sum() * passes
                         for part in (slice(None, place), slice(place, None)))
        logs.append(_log_mean((before[:, None] + after[None, :])[is_apart]))
    step = [one + math.log((1.0 - _NO_STEP) / (len(counts) - 1)) for one in logs]
    own = math.fsum(_log_beta(one, all_ - one) for one, all_ in counts) + math.log(_NO_STEP) \
        if len(counts) > 2 else -math.inf  # between two there is a step
    most = max(*step, own)
    weights = [math.exp(one - most) for one in (*step, own)]
    total = math.fsum(weights)
    return ChangePoint(tuple(one / total for one in weights[:-1]), weights[-1] / total)


def _log_mean(values: 'numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]') -> float:
    most = float(values.max())
    return most + math.log(float(numpy.exp(values - most).mean()))


def _log_beta(failed: int, passed: int) -> float:
    """Return the likelihood of so many failures, over all rates that are equally likely."""
    return math.lgamma(failed + 1) + math.lgamma(passed + 1) - math.lgamma(failed + passed + 2)
