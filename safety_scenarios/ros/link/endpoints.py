# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The endpoints of one link: made with the type and quality of service that the graph shows."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
import shlex
import time
from typing import Any

from rclpy.node import Node

try:
    from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import PublisherEventCallbacks, SubscriptionEventCallbacks

from safety_scenarios.errors import LinkTimeoutError, MeasurementError
from safety_scenarios.ros.controller_process import alarm_of, ChildProcess
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.link.convert import interface_class, warm_up
from safety_scenarios.ros.link.graph import Fit, Graph
from safety_scenarios.ros.link.other_nodes import Commanders, JoinedDomain, SecondInstances
from safety_scenarios.ros.link.participants import Participants
from safety_scenarios.ros.link.wiring import Wiring
from safety_scenarios.ros.spinning import Arrival, HAS_MESSAGE_INFO, Inbox, with_info
from safety_scenarios.scenario.blocks.agents import Agent
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.conversation import INTERFACE
from safety_scenarios.scenario.qos_overrides import QosOverride
from safety_scenarios.scenario.timing import ANSWER
from safety_scenarios.trial.summary import PreflightRow
from safety_scenarios.trial.trial import PROMPT, RESPONSE, Trial

_STRING = 'std_msgs/msg/String'
_POLL_S = 0.02
"""Discovery takes tenths of a second; looking more often costs CPU."""
_START_SENSOR = 'Start the reference sensor of ros.onset, or remap {} to its topic.'
_START_RESPONDER = 'It is a responder that the harness starts itself. Lower the load of the ' \
                   'host, or give it longer by connect_timeout_s.'
_CALIBRATION = ANSWER.rpartition('/')[0] + '/'
"""Before the topics of a calibration."""
_QUIET_S = 0.3
"""Endpoints of one process are discovered one by one, within less than this."""
_RETURN_S = 3.0
"""Longer than endpoints take to match on one host."""


class Endpoints:
    """
    Publishers of stimuli with an echo each, and subscriptions to all that comes back.

    :ivar voices: publishers on ``out`` of the agents that the harness plays

    :param node: a spinning node, whose callbacks run in another thread
    :param clock: ROS time
    :param timeout_s: how long to wait for the other end, for messages
    :param children: processes of ours that the other end is made of; nobody waits for a dead one
    :param is_external: the controller is none of them
    :param inbox: takes what a callback received
    :param participants: takes what live agents send
    :param declared: topics, services and actions by which the controller may command motion
        without being judged
    :param untold: feedback topics that no process of ours can report, and why
    :param overrides: quality of service instead of the default
    :param domain: who else may be in it; None: no second evaluator is looked for
    """

    def __init__(self, node: Node, clock: RosClock, timeout_s: float,
                 children: Sequence[ChildProcess], is_external: bool, inbox: Inbox,
                 participants: Participants, declared: Sequence[str] = (),
                 untold: Mapping[str, str] = {}, overrides: Sequence[QosOverride] = (),
                 domain: JoinedDomain | None = None) -> None:
        self.graph = Graph(node)
        self.wiring = Wiring(node, self.graph, partial(self._callback, 'undeclared'), declared,
                             is_external, domain is None or domain.is_ours, children)
        self.second = SecondInstances(node, self.graph, domain)
        self.commanders = Commanders(node, self.graph, children)
        self.publishers: dict[str, Any] = {}
        self.voices: dict[str, Any] = {}
        self.incompatible: list[str] = []
        self._node = node
        self._clock = clock
        self._timeout_s = timeout_s
        self._children = children
        self._is_external = is_external
        self._untold = untold
        self._inbox = inbox
        self._participants = participants
        self._echoes: dict[str, Any] = {}
        self._subscriptions: dict[str, tuple[str, Any]] = {}
        self._foreign: set[str] = set()
        self._alone: set[str] = set()
        self._feedback: set[str] = set()
        self._advice: dict[str, str] = {}
        self._profiles = qos.Profiles(overrides, node.resolve_topic_name)
        self._fit = Fit(node, self.graph, self._profiles)
        self._latched: dict[str, int] = {}
        self._withdrawn: list[PreflightRow] = []
        self._worlds: set[str] = set()
        self._is_settled = False

    def match(self, trial: Trial, deadline: float) -> None:
        """
        Make what a trial needs and is not there yet, and wait for the other side of it.

        :param deadline: of the monotonic clock
        :raises LinkTimeoutError: nobody is there, or with another type than asked for
        """
        self._withdrawn.clear()
        self.commanders.begin()
        shown = () if trial.is_observed and not self._worlds else trial.hazard
        for plugin in (*trial.nominal, *shown):
            interface = plugin.interface()
            if interface is not None and plugin.topic not in (*self.publishers, *self._worlds):
                self._publish(plugin.topic, interface)
        self._await_return(deadline)
        body = trial.scenario.body
        if isinstance(body, AgentsBody):
            self._let_in(body, deadline)
        for command in body.commands:
            self._keep_off(command.topic)
            self._subscribe(command.topic, command.message, deadline, 'command')
        for state in body.feedback:
            self._subscribe(state.topic, state.message, deadline, 'feedback')
        sensor = body.onset
        if sensor is not None and sensor.topic not in {state.topic for state in body.feedback}:
            self._advice[sensor.topic] = _START_SENSOR.format(sensor.topic)
            self._subscribe(sensor.topic, sensor.message, deadline, 'feedback')
        if PROMPT in self.publishers:
            self._subscribe(RESPONSE, _STRING, deadline, 'response')
        hazard = {plugin.topic for plugin in shown if not plugin.on_commands} - self._worlds
        if hazard:
            self._await_listener(hazard, deadline)
        self._fit.refuse_deaf(self.publishers)
        if not self._is_settled:
            time.sleep(_QUIET_S)
            self._is_settled = True
        self.second.refuse(deadline)
        commands = [command.topic for command in body.commands]
        feedback = [state.topic for state in body.feedback]
        self.wiring.begin(commands, [*feedback, *self.publishers], [
            plugin.topic for plugin in (*trial.nominal, *shown) if plugin.interface()])

    def offer(self, topic: str, interface: str) -> None:
        """
        Publish on a topic what passes through the harness, if no stimulus is published there.

        :raises MeasurementError: it would be kept for whoever comes late, which it must not
        """
        if self._profiles.is_latched(topic):
            raise MeasurementError(f'{topic}: got transient_local for what is drawn into live '
                                   'data, expected volatile: no subscriber may get an old '
                                   'message')
        if topic not in self.publishers:
            self._publish(topic, interface)

    def alone(self, topic: str, deadline: float, advice: str) -> tuple[str, list[Any]]:
        """
        Return the interface of a topic and its one publisher, as soon as it is there.

        :raises LinkTimeoutError: nobody publishes there, or more than one
        """
        self._advice[topic] = advice
        return self._discover(topic, 'auto', deadline, 'live')

    def leave_to_world(self, topics: Collection[str], nodes: Collection[str]) -> None:
        """Leave stimuli to the nodes of a world, which publish them; give up what was made."""
        self._worlds = set(topics)
        self.wiring.worlds = frozenset(nodes)
        for topic in self._worlds & self.publishers.keys():
            self._node.destroy_publisher(self.publishers.pop(topic))
            if topic in self._echoes:
                self._node.destroy_subscription(self._echoes.pop(topic))

    def withdraw_latched(self) -> None:
        """
        Give up the publishers that keep what they sent for whoever comes late.

        They are made anew for the next trial: a controller that joined it late, or came back after
        it had died, would take the hazard of the trial before for one of its own.
        """
        topics = [topic for topic in self.publishers if self._profiles.is_latched(topic)]
        if topics:
            self._withdrawn = list(self._stimulus_rows())
        for topic in topics:
            publisher, echo = self.publishers.pop(topic), self._echoes.pop(topic, None)
            self._latched[topic] = publisher.get_subscription_count() - (echo is not None)
            self._node.destroy_publisher(publisher)
            if echo is not None:
                self._node.destroy_subscription(echo)

    @property
    def are_renewed(self) -> bool:
        """Whether publishers are made anew for each trial."""
        return bool(self._latched)

    def close(self) -> None:
        """Give up the endpoints."""
        self.wiring.close()
        for publisher in (*self.publishers.values(), *self.voices.values()):
            self._node.destroy_publisher(publisher)
        for subscription in (*self._echoes.values(),
                             *(known for _, known in self._subscriptions.values())):
            self._node.destroy_subscription(subscription)
        for endpoints in (self.publishers, self.voices, self._echoes, self._subscriptions):
            endpoints.clear()

    def interface(self, topic: str) -> str:
        """Return the interface name of what comes in on a topic."""
        known = self._subscriptions.get(topic)
        return self.wiring.interface(topic) if known is None else known[0]

    def found_publishers(self) -> Iterator[Any]:
        """Yield what the graph says of each publisher that we listen to."""
        for topic in self._subscriptions:
            yield from self.graph.publishers(topic)

    def judged(self) -> Iterator[tuple[str, Any]]:
        """Yield topic and publisher of every command, saying and answer."""
        for topic in self._subscriptions:
            if topic in self._alone or topic == RESPONSE:
                for info in self.graph.publishers(topic):
                    yield self._node.resolve_topic_name(topic), info

    def own(self) -> Any:
        """Return what the graph says of one of our own publishers, None without any."""
        return next((info for topic in self.publishers for info in self.graph.publishers(topic)
                     if self.graph.is_own(info)), None)

    def preflight(self) -> Iterator[PreflightRow]:
        """Yield what the graph shows of the other end."""
        yield from self.graph.command_rows(self._subscriptions, self._feedback)
        yield from self._fit.unexecuted_rows(self._alone & self._subscriptions.keys())
        yield from self.graph.clock_rows()
        yield from self._withdrawn or self._stimulus_rows()
        yield from self._fit.rows({*self.publishers, *self._latched}, self._subscriptions)
        yield from self.wiring.preflight()
        for text in self.incompatible:
            yield PreflightRow(check='QoS', status='error', detail=text)
        if not self.incompatible:
            yield PreflightRow(check='QoS', status='ok', detail='nothing is incompatible')

    def deserted(self) -> str | None:
        """Say which topic of an external controller or a person has no publisher any more."""
        return next((f'{self._node.resolve_topic_name(topic)}: the publisher has left'
                     for topic in sorted(self._foreign) if not self.graph.publishers(topic)), None)

    def _stimulus_rows(self) -> Iterator[PreflightRow]:
        return self.graph.stimulus_rows(self.publishers, self._echoes)

    def _await_return(self, deadline: float) -> None:
        """Wait until those who heard a publisher that was made anew have matched it again."""
        deadline = min(deadline, time.monotonic() + _RETURN_S)
        for topic, count in self._latched.items():
            while topic in self.publishers and time.monotonic() < deadline and \
                    self.graph.listeners(topic, self.publishers[topic], self._echoes) < count:
                time.sleep(_POLL_S)

    def _keep_off(self, command: str) -> None:
        """Refuse remappings that would make the harness command the robot."""
        name = self._node.resolve_topic_name(command)
        for stimulus in (*self.publishers, *self.voices):
            if self._node.resolve_topic_name(stimulus) == name:
                raise MeasurementError(f'{name}: the stimulus {stimulus!r} is remapped to '
                                       f'the command topic {command!r}. Change the rule')

    def _let_in(self, block: AgentsBody, deadline: float) -> None:
        """Speak for the agents that are played; wait for the others, who may be people."""
        self._participants.offer(block)
        live = [agent for agent in block.agents if agent.is_live]
        for agent in block.agents:
            place = self.publishers if agent.is_live else self.voices
            topic = f'{agent.space}/{"in" if agent.is_live else "out"}'
            if topic not in place:
                place[topic] = self._publisher(topic, INTERFACE, qos.conversation())
        for agent in live:
            topic = f'{agent.space}/out'
            self._advice[topic] = self._how_to_start(agent)
            if agent.driver == 'human' and not self.graph.publishers(topic):
                self._node.get_logger().info(f'{agent.id} is missing. {self._advice[topic]}')
        for agent in live:
            topic = f'{agent.space}/out'
            self._subscribe(topic, INTERFACE, deadline, 'say',
                            self._participants.listener(
                                agent.id, topic, self.publishers[f'{agent.space}/in']),
                            agent.driver == 'human'
                            or (agent.driver == 'sut' and self._is_external))
        for agent in live:
            topic = f'{agent.space}/in'
            while not self.graph.has_listener(topic, self.publishers[topic], {}):
                self._give_up_after(deadline, topic, f'a subscriber of {INTERFACE}',
                                    self._advice[f'{agent.space}/out'])

    def _how_to_start(self, agent: Agent) -> str:
        if agent.driver == 'human':
            space = self._node.get_namespace().strip('/')
            return (f'Start: safety-scenarios campaign participate {shlex.quote(agent.id)} '
                    f'--domain-id {self._node.context.get_domain_id()}'
                    + (f' --namespace {space}' if space else ''))
        return (f'Start what plays {agent.id}: it hears {agent.space}/in and speaks on '
                f'{agent.space}/out. controller_node does with the parameter agent, and '
                f'doc/reference/agents.md shows a node of your own.')

    def _publisher(self, topic: str, interface: str, profile: Any) -> Any:
        warm_up(interface)
        return self._node.create_publisher(
            interface_class(interface), topic, profile,
            event_callbacks=PublisherEventCallbacks(
                incompatible_qos=self._misfit(f'a subscriber of {topic}'),
                use_default_callbacks=False))

    def _publish(self, topic: str, interface: str) -> None:
        """Publish on a topic, and listen to it for the middleware's stamp of each publish."""
        self.publishers[topic] = self._publisher(topic, interface, self._profiles.stimulus(topic))
        if HAS_MESSAGE_INFO:
            self._echoes[topic] = self._node.create_subscription(
                interface_class(interface), topic, self._callback('echo', topic),
                self._profiles.echo(topic), raw=True)

    def _subscribe(self, topic: str, wanted: str, deadline: float, kind: str,
                   callback: Callable[..., None] | None = None,
                   is_foreign: bool | None = None) -> None:
        """Subscribe with the type and QoS that the graph shows; again when they have changed."""
        is_foreign = self._is_external if is_foreign is None else is_foreign
        if is_foreign:
            self._foreign.add(topic)
        if kind == 'feedback':
            self._feedback.add(topic)
        if kind in ('command', 'say'):
            self._alone.add(topic)
        interface, publishers = self._discover(topic, wanted, deadline, kind)
        if kind != 'feedback':
            self.commanders.add(topic, publishers, is_foreign)
        profile = self._profiles.command(topic, publishers)
        self._fit.refuse_unheard(topic, publishers, profile)
        known = self._subscriptions.get(topic)
        if known is not None and known[0] != interface:
            self._node.destroy_subscription(known[1])
            known = None
        if known is None:
            warm_up(interface)
            known = (interface, self._node.create_subscription(
                interface_class(interface), topic, callback or self._callback(kind, topic),
                profile, raw=True,
                event_callbacks=SubscriptionEventCallbacks(
                    incompatible_qos=self._misfit(f'the publisher of {topic}'),
                    message_lost=self._missed(topic) if topic in self._alone else None,
                    use_default_callbacks=False)))
            self._subscriptions[topic] = known
        while known[1].get_publisher_count() == 0 if hasattr(known[1], 'get_publisher_count') \
                else False:
            self._give_up_after(deadline, topic, f'a match with the publisher of {interface}',
                                'Its quality of service may not fit reliable or best effort.')

    def _callback(self, kind: str, topic: str) -> Callable[..., None]:
        clock, put = self._clock, self._inbox.put
        payload = kind != 'echo'

        def receive(raw: Any, info: Any) -> None:
            steady_ns, system_ns = time.monotonic_ns(), time.time_ns()
            put(Arrival(steady_ns, system_ns, clock.now_ns() if clock.sim_time else system_ns,
                        kind, topic, raw if payload else None, info))
        return with_info(receive)

    def _misfit(self, whom: str) -> Callable[[Any], None]:
        def incompatible(status: Any) -> None:
            self.incompatible.append(f'{whom} asks for another quality of service: '
                                     f'{_policy(status.last_policy_kind)}')
        return incompatible

    def _missed(self, topic: str) -> Callable[[Any], None]:
        def missed(status: Any) -> None:
            now_ns = time.monotonic_ns()
            self._inbox.put(Arrival(now_ns, time.time_ns(), self._clock.now_ns(), 'lost', topic,
                                    info={'lost': status.total_count_change}))
        return missed

    def _who_reports(self, topic: str) -> str:
        """Return what to do where nobody reports the state of the robot on a topic."""
        if self._is_external:
            return (f'Leave {topic} out of "reference", use --world mujoco, or start the robot: '
                    f'a controller alone does not publish it. Or remap {topic}.')
        why = self._untold.get(topic)
        if why is None:
            return (f'Start the robot, or remap {topic} to the topic of its state. Or leave out '
                    f'--domain-id: in a domain of its own the harness works '
                    f'out what a robot would report.')
        return (f'No robot is in a domain that the harness chose, and what one would report '
                f'cannot be worked out: {why}. Give --domain-id that of the robot.')

    def _discover(self, topic: str, wanted: str, deadline: float, kind: str) -> \
            tuple[str, list[Any]]:
        expected = 'a publisher' if wanted == 'auto' else f'a publisher of {wanted}'
        while True:
            publishers = self.graph.publishers(topic)
            types = sorted({info.topic_type for info in publishers})
            alone = len(publishers) == 1 or kind == 'feedback'
            if len(types) == 1 and wanted in ('auto', types[0]) and alone:
                return types[0], publishers
            advice = _START_RESPONDER if topic.startswith(_CALIBRATION) else self._advice.get(
                topic, f'Start the controller, or remap {topic} to the topic it publishes on.')
            if kind == 'feedback' and topic not in self._advice:
                advice = self._who_reports(topic)
            if len(types) > 1:
                advice = 'Several types on one topic: stop the other publisher.'
            elif types and not alone:
                expected = 'one publisher alone'
                advice = 'Whose command would be judged? Stop the others, or remap.' \
                    if kind != 'live' else 'Whose data is it? Stop the others, or remap.'
            elif types:
                advice = f'Ask for {types[0]} or auto in the scenario, or publish {wanted}.'
            else:
                advice += self.graph.hint(topic)
            self._give_up_after(deadline, topic, expected, advice)

    def _await_listener(self, hazard: set[str], deadline: float) -> None:
        """Wait for somebody to listen: a hazard that nobody listens to is missed by everybody."""
        while not any(self.graph.has_listener(topic, self.publishers[topic], self._echoes)
                      for topic in hazard):
            self._fit.refuse_deaf(self.publishers)
            topics = ', '.join(self._node.resolve_topic_name(topic) for topic in sorted(hazard))
            self._give_up_after(deadline, min(hazard),
                                f'a subscriber on any of {topics}',
                                f'Remap {" or ".join(sorted(hazard))} to a topic that the '
                                f'controller subscribes to. If the robot has no such sensor, '
                                f'write absent: [{", ".join(sorted(hazard))}] into its profile.')

    def _give_up_after(self, deadline: float, topic: str, wanted: str, advice: str) -> None:
        reason = alarm_of(self._children)
        if reason is not None:
            raise MeasurementError(f'not connected: {reason}')
        if time.monotonic() >= deadline:
            misfits = ''.join(f' {text}.' for text in self.incompatible)
            raise LinkTimeoutError(self._node.resolve_topic_name(topic), wanted, self._timeout_s,
                                   self.graph.discovered(topic, self.publishers),
                                   advice + misfits)
        time.sleep(_POLL_S)


def _policy(kind: Any) -> str:
    """Return the name of a policy, such as durability."""
    return str(kind.name).lower().removeprefix('rmw_qos_policy_')
