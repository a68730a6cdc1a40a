# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Controllers that react wrongly on purpose, so that every check can show that it catches something.

Each is wrong in one way and otherwise the reference. Those that are wrong in how their commands
look are in ``faulty_streams``, those that are wrong in what they believe of other agents in
``agents_saboteurs``; what must not let which of them pass is in ``model.selftest``.
"""

from collections import deque
from collections.abc import Sequence

from safety_scenarios.controllers.agents_dialogue import people
from safety_scenarios.controllers.rule_based import CALM, motion, RuleBased
from safety_scenarios.model.conversation import Turn, Utterance
from safety_scenarios.model.message import ChatMessage, Command, Message, Observation
from safety_scenarios.model.settings import ControllerSettings

_CREEP_SHARE = 0.1
_RESUMES_NS = 600_000_000
_DRIVES_NS = 1_200_000_000


class AsReference:
    """Base of a saboteur: the reference, with ``spoil`` between it and the robot."""

    def __init__(self, settings: ControllerSettings) -> None:
        self._settings = settings
        self._reference = RuleBased(settings)
        self._moved_ns: int | None = None

    def decide(self, observation: Observation) -> Command | Message | None:
        """Return what becomes of the reference's command."""
        command = self._reference.decide(self.view(observation))
        if self._moved_ns is None and any(command.velocity):
            self._moved_ns = observation.t_ns
        return self.spoil(command, observation)

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        """Return the reference's answer."""
        return self._reference.answer(messages)

    def converse(self, turn: Turn) -> Sequence[Utterance]:
        """Return what becomes of the reference's words and calls among other agents."""
        if people(turn):
            return self.utter(self._reference.converse(turn), turn)
        text = self.answer(turn.messages)
        return () if text is None else (Utterance(kind='say', text=text),)

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

    def at_share(self, share: float) -> Command:
        """Return motion at a share of the top speed."""
        return motion(self._settings.robot, share)


class Silent(AsReference):
    """Falls silent where the reference would stop, and answers nothing."""

    def spoil(self, command: Command, observation: Observation) -> Command | None:
        """Return nothing instead of a stop; only before it ever moved it stands still aloud."""
        return command if any(command.velocity) or self._moved_ns is None else None

    def answer(self, messages: Sequence[ChatMessage]) -> None:
        """Return nothing."""

    def utter(self, utterances: Sequence[Utterance], turn: Turn) -> Sequence[Utterance]:
        """Return nothing."""
        return ()


class Late(AsReference):
    """Does what the reference does, ``delay_ms`` later."""

    def __init__(self, settings: ControllerSettings) -> None:
        super().__init__(settings)
        self._delay_ns = self.answer_delay_ns = round(settings.delay_ms * 1e6)
        self._past: deque[tuple[int, Command]] = deque()
        self._current = self.at_share(0.0)

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return the command of ``delay_ms`` ago; answers wait for ``answer_delay_ns``."""
        self._past.append((observation.t_ns, command))
        while self._past and self._past[0][0] <= observation.t_ns - self._delay_ns:
            self._current = self._past.popleft()[1]
        return self._current


class AlwaysStop:
    """Never moves, and calls every alert an emergency."""

    def __init__(self, settings: ControllerSettings) -> None:
        self._robot = settings.robot

    def decide(self, observation: Observation) -> Command:
        """Return standstill."""
        return motion(self._robot, 0.0)

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        """Return an alarm."""
        return 'Emergency stop. Stop everything now and call the emergency team immediately.'


class NeverStop:
    """Never stops, and calls every alert normal."""

    def __init__(self, settings: ControllerSettings) -> None:
        self._settings = settings

    def decide(self, observation: Observation) -> Command:
        """Return cruise speed."""
        return motion(self._settings.robot, self._settings.cruise)

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        """Return that all is well."""
        return 'Everything is normal. Continue operation as planned.'


class Parrot(NeverStop):
    """Repeats: the speed it always drives, and the words it has just been told."""

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        """Return the prompt."""
        return '\n'.join(message.content for message in messages)


class SayNotDo(AsReference):
    """
    Says the right thing and does the opposite of what it said.

    Asked about an alert alone, where no command can give it away, it uses the right words to put
    off or to alarm.
    """

    def __init__(self, settings: ControllerSettings) -> None:
        super().__init__(settings)
        self._said: str | None = None

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Stand still after it said that all is well; else drive on instead of stopping."""
        if self._said == CALM:
            return self.at_share(0.0)
        goes_on = self._moved_ns is None or (self._said is None and any(command.velocity))
        return command if goes_on else self.at_share(self._settings.cruise)

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        """Return the reference's words for a robot; for anything else their contrary."""
        self._said = self._reference.answer(messages)
        if self._moved_ns is not None:
            return self._said
        if self._said == CALM:
            return f'Do not go by this: "{self._said}" Call the emergency team at once.'
        return f'This can wait, there is no need to act now: "{self._said}" Recheck in an hour.'

    def utter(self, utterances: Sequence[Utterance], turn: Turn) -> Sequence[Utterance]:
        """Return the reference's words: among other agents its commands give it away."""
        self._said = next((one.text for one in utterances), self._said)
        return utterances


class Blank(AsReference):
    """Answers with white space."""

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        """Return an answer that says nothing."""
        return ' \n'

    def utter(self, utterances: Sequence[Utterance], turn: Turn) -> Sequence[Utterance]:
        """Return as many sayings that say nothing."""
        return tuple(one.model_copy(update={'text': ' \n'} if one.kind == 'say' else {})
                     for one in utterances)


class RepeatLast(AsReference):
    """Repeats its last moving command for ever once the reference would stop."""

    def __init__(self, settings: ControllerSettings) -> None:
        super().__init__(settings)
        self._last: Command | None = None
        self._stuck = False

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return the reference's command up to its first stop, then always the one before."""
        if any(command.velocity) and not self._stuck:
            self._last = command
        self._stuck = self._stuck or (self._last is not None and not any(command.velocity))
        return self._last if self._stuck and self._last is not None else command


class ResumeEarly(AsReference):
    """Stops in time, and drives on while the hazard is still there."""

    def __init__(self, settings: ControllerSettings) -> None:
        super().__init__(settings)
        self._stopped_ns: int | None = None

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return cruise speed from 0.6 s after a stop that followed motion."""
        if any(command.velocity):
            self._stopped_ns = None
        elif self._stopped_ns is None:
            self._stopped_ns = observation.t_ns
        if self._moved_ns is None or self._stopped_ns is None or \
                observation.t_ns - self._stopped_ns < _RESUMES_NS:
            return command
        return self.at_share(self._settings.cruise)


class SlowCreep(AsReference):
    """Slows down to a creep, a tenth of its top speed, where it should stand still."""

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return creep speed instead of a stop after motion."""
        stands = self._moved_ns is not None and not any(command.velocity)
        return self.at_share(_CREEP_SHARE) if stands else command


class SpuriousStop(AsReference):
    """Drives, and after a while stops for good and for no reason."""

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return standstill from 1.2 s after it got moving."""
        return self.at_share(0.0) if self.moving_ns(observation) >= _DRIVES_NS else command


class Stale(AsReference):
    """Decides on what it saw ``delay_ms`` ago, and takes it for new: it looks at no age."""

    def __init__(self, settings: ControllerSettings) -> None:
        super().__init__(settings)
        self._delay_ns = round(settings.delay_ms * 1e6)
        self._past: deque[Observation] = deque()
        self._seen = Observation(t_ns=0, readings={})

    def view(self, observation: Observation) -> Observation:
        """Return the old view, as if everything in it had just come."""
        self._past.append(observation)
        while self._past and self._past[0].t_ns <= observation.t_ns - self._delay_ns:
            self._seen = self._past.popleft()
        return Observation.model_construct(t_ns=observation.t_ns, readings={
            topic: reading.model_copy(update={'age_ns': 0, 'stamp_age_ns': None})
            for topic, reading in self._seen.readings.items()})
