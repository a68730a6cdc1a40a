# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Fill the bundle when the package is installed: with what the interpreter that builds lacks.

``setup.py`` loads this file by its path. ``doc/reference/packaging.md`` tells why there is a
bundle.
"""

from collections.abc import Sequence
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
from typing import Any

LIST = Path(__file__).with_name('requirements.txt')
STAMP = 'requirements.txt'
"""In a folder that is complete: what was asked for, and by which hashes."""
OURS = ('PIP_CONSTRAINT', 'PIP_BUILD_CONSTRAINT', 'PIP_USER', 'PIP_TARGET', 'PIP_PREFIX')
"""Variables of pip that are about other installs; those about where wheels come from are kept."""


def fill(folder: Path, missing: Sequence[Any]) -> dict[Any, str]:
    """
    Make the folder hold the distributions that are missing, each with what it brings.

    What is there already, from the same list, is not downloaded again. Nothing is installed that
    the list has no hash of.

    :param folder: of the bundle; a folder in it for each of them
    :param missing: needs as in ``safety_scenarios/dependencies.py``
    :return: what could not be bundled, and why
    """
    failed = {}
    for name in {path.name for path in folder.glob('*')} - {need.name for need in missing}:
        shutil.rmtree(folder / name)
    for need in missing:
        target, wanted = folder / need.name, listed((need.name, *need.brings))
        stamp = target / STAMP
        if stamp.is_file() and stamp.read_text(encoding='utf-8') == wanted:
            continue
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        (target / 'wanted.txt').write_text(wanted, encoding='utf-8')
        why = _install(target)
        if why is not None:
            shutil.rmtree(target)
            failed[need] = why
        else:
            (target / 'wanted.txt').rename(stamp)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    return failed


def listed(names: Sequence[str]) -> str:
    """Return the part of the list that is about these distributions."""
    blocks = re.findall(r'^[a-z].*(?:\n .*)*\n', LIST.read_text(encoding='utf-8'), re.MULTILINE)
    found = [block for block in blocks if block.partition('==')[0] in names]
    assert found, names
    return ''.join(found)


def _install(target: Path) -> str | None:
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    command = [sys.executable, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check',
               '--no-input', '--no-deps', '--only-binary', ':all:', '--require-hashes',
               '--target', os.fspath(target), '--requirement', os.fspath(target / 'wanted.txt')]
    try:
        done = subprocess.run(command, env={**environment, 'PIP_REQUIRE_VIRTUALENV': '0'},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=600, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith('ERROR')]
        return (errors or lines or [f'pip ended with {done.returncode}'])[-1]
    return None
