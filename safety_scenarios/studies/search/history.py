# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What trials came to, and their margins made comparable.

Margins of different checks have different units and sizes. Each is divided by the median of what
that check had in trials that held it; a check whose margin never differs tells nothing and is
left out until it fails. A trial that is INCONCLUSIVE or ERROR has no score at all.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy
from numpy.typing import NDArray
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.search.space import Point

Scores = NDArray[numpy.float64]
_FLAT = 1e-6
"""Spread of a margin, as a share of its size, below which it tells nothing."""
_EDGE = 1e-9
"""A margin of exactly 0 is on the side that the verdict says."""
NO_NUMBER = 1.0
"""Margin of a check that holds or fails, and has no number."""


@dataclass(frozen=True)
class Outcome:
    """What one trial came to."""

    verdict: Verdict
    margins: Mapping[str, float] = field(default_factory=dict)
    """Check to its signed margin, in the check's own unit; of checks that were decided."""
    reason: str = ''

    @property
    def is_decided(self) -> bool:
        """Whether the trial passed or failed."""
        return self.verdict in (Verdict.PASS, Verdict.FAIL)

    @property
    def is_failure(self) -> bool:
        """Whether the trial failed."""
        return self.verdict is Verdict.FAIL

    @property
    def failed(self) -> frozenset[str]:
        """Return the checks that failed."""
        return frozenset(check for check, margin in self.margins.items() if margin < 0) \
            if self.is_failure else frozenset()


def outcome_of(result: TrialResult) -> Outcome:
    """Return what a trial came to; a check that was not decided has no margin."""
    margins: dict[str, float] = {}
    for finding in result.findings:
        if finding.verdict is Verdict.FAIL:
            margin = min(-NO_NUMBER if finding.margin is None else finding.margin, -_EDGE)
        elif finding.verdict is Verdict.PASS:
            margin = max(NO_NUMBER if finding.margin is None else finding.margin, _EDGE)
        else:
            continue
        margins[finding.check] = min(margin, margins.get(finding.check, margin))
    return Outcome(result.verdict, margins, result.reason)


class Scales:
    """
    What margins are divided by, from the trials that are known.

    :ivar checks: those that tell something, in the order of their names
    """

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        found: dict[str, list[float]] = {}
        for outcome in outcomes:
            if outcome.is_decided:
                for check, margin in outcome.margins.items():
                    found.setdefault(check, []).append(margin)
        self._by_check: dict[str, float] = {}
        for check, margins in sorted(found.items()):
            values = numpy.array(margins)
            held = values[values > 0]
            scale = float(numpy.median(held)) if len(held) else float(numpy.median(-values))
            if float(numpy.ptp(values)) > _FLAT * scale or values.min() < 0:
                self._by_check[check] = max(scale, _EDGE)
        self.checks = tuple(self._by_check)

    def row(self, outcome: Outcome) -> Scores:
        """Return the scores of a trial by check; NaN: not decided in it."""
        if not outcome.is_decided:
            return numpy.full(len(self.checks), numpy.nan)
        return numpy.array([outcome.margins.get(check, numpy.nan) / scale
                            for check, scale in self._by_check.items()])

    def score(self, outcome: Outcome) -> float:
        """
        Return the least score of a trial: below 0 exactly for FAIL; NaN: not decided.

        A trial that passes and in which no check tells anything has the score 1.
        """
        if not outcome.is_decided:
            return float('nan')
        row = self.row(outcome)
        known = row[~numpy.isnan(row)]
        if outcome.is_failure:
            return min(float(known.min(initial=-_EDGE)), -_EDGE)
        return max(float(known.min()), _EDGE) if len(known) else NO_NUMBER


class History:
    """Points that were tried, in order, and what they came to."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.outcomes: list[Outcome] = []

    def __len__(self) -> int:
        return len(self.points)

    def add(self, point: Point, outcome: Outcome) -> None:
        """Take one more trial."""
        self.points.append(point)
        self.outcomes.append(outcome)

    @property
    def decided(self) -> int:
        """Return how many trials passed or failed."""
        return sum(outcome.is_decided for outcome in self.outcomes)

    @property
    def failures(self) -> list[int]:
        """Return which trials failed, in order."""
        return [place for place, outcome in enumerate(self.outcomes) if outcome.is_failure]

    def scores(self) -> Scores:
        """Return the score of each trial; NaN: not decided."""
        scales = Scales(self.outcomes)
        return numpy.array([scales.score(outcome) for outcome in self.outcomes])

    def by_check(self) -> tuple[tuple[str, ...], Scores]:
        """Return the checks that tell something, and the scores: a row a trial."""
        scales = Scales(self.outcomes)
        rows = [scales.row(outcome) for outcome in self.outcomes]
        return scales.checks, numpy.array(rows).reshape(len(rows), len(scales.checks))
