# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Workers tell less of what passes, and all of what does not."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

TEST = Path(__file__).parents[1]
SUITE = """
import pytest


@pytest.fixture
def before():
    raise AssertionError('not made')


@pytest.fixture
def after():
    yield
    raise AssertionError('not ended')


def test_passes():
    pass


def test_fails():
    assert 1 == 2


def test_cannot_begin(before):
    pass


def test_cannot_end(after):
    pass


def test_skips():
    pytest.skip('not here')


@pytest.mark.skip(reason='never')
def test_is_skipped():
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize('more', [[], ['--durations', '0', '-vv'], ['--junitxml', 'results.xml']])
def test_every_failure_error_and_skip_of_a_worker_is_counted(tmp_path, more):
    (tmp_path / 'pytest.ini').write_text(f'[pytest]\npythonpath = {TEST}\n')
    (tmp_path / 'conftest.py').write_text('from reported import pytest_sessionstart\n')
    (tmp_path / 'test_suite.py').write_text(SUITE)
    ended = subprocess.run(
        [sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', '-p', 'xdist', '-n', '1',
         '-r', 'a', *more], cwd=tmp_path, capture_output=True, text=True, timeout=120,
        env={**os.environ, 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1', 'PYTEST_ADDOPTS': ''})
    assert ended.returncode == 1, ended.stdout
    assert '1 failed, 2 passed, 2 skipped, 2 errors' in ended.stdout
    for told in ('FAILED test_suite.py::test_fails', 'ERROR test_suite.py::test_cannot_begin',
                 'ERROR test_suite.py::test_cannot_end', 'not here', 'never'):
        assert told in ended.stdout
    assert ('s setup ' in ended.stdout) is ('--durations' in more)
    if '--junitxml' in more:
        assert (tmp_path / 'results.xml').read_text().count('<testcase ') == 6
