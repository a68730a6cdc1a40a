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


"""Whole campaigns in simulated time, with their folders, in this process."""

from dataclasses import dataclass
import io
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from safety_scenarios.campaign.run import run
from safety_scenarios.links.loopback_session import Loopback
from safety_scenarios.model.settings import RunSettings
from safety_scenarios.model.summary import CampaignSummary
from safety_scenarios.reports.console_report import ConsoleReport


@dataclass
class Run:
    """What a campaign left behind."""

    summary: CampaignSummary
    folder: Path
    output: str

    @property
    def trials(self) -> list[dict[str, Any]]:
        """Return the lines of trials.jsonl."""
        return [json.loads(line) for line in self.lines]

    @property
    def lines(self) -> list[str]:
        """Return the same as text."""
        return (self.folder / 'trials.jsonl').read_text(encoding='utf-8').splitlines()

    @property
    def verdicts(self) -> dict[str, str]:
        """Scenario id to the verdict of its last trial."""
        return {trial['scenario_id']: trial['verdict'] for trial in self.trials}

    @property
    def traces(self) -> dict[str, bytes]:
        """Path in the folder to content."""
        return {str(path.relative_to(self.folder)): path.read_bytes()
                for path in sorted(self.folder.rglob('traces/**/*.json'))}


def loopback_run(folder: Path, *scenarios: str, **settings: Any) -> Run:
    """Run a campaign and return what it left behind."""
    output = io.StringIO()
    summary = run(
        RunSettings(scenarios=scenarios, link='loopback', output=str(folder), **settings),
        [ConsoleReport(Console(file=output, width=200))], Loopback)
    return Run(summary, folder, output.getvalue())
