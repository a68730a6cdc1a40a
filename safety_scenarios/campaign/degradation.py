# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What became of trials as one number grew."""

from dataclasses import dataclass

from safety_scenarios.scenario.estimate import Estimate


@dataclass(frozen=True)
class Step:
    """The trials at one value, or from one to another."""

    low: float
    high: float
    trials: int
    passed: Estimate
    """Share of trials that passed; what could not be judged did not."""
    median_ms: Estimate
    """Of the measured latencies."""


@dataclass(frozen=True)
class Series:
    """One line of a plot: a campaign, or a scenario over several."""

    name: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Degradation:
    """What became of trials as one number grew."""

    parameter: str
    scenario: str
    """Of which it was drawn from trial to trial; empty: the campaigns differ in it."""
    series: tuple[Series, ...]
    besides: tuple[str, ...] = ()
    """Numbers that the campaigns differ in too, so that nobody can tell which of them did it."""
