# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Virtual environments with packages whose versions must not reach ours, each built once.

ARE pins exact versions, Inspect AI brings many packages, and Ubuntu 24.04 (noble) ships old ones.
"""

import os
from pathlib import Path
import shutil
import subprocess
import sys
import venv

from once import built_once

HERE = Path(__file__).parent
BUILD = HERE.resolve().parents[1] / 'build'
ARE = 'meta-agents-research-environments==1.2.0'
OF_ARE = HERE / 'are_requirements.txt'
OF_INSPECT = HERE / 'inspect_requirements.txt'
OF_NOBLE = HERE / 'noble_requirements.txt'
INHERITED = ('PIP_CONSTRAINT', 'PIP_BUILD_CONSTRAINT', 'UV_CONSTRAINT', 'UV_BUILD_CONSTRAINT',
             'PYTHONPATH')
"""What would hold an environment to other versions, or show it other packages."""


def are_python() -> Path:
    """
    Build the environment of ARE unless it is there, and return its interpreter.

    :raises subprocess.SubprocessError: it cannot be installed, as without a network
    :raises OSError: no place, or no permission
    """
    return _built('are-venv', f'{ARE}\n{OF_ARE.read_text(encoding="utf-8")}', OF_ARE, ARE)


def inspect_python() -> Path:
    """Do the same for Inspect AI."""
    return _built('inspect-venv', OF_INSPECT.read_text(encoding='utf-8'), OF_INSPECT)


def noble_python() -> Path:
    """Do the same for the Python packages that Ubuntu 24.04 ships, and none newer."""
    base = _base()

    def build(folder: Path) -> None:
        subprocess.run([base, '-m', 'venv', folder], check=True, timeout=120,
                       env=without_inherited())
        install(folder, '--requirement', OF_NOBLE)
    built_once(BUILD / 'noble-venv', f'{base}\n{OF_NOBLE.read_text(encoding="utf-8")}', build)
    return BUILD / 'noble-venv' / 'bin' / 'python'


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


def _built(name: str, version: str, requirements: Path, *others: str) -> Path:
    def build(folder: Path) -> None:
        venv.create(folder, with_pip=True)
        install(folder, '--requirement', requirements, *others)
    built_once(BUILD / name, version, build)
    return BUILD / name / 'bin' / 'python'


def _base() -> str:
    """Return Python 3.12, which Ubuntu 24.04 has, where there is one; else that of the tests."""
    places = [shutil.which('python3.12') or '', *map(str, sorted(
        Path.home().glob('.pyenv/versions/3.12.*/bin/python3.12')))]
    for place in filter(None, places):
        if subprocess.run([place, '-c', 'import ensurepip, venv'], check=False,
                          capture_output=True).returncode == 0:
            return place
    return os.path.realpath(sys._base_executable)  # the same from whatever environment
