# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What this package needs beside a plain ROS installation.

Ubuntu 24.04 has pydantic 1.10 and no RE2, see ``doc/reference/packaging.md``. What is missing
when the
package is built is bundled: it is installed into a folder of its own below the prefix, and an
environment hook of the package puts that on PYTHONPATH.

``setup.py`` loads this file by its path, so it imports nothing but the standard library until
something is wrong.
"""

from pathlib import Path
import sys
from typing import NamedTuple

FOLDER = 'lib/safety_scenarios.bundle'
"""Below the prefix: what is bundled. The hook in ``resource/environment`` names it too."""


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
BUILD = 'colcon build --packages-select safety_scenarios'
"""What bundles all of it."""


def missing() -> list[Need]:
    """Return what this interpreter lacks."""
    found = [] if _is_there(PYDANTIC) else [PYDANTIC, *([] if _is_there(TYPING) else [TYPING])]
    return [*found, *([] if _is_there(RE2) else [RE2])]


def bundle(prefix: Path) -> Path:
    """
    Return the folder of the bundle, whether it is there or not.

    :param prefix: where the package is installed
    """
    return prefix / FOLDER


def require() -> None:
    """
    Refuse to go on where this process cannot import what every part of the package needs.

    :raises MissingDependencyError: pydantic is missing, or too old
    """
    lacking = [need for need in missing() if need is not RE2]
    if not lacking:
        return
    from safety_scenarios.errors import MissingDependencyError
    got = ', '.join(f'{_version(need) or "none"} of {need.name}' for need in lacking)
    raise MissingDependencyError('safety_scenarios', str(PYDANTIC), found=f'got {got}', advice=(
        'Source the setup file of the workspace, which puts on PYTHONPATH what the build bundled. '
        f'If it bundled nothing, build again with a network and python3-pip: {BUILD}; or, in a '
        f'virtual environment: pip install {str(PYDANTIC)!r}'))


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
