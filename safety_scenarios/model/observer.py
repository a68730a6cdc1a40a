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

"""Who is told how a campaign goes: what writes its files, shows it, or counts something."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from safety_scenarios.errors import Problem
from safety_scenarios.model.controller import ControllerSpec
from safety_scenarios.model.event import EventSink
from safety_scenarios.model.identity import Identity
from safety_scenarios.model.measuring import Calibration
from safety_scenarios.model.result import TrialResult
from safety_scenarios.model.settings import RunSettings
from safety_scenarios.model.summary import CampaignSummary
from safety_scenarios.model.trial import Trial, TrialRecord


@dataclass(frozen=True)
class Beginning:
    """What is known of a campaign right before its first trial."""

    settings: RunSettings
    controller: ControllerSpec
    where: str
    """Where the controller is reached, such as 'ROS domain 17'."""
    planned: int
    """Trials, warm-up included."""
    calibration: Calibration | None
    folder: Path | None
    """Where the results go; None: nowhere but to the observers."""
    sut: Identity | None = None
    """What tells the controller that is judged from others."""


class Observer:
    """
    Is told about one campaign, in this order; what is of no interest is inherited.

    What an observer raises (a full disk) ends the campaign.
    """

    def scenarios_read(self, warnings: Sequence[Problem], notes: Sequence[Problem]) -> None:
        """
        Take what is odd about the scenario files; they may still be refused.

        :param notes: what is no mistake, such as a key that has a new name
        """

    def campaign_began(self, beginning: Beginning) -> None:
        """Take note that controller and harness are ready; the first trial comes next."""

    def sinks(self, trial: Trial) -> Sequence[EventSink]:
        """
        Return what takes the events of the trial that comes next, while it runs.

        A sink is called in the thread that measures: it keeps the event, and does nothing else.
        """
        return ()

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """
        One trial has been judged.

        :param record: is large; whoever keeps it keeps it for the whole campaign
        """

    def campaign_ended(self, summary: CampaignSummary) -> None:
        """Every trial has ended, or the campaign was interrupted."""
