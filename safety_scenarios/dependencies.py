# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What this package needs beside a plain ROS installation, and where it finds that.

Ubuntu 24.04 has pydantic 1.10 and no RE2, see ``doc/packaging.md``. What is missing when the
package is built is kept in a folder of its own beside it, the bundle, on nobody's PYTHONPATH. A
process looks there when it imports the first module of ours that may need it, not before: another
package's tests that merely load our pytest plug-in keep the pydantic that they had.

``setup.py`` loads this file by its path, so it imports nothing but the standard library until
something is wrong.
"""

import os
from pathlib import Path
import sys
from typing import Any, NamedTuple

_PACKAGE = __name__.partition('.')[0]
_FREE = frozenset(f'{_PACKAGE}.{name}' for name in (
    'dependencies', 'errors', 'pytest_plugin', 'cli', 'cli.main'))
"""Modules that need nothing; whatever imports one of them may be somebody else's process."""
FOLDER = 'safety_scenarios.bundle'
"""Beside the package; the name has a dot, so that nothing can import it."""


class Need(NamedTuple):
    """A distribution that a plain ROS installation may lack, or have in too old a version."""

    name: str
    module: str
    at_least: tuple[int, ...] = ()
    brings: tuple[str, ...] = ()
    """Other distributions, which come with it and are of no use alone."""

    def __str__(self) -> str:
        floor = '.'.join(map(str, self.at_least))
        return f'{self.name}>={floor}' if floor else self.name


PYDANTIC = Need('pydantic', 'pydantic', (2, 6),
                ('pydantic-core', 'annotated-types', 'typing-inspection'))
TYPING = Need('typing-extensions', 'typing_extensions',
              (4, 6, 1) if sys.version_info < (3, 13) else (4, 14, 1))
"""What the pydantic in the bundle asks for; only with that one."""
RE2 = Need('google-re2', 're2')


def missing() -> list[Need]:
    """Return what this interpreter lacks."""
    found = [] if _is_there(PYDANTIC) else [
        PYDANTIC, *([] if _is_there(TYPING) else [TYPING])]
    return [*found, *([] if _is_there(RE2) else [RE2])]


def bundle(beside: Path) -> Path:
    """
    Return the folder of the bundle for this interpreter, whether it is there or not.

    :param beside: the folder that holds the package
    """
    from importlib.machinery import EXTENSION_SUFFIXES  # such as .cpython-312-x86_64-linux-gnu.so
    return beside / FOLDER / EXTENSION_SUFFIXES[0].strip('.').partition('.')[0]


def guard() -> None:
    """Look for what is needed as soon as a module of ours is imported that may need it."""
    if not any(isinstance(finder, _Guard) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Guard())


class _Guard:
    """A finder that finds nothing: it only takes note of what is about to be imported."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        """Provide what is needed before the first module of ours that may need it."""
        if name.startswith(f'{_PACKAGE}.') and name not in _FREE:
            _provide(Path(__file__).parents[1])
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]


def _provide(beside: Path) -> None:
    """
    Put in front of ``sys.path`` what this process lacks and the bundle has.

    :raises MissingDependencyError: pydantic is missing, or too old
    """
    lacking = missing()
    if not lacking:
        return
    folder = bundle(beside)
    found = [folder / need.name for need in lacking if (folder / need.name).is_dir()]
    if PYDANTIC in lacking:
        _refuse(lacking, folder)
    sys.path[:0] = [os.fspath(one) for one in found]


def _refuse(lacking: list[Need], folder: Path) -> None:
    from safety_scenarios.errors import MissingDependencyError
    early = [need for need in lacking if need is not RE2 and need.module in sys.modules]
    absent = [need for need in lacking if need is not RE2 and not (folder / need.name).is_dir()]
    if not absent and not early:
        return
    got = ', '.join(f'{_version(need) or "none"} of {need.name}' for need in absent or early)
    ways = f'or, in a virtual environment: pip install {str(PYDANTIC)!r}'
    if not absent:
        raise MissingDependencyError(
            'safety_scenarios', str(PYDANTIC),
            found=f'but this process has already imported {got}',
            advice='Import from safety_scenarios before whatever imports that, such as: from '
                   f'safety_scenarios import run; {ways}')
    others = sorted(one.name for one in folder.parent.glob('*') if one.name != folder.name)
    other = f', and the bundle here is for {", ".join(others)}, not for {folder.name}' \
        if others else ''
    raise MissingDependencyError(
        'safety_scenarios', str(PYDANTIC), found=f'got {got}{other}',
        advice='Build again with a network and python3-pip, which bundles it: colcon build '
               f'--packages-select safety_scenarios; {ways}')


def _is_there(need: Need) -> bool:
    version = _version(need)
    return version is not None and _numbers(version) >= need.at_least


def _version(need: Need) -> str | None:
    """Return the version that is imported, or would be; None if there is none."""
    imported = getattr(sys.modules.get(need.module), '__version__', None)
    if isinstance(imported, str):
        return imported
    from importlib import metadata
    try:
        return metadata.version(need.name)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: (2, 9, 2) of 2.9.2rc1."""
    numbers = []
    for part in version.split('.'):
        digits = part[:len(part) - len(part.lstrip('0123456789'))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)
