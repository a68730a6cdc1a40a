# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The commands that reach a controller: ``run``, ``preflight`` and ``selftest calibrate``."""

from pathlib import Path
import sys
from tempfile import TemporaryDirectory
from typing import Any

import click
from safety_scenarios.campaign.open_session import connection
from safety_scenarios.campaign.process import interruptible
from safety_scenarios.campaign.resuming import settings_for
from safety_scenarios.campaign.run import preflight as look_at_wiring
from safety_scenarios.campaign.run import run as run_campaign
from safety_scenarios.cli import completion
from safety_scenarios.cli.advice import refuse_mix_ups
from safety_scenarios.cli.options import (
    build,
    console_chosen,
    console_options,
    given_in,
    InSections,
    Option,
    refuse_idle_model,
    section_options,
    SET,
    set_option,
    setting_options,
)
from safety_scenarios.cli.result_files import ResultFile, write_result
from safety_scenarios.errors import counted
from safety_scenarios.reports.console_report import console, teller, warn
from safety_scenarios.reports.console_tables import calibration_table, preflight_table
from safety_scenarios.studies.matrix.file import FILE
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.session import open_outputs, OutputContext

_EPILOG = ('Exit codes: 0 every trial PASS; 1 some FAIL; 2 wrong input or usage; '
           '3 some INCONCLUSIVE or ERROR and no FAIL.')


@click.command(cls=InSections, epilog=_EPILOG)
@click.argument('scenarios', nargs=-1, metavar='SCENARIO...',
                shell_complete=completion.scenarios)
@section_options('Scenarios', 'Controller', 'Robot and world', 'Trials', 'Results',
                 repeated=('controller',))
@click.option('--matrix', metavar='FILE', cls=Option, section='Controller',
              type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help='Run the controllers and settings of a matrix file on the same trials '
                   '(doc/manual/compare.md); SCENARIO may be left out.')
@click.option('--design', metavar='FILE', cls=Option, section='Controller',
              type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help='Run a locked design, and refuse whatever is not as it was locked '
                   '(doc/manual/compare.md).')
@click.option('--resume', metavar='DIR', cls=Option, section='Results',
              type=click.Path(exists=True, file_okay=False, path_type=Path),
              help='Continue the campaign or matrix in DIR, which was cut off; SCENARIO may be '
                   'left out.')
@click.option('--live', is_flag=True, cls=Option, section='Results',
              help='Show the campaign on the whole terminal while it runs '
                   '(doc/reference/data.md).')
@console_options()
@set_option('controller.delay_ms=400 or judge.model=NAME')
@click.pass_context
def run(context: click.Context, /, scenarios: tuple[str, ...], live: bool, matrix: Path | None,
        design: Path | None, resume: Path | None, controller: tuple[str, ...],
        **values: Any) -> None:
    r"""
    Run scenarios against a controller and judge it.

    With several controllers, or a matrix, each is an arm: all meet the same worlds and seeds, and
    the exit code is that of the worst arm.

    SCENARIO is a file, a folder, a glob, an id, or an installed folder such as robotic.

    Values under ros.vary are drawn from the seed, and no option fixes one. Run one trial again
    with another value by trial replay --set, or copy the file and write the value into it.

    \b
    safety-scenarios run robotic --trials 3 --output results
    safety-scenarios run SCN-R-101 --controller late --set controller.delay_ms=400
    safety-scenarios run robotic --controller external --remap cmd_vel:=/base/cmd_vel
    safety-scenarios run robotic --link simulated --controller rule_based --controller learned
    safety-scenarios run --resume results
    """
    if not scenarios and matrix is None and resume is None and design is None:
        raise click.UsageError("Missing argument 'SCENARIO...'.", context)
    refuse_mix_ups(scenarios, values[SET])
    if design is not None:
        if scenarios or matrix or controller:
            raise click.UsageError('--design: scenarios, --matrix and --controller are in the '
                                   'design, expected none of them here', context)
        from safety_scenarios.cli.designs import run_design
        sys.exit(run_design(design, given_in(values, console_chosen(context)), live=live,
                            resume=resume))
    if matrix is not None or len(controller) > 1 or (resume and (resume / FILE).is_file()):
        from safety_scenarios.cli.designs import run_arms
        sys.exit(run_arms(matrix, controller, given_in(
            {'scenarios': scenarios, **values}, console_chosen(context)), live=live,
            resume=resume))
    settings = build({'scenarios': scenarios, 'controller': next(iter(controller), None),
                      **values}, console_chosen(context))
    if resume is None:
        refuse_idle_model(values, settings)
    if live:
        settings = settings.model_copy(update={'outputs': (
            *(name for name in settings.outputs if name != 'console'), 'live')})
    interruptible()
    chosen = settings if resume is None else settings_for(resume, settings)
    shown = chosen.model_copy(update={'console': settings.console})
    with open_outputs(OutputContext(shown, teller(settings.console), warn)) as observers:
        summary = run_campaign(chosen, observers, resume=resume)
    sys.exit(summary.exit_code)


@click.command(cls=InSections, epilog=_EPILOG)
@click.argument('scenarios', nargs=-1, required=True, metavar='SCENARIO...',
                shell_complete=completion.scenarios)
@section_options('Scenarios', 'Controller', 'Robot and world')
@set_option('hil.enabled=true')
def preflight(scenarios: tuple[str, ...], **values: Any) -> None:
    r"""
    Check the wiring to a controller with the nominal phase alone: no hazard is published.

    \b
    safety-scenarios preflight robotic --controller external
    safety-scenarios preflight SCN-R-101 --controller external --remap cmd_vel:=/base/cmd_vel
    """
    refuse_mix_ups(scenarios, values[SET])
    settings = build({'scenarios': scenarios, **values}, {'calibration': 'off'}, 'preflight')
    refuse_idle_model(values, settings)
    interruptible()
    with TemporaryDirectory() as folder:
        wiring = look_at_wiring(settings, Path(folder))
    screen = console()
    screen.print(preflight_table(wiring.found))
    ready = '[green]ready[/]' if not wiring.exit_code else '[red]not ready[/]'
    screen.print(f'{ready}: {len(wiring.found)} of {counted(wiring.planned, "scenario")} looked '
                 f'at; exit code {wiring.exit_code}')
    sys.exit(wiring.exit_code)


@click.command()
@click.option('--form', type=click.Choice(['short', 'full']), default='full', show_default=True,
              help='full uses enough probes to say something about the 99th percentile.')
@click.option('--json', 'file', type=ResultFile('{\n  "method": '), metavar='FILE',
              help='Also write the calibration to this file.')
@setting_options('namespace', 'domain_id')
@set_option('realtime=true')
def calibrate(form: str, file: Path | None, **values: Any) -> None:
    r"""
    Measure the harness itself: its floor, and its error against controllers of known delay.

    \b
    safety-scenarios selftest calibrate
    safety-scenarios selftest calibrate --set realtime=true --json calibration.json
    """
    settings = build(values, {'calibration': form}, 'selftest calibrate')
    interruptible()
    with TemporaryDirectory() as folder, \
            connection(settings.link)(plan_link(settings), Path(folder)) as session:
        found = session.calibrate()
    assert found is not None
    console().print(calibration_table(found))
    if file is not None:
        write_result('--json', file, found.model_dump_json(indent=2))
