# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``trial replay``: one trial of a campaign, run again."""

from pathlib import Path
import sys

import click
from safety_scenarios.campaign.signals import interruptible
from safety_scenarios.cli.completion import CampaignFolder, OutputPath
from safety_scenarios.reports.replay_text import replay_of
from safety_scenarios.reports.trial_view.terminal import screen
from safety_scenarios.scenario.result import exit_code
from safety_scenarios.studies.conditions.replay import replay as run_again


@click.command(epilog='Exit codes: 0 the replay is PASS; 1 FAIL; 2 it cannot be replayed, or '
                      'wrong usage; 3 INCONCLUSIVE or ERROR, or without --set it did not come out '
                      'the same though its times are simulated.')
@click.argument('folder', type=CampaignFolder(), metavar='DIR')
@click.argument('trial', metavar='TRIAL')
@click.option('--set', 'changes', multiple=True, metavar='NAME=VALUE',
              help='Move a value that was drawn; onset_ms and onset_phase say when the hazard '
                   'comes. May be given several times.')
@click.option('--output', type=OutputPath(), metavar='DIR',
              help='Folder for the replay, new or empty.  [default: runs/replay-<UTC time>]')
@click.option('--html', 'page', type=click.Path(path_type=Path), metavar='FILE',
              help='Also write both trials as one page; needs the extra report.')
@click.option('--scenario', 'files', multiple=True, metavar='FILE',
              help='File of the scenario, where it is not where the campaign found it.')
@click.option('--on-hardware', is_flag=True,
              help='Replay on a real robot: a hazard is published to it again.')
def replay(folder: Path, trial: str, changes: tuple[str, ...], output: Path | None,
           page: Path | None, files: tuple[str, ...], on_hardware: bool) -> None:
    r"""
    Run a trial of the campaign in DIR again, as it was or with a drawn value moved, and show both.

    TRIAL is a number in the list of show, a trial's id or the beginning of one, SCENARIO:INDEX, or
    the id of a scenario for its first trial. Seed, controller and settings are those of the
    campaign; whatever else was drawn stays. Without --set it shows whether the trial comes out the
    same. The replay is a campaign of one trial in a folder of its own, whose replay.json says what
    it is a replay of.

    \b
    safety-scenarios trial replay runs/today SCN-R-101:3
    safety-scenarios trial replay runs/today SCN-R-101:3 --set near=2.3 --html replay.html
    """
    if page is not None:
        from safety_scenarios.cli.reporting import page_for
        from safety_scenarios.reports.page.page import require
        require()
        page = page_for((folder,), page, '--html')
    interruptible()
    found = run_again(folder, trial, changes, output=output, files=files,
                      on_hardware=on_hardware)
    console = screen()
    for part in replay_of(found):
        console.print(part)
    if page is not None:
        from safety_scenarios.reports.outputs.report import report_trials
        report_trials([(one.folder, one.result) for one in (found.before, found.after)], page)
        console.print(f'Page: {page}', markup=False, soft_wrap=True)
    console.print(f'Results: {found.after.folder}', markup=False, soft_wrap=True)
    is_other = not found.moved and found.is_repeatable and not found.is_same
    sys.exit(3 if is_other else exit_code([found.after.result.verdict]))
