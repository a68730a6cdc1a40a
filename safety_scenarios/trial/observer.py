# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Who is told how a campaign goes: what writes its files, shows it, or counts something."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from safety_scenarios import registry
from safety_scenarios.errors import Problem
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.event import EventSink
from safety_scenarios.scenario.measuring import Calibration
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.identity import Identity
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import Trial, TrialRecord


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


@dataclass(frozen=True)
class TraceContext:
    """What a trace writer is given; it is called with this, and is an ``Observer``."""

    settings: RunSettings
    folder: Path
    """Of the campaign."""
    definition: Callable[[str], str | None] | None
    """Name of a message type to the text of its .msg file, where ROS is installed."""
    full_name: Callable[[str], str]
    """The scenario's relative topic name to that in the ROS graph."""

    def place(self, trial_id: str) -> Path:
        """Return the folder for the files of a trial."""
        return self.folder / 'recordings' / trial_id


@dataclass(frozen=True)
class OutputContext:
    """What an output is given: it is called with this, and gives observers while it is open."""

    settings: RunSettings
    tell: Callable[[str], None]
    """Takes one line for people, such as the path of a file."""
    warn: Callable[[str], None]
    """Takes one line about what is odd and changes no verdict."""


class Observer:
    """
    Is told about one campaign, in this order; what is of no interest is inherited.

    What an observer raises (a full disk) ends the campaign.
    """

    def scenarios_read(self, warnings: Sequence[Problem], notes: Sequence[Problem]) -> None:
        """
        Take what is odd about the scenario files; they may still be refused.

        :param notes: what is no mistake, such as a file that was left out
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


@contextmanager
def open_outputs(context: OutputContext) -> Iterator[Sequence[Observer]]:
    """
    Give the observers of the outputs that the settings name; a campaign runs meanwhile.

    The output that is named first is closed last, when the files of the campaign are complete.

    :raises UnknownPluginError: there is no output of a name in the settings
    """
    with ExitStack() as stack:
        yield [observer for name in dict.fromkeys(context.settings.outputs)
               for observer in stack.enter_context(registry.resolve('outputs', name)(context))]
