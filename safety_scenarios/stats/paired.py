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

"""Two controllers on the same trials: exact tests, and the median difference of the pairs."""

from collections.abc import Sequence
import math

from safety_scenarios.model.estimate import Estimate
from safety_scenarios.stats._special import (
    at_rank,
    binomial_tails,
    check_count,
    check_probability,
    check_values,
    order_ranks,
)

Pair = tuple[float | None, float | None]
"""One trial under the first and the second controller; None for a reaction that never came."""


def mcnemar(only_first: int, only_second: int) -> float:
    """
    Return the two-sided p-value of McNemar's exact test: which of two fails more often.

    Twice the smaller binomial tail at 1/2, 1 at most; never the mid-p variant, whose error may
    exceed its level. Source: McNemar 1947, Psychometrika 12:153; Fagerland, Lydersen and Laake
    2013, BMC Med. Res. Methodol. 13:91.

    :param only_first: pairs in which the first failed and the second did not
    :param only_second: the reverse; pairs that agree tell nothing
    :raises ValueError: for a negative count
    """
    check_count('only_first', only_first, 0)
    check_count('only_second', only_second, 0)
    return _two_sided(only_first, only_second)


def sign_test(pairs: Sequence[Pair]) -> float:
    """
    Return the two-sided p-value of the exact sign test: which of two is later more often.

    Ties are dropped; a missing reaction is later than any number, and two missing ones tie.
    Source: Dixon and Mood 1946, JASA 41:557. Without a pair that differs the p-value is 1.

    :param pairs: both of one unit
    :raises ValueError: for NaN or infinity
    """
    differences = _differences(pairs)
    return _two_sided(sum(difference < 0.0 for difference in differences),
                      sum(difference > 0.0 for difference in differences))


def median_difference(pairs: Sequence[Pair], unit: str, confidence: float = 0.95) -> Estimate:
    """
    Return the median of ``second - first`` with its two-sided, distribution-free interval.

    Positive when the second is later. A difference is infinite where one reaction is missing,
    and 0 where both are. The estimate is the upper of two order statistics. A number that
    would be infinite is None, as is an end that cannot be claimed at this n; at 95 % six pairs
    are needed. Source: David and Nagaraja 2003, *Order Statistics*, 7.1 (the inverted sign test).

    :param pairs: both in ``unit``
    :raises ValueError: for NaN or infinity, or a confidence outside (0, 1)
    """
    check_probability('confidence', confidence)
    n, differences = len(pairs), sorted(_differences(pairs))
    low, high = order_ranks(n, 0.5, (1.0 - confidence) / 2.0)
    return Estimate(
        value=at_rank(differences, n // 2 + 1), low=at_rank(differences, low),
        high=at_rank(differences, high), n=n, unit=unit, confidence=confidence,
        method='median of paired differences: order statistics, two-sided')


def _differences(pairs: Sequence[Pair]) -> list[float]:
    found = []
    for first, second in pairs:
        check_values((first, second))
        if first is None or second is None:
            found.append(0.0 if first is second else math.inf if second is None else -math.inf)
        else:
            found.append(float(second) - float(first))
    return found


def _two_sided(fewer: int, more: int) -> float:
    fewer, more = sorted((fewer, more))
    return min(1.0, 2.0 * binomial_tails(fewer, fewer + more, 0.5)[0])

