# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A process that could not run reports it; one that was busy or asleep by itself does not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import ctypes
import hashlib
import os
import signal
import subprocess
import sys
import time

from cases import for_each
import pytest
from safety_scenarios.trial.process_witness import (
    Gap,
    GAP_NS,
    Gaps,
    ProcessWitness,
    read_report,
    Report,
)

MS = 1_000_000


@contextmanager
def witnessed() -> Iterator[list[Gap]]:
    found: list[Gap] = []
    witness = ProcessWitness(found.append)
    witness.begin()
    time.sleep(0.05)
    try:
        yield found
        time.sleep(0.05)
    finally:
        witness.close()
        witness.close()


def stopped(seconds: float) -> None:
    """Let another process stop this one for some time."""
    with subprocess.Popen([sys.executable, '-c', (
            f'import os, signal, time; os.kill({os.getpid()}, signal.SIGSTOP); '
            f'time.sleep({seconds}); os.kill({os.getpid()}, signal.SIGCONT)')]) as other:
        other.wait()


def lost_ns(found: list[Gap], how: str) -> int:
    return sum(gap.lost_ns for gap in found if gap.how == how)


@pytest.mark.parametrize('seconds', [0.05, 0.1, 0.2, 0.5, 1.0])
def test_a_process_that_was_stopped_says_when_and_how_long(seconds):
    began_ns = time.monotonic_ns()
    with witnessed() as found:
        stopped(seconds)
        ended_ns = time.monotonic_ns()
    longest = max(found, key=lambda gap: gap.lost_ns)
    assert longest.lost_ns >= seconds * 1e9 - 15 * MS
    if longest.lost_ns <= seconds * 1.5e9:  # no load has held it up for longer
        assert began_ns - 60 * MS <= longest.began_ns < longest.ended_ns <= ended_ns + 60 * MS
    if seconds >= 0.2:  # beside a load a shorter one is as much of the load
        assert any(gap.how == 'stopped' and gap.lost_ns >= seconds * 5e8 for gap in found)


def waits_for_a_server() -> None:
    time.sleep(0.4)


def keeps_the_lock_and_waits() -> None:
    ctypes.PyDLL(None).usleep(400_000)


def computes() -> None:
    until = time.process_time() + 0.4
    while time.process_time() < until:
        pass


def computes_in_c() -> None:
    until, data = time.process_time() + 0.4, bytes(10_000_000)
    while time.process_time() < until:
        hashlib.sha256(data)


def keeps_the_lock_and_computes() -> None:
    number = 10**80_000
    until = time.process_time() + 0.4
    while time.process_time() < until:
        number * number
        number % 7919


@for_each('does', [waits_for_a_server, keeps_the_lock_and_waits, computes, computes_in_c,
                   keeps_the_lock_and_computes])
def test_what_a_process_does_by_itself_is_no_stall(does: Callable[[], None]):
    """Beside a load it is held up as well, and reports no more than that."""
    with witnessed() as found:
        began_ns, used_s = time.monotonic_ns(), time.process_time()
        does()
        took_ns, computed_ns = time.monotonic_ns() - began_ns, \
            round(1e9 * (time.process_time() - used_s))
    assert lost_ns(found, 'stopped') <= 50 * MS
    idle_ns = 400 * MS if computed_ns < 200 * MS else computed_ns
    assert lost_ns(found, 'not run') <= max(0, took_ns - idle_ns) + 100 * MS
    if does is keeps_the_lock_and_waits:
        assert lost_ns(found, 'busy') >= 200 * MS


def test_a_process_that_others_do_not_let_run_says_so():
    """Bound to one processor with three others that compute, it has a quarter of it."""
    if not hasattr(os, 'sched_setaffinity'):
        pytest.skip('this system binds no process to a processor')
    allowed = os.sched_getaffinity(0)
    one = {min(allowed)}
    os.sched_setaffinity(0, one)
    others = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(3)]
    try:
        time.sleep(0.5)
        with witnessed() as found:
            began_ns, used_s = time.monotonic_ns(), time.process_time()
            computes()
            waited_ns = time.monotonic_ns() - began_ns - round(
                1e9 * (time.process_time() - used_s))
    finally:
        for other in others:
            other.send_signal(signal.SIGKILL)
            other.wait()
        os.sched_setaffinity(0, allowed)
    assert lost_ns(found, 'not run') >= 0.7 * waited_ns > 200 * MS


def test_short_stalls_add_up_within_a_tenth_of_a_second():
    gaps = Gaps()
    assert not [*gaps.take(0, 25 * MS, 2 * MS, 0)]
    assert not [*gaps.take(25 * MS, 50 * MS, 0, 0)]
    assert not [*gaps.take(50 * MS, 75 * MS, 0, 3 * MS)]
    assert [*gaps.take(75 * MS, 100 * MS, 1 * MS, 0)] == [Gap(0, 100 * MS, 6 * MS, 'not run')]
    assert not [*gaps.take(100 * MS, 125 * MS, 2 * MS, 0)]
    assert not [*gaps.take(300 * MS, 325 * MS, 4 * MS, 0)]


def test_a_long_stall_is_told_with_the_time_in_which_it_was():
    assert [*Gaps().take(0, 525 * MS, 500 * MS, 0)] == [Gap(0, 525 * MS, 500 * MS, 'stopped')]
    assert not [*Gaps().take(0, 25 * MS, GAP_NS - 1, 0)]
    assert [*Gaps().take(0, 25 * MS, GAP_NS, 0)]


def test_no_more_is_lost_than_there_was():
    assert [gap.lost_ns for gap in Gaps().take(0, 25 * MS, 0, 200 * MS)] == [25 * MS]


def test_a_stall_is_reported_though_its_process_was_busy_as_well():
    assert [*Gaps().take(0, 560 * MS, 0, 500 * MS, 535 * MS)] == [
        Gap(0, 560 * MS, 35 * MS, 'busy'), Gap(35 * MS, 560 * MS, 500 * MS, 'not run')]


def test_a_report_comes_back_as_it_was_written():
    report = Report.of('simulator', Gap(10, 30 * MS, 20 * MS, 'stopped'))
    ahead_ns = time.time_ns() - time.monotonic_ns()
    assert abs(report.gap.began_ns - 10 - ahead_ns) < 1000 * MS
    assert read_report(report.to_json()) == report


@for_each('text', [
    '', '[]', 'null', '{', '1', '{"process": "x"}', '[' * 100_000,
    '{"process": "", "how": "stopped", "began": 1, "ended": 9, "lost": 3}',
    '{"process": "a\\nb", "how": "stopped", "began": 1, "ended": 9, "lost": 3}',
    '{"process": 1, "how": "stopped", "began": 1, "ended": 9, "lost": 3}',
    '{"process": "x", "how": "asleep", "began": 1, "ended": 9, "lost": 3}',
    '{"process": "x", "how": [], "began": 1, "ended": 9, "lost": 3}',
    '{"process": "x", "how": "stopped", "began": 1, "ended": 9, "lost": 30}',
    '{"process": "x", "how": "stopped", "began": 1, "ended": 9, "lost": -3}',
    '{"process": "x", "how": "stopped", "began": 1.5, "ended": 9, "lost": 3}',
    '{"process": "x", "how": "stopped", "began": true, "ended": 9, "lost": 3}',
    '{"process": "x", "how": "stopped", "began": 9, "ended": 1, "lost": 3}',
    f'{{"process": "x", "how": "stopped", "began": 1, "ended": {10**30}, "lost": 3}}',
    f'{{"process": "{"x" * 41}", "how": "stopped", "began": 1, "ended": 9, "lost": 3}}'])
def test_what_is_no_report_is_none(text):
    assert read_report(text) is None
