# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Files that a command writes for other programs. An old one is removed before it begins."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
import os
from pathlib import Path

from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.cli.completion import OutputPath
from safety_scenarios.errors import SettingsError, TraceError


class ResultFile(OutputPath):
    """
    A file to write; an old one would be taken for the result of a command that fails.

    :param beginning: of all that the command writes: another file is left as it is
    """

    def __init__(self, beginning: str) -> None:
        super().__init__(dir_okay=False)
        self._beginning = beginning

    def withdraw(self, value: str, words: Sequence[str]) -> None:
        """
        Remove an old result.

        :raises SettingsError: the command is to read the file too
        """
        ends = [word.rpartition('=')[2] for word in words]
        if os.path.isfile(value) and [*map(os.path.realpath, ends)].count(
                os.path.realpath(value)) > 1:
            raise SettingsError(f'got {value} to read and to write, expected two files. Name '
                                f'another one to write')
        _remove(Path(value), self._beginning)


class ResultFolder(OutputPath):
    """
    A folder to write files of formats into.

    :param files: format to how its files begin, and their names, in which the names of several
        campaigns are
    :param default: format, where none is named
    """

    def __init__(self, files: Mapping[str, tuple[str, Sequence[str]]], default: str) -> None:
        super().__init__()
        self._files, self._default = files, default

    def withdraw(self, value: str, words: Sequence[str]) -> None:
        """Remove old results in the formats, and of the tables, that are named."""
        ends = [word.rpartition('=')[2] for word in words]
        options = {word.partition('=')[0] for word in words}
        formats = [one for one in ends if one in self._files] \
            if {'--format', '--for'} & options else [self._default]
        for beginning, names in (self._files[how] for how in formats):
            for stem, _, ending in (name.partition('.') for name in names):
                if ending != 'csv' or '--table' not in options or stem in ends:
                    for middle in ('', *(f'{Path(word).name}.' for word in ends)):
                        _remove(Path(value) / f'{stem}.{middle}{ending}', beginning)


def _remove(path: Path, beginning: str) -> None:
    """Remove a file that begins so; a link stays, and leads to the new file."""
    with suppress(OSError, ValueError):
        path = path.resolve()
        if path.is_file():
            with path.open('rb') as file:
                is_ours = file.read(len(beginning.encode())) == beginning.encode()
            if is_ours:
                path.unlink()


def write_result(option: str, path: Path, text: str) -> None:
    """
    Write a file as a whole.

    :param option: that named it
    :raises SettingsError: it cannot be written
    """
    try:
        is_replaced = path.is_file() or not path.exists()  # no pipe, such as /dev/fd/63
        write_whole(path.resolve() if is_replaced else path, text.removesuffix('\n'))
    except TraceError as error:
        raise SettingsError(f'{option}: {str(error).partition(". ")[0]}. Name another '
                            f'file') from None
