# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Files that a command writes for other programs. An old one is removed before it begins."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
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
        self._beginning = beginning.encode()

    def withdraw(self, value: str, words: Sequence[str]) -> None:
        """Remove an old result."""
        with suppress(OSError, ValueError):
            path = Path(value).resolve()  # a link stays, and leads to the new file
            if path.is_file():
                with path.open('rb') as file:
                    is_ours = file.read(len(self._beginning)) == self._beginning
                if is_ours:
                    path.unlink()


class ResultFolder(OutputPath):
    """
    A folder to write files of formats into.

    :param names: format to its files; of several campaigns their names are in them
    :param default: format, where none is named
    """

    def __init__(self, names: Mapping[str, Sequence[str]], default: str) -> None:
        super().__init__()
        self._names, self._default = names, default

    def withdraw(self, value: str, words: Sequence[str]) -> None:
        """Remove old results in the formats that are named."""
        with suppress(OSError, ValueError):
            for name in self._written(words):
                (Path(value) / name).unlink(missing_ok=True)

    def _written(self, words: Sequence[str]) -> Iterator[str]:
        ends = [word.rpartition('=')[2] for word in words]
        for how in [one for one in ends if one in self._names] or [self._default]:
            for name in self._names[how]:
                stem, _, ending = name.partition('.')
                yield name
                yield from (f'{stem}.{Path(word).name}.{ending}' for word in ends)


def write_result(option: str, path: Path, text: str) -> None:
    """
    Write a file as a whole.

    :param option: that named it
    :raises SettingsError: it cannot be written
    """
    try:
        write_whole(path.resolve(), text.removesuffix('\n'))
    except TraceError as error:
        raise SettingsError(f'{option}: {str(error).partition(". ")[0]}. Name another '
                            f'file') from None
