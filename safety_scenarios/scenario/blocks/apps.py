# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Tools that a world behind the agents answers: what they are, and what a call of one must be."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field
from safety_scenarios.scenario.noun import Noun

MOST_TOOL_TURNS = 200
"""A task in such a world takes more calls in a row than a conversation does."""


class AppTool(Noun):
    """One tool of an app, as far as somebody knows it."""

    name: str
    """As it is called: APP__FUNCTION."""
    key: str
    """By which calls are compared: CLASS__FUNCTION. Two apps of one class have the same."""
    parameters: Mapping[str, Any] = {}
    """Its arguments as JSON schema; empty: not known."""
    defaults: Mapping[str, Any] = {}
    """What an argument is that a call leaves out."""
    writes: bool | None = None
    """Whether it changes the world; only such calls are compared. None: not known."""
    checks: Mapping[str, str] | None = None
    """Argument to how it is compared; None: nobody can compare a call of it."""


class AppWorld(Noun):
    """What a scenario says of its apps."""

    tools: tuple[AppTool, ...] = ()
    told: Mapping[str, tuple[str, ...]] = {}
    """Symbol of a saying to the ids of the events that happen in the world with it."""
    begins_s: float = Field(default=0.0, ge=0, json_schema_extra={'unit': 's'})
    """When a run begins, after the start of the scenario (s)."""
    user: str = ''
    """First and last name of whom the agent works for: whether it is invited does not matter."""
    answered_by: Literal['script', 'are'] = 'script'
    """Who answers a call: a recorded answer, or ARE's apps."""
    tool_turns: int = Field(default=MOST_TOOL_TURNS, ge=1)
    """So many turns in a row may come from results of tools."""

    def tool(self, name: str) -> AppTool | None:
        """Return the tool with this name."""
        return next((tool for tool in self.tools if tool.name == name), None)
