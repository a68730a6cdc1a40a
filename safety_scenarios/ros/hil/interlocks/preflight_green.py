# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The wiring was looked at for this trial, and nothing of it is wrong."""

from collections.abc import Sequence

from safety_scenarios.ros.hil.interlocks.interlock import Interlock
from safety_scenarios.trial.preflight import PreflightRow


class PreflightGreen(Interlock):
    """Holds when the preflight of this trial has no error."""

    name = 'preflight'

    def __init__(self) -> None:
        self._rows: Sequence[PreflightRow] = ()

    def begin(self) -> None:
        """Forget the rows of the trial before."""
        self._rows = ()

    def saw(self, rows: Sequence[PreflightRow]) -> None:
        """Take what the link has found on the other end."""
        self._rows = rows

    def why_not(self, now_ns: int) -> str | None:
        """Return the first thing that is wrong."""
        rows = self._rows
        wrong = next((row for row in rows if row.status == 'error'), None)
        if wrong is not None:
            return f'got {wrong.check}: {wrong.detail}, expected no error'
        return None if rows else 'got no preflight, expected one for this trial'
