# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``plan``: what a claim takes, and designs that are locked."""

from pathlib import Path

import click
from rich.markup import escape
from safety_scenarios.cli.completion import CampaignFolder
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.claim_plan import assumed_time, claim_lines, claim_table
from safety_scenarios.reports.console_report import console, Screen
from safety_scenarios.studies.designs.claim import read_claim
from safety_scenarios.studies.designs.claim_plan import measured_time, plan_claim


@click.command('plan', epilog='Exit codes: 0 planned; 2 wrong input or usage.')
@click.option('--claim', metavar='TEXT',
              help="What shall be shown, such as 'miss rate <= 1e-3 at 95 %', 'pass rate >= 99 "
                   "%', 'p99 reaction <= 500 ms at 95 %' or 'difference of failures <= 2 %'.")
@click.option('--from', 'measured', type=CampaignFolder(), metavar='DIR',
              help='Campaign that tells how long a trial takes.')
@click.option('--assume', type=float, multiple=True, metavar='RATE',
              help='True rate for which the power is given; repeat it for several.')
@click.option('--hours', type=float, metavar='H', help='Time in which it shall be done.')
@click.option('--lock', 'file', metavar='FILE',
              type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help='Design to freeze: question, arms, scenarios, trials, seed, test and limits.')
def plan(claim: str | None, measured: Path | None, assume: tuple[float, ...],
         hours: float | None, file: Path | None) -> None:
    r"""
    Say what a claim takes, or lock a design before its first trial.

    A claim takes trials, hours and processes; looking early costs more of them. A lock
    writes FILE.lock, and run --design FILE runs exactly that: see doc/manual/compare.md.

    \b
    safety-scenarios plan --claim 'miss rate <= 1e-3 at 95 %'
    safety-scenarios plan --claim 'p99 reaction <= 500 ms at 95 %' --from runs/today --hours 8
    safety-scenarios plan --lock design.yaml
    """
    if (claim is None) == (file is None):
        raise click.UsageError('expected one of --claim TEXT and --lock FILE')
    if file is not None:
        if measured or assume or hours is not None:
            raise click.UsageError('--lock: --from, --assume and --hours belong to --claim')
        from safety_scenarios.cli.designs import lock
        lock(file)
        return
    assert claim is not None
    if hours is not None and not 0.0 < hours < 1e6:
        raise SettingsError(f'--hours: got {hours:g}, expected a number above 0')
    wanted = read_claim(claim)
    found = plan_claim(wanted, measured_time(measured) if measured else assumed_time(), assume)
    screen = Screen(emoji=False, width=console().width)
    screen.print(claim_table(found))
    for line in claim_lines(found, hours):
        screen.print(escape(line))
