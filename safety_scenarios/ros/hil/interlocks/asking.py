# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How an operator is asked to confirm a scenario: at the terminal, by a service, by a plan."""

from collections.abc import Container
import os
import select
import sys
from typing import Any, Protocol

_YES = ('y', 'yes')


class Asker(Protocol):
    """Asks, and is then asked for the answer until there is one."""

    def ask(self, scenario_id: str) -> str:
        """Begin to ask; return what an operator has to do, for a message."""

    def answer(self) -> bool | None:
        """Return yes or no, None as long as there is neither."""


class ByPlan:
    """
    Confirms what a signed plan lists, whose signature was checked before.

    :param ids: in the plan
    """

    def __init__(self, ids: Container[str]) -> None:
        self._ids = ids
        self._asked = ''

    def ask(self, scenario_id: str) -> str:
        """Look it up."""
        self._asked = scenario_id
        return 'the plan decides'

    def answer(self) -> bool | None:
        """Return whether it is in the plan."""
        return self._asked in self._ids


class AtTerminal:
    """
    Asks for y at the terminal where the evaluator was started.

    What was typed before the question is no answer to it.
    """

    def ask(self, scenario_id: str) -> str:
        """Throw away what was typed before."""
        while self._has_line():
            if not os.read(sys.stdin.fileno(), 4096):
                break
        return 'answer y or n here'

    def answer(self) -> bool | None:
        """Return what was typed; whatever is not y means no, and so does the end of input."""
        if not self._has_line():
            return None
        typed = os.read(sys.stdin.fileno(), 4096).decode(errors='replace')
        return typed.strip().lower() in _YES

    @staticmethod
    def _has_line() -> bool:
        return bool(select.select([sys.stdin], [], [], 0)[0])


class ByService:
    """Takes the answer by a service of type std_srvs/srv/SetBool, which says for what it is."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._asked = ''
        self._answer: bool | None = None

    def ask(self, scenario_id: str) -> str:
        """Take answers from now on."""
        self._answer, self._asked = None, scenario_id
        return (f"ros2 service call {self.name} std_srvs/srv/SetBool '{{data: true}}' "
                f'confirms, false refuses')

    def answer(self) -> bool | None:
        """Return what was called, once."""
        if self._answer is not None:
            self._asked = ''
        return self._answer

    def called(self, request: Any, response: Any) -> Any:
        """Answer the service, in the thread that listens."""
        response.success = bool(self._asked)
        if not self._asked:
            response.message = 'got an answer that nobody has asked for, expected none now'
            return response
        self._answer = request.data is True
        response.message = f'{self._asked}: {"confirmed" if request.data else "refused"}'
        return response
