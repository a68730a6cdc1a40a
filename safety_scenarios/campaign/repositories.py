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

"""In which git repositories the files stand that a result depends on, and in which state."""

from collections.abc import Iterable
import os
from pathlib import Path
import subprocess
from typing import Any

_GIT_S = 5.0
"""A git that hangs, as on a network drive, must not hold up a campaign."""
States = dict[str, dict[str, Any]]
"""Root of a repository to what git says of it, so that it is asked once."""


def repositories_of(files: Iterable[Path], *, not_added: bool = True,
                    states: States | None = None) -> list[dict[str, Any]]:
    """
    Return root, commit and state of each repository that one of the files belongs to.

    A file that its repository ignores, as one that is installed in ``.venv``, belongs to none.

    :param not_added: whether a file belongs to a repository that it is not added to yet; it
        counts as a change there
    :param states: what is known already; takes what is found
    """
    folders: dict[Path, list[str]] = {}
    for file in dict.fromkeys(path.resolve() for path in files):
        folders.setdefault(file.parent, []).append(file.name)
    states = {} if states is None else states
    found: States = {}
    for folder, names in folders.items():
        nearest = next((above for above in (folder, *folder.parents)
                        if (above / '.git').exists()), None)
        if nearest is None:  # git would look for nothing else
            continue
        try:
            added = set(_git(folder, 'ls-files', '-z', '--', *names).split('\0')) & set(names)
            new = [name for name in names if name not in added and not _is_ignored(folder, name)] \
                if not_added else []
            if added or new:
                root = str(nearest)
                if root not in states:
                    told = _git(folder, 'rev-parse', '--show-toplevel', 'HEAD')
                    root, _, commit = told.rpartition('\n')
                if root not in states:
                    states[root] = _state(folder, commit)
                found.setdefault(root, dict(states[root]))['changed'] |= bool(new)
        except (OSError, subprocess.SubprocessError):
            continue
    return [{'root': root, **state} for root, state in found.items()]


def _state(folder: Path, commit: str) -> dict[str, Any]:
    return {'commit': commit,
            'changed': bool(_git(folder, 'status', '--porcelain', '--untracked-files=no'))}


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
                          check=True, timeout=_GIT_S, env=environment).stdout.strip()
