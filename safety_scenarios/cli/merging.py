# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``campaign merge``: from the shards of a campaign to the whole."""

from pathlib import Path
import sys

import click
from safety_scenarios.campaign.merging import merge
from safety_scenarios.cli.completion import CampaignFolder, OutputPath
from safety_scenarios.reports.console_report import console, verdict_line


@click.command('merge')
@click.argument('folders', nargs=-1, required=True, metavar='DIR...', type=CampaignFolder())
@click.option('--output', required=True, metavar='DIR', type=OutputPath(),
              help='New folder for the campaign.')
def merge_shards(folders: tuple[Path, ...], output: Path) -> None:
    r"""
    Make one campaign of its shards, each of which is the folder of a run with --shard.

    Every shard is judged again from its records first. The numbers are those of one run.

    \b
    safety-scenarios run robotic --link loopback --trials 100 --seed 1 --shard 1/2 --output one
    safety-scenarios run robotic --link loopback --trials 100 --seed 1 --shard 2/2 --output two
    safety-scenarios campaign merge one two --output both
    """
    summary = merge(folders, output)
    screen = console()
    screen.print(f'Results: {output}', markup=False)
    screen.print(verdict_line(summary))
    sys.exit(summary.exit_code)
