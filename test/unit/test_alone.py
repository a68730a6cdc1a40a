# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Two calls of pytest hold every test once, and what measures exactly runs by itself."""

from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import re
import subprocess
import sys
import threading
import time

import alone
import pytest

ROOT = Path(__file__).parents[2]
CALLS = ('not alone', 'alone')
RENDEZVOUS = """
from pathlib import Path
import time
import pytest

HERE = Path(__file__).parent


@pytest.fixture
def domain():
    began = time.monotonic_ns()
    yield
    with (HERE / 'spans.txt').open('a') as file:
        file.write(f'{began} {time.monotonic_ns()}\\n')


def test_both_run_at_once(request):
    (HERE / request.config.getoption('--basetemp').rpartition('/')[2]).touch()
    due = time.monotonic() + 60
    while not {'one', 'two'} <= {path.name for path in HERE.iterdir()}:
        assert time.monotonic() < due
        time.sleep(0.01)


@pytest.mark.exact
@pytest.mark.parametrize('number', range(4))
def test_measures(domain, number):
    time.sleep(0.1)
"""


def pytest_with(*arguments: object, cwd: Path) -> subprocess.Popen[str]:
    """Start pytest with the one plug-in that is wanted here: others take seconds to load."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ('PYTEST_ADDOPTS',  # those of colcon need plug-ins
                                   'EXAMPLES')}
    return subprocess.Popen(
        [sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', '-p', 'xdist',
         *map(str, arguments)], env={**environment, 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1'},
        cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def collected(*arguments: object, cwd: Path) -> list[str]:
    """Return the ids of the tests that a call would run."""
    return found_by(*arguments, cwd=cwd)[0]


def found_by(*arguments: object, cwd: Path) -> tuple[list[str], int]:
    """Return the ids of the tests that a call would run, and how many there are to select from."""
    found = pytest_with('--collect-only', '-q', *arguments, cwd=cwd)
    output, _ = found.communicate(timeout=120)
    assert found.returncode == 0, output
    count = re.search(r'^(?:\d+/)?(\d+) tests? collected', output, re.MULTILINE)
    return [line for line in output.splitlines() if '::' in line], int(count[1])


@pytest.fixture
def suite(tmp_path) -> Path:
    """Write a small suite under the rules of this one."""
    (tmp_path / 'pytest.ini').write_text(
        f'[pytest]\npythonpath = {ROOT / "test"}\naddopts = --strict-markers\n'
        'markers =\n    dds: d\n    alone: a\n    exact: e\n')
    (tmp_path / 'conftest.py').write_text(
        'import alone\nfrom alone import pytest_itemcollected, pytest_runtest_protocol\n'
        f'alone.LOCK = {str(tmp_path)!r}\n')
    return tmp_path


def test_make_test_runs_the_two_calls_on_everything():
    makefile = (ROOT / 'Makefile').read_text()
    [recipe] = re.findall(r'^test: .*\n((?:\t.*\n)+)', makefile, re.MULTILINE)
    call = re.compile(r"\t\$\((?:BESIDE|PYTEST)\)(?: -n 3)? -m ('.*'|\w+)"
                      r' \$\(AGAIN\)(?: (.*))?')
    calls = [call.fullmatch(line) for line in recipe.splitlines()]
    assert [(found[1].strip("'"), found[2]) for found in calls] == [
        (CALLS[0], None), ('exact', f'test/{alone.MEASURES}'),
        (f'{CALLS[1]} and not exact', '$(DDS)')]
    [places] = re.findall('^DDS := (.*)$', makefile, re.MULTILINE)
    assert places.split() == [f'test/{place}' for place in alone.PLACES]


@pytest.mark.slow
@pytest.mark.thorough
def test_each_test_is_in_exactly_one_of_the_two_calls():
    folders = ('test/ros', 'test/contract')
    (beside, of), (talks, of_talks) = (found_by(*folders, '-m', call, cwd=ROOT) for call in CALLS)
    assert not set(beside) & set(talks) and len(beside) + len(talks) == of == of_talks
    assert all(name.startswith(tuple(f'test/{place}' for place in alone.PLACES))
               for name in talks) and len(talks) > 100
    assert not any(name.startswith('test/ros/') for name in beside) and len(beside) > 100


def test_what_talks_dds_is_alone_however_it_says_so(suite):
    (suite / 'ros').mkdir()
    (suite / 'ros' / 'test_there.py').write_text('def test_by_folder(): pass\n')
    (suite / 'test_here.py').write_text(
        'import pytest\n'
        '@pytest.fixture\ndef domain(): pass\n'
        '@pytest.fixture\ndef indirect(domain): pass\n'
        '@pytest.fixture\ndef rule_based_run(): pass\n'
        '@pytest.mark.dds\ndef test_by_marker(): pass\n'
        'def test_by_fixture(domain): pass\n'
        'def test_by_fixture_of_a_fixture(indirect): pass\n'
        'def test_by_campaign(rule_based_run): pass\n'
        'class TestOf:\n    pytestmark = pytest.mark.dds\n    def test_by_class(self): pass\n'
        'def test_beside(): pass\n'
        '@pytest.mark.parametrize("domain", [1, 2])\ndef test_beside_too(domain): pass\n')
    beside, talks = (collected('-m', call, cwd=suite) for call in CALLS)
    assert {name.rpartition('::')[2] for name in beside} == {
        'test_beside', 'test_beside_too[1]', 'test_beside_too[2]'}
    assert len(talks) == 6
    assert sorted(beside + talks) == sorted(collected(cwd=suite))


def test_no_more_talk_at_once_than_make_test_has_workers_for(monkeypatch, tmp_path):
    """In two clones neither: twice as many robots are late on a machine for half as many."""
    assert f'-n {alone.AT_ONCE} -m' in (ROOT / 'Makefile').read_text()
    monkeypatch.setattr(alone, 'LOCK', str(tmp_path))
    monkeypatch.setattr(alone, '_AGAIN_S', 0.001)
    there, most, lock = [], [], threading.Lock()

    def talks(number):
        with alone._a_place():
            with lock:
                there.append(number)
                most.append(len(there))
            time.sleep(0.01)
            with lock:
                there.remove(number)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(talks, range(12)))
    assert len(most) == 12 and max(most) == alone.AT_ONCE


@pytest.mark.slow
def test_no_two_that_measure_exactly_overlap_in_two_runs_or_two_workers(suite):
    (suite / 'test_measuring.py').write_text(RENDEZVOUS)
    runs = [pytest_with('-q', '-n', '2', '--dist', 'load', '-k', 'measures', cwd=suite),
            *(pytest_with('-q', f'--basetemp={suite / name}', cwd=suite)
              for name in ('one', 'two'))]
    for run in runs:
        output, _ = run.communicate(timeout=120)
        assert run.returncode == 0, output
    spans = sorted(tuple(map(int, line.split()))
                   for line in (suite / 'spans.txt').read_text().splitlines())
    assert len(spans) == 12
    assert all(end <= begin for (_, end), (begin, _) in zip(spans, spans[1:]))
