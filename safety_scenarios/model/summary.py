# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What a campaign came to."""

from safety_scenarios.model.noun import Noun
from safety_scenarios.model.result import Verdict


class Share(Noun):
    """A count out of a count; never averaged with another share."""

    count: int
    of: int


class ScenarioSummary(Noun):
    """One row of the table: all trials of one scenario."""

    scenario_id: str
    scenario_name: str
    domain: str
    trials: int
    verdict: Verdict
    """The worst of its trials."""
    verdicts: dict[str, int]
    latency_classes: dict[str, int]
    latency_ms: tuple[float | None, ...]
    """Judged latency of each trial, None where there was no reaction (censored)."""
    median_ms: float | None
    """Median with missing reactions as +infinity; None when the median is missing."""
    worst_ms: float | None
    """Largest; None when a reaction is missing."""
    reason: str
    """Reason of the worst trial."""


class CampaignSummary(Noun):
    """All trials of one command."""

    controller: str
    seed: int
    planned: int
    completed: int
    interrupted: bool
    verdict: Verdict
    """The worst of all; INCONCLUSIVE when not every planned trial was completed."""
    exit_code: int
    verdicts: dict[str, int]
    missed: Share
    """Hazards without a reaction in time, of those whose reaction could be observed."""
    false_stops: Share
    """Twins in which the controller did not show restraint, of those that could be judged."""
    scenarios: tuple[ScenarioSummary, ...]
