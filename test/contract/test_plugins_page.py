# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The plug-ins of doc/reference/plugins.md, installed as it says, keep their contracts."""

import json
from pathlib import Path
import re
import subprocess
import sys

import pytest

PAGE = (Path(__file__).parents[2] / 'doc' / 'reference' / 'plugins.md').read_text(encoding='utf-8')
FILES = dict(re.findall(r'^```python\n# (\w+\.py)\n(.+?)^```$', PAGE, re.M | re.S))


@pytest.fixture(scope='module')
def folder(tmp_path_factory) -> Path:
    """Return a folder on the path with the examples as an installed package."""
    folder = tmp_path_factory.mktemp('package')
    for name, code in FILES.items():
        (folder / name).write_text(code, encoding='utf-8')
    points = re.search(r'```toml\n(.+?)```', PAGE, re.S)[1]
    info = folder / 'examples-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: examples\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(
        re.sub(r"\[project\.entry-points\.'(.+)'\]", r'[\1]', points).replace("'", ''))
    return folder


def python(folder: Path, *arguments: str) -> str:
    """Run Python in the folder, which is on its path; return what it wrote."""
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True,
                          text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def latency_ms(campaign: Path) -> float:
    """Return the judged latency of its only trial."""
    [line] = (campaign / 'trials.jsonl').read_text().splitlines()
    return json.loads(line)['latency']['reaction']['judged_ns'] / 1e6


def test_each_example_is_a_file():
    assert len(FILES) == PAGE.count('```python\n# ') == 4


@pytest.mark.slow
def test_the_examples_keep_their_contracts(folder):
    shown = python(folder, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'test_my_plug_ins.py')
    assert re.search(r'^\d+ passed in', shown, re.M), shown


@pytest.mark.slow
def test_the_examples_do_what_they_say(folder):
    for link in ('loopback', 'slow_wire'):
        python(folder, '-c', 'import sys; from safety_scenarios.cli.main import main; '
               'sys.exit(main(sys.argv[1:]))', 'run', 'SCN-R-101', '--link', link,
               '--set', 'period_ms=10', '--set', 'outputs=md_table', '--record', 'command_csv',
               '--output', link)
    slow = folder / 'slow_wire'
    assert re.search(r'^\| SCN-R-101\.\S+ \| PASS \|$', (slow / 'table.md').read_text(), re.M)
    [table] = slow.glob('recordings/*/commands.csv')
    assert len(table.read_text().splitlines()) > 50
    late_ms = latency_ms(slow) - latency_ms(folder / 'loopback')
    assert late_ms == pytest.approx(40.0, abs=10.0), 'of the phase of its period'
