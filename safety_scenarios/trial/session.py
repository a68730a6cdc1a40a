# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a link plug-in gives a campaign: the way to the controller, opened once for all trials."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, final

from safety_scenarios.scenario.measuring import Calibration
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.identity import NodeFacts
from safety_scenarios.trial.link import Link
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


Connect = Callable[[RunSettings, Path], AbstractContextManager[Session]]
"""Reaches the controller; its second argument is the campaign's folder. A link plug-in is one."""


class LinkPlugin(AbstractContextManager[Session]):
    """
    Base of every link plug-in, which ``--link NAME`` chooses.

    It is made with the settings of a campaign, and entered once for all of its trials. A plug-in
    defines ``session`` and says by the two facts below what its time is.

    :param settings: of the campaign
    :param folder: of the campaign, for logs; it need not exist yet; ``Path()`` for no logs
    :param controller: the controller itself, if no plug-in has the name in the settings
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
    def __init__(self, settings: RunSettings, folder: Path, controller: Any = None) -> None:
        self.settings = settings
        self.folder = folder
        self.controller = controller
        self._stack = ExitStack()

    def session(self, stack: ExitStack) -> Session:
        """
        Reach the controller.

        :param stack: takes whatever is to be closed when the campaign is over, also when this
            raises
        :raises SettingsError: the settings do not fit this link
        """
        raise NotImplementedError

    @final
    def __enter__(self) -> Session:
        with ExitStack() as stack:
            session = self.session(stack)
            self._stack = stack.pop_all()
        return session

    @final
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> bool | None:
        return self._stack.__exit__(kind, error, traceback)
