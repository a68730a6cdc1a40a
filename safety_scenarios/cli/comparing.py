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

from pathlib import Path

import click
from rich.console import Console

from safety_scenarios.campaign.folder import read_trials
from safety_scenarios.reports.console_report import comparison_table, console
from safety_scenarios.stats.compare import compare as compare_results


@click.command()
@click.argument('first', type=click.Path(exists=True, path_type=Path))
@click.argument('second', type=click.Path(exists=True, path_type=Path))
def compare(first: Path, second: Path) -> None:
    """
    Compare two campaigns trial by trial: the folders of two runs with the same seed.

    \b
    safety-scenarios compare runs/before runs/after
    """
    found = compare_results(read_trials(first), read_trials(second))
    Console(width=console().width).print(comparison_table(found, first.resolve().name,
                                                            second.resolve().name))
