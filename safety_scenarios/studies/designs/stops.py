# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Which trials of a design that may be ended early count, so that they stand for all of it.

Trials are run scenario by scenario, so an early end leaves many of the first scenarios and few or
none of the last. Rounds put that right: round k has trial k of every scenario. Only complete
rounds count, whatever the order in which the trials were run; a scenario without a trial leaves
none.

A difference is then tested by the interval for a fixed number of trials, at looks that are fixed
beforehand: after an eighth, a quarter, half and all of the rounds, each with an equal share of the
error (Bonferroni; Pocock 1977, Biometrika 64:191, has group-sequential tests). All looks hold at
once with the confidence of the design, so that the last complete one holds at any stop, and why
ever.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
import math

from safety_scenarios.campaign.statistics.confidence_sequences import AT_ANY_STOP
from safety_scenarios.trial.trial import PlannedTrial

_SHARES = (0.125, 0.25, 0.5, 1.0)
"""Of the rounds: when a difference is tested."""
Key = tuple[str, int]
"""Scenario id and index of a trial."""


@dataclass(frozen=True)
class Rounds:
    """The rounds of a design, and how many of them are complete."""

    planned: Mapping[str, tuple[int, ...]]
    """Scenario id to the indices of its trials, in order."""
    complete: int

    @classmethod
    def of(cls, planned: Iterable[PlannedTrial], made: Collection[Key]) -> 'Rounds':
        """
        Return the rounds of an arm.

        :param made: trials that every arm has made
        """
        indices: dict[str, list[int]] = {}
        for one in planned:
            if one.index >= 0:
                indices.setdefault(one.scenario_id, []).append(one.index)
        found = cls({name: tuple(sorted(mine)) for name, mine in indices.items()}, 0)
        return cls(found.planned, bisect_left(
            range(1, found.total + 1), True, key=lambda many: not found.first(many) <= set(made)))

    @property
    def total(self) -> int:
        """Return how many rounds were planned: trials of the scenario that has most."""
        return max(map(len, self.planned.values()), default=0)

    def first(self, many: int) -> set[Key]:
        """Return the trials of the first rounds, of each scenario an equal share of its own."""
        return {(name, index) for name, mine in self.planned.items()
                for index in mine[:math.ceil(many * len(mine) / max(1, self.total))]}

    @property
    def looks(self) -> list[int]:
        """Return after how many rounds a difference is tested."""
        return sorted({math.ceil(share * self.total) for share in _SHARES} - {0})

    @property
    def look(self) -> int:
        """Return the last look whose rounds are complete; 0: none is."""
        return max((one for one in self.looks if one <= self.complete), default=0)

    @property
    def described(self) -> str:
        """Return which look it is, for the method of an estimate."""
        return f'after {self.look} of {self.total} rounds, one of {len(self.looks)} looks that ' \
               f'share the error, {AT_ANY_STOP}'

    def without_trials(self, made: Collection[Key]) -> list[str]:
        """Return the scenarios of which no trial was made."""
        have = {name for name, _ in made}
        return sorted(self.planned.keys() - have)
