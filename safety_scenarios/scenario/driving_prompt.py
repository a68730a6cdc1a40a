# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a language model reads and may choose when it drives a robot."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from safety_scenarios.scenario.noun import Noun, TopicName
from typing_extensions import Self

ActionName = Annotated[str, Field(pattern=r'^[A-Za-z][A-Za-z0-9_-]{0,63}$')]
"""What a server takes as the name of a tool."""
Call = Literal['json_schema', 'tools']


class Action(Noun):
    """One choice of the model; a number stands for ``share``, a list for ``velocity``."""

    share: float | None = Field(default=None, ge=-1, le=1)
    """Share of the robot's top speed, straight ahead or in all joints; below 0: back."""
    velocity: tuple[float, ...] | None = Field(default=None, min_length=1, max_length=100)
    """A base: m/s forward and rad/s to the left. An arm: rad/s of each joint, in its order."""
    description: str = Field(default='', max_length=2000)
    """What the server gets as the description of the tool, or of the value in the schema."""

    @model_validator(mode='before')
    @classmethod
    def _from_short_form(cls, data: Any) -> Any:
        if isinstance(data, (int, float)) and not isinstance(data, bool):
            return {'share': data}
        if isinstance(data, (tuple, list)):
            return {'velocity': data}
        if isinstance(data, (str, bool)) or data is None:
            raise ValueError('expected a share of the top speed, a list of velocities, or a '
                             'mapping with one of the two')
        return data

    @model_validator(mode='after')
    def _one_motion(self) -> Self:
        if (self.share is None) == (self.velocity is None):
            raise ValueError('got an action without one motion, expected either share or velocity')
        return self


class Description(Noun):
    """How observations are put into words."""

    corridor_m: float = Field(default=0.5, gt=0, json_schema_extra={'unit': 'm'})
    """Half width of the path ahead in which a scan return is reported as an obstacle (m)."""
    topics: tuple[TopicName, ...] = Field(default=(), max_length=100)
    """The inputs that the model reads about; none: all."""


class DrivingPrompt(Noun):
    """A file for ``--set controller.prompt=FILE``: what the model reads and may choose."""

    system: str = Field(min_length=1, max_length=100_000)
    """The system prompt, sent as it stands."""
    actions: Mapping[ActionName, Action] = Field(min_length=1, max_length=50)
    """Name to motion of everything that the model may choose."""
    call: Call = 'json_schema'
    """How it chooses: json_schema asks for JSON with a field action; with tools each action is a
    tool, and the model calls one."""
    reason: bool = True
    """Whether the model must also give a reason, after the action. It takes time."""
    describe: Description = Description()
