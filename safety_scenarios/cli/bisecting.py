# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``bisect``: which checkpoint was the first to lose it."""

from pathlib import Path
import sys
from typing import Any

import click
from safety_scenarios.campaign.folder.files import new_in_runs
from safety_scenarios.campaign.signals import interruptible
from safety_scenarios.cli import completion
from safety_scenarios.cli.options import (
    build,
    Finite,
    InSections,
    Option,
    section_options,
    SET,
    set_option,
)
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.comparison_tables import bisection_lines, bisection_table, visit_text
from safety_scenarios.reports.console_report import show
from safety_scenarios.studies.designs.bisect import bisect as search
from safety_scenarios.studies.designs.checkpoints import (
    CampaignsOfCheckpoints,
    Checkpoint,
    controller_in,
    in_order,
)

SUMMARY = 'bisection.json'
_EPILOG = ('Exit codes: 0 the first bad checkpoint was found; 3 it was not: GOOD is not shown to '
           'be better than BAD, no single step, or undecided; 2 wrong input or usage.')


@click.command(cls=InSections, epilog=_EPILOG)
@click.argument('good')
@click.argument('bad')
@click.argument('checkpoints', nargs=-1, metavar='[CHECKPOINT]...')
@click.option('--scenario', 'scenarios', multiple=True, required=True, metavar='SCENARIO',
              cls=Option, section='Scenarios', shell_complete=completion.scenarios,
              help='File, folder, glob, id, or installed folder to run; repeat it for several.')
@section_options('Scenarios', 'Robot and world', 'Trials', 'Results', leave_out=('junit',))
@click.option('--confidence', type=Finite(0.5, 1.0, min_open=True, max_open=True),
              default=0.95, show_default=True, cls=Option, section='Trials',
              help='Probability of the answer at which the search ends.')
@set_option('link=simulated')
def bisect(good: str, bad: str, checkpoints: tuple[str, ...], scenarios: tuple[str, ...],
           confidence: float, **values: Any) -> None:
    r"""
    Find the first CHECKPOINT between GOOD and BAD that fails what GOOD passes.

    Name the ones between in their order. Each is a controller, as --controller takes it, or with
    parameters as results name it: 'rule_based(delay_ms=100)'. A * in a path stands for all files,
    by number. GOOD and BAD run all trials. Those that only GOOD passes are run with the ones
    between, a few at a time. One step from good to bad is assumed; several may go unnoticed.

    \b
    safety-scenarios bisect onnx:a.onnx onnx:d.onnx onnx:b.onnx onnx:c.onnx --scenario robotic
    safety-scenarios bisect onnx:ckpt_1.onnx onnx:ckpt_9.onnx 'onnx:ckpt_*.onnx' --scenario robotic
    """
    names = in_order(good, bad, checkpoints)
    given = values.pop(SET)
    output = values.pop('output', None)
    made = []
    for name in names:
        controller, parameters = controller_in(name)
        made.append(build({
            'scenarios': scenarios, 'controller': controller, **values,
            SET: (*given, *(f'controller.{one}' for one in parameters))}))
    seed = made[0].seeded().seed
    folder = Path(output) if output else new_in_runs()
    if folder.exists() and any(folder.iterdir()):
        raise SettingsError(f'--output: got {folder}, which is not empty; expected a new folder. '
                            f'Name another one')
    interruptible()
    campaigns = CampaignsOfCheckpoints([
        Checkpoint(name, one.model_copy(update={'seed': seed}))
        for name, one in zip(names, made, strict=True)], folder)
    found = search(names, campaigns.run, link=campaigns.link, confidence=confidence,
                   is_repeatable=campaigns.is_repeatable,
                   tell=lambda visit: echo(visit_text(visit, names)))
    (folder / SUMMARY).write_text(found.model_dump_json(indent=2) + '\n', encoding='utf-8')
    show(bisection_table(found))
    for line in bisection_lines(found):
        echo(line)
    echo(f'campaigns: {folder}, seed {seed}')
    sys.exit(found.exit_code)
