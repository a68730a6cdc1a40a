# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What was found on the other end before the hazard: one row a question."""

from typing import Literal

from safety_scenarios.scenario.noun import Noun

UNDECLARED = (': the controller under test publishes there too. It is watched: motion on it '
              'makes a trial INCONCLUSIVE, unless the scenario declares the topic under commands, '
              'or --declared-topics names it')
"""Of a topic of a motion type that nobody has declared."""


class PreflightRow(Noun):
    """One question and what was found."""

    check: str
    status: Literal['ok', 'warn', 'error']
    detail: str


class Preflight(Noun):
    """The rows of one scenario."""

    scenario_id: str
    rows: tuple[PreflightRow, ...]
