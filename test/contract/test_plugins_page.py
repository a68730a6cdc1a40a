# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The plug-ins of doc/plugins.md, installed as the page says, keep their contracts."""

from pathlib import Path
import re
import subprocess
import sys

import pytest

PAGE = (Path(__file__).parents[2] / 'doc' / 'plugins.md').read_text(encoding='utf-8')
FILES = dict(re.findall(r'^```python\n# (\w+\.py)\n(.+?)^```$', PAGE, re.M | re.S))


def test_each_example_is_a_file():
    assert len(FILES) == PAGE.count('```python') == 4


@pytest.mark.slow
def test_the_examples_keep_their_contracts(tmp_path):
    for name, code in FILES.items():
        (tmp_path / name).write_text(code, encoding='utf-8')
    [points] = re.findall(r'```toml\n(.+?)```', PAGE, re.S)
    info = tmp_path / 'examples-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: examples\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(
        re.sub(r"\[project\.entry-points\.'(.+)'\]", r'[\1]', points).replace("'", ''))
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'test_my_plug_ins.py'],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r'^\d+ passed', done.stdout, re.M), done.stdout
