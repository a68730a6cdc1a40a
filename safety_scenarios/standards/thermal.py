# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Thermal events of a battery: since when its temperature has risen too fast for too long.

Source: the rate criterion of GB 38031 and UN GTR 20, 1 K/s for 3 s. Both ask for a second sign as
well (a voltage drop, or a temperature above its maximum), which is not judged here.
"""

from collections.abc import Sequence
from itertools import pairwise

from safety_scenarios.standards._inputs import (
    check_not_negative,
    check_positive,
    check_samples,
    nanoseconds,
)

_ROUNDING = 1e-9  # a ramp of exactly the limit, read from rounded samples


def rate_alarm_ns(times_ns: Sequence[int], temperatures: Sequence[float], *, rate: float = 1.0,
                  hold: float = 3.0) -> int | None:
    """
    Return the first stamp at which every rise has been at least ``rate`` for ``hold``, else None.

    :param times_ns: ascending stamps of one clock
    :param temperatures: one for each (K or degrees Celsius)
    :param rate: of the rise between neighbouring samples (K/s), inclusive
    :param hold: how long without a break (s), inclusive
    :raises InputError: NaN or infinity, times that do not ascend, rate not > 0, negative hold
    """
    check_samples(times_ns, temperatures=temperatures)
    check_positive(rate=rate)
    check_not_negative(hold=hold)
    hold_ns = nanoseconds(hold)
    since_ns: int | None = None
    for (earlier_ns, later_ns), (cooler, hotter) in zip(pairwise(times_ns),
                                                        pairwise(temperatures)):
        if (hotter - cooler) * 1e9 < rate * (later_ns - earlier_ns) * (1.0 - _ROUNDING):
            since_ns = None
            continue
        since_ns = earlier_ns if since_ns is None else since_ns
        if later_ns - since_ns >= hold_ns:
            return later_ns
    return None
