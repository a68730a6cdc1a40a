# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What worlds told of the trials of a campaign, and of two against each other."""

from typing import Literal

from safety_scenarios.scenario.estimate import Estimate
from safety_scenarios.scenario.noun import Noun


class ScenarioWorld(Noun):
    """The trials of one scenario that were in a world."""

    trials: int
    quadrants: dict[str, int]
    """How many of them each quadrant has."""
    unknown: int
    """Trials of which nobody can tell the quadrant."""
    min_gap_m: float | None
    """Least of all; None where one of them is not known."""
    stopping_distance_m: float | None
    """Longest from onset, of those trials in which it came to rest."""
    contacts_caused: int | None
    """In all trials together; None where one of them is not known."""
    exposure_s: float | None
    """Mean; None where one of them is not known."""
    task_s: Estimate
    """Median time until the goal was reached; a trial in which it never was is longer than any."""


class CampaignWorld(Noun):
    """
    All trials that were in a world.

    A mean is that over scenarios of each one's mean, of the trials in which a figure is known; a
    median that of their medians. Their 95 % intervals are those of scenarios, as the trials of one
    resemble each other. No value of a mean can be longer than the longest trial.
    """

    trials: int
    worlds: tuple[str, ...]
    """What they were in."""
    lockstep: Literal['all', 'some', 'none']
    """In how many of them the world waited for the controller."""
    quadrants: dict[str, int]
    unknown: int
    """Trials of which nobody can tell the quadrant."""
    with_separation: int
    """Trials in which S_p could be held against the truth; in others no exposure tells of it."""
    exposure_s: Estimate
    """Risk exposure time of a trial, mean (s)."""
    safety_cost: Estimate
    """Cumulative safety cost of a trial, mean (s)."""
    time_lost_s: Estimate
    """Time lost by standing where nothing called for it, mean (s)."""
    task_done: Estimate
    """Share of the trials whose task was done, of those where that is known."""
    progress_per_min: Estimate
    """Throughput, median: m of the route, or cycles, in a minute of the world's time."""
    prediction_gap_m: Estimate
    """Predicted less true stopping distance, median (m, of an arm rad)."""
    prediction_gap_worst_m: float | None
    """The lowest of them: by how much a prediction promised too much, if it is below 0."""


class WorldComparison(Noun):
    """
    The second campaign against the first, by the pairs of trials in which both worlds tell.

    Positive differences mean that the second is longer exposed, costs more, loses more time.
    Medians over scenarios of the median difference in each; tests as that of the latencies.
    """

    pairs: int
    quadrants: tuple[dict[str, int], dict[str, int]]
    """Of the first and of the second, in these pairs."""
    exposure_s: Estimate
    exposure_p: float
    safety_cost: Estimate
    safety_cost_p: float
    time_lost_s: Estimate
    time_lost_p: float
