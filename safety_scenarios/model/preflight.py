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

"""What was found on the other end before the hazard: one row a question."""

from typing import Literal

from safety_scenarios.model.noun import Noun

UNDECLARED = (': the controller under test publishes there too. It is watched: motion on it '
              'makes a trial INCONCLUSIVE, unless the scenario declares the topic under commands, '
              'or --declared-topics names it')
"""Of a topic of a motion type that nobody has declared."""


class PreflightRow(Noun):
    """One question and what was found."""

    check: str
    status: Literal['ok', 'warn', 'error']
    detail: str


class Preflight(Noun):
    """The rows of one scenario."""

    scenario_id: str
    rows: tuple[PreflightRow, ...]
