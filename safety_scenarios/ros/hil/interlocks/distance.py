# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A measured distance, such as to the person behind the barrier, stays within its limits."""

import math
from typing import Any

from safety_scenarios.ros.hil.interlocks.interlock import Interlock, Word


class Distance(Interlock):
    """
    Holds while a measured distance is within its limits; NaN is not.

    :param word: of the sensor
    :param least_m: nearer nobody may be
    :param most_m: farther it may not be
    """

    name = 'distance'

    def __init__(self, word: Word, least_m: float, most_m: float) -> None:
        self._word, self._least_m, self._most_m = word, least_m, most_m

    def why_not(self, now_ns: int) -> str | None:
        """Return the distance that is beyond its limits, or that nobody knows it."""
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        message, topic = self._word.message, self._word.topic
        found = _metres(message)
        least_m, most_m = (getattr(message, name, 0.0) for name in ('min_range', 'max_range'))
        if least_m < most_m and math.isfinite(found) and not least_m <= found <= most_m:
            return (f'got {found:g} m on {topic}, beyond the {least_m:g} to {most_m:g} m that its '
                    f'sensor says it can measure, expected a measurement')
        if not self._least_m <= found <= self._most_m:
            return (f'got {found:g} m on {topic}, expected {self._least_m:g} to '
                    f'{self._most_m:g} m')
        return None


def _metres(message: Any) -> float:
    """Return a distance; a ranger that sees nothing up to its end (REP 117) measures its end."""
    found = getattr(message, 'range', getattr(message, 'data', None))
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise LookupError(f'got {type(message).__name__}, which says no distance, expected Range, '
                          f'Float64 or Float32')
    return float(getattr(message, 'max_range', found)) if found == math.inf else float(found)
