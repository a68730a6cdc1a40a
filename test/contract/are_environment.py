# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ARE in a virtual environment of its own: it pins exact versions that must not reach ours."""

from pathlib import Path
import venv

from contract.installing import install
from once import built_once

REQUIREMENTS = Path(__file__).with_name('are_requirements.txt')
FOLDER = Path(__file__).resolve().parents[2] / 'build' / 'are-venv'
ARE = 'meta-agents-research-environments==1.2.0'


def are_python() -> Path:
    """
    Build the environment unless it is there, and return its interpreter.

    :raises subprocess.SubprocessError: it cannot be installed, as without a network
    :raises OSError: no place, or no permission
    """
    built_once(FOLDER, f'{ARE}\n{REQUIREMENTS.read_text(encoding="utf-8")}', _build)
    return FOLDER / 'bin' / 'python'


def _build(folder: Path) -> None:
    venv.create(folder, with_pip=True)
    install(folder, '--requirement', REQUIREMENTS, ARE)
