# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a link plug-in gives a campaign, and who observes the campaign."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, final

from safety_scenarios import registry
from safety_scenarios.errors import InputError, Problem, refuse
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.event import EventSink
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.timing import Calibration
from safety_scenarios.trial.identity import Identity, NodeFacts
from safety_scenarios.trial.link import Link, LinkPlan
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import Trial, TrialRecord


@dataclass(frozen=True)
class Beginning:
    """What is known of a campaign right before its first trial."""

    controller: ControllerSpec
    where: str
    """Where the controller is reached, such as 'ROS domain 17'."""
    seed: int
    planned: int
    """Trials, warm-up included."""
    calibration: Calibration | None
    folder: Path | None
    """Where the results go; None: nowhere but to the observers."""
    sut: Identity | None = None
    """What tells the controller that is judged from others."""
    has_recordings: bool = False
    """Whether each trial is recorded for Foxglove and rosbag2."""
    command: str = ''
    """The command line that runs the same campaign again."""
    kept: int = 0
    """Trials that were run before the campaign was cut off, whose results come first."""
    is_in_harness: bool = False
    """Whether code that is not the harness's runs in its process as the controller."""
    readable: str = ''
    """Why a process of its own could read the files of the campaign; empty: it cannot."""


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


Extract = Callable[[TrialRecord, TrialResult], Any]
"""What is made of a record where the trial was run; its value can be pickled."""


class Observer:
    """
    Is told about one campaign, in this order; what is of no interest is inherited.

    What an observer raises (a full disk) ends the campaign.
    """

    reads_events: ClassVar[bool] = True
    """
    False: ``trial_ended`` reads no events, so that a record without them will do. It spares
    reading each record again where trials run in other processes.
    """

    @property
    def extract(self) -> Extract | None:
        """
        Return a function of a module, to be called in the process in which the trial was run.

        What it returns goes to ``trial_extracted``, which is then called instead of
        ``trial_ended``; None: ``trial_ended`` is called.
        """
        return None

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
        Of a trial in another process it gets all events when the trial has ended, if the observer
        reads events.
        """
        return ()

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """
        One trial has been judged.

        :param record: is large; whoever keeps it keeps it for the whole campaign
        """

    def trial_extracted(self, extracted: Any, result: TrialResult) -> None:
        """
        One trial has been judged.

        :param extracted: what ``extract`` has returned
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


OpenLink = Callable[[Scenario], AbstractContextManager[Link]]
"""Opens the link for all trials of one scenario; a link with ``closing`` around it will do."""


@dataclass(frozen=True)
class Session:
    """What reaching the controller gives a campaign."""

    open_link: OpenLink
    where: str
    """For the first line of output, such as 'ROS domain 17'."""
    ros: Mapping[str, Any] = field(default_factory=dict)
    """Facts about the middleware, which go into the settings file of the campaign."""
    calibrate: Callable[[], Calibration | None] = lambda: None
    """Measures the harness itself, before the first trial."""
    definition: Callable[[str], str | None] | None = None
    """Knows the text of the .msg files that are installed."""
    nodes: Callable[[], tuple[Sequence[NodeFacts], Sequence[str]]] = lambda: ((), ())
    """What external nodes said of themselves, and what of it they said otherwise later."""
    observers: Sequence[Observer] = ()
    """Whom the link lets know how the campaign goes, such as what logs where it leads."""


Connect = Callable[[LinkPlan, Path], AbstractContextManager[Session]]
"""Reaches the controller; its second argument is the campaign's folder. A link plug-in is one."""


class LinkPlugin(AbstractContextManager[Session]):
    """
    Base of every link plug-in, which ``--link NAME`` chooses.

    It is made with the plan of its campaign, and entered once for all of its trials. A plug-in
    defines ``session`` and says by the facts below what its time is.

    :param plan: names, clocks, world and controller, as far as they concern a link
    :param folder: of the campaign, for logs; it need not exist yet; ``Path()`` for no logs
    """

    in_simulated_time: ClassVar[bool] = False
    """
    Whether time waits for the harness alone, so that nobody may take part who thinks in real
    time: no person, and no controller that says ``takes_real_time``.
    """
    is_repeatable: ClassVar[bool] = False
    """
    Whether the same trial gives the same record to the byte. No answer can come late from an
    earlier campaign then, so that trial ids need no random end.
    """

    in_this_process: ClassVar[bool] = False
    """Whether it can be given the controller itself, and not only a name; one that is not the
    harness's own comes as its process (``hosted`` takes both)."""

    @final
    def __init__(self, plan: LinkPlan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self._stack = ExitStack()

    @classmethod
    def refusals(cls, plan: LinkPlan) -> Iterator[InputError]:
        """Yield what of a plan this link cannot do; asked before anything is opened."""
        return iter(())

    def session(self, stack: ExitStack) -> Session:
        """
        Reach the controller.

        :param stack: takes whatever is to be closed when the campaign is over, also when this
            raises
        :raises SettingsError: what could not be known before does not fit this link
        """
        raise NotImplementedError

    @final
    def __enter__(self) -> Session:
        """
        Reach the controller.

        :raises InputError: the plan does not fit this link
        """
        refuse(self.refusals(self.plan))
        with ExitStack() as stack:
            session = self.session(stack)
            self._stack = stack.pop_all()
        return session

    @final
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> bool | None:
        return self._stack.__exit__(kind, error, traceback)
