# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is not even collected in daily work has no test that would be run, and is all else."""

import os
from pathlib import Path
import re
import subprocess
import sys

import pytest
from uncollected import is_needless

ROOT = Path(__file__).parents[2]
CHECK = 'not alone and not environment and not slow and not linter'
BODY = 'import pytest\n{}\n\n\ndef test_it():\n    pass\n'


@pytest.fixture
def file(tmp_path):
    """Write a test file that says something of all its tests."""
    def file(statement, name='test_it.py'):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(BODY.format(statement))
        return path
    return file


@pytest.mark.parametrize('statement', [
    'pytestmark = pytest.mark.slow', 'pytestmark = pytest.mark.dds',
    'pytestmark = [pytest.mark.exact, pytest.mark.environment]'])
def test_a_file_of_which_no_test_would_be_run_is_left_out(file, statement):
    assert is_needless(file(statement), CHECK)
    assert not is_needless(file(statement), '')
    assert not is_needless(file(statement, 'conftest.py'), CHECK)


def test_so_is_one_that_talks_dds_by_its_place(file):
    assert is_needless(file('', 'ros/test_it.py'), CHECK)
    assert not is_needless(file('', 'ros/test_it.py'), 'not slow')


@pytest.mark.parametrize('statement', [
    '', 'pytestmark = pytest.mark.exact', 'text = """\npytestmark = pytest.mark.slow\n"""',
    'class TestOne:\n    pytestmark = pytest.mark.slow',
    'pytestmark = pytest.mark.skipif(False, reason="slow")',
    'pytestmark = pytest.mark.slow if pytest is None else []'])
def test_what_may_hold_a_test_that_would_be_run_is_collected(file, statement):
    assert not is_needless(file(statement), CHECK)


@pytest.mark.parametrize('expression', ['slow', 'not (slow)', 'not alone or not slow', 'no slow'])
def test_by_an_expression_of_another_form_nothing_is_left_out(file, expression):
    assert not is_needless(file('pytestmark = pytest.mark.slow'), expression)


def found(examples, *arguments):
    """Return the ids of the tests that a call would run, and how many were collected."""
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', '-p', 'xdist', '-q',
         '--collect-only', *arguments], text=True, stdout=subprocess.PIPE, cwd=ROOT, check=True,
        env={**os.environ, 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1', 'EXAMPLES': examples})
    of = re.search(r'^(?:\d+/)?(\d+) tests? collected', done.stdout, re.MULTILINE)
    return [line for line in done.stdout.splitlines() if '::' in line], int(of[1])


@pytest.mark.slow
@pytest.mark.thorough
def test_daily_work_runs_what_it_would_run_if_all_were_collected():
    """Told by two folders with files of every kind."""
    assert f"-m '{CHECK}'" in (ROOT / 'Makefile').read_text(encoding='utf-8')
    folders = 'test/property', 'test/unit/worlds', '-m', CHECK
    (daily, of_daily), (everything, of_all) = (found(few, *folders) for few in ('few', ''))
    functions, of_everything = ({one.partition('[')[0] for one in ids}
                                for ids in (daily, everything))
    assert functions == of_everything and {*daily} <= {*everything} and len(daily) > 100
    assert len(daily) <= of_daily < of_all
