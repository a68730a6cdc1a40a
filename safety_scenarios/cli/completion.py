# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a shell may complete: scenarios, profiles, controllers, campaigns and names of settings.

A file that cannot be read completes nothing; it is no error here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
import os
from pathlib import Path
import re
from typing import Any

import click
from click.shell_completion import CompletionItem
from safety_scenarios import registry
from safety_scenarios.errors import path_on_one_line, SettingsError
from safety_scenarios.formats.loading import installed_folders

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_ID = re.compile(r'^id:\s*["\']?([\w.-]+)', re.MULTILINE)
_HEAD = 4000
"""Characters of a file in which its id stands."""
_CAMPAIGN, _PAGE = ('settings.json', 'trials.jsonl'), 'report.html'
"""Files of every campaign, and what may be written there again."""
_DEEPEST = 2
"""Levels below the current folder in which campaigns are looked for."""


def completer(name: str, words: Sequence[object]) -> Complete | None:
    """
    Return what completes an option, None where nothing does.

    :param name: the short name of its setting
    :param words: all values that it may have, if they are few
    """
    if words:
        return _one_of(lambda: map(str, words))
    return {'controller': controllers, 'link': _one_of(lambda: registry.names('links')),
            'record': _one_of(lambda: registry.names('traces')), 'output': _folders,
            'junit': _files, 'profile': profiles}.get(name)


def _one_of(known: Callable[[], Iterable[str]]) -> Complete:
    def complete(context: click.Context, option: click.Parameter,
                 begun: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in known() if name.startswith(begun)]
    return complete


def _folders(context: click.Context, option: click.Parameter, begun: str) -> list[CompletionItem]:
    return [CompletionItem(begun, type='dir')]


def _files(context: click.Context, option: click.Parameter, begun: str) -> list[CompletionItem]:
    return [CompletionItem(begun, type='file')]


def _matching_names(known: Iterable[str], begun: str) -> list[CompletionItem]:
    """Return the names that begin so; where none does, it is the name of a file."""
    found = sorted({name for name in known if name.startswith(begun)})
    return [CompletionItem(name) for name in found] or [CompletionItem(begun, type='file')]


def controllers(context: click.Context, option: click.Parameter,
                begun: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in sorted([*registry.names('controllers'), 'external'])
            if name.startswith(begun)]


def scenarios(context: click.Context, option: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return installed folders and ids; files, if none begins so."""
    return _matching_names(_installed(), begun)


def _installed() -> Iterator[str]:
    for folder in installed_folders():
        yield from (path.name for path in folder.iterdir() if path.is_dir())
        for path in folder.rglob('*.yaml'):
            try:
                found = _ID.search(path.read_text(encoding='utf-8')[:_HEAD])
            except (OSError, UnicodeError):
                continue
            if found:
                yield found[1]


def profiles(context: click.Context, option: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the installed profiles; files, if none begins so."""
    return _matching_names((path.stem for folder in installed_folders()
                            for path in (folder.parent / 'profiles').glob('*.yaml')), begun)


class CampaignFolder(click.Path):
    """The folder of a campaign; a shell completes those below the current one."""

    def __init__(self, *, file_okay: bool = False) -> None:
        super().__init__(exists=True, file_okay=file_okay, path_type=Path)

    def shell_complete(self, ctx: click.Context, param: click.Parameter,
                       incomplete: str) -> list[CompletionItem]:
        """Return the folders of campaigns that begin so; any folder, if none does."""
        found = [name for name in _campaigns(Path(), _DEEPEST) if name.startswith(incomplete)]
        return [CompletionItem(name) for name in sorted(found)] \
            or super().shell_complete(ctx, param, incomplete)


class OutputPath(click.Path):
    """
    A file or folder to write: it has a name, which a line can show, and is in no campaign.

    :param is_text: give it to the command as text
    """

    def __init__(self, *, dir_okay: bool = True, is_text: bool = False) -> None:
        super().__init__(dir_okay=dir_okay, path_type=str if is_text else Path)

    def convert(self, value: Any, param: click.Parameter | None,
                ctx: click.Context | None) -> Any:
        """
        Return the path.

        :raises SettingsError: it is empty, holds control characters, or is in a campaign's folder
        """
        name, text = param.opts[-1] if param else 'path', os.fspath(value)
        if not text.strip():
            raise SettingsError(f'{name}: got an empty text, expected a path. Name one, or leave '
                                f'the option out')
        try:
            path_on_one_line(text)
        except ValueError as error:
            raise SettingsError(f'{name}: {error}') from None
        path = Path(os.path.realpath(text))
        for folder in path.parents:
            if all((folder / one).is_file() for one in _CAMPAIGN) and path != folder / _PAGE:
                raise SettingsError(f"{name}: got {text}, which is in the campaign's own folder "
                                    f'{folder}, expected a place beside it: its manifest holds '
                                    f'every file of it')
        return super().convert(value, param, ctx)


def _campaigns(folder: Path, levels: int) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            below = [Path(entry.path) for entry in entries
                     if entry.is_dir() and not entry.name.startswith('.')]
    except OSError:
        return
    for one in below:
        if (one / 'settings.json').is_file():
            yield str(one)
        elif levels > 1:
            yield from _campaigns(one, levels - 1)
