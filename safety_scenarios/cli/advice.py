# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is meant by a command, an option or a word that there is not; imported after a mistake."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
import re

import click
from safety_scenarios import registry
from safety_scenarios.cli.options import USED
from safety_scenarios.controllers.policies.policy import PolicyController
from safety_scenarios.errors import did_you_mean, InputError, SettingsError
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.fields import names_of
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.parameters import known_parameters

_PROGRAM = 'safety-scenarios'
_ASSIGNED = re.compile(r'(--)?([A-Za-z_][\w.-]*):?=(.*)', re.DOTALL)


def unknown_command(name: str, path: str, known: Sequence[str]) -> str:
    """
    Return the message about a command that there is not.

    :param path: the words before it
    :param known: every command by its words, in the order in which help lists them
    """
    group = path.removeprefix(_PROGRAM).strip()
    verbs = [words for words in known if words.split()[-1] == name]
    here = [words.removeprefix(group).split()[0] for words in known
            if words.startswith(f'{group} ')] if group else \
        list(dict.fromkeys(words.split()[0] for words in known))
    said = _word(did_you_mean(name, here))
    if verbs:
        meant = ' or '.join(f"'{_PROGRAM} {words}'" for words in verbs)
    elif said:
        meant = f"'{path} {said}'"
    else:
        last = _word(did_you_mean(name, {words.split()[-1] for words in known}))
        meant = ' or '.join(f"'{_PROGRAM} {words}'" for words in known
                            if words.split()[-1] == last)
    advice = f'Did you mean {meant}?' if meant else f'{path} --help lists the commands.'
    return f'No such command {name!r} below {path}. {advice}' if group else \
        f'No such command {name!r}. {advice}'


def unknown_option(error: click.NoSuchOption, others: Iterable[tuple[str, click.Command]]) -> str:
    """
    Return the message about an option that there is not.

    :param others: every command that can be imported here, by its words
    """
    context = error.ctx
    name = error.option_name
    assert context is not None
    if len(name) == 2 and name[1] != '-':
        return f'No such option {name!r}. {_one_dash(context)}'
    said, own = f'No such option {name!r}.', _options(context.command)
    words = context.command_path.removeprefix(_PROGRAM).strip()
    known = [one for one in names_of(RunSettings)
             if words not in USED or one.split('.')[0] in USED[words]] if '--set' in own else []
    setting = _setting(name, known)
    if setting:
        return f'{said} It is a setting: use --set {setting}=VALUE'
    if '--set' in own and (parameter := _parameter(name)):
        return f'{said} It is a parameter of a controller: use --set {parameter}=VALUE'
    elsewhere = [repr(words) for words, one in others if name in _options(one)]
    if elsewhere:
        return f'{said} It is an option of {" and ".join(elsewhere)}'
    near = did_you_mean(name, own)
    if near:
        return f'{said}{near}'
    dotted = did_you_mean(name.lstrip('-').replace('-', '_'), known)
    if dotted:
        return f'{said} Did you mean --set {_word(dotted)}=VALUE?'
    return f'{said} {context.command_path} --help lists the options' + (
        ', and doc/reference/settings.md all settings' if known else '')


def _word(advice: str) -> str:
    """Return the name in what ``did_you_mean`` says."""
    return advice.rstrip('?').removeprefix(' Did you mean ').strip("'")


def _parameter(option: str) -> str:
    """Return the parameter of a built-in controller or a policy that an option has the name of."""
    plain = _plain(option)
    for model in _controllers():
        found = [one for one in known_parameters(model) if _plain(one) == plain]
        if found:
            return f'controller.{found[0]}'
    return ''


def _controllers() -> Iterator[type[ControllerPlugin]]:
    for name in registry.BUILT_IN['controllers']:
        with suppress(InputError):  # its package is not installed
            yield registry.resolve('controllers', name)
    yield PolicyController


def _one_dash(context: click.Context) -> str:
    return 'Options of more than one letter have two dashes: ' \
           f'{context.command_path} --help lists them'


def _options(command: click.Command) -> list[str]:
    return [text for option in command.params if isinstance(option, click.Option)
            for text in (*option.opts, *option.secondary_opts) if text.startswith('--')]


def _setting(option: str, names: Sequence[str]) -> str:
    """Return the setting that an option has the name of, whatever its dots are; else nothing."""
    plain = _plain(option)
    whole = [name for name in names if _plain(name) == plain]
    last = [name for name in names if _plain(name.rpartition('.')[2]) == plain]
    return whole[0] if whole else last[0] if len(last) == 1 else ''


def _plain(name: str) -> str:
    return re.sub(r'[^a-z0-9*]', '', name.lower())


def refuse_mix_ups(targets: Sequence[str], assigned: Sequence[str]) -> None:
    """
    Refuse a setting given as if it were a scenario, and a controller's parameter as if a setting.

    :param assigned: texts of ``--set``
    :raises SettingsError: says how it is given
    """
    for text in assigned:
        name, _, value = text.partition('=')
        if '.' not in name and not _setting(name, names_of(RunSettings)) \
                and (parameter := _parameter(name)):
            raise SettingsError(f'--set {name}: got a parameter of a controller, expected '
                                f'--set {parameter}={value}')
    for text in targets:
        found = _ASSIGNED.fullmatch(text)
        setting = _setting(found[2], names_of(RunSettings)) if found else ''
        if found and (setting or found[2].startswith('controller.')):
            raise SettingsError(f'{text}: got a setting in the place of a scenario, expected '
                                f'--set {setting or found[2]}={found[3]}')
