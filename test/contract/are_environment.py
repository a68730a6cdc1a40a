# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
