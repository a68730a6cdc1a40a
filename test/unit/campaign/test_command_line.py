# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What other processes of the same user read of a campaign: neither its scenarios nor its seed."""

from pathlib import Path
import stat
import subprocess
import sys
import tempfile
import time

from safety_scenarios.campaign.process import remove_launch_files
from unit.loopback_runs import loopback_run

CODE = """
import subprocess, sys
from safety_scenarios.cli import main
sys.argv = ['safety-scenarios', *sys.argv[1:]]
sys.exit(main.main())
"""
SPY = """
import os, time
from pathlib import Path
import safety_scenarios as ss

if not Path('seen').exists():
    Path('seeing').write_text(str(os.getppid()))
    Path('seeing').replace('seen')
    while not Path('looked').exists():
        time.sleep(0.01)


def spy(observation):
    return ss.Command(velocity=(0.5, 0.0))
"""


def test_the_command_line_of_a_campaign_is_out_of_sight(tmp_path):
    (tmp_path / 'own_spy.py').write_text(SPY)
    with subprocess.Popen(
            [sys.executable, '-c', CODE, 'run', 'SCN-R-101', '--seed', '987654321', '--link',
             'loopback', '--controller', 'own_spy:spy', '--output', 'run', '-v'], cwd=tmp_path,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as campaign:
        until = time.monotonic() + 60.0
        while not (tmp_path / 'seen').exists() and time.monotonic() < until:
            time.sleep(0.01)
        harness = (tmp_path / 'seen').read_text()
        told = Path(f'/proc/{harness}/cmdline').read_text()
        (tmp_path / 'looked').touch()
        shown = ' '.join(campaign.communicate(timeout=120)[0].split())
    assert campaign.returncode == 1, shown
    assert '--seed 987654321' in shown
    assert told.rstrip('\0') == 'safety-scenarios run'


def test_what_launch_wrote_for_this_process_goes_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    launched, own = tmp_path / 'launch_params_ab12', tmp_path / 'mine.yaml'
    elsewhere = tmp_path / 'kept' / 'launch_params_cd34'
    elsewhere.parent.mkdir()
    for path in (launched, own, elsewhere):
        path.touch()
    remove_launch_files(['--ros-args', *(word for path in (launched, own, elsewhere)
                                         for word in ('--params-file', str(path)))])
    assert not launched.exists() and own.exists() and elsewhere.exists()


def test_nobody_else_looks_into_the_folder_while_the_campaign_runs(tmp_path, monkeypatch):
    modes = []
    from safety_scenarios.campaign.folder.folder import RunFolder
    whole = RunFolder.add
    monkeypatch.setattr(RunFolder, 'add', lambda self, *given: modes.append(
        stat.S_IMODE(self.folder.stat().st_mode)) or whole(self, *given))
    (tmp_path / 'run').mkdir(mode=0o755)
    loopback_run(tmp_path / 'run', 'SCN-R-101')
    assert modes == [0o700] and stat.S_IMODE(Path(tmp_path / 'run').stat().st_mode) == 0o755
