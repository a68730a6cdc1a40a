# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A real language model drives, from two wheels in an environment of its own."""

from pathlib import Path
import re
import subprocess
import sys

import pytest
from ros.campaigns import campaign, trials_in

pytestmark = [pytest.mark.dds, pytest.mark.environment, pytest.mark.thorough]
PAGE = Path(__file__).parents[2] / 'doc' / 'reference' / 'policies.md'


@pytest.fixture
def address(tmp_path):
    """Serve the model as the manual says, and return where."""
    page = PAGE.read_text(encoding='utf-8')
    [code] = [code for code in re.findall(r'```python\n(.+?)```', page, re.DOTALL)
              if 'xllamacpp' in code]
    (tmp_path / 'serve.py').write_text(code, encoding='utf-8')
    [install] = re.findall(r'^smol-venv/bin/pip (install .+)$', page, re.MULTILINE)
    subprocess.run([sys.executable, '-m', 'venv', tmp_path / 'venv'], check=True, timeout=120)
    python = tmp_path / 'venv' / 'bin' / 'python'
    subprocess.run([python, '-m', 'pip', '--quiet', *install.split()], check=True, timeout=300)
    with subprocess.Popen([python, tmp_path / 'serve.py'], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as server:
        try:
            yield next(line.strip() for line in server.stdout if line.startswith('http'))
        finally:
            server.terminate()


def test_the_small_model_of_the_manual_answers_and_does_not_pass(address, tmp_path):
    run = campaign(tmp_path / 'run', 'SCN-R-101', 'SCN-R-D-101', '--controller',
                   f'openai:{address}/v1#smol', '--set', 'controller.on_new_data=finish', '--set',
                   'controller.timeout_ms=8000', again=False)
    assert run.first_code in (1, 3), run.first_output
    assert all(trial['verdict'] != 'PASS' for trial in trials_in(tmp_path / 'run'))
    logs = ''.join(log.read_text() for log in (tmp_path / 'run' / 'logs').iterdir())
    assert re.search(r'requests to smol: .*valid=[1-9]', logs), logs
