# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Live: progress and the screen in a terminal, and the feed, which no output can hold up."""

import fcntl
import io
import logging
import os
from pathlib import Path
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
from types import SimpleNamespace

from cases import for_each
import pytest
from rich.console import Console
from safety_scenarios.campaign.run import run
from safety_scenarios.campaign.statistics.sequential import anytime
from safety_scenarios.cli.main import main
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.reports.live import feed as module
from safety_scenarios.reports.live.feed import Feed, Output
from safety_scenarios.reports.live.picture import LiveTrial
from safety_scenarios.reports.live.screen import (
    in_words,
    Lines,
    LiveScreen,
    may_draw,
    progress,
    RunningBound,
    time_left_s,
)
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.rounding import percent_up
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.session import Beginning
from unit import records
from unit.campaign.statistics.test_summarise import trial
from unzipped import content

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


@for_each(('ended', 'planned', 'elapsed_s', 'words'), [
    (0, 10, 5.0, 'time left not known yet'), (1, 10, 5.0, 'about 45 s left'),
    (10, 100, 20.0, 'about 3 min left'), (100, 1000, 3600.0, 'about 9 h 00 min left'),
    (10, 10, 20.0, 'nearly done'), (11, 10, 20.0, 'nearly done')])
def test_the_time_left_is_that_of_the_trials_so_far(ended, planned, elapsed_s, words):
    assert in_words(time_left_s(ended, planned, elapsed_s)) == words


@for_each(('terminal', 'environment', 'draws'), [
    (True, {}, True), (True, {'CI': 'false', 'NO_COLOR': ''}, True), (False, {}, False),
    (True, {'CI': 'true'}, False), (True, {'NO_COLOR': '1'}, False)])
def test_a_bar_is_drawn_in_a_terminal_that_nobody_calls_plain(terminal, environment, draws):
    screen = Console(file=io.StringIO(), force_terminal=terminal, _environ={'TERM': 'xterm'})
    assert may_draw(screen, environment) is draws


def campaign(observers, trials):
    return run(RunSettings(scenarios=('SCN-C-101',), link='loopback', trials=trials),
               observers, Loopback, files=False)


@for_each('console', ['normal', 'quiet'])
def test_nothing_is_drawn_where_no_terminal_is_nor_for_the_verdict_alone(console):
    out = io.StringIO()
    screen = Console(file=out, force_terminal=console == 'quiet', _environ={'TERM': 'xterm'})
    with progress(RunSettings(console=console), screen, {}) as observers:
        campaign(observers, 2)
    assert out.getvalue() == ''


def test_where_nothing_can_be_drawn_there_is_a_line_now_and_then_with_the_rate():
    """Two seconds a trial; what was run before the campaign was cut off took no time."""
    told, now_s = [], [0.0]
    lines = Lines(told.append, lambda: now_s[0], every_s=5.0)
    lines.campaign_began(Beginning(ControllerSpec(name='c'), 'here', 0, 10, None, None, kept=4))
    for number in range(10):
        now_s[0] += 2.0 * (number >= 4)
        lines.trial_ended(None, SimpleNamespace(verdict=Verdict.PASS))
    assert told == ['7 of 10 trials; 0.5/s, about 6 s left; 7 PASS']


def test_the_lines_of_a_matrix_count_the_trials_of_all_its_arms():
    """Two trials of the first arm were run before the matrix was cut off."""
    told, now_s = [], [0.0]
    lines = Lines(told.append, lambda: now_s[0], every_s=5.0)
    for kept in (2, 0):
        lines.campaign_began(Beginning(ControllerSpec(name='c'), 'here', 0, 5, None, None,
                                       kept=kept))
    for number in range(10):
        now_s[0] += 2.0 * (number >= 2)
        lines.trial_ended(None, SimpleNamespace(verdict=Verdict.PASS))
    assert told == ['5 of 10 trials; 0.5/s, about 10 s left; 5 PASS',
                    '8 of 10 trials; 0.5/s, about 4 s left; 8 PASS']


def test_the_bound_beside_the_bar_holds_at_any_stop_and_counts_what_differs_once():
    now_s = [0.0]
    bound = RunningBound('ros', lambda: now_s[0])
    for number in range(100):
        bound.take(trial('FAIL' if number == 7 else 'PASS', duration_ms=float(number)))
        bound.take(trial('FAIL' if number == 7 else 'PASS', duration_ms=float(number)))
    high = anytime(1, 100, sided='upper').high
    assert bound.text == f'at most {percent_up(high)} do not pass (95 %, at any stop)'
    bound.take(trial('FAIL'))
    assert bound.text == f'at most {percent_up(high)} do not pass (95 %, at any stop)'
    now_s[0] = 1.0
    assert percent_up(anytime(2, 101, sided='upper').high) in bound.text
    assert RunningBound('ros', lambda: 0.0).text == ''


def test_failures_that_came_out_alike_are_counted_each_in_the_bound():
    bound = RunningBound('ros', lambda: 0.0)
    for number in range(100):
        bound.take(trial('PASS', duration_ms=float(number)))
        bound.take(trial('FAIL', 900.0, duration_ms=0.0))
    assert percent_up(anytime(100, 200, sided='upper').high) in bound.text


def test_the_bar_shows_trials_and_verdicts_and_is_gone_when_the_block_ends_also_by_an_error():
    out = io.StringIO()
    screen = Console(file=out, force_terminal=True, width=80, _environ={'TERM': 'xterm'})
    with pytest.raises(ZeroDivisionError), \
            progress(RunSettings(), screen, {}) as observers:
        campaign(observers, 1)
        assert '1/1' in out.getvalue() and 'nearly done; 1 ' in out.getvalue()
        raise ZeroDivisionError
    assert out.getvalue().count('\x1b[?25l') == out.getvalue().count('\x1b[?25h') > 0


class Kept(Output):
    """Keeps what it is called with, and in which thread."""

    def __init__(self, error=None):
        self.calls, self.threads, self._error = [], set(), error

    def __getattribute__(self, name):
        if name not in ('began', 'happened', 'show', 'clear', 'judged', 'ended', 'close'):
            return super().__getattribute__(name)

        def called(*given):
            self.threads.add(threading.current_thread())
            self.calls.append((name, *given))
            if name == self._error:
                raise OSError('the wire is cut')
        return called

    def names(self):
        return [call[0] for call in self.calls]


def fed(feed, **more):
    return run(RunSettings(scenarios=('SCN-R-101',), link='loopback', **more), [feed], Loopback,
               files=False)


def test_an_output_is_told_everything_in_order_in_a_thread_of_its_own():
    kept = Kept()
    with Feed(kept, 0.01) as feed:
        summary = fed(feed, trials=2)
    names = [name for name in kept.names() if name != 'happened']
    while 'show' in names:
        names.remove('show')
    assert names == ['began', 'judged', 'clear', 'judged', 'ended', 'clear', 'close']
    assert kept.threads == {feed._thread} and not feed._thread.is_alive()
    judged = [call[1:] for call in kept.calls if call[0] == 'judged']
    assert [(result.index, ended, planned) for result, ended, planned in judged] == [
        (0, 1, 2), (1, 2, 2)]
    assert [call[1] for call in kept.calls if call[0] == 'ended'] == [summary]
    marks = [call[2].name for call in kept.calls
             if call[0] == 'happened' and call[2].kind == 'mark']
    assert marks == ['nominal', 'onset', 'all_clear', 'end'] * 2
    assert not [call for call in kept.calls
                if call[0] == 'happened' and call[2].kind in ('command', 'echo')]


def test_events_that_are_too_many_are_dropped_and_counted_and_results_are_not(monkeypatch):
    monkeypatch.setattr(module, '_MOST_WAITING', 3)
    feed = Feed(Kept(), 60.0)  # its thread does not run: nobody takes anything
    [sink] = feed.sinks(records.planned(records.hazard()))
    for number in range(10):
        sink.add(records.command(float(number), 0.5))
    assert len(feed.waiting) == 3 and feed.dropped == 7
    feed.trial_ended(None, 'the result')
    assert feed.waiting[-1] == 'the result'


def test_an_output_that_fails_is_logged_once_and_changes_nothing(caplog):
    kept = Kept(error='judged')
    with caplog.at_level(logging.WARNING), Feed(kept, 0.001) as feed:
        summary = fed(feed, trials=3)
    assert summary.verdicts == {'PASS': 3}
    [line] = caplog.messages
    assert line == 'nothing more is shown live: OSError: the wire is cut. The campaign continues'
    assert kept.names().count('judged') == 1 and not feed.waiting


def test_the_record_and_its_verdict_are_the_same_to_the_byte_whoever_looks(tmp_path):
    settings = {'scenarios': ('SCN-R-101',), 'link': 'loopback', 'trials': 2}
    run(RunSettings(**settings, output=str(tmp_path / 'bare')), [], Loopback)
    with Feed(Kept(), 0.001) as feed:
        run(RunSettings(**settings, output=str(tmp_path / 'fed')), [feed], Loopback)
    for path in sorted((tmp_path / 'bare').rglob('*')):
        if path.is_file() and path.name not in ('settings.json', 'manifest.json'):
            other = tmp_path / 'fed' / path.relative_to(tmp_path / 'bare')
            assert content(other) == content(path), path
