# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What every controller plug-in is made of, and how a controller is named in results."""

from collections.abc import Mapping, Sequence
from functools import cached_property
import hashlib
import json
from typing import Any, ClassVar

from pydantic import Field, model_validator
from safety_scenarios.scenario.conversation import Turn, Utterance
from safety_scenarios.scenario.interfaces import INPUTS
from safety_scenarios.scenario.message import ChatMessage, Command, Message, Observation
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.settings import ControllerContext

_LONGEST_LABEL = 100
"""Longer ones are cut, and end with a hash: they stand in every row of a report."""
_HASH = 8


class ControllerPlugin(Noun):
    """
    Base of every controller: its fields are its parameters, set by ``--set controller.KEY=VALUE``.

    It runs inside ``controller_node`` or a loopback link, which make a new one for each
    scenario, and in simulated time for each trial.
    What it remembers from tick to tick goes into private attributes: a frozen noun with a field
    ``limit_m: float = 2.0`` may have a ``_count: int = 0`` beside it, which may change.

    An attribute of this class is overridden by a property, or by a ``ClassVar``.
    """

    takes_real_time: ClassVar[bool] = False
    """Whether it thinks where no simulated clock can hold it: threads, servers."""
    critical_shares: ClassVar[Mapping[str, float]] = {}
    """Parameters (ms) that, unless set, are so many times the scenario's critical limit."""
    simulated_brake_lag: ClassVar[float] = 0.0
    """How much too late its robot brakes where the harness works out what a robot would report:
    a share of the confirmation's critical limit. Not 0 for one that is wrong on purpose."""
    old_names: ClassVar[Mapping[str, str]] = {}
    """Earlier names of parameters, which keep working, to those of today."""

    @classmethod
    def __pydantic_init_subclass__(cls, **more: Any) -> None:
        """
        Refuse a parameter by which something of this class would be lost.

        :raises TypeError: with the name of the field
        """
        taken = sorted(name for name in cls.model_fields if hasattr(ControllerPlugin, name))
        if taken:
            raise TypeError(f'{cls.__name__}.{taken[0]}: got a parameter, expected a property or '
                            f'a ClassVar, because every controller has {taken[0]}')

    def begin(self, context: ControllerContext) -> None:
        """Take the context, and start; for whoever runs it, called once before anything else."""
        self.__dict__['context'] = context
        self.start()

    @cached_property
    def context(self) -> ControllerContext:
        """
        Return what it was told about its robot and its interface.

        :raises RuntimeError: it was not begun yet
        """
        raise RuntimeError(f'{type(self).__name__}: got no context, expected begin(context) '
                           f'before the first question')

    @property
    def inputs(self) -> Mapping[str, str]:
        """Relative topic name to interface type of everything that it listens to."""
        return INPUTS

    @property
    def outputs(self) -> Mapping[str, str]:
        """Relative topic name to interface type of what it publishes beside its commands."""
        return {}

    @property
    def period_ns(self) -> int:
        """How often it wants to be asked what to do."""
        return round(self.context.period_ms * 1e6)

    @property
    def begins_chunk(self) -> bool:
        """Return whether its latest command begins a chunk, of which more follow in periods."""
        return False

    @property
    def answer_delay_ns(self) -> int:
        """How long each of its answers waits before it is published."""
        return 0

    @property
    def truncated_by(self) -> str:
        """
        By what its latest answer was cut off, such as ``max_tokens``; empty: it is whole.

        What else it would have said is unknown, so that a trial with such an answer cannot pass.
        """
        return ''

    def start(self) -> None:
        """Load whatever is slow: weights, a client. The context is known by now."""

    def begin_trial(self) -> None:
        """Another trial begins: drop what was asked in the one before, and what came of it."""

    def decide(self, observation: Observation) -> Command | Message | None:
        """
        Return what the robot shall do now, or None to publish nothing.

        A ``Message`` of its command interface is published as it is, and so can say what no
        ``Command`` can; a header stamp that it carries is kept, one that it lacks becomes now.
        """
        return None

    def side_messages(self, observation: Observation) -> Mapping[str, Message]:
        """Return what to publish now on its ``outputs``, by topic; asked after ``decide``."""
        return {}

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        """Return the answer to a chat, or None to stay silent."""
        return None

    def converse(self, turn: Turn) -> Sequence[Utterance]:
        """
        Return what it says and calls among other agents; by default its answer to what it heard.

        It is its turn whenever another agent said something, or a tool that it called gave its
        result.
        """
        text = self.answer(turn.messages)
        return () if text is None else (
            Utterance(kind='say', text=text, truncated_by=self.truncated_by),)

    def close(self) -> None:
        """Hang up whatever was opened."""


class ControllerSpec(Noun):
    """Which controller a campaign was against: a plug-in and what was set of its parameters."""

    name: str = Field(min_length=1)
    """Of the plug-in, or external."""
    parameters: Mapping[str, Any] = {}
    """Dotted names to values as JSON has them, of those that differ from their defaults."""
    label: str = ''
    """What it is called in results; by default its name, and what was set in parentheses."""

    @model_validator(mode='before')
    @classmethod
    def _labelled(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and not data.get('label'):
            return {**data, 'label': _label(str(data.get('name', '')),
                                            data.get('parameters') or {})}
        return data

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to it but its name."""
        return self.label == self.name and not self.parameters


def _label(name: str, parameters: Mapping[str, Any]) -> str:
    if not parameters:
        return name
    set_to = ', '.join(f'{key}={_short(value)}' for key, value in parameters.items())
    text = f'{name}({set_to})'
    if len(text) <= _LONGEST_LABEL:
        return text
    told_apart = hashlib.sha256(text.encode()).hexdigest()[:_HASH]
    return f'{text[:_LONGEST_LABEL - _HASH - 1]}~{told_apart}'


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
