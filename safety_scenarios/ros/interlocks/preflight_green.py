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

"""The wiring was looked at for this trial, and nothing of it is wrong."""

from collections.abc import Sequence

from safety_scenarios.model.preflight import PreflightRow
from safety_scenarios.ros.interlocks.interlock import Interlock


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
