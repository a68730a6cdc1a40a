# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Options for the settings that people type most often, and ``--set NAME=VALUE`` for all.

Text becomes a value in ``scenario/fields.py``, whichever of the two it was given by.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
import math
from pathlib import Path
from typing import Any, get_args, get_origin, Literal

import click
from click.shell_completion import CompletionItem
from pydantic import ValidationError
from safety_scenarios.cli import completion
from safety_scenarios.errors import refused, SettingsError
from safety_scenarios.formats.loading import look_through, Survey
from safety_scenarios.formats.profile_file import merged, with_profile
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.fields import (
    from_text,
    kind_of_group,
    nested,
    read_assignments,
    setting_at,
    SHORT_NAMES,
)
from safety_scenarios.scenario.fields import settings_of as every_setting
from safety_scenarios.scenario.settings import RunSettings

Function = Callable[..., Any]
SET = 'assignments'
"""Parameter of a command with what ``--set`` was given."""
OTHER = 'Everything else'
"""Section of the help for what belongs to no other."""
_SHOWN = 'safety_scenarios.console'

_REACH = ('namespace', 'remap', 'use_sim_time', 'domain_id', 'connect_timeout_s', 'hosts')
USED: Mapping[str, Sequence[str]] = {
    'preflight': (
        *_REACH, 'selection', 'regex', 'controller', 'controller_parameters', 'server', 'link',
        'world', 'are', 'profile', 'robot', 'topics', 'absent', 'reference', 'driver', 'frames',
        'real_time_factor', 'command_type', 'period_ms', 'hil', 'qos_overrides', 'merge',
        'static_transforms', 'node_name', 'clock', 'schedule_clock'),
    'selftest calibrate': (*_REACH, 'realtime'),
    'selftest judge': ('judge',)}
"""Settings and groups that a command uses, of those that do not use all."""

SECTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    'Scenarios': {
        'tag': ('TAG', 'Only scenarios with this tag; any of several.'),
        'domain': ('NAME', 'Only scenarios of this domain; any of several.'),
        'severity': ('RANGE', "Only scenarios of this severity, such as '>=0.7' or 0.2..0.5.")},
    'Controller': {
        'controller': ('NAME', 'Plug-in, MODULE:NAME of your own class, or external for one that '
                               'runs already.'),
        'model': ('NAME', 'Language model that the controller llm asks.')},
    'Robot and world': {
        'profile': ('FILE|NAME', 'Profile of the robot, such as turtlebot4 '
                                 '(doc/reference/profile.md).'),
        'link': ('LINK', 'ros: over DDS; loopback: in simulated time, without ROS; simulated: '
                         'with a robot that moves.'),
        'world': ('', 'Simulator that answers; external: one that runs already, such as Gazebo.'),
        'namespace': ('NAME', "ROS namespace of the harness' topics."),
        'remap': ('FROM:=TO', 'ROS remapping rule, such as cmd_vel:=/robot1/cmd_vel.'),
        'domain_id': ('N', 'ROS domain; -1: a free one, or ROS_DOMAIN_ID for an external '
                           'controller.')},
    'Trials': {
        'trials': ('N', 'Trials of each scenario.'),
        'seed': ('N', 'The same seed repeats the same trials; -1: a fresh one, which is printed.'),
        'gate': ('', 'Worst latency class that still passes.'),
        'words': ('', 'Whether patterns decide about words, or a judge must.'),
        'jobs': ('N', 'Trials at a time, each in a process of its own.'),
        'shard': ('I/N', 'Only this part of the trials, such as 3/8; see campaign merge.'),
        'calibration': ('', 'Measure the latency of the harness itself first.')},
    'Results': {
        'output': ('DIR', 'New folder for the results; runs/<UTC time> if left out.'),
        'record': ('NAME', 'Also record each trial: mcap, for Foxglove and rosbag2; rrd, for '
                           'Rerun.'),
        'junit': ('FILE', 'JUnit XML file to write for CI.')}}
"""Options by section of the help: short name to what stands for the value, and the help."""
_ALSO = {'regex': ('', 'python: allow patterns that RE2 refuses, such as look-ahead.'),
         'judge_model': ('NAME', 'Name of the judge at its server.'),
         'judge_base_url': ('URL', "URL of the judge's server; the client's own default if left "
                                   'out.')}
"""Options of other commands than run."""
_DOTTED = {**SHORT_NAMES, 'judge_base_url': 'judge.base_url'}
_CONSOLE = {
    ('--verbose', '-v'): 'Print every trial and every note.',
    ('--quiet', '-q'): 'Print the verdict alone.',
    ('--json',): 'Print the summary as JSON on standard output.'}


class Option(click.Option):
    """An option that stands in a section of the help."""

    def __init__(self, *names: Any, section: str = '', **more: Any) -> None:
        super().__init__(*names, **more)
        self.section = section


class InSections(click.Command):
    """A command whose help lists the options in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each title, in the order in which the options come."""
        found: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if isinstance(option, click.Option) and record is not None:
                found.setdefault(getattr(option, 'section', '') or OTHER, []).append(record)
        for title, rows in found.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def assignments(context: click.Context, option: click.Parameter,
                begun: str) -> list[CompletionItem]:
    """Return the names of settings, each with the sign that its value follows."""
    return [CompletionItem(f'{name}=') for name in sorted(
                setting.name for setting in every_setting(RunSettings))
            if name.startswith(begun)]


def section_options(*titles: str, leave_out: Sequence[str] = (),
                    repeated: Sequence[str] = ()) -> Callable[[Function], Function]:
    """
    Return a decorator that adds the options of some sections.

    :param repeated: options that may be given several times, although their setting is one value
    """
    def decorate(command: Function) -> Function:
        for title in reversed(titles):
            for name, (shown, about) in reversed(list(SECTIONS[title].items())):
                if name not in leave_out:
                    command = _option(name, shown, about, title, name in repeated)(command)
        return command
    return decorate


def setting_options(*names: str, shows_default: bool = True) -> Callable[[Function], Function]:
    """
    Return a decorator that adds the options of some settings, by their short names.

    :param shows_default: false where something else decides when the option is left out
    """
    known = {name: (*texts, title) for title, rows in SECTIONS.items()
             for name, texts in rows.items()} | {
        name: (*texts, '') for name, texts in _ALSO.items()}

    def decorate(command: Function) -> Function:
        for name in reversed(names):
            command = _option(name, *known[name], shows_default=shows_default)(command)
        return command
    return decorate


def set_option(example: str) -> Callable[[Function], Function]:
    """Return a decorator that adds ``--set NAME=VALUE``."""
    return click.option(
        '--set', SET, multiple=True, metavar='NAME=VALUE', shell_complete=assignments,
        help=f'Any other setting of doc/reference/settings.md, such as {example}; repeat it for '
             'several.')


def console_options() -> Callable[[Function], Function]:
    """Return a decorator that adds ``-v``, ``-q`` and ``--json``, of which one may be given."""
    def decorate(command: Function) -> Function:
        for names, about in reversed(_CONSOLE.items()):
            command = click.option(*names, is_flag=True, expose_value=False, callback=_chosen,
                                   help=about, cls=Option, section='Console')(command)
        return command
    return decorate


def _chosen(context: click.Context, option: click.Parameter, is_given: bool) -> None:
    """Keep which flag was given; two of them contradict each other."""
    if not is_given:
        return
    name = str(option.name)
    other = context.meta.setdefault(_SHOWN, name)
    if other != name:
        raise SettingsError(f'--{name}: got it with --{other}, expected one of them')


def console_chosen(context: click.Context) -> Mapping[str, str]:
    """Return the setting console by the flag that was given, if one was."""
    return {'console': context.meta[_SHOWN]} if _SHOWN in context.meta else {}


def _option(name: str, shown: str, about: str, section: str,
            is_repeated: bool = False, *,
            shows_default: bool = True) -> Callable[[Function], Function]:
    setting = setting_at(RunSettings, _DOTTED.get(name, name))
    is_list = get_origin(setting.annotation) is tuple
    words = get_args(setting.annotation) if get_origin(setting.annotation) is Literal else ()
    default = setting.field.default
    if shows_default and not is_list and default not in ('', None):
        about += f' [{default}]'
    return click.option(
        _flag(name), name, cls=Option, section=section, multiple=is_list or is_repeated,
        type=completion.OutputPath(is_text=True) if name == 'output' else None,
        help=about + (' Repeat it to compare several.' if is_repeated else ''),
        metavar=shown or '|'.join(map(str, words)),
        shell_complete=completion.completer(name, words))


def _flag(name: str) -> str:
    return '--' + name.replace('_', '-')


def build(values: Mapping[str, Any], fixed: Mapping[str, Any] = {},
          command: str = 'run') -> RunSettings:
    """
    Return the settings from the options of a command; what was not given is left out.

    :param values: short name to text, or to texts of a list; ``SET`` to what --set was given
    :param fixed: what the command itself sets, by dotted name
    :param command: its words; a setting that it does not use is refused
    :raises SettingsError: names the option
    """
    return _validated(with_profile(given_in(values, fixed, command)), {
        _DOTTED.get(name, name): name for name in values if name != SET})


def refuse_idle_model(values: Mapping[str, Any], settings: RunSettings) -> None:
    """
    Refuse ``--model`` where the reference would be judged instead of that model.

    :raises SettingsError: it does
    """
    if values['model'] is None or settings.controller != RunSettings().controller:
        return
    for scenario in look_through(settings.scenarios, settings.regex).loaded.scenarios:
        if isinstance(scenario.body, AgentsBody) and any(
                agent.driver == 'model' for agent in scenario.body.agents):
            return  # such an agent asks the model that is named for the controller
    raise SettingsError(f'--model: got {values["model"]!r} with the controller '
                        f'{settings.controller}, which asks no model, expected another '
                        f'controller. Add --controller llm')


def given_in(values: Mapping[str, Any], fixed: Mapping[str, Any] = {},
             command: str = 'run') -> dict[str, Any]:
    """
    Return what the options of a command set, nested as the settings are, and nothing else.

    :raises SettingsError: names the option
    """
    given = {_DOTTED.get(name, name): (name, value) for name, value in values.items()
             if name != SET and value is not None and value != ()}
    for name, value in given.values():
        if value == '' and name != 'namespace':  # a variable of a shell that is not set
            raise SettingsError(f'{_flag(name)}: got an empty text, expected a value. Give one, '
                                f'or leave the option out')
    flat = {dotted: tuple(value) if isinstance(value, (tuple, list)) else from_text(
        replace(setting_at(RunSettings, dotted), name=_flag(name)), value)
        for dotted, (name, value) in given.items()}
    data = nested({**flat, **fixed})
    texts = values.get(SET, ())
    for name in _set_names(texts):
        if name in given:
            flag = _flag(given[name][0])
            raise SettingsError(f'--set {name}: got it with {flag}, expected one of them')
        setting_at(RunSettings, name, '--set ')
        if command in USED and name.split('.')[0] not in USED[command]:
            raise SettingsError(f'--set {name}: got a setting that {command} does not use, '
                                f'expected one of {", ".join(sorted(USED[command]))}')
    return merged(data, read_assignments(RunSettings, texts))


def _set_names(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        name = text.partition('=')[0].strip()
        yield 'controller_parameters' if name.startswith('controller.') \
            else kind_of_group(RunSettings, name)


def _validated(data: Mapping[str, Any], options: Mapping[str, str]) -> RunSettings:
    try:
        return RunSettings.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = '.'.join(str(step) for step in first['loc'] if isinstance(step, str))
        place = _flag(options[name]) if name in options else f'--set {name}' if name else 'options'
        is_file = name == 'gate' and Path(str(first['input'])).suffix
        raise SettingsError(refused(place, first) + (
            ' A file of limits is for compare --gate' if is_file else '')) from None


SELECTING = 'tag', 'domain', 'severity', 'regex'
"""Options that say which scenarios are meant, and what their patterns may be."""
selecting: Callable[[Function], Function] = setting_options(*SELECTING)
"""Adds ``--tag``, ``--domain``, ``--severity`` and ``--regex`` to a command."""


def survey_of(targets: Sequence[str], values: Mapping[str, Any]) -> Survey:
    """
    Return what can be read of the scenarios that are meant, and every problem of the files.

    :raises SettingsError: there are scenarios, and none is selected
    """
    settings = build(values)
    survey = look_through(targets, settings.regex)
    if not settings.selection or not survey.loaded.scenarios:
        return survey
    return survey.only(settings.selection.of(survey.loaded.scenarios))


class Finite(click.FloatRange):
    """A range of numbers; NaN is in none, though no comparison with it says so."""

    name = 'number'

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or fail with what is wrong with it."""
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f'got {value!r}, expected a finite number', param, ctx)
        return found
