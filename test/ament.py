# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The linters of ROS, as commands: those of an installation that is sourced, or of Debian's packages.

The tests call the commands, not the modules: a virtual environment does not see those of Debian.
Where one is missing its test is skipped and says so; ``AMENT_LINTERS=required``, as our continuous
integration sets it, makes that a failure.
"""

from collections.abc import Sequence
import os
from pathlib import Path
import shutil
import subprocess

import pytest

ROOT = Path(__file__).resolve().parents[1]
INSTALL = 'Run: apt install python3-ament-flake8 python3-ament-pep257 ' \
          'python3-ament-xmllint, or source a ROS installation'


CODE = ('bench', 'doc', 'examples', 'launch', 'resource', 'safety_scenarios', 'setup.py', 'test')
"""What is ours; what building and running leave beside it is not."""


def lint(command: str, paths: Sequence[str] = CODE) -> None:
    """
    Run a linter over files and folders of the repository; what it finds fails the test.

    :param command: such as ``ament_flake8``
    """
    if shutil.which(command) is None:
        if os.environ.get('AMENT_LINTERS') == 'required':
            pytest.fail(f'{command} is not installed. {INSTALL}', pytrace=False)
        pytest.skip(f'{command} is not installed. {INSTALL}')
    # The packages of the tests are none of the linter's business.
    environment = {key: value for key, value in os.environ.items() if key != 'PYTHONPATH'}
    done = subprocess.run([command, *paths], cwd=ROOT, env=environment, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    assert done.returncode == 0, '\n'.join(
        line for line in done.stdout.splitlines() if not line.startswith('checking '))[-20_000:]
