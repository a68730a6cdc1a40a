# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What else the controller could move a robot by, and who else shows it a world.

Everything is looked for that the controller publishes, and each service and action that it can
call. Whose an endpoint is, its process decides: that of our own controller is known, and in a
domain that is ours alone whatever is none of ours is the controller's. Of an external controller
everything counts that is in a process that publishes on a command topic, in any of its nodes.

Between trials each such topic is subscribed to. One that comes during a trial is not: making a
subscription would disturb what is measured, so that the trial says that nobody could hear it.
Somebody else's publisher on a topic of a stimulus, such as the lidar of a robot that still runs,
lets the controller see two worlds at once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rcl_interfaces.msg import ParameterEvent
from rclpy.node import Node
from rclpy.qos import qos_profile_parameter_events
from safety_scenarios.ros.controller_process import ChildProcess, CONTROLLER_NODE
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import interface_class, warm_up
from safety_scenarios.ros.link.graph import full_node_name, Graph, node_entities
from safety_scenarios.ros.link.other_nodes import Audience
from safety_scenarios.scenario.blocks.agents import AGENTS
from safety_scenarios.scenario.event import LISTENS
from safety_scenarios.scenario.message_types import is_lasting, may_change, may_command, may_move
from safety_scenarios.scenario.timing import (
    ANSWER,
    DECISIONS,
    ENDS_TURN,
    PROBE,
    PROBE_TYPE,
    STALLS,
    TRIAL,
)
from safety_scenarios.trial.summary import HARMLESS, PreflightRow, UNDECLARED
from safety_scenarios.trial.trial import RESPONSE

_PARAMETERS = '/parameter_events'
_OF_EACH_NODE = {'/rosout': 'rcl_interfaces/msg/Log',
                 _PARAMETERS: 'rcl_interfaces/msg/ParameterEvent'}
_STRING = 'std_msgs/msg/String'
_ACTION, _GOAL = '/_action/', '_SendGoal'
_COUNTED = 25
"""Publishers of known topics are counted at each look of so many; one more look costs little."""
UNHEARD = ('the controller under test publishes there ({interface}) since after the trial had '
           'begun, or in an interface that is not installed here, and its messages could not be '
           'read')
_GONE = ('a publisher of {interface} came and went while the trial was running, and what it sent '
         'could not be read')
_SILENT = ('the controller under test can publish {interface} there and was silent in this trial: '
           'what it sent before is not known, and one message may move a robot for long')
_CALLED = ('the controller under test ({nodes}) can call this {way} ({interface}), and only its '
           'server sees what it asks for')
_CHANGED = ('parameters were changed during the trial ({names}), and the graph does not show by '
            'whom')
SHOWN_TOO = '{nodes} published there too, so that the controller saw two worlds'
Way = Literal['topic', 'service', 'action']


@dataclass(frozen=True)
class Output:
    """One topic, service or action, and who can publish there or call it."""

    name: str
    interface: str
    nodes: str
    is_theirs: bool
    """Whether one of them is the controller under test."""
    publishers: Sequence[Any] = ()
    way: Way = 'topic'

    @property
    def may_move(self) -> bool:
        """Whether a robot may be moved by it, as far as its type tells."""
        if self.way == 'topic':
            return may_command(self.interface)
        return self.way == 'action' or may_change(self.interface)

    def __str__(self) -> str:
        """Return what a row of the preflight says of it."""
        way = '' if self.way == 'topic' else f'{self.way} '
        return f'{way}{self.name} [{self.interface}] from {self.nodes}'


@dataclass(frozen=True)
class Appeared:
    """What an event of the record says: its kind, its name and why."""

    kind: Literal['undeclared', 'output']
    name: str
    text: str
    symbol: str | None = None


class Wiring:
    """
    Watches all other outputs of the controller.

    :param callback: topic to the callback of its subscription
    :param declared: topics, services and actions that the controller may use without being judged
    :param is_external: the controller is no process of ours
    :param is_alone: nobody but our own processes can be in the domain
    :param children: processes of ours
    """

    def __init__(self, node: Node, graph: Graph, callback: Callable[[str], Any],
                 declared: Sequence[str], is_external: bool, is_alone: bool = True,
                 children: Sequence[ChildProcess] = ()) -> None:
        self._node, self._graph, self._callback = node, graph, callback
        self._declared = {resolve(name) for name in declared for resolve in (
            node.resolve_topic_name, node.resolve_service_name)}
        self._is_external, self._is_alone, self._children = is_external, is_alone, children
        self._commands: tuple[str, ...] = ()
        self._known: dict[str, frozenset[str]] = {}
        """Topic of the scenario to the types that it had when the trial began."""
        own = node.resolve_topic_name
        self._harness = {**_OF_EACH_NODE, own(RESPONSE): _STRING, own(ANSWER): PROBE_TYPE,
                         own(PROBE): PROBE_TYPE, own(STALLS): _STRING,
                         own(ENDS_TURN): _STRING, own(DECISIONS): _STRING,
                         own(TRIAL): _STRING}
        self._audience = Audience(node)
        self._agents = own(AGENTS) + '/'
        self._subscriptions: dict[str, tuple[str, Any]] = {}
        self._heard: set[str] = set()
        self._told: set[tuple[str, str]] = set()
        self._shown: dict[str, str] = {}
        self._beside: dict[str, str] = {}
        self.worlds: frozenset[str] = frozenset()
        """Names of the nodes that show stimuli for us."""
        self._nodes: frozenset[tuple[str, str]] = frozenset()
        """Name and namespace of each node when the trial began."""
        self._theirs: frozenset[tuple[str, str]] = frozenset()
        """Those of the controller."""
        self._last: frozenset[tuple[str, ...]] = frozenset()
        self._new: set[tuple[str, ...]] = set()
        self._seen: dict[str, int] = {}
        self._commanding = set[bytes](), set[str]()
        self._first: list[Output] = []
        """What the controller published when the trial began, and nobody declared."""
        self._looks = 0
        self._changes: list[ParameterEvent] = []
        self._parameters: Any = None

    def begin(self, commands: Sequence[str], others: Sequence[str],
              shown: Sequence[str] = ()) -> None:
        """
        Subscribe before a trial to what the controller could move a robot by.

        :param commands: the scenario's command topics; without any there is no robot
        :param others: topics of stimuli and feedback
        :param shown: topics of the trial's stimuli
        """
        self._told.clear()
        self._commanding = set(), set()
        full = {self._node.resolve_topic_name(topic): topic for topic in shown}
        self._shown = {name: full[name] for name in full.keys() - self._declared}
        self._beside, self._commands = {}, tuple(commands)
        types = dict(self._node.get_topic_names_and_types())
        self._known = {name: frozenset(types.get(name, ())) for name in (
            *map(self._node.resolve_topic_name, (*commands, *others)), *full)}
        if not commands:
            return
        if self._parameters is None:
            self._parameters = self._node.create_subscription(
                ParameterEvent, _PARAMETERS, self._changes.append, qos_profile_parameter_events)
        self._seen, self._last, self._new = self._counts(), frozenset(), set()
        self._nodes, self._theirs = self._there(), frozenset()
        self._look_at_nodes(name for name, _ in self._node.get_topic_names_and_types())
        self._last = self._fingerprint()
        self._audience.begin()
        self._look_beside()
        self._first = [found for found in self._publications()
                       if found.is_theirs and found.name not in self._declared]
        for found in self._first:
            if found.may_move:
                self._subscribe(found)

    def settle(self) -> None:
        """Forget what came and went before the trial begins, such as endpoints of ours."""
        self._heard.clear()
        self._changes.clear()
        if self._commands:
            now = self._fingerprint()
            self._new = {one for one in now - self._last
                         if one[0] != 'topic' or self._node.count_publishers(one[1])}
            self._last = now

    def note_received(self, topic: str) -> None:
        """Take that a message has come on a topic that is subscribed to here."""
        self._heard.add(topic)

    def has_changed(self) -> bool:
        """
        Return whether something has come since asked before.

        It takes a few tenths of a millisecond with 200 topics, and so may be asked while a trial
        runs; ``appeared`` takes milliseconds.
        """
        if not self._commands:
            return False
        self._looks += 1
        now = self._fingerprint()
        self._new |= now - self._last
        self._last = now
        return bool(self._new or self._changes) or (
            self._looks % _COUNTED == 0 and self._counts() != self._seen)

    def appeared(self, is_end: bool = False) -> Iterator[Appeared]:
        """
        Yield, once a trial, each output that is not declared and that nobody could hear.

        Each topic of a stimulus that somebody else publishes too, by its name in the scenario.

        :param is_end: the trial has ended: say also what was silent in it
        """
        if not self._commands:
            return  # then nothing is looked for beside
        self._look_beside()
        yield from self._once(Appeared('undeclared', topic, SHOWN_TOO.format(nodes=nodes))
                              for topic, nodes in self._beside.items())
        yield from self._once(self._outputs(is_end))

    def interface(self, topic: str) -> str:
        """Return the interface name of what comes in on a topic."""
        return self._subscriptions[topic][0]

    def preflight(self) -> Iterator[PreflightRow]:
        """Yield each other output of the controller, and what else may move a robot."""
        found = [*self._publications(), *self._calls()] if self._commands else []
        rows = [row for row in map(self._row, found) if row is not None]
        if not any(row.check == 'other motion' for row in rows):
            yield PreflightRow(check='other motion', status='ok',
                               detail='no other topic of a motion type')
        yield from rows

    def close(self) -> None:
        """Give up the subscriptions."""
        while self._subscriptions:
            self._node.destroy_subscription(self._subscriptions.popitem()[1][1])
        if self._parameters is not None:
            self._node.destroy_subscription(self._parameters)
            self._parameters = None

    def _once(self, several: Iterable[Appeared]) -> Iterator[Appeared]:
        for one in several:
            if (one.kind, one.name) not in self._told:
                self._told.add((one.kind, one.name))
                yield one

    def _outputs(self, is_end: bool) -> Iterator[Appeared]:
        """Yield what the record has to say of outputs that are not declared."""
        new, self._new = self._new, set()
        counts = self._counts()
        if any(kind == 'node' for kind, *_ in new):
            self._look_at_nodes(())
        changed = {topic for topic, count in counts.items() if count != self._seen.get(topic)}
        changed |= {one[-2] for one in new if one[0] in ('topic', 'publisher')}
        found = [*self._publications(changed), *self._calls(), *(self._first if is_end else ())]
        self._seen = counts
        for one in found:
            if one.is_theirs and one.name not in self._declared:
                said = self._report(one, is_end)
                if said is not None:
                    yield said
        yield from self._passed(new, {(one.name, one.interface) for one in found})
        yield from self._changed()
        keys, names = self._commanders()
        for topic, text in self._audience.judged(
                lambda info: not self._is_ours(info) and self._is_theirs(info, keys, names)):
            yield Appeared('undeclared', topic, text, LISTENS)

    def _report(self, found: Output, is_end: bool) -> Appeared | None:
        """Return what to say of an output; None: the record has its messages."""
        if not found.may_move:
            return Appeared('output', found.name, str(found))
        if found.way != 'topic':
            return Appeared('undeclared', found.name, _CALLED.format(
                nodes=found.nodes, way=found.way, interface=found.interface))
        if self._subscriptions.get(found.name, ('',))[0] != found.interface:
            return Appeared('undeclared', found.name, UNHEARD.format(interface=found.interface))
        if not is_end or found.name in self._heard:
            return None
        if is_lasting(found.interface):
            return Appeared('undeclared', found.name, _SILENT.format(interface=found.interface))
        return Appeared('output', found.name, f'{found}, silent in this trial')

    def _passed(self, new: Iterable[tuple[str, ...]], found: set[tuple[str, str]]) -> \
            Iterator[Appeared]:
        """Yield what has come and is gone again already."""
        theirs = {f'{space.rstrip("/")}/{name}' for name, space in self._theirs}
        if self._is_alone and not self._is_external:  # also a node that has left
            theirs |= {one[1] for one in new if one[0] in ('publisher', 'client')} - self._ours()
        for kind, *told in new:
            name, interface = told[-2:]
            if kind == 'node' or name in self._declared or (name, interface) in found:
                continue
            if kind == 'client' and told[0] in theirs:
                one = _call(name, interface, told[0])
                if (one.name, one.interface) not in found and one.name not in self._declared:
                    said = self._report(one, is_end=False)
                    if said is not None:
                        yield said
            elif not self._is_known(name, interface) and (
                    (kind == 'publisher' and told[0] in theirs)
                    or (kind == 'topic' and not self._node.count_publishers(name)
                        and not self._node.count_subscribers(name))):
                moves = may_command(interface)
                yield Appeared('undeclared' if moves else 'output', name,
                               _GONE.format(interface=interface))

    def _changed(self) -> Iterator[Appeared]:
        """Yield whose parameters were changed."""
        theirs = {f'{space.rstrip("/")}/{name}' for name, space in self._theirs}
        before = {f'{space.rstrip("/")}/{name}' for name, space in self._nodes}
        ours = self._ours()
        while self._changes:
            event = self._changes.pop(0)
            news = event.new_parameters if event.node in before else ()
            names = sorted({one.name for one in (
                *event.changed_parameters, *event.deleted_parameters, *news)})
            service = f'{event.node}/set_parameters'
            if not names or event.node in ours or service in self._declared:
                continue
            if event.node in theirs:
                yield Appeared('output', service, f'it changed its own parameters '
                                                  f'{", ".join(names)}')
            elif event.node in before:
                yield Appeared('undeclared', service, _CHANGED.format(names=', '.join(names)))

    def _ours(self) -> set[str]:
        """Return the nodes of the harness and of what else it has started."""
        return {full_node_name(info) for info in self._graph.publishers(_PARAMETERS)
                if self._is_ours(info)}

    def _there(self) -> frozenset[tuple[str, str]]:
        """Return name and namespace of each node."""
        return frozenset((name, space) for name, space
                         in self._node.get_node_names_and_namespaces())

    def _fingerprint(self) -> frozenset[tuple[str, ...]]:
        """Return what is cheap to ask: topics, nodes, and what the controller's nodes have."""
        node = self._node
        there = self._there()
        found: list[tuple[str, ...]] = [
            *(('node', *one) for one in there), *self._audience.counts()]
        found += [('topic', name, interface) for name, interfaces
                  in node.get_topic_names_and_types() for interface in interfaces]
        for one in there if self._is_alone and not self._is_external else self._theirs:
            if one in self._theirs or one not in self._nodes:
                found += node_entities('publisher', node.get_publisher_names_and_types_by_node,
                                       one)
                found += node_entities('client', node.get_client_names_and_types_by_node, one)
        return frozenset(found)

    def _counts(self) -> dict[str, int]:
        """Return how many publish on each topic by which a robot may be moved or misled."""
        return {topic: self._node.count_publishers(topic)
                for topic, interfaces in self._node.get_topic_names_and_types()
                if topic in self._shown or any(
                    may_command(one) and not self._is_known(topic, one) for one in interfaces)}

    def _look_beside(self) -> None:
        for name, topic in self._shown.items():
            infos = [info for info in self._graph.living_publishers(name)
                     if not self._graph.is_own(info)]
            of_world = [info for info in infos if info.node_name in self.worlds]
            others = infos if len(of_world) > 1 else \
                [info for info in infos if info.node_name not in self.worlds]
            if others:
                self._beside[topic] = ', '.join(sorted(set(map(full_node_name, others))))

    def _row(self, found: Output) -> PreflightRow | None:
        if not found.is_theirs:
            return PreflightRow(check='other motion', status='warn', detail=(
                f'{found}, which is not the controller under test: it is not watched')) \
                if found.way == 'topic' and may_move(found.name, found.interface) else None
        if found.name in self._declared:
            return PreflightRow(check='other motion', status='ok', detail=f'{found} is declared')
        if found.may_move:
            return PreflightRow(check='other motion', status='warn', detail=f'{found}{UNDECLARED}')
        return PreflightRow(check='other outputs', status='ok', detail=f'{found}{HARMLESS}')

    def _is_known(self, topic: str, interface: str) -> bool:
        """Return whether a topic is judged, shown, or one that the harness asks for."""
        known = self._known.get(topic)
        if known is not None:
            return not known or interface in known
        return self._harness.get(topic) == interface or (
            topic.startswith(self._agents) and interface == _STRING)

    def _publications(self, topics: Iterable[str] | None = None) -> Iterator[Output]:
        """Yield who else publishes, on these topics or on all of them."""
        keys, names = self._commanders()
        for topic, interfaces in self._node.get_topic_names_and_types():
            wanted = [one for one in interfaces if not self._is_known(topic, one)
                      and (topics is None or topic in topics)]
            infos = self._graph.living_publishers(topic) if wanted else []
            for interface in wanted:
                publishers = [info for info in infos if info.topic_type == interface
                              and not self._is_ours(info)]
                theirs = [info for info in publishers if self._is_theirs(info, keys, names)]
                if publishers:
                    yield Output(topic, interface, ', '.join(sorted(set(map(
                        full_node_name, theirs or publishers)))), bool(theirs), publishers)

    def _calls(self) -> Iterator[Output]:
        """Yield the services and actions that the controller can call, but for those of ours."""
        served = {name for name, _ in self._node.get_service_names_and_types_by_node(
            self._node.get_name(), self._node.get_namespace())}
        clients = dict[tuple[str, str], list[str]]()
        for one in sorted(self._theirs):
            for _, node, name, interface in node_entities(
                    'client', self._node.get_client_names_and_types_by_node, one):
                if name not in served:
                    clients.setdefault((name, interface), []).append(node)
        calls = {}
        for (name, interface), nodes in clients.items():
            call = _call(name, interface, ', '.join(nodes))
            if call.name not in calls or interface.endswith(_GOAL):
                calls[call.name] = call
        yield from calls.values()

    def _commanders(self) -> tuple[set[bytes], set[str]]:
        """Return processes and nodes that publish on a command topic, or did in this trial."""
        infos = [info for topic in self._commands for info in self._graph.publishers(topic)
                 if not self._is_ours(info)] if self._is_external else []
        keys, names = self._commanding
        keys.update(map(self._graph.processes.key, infos))
        names.update(map(full_node_name, infos))
        return self._commanding

    def _is_ours(self, info: Any) -> bool:
        """Return whether an endpoint is of the harness, and not of the controller under test."""
        if self._graph.processes.is_own_process(info):
            return True
        others = [child for child in self._children if child.node_name != CONTROLLER_NODE]
        known = self._graph.processes.is_of(info, [child.pid for child in others if child.pid])
        return info.node_name in {child.node_name for child in others} if known is None else known

    def _is_theirs(self, info: Any, keys: set[bytes], names: set[str]) -> bool:
        """Return whether an endpoint, which is not ours, is of the controller under test."""
        processes = self._graph.processes
        if self._is_external:
            return processes.key(info) in keys or full_node_name(info) in names
        known = processes.is_of(info, [child.pid for child in self._children if child.pid])
        return self._is_alone or known is None or known

    def _look_at_nodes(self, topics: Iterable[str]) -> None:
        """Find out which nodes are the controller's, by who publishes on these topics too."""
        keys, names = self._commanders()
        there = self._there()
        theirs, ours = set[str](), set[str]()
        for topic in {*_OF_EACH_NODE, *self._commands, *topics}:
            for info in self._graph.publishers(topic) if topic in self._commands \
                    else self._graph.living_publishers(topic):
                if self._is_ours(info):
                    ours.add(full_node_name(info))
                elif self._is_theirs(info, keys, names):
                    theirs.add(full_node_name(info))
        if self._is_alone and not self._is_external:  # also a node that publishes nothing
            theirs |= {f'{space.rstrip("/")}/{name}' for name, space in there} - ours
        self._theirs |= {one for one in there if f'{one[1].rstrip("/")}/{one[0]}' in theirs}

    def _subscribe(self, found: Output) -> None:
        known = self._subscriptions.get(found.name)
        if known is not None:
            if known[0] == found.interface:
                return
            self._node.destroy_subscription(known[1])
            del self._subscriptions[found.name]
        if self._node.resolve_topic_name(found.name) != found.name:
            return  # a remapping rule for our topics leads elsewhere from there
        try:
            kind = interface_class(found.interface)
        except Exception:  # not installed here, however that shows: the trial says so
            return
        warm_up(found.interface)
        self._subscriptions[found.name] = found.interface, self._node.create_subscription(
            kind, found.name, self._callback(found.name), qos.command(list(found.publishers)),
            raw=True)


def _call(name: str, interface: str, nodes: str) -> Output:
    """Return what a client can call; those of an action are one."""
    action, is_action, _ = name.partition(_ACTION)
    return Output(action, interface.removesuffix(_GOAL) if is_action else interface, nodes, True,
                  way='action' if is_action else 'service')
