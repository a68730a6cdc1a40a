# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``campaign conditions``: under which conditions trials fail."""

import json
from pathlib import Path
import sys

import click
from safety_scenarios.campaign.rejudging.rejudge import rejudge, told
from safety_scenarios.cli.completion import CampaignFolder
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.reports.conditions import condition_lines, conditions_data
from safety_scenarios.reports.console_report import tell
from safety_scenarios.studies.conditions.failures import conditions_of


@click.command('conditions', epilog=(
    'Exit codes: 0 shown, also where no condition stands out; 2 wrong input; 3 the folder is not '
    'as its campaign left it.'))
@click.argument('folder', type=CampaignFolder(), metavar='DIR')
@click.option('--json', 'as_json', is_flag=True,
              help='Print it as JSON on standard output instead.')
def conditions(folder: Path, as_json: bool) -> None:
    r"""
    Show under which conditions the trials of the campaign in DIR fail.

    Of every scenario with a failure: the interval or value of one draw, or of two together, in
    which the failure rate is well above the rest's, with both rates, and the chance that the
    clearest of all conditions looks so clear where none matters. Trials are judged again from
    their records first. ERROR and INCONCLUSIVE are no failures, and are looked at apart.

    \b
    safety-scenarios campaign conditions runs/today
    """
    found = rejudge(folder)
    known = conditions_of([(trial.after, trial.trial) for trial in found], found.summary.link)
    if as_json:
        click.echo(json.dumps([conditions_data(one) for one in known], indent=2))
    else:
        for one in known:
            for line in condition_lines(one):
                tell(line)
        if not known:
            tell('every trial passed: no failure to look at. That says nothing about conditions '
                 'that no trial was drawn in')
    for line in told(found.flaws):
        echo(f'error: {line}', err=True)
    sys.exit(3 if found.flaws else 0)
