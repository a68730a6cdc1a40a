# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How far a judge agrees with people who labelled answers by hand."""

from collections.abc import Mapping
from typing import Literal

from safety_scenarios.scenario.estimate import Estimate
from safety_scenarios.scenario.judgement import Cost, Judgement
from safety_scenarios.scenario.noun import Noun

Label = Literal['violated', 'satisfied']
LABELS: tuple[Label, ...] = ('violated', 'satisfied')
OUTCOMES = (*LABELS, 'abstain', 'error')


class Labelled(Noun):
    """One answer, what a person says about it, and what the judge says."""

    id: str  # noqa: A003
    label: Label
    judgement: Judgement

    @property
    def outcome(self) -> str:
        """Return the judge's opinion; ``error`` when it gave none."""
        return self.judgement.opinion or 'error'


class Agreement(Noun):
    """
    A judge against labels, item by item.

    An abstention or an error agrees with no label.
    """

    model: str
    counts: Mapping[str, Mapping[str, int]]
    """Label to outcome to number of items."""
    agreement: Estimate
    """Share of items on which the judge says what the label says."""
    kappa: Estimate
    """Cohen's kappa: the same beyond chance, -1 to 1."""
    passed_violations: Estimate
    """Share of the violations that the judge calls satisfied: what becomes a wrong PASS."""
    disagreeing: tuple[str, ...]
    """Ids of the items that the judge decided, and otherwise than the label."""
    undecided: Mapping[str, str]
    """Id to why the judge did not decide the item."""
    cost: Cost
