# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What there is, unrun: ``validate``, ``list``, ``describe``, ``plugins`` and ``schema``."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
import json
import os
from pathlib import Path
import sys
from typing import Any, get_args, get_origin, Literal

import click
from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from rich.markup import escape
from rich.table import Column, Table
from safety_scenarios import registry
from safety_scenarios.cli import completion
from safety_scenarios.cli.options import build, selecting, survey_of
from safety_scenarios.cli.scenario_description import description
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.errors import (
    counted,
    in_words,
    InputError,
    Problem,
    ScenarioError,
    SettingsError,
)
from safety_scenarios.formats.agents.topics import SUFFIXES as BINDINGS
from safety_scenarios.formats.document.file_contents import bytes_of, file_of, names_in, raw_of
from safety_scenarios.formats.loading import LEFT_OUT, look_through, ScenarioSet, Survey
from safety_scenarios.formats.scenario_files import SUFFIXES
from safety_scenarios.judging.blind_pass_rate import blind_pass_rate, MOST, why_too_high
from safety_scenarios.lint.pairs import hazards_of
from safety_scenarios.lint.quantities import needed_ms
from safety_scenarios.lint.review import review, waived_by
from safety_scenarios.reports.console_report import console, is_wide, Screen, show
from safety_scenarios.reports.console_tables import sweep_table
from safety_scenarios.scenario.fields import (
    described,
    Explained,
    NO_OPTIONS,
    Setting,
    settings_of,
    SHORT_NAMES,
)
from safety_scenarios.scenario.rounding import percent_up
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.timing import Calibration
from safety_scenarios.scenario.untrusted_text import each_key_once
from safety_scenarios.studies.selftest.sweep import impossible, sweep
from safety_scenarios.trial.on_robot import fit
from safety_scenarios.trial.robot_fit import command_of_rest

_SOURCES = {
    'scenario': 'safety_scenarios.formats.scenario_reading:scenario_schema',
    'agents': 'safety_scenarios.formats.agents.reader:agents_schema',
    'bindings': 'safety_scenarios.formats.agents.reader:bindings_schema',
    'are': 'safety_scenarios.are.scenarios.reader:are_schema',
    'rubric': 'safety_scenarios.scenario.blocks.rubric:Rubric',
    'profile': 'safety_scenarios.formats.profile_file:profile_schema',
    'matrix': 'safety_scenarios.studies.matrix.file:MatrixFile',
    'design': 'safety_scenarios.studies.designs.design:Design',
    'policy': 'safety_scenarios.controllers.policies.contract:contract_schema',
    'gate': 'safety_scenarios.studies.designs.limits:Gate',
    'suite': 'safety_scenarios.suites.suite:Suite',
    'card': 'safety_scenarios.suites.card:Card',
    'protocol': 'safety_scenarios.suites.protocol:Protocol',
    'settings': 'safety_scenarios.scenario.settings:RunSettings'}
"""Kind of file to a function that returns its schema, or to the model that reads it."""
KINDS = tuple(kind for kind, source in _SOURCES.items() if find_spec(source.partition(':')[0]))


def schema_of(kind: str) -> Mapping[str, Any]:
    """Return the JSON Schema of one kind of file."""
    module, _, name = _SOURCES[kind].partition(':')
    source = getattr(import_module(module), name)
    if isinstance(source, type) and issubclass(source, BaseModel):
        return {'$schema': 'https://json-schema.org/draft/2020-12/schema',
                **source.model_json_schema(schema_generator=Explained),
                'title': f'safety_scenarios {kind} file'}
    found: Mapping[str, Any] = source()
    return found


_WITH_ALL = 120
"""Columns from which on a list has room for stimuli and tags."""
_FEW = 3
"""Files of one format that are told one by one."""
_ONSET = ('ros', 'nominal', 'duration_ms')
"""What decides when the hazard comes."""


@click.command()
@click.argument('paths', nargs=-1, required=True, metavar='PATH...',
                shell_complete=completion.scenarios)
@click.option('--strict', is_flag=True,
              help='Treat warnings as errors; if there are none, try every file with controllers '
                   'that are wrong on purpose, and refuse one with a check that all of them pass.')
@click.option('--sweep/--no-sweep', 'sweeps', default=None,
              help='Try the files with wrong controllers, or do not. By default with --strict.')
@click.option('--seeds', type=click.IntRange(1, 100), default=2, show_default=True,
              help='Trials of each file against each wrong controller.')
@click.option('--calibration', type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help='Compare budgets with the floor in this file, which selftest calibrate '
                   '--json wrote.')
@selecting
def validate(paths: tuple[str, ...], strict: bool, sweeps: bool | None, seeds: int,
             calibration: Path | None, **values: Any) -> None:
    r"""
    Check scenario files and list every problem with its line and column.

    Warnings have codes such as L101, which doc/reference/lint.md explains. With --strict, if
    there is no warning, each file is also tried with every built-in wrong controller, in
    simulated time and without ROS. That takes about 15 seconds of CPU time for a file with a
    robot, half a minute or more for one that needs a world, and little for a text.

    \b
    safety-scenarios scenario validate config/scenarios
    safety-scenarios scenario validate my_scenario.yaml --strict
    safety-scenarios scenario validate robotic --calibration calibration.json
    """
    survey = survey_of(paths, values)
    loaded = survey.loaded
    found = review(loaded.scenarios, _floor_ms(calibration) if calibration else None)
    guessable, waived_count = _guessable(loaded)
    warnings = [*loaded.warnings, *guessable, *(
        loaded.problem(remark.scenario, remark.field, remark.message, remark.code)
        for remark in found.remarks), *(
        loaded.problem(one.scenario, one.field, one.message, one.code)
        for one in impossible(loaded.scenarios))]
    warnings.sort(key=lambda problem: (problem.path, problem.line or 0, problem.column or 0))
    if survey.problems:
        raise ScenarioError(survey.problems, [*map(str, loaded.notes), *survey.notes], warnings)
    for line in _read_as(loaded):
        echo(line)
    for note in (*loaded.notes, *_chances(loaded)):
        echo(f'note: {note}', err=True)
    waived_count += len(found.waived)
    if sweeps or (sweeps is None and strict and not warnings):
        tried, more = _tried(loaded, seeds)
        warnings, waived_count = [*warnings, *tried], waived_count + more
    if strict and warnings:
        raise ScenarioError(warnings)
    for warning in warnings:
        echo(f'warning: {warning}', err=True)
    waived = f', {waived_count} waived by metadata.lint' if waived_count else ''
    found_count = len(loaded.scenarios)
    echo(f'{counted(found_count, "scenario")} {"is" if found_count == 1 else "are"} valid, '
         f'{counted(len(warnings), "warning")}{waived}')


def _read_as(loaded: ScenarioSet) -> Iterator[str]:
    """Yield for which format each file was taken, and why; many files of a kind in one line."""
    files: dict[str, list[str]] = {}
    for scenario, told in zip(loaded.scenarios, loaded.formats):
        files.setdefault(told, []).append(scenario.place)
    for told, paths in files.items():
        if len(paths) > _FEW:
            yield f'{len(paths)} files, from {paths[0]} on, are read as {told}'
        else:
            yield from (f'{path}: is read as {told}' for path in paths)


def _tried(loaded: ScenarioSet, seeds: int) -> tuple[list[Problem], int]:
    """Show what wrong controllers make of scenarios; return what to warn of, and how much not."""
    tried = [scenario for scenario in loaded.scenarios if not scenario.is_monitor]
    echo(f'trying {counted(len(tried), "scenario")} with controllers that are wrong on '
         f'purpose: up to a minute for each with a robot', err=True)
    found = sweep(tried, range(seeds))
    Screen(emoji=False, width=console().width, highlight=False).print(sweep_table(found.matrix))
    for note in found.notes:
        echo(f'note: {loaded.problem(note.scenario, note.field, note.message, note.code)}',
             err=True)
    told = [one for one in found.found if one.code not in waived_by(one.scenario)]
    return [loaded.problem(one.scenario, one.field, one.message, one.code) for one in told], \
        len(found.found) - len(told)


def _chances(loaded: ScenarioSet) -> Iterator[Problem]:
    """Yield what a blind controller could pass of each hazard of a robot."""
    for scenario in loaded.scenarios:
        found = blind_pass_rate(scenario)
        if found.level is not None and found.level <= MOST:
            yield loaded.problem(scenario, _ONSET, (
                f'a blind controller would pass at most {percent_up(found.level)} of '
                f'the trials: {found.why}'), '')


def _guessable(loaded: ScenarioSet) -> tuple[list[Problem], int]:
    """Return the hazards that such a controller passes too often, and how many are waived."""
    found = [(one, why) for one in loaded.scenarios if (why := why_too_high(one))]
    told = [loaded.problem(one, _ONSET, why, 'L229') for one, why in found
            if 'L229' not in waived_by(one)]
    return told, len(found) - len(told)


def _floor_ms(file: Path) -> float:
    try:
        return needed_ms(Calibration.model_validate_json(each_key_once(bytes_of(file))))
    except (OSError, ValueError) as error:
        raise InputError(f'{file}: cannot be read: {in_words(error)}. Write it with '
                         f'safety-scenarios selftest calibrate --json') from None


@click.command('list')
@click.argument('scenarios', nargs=-1, metavar='[SCENARIO]...',
                shell_complete=completion.scenarios)
@selecting
def list_scenarios(scenarios: tuple[str, ...], **values: Any) -> None:
    r"""
    List scenarios: the installed ones, or those named.

    \b
    safety-scenarios scenario list
    safety-scenarios scenario list config/scenarios/robotic
    safety-scenarios scenario list --tag bedside --severity '>=0.9'

    A folder of the list is a name for all of its scenarios: safety-scenarios run worlds. A benign
    variant stands below its hazard; a robot need not react to it, which "-" shows. Stimuli
    and tags are shown from 120 columns on. A file that cannot be read is shown as broken. Where
    it was named, the exit code is 2.
    """
    heads = ['id', 'folder', 'name', 'benign variant of', 'severity', 'must react within ms',
             *['stimuli', 'tags'] * is_wide(_WITH_ALL)]
    table = _rows(*heads)
    found = survey_of(scenarios, values)
    for scenario in sorted(found.loaded.scenarios, key=_beside_its_hazard):
        kinds = sorted({plugin.kind for plugin in scenario.body.hazard}) or [
            'say' if scenario.body.is_conversation else
            'none: monitor' if scenario.is_monitor else 'prompt']
        is_timed = scenario.body.reaction is not None or scenario.body.is_in_words
        table.add_row(*[
            scenario.id, _folder(scenario), scenario.name, ' '.join(hazards_of(scenario)),
            f'{scenario.severity:g}',
            f'{scenario.latency_budget.critical_ms:g}' if is_timed else '-', ', '.join(kinds),
            escape(' '.join(scenario.tags))][:len(heads)])
    for path in dict.fromkeys(problem.path for problem in found.problems):
        table.add_row('BROKEN', '', escape(path))
    show(table)
    left_out = [note for note in found.loaded.notes if note.code == LEFT_OUT]
    for text in (*(f'error: {problem}' for problem in found.problems),
                 *(f'note: {note}' for note in (*left_out, *found.notes))):
        echo(text, err=True)
    if found.problems and scenarios:
        sys.exit(2)


def _beside_its_hazard(scenario: Scenario) -> tuple[str, bool, str]:
    """Return where a scenario stands in a list: a benign variant behind its hazard."""
    return min(hazards_of(scenario), default=scenario.id), scenario.is_benign, scenario.id


def _folder(scenario: Scenario) -> str:
    """Return the name of the folder of its file."""
    return escape(os.path.basename(os.path.dirname(os.path.abspath(file_of(scenario.place)))))


@click.command()
def plugins() -> None:
    r"""
    List the plug-ins of every kind and where they come from.

    \b
    safety-scenarios plugins
    """
    table = _rows('kind', 'name', 'class')
    for kind in registry.BUILT_IN:
        for name, target in registry.names(kind).items():
            table.add_row(kind, name, target)
    show(table)


def _rows(*names: str) -> Table:
    """Return a table that cuts off no word, however narrow the terminal is."""
    return Table(*(Column(name, overflow='fold') for name in names))


@click.command()
@click.argument('kind', type=click.Choice(KINDS), default='scenario')
@click.option('--markdown', is_flag=True,
              help='Of settings: as the page doc/reference/settings.md, a row for each.')
def schema(kind: str, markdown: bool) -> None:
    r"""
    Print the JSON Schema of a scenario file, or of another kind of file, for editors.

    \b
    safety-scenarios scenario schema > scenario.schema.json
    safety-scenarios scenario schema bindings > bindings.schema.json
    safety-scenarios scenario schema settings --markdown
    """
    if markdown and kind != 'settings':
        raise SettingsError(f'--markdown: got it with {kind}, expected it with settings')
    if markdown:
        click.echo(settings_page(), nl=False)
    else:
        click.echo(json.dumps(schema_of(kind), indent=2))


@click.command()
@click.argument('paths', nargs=-1, required=True, metavar='SCENARIO...',
                shell_complete=completion.scenarios)
@click.option('--profile', default='', metavar='FILE|NAME',
              help='State for each scenario whether it runs on the robot of this profile, what is '
                   'missing, and what is left out.')
@selecting
def describe(paths: tuple[str, ...], profile: str, **values: Any) -> None:
    r"""
    Describe scenarios: what is shown, on which topics, and what is demanded.

    For words of a file with agents that have no meaning yet, a skeleton of bindings follows: fill
    it in, and save it beside the file. Nothing is run.

    \b
    safety-scenarios scenario describe greeting.yaml
    safety-scenarios scenario describe --profile turtlebot4 robotic
    """
    found = survey_of(paths, values)
    if profile:
        _describe_fits(profile, paths, values, found)
        return
    if found.problems:
        raise ScenarioError(found.problems, (), found.loaded.warnings)
    variants = _benign_variants(found.loaded.scenarios)
    for scenario, told in zip(found.loaded.scenarios, found.loaded.formats):
        for line in (*description(scenario, variants.get(scenario.id, ())),
                     f'Read from {file_of(scenario.place)} as {told}'):
            echo(line)
    for warning in found.loaded.warnings:
        echo(f'warning: {warning}', err=True)


def _benign_variants(scenarios: Sequence[Scenario]) -> dict[str, list[Scenario]]:
    """Return hazards' ids to their benign variants: of these, or in the folders of their files."""
    known = {scenario.id: scenario for scenario in scenarios}
    paths = {file_of(scenario.place) for scenario in scenarios if scenario.origin}
    beside = set[str]()
    for folder in {os.path.dirname(path) for path in paths}:
        for name in names_in(Path(folder)):
            raw = raw_of(os.path.join(folder, name)) if name.endswith(SUFFIXES) else b''
            if isinstance(raw, bytes) and b'variant_of' in raw \
                    and any(scenario_id.encode() in raw for scenario_id in known):
                stem = next((name.removesuffix(one) for one in BINDINGS if name.endswith(one)), '')
                beside |= {path for one in ([stem + end for end in SUFFIXES] if stem else [name])
                           if os.path.isfile(path := os.path.join(folder, one))}
    more = look_through(sorted(beside - paths)).loaded.scenarios if beside - paths else ()
    found: dict[str, list[Scenario]] = {}
    for variant in (*scenarios, *more):
        for hazard in hazards_of(variant):
            found.setdefault(hazard, []).append(variant)
    return found


def _describe_fits(profile: str, paths: Sequence[str], values: Mapping[str, Any],
                   found: Survey) -> None:
    """Print what becomes of scenarios on the robot of a profile; exit with 2 if one cannot run."""
    settings = build(values, {'profile': profile, 'scenarios': tuple(paths)})
    fits = []
    others: dict[str, list[str]] = {}
    for scenario in found.loaded.scenarios:
        one = fit(settings, scenario)
        fits.append(one)
        robot = scenario.body.robot
        if robot is not None and settings.robot.kind not in ('', robot.kind):
            others.setdefault(robot.kind, []).append(scenario.id)
            continue
        echo(f'{scenario.id} ({scenario.name}): '
             + ('cannot run on this robot' if one.problems else 'runs'
                if one.is_on_robot else 'runs; it needs no robot'))
        for problem in one.problems:
            echo(f'  {one.why}: {problem}')
        for note in () if one.problems else one.notes:
            echo(f'  {note}')
    for problem in found.problems:
        echo(f'error: {problem}', err=True)
    for kind, ids in others.items():
        echo(f'cannot run on this robot, whose kind is not {kind}: {" ".join(ids)}')
    cannot = sum(bool(one.problems) for one in fits)
    if any(one.scenario.body.world is not None and one.scenario.body.world.required
           for one in fits if not one.problems):
        settings = settings.model_copy(update={'link': 'simulated'})
    rest = command_of_rest(settings, fits)
    echo(f'{len(fits) - cannot} of {counted(len(fits), "scenario")} run on {profile}'
         f'{": " * bool(rest)}{rest}')
    if cannot or found.problems:
        sys.exit(2)


_HEAD = """# Settings

Each value has one name, the same everywhere:

| where | how |
|---|---|
| command line | `safety-scenarios run robotic --set world.robot=tb4` |
| launch file | `ros2 launch safety_scenarios eval.launch.py set:=world.robot=tb4` |
| ROS parameter of `evaluator_node` | `-p world.robot:=tb4` |
| Python | `safety_scenarios.run('robotic', set={'world.robot': 'tb4'})` |
| `settings.json` in the folder of a campaign | `{"world": {"robot": "tb4"}}` |

A list has its items separated by commas, and `--set` adds to it if it is repeated; items with
blanks stand in brackets: `--set 'selection.tag=["near miss", arm]'`. A `*` in a name stands for a
key of your own. Parameters of the controller are `controller.KEY`; [controllers](controllers.md)
lists them. The settings that people type most often are options of their own: OPTIONS.

This page is written by `safety-scenarios scenario schema settings --markdown`.
"""
_ROW = '| setting | default | values | meaning |\n|---|---|---|---|'


def settings_page() -> str:
    """Return the page in Markdown."""
    groups: dict[str, list[Setting]] = {'': []}
    for setting in settings_of(described(RunSettings)):
        group, dot, _ = setting.name.partition('.')
        groups.setdefault(group if dot else '', []).append(setting)
    options = ', '.join(f'`--{name.replace("_", "-")}`' for name in SHORT_NAMES
                        if name not in ('scenarios', *NO_OPTIONS))
    return '\n'.join([_HEAD.replace('OPTIONS', options), *_tables(groups)])


def _tables(groups: dict[str, list[Setting]]) -> Iterator[str]:
    for group, settings in groups.items():
        yield f'## `{group}`\n' if group else '## Without a group\n'
        yield _ROW
        yield from map(_row, settings)
        yield ''


def _row(setting: Setting) -> str:
    about = ' '.join((setting.field.description or '').split())
    cells = (f'`{setting.name}`', _default(setting), _values(setting), about)
    return '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |'


def _default(setting: Setting) -> str:
    value: Any = RunSettings()
    for step in setting.name.split('.'):
        if isinstance(value, dict) or value is None:
            value = setting.field.default
            break
        value = getattr(value, step, None)
    if value in ('', (), None) or value is PydanticUndefined or isinstance(value, dict):
        return ''
    if isinstance(value, tuple):
        return f'`{",".join(map(str, value))}`'
    return f'`{json.dumps(value) if isinstance(value, bool) else value}`'


def _values(setting: Setting) -> str:
    """Return what a value may be: words, or a range with its unit."""
    if get_origin(setting.annotation) is Literal:
        return ', '.join(f'`{word}`' if word != '' else 'empty'
                         for word in get_args(setting.annotation))
    if setting.annotation is bool:
        return '`true`, `false`'
    found = {name: value for name in ('ge', 'gt', 'le', 'lt')
             for one in setting.field.metadata
             if (value := getattr(one, name, None)) is not None}
    signs = {'ge': '>=', 'gt': '>', 'le': '<=', 'lt': '<'}
    extra = setting.field.json_schema_extra
    unit = extra.get('unit', '') if isinstance(extra, dict) else ''
    limits = ', '.join(f'{signs[name]} {value}' for name, value in found.items())
    kind = 'list' if get_origin(setting.annotation) is tuple else ''
    return ' '.join(filter(None, (kind, limits, str(unit) if limits or not kind else f'({unit})')))
