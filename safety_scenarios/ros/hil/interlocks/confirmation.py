# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An operator has confirmed the scenario that is about to run."""

from safety_scenarios.ros.hil.interlocks.interlock import Interlock


class Confirmation(Interlock):
    """Holds for the scenario that was confirmed last, until it is revoked."""

    name = 'confirmation'

    def __init__(self) -> None:
        self._asked = ''
        self._confirmed = ''
        self._refused: set[str] = set()

    def ask(self, scenario_id: str) -> None:
        """Say which scenario has to be confirmed now."""
        self._asked = scenario_id

    def answer(self, scenario_id: str, *, is_yes: bool) -> None:
        """Take an operator's answer; of a scenario that was refused nobody asks again."""
        if is_yes:
            self._confirmed = scenario_id
        else:
            self._confirmed = ''
            self._refused.add(scenario_id)

    def revoke(self) -> None:
        """Forget what was confirmed: something has happened that the operator has to know."""
        self._confirmed = ''

    @property
    def is_refused(self) -> bool:
        """Whether the operator has said no to the scenario that is asked about."""
        return self._asked in self._refused

    def why_not(self, now_ns: int) -> str | None:
        """Return what was confirmed instead."""
        if not self._asked:
            return 'got no scenario to confirm, expected one'
        if self.is_refused:
            return f'got no from the operator for {self._asked}, expected yes'
        if self._confirmed != self._asked:
            return (f'got {self._confirmed or "nothing"} confirmed, expected {self._asked}')
        return None
