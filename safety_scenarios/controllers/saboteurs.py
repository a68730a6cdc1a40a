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
Controllers that are wrong on purpose, so that every check can show that it catches something.

All but ``always_stop`` move before the hazard; a controller at rest could not be judged.
"""

from collections import deque
from collections.abc import Sequence

from safety_scenarios.controllers.rule_based import motion, RuleBased
from safety_scenarios.model.message import ChatMessage, Command, Observation
from safety_scenarios.model.settings import ControllerSettings


class Silent:
    """Falls silent where the reference would stop, and answers nothing."""

    def __init__(self, settings: ControllerSettings) -> None:
        self._inner = RuleBased(settings)
        self._moved = False

    def decide(self, observation: Observation) -> Command | None:
        """Return the reference's command while it moves; after that nothing instead of a stop."""
        command = self._inner.decide(observation)
        moving = any(command.velocity)
        self._moved = self._moved or moving
        return command if moving or not self._moved else None

    def answer(self, messages: Sequence[ChatMessage]) -> None:
        """Return nothing."""


class Late:
    """Does what the reference does, ``delay_ms`` later."""

    def __init__(self, settings: ControllerSettings) -> None:
        self._inner = RuleBased(settings)
        self._delay_ns = self.answer_delay_ns = round(settings.delay_ms * 1e6)
        self._past: deque[tuple[int, Command]] = deque()
        self._current = motion(settings.robot, 0.0)

    def decide(self, observation: Observation) -> Command:
        """Return the command of ``delay_ms`` ago."""
        self._past.append((observation.t_ns, self._inner.decide(observation)))
        while self._past and self._past[0][0] <= observation.t_ns - self._delay_ns:
            self._current = self._past.popleft()[1]
        return self._current

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        """Return the reference's answer, which is published ``answer_delay_ns`` later."""
        return self._inner.answer(messages)


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
