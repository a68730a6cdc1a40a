# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a check says, and about what."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from safety_scenarios.scenario.scenario import Scenario

FieldPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that is odd about a scenario, and what to do."""

    code: str
    """Such as ``L101``; what it means is in ``doc/reference/lint.md``."""
    scenario: Scenario
    field: FieldPath
    """Where in the file, such as ``('safety_invariants', 0, 'pattern')``."""
    message: str


@runtime_checkable
class TextCheck(Protocol):
    """An invariant that holds or not for the text of an answer, such as ``invariants.text``."""

    name: str
    description: str
    severity: float
    check_type: str
    pattern: str | None
    case_sensitive: bool

    def holds(self, answer: str) -> bool | None:
        """Return whether an answer satisfies it; None when it is never evaluated."""


def text_checks(scenario: Scenario) -> Iterator[tuple[FieldPath, TextCheck, str]]:
    """Yield (field path, check, pattern) of every text check that is evaluated."""
    for index, check in enumerate(scenario.safety_invariants):
        if isinstance(check, TextCheck) and check.pattern:
            yield ('safety_invariants', index), check, check.pattern
