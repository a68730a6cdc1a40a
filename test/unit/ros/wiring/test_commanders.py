# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whose the commands of a trial are, by a graph that is written down."""

from types import SimpleNamespace

import pytest
from safety_scenarios.ros.controller_process import CONTROLLER_NODE
from safety_scenarios.ros.link.other_nodes import Commanders
from safety_scenarios.scenario.event import Event, OTHER_COMMANDER, STALL_BEGAN, Stamps
from safety_scenarios.scenario.timing import STALLS

CONTROLLER, STRANGER, RESPAWNED = b'controller', b'stranger', b'respawned'
AFAR, EITHER, SIMULATOR = b'on another host', b'with half an id of two', b'simulator'
PIDS = {CONTROLLER: [7], STRANGER: [8], AFAR: None, EITHER: [9, 65545], SIMULATOR: [6]}


class Graph:
    """Stands for the node of the harness, for its graph and for what tells processes apart."""

    def __init__(self, *found):
        self.found, self.processes = found, self

    def publishers(self, topic):
        return [SimpleNamespace(node_name=name, node_namespace='/', process=process)
                for name, process in self.found]

    resolve_topic_name = '/{}'.format

    @staticmethod
    def key(info):
        return info.process

    @staticmethod
    def is_of(info, pids):
        return None if not pids else info.process == RESPAWNED

    @staticmethod
    def pids(info):
        return PIDS[info.process]

    @staticmethod
    def place(info):
        return f'/{info.node_name}'


def mark(name):
    return Event(kind='mark', name=name, stamps=Stamps(steady_ns=1 << 62, system_ns=0, ros_ns=0))


def begun(graph, is_foreign=True, pids=()):
    found = Commanders(graph, graph, [SimpleNamespace(pid=pid) for pid in pids])
    found.begin()
    found.add('cmd_vel', graph.publishers('cmd_vel'), is_foreign)
    return found


BASE = ('base', CONTROLLER)


@pytest.mark.parametrize(('later', 'said'), [
    ((BASE,), None), ((), None), ((('renamed', CONTROLLER),), None),
    ((('base', STRANGER),), 'another process publishes than when the trial began: /base'),
    ((BASE, ('teleop', STRANGER)), 'another process publishes than when the trial began: /teleop'),
    ((BASE, BASE), 'a second publisher has come: /base, /base')])
def test_the_process_that_commanded_at_first_is_the_controller(later, said):
    graph = Graph(BASE)
    found = begun(graph)
    assert not [*found.others(mark)]
    graph.found = later
    events = [*found.others(mark)]
    assert [event.text for event in events] == ([] if said is None else [
        f'/cmd_vel: {said}. Whose would be judged? Stop the others, or remap'])
    for event in events:
        assert (event.kind, event.name) == ('fault', OTHER_COMMANDER)
        assert event.truth[STALL_BEGAN] > 0
    assert not [*found.others(mark)], 'once a trial'


def test_it_may_have_begun_right_after_nobody_else_was_seen():
    graph = Graph(BASE)
    found = begun(graph)
    looked = [*found.others(mark)], found._alone_ns
    graph.found = (BASE, ('teleop', STRANGER))
    [event] = found.others(mark)
    assert event.truth[STALL_BEGAN] == ((1 << 62) - looked[1]) / 1e9


@pytest.mark.parametrize(('later', 'is_said'), [
    ((('base', RESPAWNED),), False), ((BASE, ('base', RESPAWNED)), False),
    ((BASE, ('helper', RESPAWNED)), True), ((('base', STRANGER),), True)])
def test_what_our_own_controller_has_started_is_that_controller(later, is_said):
    graph = Graph(BASE)
    found = begun(graph, is_foreign=False, pids=[7])
    graph.found = later
    assert bool([*found.others(mark)]) is is_said


def test_each_trial_begins_with_who_is_there():
    graph = Graph(BASE)
    found = begun(graph)
    graph.found = (('base', STRANGER),)
    found.begin()
    assert not [*found.others(mark)], 'no topic of this trial'
    found.add('cmd_vel', graph.publishers('cmd_vel'), True)
    assert not [*found.others(mark)]


def of(process):
    return SimpleNamespace(process=process)


def test_processes_of_this_host_that_command_or_report_stalls_can_hold_up_commands():
    graph = Graph()
    children = [SimpleNamespace(pid=pid, node_name=name) for pid, name in (
        (5, CONTROLLER_NODE), (6, 'simulator_node'), (None, CONTROLLER_NODE))]
    found = Commanders(graph, graph, children)
    found.add('cmd_vel', map(of, (CONTROLLER, AFAR, EITHER)), is_foreign=True)
    by_topic = {STALLS: (STRANGER, SIMULATOR)}
    graph.publishers = lambda topic: list(map(of, by_topic[topic]))
    assert found.processes() == {5: True, 7: False, 8: True}
    by_topic[STALLS] = CONTROLLER,
    assert found.processes() == {5: True, 7: True}
