# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What shows a running campaign; called from the thread of its feed, and from nowhere else."""

from safety_scenarios.reports.live.picture import Picture
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.trial.observer import Beginning
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import Trial


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
