# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Inspect AI in a virtual environment of its own: its many packages must not reach ours."""

import os
from pathlib import Path
import subprocess
import venv

from contract.are_environment import INHERITED
from once import built_once

REQUIREMENTS = Path(__file__).with_name('inspect_requirements.txt')
FOLDER = Path(__file__).resolve().parents[2] / 'build' / 'inspect-venv'


def inspect_python() -> Path:
    """
    Build the environment unless it is there, and return its interpreter.

    :raises subprocess.SubprocessError: pip fails, as without a network
    :raises OSError: no place, or no permission
    """
    built_once(FOLDER, REQUIREMENTS.read_text(encoding='utf-8'), _build)
    return FOLDER / 'bin' / 'python'


def _build(folder: Path) -> None:
    venv.create(folder, with_pip=True)
    environment = {key: value for key, value in os.environ.items() if key not in INHERITED}
    subprocess.run([folder / 'bin' / 'python', '-m', 'pip', 'install', '--quiet',
                    '--disable-pip-version-check', '--no-deps', '--requirement', REQUIREMENTS],
                   check=True, timeout=600, env={**environment, 'PIP_REQUIRE_VIRTUALENV': '1'})
