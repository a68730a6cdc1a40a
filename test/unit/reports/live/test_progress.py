# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Progress: a bar in a terminal alone, with the time left and the verdicts so far."""

import io
from types import SimpleNamespace

from cases import for_each
import pytest
from rich.console import Console
from safety_scenarios.campaign.run import run
from safety_scenarios.campaign.statistics.sequential import anytime
from safety_scenarios.reports.live.screen import (
    in_words,
    Lines,
    may_draw,
    progress,
    RunningBound,
    time_left_s,
)
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.rounding import percent_up
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.session import Beginning
from unit.campaign.statistics.test_summarise import trial


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
