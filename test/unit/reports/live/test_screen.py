# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``run --live`` in a terminal that is real enough: a pty, 80 columns wide."""

import fcntl
import io
import os
from pathlib import Path
import pty
import signal
import struct
import subprocess
import sys
import termios

from cases import for_each
from rich.console import Console
from safety_scenarios.cli.main import main
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.reports.live.picture import LiveTrial
from safety_scenarios.reports.live.screen import LiveScreen
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.verdict import Verdict
from unit import records

COMMAND = Path(sys.executable).with_name('safety-scenarios')
ON, OFF, SHOWN = b'\x1b[?1049h', b'\x1b[?1049l', b'\x1b[?25h'
"""Take the whole terminal, give it back, and show the cursor."""
HOSTILE = '[bold]<b>\x1b[2J\x1b]0;owned\x07\x00\u202e'


def in_terminal(*arguments, when=None):
    """Run a command in a pty, and SIGINT it as soon as some bytes were printed; return both."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
    environment = {**os.environ, 'TERM': 'xterm', 'COLUMNS': '80', 'LINES': '24'}
    with subprocess.Popen([COMMAND, 'run', *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
                          env={**environment, 'CI': '', 'NO_COLOR': ''},
                          start_new_session=True) as running:
        os.close(theirs)
        found, is_asked = b'', False
        try:
            while block := os.read(ours, 65536):
                found += block
                if when is not None and when in found and not is_asked:
                    is_asked = True
                    running.send_signal(signal.SIGINT)
        except OSError:  # what a pty gives when its other end is closed
            pass
    os.close(ours)
    return running.returncode, found


def test_ctrl_c_gives_the_terminal_back_and_then_prints_what_was_measured(tmp_path):
    code, found = in_terminal('SCN-R-101', '--live', '--link', 'loopback', '--trials', '1000',
                              '--output', str(tmp_path / 'run'), when=b' PASS')
    assert code == 3, found[-500:].decode()
    assert found.count(ON) == found.count(OFF) == 1
    screen, _, after = found.partition(OFF)
    assert b'current trial' in screen and b'latency' in screen and b'SCN-R-101' in screen
    assert SHOWN in found[found.index(ON):] and b'\x1b[?25l' not in after
    assert b'of 1000 trials' in after and b'campaign.json' in after


def test_without_a_terminal_live_is_refused_clearly_and_nothing_is_run(tmp_path, capsys):
    assert main(['run', 'SCN-R-101', '--live', '--link', 'loopback', '--output',
                 str(tmp_path / 'run')]) == 2
    told = capsys.readouterr()
    assert told.err.startswith('error: --live: got a standard output that is no terminal') \
        and not told.out
    assert not (tmp_path / 'run').exists()


@for_each(('width', 'height'), [(80, 24), (20, 5), (200, 60)])
def test_hostile_words_are_text_on_the_screen_whatever_its_size(width, height):
    out = io.StringIO()
    screen = Console(file=out, force_terminal=True, width=width, height=height, color_system=None)
    live = LiveScreen(screen)
    trial = records.planned(records.hazard(name='Quick [bold]<b>'))
    stage = LiveTrial()
    stage.begin(trial)
    live.show(stage.picture())
    live.happened(trial, Event(kind='say', name='agent', text=HOSTILE,
                               stamps=records.stamps(0.0)), 0)
    result = evaluate(records.record(records.driving(-700.0, 0.0)))
    live.judged(result.model_copy(update={'verdict': Verdict.FAIL, 'reason': HOSTILE}), 1, 2)
    screen.print(live.drawn(width, height))
    shown = out.getvalue()
    assert not set('\x1b\x07\x00\u202e') & set(shown)
    if width >= 80:
        assert '[bold]<b>\\u001b[2J' in shown and 'FAIL' in shown and '1/2' in shown
