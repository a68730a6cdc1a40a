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

"""What a reader of one format hands back, and what it gets to look up plug-ins."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from safety_scenarios.errors import Problem
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.model.scenario import Scenario

Resolve = Callable[[str, str], Any]
"""(kind, name) to plug-in class."""


@dataclass
class Reading:
    """What came of one file."""

    scenario: Scenario | None = None
    document: Document | None = None
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    format: str = ''  # noqa: A003
    """For which format the file was taken, and why; set by whoever chose the reader."""
    notes: list[Problem] = field(default_factory=list)
    """What the user should know and need not do anything about; never an error."""
