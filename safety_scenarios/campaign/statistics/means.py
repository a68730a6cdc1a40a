# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The mean of something bounded over several scenarios, with an interval repeats cannot narrow."""

from collections.abc import Sequence
import math

from safety_scenarios.campaign.statistics._special import (
    beta_quantile,
    check_probability,
    check_values,
)
from safety_scenarios.scenario.estimate import Estimate


def bounded_mean(clusters: Sequence[Sequence[float]], most: float, unit: str,
                 confidence: float = 0.95) -> Estimate:
    """
    Return the mean over clusters (scenarios) of each one's mean, of values between 0 and ``most``.

    An exposure is 0 in most scenarios and long in a few, which no interval of a normal law or of
    Student's holds for. Of all laws between 0 and ``most`` with one mean, that of the two ends has
    the widest tails (Hoeffding 1963, J. Am. Stat. Assoc. 58:13): so the interval is that of
    Clopper and Pearson for as many hits among the clusters as their means sum up to in units of
    ``most``, which need not be a whole number. Repeats of one scenario add nothing, and a mean of
    0 in few scenarios does not exclude much. ``n`` counts values.

    :param most: greatest value that there can be
    :raises ValueError: for NaN, a value outside [0, most], or a confidence outside (0, 1)
    """
    check_probability('confidence', confidence)
    made = [values for values in clusters if values]
    for values in made:
        check_values(values)
        if not 0.0 <= min(values) <= max(values) <= most:
            raise ValueError(f'values: got {min(values)!r} to {max(values)!r}, expected numbers '
                             f'from 0 to {most!r}')
    count, n = len(made), sum(map(len, made))
    method = f'mean over {count} scenarios, Clopper-Pearson of values up to {most:.4g} {unit}'
    if not made:
        return Estimate(value=None, low=None, high=None, n=0, unit=unit, confidence=confidence,
                        method=method)
    hits = math.fsum(math.fsum(values) / len(values) for values in made) / most if most else 0.0
    hits = min(hits, float(count))
    miss = (1.0 - confidence) / 2.0
    low = beta_quantile(miss, hits, count - hits + 1.0) if hits > 0.0 else 0.0
    high = beta_quantile(1.0 - miss, hits + 1.0, count - hits) if hits < count else 1.0
    value = hits / count * most
    return Estimate(value=value, low=min(value, low * most), high=max(value, high * most), n=n,
                    unit=unit, confidence=confidence, method=method)
