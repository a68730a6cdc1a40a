# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What doc/python.md shows works as it is printed there."""

import json
from pathlib import Path
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
PAGE = Path(__file__).resolve().parents[2] / 'doc' / 'python.md'
BLOCKS = re.findall(r'^```python\n(.*?)^```$', PAGE.read_text(encoding='utf-8'), re.M | re.S)
TESTS = [block for block in BLOCKS if block.startswith('# test_')]
[PLUG_INS] = [block for block in BLOCKS if block.startswith('# my_plug_ins.py')]
EXAMPLES = [block for block in BLOCKS if block not in (*TESTS, PLUG_INS)]
pytest_plugins = ('pytester',)


def test_the_page_has_its_examples():
    assert len(EXAMPLES) >= 7 and len(TESTS) == 2
    assert PAGE.read_text(encoding='utf-8').count('```python') == len(BLOCKS)


@pytest.mark.parametrize('example', EXAMPLES, ids=[str(one) for one in range(len(EXAMPLES))])
def test_an_example_runs(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(PAGE), 'exec'), {'__name__': 'example'})


@pytest.mark.slow
def test_the_test_file_passes(pytester):
    pytester.makepyfile(test_my_robot=TESTS[0])
    pytester.runpytest_subprocess().assert_outcomes(passed=3)


@pytest.mark.slow
def test_the_contracts_of_a_plug_in_pass(pytester):
    pytester.makepyfile(test_my_plug_in=TESTS[1])
    pytester.runpytest_subprocess().assert_outcomes(passed=17)


def latencies(folder: Path) -> list[float]:
    """Return the judged latency of each trial of a campaign (ms)."""
    return [json.loads(line)['latency']['reaction']['judged_ns'] / 1e6
            for line in (folder / 'trials.jsonl').read_text().splitlines()]


def test_the_plug_ins_of_the_page_work_when_they_are_installed(tmp_path):
    (tmp_path / 'my_plug_ins.py').write_text(PLUG_INS)
    info = tmp_path / 'my_plug_ins-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: my_plug_ins\nVersion: 1.0\n')
    [points] = re.findall(r'^```toml\n(.*?)^```$', PAGE.read_text(encoding='utf-8'), re.M | re.S)
    (info / 'entry_points.txt').write_text(
        re.sub(r"\[project\.entry-points\.'(.+)'\]", r'[\1]', points).replace("'", ''))
    code = (f'import sys; sys.path.insert(0, {str(tmp_path)!r})\n'
            f'from safety_scenarios.cli.main import main; sys.exit(main(sys.argv[1:]))')
    for link in ('loopback', 'slow'):
        done = subprocess.run(
            [sys.executable, '-c', code, 'run', 'SCN-R-101', '--link', link, '--period-ms', '10',
             '--outputs', 'markdown', '--record', 'commands', '--output', str(tmp_path / link)],
            capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    [trial] = (tmp_path / 'slow.md').read_text().splitlines()
    assert re.fullmatch(r'\| SCN-R-101\.\S+ \| PASS \|', trial)
    [table] = (tmp_path / 'slow').glob('recordings/*/commands.csv')
    assert len(table.read_text().splitlines()) > 50
    [[soon], [late]] = latencies(tmp_path / 'loopback'), latencies(tmp_path / 'slow')
    assert late - soon == pytest.approx(40.0, abs=10.0), 'of the phase of its period'
