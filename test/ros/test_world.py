# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Evaluator, simulator and controller as three processes, in a world that answers."""

from contextlib import contextmanager
import os
from pathlib import Path
import signal
import subprocess
import sys

import pytest
from ros.campaigns import brief, campaign, COMMAND, environment, process, QUICK, trials_in, until
from unzipped import read_text

pytestmark = pytest.mark.dds
SIMULATOR = 'safety_scenarios.ros.nodes.simulator_node'


def children(parent: int, module: str) -> list[int]:
    """Return the processes that a process has started, and that run a module."""
    found = []
    for entry in Path('/proc').iterdir():
        try:
            if entry.name.isdigit() and module in (entry / 'cmdline').read_text() and int(
                    (entry / 'stat').read_text().rpartition(')')[2].split()[1]) == parent:
                found.append(int(entry.name))
        except OSError:
            pass  # it has ended meanwhile
    return found


def has_onset(folder: Path) -> bool:
    """Return whether a trial that runs has come to its hazard."""
    return any('"mark","onset"' in read_text(path)
               for path in folder.rglob('*.events.jsonl.gz.part'))


@contextmanager
def running(folder: Path, *arguments: str, scenario: str = QUICK):
    """Run a campaign in the background while the block lasts."""
    command = [str(COMMAND), 'run', scenario, '--world', 'mujoco', '--calibration', 'off',
               '--output', str(folder), *arguments]
    with subprocess.Popen(command, env=environment(), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as run:
        try:
            yield run
        finally:
            run.terminate()


def test_in_lock_step_three_processes_come_to_what_one_comes_to(tmp_path):
    """The same robot stops at the same place, however busy the machine is."""
    paths = brief(tmp_path / 'files', 'SCN-R-101')
    alone = campaign(tmp_path / 'alone', *paths, '--link', 'simulated').trials[0]
    run = campaign(tmp_path / 'three', *paths, '--world', 'mujoco', '--set', 'clock.lockstep=true',
                   '--set', 'real_time_factor=0', '--namespace', 'cart')
    assert run.code == 0, run.output
    apart, = run.trials
    assert apart['latency']['reaction']['judged_ns'] == pytest.approx(
        alone['latency']['reaction']['judged_ns'], abs=1e6)
    for figure in ('min_gap_m', 'stopping_distance_m', 'time_to_standstill_ms'):
        assert apart['world'][figure] == pytest.approx(alone['world'][figure], rel=1e-3), figure
    assert apart['world']['lockstep']
    assert 'lock-step' in {note['code'] for note in apart['notes']}
    again = subprocess.run([COMMAND, 'evaluate', str(run.folder)], env=environment(), text=True,
                           capture_output=True, timeout=60, check=False)
    assert again.returncode == 0, again.stdout + again.stderr


@pytest.mark.thorough
def test_three_processes_at_a_factor_of_real_time_come_to_a_verdict(tmp_path):
    """
    Everything is due at its time in the simulation, whatever the machine has to do.

    What the controller takes is real time, of which three times as much passes there: the budget
    and the hazard are long enough for a busy machine, and for the base to come to rest.
    """
    patient = tmp_path / 'patient.yaml'
    text = Path(QUICK).read_text(encoding='utf-8')
    for short, long in (('target_ms: 100, acceptable_ms: 200, critical_ms: 300',
                         'target_ms: 300, acceptable_ms: 600, critical_ms: 1500'),
                        ('at_ms: 500', 'at_ms: 3000'), ('[50, 100]', '[1000, 1200]'),
                        ('max_speed: 1.0', 'max_speed: 1.0, stopping: {model: '
                                           'constant_deceleration, deceleration: 1.0}')):
        assert short in text
        text = text.replace(short, long)
    patient.write_text(text, encoding='utf-8')
    run = campaign(tmp_path / 'run', str(patient), '--world', 'mujoco', '--set',
                   'real_time_factor=3')
    assert run.code == 0, run.output
    trial, = run.trials
    assert 0 < trial['latency']['reaction']['judged_ns'] < 1500e6
    assert trial['latency']['late_ns'] == 0
    assert 0 < trial['rtf'] < 3.4
    assert 'simulated-time' in {note['code'] for note in trial['notes']}


def test_whoever_dies_costs_a_trial_and_leaves_nobody_behind(tmp_path):
    """The simulator's death costs its trial and no other; the evaluator's ends the others."""
    folder = tmp_path / 'run'
    with running(folder, '--trials', '3', '--set', 'real_time_factor=0.5') as run:
        until(lambda: has_onset(folder))
        killed, = children(run.pid, SIMULATOR)
        os.kill(killed, signal.SIGKILL)
        until(lambda: len(trials_in(folder)) == 2)
        left = [*children(run.pid, SIMULATOR), *children(run.pid, 'controller_node')]
        assert len(left) == 2
        run.kill()
        output, _ = run.communicate(timeout=10)
        until(lambda: not any(Path('/proc', str(pid)).exists() for pid in left), 15)
    first, second = trials_in(folder)
    # a busy host may break the clock as well, and then that alone is judged
    by_clock = any(one['source'] == 'clock' for one in first['findings'])
    assert first['verdict'] == ('INCONCLUSIVE' if by_clock else 'ERROR'), output
    assert 'the simulator was ended by signal SIGKILL' in first['reason']
    assert second['verdict'] in ('PASS', 'INCONCLUSIVE'), 'a busy host may leave it open'
    assert not any(code in second['reason'] for code in ('simulator was', 'not connected'))


@pytest.mark.thorough
def test_with_a_second_simulator_nothing_is_judged(tmp_path, domain):
    """Whether it is there before the trial, and named, or comes while that runs."""
    with process(sys.executable, '-m', SIMULATOR, domain=domain):
        run = campaign(tmp_path / 'run', QUICK, '--world', 'mujoco', '--domain-id', str(domain),
                       again=False)
    trial, = run.trials
    assert trial['verdict'] in ('ERROR', 'INCONCLUSIVE')
    assert any(text in trial['reason'] for text in (
        '/clock: got 2 publishers', '/clock went back', '/clock jumped ahead',
        'a second simulator')), run.output
