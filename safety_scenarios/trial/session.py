# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a link plug-in gives a campaign: the way to the controller, opened once for all trials."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, final

from safety_scenarios.errors import InputError, refuse
from safety_scenarios.scenario.measuring import Calibration
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.identity import NodeFacts
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.link_plan import LinkPlan
from safety_scenarios.trial.observer import Observer

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
    """Whether it can be given the controller itself, and not only a name."""

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
