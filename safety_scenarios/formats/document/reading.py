# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a reader of one format hands back, and what it gets to look up plug-ins."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from safety_scenarios.errors import Problem
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.scenario.scenario import Scenario

Resolve = Callable[[str, str], Any]
"""(kind, name) to plug-in class."""


@dataclass
class Reading:
    """What came of one file."""

    scenario: Scenario | None = None
    document: Document | None = None
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    format: str = ''  # noqa: A003
    """For which format the file was taken, and why; set by whoever chose the reader."""
    notes: list[Problem] = field(default_factory=list)
    """What the user should know and need not do anything about; never an error."""
