# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""In which git repositories the files stand that a result depends on, and in which state."""

from collections.abc import Iterable, Iterator
import os
from pathlib import Path
import subprocess
from typing import Any

_GIT_S = 5.0
"""A git that hangs, as on a network drive, must not hold up a campaign."""
_MOST_NAMES = 1000
"""Of more files git is asked for all that it has: it compares each name with each of those, and a
command can only be so long."""


class Repositories:
    """
    The repositories that files belong to; git is asked once for all files of one.

    A file that its repository ignores, as one that is installed in ``.venv``, belongs to none.

    :param files: all that will be asked about
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._names: dict[Path, list[str]] = {}
        self._added: dict[Path, set[str]] = {}
        self._states: dict[Path, dict[str, Any]] = {}
        for nearest, name in _placed(files):
            self._names.setdefault(nearest, []).append(name)

    def of(self, files: Iterable[Path], *, not_added: bool = True) -> list[dict[str, Any]]:
        """
        Return root, commit and state of each repository that one of some files belongs to.

        :param not_added: whether a file belongs to a repository that it is not added to yet; it
            counts as a change there
        """
        names: dict[Path, list[str]] = {}
        for nearest, name in _placed(files):
            names.setdefault(nearest, []).append(name)
        found: dict[str, dict[str, Any]] = {}
        for nearest, some in names.items():
            try:
                added = self._added_to(nearest)
                new = [name for name in some
                       if name not in added and not _is_ignored(nearest, name)] \
                    if not_added else []
                if new or not added.isdisjoint(some):
                    state = self._state(nearest)
                    found.setdefault(state['root'], dict(state))['changed'] |= bool(new)
            except (OSError, subprocess.SubprocessError):
                continue
        return list(found.values())

    def _added_to(self, nearest: Path) -> set[str]:
        if nearest not in self._added:
            names = self._names[nearest]
            told = _git(nearest, '--literal-pathspecs', 'ls-files', '-z', '--',
                        *(names if len(names) <= _MOST_NAMES else ()))
            self._added[nearest] = set(told.split('\0'))
        return self._added[nearest]

    def _state(self, nearest: Path) -> dict[str, Any]:
        if nearest not in self._states:
            told = _git(nearest, 'rev-parse', '--show-toplevel', 'HEAD')
            root, _, commit = told.rpartition('\n')
            self._states[nearest] = {'root': root, 'commit': commit, 'changed': bool(
                _git(nearest, 'status', '--porcelain', '--untracked-files=no'))}
        return self._states[nearest]


def _placed(files: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Yield of each file in a repository the folder of that, and the file's path in it."""
    for file in dict.fromkeys(path.resolve() for path in files):
        nearest = next((above for above in file.parents if (above / '.git').exists()), None)
        if nearest is not None:  # else git would find nothing either
            yield nearest, file.relative_to(nearest).as_posix()


def _is_ignored(folder: Path, name: str) -> bool:
    try:
        return bool(_git(folder, 'check-ignore', '--', name))
    except subprocess.CalledProcessError:
        return False


def _git(folder: Path, *arguments: str) -> str:
    """Ask git of a folder, whatever repository the caller's environment names."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith('GIT_')}
    return subprocess.run(['git', '-C', str(folder), *arguments], capture_output=True, text=True,
                          errors='surrogateescape', check=True, timeout=_GIT_S,
                          env=environment).stdout.rstrip('\n')
