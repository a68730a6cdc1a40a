# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How test processes work together: what they share, report, collect, and run again."""

import json
import os
from pathlib import Path
import re
import subprocess
import sys
import textwrap

from once import built_once
import pytest
from ros.campaigns import Run, unmeasured
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.result import TrialResult
from uncollected import is_needless
from unit.judging.latency.test_load import trial
from unit.records import command, driving, record, shown

BUILDER = textwrap.dedent("""
    from pathlib import Path
    import sys
    import time
    from once import built_once

    folder, number, others = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    asking = folder.parent / 'asking'

    def build(place):
        while len(list(asking.iterdir())) < others:
            time.sleep(0.01)
        place.mkdir()
        (place / 'first.txt').write_text(number)
        time.sleep(0.2)
        (place / 'second.txt').write_text(number)
        with (folder.parent / 'builds.txt').open('a') as file:
            file.write(number)

    (asking / number).touch()
    built_once(folder, 'this', build)
    assert (folder / 'first.txt').read_text() == (folder / 'second.txt').read_text()
""")


def fill(content: str):
    def build(place: Path) -> None:
        place.mkdir()
        (place / 'content.txt').write_text(content)
    return build


def test_of_several_processes_that_ask_at_once_one_builds_and_all_find_it_whole(tmp_path):
    (tmp_path / 'asking').mkdir()
    tests = Path(__file__).parents[1]
    started = [subprocess.Popen([sys.executable, '-c', BUILDER, tmp_path / 'shared', str(number),
                                 '4'], cwd=tests) for number in range(4)]
    assert [process.wait(60) for process in started] == [0, 0, 0, 0]
    assert len((tmp_path / 'builds.txt').read_text()) == 1


def test_what_is_there_is_not_built_again_and_something_else_is(tmp_path):
    folder = tmp_path / 'shared'
    built_once(folder, 'one', fill('one'))
    built_once(folder, 'one', fill('never'))
    assert (folder / 'content.txt').read_text() == 'one'
    (folder / 'left.txt').touch()
    built_once(folder, 'two', fill('two'))
    assert (folder / 'content.txt').read_text() == 'two'
    assert not (folder / 'left.txt').exists()


def test_a_build_that_failed_or_was_killed_is_repaired(tmp_path):
    folder = tmp_path / 'shared'

    def fails(place: Path) -> None:
        fill('half')(place)
        raise OSError('no space left')
    with pytest.raises(OSError, match='no space left'):
        built_once(folder, 'one', fails)
    built_once(folder, 'one', fill('whole'))
    assert (folder / 'content.txt').read_text() == 'whole'
    killed = ('import os, signal; from once import built_once; from pathlib import Path\n'
              'def build(place):\n'
              '    place.mkdir()\n'
              '    (place / "content.txt").write_text("half")\n'
              '    os.kill(os.getpid(), signal.SIGKILL)\n'
              f'built_once(Path({str(folder)!r}), "two", build)')
    ended = subprocess.run([sys.executable, '-c', killed], cwd=Path(__file__).parents[1],
                           timeout=60, check=False)
    assert ended.returncode == -9 and (folder / 'content.txt').read_text() == 'half'
    built_once(folder, 'two', fill('whole again'))
    assert (folder / 'content.txt').read_text() == 'whole again'


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


BUSY = 0.4, 0.4, 0.4, 9.2


def late(by_ms: float) -> TrialResult:
    """Return what a trial comes to whose hazard leaves late."""
    commands = [command(t_ms, speed) for t_ms, speed in (*driving(-600.0, 200.0),
                                                         *driving(200.0, 2500.0, 0.0))]
    return evaluate(record(commands, extra=[shown(by_ms + 1000.0, due_ms=1000.0)]))


def line(result: TrialResult) -> dict:
    return json.loads(result.model_dump_json())


@pytest.mark.parametrize(('result', 'verdict', 'is_told'), [
    (late(0.0), 'PASS', False), (late(60.0), 'INCONCLUSIVE', True),
    (evaluate(trial(490, *BUSY)), 'INCONCLUSIVE', True),
    (evaluate(trial(480, *BUSY)), 'PASS', False), (evaluate(trial(520, *BUSY)), 'FAIL', False),
    (evaluate(record([command(t_ms, speed) for t_ms, speed in driving(-600.0, 2500.0, 0.0)])),
     'INCONCLUSIVE', False)],
    ids=['on time', 'late', 'busy and near the limit', 'busy', 'busy and too slow', 'at rest'])
def test_a_trial_is_repeated_only_where_the_product_names_the_host(result, verdict, is_told):
    assert result.verdict.value == verdict
    assert unmeasured(line(result)) is is_told


def test_a_repeated_scenario_counts_by_its_last_campaign(tmp_path):
    def run(name: str, code: int, **verdicts: str) -> Run:
        (tmp_path / name).mkdir()
        (tmp_path / name / 'trials.jsonl').write_text(''.join(json.dumps(
            {'scenario_id': key, 'verdict': verdict, 'notes': [], 'findings': [
                {'check': 'stimuli left on time', 'verdict': verdict}]}) + '\n'
            for key, verdict in verdicts.items()))
        return Run(code, name, tmp_path / name)

    first = run('first', 3, A='PASS', B='INCONCLUSIVE')
    assert (first.code, first.unmeasured) == (3, {'B'})
    first.again.append(run('second', 0, B='PASS'))
    assert (first.code, first.unmeasured) == (0, set())
    assert first.verdicts == {'A': 'PASS', 'B': 'PASS'}
    assert first.output == 'first\nsecond'
    first.again.append(run('third', 1, B='FAIL'))
    assert first.code == 1
