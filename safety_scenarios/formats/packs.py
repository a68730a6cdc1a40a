# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Where installed scenarios are: ours, and the packs of other packages by the ament resource index.

Of each package only what the first prefix with it holds counts, as everywhere in ament: an overlay
hides the same package in its underlay.
"""

from collections.abc import Iterator
from dataclasses import dataclass
import os
from pathlib import Path
import sys

from safety_scenarios.errors import InputError, Problem
from safety_scenarios.formats.document.opening import names_in

PACKAGE = 'safety_scenarios'
PACK_RESOURCE = 'safety_scenarios_pack'


@dataclass(frozen=True)
class Pack:
    """The scenarios of one installed package."""

    package: str
    folder: Path | None
    """None when it cannot be told, or is not there."""
    problem: Problem | None = None
    """Why there is no folder."""


def installed_packs() -> tuple[Pack, ...]:
    """
    Return ours, then those of other packages, each package once.

    A pack is a file ``share/ament_index/resource_index/safety_scenarios_pack/<package>`` whose
    text is the folder, relative to the prefix.
    """
    found = {PACKAGE: Pack(PACKAGE, share_folder() / 'config' / 'scenarios')}
    for prefix in prefixes():
        for entry in _entries(prefix):
            if entry.name not in found:
                found[entry.name] = _pack(prefix, entry)
    return tuple(found.values())


def share_folder() -> Path:
    """
    Return our share folder: beside the source in a checkout, else as the ament index says.

    :raises InputError: the package's data files are not installed
    """
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / 'package.xml').is_file() and (checkout / 'config').is_dir():
        return checkout
    for prefix in prefixes():
        share = prefix / 'share' / PACKAGE
        if (share / 'package.xml').is_file():
            return share
    raise InputError(f'share/{PACKAGE}: not found below {", ".join(map(str, prefixes()))}. '
                     f'Install the package again, or source its setup file')


def prefixes() -> list[Path]:
    """Return where packages are installed, the overlay first; no folder under two names."""
    listed = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    found: dict[str, Path] = {}
    for prefix in (*listed, sys.prefix):
        if prefix:
            found.setdefault(os.path.realpath(prefix), Path(prefix))
    return list(found.values())


def _entries(prefix: Path) -> Iterator[Path]:
    index = prefix / 'share' / 'ament_index' / 'resource_index' / PACK_RESOURCE
    yield from sorted(index / name for name in names_in(index) if not name.startswith('.'))


def _pack(prefix: Path, entry: Path) -> Pack:
    def broken(message: str) -> Pack:
        return Pack(entry.name, None, Problem(str(entry), None, None, '', message))
    try:
        text = entry.read_text(encoding='utf-8').strip()
    except OSError as error:
        return broken(f'cannot be read: {error.strerror}. Install the package {entry.name} again')
    except UnicodeDecodeError:
        return broken('is not UTF-8, expected the name of a folder below the prefix. Install the '
                      f'package {entry.name} again')
    folder = prefix / text
    if not text or '\0' in text:
        return broken('names no folder, expected that of the scenarios, relative to the prefix, '
                      f'such as share/{entry.name}/scenarios. Write it into the file')
    if not folder.is_dir():
        return broken(f'names {folder}, where no folder is, expected that of the scenarios. '
                      f'Install the package {entry.name} again, or correct the name')
    return Pack(entry.name, folder)
