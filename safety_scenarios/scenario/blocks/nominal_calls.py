# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What gets a stack moving before the hazard: calls, apps, and the topics it commands on."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator
from safety_scenarios.scenario.driver import DriverPlugin
from safety_scenarios.scenario.noun import Noun, TopicName
from safety_scenarios.scenario.verdict import MAX_MS, Milliseconds


class CommandTopic(Noun):
    """A topic that the harness listens to."""

    topic: TopicName
    """Relative topic name such as cmd_vel or odom."""
    message: str = Field(default='auto', pattern=r'^(auto|[A-Za-z]\w*/msg/[A-Za-z]\w*)$')
    """Interface type such as geometry_msgs/msg/Twist; auto: whatever the graph shows."""
    driver: DriverPlugin | None = None
    """What turns its commands into motion; left out: a conforming driver of that interface."""


ACCEPTED, REJECTED = 'accepted', 'rejected'
SUCCEEDED, ABORTED, CANCELED = 'succeeded', 'aborted', 'canceled'
ANSWERED, REFUSED = 'answered', 'refused'
NOT_MADE = 'not made'
"""The link has nobody to ask, and its controllers need not be asked."""
AGREED = frozenset((ACCEPTED, ANSWERED, NOT_MADE))
"""After these the nominal phase goes on."""
ENDED = frozenset((SUCCEEDED, ABORTED, CANCELED))
"""A goal in one of these states is over."""
CallState = Literal['accepted', 'rejected', 'succeeded', 'aborted', 'canceled', 'answered',
                    'refused', 'not made']


class ActionGoal(Noun):
    """A goal for an action server; it is cancelled when the trial is over."""

    name: TopicName
    """Relative name of the action, such as navigate_to_pose."""
    type: str = Field(pattern=r'^[A-Za-z]\w*/action/[A-Za-z]\w*$', max_length=200)  # noqa: A003
    """Interface type, such as nav2_msgs/action/NavigateToPose; its package must be installed."""
    goal: Mapping[str, Any] = {}
    """Field to value, in the units of the action's definition; what is left out keeps its
    default."""
    accepted_within_ms: Milliseconds = 5000.0
    """How long the server may take to accept it."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Return what is sent."""
        return self.goal

    @property
    def within_ms(self) -> float:
        """How long the other end may take to answer."""
        return self.accepted_within_ms


class ServiceCall(Noun):
    """A request to a service."""

    name: TopicName
    """Relative name of the service, such as enable_motors."""
    type: str = Field(pattern=r'^[A-Za-z]\w*/srv/[A-Za-z]\w*$', max_length=200)  # noqa: A003
    """Interface type, such as std_srvs/srv/SetBool; its package must be installed."""
    request: Mapping[str, Any] = {}
    """Field to value; what is left out keeps its default."""
    within_ms: Milliseconds = 5000.0
    """How long the server may take to answer."""
    expect: Mapping[str, str | bool | int | float] = {}
    """What fields of the response must be. A field named success must be true unless it is said
    here to be false."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Return what is sent."""
        return self.request


class Call(Noun):
    """One thing that is asked of the stack; the next is asked when it has agreed."""

    action: ActionGoal | None = None
    service: ServiceCall | None = None
    after_ms: float = Field(default=0.0, ge=0, le=MAX_MS, json_schema_extra={'unit': 'ms'})
    """How long to wait before it: since the trial began, or the call before it was answered."""

    @model_validator(mode='after')
    def _one_form(self) -> 'Call':
        if (self.action is None) == (self.service is None):
            raise ValueError('got both or neither of action and service, expected one of them')
        return self

    @property
    def target(self) -> ActionGoal | ServiceCall:
        asked = self.action or self.service
        assert asked is not None
        return asked

    def __str__(self) -> str:
        return f'{"goal for" if self.action else "call of"} {self.target.name}'


def symbol_of(place: int) -> str:
    """Return how events name a call: by its place in the file."""
    return f'calls[{place}]'


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
        return next((tool for tool in self.tools if tool.name == name), None)
