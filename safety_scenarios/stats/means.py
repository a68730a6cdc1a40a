# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The mean over trials of several scenarios, with an interval that repeats cannot narrow."""

from collections.abc import Sequence
import math

from safety_scenarios.model.estimate import Estimate
from safety_scenarios.stats._special import check_probability, check_values, noncentral_t_quantile


def mean_over_clusters(clusters: Sequence[Sequence[float]], unit: str, confidence: float = 0.95,
                       least: float = -math.inf) -> Estimate:
    """
    Return the mean of all values, with the interval of the clusters that they were drawn from.

    The mean is a ratio of sums over clusters (scenarios), its variance that of a ratio (Cochran
    1977, *Sampling Techniques*, 3.12), and the quantile Student's with one degree less than
    clusters: repeats of a deterministic trial add nothing. One cluster has no interval, and nor
    have several without any spread, which is no proof that there is none. ``n`` counts values.

    :param least: what no value can be below; the interval ends there
    :raises ValueError: for NaN or infinity, or a confidence outside (0, 1)
    """
    check_probability('confidence', confidence)
    made = [values for values in clusters if values]
    for values in made:
        check_values(values)
    count, n = len(made), sum(map(len, made))
    method = f'ratio of sums over {count} scenarios, Student t'
    if not made:
        return Estimate(value=None, low=None, high=None, n=0, unit=unit, confidence=confidence,
                        method=method)
    mean = math.fsum(math.fsum(values) for values in made) / n
    spread = math.fsum((math.fsum(values) - mean * len(values))**2 for values in made)
    if count < 2 or spread <= (1e-9 * max(1.0, abs(mean)) * n)**2:
        why = 'one scenario' if count < 2 else 'no spread between scenarios'
        return Estimate(value=mean, low=None, high=None, n=n, unit=unit, confidence=confidence,
                        method=f'{method}; no interval: {why}')
    error = math.sqrt(count / (count - 1) * spread) / n
    half = noncentral_t_quantile(1.0 - (1.0 - confidence) / 2.0, count - 1.0, 0.0) * error
    return Estimate(value=mean, low=min(mean, max(least, mean - half)), high=mean + half, n=n,
                    unit=unit, confidence=confidence, method=method)
