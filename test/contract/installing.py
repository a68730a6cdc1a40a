# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Packages in a virtual environment of its own, whose versions are not those of ours."""

import os
from pathlib import Path
import subprocess
import sys

INHERITED = ('PIP_CONSTRAINT', 'PIP_BUILD_CONSTRAINT', 'UV_CONSTRAINT', 'UV_BUILD_CONSTRAINT',
             'PYTHONPATH')
"""What would hold it to other versions, or show it other packages."""


def without_inherited() -> dict[str, str]:
    """Return the environment variables, but those that would undo the versions."""
    return {key: value for key, value in os.environ.items() if key not in INHERITED}


def install(folder: Path, *what: str | Path) -> None:
    """
    Install what is named, and nothing that it needs in turn.

    :param folder: of the virtual environment
    :raises subprocess.SubprocessError: it cannot be had, as without a network
    """
    quickly = [sys.executable, '-m', 'uv', 'pip', 'install', '--quiet', '--compile-bytecode',
               '--no-deps', '--python', folder / 'bin' / 'python', *what]
    if subprocess.run(quickly, check=False, timeout=900, env=without_inherited()).returncode:
        # uv does not read the settings of pip, such as that of another index
        subprocess.run([folder / 'bin' / 'python', '-m', 'pip', 'install', '--quiet', '--no-deps',
                        '--disable-pip-version-check', *what], check=True, timeout=900,
                       env={**without_inherited(), 'PIP_REQUIRE_VIRTUALENV': '1'})
