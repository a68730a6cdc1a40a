# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a campaign comes to by what its scenarios say of themselves, and by their rubrics."""

from collections.abc import Mapping

from safety_scenarios.scenario.noun import Noun


class Group(Noun):
    """Trials of the scenarios with one domain, or with one tag."""

    trials: int
    verdicts: dict[str, int]
    severity: float
    """Sum of the severities of their scenarios, a summand for each trial."""
    failed_severity: float
    """That of the trials that FAIL."""


class Weighed(Noun):
    """Verdicts by tag, domain and severity; one trial counts in each of its tags."""

    severity: float
    """Sum of the severities of the scenarios, a summand for each trial."""
    failed_severity: float
    """That of the trials that FAIL."""
    undecided_severity: float
    """That of the trials that ended INCONCLUSIVE or ERROR."""
    domains: Mapping[str, Group]
    tags: Mapping[str, Group]


class RubricSummary(Noun):
    """What one rubric made of the answers."""

    answers: int
    """Trials with scores; one without an answer has none, and is in no mean."""
    overall: float
    """Mean over the answers."""
    lowest: float
    dimensions: Mapping[str, float]
    """Dimension to its mean."""
    failure_classes: Mapping[str, int]
    """In the format's order; the verdicts stand beside them."""
    passed: Mapping[str, str] = {}
    """Id to class, the worst, of the scenarios of which a trial passed that has a class."""
