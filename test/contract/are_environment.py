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

REQUIREMENTS = Path(__file__).with_name('are_requirements.txt')
FOLDER = Path(__file__).resolve().parents[2] / 'build' / 'are-venv'


def are_python() -> Path:
    """
    Build the environment unless it is there, and return its interpreter.

    :raises subprocess.SubprocessError: pip fails, as without a network
    :raises OSError: no place, or no permission
    """
    python, stamp = FOLDER / 'bin' / 'python', FOLDER / 'requirements.txt'
    if not stamp.exists() or stamp.read_text() != REQUIREMENTS.read_text():
        venv.create(FOLDER, with_pip=True, clear=True)
        pip = [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
        environment = {**os.environ, 'PIP_REQUIRE_VIRTUALENV': '1'}
        for more in (['--requirement', REQUIREMENTS],
                     ['--no-deps', 'meta-agents-research-environments==1.2.0']):
            subprocess.run([*pip, *more], check=True, env=environment, timeout=600)
        stamp.write_text(REQUIREMENTS.read_text())
    return python
