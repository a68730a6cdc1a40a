# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Command-line options from a settings model, and those by which scenarios are selected."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, get_origin, Literal

import click
from click.core import ParameterSource
from pydantic import ValidationError
from pydantic.fields import FieldInfo
from safety_scenarios.errors import refused, SettingsError
from safety_scenarios.formats.loading import look_through, Survey
from safety_scenarios.formats.profile_file import with_profile
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.settings import leaves, option_name, RunSettings
from safety_scenarios.trial.parameters import WHERE

Command = Callable[..., Any]
_ARGUMENTS = 'safety_scenarios.controller_arguments'


def options(model: type[Noun], leave_out: tuple[str, ...] = (),
            only: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """
    Return a decorator that adds one option for each setting of ``model``.

    :param leave_out: settings without an option
    :param only: instead, the only settings with one
    """
    def decorate(command: Command) -> Command:
        for path, field in reversed(list(leaves(model))):
            if path[0] in only if only else path[0] not in leave_out:
                command = _option(option_name(path), field)(command)
        return command
    return decorate


def controller_parameters() -> Callable[[Command], Command]:
    """
    Return a decorator that adds ``--set controller.KEY=VALUE``, which may be repeated.

    ``--controller-arg KEY=VALUE`` is the same.
    """
    def decorate(command: Command) -> Command:
        command = click.option(
            '--controller-arg', 'controller_arguments', multiple=True, metavar='KEY=VALUE',
            expose_value=False, is_eager=True, callback=_kept,
            help='The same as --set controller.KEY=VALUE, such as checkpoint=runs/best.pt.')(
                command)
        return click.option(
            '--set', 'controller_parameters', multiple=True, metavar='controller.KEY=VALUE',
            callback=_of_controller,
            help='A parameter of the controller; repeat it for several. doc/controllers.md lists '
                 'those of the built-in ones.')(command)
    return decorate


def _kept(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> None:
    for text in texts:
        if text.startswith(WHERE):
            raise SettingsError(f'--controller-arg {text.partition("=")[0]}: got the prefix '
                                f'{WHERE}, expected KEY=VALUE. Leave it out, or use --set')
    context.meta[_ARGUMENTS] = texts


def _of_controller(context: click.Context, option: click.Parameter,
                   texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return what both options set; the other one is eager, so that it was read before."""
    for text in texts:
        if not text.startswith(WHERE):
            raise SettingsError(f'--set {text.partition("=")[0]}: got no parameter of the '
                                f'controller, expected --set {WHERE}KEY=VALUE, such as --set '
                                f'{WHERE}stop_distance_m=1.0')
    return (*(text.removeprefix(WHERE) for text in texts), *context.meta.get(_ARGUMENTS, ()))


def build(model: type[Noun], values: Mapping[str, Any]) -> Any:
    """
    Return a settings model from the values of its options.

    :raises SettingsError: names the option
    """
    nested: dict[str, Any] = {}
    for path, field in leaves(model):
        option = option_name(path)
        if option not in values or _is_default(option, values[option], field):
            continue
        target = nested
        for step in path[:-1]:
            target = target.setdefault(step, {})
        target[path[-1]] = values[option]
    nested = with_profile(nested)
    try:
        return model.model_validate(nested)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = option_name(tuple(step for step in first['loc'] if isinstance(step, str))) \
            if first['loc'] else ''
        place = f'--{name.replace("_", "-")}' if name in values else 'options'
        raise SettingsError(refused(place, first)) from None


def _is_default(option: str, value: Any, field: FieldInfo) -> bool:
    """Return whether nobody has given an option, so that a profile may set it."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(option) is \
        ParameterSource.DEFAULT and value == field.get_default(call_default_factory=True)


def _option(name: str, field: FieldInfo) -> Callable[[Command], Command]:
    flag = '--' + name.replace('_', '-')
    help_text = ' '.join((field.description or '').split())
    if field.annotation is bool:
        if field.default:  # what is on is switched off
            flag += f'/--no-{flag[2:]}'
        return click.option(flag, is_flag=True, default=field.default, help=help_text)
    shown = field.default not in ('', ())
    repeated = get_origin(field.annotation) is tuple
    return click.option(flag, type=_type(field), default=field.default, help=help_text,
                        show_default=shown, multiple=repeated)


def _type(field: FieldInfo) -> Any:
    annotation = field.annotation
    if get_origin(annotation) is Literal:
        return click.Choice(get_args(annotation))
    low, high = _bound(field, 'ge', 'gt'), _bound(field, 'le', 'lt')
    exclusive = any(getattr(constraint, 'gt', None) is not None for constraint in field.metadata)
    if annotation is int:
        return click.IntRange(low, high)
    if annotation is float:
        return click.FloatRange(low, high, min_open=exclusive)
    return str


def _bound(field: FieldInfo, *names: str) -> Any:
    return next((value for constraint in field.metadata for name in names
                 if (value := getattr(constraint, name, None)) is not None), None)


SELECTING = 'selection', 'regex'
"""Settings that say which scenarios are meant, and what their patterns may be."""
selecting: Callable[[Callable[..., Any]], Callable[..., Any]] = options(
    RunSettings, only=SELECTING)
"""Adds ``--tag``, ``--domain``, ``--severity`` and ``--regex`` to a command."""


def settings_of(values: Mapping[str, Any]) -> RunSettings:
    """Return what the options of ``selecting`` say; the message of a wrong value names it."""
    found: RunSettings = build(RunSettings, values)
    return found


def survey_of(targets: Sequence[str], values: Mapping[str, Any]) -> Survey:
    """
    Return what can be read of the scenarios that are meant, and every problem of the files.

    :raises SettingsError: there are scenarios, and none is selected
    """
    settings = settings_of(values)
    survey = look_through(targets, settings.regex)
    if not settings.selection or not survey.loaded.scenarios:
        return survey
    return survey.only(settings.selection.of(survey.loaded.scenarios))
