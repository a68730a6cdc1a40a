# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Ctrl-C while a result is written: what is counted has its line, and what has one is counted."""

import builtins
import gzip
import io
import itertools
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import click
from examples import FEW
import pytest
from safety_scenarios.campaign.folder.evidence import verify
from safety_scenarios.campaign.folder.files import AreTrace, TrialFiles
from safety_scenarios.campaign.folder.folder import read_trials, RunFolder
from safety_scenarios.campaign.process import ENDS_WITH_PARENT, uninterrupted
from safety_scenarios.campaign.run import run
from safety_scenarios.cli.main import cli, main
from safety_scenarios.errors import interrupted
from safety_scenarios.reports.outputs.report import Views
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.session import Observer, TraceContext
from unit.campaign.test_trials import links, trials
from unit.loopback_runs import run_trials
from unzipped import read_text, write_text

QUICK = str(Path(__file__).parents[2] / 'data' / 'quick_person.yaml')


class Writing(Observer):
    """Stands before and behind those that write, so that only their writing is counted."""

    def __init__(self, presses_at: int) -> None:
        self.count, self.presses_at, self._is_between = 0, presses_at, False

    def trial_ended(self, record, result):
        self._is_between = not self._is_between

    def __call__(self, of):
        """Return a function before which Ctrl-C is pressed if its turn has come."""
        def called(*arguments, **more):
            self.count += self._is_between
            if self._is_between and self.count == self.presses_at:
                signal.raise_signal(signal.SIGINT)
            return of(*arguments, **more)
        return called


@pytest.fixture(autouse=True)
def heard():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def campaign(folder, presses_at, monkeypatch):
    """Run three trials with Ctrl-C before a write of the first two; return what is counted."""
    writing = Writing(presses_at)

    class File(io.TextIOWrapper):
        write = writing(io.TextIOWrapper.write)
        writelines = writing(io.TextIOWrapper.writelines)
        flush = writing(io.TextIOWrapper.flush)
        close = writing(io.TextIOWrapper.close)

    class Packed(io.BufferedWriter):
        write = writing(io.BufferedWriter.write)
        flush = writing(io.BufferedWriter.flush)
        close = writing(io.BufferedWriter.close)

    def opened(path, mode='r', *_, encoding=None, **__):
        if 'b' not in mode:
            return File(builtins.open(path, f'{mode}b'), encoding=encoding)
        return builtins.open(path, mode) if mode == 'rb' \
            else Packed(io.FileIO(path, mode.replace('b', '')))
    with monkeypatch.context() as patch:
        patch.setattr('pathlib.Path.open', opened)
        patch.setattr(os, 'replace', writing(os.replace))
        patch.setattr(os, 'fsync', writing(os.fsync))
        out = RunFolder(TrialFiles(folder, [AreTrace(
            TraceContext(RunSettings(), folder, None, str))]))
        views = Views()
        views.campaign_began(SimpleNamespace(folder=folder))
        found = run_trials(trials(1), links(), (writing, out, views, writing))
        out.close()
    return found, writing.count


def test_whenever_ctrl_c_is_pressed_what_is_counted_was_written_and_nothing_else(
        tmp_path, monkeypatch):
    for presses_at in itertools.count(1, 3 if FEW else 1):
        folder = tmp_path / str(presses_at)
        folder.mkdir()
        found, writes = campaign(folder, presses_at, monkeypatch)
        counted = [result.trial_id for result in found.results]
        assert [result.trial_id for result in read_trials(folder)] == counted
        views = gzip.decompress((folder / 'views.jsonl.gz').read_bytes()).splitlines()
        assert [json.loads(line)['trial_id'] for line in views if b'"view"' in line] == counted
        assert len(list(folder.rglob('traces/*/*.json.gz'))) == len(counted)
        assert not list(folder.rglob('*.part')) and counted
        if not found.interrupted:
            break
    assert presses_at > writes >= 15 and len(counted) == 3


def test_a_signal_is_obeyed_when_the_block_has_ended_and_a_second_one_at_once():
    done = []
    with pytest.raises(KeyboardInterrupt):
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append('written')
        done.append('never')
    assert done == ['written']
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done.append('a write that hangs')
    assert done == ['written']
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(OSError), uninterrupted():
        raise OSError('the disk is full')
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_that_comes_while_the_block_fails_is_obeyed_and_the_error_is_told():
    """Whoever goes on after an error, with the next campaign, would never hear of it."""
    with pytest.raises(KeyboardInterrupt) as stop, uninterrupted():
        signal.raise_signal(signal.SIGINT)
        raise OSError(28, 'No space left on device', 'trials.jsonl')
    assert interrupted(stop.value) == (
        'interrupted, after an error: trials.jsonl: No space left on device')
    assert interrupted(KeyboardInterrupt()) == 'interrupted'
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_result_that_was_not_written_is_no_campaign_that_was_merely_interrupted(
        monkeypatch, capsys):
    """Its summary would count the trials before it, and say nothing of the disk."""
    class Full(Observer):

        def trial_ended(self, record, result):
            signal.raise_signal(signal.SIGINT)
            raise OSError('the disk is full')
    with pytest.raises(KeyboardInterrupt) as stop:
        run_trials(trials(1), links(), [Full()])
    assert isinstance(stop.value.__cause__, OSError)

    @click.command()
    def stopped():
        raise stop.value
    monkeypatch.setattr(cli, 'get_command', lambda context, name: stopped)
    assert main(['run']) == 3
    assert 'interrupted, after an error: OSError: the disk is full' in capsys.readouterr().err


def test_a_signal_that_comes_as_a_block_ends_keeps_no_later_one_from_being_heard(monkeypatch):
    """It ends the putting back of the handlers before the last one."""
    real = signal.signal

    def put_back(number, handler):
        found = real(number, handler)
        if handler is signal.default_int_handler:
            signal.raise_signal(number)
        return found
    before = real(signal.SIGTERM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), uninterrupted():
            monkeypatch.setattr(signal, 'signal', put_back)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    finally:
        monkeypatch.undo()
        real(signal.SIGTERM, before)


def test_a_signal_that_nobody_hears_is_left_as_it_is():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with uninterrupted():
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize('block', ['nullcontext', 'uninterrupted'])
@pytest.mark.parametrize('prints', ['stdout', 'stderr'])
def test_a_terminal_that_is_not_read_does_not_keep_a_campaign_from_ending(block, prints):
    """Five SIGTERM did not end a campaign whose output was stopped, as Ctrl-S stops it."""
    program = f"""
from contextlib import nullcontext
import sys
from safety_scenarios.campaign.process import ENDS_WITH_PARENT, interruptible, uninterrupted
interruptible()
try:
    with {block}():
        print('x' * 1_000_000, file=sys.{prints}, flush=True)
except KeyboardInterrupt:
    print('x' * 1_000_000, file=sys.{prints}, flush=True)
    sys.exit(3)
"""
    with subprocess.Popen([sys.executable, '-c', program],
                          **{prints: subprocess.PIPE}) as process:
        output = getattr(process, prints)
        assert output.read(1) == b'x'  # it has begun, and waits
        process.terminate()
        try:
            assert process.wait(20) == 3
        finally:
            process.kill()


def test_who_reads_and_is_behind_for_a_moment_loses_no_output():
    """After Ctrl-C a busy terminal was left with its second screen, and nothing was printed."""
    program = """
import sys
from safety_scenarios.campaign.process import ENDS_WITH_PARENT, interruptible
interruptible()
try:
    print('x' * 1_000_000, flush=True)
except KeyboardInterrupt:
    print('what was measured', flush=True)
"""
    with subprocess.Popen([sys.executable, '-c', program], stdout=subprocess.PIPE) as process:
        assert process.stdout.read(1) == b'x'  # it has begun, and waits
        process.terminate()
        time.sleep(0.3)
        assert process.stdout.read().endswith(b'what was measured\n')


class ToldToEnd(Observer):
    """Is sent a signal while the campaign runs, as launch sends SIGINT, or when it has ended."""

    def __init__(self, in_a_trial: bool, at_its_end: bool) -> None:
        self.in_a_trial, self.at_its_end = in_a_trial, at_its_end

    def trial_ended(self, record, result):
        if self.in_a_trial:
            signal.raise_signal(signal.SIGINT)

    def campaign_ended(self, summary):
        if self.at_its_end:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize('in_a_trial', [False, True])
def test_a_signal_while_the_files_of_a_campaign_are_closed_waits_until_they_are(
        in_a_trial, tmp_path):
    """As launch sends SIGTERM 5 s after SIGINT, and as somebody who presses Ctrl-C twice."""
    chosen = RunSettings(scenarios=(QUICK,), link='loopback', trials=3, output=str(tmp_path / 'a'))
    observers = [ToldToEnd(in_a_trial, at_its_end=True)]
    if in_a_trial:
        assert run(chosen, observers).interrupted
    else:
        with pytest.raises(KeyboardInterrupt):
            run(chosen, observers)
    assert verify(tmp_path / 'a') == []
    assert json.loads((tmp_path / 'a/campaign.json').read_text())['completed'] == \
        (1 if in_a_trial else 3)


def test_the_manifest_holds_what_a_trial_wrote_and_not_what_somebody_made_of_it_since(tmp_path):
    class Changes(Observer):

        def campaign_ended(self, summary):
            [first, *_] = sorted((tmp_path / 'a/traces').rglob('*.events.jsonl.gz'))
            write_text(first, read_text(first) + '[]\n')

    run(RunSettings(scenarios=(QUICK,), link='loopback', trials=2, output=str(tmp_path / 'a')),
        [Changes()])
    [changed] = verify(tmp_path / 'a')
    assert changed.partition(': ')[0].endswith('.events.jsonl.gz')
    assert changed.partition(': ')[2].startswith('changed, the chain of hashes is broken at line')


def test_a_node_whose_launch_ended_before_it_could_ask_for_the_signal_does_not_run_on():
    with subprocess.Popen([sys.executable, '-c', '']) as launch:
        pass
    code = ('from safety_scenarios.campaign.process import interrupt_with_parent\n'
            'interrupt_with_parent()\nprint("runs on")')
    found = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                           check=False, env={**os.environ, ENDS_WITH_PARENT: str(launch.pid)})
    assert found.returncode and 'KeyboardInterrupt' in found.stderr and not found.stdout
