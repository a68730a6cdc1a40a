# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``scenario coverage``: hazards against scenarios."""

import json
from pathlib import Path
from typing import Any

import click
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.cli import completion
from safety_scenarios.cli.options import selecting, survey_of
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.errors import ScenarioError, SettingsError
from safety_scenarios.formats.hazard_file import load_register
from safety_scenarios.reports.console_report import show
from safety_scenarios.reports.hazard_table import (
    draw_hazards,
    hazard_data,
    hazard_lines,
    hazard_table,
)
from safety_scenarios.studies.hazard_coverage import hazard_coverage

_PICTURES = '.svg', '.png'


@click.command()
@click.argument('scenarios', nargs=-1, metavar='[SCENARIO]...',
                shell_complete=completion.scenarios)
@click.option('--register', metavar='FILE', type=click.Path(path_type=Path),
              help='Hazard register to use instead of the one that comes with the package.')
@click.option('--campaign', metavar='DIR', type=completion.CampaignFolder(),
              help='Show the verdicts of this campaign in the cells; its trials are judged again '
                   'from their records.')
@click.option('--picture', metavar='FILE', type=completion.OutputPath(dir_okay=False),
              help='Also draw the table, as .svg or .png; needs the extra plot.')
@click.option('--json', 'as_json', is_flag=True,
              help='Print it as JSON on standard output instead.')
@selecting
def coverage(scenarios: tuple[str, ...], register: Path | None, campaign: Path | None,
             picture: Path | None, as_json: bool, **values: Any) -> None:
    r"""
    Show which hazards the scenarios probe, by robot kind and modality, and which none does.

    SCENARIO as for scenario list; all that are installed, if left out. A number is how many
    scenarios probe a hazard there. "gap" is where the register asks for one and there is none.
    PL is the performance level that the risk requires, by the risk graph of ISO 13849-1.

    \b
    safety-scenarios scenario coverage
    safety-scenarios scenario coverage robotic worlds --campaign runs/today --picture hazards.svg
    """
    if picture is not None and picture.suffix.lower() not in _PICTURES:
        raise SettingsError(f'--picture: got {picture}, expected a file that ends in .svg or .png')
    listed = load_register(register)
    found = survey_of(scenarios, values)
    if found.problems and scenarios:
        raise ScenarioError(found.problems)
    results = () if campaign is None else tuple(trial.after for trial in rejudge(campaign))
    told = hazard_coverage(listed, found.loaded.scenarios, results)
    if as_json:
        click.echo(json.dumps(hazard_data(told), indent=2, ensure_ascii=False))
    else:
        show(hazard_table(told))
        for line in hazard_lines(told):
            echo(line)
    if picture is not None:
        try:
            draw_hazards(told, picture)
        except OSError as error:
            raise SettingsError(f'--picture: got {picture}, which cannot be written: '
                                f'{error.strerror}. Name another file') from None
