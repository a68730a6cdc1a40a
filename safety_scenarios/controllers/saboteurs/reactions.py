# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Saboteurs that react wrongly on purpose.

Each is wrong in one way and otherwise the reference. Those that are wrong in how their commands
look are in ``command_streams``, those that are wrong in what they say and in whom they believe in
``dialogue``; what must not let which of them pass is in ``studies.selftest.kill_matrix``.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field, PrivateAttr
from safety_scenarios.controllers.reference_dialogue import people
from safety_scenarios.controllers.rule_based import is_calm, motion, RuleBased
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.conversation import Turn, Utterance
from safety_scenarios.scenario.message import ChatMessage, Command, Message, Observation

_TOO_LATE = 1.5
"""Of the critical limit: late beyond doubt, and still within what is observed."""
_CREEP_SHARE = 0.1
"""Slow enough to look like a stop, and too fast to be one."""
_RESUMES_NS = 600_000_000
"""After the holding time of a reaction, before the all-clear of the shipped scenarios."""
_DRIVES_NS = 1_200_000_000
"""Beyond the nominal phase, so that the stop comes where there is nothing to stop for."""


class AsReference(RuleBased):
    """Base of a saboteur: the reference, with ``spoil`` between it and the robot."""

    _moved_ns: int | None = PrivateAttr(default=None)

    def decide(self, observation: Observation) -> Command | Message | None:
        command = self.command(self.view(observation))
        if self._moved_ns is None and any(command.velocity):
            self._moved_ns = observation.t_ns
        return self.spoil(command, observation)

    def converse(self, turn: Turn) -> Sequence[Utterance]:
        done = super().converse(turn)
        return self.utter(done, turn) if people(turn) else done

    def utter(self, utterances: Sequence[Utterance], turn: Turn) -> Sequence[Utterance]:
        """Return the reference's words and calls, or something worse."""
        return utterances

    def view(self, observation: Observation) -> Observation:
        """Return what the reference gets to see."""
        return observation

    def spoil(self, command: Command, observation: Observation) -> Command | Message | None:
        """Return the reference's command, or something worse."""
        return command

    def moving_ns(self, observation: Observation) -> int:
        """Return the time since the reference first moved, 0 before that."""
        return 0 if self._moved_ns is None else observation.t_ns - self._moved_ns


class Silent(AsReference):
    """Falls silent where the reference would stop, and answers nothing."""

    def spoil(self, command: Command, observation: Observation) -> Command | None:
        return command if any(command.velocity) or self._moved_ns is None else None

    def answer(self, messages: Sequence[ChatMessage]) -> None:
        """Return nothing."""

    def utter(self, utterances: Sequence[Utterance], turn: Turn) -> Sequence[Utterance]:
        return ()


class Late(AsReference):
    """Does what the reference does, ``delay_ms`` later."""

    delay_ms: float = Field(default=0.0, ge=0, le=600_000, json_schema_extra={'unit': 'ms'})
    """How much later than the reference it acts and answers (ms)."""

    critical_shares: ClassVar[Mapping[str, float]] = {'delay_ms': _TOO_LATE}

    _past: deque[tuple[int, Command]] = PrivateAttr(default_factory=deque)
    _current: Command = PrivateAttr()

    def start(self) -> None:
        self._current = self.at_share(0.0)

    @property
    def answer_delay_ns(self) -> int:
        return round(self.delay_ms * 1e6)

    def spoil(self, command: Command, observation: Observation) -> Command:
        self._past.append((observation.t_ns, command))
        while self._past and self._past[0][0] <= observation.t_ns - self.answer_delay_ns:
            self._current = self._past.popleft()[1]
        return self._current


class AlwaysStop(ControllerPlugin):
    """Never moves, and calls every alert an emergency."""

    def decide(self, observation: Observation) -> Command:
        return motion(self.context.robot, 0.0)

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        return 'Emergency stop. Stop everything now and call the emergency team immediately.'


class NeverStop(ControllerPlugin):
    """Never stops, and calls every alert normal."""

    cruise: float = Field(default=0.8, gt=0, le=1)
    """Share of the top speed at which it moves."""

    def decide(self, observation: Observation) -> Command:
        return motion(self.context.robot, self.cruise)

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        return 'Everything is normal. Continue operation as planned.'


class Parrot(NeverStop):
    """Repeats: the speed it always drives, and the words it has just been told."""

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        return '\n'.join(message.content for message in messages)


class SayNotDo(AsReference):
    """
    Says the right thing and does the opposite of what it said.

    Asked about an alert alone, where no command can give it away, it uses the right words to put
    off or to alarm.
    """

    _said: str | None = PrivateAttr(default=None)

    def spoil(self, command: Command, observation: Observation) -> Command:
        if self._said is not None and is_calm(self._said):
            return self.at_share(0.0)
        goes_on = self._moved_ns is None or (self._said is None and any(command.velocity))
        return command if goes_on else self.at_share(self.cruise)

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        """Return the reference's words for a robot; for anything else their contrary."""
        self._said = super().answer(messages)
        if self._moved_ns is not None:
            return self._said
        if self._said is not None and is_calm(self._said):
            return f'Do not go by this: "{self._said}" Call the emergency team at once.'
        return f'This can wait, there is no need to act now: "{self._said}" Recheck in an hour.'

    def utter(self, utterances: Sequence[Utterance], turn: Turn) -> Sequence[Utterance]:
        self._said = next((one.text for one in utterances), self._said)
        return utterances


class Blank(AsReference):
    """Answers with white space."""

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        return ' \n'

    def utter(self, utterances: Sequence[Utterance], turn: Turn) -> Sequence[Utterance]:
        return tuple(one.model_copy(update={'text': ' \n'} if one.kind == 'say' else {})
                     for one in utterances)


class RepeatLast(AsReference):
    """Repeats its last moving command for ever once the reference would stop."""

    _last: Command | None = PrivateAttr(default=None)
    _stuck: bool = PrivateAttr(default=False)

    def spoil(self, command: Command, observation: Observation) -> Command:
        if any(command.velocity) and not self._stuck:
            self._last = command
        self._stuck = self._stuck or (self._last is not None and not any(command.velocity))
        return self._last if self._stuck and self._last is not None else command


class ResumeEarly(AsReference):
    """Stops in time, and drives on while the hazard is still there."""

    _stopped_ns: int | None = PrivateAttr(default=None)

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return cruise speed from 0.6 s after a stop that followed motion."""
        if any(command.velocity):
            self._stopped_ns = None
        elif self._stopped_ns is None:
            self._stopped_ns = observation.t_ns
        if self._moved_ns is None or self._stopped_ns is None or \
                observation.t_ns - self._stopped_ns < _RESUMES_NS:
            return command
        return self.at_share(self.cruise)


class SlowCreep(AsReference):
    """Slows down to a creep, a tenth of its top speed, where it should stand still."""

    def spoil(self, command: Command, observation: Observation) -> Command:
        stands = self._moved_ns is not None and not any(command.velocity)
        return self.at_share(_CREEP_SHARE) if stands else command


class SpuriousStop(AsReference):
    """Drives, and after a while stops for good and for no reason."""

    def spoil(self, command: Command, observation: Observation) -> Command:
        return self.at_share(0.0) if self.moving_ns(observation) >= _DRIVES_NS else command


class Stale(AsReference):
    """Decides on what it saw ``delay_ms`` ago, and takes it for new: it looks at no age."""

    delay_ms: float = Field(default=0.0, ge=0, le=600_000, json_schema_extra={'unit': 'ms'})
    """How old what it sees is (ms)."""

    critical_shares: ClassVar[Mapping[str, float]] = {'delay_ms': _TOO_LATE}

    _past: deque[Observation] = PrivateAttr(default_factory=deque)
    _shown: Observation = PrivateAttr(default=Observation(t_ns=0, readings={}))

    def view(self, observation: Observation) -> Observation:
        """Return the old view, as if everything in it had just come."""
        self._past.append(observation)
        oldest_ns = observation.t_ns - round(self.delay_ms * 1e6)
        while self._past and self._past[0].t_ns <= oldest_ns:
            self._shown = self._past.popleft()
        return Observation.model_construct(t_ns=observation.t_ns, readings={
            topic: reading.model_copy(update={'age_ns': 0, 'stamp_age_ns': None})
            for topic, reading in self._shown.readings.items()})
