# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a trial came to, and where its latency falls."""

from collections.abc import Iterable
import enum


class Verdict(enum.Enum):
    """What a trial came to; the worst present wins, in this order."""

    PASS = 'PASS'
    INCONCLUSIVE = 'INCONCLUSIVE'
    ERROR = 'ERROR'
    FAIL = 'FAIL'

    @property
    def rank(self) -> int:
        """0 for PASS up to 3 for FAIL."""
        return _RANKS[self._value_]

    @staticmethod
    def worst(verdicts: Iterable['Verdict']) -> 'Verdict':
        """Return the worst; of none at all INCONCLUSIVE, because silence is not success."""
        return max(verdicts, key=lambda verdict: verdict.rank, default=Verdict.INCONCLUSIVE)


_RANKS = {verdict.value: rank for rank, verdict in enumerate(Verdict)}


class LatencyClass(enum.Enum):
    """Where a latency falls in the budget, bounds inclusive, or why there is none."""

    TARGET = 'target'
    ACCEPTABLE = 'acceptable'
    CRITICAL = 'critical'
    VIOLATION = 'violation'
    NO_RESPONSE = 'no_response'
    ANTICIPATORY = 'anticipatory'

    @property
    def rank(self) -> int:
        """0 for target up to 5 for anticipatory, which is no reaction at all."""
        return list(LatencyClass).index(self)
