# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Ctrl-C, a killed controller, a killed evaluator: nothing measured is lost, nothing is left."""

from contextlib import suppress
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest
from ros.campaigns import (
    brief,
    campaign,
    COMMAND,
    environment,
    QUICK,
    trials_in,
    unmeasured,
    until,
)
from safety_scenarios.ros import controller_process
from safety_scenarios.ros.controller_process import last_words
from safety_scenarios.ros.middleware import abandoned, remove_segments

pytestmark = pytest.mark.dds
TRIALS = 4


@pytest.mark.parametrize(('log', 'words'), [
    (['loading', 'no such device'], 'no such device'),
    (['Traceback (most recent call last):', '  File "a.py", line 1, in b', '    c()',
      'x.ValidationError: 1 error for Command', 'velocity', '  Input is wrong',
      '    see https://'],
     'x.ValidationError: 1 error for Command velocity Input is wrong see https:// (a.py:1)'),
    (['Traceback (most recent call last):', '  File "<frozen runpy>", line 226, in run',
      '  File "/home/me/my_robot.py", line 7, in __init__', '    self.load()',
      f'  File "{os.__file__}", line 3, in open', 'FileNotFoundError: w.pt'],
     'FileNotFoundError: w.pt (my_robot.py:7)'),
    (['Traceback (most recent call last):', '    a', 'KeyError: 1', '', 'During handling:',
      'Traceback (most recent call last):', '    b', 'ValueError: 2'], 'ValueError: 2'),
    (['Traceback (most recent call last):',
      f'  File "{controller_process.__file__}", line 7, in f',
      '  File "/ws/src/own.py", line 89, in decide', '    sqrt(-1)',
      '  File "/usr/lib/python3/dist-packages/numpy/core.py", line 3, in sqrt',
      'ValueError: math domain error'], 'ValueError: math domain error (own.py:89)'),
    (['Traceback (most recent call last):', '  File "/ws/own.py", line 89, in decide',
      'ControllerError: it failed (own.py:89)'], 'ControllerError: it failed (own.py:89)'),
    (['Fatal Python error: Segmentation fault', '', 'Thread 0x1 (most recent call first):',
      '  File "/ws/beside.py", line 2 in wait', '', 'Current thread 0x2 (most recent call first):',
      '  File "/usr/lib/python3.12/ctypes/__init__.py", line 5 in string_at',
      '  File "/ws/own.py", line 98 in decide', '  File "/ws/main.py", line 3 in main', '',
      'Extension modules: yaml._yaml (total: 1)'],
     'Fatal Python error: Segmentation fault (own.py:98)'),
    (['Traceback (most recent call last):'], 'Traceback (most recent call last):')])
def test_the_last_words_of_a_controller_are_its_whole_exception(log, words):
    assert last_words(log) == words


CRASHES = """
import threading
from safety_scenarios.controllers.rule_based import RuleBased


class Crashes(RuleBased):
    def decide(self, observation):
        if 'asked' not in self.__dict__:
            self.__dict__['asked'] = 0
            threading.Thread(target=threading.Event().wait).start()
        self.__dict__['asked'] += 1
        if self.asked > 15:
            raise ValueError('sqrt of -1')
        return super().decide(observation)
"""


def test_a_controller_that_crashes_beside_a_thread_of_its_own_is_named_with_its_line(tmp_path,
                                                                                     monkeypatch):
    """Its process never ended, as the thread does not: no trial said that it had crashed."""
    (tmp_path / 'own_crash.py').write_text(CRASHES)
    monkeypatch.setenv('PYTHONPATH', f'{tmp_path}:{os.environ.get("PYTHONPATH", "")}')
    run = campaign(tmp_path / 'run', QUICK, '--controller', 'own_crash:Crashes', '--trials', '2',
                   again=False)
    found = [one['reason'] for trial in run.trials for one in trial['findings']
             if one['check'] == 'the controller kept working']
    assert found, run.output
    assert all('ValueError: sqrt of -1 (own_crash.py:13)' in reason for reason in found), found


@pytest.mark.parametrize('held', ['sem.{}_mutex', '{}', '{}_el', '{}_sl'])
def test_no_segment_is_removed_that_anybody_has_open_though_no_list_of_processes_tells(held):
    """As whoever has just begun, or is in a container that shares no more than the memory."""
    name = f'fastrtps_of_{os.getpid()}'
    files = [Path('/dev/shm', part.format(name))
             for part in ('sem.{}_mutex', '{}', '{}_el', '{}_sl')]
    for file in files:
        file.write_bytes(b'0')
    try:
        with Path('/dev/shm', held.format(name)).open('r+b'):
            assert name not in abandoned()
            remove_segments({name})
            assert all(file.exists() for file in files)
        assert name in abandoned()
        remove_segments({name, f'{name}_that_is_not_there'})
        assert not any(file.exists() for file in files)
    finally:
        for file in files:
            file.unlink(missing_ok=True)


def test_a_pipe_or_a_link_in_shared_memory_neither_holds_up_the_end_nor_is_removed(tmp_path):
    pipe, link = (Path(f'/dev/shm/fastrtps_{kind}_of_{os.getpid()}') for kind in ('pipe', 'link'))
    try:
        os.mkfifo(pipe)
        link.symlink_to(tmp_path / 'of_somebody')
        (tmp_path / 'of_somebody').touch()
        assert not {pipe.name, link.name} & abandoned()
        remove_segments({pipe.name, link.name})
        assert pipe.exists() and link.exists()
    finally:
        pipe.unlink(missing_ok=True)
        link.unlink(missing_ok=True)


@pytest.fixture
def running(tmp_path):
    """Run a campaign of four trials in the background."""
    command = [COMMAND, 'run', *brief(tmp_path, 'SCN-R-103'), '--trials', str(TRIALS),
               '--output', tmp_path / 'run', '--calibration', 'off']
    with subprocess.Popen(command, env=environment(), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as evaluator:
        yield evaluator, tmp_path / 'run'
        if evaluator.poll() is None:
            evaluator.kill()


def children(pid):
    """Return the child processes of a process."""
    try:
        return [int(child) for child in
                Path(f'/proc/{pid}/task/{pid}/children').read_text().split()]
    except OSError:
        return []


def alive(pid):
    """Tell whether a process exists and is no zombie."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


def segments_of(*pids):
    """Return the Fast DDS shared-memory segments whose lock files processes hold open."""
    return {Path(lock.removesuffix('_el')) for lock in map(os.readlink, (
        link for pid in pids for link in Path(f'/proc/{pid}/fd').iterdir()))
        if lock.startswith('/dev/shm/fast') and lock.endswith('_el')}


def left_of(segments):
    """
    Return those of the segments that are there, and that nobody living holds or sends to.

    Some are called the same in every domain, and others may have taken them over.
    """
    there, held = {name for name in segments if name.exists()}, set()
    for entry in Path('/proc').glob('[0-9]*') if there else ():
        with suppress(OSError):  # it has ended meanwhile
            held |= segments_of(entry.name)
            maps = (entry / 'maps').read_text()
            held |= {name for name in there if f'{name}\n' in maps}
    return there - held


def lines(folder):
    """Return the trials that have been written so far."""
    path = folder / 'trials.jsonl'
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize('number', [
    signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.thorough)])
def test_an_interrupt_keeps_what_was_measured_and_leaves_nothing(running, number):
    evaluator, folder = running
    until(lambda: len(lines(folder)) >= 1)
    controllers = children(evaluator.pid)
    segments = segments_of(evaluator.pid, *controllers)
    assert controllers and segments
    time.sleep(1.0)
    evaluator.send_signal(number)
    output, _ = evaluator.communicate(timeout=20)
    assert evaluator.returncode == 3, output
    assert 'Traceback' not in output
    summary = json.loads((folder / 'campaign.json').read_text())
    assert summary['interrupted'] and summary['completed'] == len(lines(folder)) < TRIALS
    assert summary['verdict'] == 'INCONCLUSIVE'
    assert not any(alive(pid) for pid in controllers)
    assert not left_of(segments)


def test_a_killed_controller_costs_its_trial_and_no_other(running):
    evaluator, folder = running
    until(lambda: len(lines(folder)) >= 1)
    controller = children(evaluator.pid)[0]
    segments = segments_of(evaluator.pid, controller)  # its own, and those that it sends to
    time.sleep(0.5)
    os.kill(controller, signal.SIGKILL)
    output, _ = evaluator.communicate(timeout=60)
    results = trials_in(folder)
    assert len(results) == TRIALS, output
    killed = results.pop(1)
    assert killed['verdict'] in ('FAIL', 'ERROR'), 'by whether the hazard had come'
    assert 'was ended by signal SIGKILL' in json.dumps(killed['findings'])
    measured = [result['verdict'] for result in results if not unmeasured(result)]
    assert set(measured) == {'PASS'}, output
    assert not unmeasured(results[-1]) or not unmeasured(results[-2]), output
    assert evaluator.returncode in (1, 3)
    assert segments and not left_of(segments)


_LAUNCHER = """
import os, subprocess, sys
from safety_scenarios.campaign.process import ENDS_WITH_PARENT
code = 'import sys; from safety_scenarios.cli import nodes; sys.exit(nodes.evaluator_node())'
child = subprocess.Popen([sys.executable, '-c', code, '--ros-args', *sys.argv[1:]],
                         env={**os.environ, ENDS_WITH_PARENT: '1'})
print(child.pid, flush=True)
child.wait()
"""
"""Starts the evaluator as ``ros2 launch`` starts it for a launch file of ours."""


def test_an_evaluator_whose_launch_is_killed_ends_and_writes_what_was_measured(tmp_path):
    folder = tmp_path / 'run'
    parameters = {'scenarios': 'SCN-R-101', 'link': 'loopback', 'trials': 9999, 'output': folder}
    with subprocess.Popen(
            [sys.executable, '-c', _LAUNCHER, *(word for name, value in parameters.items()
                                                for word in ('-p', f'{name}:={value}'))],
            env=environment(), text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT) as launch:
        child = int(launch.stdout.readline())
        until(lambda: len(lines(folder)) >= 1, 200)
        launch.kill()
        launch.stdout.close()  # whoever reads the output has gone too
        launch.wait()
    until(lambda: not alive(child))
    assert json.loads((folder / 'campaign.json').read_text())['interrupted']
    assert (folder / 'manifest.json').exists()


def test_a_killed_evaluator_leaves_no_controller_behind(running):
    evaluator, folder = running
    until(lambda: len(lines(folder)) >= 1)
    controllers = children(evaluator.pid)
    segments = segments_of(evaluator.pid, *controllers)
    evaluator.kill()
    evaluator.wait()
    until(lambda: not any(alive(pid) for pid in controllers), 10)
    assert all(json.loads(line)['verdict'] for line in lines(folder))
    assert segments
    until(lambda: not left_of(segments), 10)
