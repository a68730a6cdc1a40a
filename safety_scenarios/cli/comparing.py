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

"""The command ``compare``: two campaigns against each other."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from safety_scenarios.campaign.comparable import refuse_incomparable
from safety_scenarios.campaign.rejudge import results_of
from safety_scenarios.cli.rejudging import without_plan
from safety_scenarios.model.result import TrialResult
from safety_scenarios.reports.console_report import comparison_table, console
from safety_scenarios.stats.compare import compare as compare_results


@click.command()
@click.argument('first', type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument('second', type=click.Path(exists=True, file_okay=False, path_type=Path))
@without_plan
def compare(first: Path, second: Path, without_plan: bool) -> None:
    r"""
    Compare two campaigns, run with the same seed, scenario by scenario.

    Results are judged again from their records first, as evaluate does: a folder with anything in
    it that its campaign cannot have left is refused. Campaigns that are not to be judged alike,
    by other budgets, gates, scenarios or clocks, are not comparable: every difference is named,
    there is no p-value, and the exit code is 2.

    \b
    safety-scenarios compare runs/before runs/after
    """
    before, after = (results_of(folder, without_plan=without_plan)
                     for folder in (first, second))
    refuse_incomparable(first, second, before, after)
    found = compare_results(before, after)
    Console(width=console().width).print(comparison_table(
        found, *_campaign_names((first, second), (before, after))))


def _campaign_names(folders: Sequence[Path],
                    results: Sequence[Sequence[TrialResult]]) -> Sequence[str]:
    """Return the folders' names, with the controllers where these are not the same."""
    labels = [' '.join(sorted({result.controller for result in side})) for side in results]
    return [folder.resolve().name if len(set(labels)) == 1 else
            f'{folder.resolve().name}: {label}' for folder, label in zip(folders, labels)]
