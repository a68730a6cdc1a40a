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

"""The command ``safety-scenarios``."""

from collections.abc import Sequence
import json
import os
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
from typing import Any

import click
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from safety_scenarios import registry
from safety_scenarios.campaign import run as evaluation
from safety_scenarios.campaign.folder import read_trials
from safety_scenarios.cli.judging import judge_check
from safety_scenarios.cli.needs_ros import from_ros
from safety_scenarios.cli.options import build, options
from safety_scenarios.cli.rejudging import evaluate, repair_folder, verify_folder
from safety_scenarios.cli.seat import seat
from safety_scenarios.cli.selftest import selftest
from safety_scenarios.errors import (
    InputError,
    refused,
    SafetyScenariosError,
    ScenarioError,
)
from safety_scenarios.lint.budgets import needed_ms
from safety_scenarios.lint.review import review
from safety_scenarios.loading import installed_folders, load_scenarios, scenario_schema
from safety_scenarios.model.measuring import Calibration
from safety_scenarios.model.settings import RunSettings
from safety_scenarios.reports.console_report import (
    calibration_table,
    comparison_table,
    console,
)
from safety_scenarios.stats.compare import compare as compare_results

_REACH = ('namespace', 'remap', 'use_sim_time', 'domain_id', 'connect_timeout_s', 'hosts')
_EPILOG = ('Exit codes: 0 every trial PASS; 1 some FAIL; 2 wrong input or usage; '
           '3 some INCONCLUSIVE or ERROR and no FAIL.')


@click.group(epilog=_EPILOG, context_settings={'help_option_names': ['-h', '--help']})
@click.version_option(package_name='safety_scenarios')
def cli() -> None:
    """Tell whether the model that drives your robot reacts in time, and safely."""


@cli.command(epilog=_EPILOG)
@click.argument('scenarios', nargs=-1, required=True, metavar='SCENARIO...')
@options(RunSettings, leave_out=('scenarios',))
def run(scenarios: tuple[str, ...], **values: Any) -> None:
    """
    Run scenarios against a controller and judge it.

    SCENARIO is a file, a folder, a glob, an id, or an installed folder such as robotic.

    \b
    safety-scenarios run robotic --trials 3 --output results
    safety-scenarios run SCN-R-101 --controller late
    safety-scenarios run robotic --controller external --remap cmd_vel:=/base/cmd_vel
    """
    settings = build(RunSettings, {'scenarios': scenarios, **values})
    evaluation.interruptible()
    sys.exit(evaluation.run(settings, console(), _connect(settings)).exit_code)


def _connect(settings: RunSettings) -> evaluation.Connect:
    return evaluation.loopback if settings.link == 'loopback' else _over_ros()


def _over_ros() -> evaluation.Connect:
    """
    Return the way to the controller over ROS.

    :raises MissingDependencyError: there is no ROS here
    """
    connect: evaluation.Connect = from_ros('session', 'running over ROS 2',
                                           '; or try --link loopback').over_ros
    return connect


@cli.command(epilog=_EPILOG)
@click.argument('scenarios', nargs=-1, required=True, metavar='SCENARIO...')
@options(RunSettings, only=(*_REACH, 'controller', 'link', 'command_type', 'period_ms'))
def preflight(scenarios: tuple[str, ...], **values: Any) -> None:
    """
    Check the wiring to a controller with the nominal phase alone: no hazard is published.

    \b
    safety-scenarios preflight robotic --controller external
    safety-scenarios preflight SCN-R-101 --controller external --remap cmd_vel:=/base/cmd_vel
    """
    settings = build(RunSettings, {'scenarios': scenarios, 'calibration': 'off', **values})
    evaluation.interruptible()
    with TemporaryDirectory() as folder:
        sys.exit(evaluation.preflight(settings, console(), _connect(settings), Path(folder)))


@cli.command()
@click.option('--form', type=click.Choice(['short', 'full']), default='full', show_default=True,
              help='full has enough probes for a claim about the 99th percentile.')
@click.option('--json', 'file', type=click.Path(dir_okay=False, path_type=Path),
              help='Write the calibration to this file too.')
@options(RunSettings, only=(*_REACH, 'realtime'))
def calibrate(form: str, file: Path | None, **values: Any) -> None:
    """
    Measure the harness itself: its floor, and its error against controllers of known delay.

    \b
    safety-scenarios calibrate
    safety-scenarios calibrate --realtime --json calibration.json
    """
    settings = build(RunSettings, {'calibration': form, **values})
    evaluation.interruptible()
    with TemporaryDirectory() as folder, _over_ros()(settings, Path(folder)) as session:
        found = session.calibrate()
    assert found is not None
    Console(width=console().width).print(calibration_table(found))
    if file is not None:
        file.write_text(found.model_dump_json(indent=2) + '\n', encoding='utf-8')


@cli.command()
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


@cli.command()
@click.argument('paths', nargs=-1, required=True, metavar='PATH...')
@click.option('--strict', is_flag=True, help='Take warnings as errors.')
@click.option('--calibration', type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help='Hold budgets against the floor in this file of calibrate --json.')
def validate(paths: tuple[str, ...], strict: bool, calibration: Path | None) -> None:
    """
    Check scenario files: every problem of every file, with line and column.

    Warnings have codes such as L101, which doc/lint.md explains.

    \b
    safety-scenarios validate config/scenarios
    safety-scenarios validate my_scenario.yaml --strict
    safety-scenarios validate robotic --calibration calibration.json
    """
    loaded = load_scenarios(paths)
    found = review(loaded.scenarios, _floor_ms(calibration) if calibration else None)
    warnings = [*loaded.warnings, *(
        loaded.problem(remark.scenario, remark.field, remark.message, remark.code)
        for remark in found.remarks)]
    warnings.sort(key=lambda problem: (problem.path, problem.line or 0, problem.column or 0))
    for note in loaded.notes:
        click.echo(f'note: {note}', err=True)
    if strict and warnings:
        raise ScenarioError(warnings)
    for warning in warnings:
        click.echo(f'warning: {warning}', err=True)
    waived = f', {len(found.waived)} waived by metadata.lint' if found.waived else ''
    click.echo(f'{len(loaded.scenarios)} scenarios are valid, {len(warnings)} warnings{waived}')


def _floor_ms(file: Path) -> float:
    try:
        return needed_ms(Calibration.model_validate_json(file.read_bytes()))
    except OSError as error:
        raise InputError(f'{file}: cannot be read: {error.strerror}') from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = '.'.join(map(str, first['loc']))
        raise InputError(refused(f'{file}: {place}', first) + '. Write it with '
                         'safety-scenarios calibrate --json') from None


@cli.command('list')
@click.argument('scenarios', nargs=-1, metavar='[SCENARIO]...')
def list_scenarios(scenarios: tuple[str, ...]) -> None:
    """
    List scenarios: the installed ones, or those named.

    \b
    safety-scenarios list
    safety-scenarios list config/scenarios/robotic
    """
    table = Table()
    for name in ('id', 'name', 'domain', 'stimuli', 'budget ms'):
        table.add_column(name)
    folders = [str(folder) for folder in installed_folders()]
    for scenario in load_scenarios(scenarios or folders).scenarios:
        block = scenario.agents
        shown = scenario.ros.stimuli if scenario.ros else block.all_stimuli if block else ()
        kinds = sorted({plugin.kind for plugin in shown}) or ['say' if block else 'prompt']
        table.add_row(scenario.id, scenario.name, scenario.domain, ', '.join(kinds),
                      f'{scenario.latency_budget.critical_ms:g}')
    Console().print(table)


@cli.command()
def plugins() -> None:
    """
    List the plug-ins of every kind and where they come from.

    \b
    safety-scenarios plugins
    """
    table = Table()
    for name in ('kind', 'name', 'class'):
        table.add_column(name)
    for kind in registry.BUILT_IN:
        for name, target in registry.names(kind).items():
            table.add_row(kind, name, target)
    Console().print(table)


@cli.command()
def schema() -> None:
    """
    Print the JSON Schema of a scenario file, for editors.

    \b
    safety-scenarios schema > scenario.schema.json
    """
    click.echo(json.dumps(scenario_schema(), indent=2))


for command in (judge_check, seat, selftest, evaluate, repair_folder, verify_folder):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; what the user can fix has no traceback."""
    try:
        cli.main(args=None if arguments is None else list(arguments), prog_name='safety-scenarios',
                 standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return 2
    except InputError as error:
        click.echo(f'error: {error}', err=True)
        return 2
    except SafetyScenariosError as error:
        click.echo(f'error: {error}', err=True)
        return 3
    except (click.Abort, KeyboardInterrupt):
        click.echo('interrupted', err=True)
        return 3
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 3
    except SystemExit as error:  # only run ends so, and only with a campaign's code
        return error.code if isinstance(error.code, int) else 3
    except Exception as error:  # not a verdict: never exit code 1, which says that a trial failed
        click.echo(f'error: {type(error).__name__}: {error}', err=True)
        return 3
    return 0
