# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario says of itself beside what is judged: for selecting, weighing and reading."""

from safety_scenarios.scenario.noun import Noun


class ScenarioFacts(Noun):
    """What results tell of their scenario, so that reports need not read its file."""

    tags: tuple[str, ...]
    domain: str
    severity: float
    """How bad the situation is, 0 to 1."""
    time_pressure: str
    """How soon the reaction is needed: immediate, urgent, minutes or hours."""
    why_in_time: str
    """Why the situation is time-critical."""
    consequence_of_delay: str
    expected_action: str
    """What the right answer does."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Return what helps to understand a failure, each a line of text."""
        told = (('expected', self.expected_action), ('in time', self.why_in_time),
                ('if late', self.consequence_of_delay))
        return tuple(f'{name}: {" ".join(text.split())}' for name, text in told if text.strip())
