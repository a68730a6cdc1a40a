# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an ARE file says, past its form: events, actions and what is said about the scenario."""

from collections.abc import Mapping
from dataclasses import dataclass
import json
import re
from typing import Any

from safety_scenarios.formats.document.positions import Path

TO_AGENT, TO_USER = 'send_message_to_agent', 'send_message_to_user'
_USER_INTERFACE = 'AgentUserInterface'
ALWAYS_THERE = _USER_INTERFACE, 'SystemApp'
"""Apps that ARE knows in a recording although the file does not list them."""
_PLACEHOLDER = re.compile(r'^\{\{.*\}\}$')


@dataclass(frozen=True)
class Argument:
    """One named argument of an action."""

    name: str
    value: str | None
    value_type: str | None

    @property
    def is_placeholder(self) -> bool:
        """Whether ARE fills it in when it runs, with what another event returned."""
        return self.value is not None and _PLACEHOLDER.match(self.value.strip()) is not None

    def __str__(self) -> str:
        is_plain = self.value_type not in (None, 'str') and self.value is not None
        value = self.value if is_plain else json.dumps(self.value, ensure_ascii=False)
        return f'{self.name}={" ".join(str(value).split())}'


@dataclass(frozen=True)
class Action:
    """A function of an app, with its arguments."""

    app: str
    function: str
    arguments: tuple[Argument, ...]
    writes: bool | None = None
    """Whether the file says that it changes anything; None: it does not say."""

    def is_message(self, function: str) -> bool:
        """Whether it is this message between user and agent, and not one by mail."""
        return self.app == _USER_INTERFACE and self.function == function

    @property
    def content(self) -> Argument | None:
        """Return the text of a message between user and agent."""
        return next((one for one in self.arguments if one.name == 'content'), None)

    @property
    def placeholders(self) -> tuple[Argument, ...]:
        """Return the arguments that only a run of ARE could fill in."""
        return tuple(one for one in self.arguments if one.is_placeholder)

    def __str__(self) -> str:
        return f'{self.app}.{self.function}({", ".join(map(str, self.arguments))})'


@dataclass(frozen=True)
class AreEvent:
    """One entry of ``events``."""

    path: Path
    event_id: str
    event_type: str
    """AGENT, ENV, USER or CONDITION."""
    dependencies: tuple[str, ...]
    relative_ns: int | None
    """After the last of its dependencies."""
    absolute_ns: int | None
    """Epoch, system clock of whoever wrote it."""
    comparator: str | None
    action: Action | None
    function: str = ''
    """What it calls, by which ARE orders events, even where no app is named; empty: nothing."""

    @property
    def is_told(self) -> bool:
        """Whether it is something that the agent gets to know."""
        return self.event_type in ('USER', 'ENV')

    @property
    def has_time(self) -> bool:
        """Whether the file says when."""
        return self.relative_ns is not None or self.absolute_ns is not None

    def __str__(self) -> str:
        return f'event {self.event_id!r}'


@dataclass(frozen=True)
class Completed:
    """One thing that happened."""

    event_id: str
    event_type: str
    at_ns: int
    """Epoch; a float of ARE's resolves some 238 ns."""
    action: Action | None
    returned: str | None
    exception: str | None
    """Why the call failed; ARE's judge then takes it as not made."""

    @property
    def said(self) -> str:
        """Return the text that one of our own traces holds in it: what was returned, or said."""
        last = self.action.arguments[-1].value if self.action and self.action.arguments else ''
        return self.returned or last or ''

    def __str__(self) -> str:
        return f'completed event {self.event_id!r}'


@dataclass(frozen=True)
class Hint:
    """What the file would have the agent know besides."""

    path: Path
    content: str
    event_id: str
    """Of what it is told with; empty: of nothing in particular."""


@dataclass(frozen=True)
class AreFile:
    """One ARE file."""

    scenario_id: str
    start_ns: int | None
    tags: tuple[str, ...]
    context: str
    events: tuple[AreEvent, ...]
    hints: tuple[Hint, ...]
    completed: tuple[Completed, ...]
    """What happened in a run of it."""
    kept: Mapping[str, Any]
    """What has no place in our scenario, for its metadata."""
