# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The site is built without a warning, with a page for each scenario and the Python API."""

from pathlib import Path
import shutil
import subprocess
import sys

import pytest

for _name in ('sphinx', 'myst_parser', 'furo'):
    pytest.importorskip(_name, reason='make docs installs what the site is built with')
ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.thorough]


def test_the_site_is_built_without_a_warning(tmp_path):
    """In a copy, because the pages that only the site has are written into its folder."""
    shutil.copytree(ROOT / 'doc', tmp_path / 'doc', ignore=shutil.ignore_patterns('_build'))
    for name in ('safety_scenarios', 'config'):
        (tmp_path / name).symlink_to(ROOT / name)
    done = subprocess.run(
        [sys.executable, '-m', 'sphinx', '-W', '--keep-going', '--quiet', '-b', 'html', 'doc',
         'site'], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = tmp_path / 'site' / 'reference'
    assert 'Person steps near' in (pages / 'scenario' / 'SCN-R-101.html').read_text()
    assert 'safety_scenarios.from_python.run' in (pages / 'api.html').read_text()
    assert (tmp_path / 'site' / 'searchindex.js').stat().st_size > 100_000
