# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Reports of stalls as events, and what waits for /clock after a stall of the evaluator."""

from contextlib import closing
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.ros.link.clock import SimulatedTime
from safety_scenarios.ros.link.process_reports import CommandTimes, stall_event, StallListener
from safety_scenarios.ros.spinning import Arrival, Inbox
from safety_scenarios.ros.worlds.simulator_link import link as world_link
from safety_scenarios.ros.worlds.simulator_link.link import WorldLink
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.timing import Measuring, STALLS
from safety_scenarios.trial.process_witness import Gap, Report

MS = 1_000_000
DAY = 86_400_000 * MS
GAP = Gap(DAY + 100 * MS, DAY + 300 * MS, 190 * MS, 'stopped')


def arrived(report: Any, at_ms: int = 301) -> Arrival:
    return Arrival(at_ms * MS, DAY + at_ms * MS, DAY + at_ms * MS, 'stall', STALLS, info=report)


def test_a_report_becomes_an_event_that_says_when_the_stall_was():
    event = stall_event(arrived(Report('relay', GAP).to_json()), one_host=True)
    assert (event.kind, event.name, event.text) == ('stall', 'relay', 'stopped')
    assert event.truth == pytest.approx({'began': 0.201, 'ended': 0.001, 'lost': 0.19})
    assert event.stamps.steady_ns == 301 * MS


def test_by_the_clock_of_another_host_a_stall_ended_when_it_was_reported():
    ahead = Gap(GAP.began_ns + DAY, GAP.ended_ns + DAY, GAP.lost_ns, GAP.how)
    event = stall_event(arrived(Report('relay', ahead).to_json()), one_host=False)
    assert event.truth == pytest.approx({'began': 0.2, 'ended': 0.0, 'lost': 0.19})


def test_of_the_evaluator_nobody_else_reports_anything():
    assert stall_event(arrived(Report('evaluator', GAP).to_json()), one_host=True) is None
    assert stall_event(arrived(Report('evaluator', GAP)), one_host=True).name == 'evaluator'


@for_each('text', ['', 'null', '{"process": "relay"}'])
def test_what_somebody_else_writes_there_is_no_event(text):
    assert stall_event(arrived(text), one_host=True) is None


def linked(until_ms: int) -> WorldLink:
    """Return a link that has read /clock up to a time, at a factor of 3."""
    link = WorldLink(SimpleNamespace(measuring=Measuring()), SimpleNamespace(law=None),
                     SimpleNamespace(), 1.0, lambda: None)
    link._time.factor = 3.0
    tick(link._time, 0, until_ms)
    return link


def tick(law: SimulatedTime, from_ms: int, until_ms: int) -> None:
    for at_ms in range(from_ms, until_ms + 1, 4):
        law.update(DAY + at_ms * MS, 5_000 * MS + 3 * at_ms * MS)


def commanded(*sent_ms: int, read_ms: int) -> list[Event]:
    return [Event(kind='command', name='cmd_vel', stamps=Stamps(
        steady_ns=read_ms * MS, system_ns=DAY + read_ms * MS, ros_ns=0,
        source_ns=DAY + at_ms * MS, received_ns=DAY + read_ms * MS)) for at_ms in sent_ms]


def test_commands_wait_until_the_clock_that_came_with_them_is_read(monkeypatch):
    link, queued = linked(100), commanded(90, 120, 200, 300, read_ms=400)
    monkeypatch.setattr(world_link, 'time', SimpleNamespace(time_ns=lambda: DAY + 401 * MS))
    assert link._timely(queued) == queued[:2]
    assert link._timely([]) == []
    tick(link._time, 104, 400)
    later = commanded(380, read_ms=402)
    found = link._timely(later)
    assert found == [*queued[2:], *later]
    assert [link._simulated(event).stamps.source_ns // MS for event in found] == [
        5_600, 5_900, 6_140]


def test_commands_do_not_wait_for_a_clock_that_stands_still(monkeypatch):
    link, queued = linked(100), commanded(200, 300, read_ms=400)
    monkeypatch.setattr(world_link, 'time', SimpleNamespace(time_ns=lambda: DAY + 601 * MS))
    assert link._timely(queued) == queued


def test_a_stall_is_told_in_simulated_time():
    link = linked(400)
    event = link._simulated(stall_event(arrived(Report('controller', GAP).to_json()), True))
    now_ns = event.stamps.steady_ns
    assert now_ns == 5_000 * MS + 903 * MS
    assert now_ns - event.truth['began'] * 1e9 == pytest.approx(5_300 * MS)
    assert now_ns - event.truth['ended'] * 1e9 == pytest.approx(5_900 * MS)
    assert event.truth['lost'] == 0.19


@for_each(('every_ms', 'count', 'quiet_ms', 'ceased'), [
    (50, 6, 100, False), (50, 6, 151, True), (50, 6, 1999, True), (50, 6, 2000, False),
    (20, 6, 99, False), (20, 6, 101, True), (100, 6, 299, False), (100, 6, 301, True),
    (50, 3, 400, False), (50, 0, 400, False)])
def test_commands_have_just_ceased_where_several_are_missing(every_ms, count, quiet_ms, ceased):
    times = CommandTimes()
    for index in range(count):
        times.heard(index * every_ms * MS)
    last_ns = (count - 1) * every_ms * MS
    assert times.have_just_ceased(last_ns + quiet_ms * MS) is ceased


SLEEPS, WAKES_UP, COMPUTES = (f'import time\nwhile True: {what}' for what in (
    'time.sleep(60)', 'time.sleep(0.005)', 'pass'))


@pytest.mark.parametrize(('does', 'has_witness', 'is_stopped', 'reports'), [
    (WAKES_UP, True, True, ['controller']), (WAKES_UP, True, False, []),
    (SLEEPS, True, False, ['controller']), (SLEEPS, False, False, []),
    (SLEEPS, False, True, ['controller']), (COMPUTES, False, False, []),
    ('pass', False, False, []), ('pass', True, False, [])])
def test_a_controller_that_still_stands_at_the_end_has_stalled_since_its_last_command(
        does, has_witness, is_stopped, reports):
    """Of a stop that lasts for longer than the hazard nothing is reported in time."""
    inbox, node = Inbox(), SimpleNamespace(
        create_subscription=lambda *_: None, destroy_subscription=lambda _: None)
    with subprocess.Popen([sys.executable, '-c', does]) as process, closing(StallListener(
            node, lambda: Stamps(steady_ns=time.monotonic_ns(), system_ns=time.time_ns(),
                                 ros_ns=0),
            inbox.put, lambda: {process.pid: has_witness})) as listener:
        ended_ns = time.monotonic_ns() - 3_000 * MS
        for index in range(-6, 1):
            listener.commands.heard(ended_ns + index * 50 * MS)
        try:
            time.sleep(0.5)  # it has begun
            os.kill(process.pid, signal.SIGSTOP if is_stopped else signal.SIGCONT)  # no poll
            time.sleep(0.2)
            found = [stall_event(one, one_host=True) for one in listener.await_late(inbox)]
        finally:
            process.kill()
    stalls = [one for one in found if one.name == 'controller']
    assert [one.name for one in stalls] == reports
    assert all(3.0 < one.truth['lost'] == pytest.approx(one.truth['began'], abs=0.1)
               for one in stalls)
