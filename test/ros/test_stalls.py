# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Who is stopped and goes on says so, and is not judged by what it could not do meanwhile."""

from contextlib import contextmanager
import os
import signal
import sys
import threading

import pytest
from ros.campaigns import campaign, process, QUICK
from safety_scenarios import registry
from safety_scenarios.trial.journal import read_journal

pytestmark = pytest.mark.dds
STOPPED_S, RUNS_S = 0.4, 0.5
"""So often that each trial of the scenario, which takes a second, meets it."""


@contextmanager
def stopped_again_and_again(running):
    """Stop a process for a while, and let it go on for a while, until the block ends."""
    ended = threading.Event()

    def stop():
        while not ended.wait(RUNS_S):
            running.send_signal(signal.SIGSTOP)
            ended.wait(STOPPED_S)
            running.send_signal(signal.SIGCONT)
    thread = threading.Thread(target=stop)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize(('name', 'never'), [('rule_based', 'FAIL'), ('never_stop', 'PASS')])
def test_a_controller_that_is_stopped_neither_fails_nor_passes_by_it(tmp_path, domain, name,
                                                                     never):
    command = (sys.executable, '-m', 'safety_scenarios.ros.nodes.controller_node', '--ros-args',
               '-p', f'controller:={name}')
    with process(*command, domain=domain) as controller, stopped_again_and_again(controller):
        run = campaign(tmp_path / 'run', QUICK, '--controller', 'external', '--trials', '5',
                       domain=domain, again=False)
    assert never not in {trial['verdict'] for trial in run.trials}, run.output
    records = [read_journal(path, registry.resolve)
               for path in (tmp_path / 'run').rglob('*.events.jsonl.gz')]
    stalls = [event for record in records for event in record.of_kind('stall', 'controller')
              if event.text == 'stopped']
    assert any(0.3 < event.truth['lost'] < 0.7 for event in stalls)


def test_a_controller_that_a_busy_host_starts_slowly_is_waited_for(tmp_path, monkeypatch):
    """Beside a load of 20 a first trial was an ERROR: 10 s were too few to start in."""
    (tmp_path / 'slow.py').write_text(
        'import sys, time\nfrom safety_scenarios.controllers.rule_based import RuleBased\n'
        'if "controller_node" in sys.argv[0]:\n    time.sleep(7)\n\n\n'
        'class Slow(RuleBased):\n    """The reference."""\n', encoding='utf-8')
    monkeypatch.setenv('PYTHONPATH', f'{tmp_path}:{os.environ.get("PYTHONPATH", "")}')
    run = campaign(tmp_path / 'run', QUICK, '--controller', 'slow:Slow', '--set',
                   'connect_timeout_s=5', again=False)
    assert 'ERROR' not in {trial['verdict'] for trial in run.trials}, run.output
