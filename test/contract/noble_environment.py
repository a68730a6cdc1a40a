# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A virtual environment with the Python packages that Ubuntu 24.04 ships, and none newer."""

import os
from pathlib import Path
import shutil
import subprocess
import sys

from contract.installing import install, without_inherited
from once import built_once

REQUIREMENTS = Path(__file__).with_name('noble_requirements.txt')
FOLDER = Path(__file__).resolve().parents[2] / 'build' / 'noble-venv'


def noble_python() -> Path:
    """
    Build the environment unless it is there, and return its interpreter.

    :raises subprocess.SubprocessError: it cannot be installed, as without a network
    """
    base = _base()
    built_once(FOLDER, f'{base}\n{REQUIREMENTS.read_text(encoding="utf-8")}', _build)
    return FOLDER / 'bin' / 'python'


def _base() -> str:
    """Return Python 3.12, which Ubuntu 24.04 has, where there is one; else that of the tests."""
    places = [shutil.which('python3.12') or '', *map(str, sorted(
        Path.home().glob('.pyenv/versions/3.12.*/bin/python3.12')))]
    for place in filter(None, places):
        if subprocess.run([place, '-c', 'import ensurepip, venv'], check=False,
                          capture_output=True).returncode == 0:
            return place
    return os.path.realpath(sys._base_executable)  # the same from whatever environment


def _build(folder: Path) -> None:
    subprocess.run([_base(), '-m', 'venv', folder], check=True, timeout=120,
                   env=without_inherited())
    install(folder, '--requirement', REQUIREMENTS)
