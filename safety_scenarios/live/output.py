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

"""What shows a running campaign; called from the thread of its feed, and from nowhere else."""

from safety_scenarios.live.stage import Picture
from safety_scenarios.model.event import Event
from safety_scenarios.model.observer import Beginning
from safety_scenarios.model.result import TrialResult
from safety_scenarios.model.summary import CampaignSummary
from safety_scenarios.model.trial import Trial


class Output:
    """
    Base of what shows a campaign live; what is of no interest is inherited.

    What it raises is logged once, and ends this output and nothing else.
    """

    def began(self, beginning: Beginning) -> None:
        """Take note that the campaign has begun."""

    def happened(self, trial: Trial, event: Event, since_ns: int) -> None:
        """
        Show one event that is worth it.

        :param since_ns: steady time since the trial's first event
        """

    def show(self, picture: Picture) -> None:
        """Show the trial as it is now, in place of what was shown before."""

    def clear(self) -> None:
        """Show no trial any more: it is over."""

    def judged(self, result: TrialResult, ended: int, planned: int) -> None:
        """Show what a trial came to."""

    def turn(self, dropped: int) -> None:
        """
        Do what is due, some times a second.

        :param dropped: events that were not shown so far, because there were too many
        """

    def ended(self, summary: CampaignSummary) -> None:
        """Show what the campaign came to."""

    def close(self) -> None:
        """Give up whatever is open; nothing is called after it."""
