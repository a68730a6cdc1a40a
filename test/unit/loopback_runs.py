# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Trials and whole campaigns in simulated time, with their folders, in this process."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
import io
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from safety_scenarios.campaign.engines.choice import Loop
from safety_scenarios.campaign.observed import Campaign, ObservedCampaign
from safety_scenarios.campaign.open_session import Ask, OpenSession, unasked
from safety_scenarios.campaign.plan import plan_campaign, TrialTask
from safety_scenarios.campaign.run import run, run_tasks
from safety_scenarios.campaign.statistics.sequential import Decide, undecided
from safety_scenarios.reports.console_report import ConsoleReport
from safety_scenarios.reports.outputs.report import page
from safety_scenarios.scenario.settings import JudgedBy, RunSettings
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.session import Observer, OpenLink, OutputContext
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import Trial
from unzipped import read_text


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
        return {str(path.relative_to(self.folder)): read_text(path).encode()
                for path in sorted(self.folder.rglob('traces/**/*.json.gz'))}


def loopback_run(folder: Path, *scenarios: str, **settings: Any) -> Run:
    """Run a campaign and return what it left behind."""
    output = io.StringIO()
    chosen = RunSettings(scenarios=scenarios, link='loopback', output=str(folder), **settings)
    with page(OutputContext(chosen, print, print)) as kept:
        shown = ConsoleReport(Console(file=output, width=200), 'verbose')
        summary = run(chosen, [shown, *kept], Loopback)
    return Run(summary, folder, output.getvalue())


_AS_SET = JudgedBy()
_SETUP = plan_campaign(RunSettings(link='loopback'), ()).setup


def run_trials(trials: Iterable[Trial], open_link: OpenLink, observers: Sequence[Observer] = (),
               by: JudgedBy = _AS_SET, decide: Decide = undecided,
               judge: Ask = unasked) -> Campaign:
    """Run trials in order, over the link of each scenario."""
    setup = replace(_SETUP, judged_by=by)
    campaign = ObservedCampaign(observers, decide=decide)
    session = OpenSession(open_link, judge=judge, sinks=campaign.sinks)
    run_tasks([TrialTask(setup, trial) for trial in trials], Loop(lambda task: session), campaign)
    return campaign
