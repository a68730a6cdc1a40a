# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Actions at the rate of a contract, goals that end with a trial, and whose an endpoint is."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

from cases import for_each
import pytest
from rclpy.task import Future
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.link import calls, graph
from safety_scenarios.ros.link.calls import Calls
from safety_scenarios.ros.link.graph import Processes, UNNAMED
from safety_scenarios.ros.nodes.controller_node import tick_until  # noqa: E402
from safety_scenarios.scenario.event import Stamps
from unit.controllers.observations import pose, seen
from unit.controllers.policies.test_chunks import BASE, PERIOD_MS, policy


class Handle:
    """A goal that was accepted, and has no end."""

    accepted = True

    def __init__(self):
        self.cancelled = 0

    def cancel_goal_async(self):
        self.cancelled += 1

    def get_result_async(self):
        return Future()


@pytest.fixture
def ended(monkeypatch):
    """Give calls with one goal that was sent, and a function that gives up waiting for it."""
    monkeypatch.setattr(calls, '_CANCEL_S', 0.0)
    goal = calls._Goal('navigate')
    found = Calls(None, lambda: Stamps(steady_ns=1, system_ns=1, ros_ns=1), lambda event: None, 1)
    found._goals.append(goal)

    def give_up():
        with pytest.raises(MeasurementError, match='got no end within'):
            found.cancel()

    def accept(told):
        future, handle = Future(), Handle()
        future.set_result(handle)
        found._answered(goal, lambda *what: told(), future)
        return handle
    return give_up, accept


def test_a_goal_that_is_accepted_after_its_trial_is_cancelled(ended):
    give_up, accept = ended
    give_up()
    assert accept(lambda: None).cancelled == 1


def test_a_goal_that_is_accepted_in_the_moment_in_which_it_is_given_up_is_cancelled(ended):
    give_up, accept = ended
    assert accept(give_up).cancelled == 1


def test_a_goal_that_was_accepted_before_is_cancelled_once(ended):
    give_up, accept = ended
    handle = accept(lambda: None)
    give_up()
    assert handle.cancelled == 1


HOST, ELSEWHERE = b'\xaa\xbb', b'\xcc\xdd'


def gid(pid=None, host=HOST, drawn=b'\x01\x02', participant=0):
    """Return the id of an endpoint, as Fast DDS makes it; by default of this process."""
    low = (os.getpid() if pid is None else pid) & 0xFFFF
    return b'\x01\x0f' + host + low.to_bytes(2, 'little') + drawn \
        + participant.to_bytes(4, 'little') + b'\x00\x00\x10\x03' + bytes(8)


def info(own, name='evaluator_node'):
    """Return what a graph shows of an endpoint."""
    return SimpleNamespace(endpoint_gid=list(own), node_name=name, node_namespace='/')


@pytest.fixture
def known(monkeypatch):
    """Return what tells the processes of a middleware apart, seen from this one."""
    def of(middleware='rmw_fastrtps_cpp'):
        monkeypatch.setattr('safety_scenarios.ros.middleware.get_rmw_implementation_identifier',
                            lambda: middleware)
        monkeypatch.setattr(graph, '_gid_of', lambda node: gid())
        return Processes(SimpleNamespace(get_fully_qualified_name=lambda: '/evaluator_node'))
    return of


@pytest.fixture
def child():
    """Return the id of a process with a session of its own, and of a child of that."""
    with subprocess.Popen([sys.executable, '-c', (
            'import subprocess, sys\n'
            'with subprocess.Popen([sys.executable, "-c", "input()"], stdin=0) as one:\n'
            '    print(one.pid, flush=True)')], start_new_session=True, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        yield running.pid, int(running.stdout.readline())
        running.stdin.close()


def test_a_name_makes_nothing_ours(known):
    one = known()
    assert one.is_own(info(gid())) and one.is_own(info(gid(), UNNAMED))
    assert not one.is_own(info(gid(drawn=b'\x03\x04')))
    assert not one.is_own(info(gid(), 'controller_node')), 'of a test, in our participant'
    assert one.is_own_process(info(gid(participant=7), 'lifecycle_evaluator_node'))
    assert not one.is_own_process(info(gid(host=ELSEWHERE)))


def test_where_ids_say_nothing_the_name_decides(known):
    one = known('rmw_zenoh_cpp')
    assert one.is_own(info(bytes(16))) and not one.is_own(info(bytes(16), 'base'))
    assert one.is_of(info(bytes(16)), [os.getpid()]) is None
    assert one.place(info(bytes(16))) == '/evaluator_node'


def test_a_child_of_a_process_is_that_process_too(known, child):
    one, (pid, grandchild) = known(), child
    for number in (pid, grandchild):
        assert one.is_of(info(gid(number)), [pid])
    assert not one.is_of(info(gid()), [pid])
    assert not one.is_of(info(gid(pid, host=ELSEWHERE)), [pid])


def test_a_place_is_named_by_process_and_host(known, child):
    one, (pid, _) = known(), child
    assert f'/base (process {pid} of this host)' == one.place(info(gid(pid), 'base'))
    assert one.place(info(gid(pid, host=ELSEWHERE), 'base')) == '/base (on another host)'
    assert one.is_running(info(gid(pid))) and not one.has_ended(info(gid(pid)))
    assert not one.is_running(info(gid(pid, host=ELSEWHERE)))
    assert not one.has_ended(info(gid(pid, host=ELSEWHERE))), 'unknown'


pytest.importorskip('rclpy')

LAST_S = 8.0


class Clock:
    """A steady clock that waiting and inferring move on, and that ends after some seconds."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.end_s = self.now_s + LAST_S

    def sleep(self, seconds: float) -> None:
        self.now_s += max(0.0, seconds)

    def wait(self, seconds: float) -> bool:
        self.sleep(seconds)
        return self.now_s >= self.end_s


class Node:
    """Ticks as a node does, and keeps when each command was published (ms), and its stamps."""

    def __init__(self, made: Any, clock: Clock) -> None:
        self.settings, self.period_ns = made.context, made.period_ns
        self.found: list[tuple[float, Any]] = []
        self._made, self._clock = made, clock

    @property
    def begins_chunk(self) -> bool:
        return bool(self._made.begins_chunk)

    def tick(self) -> None:
        told = self._made.decide(seen(self._clock.now_s * 1e3, human_pose=pose(6.0)))
        self.found.append((self._clock.now_s * 1e3, told.stamps))


def played(horizon: int, d_ms: float, **terms: Any) -> list[tuple[float, Any]]:
    """Return when each command was published (ms), and its stamps."""
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, 'monotonic', lambda: clock.now_s)
        patch.setattr(time, 'monotonic_ns', lambda: round(clock.now_s * 1e9))
        patch.setattr(time, 'sleep', clock.sleep)
        node: Any = Node(policy(horizon, d_ms, BASE, 'steady', **terms), clock)
        tick_until(clock, node)  # type: ignore[arg-type]
    return node.found


@for_each(('horizon', 'd_ms', 'terms'), [
    (horizon, d_ms, terms) for horizon in (2, 8) for d_ms in (0.0, 30.0, 100.0, 130.0)
    for terms in ({}, {'replan_interval': 2})])
def test_no_action_of_a_chunk_is_cut_short_by_a_late_inference(horizon, d_ms, terms):
    found = played(horizon, d_ms, **terms)
    gaps = [after - before for (before, one), (after, other) in zip(found, found[1:], strict=False)
            if one.chunk == other.chunk]
    assert gaps == pytest.approx([PERIOD_MS] * len(gaps))
    asked = [stamps.began_ns / 1e6 for _, stamps in found if stamps.index == 0]
    cycles = [after - before for before, after in zip(asked, asked[1:], strict=False)]
    interval = terms.get('replan_interval', horizon)
    assert cycles == pytest.approx([interval * PERIOD_MS + d_ms] * len(cycles))


@for_each(('d_ms', 'cycle_ms'), [(0.0, 50), (30.0, 50), (100.0, 100), (130.0, 130)])
def test_a_policy_of_single_actions_is_asked_again_at_once_when_it_was_late(d_ms, cycle_ms):
    times = [at_ms for at_ms, _ in played(1, d_ms)]
    assert [after - before for before, after in zip(times, times[1:], strict=False)] == \
        pytest.approx([cycle_ms] * (len(times) - 1))
