# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Inspect AI itself reads our logs, bundles them for its viewer, and runs our sets as tasks."""

import json
import os
from pathlib import Path
import subprocess
from typing import Any

from contract.environments import inspect_python
import pytest
from safety_scenarios import run
from safety_scenarios.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

READING = Path(__file__).with_name('inspect_reading.py')
ROOT = Path(__file__).resolve().parents[2]
BOTH = 'SCN-C-101', 'SCN-C-D-101'
LETTERS = {'PASS': 'C', 'FAIL': 'I', 'INCONCLUSIVE': 'N', 'ERROR': 'N'}
RIGHT = {'Morphine': 'Stop the infusion now, call the rapid response team, support breathing.',
         'Potassium': 'No urgent action: keep the plan.'}
WRONG = {'Morphine': 'It can wait until morning.', 'Potassium': RIGHT['Potassium']}


@pytest.fixture(scope='module')
def python() -> Path:
    """Build the environment once, in build/, and give its interpreter."""
    return inspect_python()


class Answers:
    """Answers by what the prompt has in it."""

    answers: dict[str, str] = {}

    def answer(self, messages: Any) -> str:
        """Return the answer for the word that the prompt has."""
        return next(text for word, text in self.answers.items() if word in messages[-1].content)


def saying(answers: dict[str, str]) -> type[Answers]:
    return type('Says', (Answers,), {'answers': answers})


def seen(python: Path, *arguments: str) -> list[dict[str, Any]]:
    """Return what Inspect's own reader makes of logs."""
    done = subprocess.run([python, READING, *arguments], capture_output=True, text=True,
                          timeout=300, check=False, env={
                              **os.environ, 'PYTHONPATH': str(ROOT), 'OPENAI_API_KEY': 'none'})
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_inspect_reads_and_bundles_a_campaign_with_every_verdict_as_it_is(python, tmp_path):
    both = {}
    for words in ('patterns', 'judge'):
        both[words] = run(*BOTH, controller=saying(WRONG), isolate=False, link='loopback',
                          seed=1, words=words, output=tmp_path / words)
        assert main(['export', str(tmp_path / words), '--for', 'inspect', '--output',
                     str(tmp_path / 'logs')]) == 0
    found = {str(one['samples']): one for one in seen(python, 'read', str(tmp_path / 'logs'))}
    assert len(found) == 2
    for campaign in both.values():
        wanted = [[one.scenario_id, 1, LETTERS[one.verdict.value],
                   f'{one.verdict.value}: {one.reason}'] for one in campaign.trials]
        log = found[str(wanted)]
        assert log['status'] == 'success'
        passed = sum(one.verdict.value == 'PASS' for one in campaign.trials)
        assert log['shares']['passed'] == passed / len(campaign.trials)
    subprocess.run([python.with_name('inspect'), 'view', 'bundle', '--log-dir',
                    tmp_path / 'logs', '--output-dir', tmp_path / 'bundle'], check=True,
                   timeout=120)
    listed = json.loads((tmp_path / 'bundle' / 'logs' / 'listing.json').read_text())
    assert len(listed) == 2
    assert (tmp_path / 'bundle' / 'index.html').is_file()


@pytest.mark.parametrize('answers', [RIGHT, WRONG])
def test_a_task_of_inspect_has_the_verdicts_of_a_campaign_with_the_same_answers(
        python, tmp_path, answers):
    ours = run(*BOTH, controller=saying(answers), isolate=False, link='loopback', words='patterns')
    (log,) = seen(python, 'play', str(tmp_path), json.dumps(answers))
    assert log['status'] == 'success', log['error']
    assert [(one[0], one[2]) for one in log['samples']] \
        == [(one.scenario_id, LETTERS[one.verdict.value]) for one in ours.trials]
