# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the linters of ROS and REUSE say of the code, the manifest and the licences.

The commands of ROS are those of an installation that is sourced, or of Debian's packages: a
virtual environment does not see the modules of Debian. Where one is missing its test is skipped
and says so; ``AMENT_LINTERS=required``, as our continuous integration sets it, makes that a
failure.
"""

from collections.abc import Sequence
import os
from pathlib import Path
import shutil
import subprocess
import sys

from examples import FEW
import pytest

pytestmark = pytest.mark.linter

ROOT = Path(__file__).resolve().parents[1]
INSTALL = 'Run: apt install python3-ament-flake8 python3-ament-pep257 ' \
          'python3-ament-xmllint, or source a ROS installation'
CODE = ('bench', 'doc', 'examples', 'launch', 'resource', 'safety_scenarios', 'setup.py', 'test')
"""What is ours; what building and running leave beside it is not."""


def lint(command: str, paths: Sequence[str]) -> None:
    """Run a linter over files and folders of the repository; what it finds fails the test."""
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


@pytest.mark.flake8
@pytest.mark.thorough
def test_the_code_is_in_the_style_of_ros():
    lint('ament_flake8', [path for path in CODE if not (FEW and path == 'test')])


@pytest.mark.pep257
@pytest.mark.thorough
def test_docstrings_have_the_form_of_ros():
    lint('ament_pep257', CODE)


@pytest.mark.xmllint
def test_the_manifest_fits_its_schema():
    lint('ament_xmllint', ('package.xml',))


def test_every_file_has_a_copyright_notice_and_a_licence():
    done = subprocess.run([sys.executable, '-m', 'reuse', 'lint'], cwd=ROOT, text=True,
                          capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
