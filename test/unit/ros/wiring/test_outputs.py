# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the graph shows of a controller's other outputs, by a graph that is written down."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from rcl_interfaces.msg import Parameter, ParameterEvent
from safety_scenarios.ros.link.wiring import Wiring

POSE, TWIST, STRING = (f'geometry_msgs/msg/{name}' if name != 'String' else 'std_msgs/msg/String'
                       for name in ('PoseStamped', 'Twist', 'String'))
OURS, CONTROLLER, STRANGER = b'ours', b'controller', b'stranger'


@dataclass
class Graph:
    """Stands for the node of the harness, for its graph and for what tells processes apart."""

    topics: dict = field(default_factory=dict)
    """(topic, type) to the (node, process) of each publisher."""
    nodes: dict = field(default_factory=lambda: {'/evaluator_node': OURS, '/base': CONTROLLER})
    clients: dict = field(default_factory=dict)
    """Node to the (service, type) that it can call."""
    listened: set = field(default_factory=set)
    """(topic, type) with subscribers."""
    subscribed: list = field(default_factory=list)

    def __post_init__(self):
        self.processes = self
        self.topics['/cmd_vel', TWIST] = [('/base', CONTROLLER)]

    @staticmethod
    def resolve_topic_name(name):
        return name if name.startswith('/') else f'/{name}'

    resolve_service_name = resolve_topic_name

    @staticmethod
    def get_name():
        return 'evaluator_node'

    @staticmethod
    def get_subscriptions_info_by_topic(topic):
        return []

    @staticmethod
    def get_namespace():
        return '/'

    def get_topic_names_and_types(self):
        found = {}
        for topic, interface in (*self.topics, *self.listened):
            found.setdefault(topic, set()).add(interface)
        return [(topic, sorted(interfaces)) for topic, interfaces in found.items()]

    def get_node_names_and_namespaces(self):
        return [(name.lstrip('/'), '/') for name in self.nodes]

    def get_publisher_names_and_types_by_node(self, name, space):
        return [(topic, [interface]) for (topic, interface), who in self.topics.items()
                if f'{space}{name}' in dict(who)]

    def get_client_names_and_types_by_node(self, name, space):
        return [(service, [interface]) for service, interface in
                self.clients.get(f'{space}{name}', ())]

    def get_service_names_and_types_by_node(self, name, space):
        return [('/evaluator_node/get_parameters', ['rcl_interfaces/srv/GetParameters'])]

    def count_publishers(self, topic):
        return sum(len(who) for (name, _), who in self.topics.items() if name == topic)

    def count_subscribers(self, topic):
        return sum(name == topic for name, _ in self.listened)

    def create_subscription(self, kind, topic, *more, **named):
        self.subscribed.append(topic)

    def destroy_subscription(self, subscription):
        pass

    def publishers(self, topic):
        name = self.resolve_topic_name(topic)
        if name == '/parameter_events':
            return [_endpoint(node, process, '') for node, process in self.nodes.items()]
        return [_endpoint(*one, interface) for (place, interface), who in self.topics.items()
                if place == name for one in who]

    living_publishers = publishers

    def is_own(self, info):
        return info.process == OURS

    is_own_process = is_own

    def key(self, info):
        return info.process

    def is_of(self, info, pids):
        return False


def _endpoint(node, process, interface):
    return SimpleNamespace(node_name=node.lstrip('/'), node_namespace='/', process=process,
                           topic_type=interface, qos_profile=SimpleNamespace(
                               reliability=None, durability=None, depth=10))


@pytest.fixture
def watched(monkeypatch):
    """Return what begins to watch a graph, of an external controller unless told otherwise."""
    monkeypatch.setattr('safety_scenarios.ros.link.wiring.qos.command', lambda infos: 10)

    def watch(graph, declared=(), **options):
        wiring = Wiring(graph, graph, lambda topic: print, declared,
                        **{'is_external': True, 'is_alone': False, **options})
        wiring.begin(['cmd_vel'], ['odom'], ['scan'])
        wiring.settle()
        return wiring
    return watch


def told(wiring, is_end=False):
    return {one.name: (one.kind, one.text) for one in wiring.appeared(is_end)}


def test_nothing_beside_is_nothing_to_say(watched):
    wiring = watched(Graph())
    assert not wiring.has_changed() and not told(wiring, is_end=True)


def test_a_goal_that_came_and_went_between_two_looks_is_named(watched):
    graph = Graph()
    wiring = watched(graph)
    graph.topics['/goal', POSE] = [('/base', CONTROLLER)]
    assert wiring.has_changed()
    del graph.topics['/goal', POSE]
    kind, text = told(wiring)['/goal']
    assert kind == 'undeclared' and 'came and went' in text
    assert not told(wiring), 'once a trial'


def test_another_type_on_a_topic_that_is_judged_is_another_topic(watched):
    graph = Graph(topics={('/odom', 'nav_msgs/msg/Odometry'): [('/base', CONTROLLER)]})
    wiring = watched(graph)
    graph.topics['/odom', TWIST] = [('/base', CONTROLLER)]
    assert wiring.has_changed()
    assert 'could not be read' in told(wiring)['/odom'][1]


def test_who_begins_to_listen_publishes_nothing(watched):
    graph = Graph()
    wiring = watched(graph)
    graph.listened.add(('/goal', POSE))
    assert wiring.has_changed() and not told(wiring)


def test_what_another_process_publishes_is_not_the_controllers(watched):
    graph = Graph(topics={('/goal', POSE): [('/teleoperation', STRANGER)]})
    wiring = watched(graph)
    assert not told(wiring, is_end=True)
    graph.topics['/goal', POSE].append(('/base', CONTROLLER))
    assert wiring.has_changed()
    assert told(wiring)['/goal'][0] == 'undeclared'


def test_who_commanded_when_the_trial_began_is_the_controller_to_its_end(watched):
    graph = Graph()
    wiring = watched(graph)
    graph.topics['/cmd_vel', TWIST] = [('/standby', STRANGER)]
    assert not told(wiring, is_end=True)
    graph.topics['/base/cmd_vel', TWIST] = [('/base', CONTROLLER)]
    assert wiring.has_changed()
    assert told(wiring)['/base/cmd_vel'][0] == 'undeclared'


@pytest.mark.parametrize(('is_external', 'is_alone', 'is_theirs'), [
    (True, False, False), (False, False, False), (False, True, True)])
def test_in_a_domain_of_our_own_nobody_else_can_be(watched, is_external, is_alone, is_theirs):
    graph = Graph(topics={('/goal', POSE): [('/helper', STRANGER)]},
                  nodes={'/evaluator_node': OURS, '/base': CONTROLLER, '/helper': STRANGER},
                  clients={'/helper': [('/enable', 'std_srvs/srv/SetBool')]})
    wiring = watched(graph, is_external=is_external, is_alone=is_alone)
    assert set(told(wiring, is_end=True)) == ({'/goal', '/enable'} if is_theirs else set())


def test_a_second_node_of_the_process_counts(watched):
    graph = Graph(nodes={'/evaluator_node': OURS, '/base': CONTROLLER, '/helper': CONTROLLER},
                  clients={'/helper': [
                      ('/drive/_action/cancel_goal', 'action_msgs/srv/CancelGoal'),
                      ('/drive/_action/send_goal', 'a_msgs/action/Drive_SendGoal'),
                      ('/planner/get_state', 'lifecycle_msgs/srv/GetState'),
                      ('/evaluator_node/get_parameters', 'rcl_interfaces/srv/GetParameters')]})
    said = told(watched(graph))
    assert set(said) == {'/drive', '/planner/get_state'}
    assert said['/drive'][0] == 'undeclared' and '(a_msgs/action/Drive)' in said['/drive'][1]
    assert said['/planner/get_state'][0] == 'output'
    assert not told(watched(graph, declared=['drive', '/planner/get_state']))


def test_a_goal_may_have_been_sent_before_and_a_velocity_lapses(watched):
    graph = Graph(topics={('/goal', POSE): [('/base', CONTROLLER)],
                          ('/twist', TWIST): [('/base', CONTROLLER)],
                          ('/speech', STRING): [('/base', CONTROLLER)]})
    wiring = watched(graph)
    assert graph.subscribed == ['/parameter_events', '/goal', '/twist']
    said = told(wiring, is_end=True)
    assert {name: kind for name, (kind, _) in said.items()} == {
        '/goal': 'undeclared', '/twist': 'output', '/speech': 'output'}
    assert 'was silent in this trial' in said['/goal'][1]
    wiring.begin(['cmd_vel'], [])
    wiring.settle()
    wiring.note_received('/goal')
    assert '/goal' not in told(wiring, is_end=True), 'its messages are in the record'


def test_parameters_that_change_are_named_whoever_set_them(watched):
    graph = Graph(nodes={'/evaluator_node': OURS, '/base': CONTROLLER, '/driver': STRANGER})
    wiring = watched(graph, declared=['/arm/set_parameters'])
    for node in ('/driver', '/base', '/evaluator_node', '/arm', '/just_come'):
        wiring._changes.append(ParameterEvent(node=node, new_parameters=[Parameter(name='speed')]))
    assert wiring.has_changed()
    said = told(wiring)
    assert set(said) == {'/driver/set_parameters', '/base/set_parameters'}
    assert said['/driver/set_parameters'][0] == 'undeclared'
    assert 'speed' in said['/driver/set_parameters'][1]
    assert said['/base/set_parameters'][0] == 'output'


def test_a_node_that_comes_in_mid_trial_declares_its_parameters(watched):
    graph = Graph()
    wiring = watched(graph)
    graph.nodes['/lidar'] = STRANGER
    assert wiring.has_changed() and not told(wiring)
    wiring._changes.append(ParameterEvent(node='/lidar', new_parameters=[Parameter(name='rate')]))
    assert wiring.has_changed() and not told(wiring)


def test_a_node_that_came_and_went_in_a_domain_of_our_own_is_the_controllers(watched):
    graph = Graph()
    wiring = watched(graph, is_external=False, is_alone=True)
    graph.nodes['/once'] = CONTROLLER
    graph.clients['/once'] = [('/enable', 'std_srvs/srv/SetBool')]
    assert wiring.has_changed()
    del graph.nodes['/once'], graph.clients['/once']
    assert told(wiring)['/enable'][0] == 'undeclared'


def test_two_of_the_worlds_nodes_on_one_topic_are_two_worlds(watched):
    graph = Graph(topics={('/scan', 'sensor_msgs/msg/LaserScan'): [('/bridge', STRANGER)]})
    wiring = watched(graph)
    wiring.worlds = frozenset({'bridge'})
    wiring.begin(['cmd_vel'], [], ['scan'])
    assert not told(wiring)
    graph.topics['/scan', 'sensor_msgs/msg/LaserScan'].append(('/bridge', CONTROLLER))
    assert 'published there too' in told(wiring)['scan'][1]
