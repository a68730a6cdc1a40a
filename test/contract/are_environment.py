# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ARE in a virtual environment of its own: it pins exact versions that must not reach ours."""

import os
from pathlib import Path
import subprocess
import venv

from once import built_once

REQUIREMENTS = Path(__file__).with_name('are_requirements.txt')
FOLDER = Path(__file__).resolve().parents[2] / 'build' / 'are-venv'
ARE = 'meta-agents-research-environments==1.2.0'
INHERITED = ('PIP_CONSTRAINT', 'PIP_BUILD_CONSTRAINT')
"""What holds our own environment to versions that are not those of ARE."""


def are_python() -> Path:
    """
    Build the environment unless it is there, and return its interpreter.

    :raises subprocess.SubprocessError: pip fails, as without a network
    :raises OSError: no place, or no permission
    """
    built_once(FOLDER, f'{ARE}\n{REQUIREMENTS.read_text(encoding="utf-8")}', _build)
    return FOLDER / 'bin' / 'python'


def _build(folder: Path) -> None:
    venv.create(folder, with_pip=True)
    pip = [folder / 'bin' / 'python', '-m', 'pip', 'install', '--quiet',
           '--disable-pip-version-check', '--no-deps']
    environment = {key: value for key, value in os.environ.items() if key not in INHERITED}
    for what in (['--requirement', REQUIREMENTS], [ARE]):
        subprocess.run([*pip, *what], check=True, timeout=600,
                       env={**environment, 'PIP_REQUIRE_VIRTUALENV': '1'})
