# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How long a controller really thinks where simulated time stands still."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
import ctypes
from functools import partial
import hashlib
import math
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time

from pydantic import PrivateAttr
import pytest
import safety_scenarios as ss
from safety_scenarios.controllers.adapters import make_controller
from safety_scenarios.controllers.host import ControllerHost, Patience
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.errors import ControllerError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.message import Command
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.timing import thought
from safety_scenarios.trial.links.thinking import (
    Queue,
    Scheduled,
    Standstill,
    Thinking,
    thinking,
)
from unit.records import driving, ns, record, stages, stamps

MS = 1_000_000


@pytest.fixture
def queued():
    with closing(Queue()) as queue:
        yield queue.waited_ns


def test_waiting_is_thinking_and_so_is_computing(queued):
    took_ns = thinking(queued)
    time.sleep(0.05)
    assert took_ns() >= 50 * MS
    took_ns = thinking(queued)
    end_ns = time.thread_time_ns() + 20 * MS
    while time.thread_time_ns() < end_ns:
        pass
    assert took_ns() >= 20 * MS


def test_only_of_what_took_longer_than_enough_is_it_asked_how_much_was_thinking():
    def queued():
        asked.append(time.monotonic_ns())
        return 0
    for enough_ns, times, least, most in (
            (10_000 * MS, 1, 20 * MS, 10_000 * MS), (10 * MS, 2, 20 * MS, math.inf)):
        asked = []
        took_ns = thinking(queued, enough_ns=enough_ns)
        time.sleep(0.02)
        assert least <= took_ns() <= most
        assert len(asked) == times


def test_who_is_ready_and_gets_no_processor_does_not_think(queued):
    """While others have the only processor that it may use, a thread waits for them."""
    may, [one, *_] = os.sched_getaffinity(0), sorted(os.sched_getaffinity(0))
    busy = []
    try:
        os.sched_setaffinity(0, {one})
        busy += [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(3)]
        time.sleep(0.3)  # they have begun
        took_ns, began_ns = thinking(queued), time.monotonic_ns()
        used_ns = time.thread_time_ns()
        time.sleep(0.02)
        while time.thread_time_ns() < used_ns + 100 * MS:
            pass
        took, real = took_ns(), time.monotonic_ns() - began_ns
    finally:
        os.sched_setaffinity(0, may)
        for process in busy:
            process.kill()
            process.wait()
    assert 110 * MS <= took <= 0.8 * real


@pytest.mark.parametrize('waits', [False, True])
def test_who_waits_for_a_processor_that_its_own_threads_have_thinks(queued, waits):
    """A model with more threads than processors takes as long as all of them need."""
    def compute():
        end_ns = time.thread_time_ns() + 50 * MS
        while time.thread_time_ns() < end_ns:
            hashlib.sha256(data)
    may, data = os.sched_getaffinity(0), bytes(1_000_000)
    try:
        os.sched_setaffinity(0, {min(may)})
        with ThreadPoolExecutor(3) as pool:
            took_ns, used_ns = thinking(queued), time.process_time_ns()
            beside = [pool.submit(compute) for _ in range(3)]
            compute()
            for one in beside if waits else ():
                one.result()
            used_ns, took = time.process_time_ns() - used_ns, took_ns()
    finally:
        os.sched_setaffinity(0, may)
    assert took >= 0.9 * used_ns > 70 * MS


def test_a_queue_tells_of_whoever_asks_and_leaves_no_file_open():
    files = len(os.listdir('/proc/self/fd'))
    with closing(Queue()) as queue, ThreadPoolExecutor(1) as pool:
        told = [queue.waited_ns(), pool.submit(queue.waited_ns).result(), queue.waited_ns()]
    assert told[0] <= told[2]
    assert told[1] <= time.monotonic_ns()
    assert len(os.listdir('/proc/self/fd')) == files


def test_a_thread_whose_number_another_one_had_before_is_another_thread(queued, monkeypatch):
    """The system gives the numbers of threads that have ended to new ones."""
    def own():
        return int(Path('/proc/thread-self/schedstat').read_text().split()[1])

    def asks():
        while not (least := own()):
            time.sleep(0.0001)
        return least <= queued() <= own()
    monkeypatch.setattr(threading, 'get_native_id', lambda: 7)
    for _ in range(3):
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(asks).result()


def _halted(seconds):
    """Stop this process and let it go on, as Ctrl-Z and fg do."""
    subprocess.run(['sh', '-c', f'kill -STOP {os.getpid()}; sleep {seconds}; '
                                f'kill -CONT {os.getpid()}'], check=True)


def _waited_ns(thread):
    """Return how long a thread of this process was ready to run so far, and did not."""
    return int(Path(f'/proc/self/task/{thread.native_id}/schedstat').read_text().split()[1])


def test_while_nothing_in_the_process_can_run_nobody_thinks():
    """
    A busy host may hold up the witness when it is stopped, and when it may go on.

    For that time nobody can tell whether the controller could run, so that it is not forgiven.
    """
    with closing(Thinking()) as watched:
        watched.watch()()  # the witness has begun
        witness, = (one for one in threading.enumerate() if one.name == 'standstill')
        held_ns = -_waited_ns(witness)
        took_ns = watched.watch()
        began_ns = time.monotonic_ns()
        _halted(0.6)
        real_ns, took = time.monotonic_ns() - began_ns, took_ns()
        held_ns += _waited_ns(witness)
    assert took <= real_ns - 500 * MS + held_ns


@pytest.mark.parametrize('waits', [60, 1])
def test_a_thread_that_is_held_up_with_the_lock_of_python_is_no_thinking(waits, monkeypatch):
    """Who waits for the lock asks for it again and again, and who sleeps does not."""
    counted, others_ns = iter((0, waits)), iter((0, 300 * MS))
    monkeypatch.setattr('safety_scenarios.trial.links.thinking._waits', lambda: next(counted))
    began_ns = time.monotonic_ns()
    took_ns = thinking(lambda: 0, others=lambda: next(others_ns))
    time.sleep(0.3)
    took = took_ns()
    real_ns = time.monotonic_ns() - began_ns
    forgiven_ns = max(0, waits - 2) * sys.getswitchinterval() * 1e9
    assert 300 * MS - forgiven_ns <= took <= real_ns - forgiven_ns


@pytest.mark.parametrize(('naps_us', 'interval_s'), [
    ([600_000], 0.005), ([120_000] * 5, 0.005), ([600_000], 1e-6)])
def test_who_waits_and_lets_no_other_thread_run_thinks_all_the_same(naps_us, interval_s, request):
    """As an extension does that waits for a device and keeps Python's lock."""
    keeps_the_lock = ctypes.PyDLL(None).usleep
    request.addfinalizer(partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(interval_s)
    with closing(Thinking()) as watched:
        took_ns = watched.watch()
        for nap_us in naps_us:
            keeps_the_lock(nap_us)
        assert took_ns() >= 500 * MS


def test_a_standstill_before_a_decision_excuses_none():
    with closing(Standstill()) as standstill:
        standstill.begin()
        began_ns = time.monotonic_ns()
        _halted(0.4)
        ended_ns = time.monotonic_ns()
        assert standstill.stood_ns(ended_ns, ended_ns + 300 * MS) <= 50 * MS
        assert standstill.stood_ns(began_ns, ended_ns) >= 200 * MS


def test_a_decision_that_never_ends_is_ended_and_the_next_one_is_asked_for():
    def decides(observation):
        while not asked:
            asked.append(observation)
            with suppress(Exception):  # a plug-in that forgives whatever goes wrong
                time.sleep(600)
        return Command(velocity=(0.0, 0.0))
    asked, before = [], signal.getsignal(signal.SIGALRM)
    with closing(Thinking(hang_ns=30 * MS)) as watched:
        host = ControllerHost(make_controller(decides, ControllerSettings()),
                              patience=Patience(watched.watch, 10**9))
        with pytest.raises(ControllerError, match='hangs: got no answer within 0.03 s of real'):
            host.tick(0, 0)
        assert host.tick(0, 0) is not None
    assert signal.getsignal(signal.SIGALRM) is before


def test_a_decision_within_a_long_limit_does_not_hang():
    def decides(observation):
        time.sleep(0.2)
        return Command(velocity=(0.0, 0.0))
    with closing(Thinking(limit_ns=300 * MS, hang_ns=30 * MS)) as watched:
        host = ControllerHost(make_controller(decides, ControllerSettings()),
                              patience=Patience(watched.watch, 10**9))
        assert host.tick(0, 0) is not None


class Ponders(ControllerPlugin):
    """Stands still, and takes its time for it."""

    def decide(self, observation):
        time.sleep(0.6)
        return Command(velocity=(0.0, 0.0))


def test_a_controller_that_thinks_longer_than_the_limit_is_no_pass():
    results = ss.run('SCN-R-101', controller=Ponders, link='loopback')
    assert results.verdict is ss.Verdict.ERROR
    assert 'thought for 6' in results.trials[0].reason


class PondersOnce(RuleBased):
    """Reacts rightly, after it has thought about its first stop for as long as it says."""

    thinks_ms: float = 1200.0
    _has_moved: bool = PrivateAttr(default=False)
    _has_stopped: bool = PrivateAttr(default=False)

    def decide(self, observation):
        command = super().decide(observation)
        is_slow = abs(command.velocity[0]) < 0.1
        if is_slow and self._has_moved and not self._has_stopped:
            self._has_stopped = True
            time.sleep(self.thinks_ms / 1e3)
        self._has_moved |= not is_slow
        return command


@pytest.mark.parametrize(('thinks_ms', 'verdict', 'told'), [
    (1200, ss.Verdict.INCONCLUSIVE, 'in real time it would come 12'),
    (150, ss.Verdict.PASS, ' ms is in class target')])
def test_the_one_decision_that_takes_long_is_added_to_the_reaction(thinks_ms, verdict, told):
    results = ss.run('SCN-R-101', controller=PondersOnce, link='loopback', seed=3, isolate=False,
                     set={'controller.thinks_ms': thinks_ms})
    assert results.verdict is verdict
    [within] = [one for one in results.trials[0].findings
                if one.check == 'reaction within the budget']
    assert told in within.reason
    assert verdict is not ss.Verdict.PASS or within.reason.endswith(told), 'alike on each host'


class AnswersSlowly(RuleBased):
    """Says what is right, and thinks for 1.5 s before its first words."""

    _has_spoken: bool = PrivateAttr(default=False)

    def converse(self, turn):
        said = super().converse(turn)
        if said and not self._has_spoken:
            self._has_spoken = True
            time.sleep(1.5)
        return said


def test_so_it_is_among_agents():
    results = ss.run('spoofed_all_clear', controller=AnswersSlowly, link='loopback', seed=3,
                     words='patterns', isolate=False)
    assert results.verdict is ss.Verdict.INCONCLUSIVE
    assert 'in real time it would come 14' in results.trials[0].reason


@pytest.mark.parametrize(('thoughts', 'left_out_ms'), [
    ([(-690, 5000)], 0),  # warming up, before the first command
    ([(-300, 900)], 500), ([(-300, 900), (-100, 60)], 500),  # under way when the hazard comes
    ([(-300, 200)], 0), ([(20, 120)], 40), ([(0, 60), (50, 60), (100, 60)], 80),
    ([(150, 900)], 0)])  # after the reaction
def test_what_thinking_adds_to_a_reaction_after_100_ms(thoughts, left_out_ms):
    trial = stages(record(driving(-690, 3000), extra=[
        thought(ns(lasts_ms), stamps(at_ms)) for at_ms, lasts_ms in thoughts]))
    onset_ns = stamps(0).steady_ns
    assert trial.excluded_thinking_ns(onset_ns, onset_ns + ns(100)) == ns(left_out_ms)


def test_a_result_does_not_count_thoughts_which_depend_on_the_machine():
    undisturbed, busy = (evaluate(record(driving(-690, 3000), extra=extra)).counts for extra in (
        [], [thought(ns(60), stamps(-300))]))
    assert undisturbed == busy and 'timing' not in busy


def test_a_busy_host_explains_what_a_thread_waits_and_not_that_one_starves():
    runs, starves = Scheduled(100_000_000, 300_000_000), Scheduled(1_000_000, 300_000_000)
    assert runs.excused_ns(Scheduled()) == 300_000_000
    assert starves.excused_ns(Scheduled()) == 53_000_000
    assert Scheduled().excused_ns(runs) == 0  # its process has ended
