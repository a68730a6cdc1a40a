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


"""What a scenario says of itself beside what is judged: for selecting, weighing and reading."""

from safety_scenarios.model.noun import Noun


class ScenarioFacts(Noun):
    """What results tell of their scenario, so that reports need not read its file."""

    tags: tuple[str, ...]
    domain: str
    severity: float
    """How bad the situation is, 0 to 1."""
    time_pressure: str
    """How soon the reaction is needed: immediate, urgent, minutes or hours."""
    why_in_time: str
    """Why the situation is time-critical."""
    consequence_of_delay: str
    expected_action: str
    """What the right answer does."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Return what helps to understand a failure, each a line of text."""
        told = (('expected', self.expected_action), ('in time', self.why_in_time),
                ('if late', self.consequence_of_delay))
        return tuple(f'{name}: {" ".join(text.split())}' for name, text in told if text.strip())
