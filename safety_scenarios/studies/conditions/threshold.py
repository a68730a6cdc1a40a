# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where the threshold of a condition is, as far as the trials show it."""

import math

import numpy
from numpy.typing import NDArray

Booleans = NDArray[numpy.bool_]
Numbers = NDArray[numpy.float64]
_TAIL = 0.025
"""Probability that an end is beyond each side of where it is said to be."""
log_gamma = numpy.vectorize(math.lgamma, otypes=[float])


def threshold_between(values: Numbers, outcomes: Booleans, others: Booleans, *,
                      is_low: bool) -> tuple[float, float]:
    """
    Return where an end is with 95 % probability, whatever the rates on both sides of it are.

    The probability of each place is that of a step between two unknown rates (each with
    Jeffreys' prior) there, all places between the values being as likely beforehand.

    :param values: of the trials that meet everything but this end
    :param others: outcomes of all other trials, which are outside wherever the end is
    """
    order = numpy.argsort(values, kind='stable')
    ordered = values[order]
    cuts = numpy.flatnonzero(ordered[1:] > ordered[:-1]) + 1
    sums = numpy.concatenate([[0.0], numpy.cumsum(outcomes[order])])
    below = sums[cuts], cuts.astype(float)
    above = sums[-1] - sums[cuts], len(ordered) - cuts.astype(float)
    inside, outside = (above, below) if is_low else (below, above)
    weight = _log_evidence(*inside) + _log_evidence(outside[0] + others.sum(),
                                                    outside[1] + len(others))
    share = numpy.exp(weight - weight.max()) * (ordered[cuts] - ordered[cuts - 1])
    edges = numpy.concatenate([[0.0], numpy.cumsum(share) / share.sum()])
    ends = []
    for tail in (_TAIL, 1.0 - _TAIL):
        at = min(int(numpy.searchsorted(edges, tail)), len(cuts))
        part = (tail - edges[at - 1]) / (edges[at] - edges[at - 1])
        low, high = ordered[cuts[at - 1] - 1], ordered[cuts[at - 1]]
        ends.append(float(low + part * (high - low)))
    return ends[0], ends[1]


def _log_evidence(hits: Numbers, count: Numbers) -> Numbers:
    """Return the logarithm of the probability of outcomes over all rates, up to a constant."""
    return numpy.asarray(log_gamma(hits + 0.5) + log_gamma(count - hits + 0.5)
                         - log_gamma(count + 1.0))
