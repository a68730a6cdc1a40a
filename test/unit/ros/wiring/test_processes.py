# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whose an endpoint is, its id says, and not the name of its node."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from safety_scenarios.ros.link import graph
from safety_scenarios.ros.link.graph import Processes, UNNAMED

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
