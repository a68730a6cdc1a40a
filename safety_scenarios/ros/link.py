# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The link to a controller over ROS topics; it owns every clock of a trial."""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
import gc
import time
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message

try:
    from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import PublisherEventCallbacks, SubscriptionEventCallbacks

from safety_scenarios.errors import LinkTimeoutError, MeasurementError
from safety_scenarios.model.contracts import Stamp, Stimulus
from safety_scenarios.model.event import Event, Stamps
from safety_scenarios.model.interfaces import read_answer
from safety_scenarios.model.measuring import ClockOffset, Measuring, PROBE
from safety_scenarios.model.preflight import PreflightRow
from safety_scenarios.model.trial import PROMPT, RESPONSE, Trial
from safety_scenarios.ros import qos
from safety_scenarios.ros.clock import RosClock
from safety_scenarios.ros.convert import (
    from_ros,
    header_stamp_ns,
    interface_class,
    set_header_stamp,
    to_ros,
    warm_up,
)
from safety_scenarios.ros.graph import Graph
from safety_scenarios.ros.hosts import Hosts, one_host
from safety_scenarios.ros.offset import ask_offset
from safety_scenarios.ros.receiving import HAS_MESSAGE_INFO, with_info
from safety_scenarios.ros.spinning import Spin

_STRING = 'std_msgs/msg/String'
_POLL_S = 0.02
_OTHER_SIDE_S = 1.0
_RESTART_S = 3.0
_SLICE_NS = 5_000_000
_HEALTH_NS = 100_000_000
_QUEUE = 1_000_000
_CLOSE_NS = 20_000
_READINGS = 10
_SENT = 1000
_DRIFT_NS = 5_000_000_000
"""Clocks of two hosts drift apart by less than 0.25 ms in this time (50 ppm)."""

Alarm = Callable[[], str | None]
Arrived = tuple[int, int, int, str, str, Any, Any]
"""steady, system, ros ns; kind; topic; serialised message; the middleware's info."""


class RosLink:
    """
    Publishes stimuli and queues commands; the main thread sends, the spin thread receives.

    :param node: a spinning node, whose callbacks run in another thread
    :param spin: its spin thread, whose death makes the harness deaf
    :param clock: ROS time
    :param connect_timeout_s: how long to wait for the other end
    :param measuring: how time is judged; what the other end decides of it is found in ``open``
    :param hosts: whether the controller is known to run here
    :param ensure_running: brings the controller up before a trial, if it is ours; says whether it
        had died
    :param alarm: says why the controller is gone, if it is ours
    """

    def __init__(self, node: Node, spin: Spin, clock: RosClock, connect_timeout_s: float,
                 measuring: Measuring, hosts: Hosts = 'auto',
                 ensure_running: Callable[[], bool] = lambda: False,
                 alarm: Alarm | None = None) -> None:
        self.measuring = measuring
        self._node = node
        self._spin = spin
        self._clock = clock
        self._timeout_s = connect_timeout_s
        self._hosts = hosts
        self._ensure_running = ensure_running
        self._is_external = alarm is None
        self._alarm = alarm or self._deserted
        self._graph = Graph(node)
        self._publishers: dict[str, Any] = {}
        self._echoes: dict[str, Any] = {}
        self._subscriptions: dict[str, tuple[str, Any]] = {}
        self._commands: set[str] = set()
        self._stamps: dict[str, int] = {}
        self._sent: dict[str, deque[tuple[int, int, int]]] = defaultdict(
            lambda: deque(maxlen=_SENT))
        self._arrived: deque[Arrived] = deque(maxlen=_QUEUE)
        self._incompatible: list[str] = []
        self._health_ns = 0
        self._looked_ns = 0
        self._settled = False
        self._alarmed = False
        self._unreported: str | None = None
        clock.on_tick = self._ticked

    def open(self, trial: Trial) -> None:
        """
        Bring up the controller, match all endpoints and forget what arrived before.

        We see our own matches only. The other side makes its own a little later, and a message
        between the two is repeated after some 100 ms: a prompt, which has no nominal phase before
        it, waits for that once: as long as our own matches took, and at least a second.

        :raises LinkTimeoutError: nobody is there, or with another type than asked for
        """
        has_died = self._ensure_running()
        if has_died and not self._alarmed:
            self._unreported = 'the controller had died after the trial before this one'
        self._alarmed = False
        deadline = time.monotonic() + self._timeout_s
        self._clock.await_first(self._timeout_s, self.measuring.rules.lockstep)
        for plugin in (*trial.nominal, *trial.hazard):
            interface = plugin.interface()
            if interface is not None and plugin.topic not in self._publishers:
                self._publish(plugin.topic, interface)
        ros = trial.scenario.ros
        for command in ros.commands if ros else ():
            self._commands.add(command.topic)
            self._keep_off(command.topic)
            self._subscribe(command.topic, command.message, deadline, 'command')
        for state in ros.feedback if ros else ():
            self._subscribe(state.topic, state.message, deadline, 'feedback')
        if PROMPT in self._publishers:
            self._subscribe(RESPONSE, _STRING, deadline, 'response')
        self._await_listener({plugin.topic for plugin in trial.hazard}, deadline)
        if has_died:
            self._looked_ns = 0
            time.sleep(_RESTART_S)
        elif trial.is_text and not self._settled:
            took_s = time.monotonic() - (deadline - self._timeout_s)
            time.sleep(max(_OTHER_SIDE_S, took_s))
        self._look_at_hosts()
        self._settled = True
        gc.collect()
        self._arrived.clear()

    def close(self) -> None:
        """Give up the endpoints."""
        self._clock.on_tick = lambda *_: None
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)
        for subscription in (*self._echoes.values(),
                             *(known for _, known in self._subscriptions.values())):
            self._node.destroy_subscription(subscription)

    def preflight(self) -> Sequence[PreflightRow]:
        """Return what the graph shows of the other end."""
        rows = [*self._graph.command_rows(self._subscriptions),
                *self._graph.stimulus_rows(self._publishers, self._echoes)]
        rows += [PreflightRow(check='QoS', status='error', detail=text)
                 for text in self._incompatible] or [
                     PreflightRow(check='QoS', status='ok', detail='nothing is incompatible')]
        rows.append(PreflightRow(
            check='hosts', status='ok' if self.measuring.one_host else 'warn',
            detail=f'{"one host" if self.measuring.one_host else "two hosts"}: '
                   f'{self.measuring.hosts_because}'))
        offset = self.measuring.offset
        if offset is not None:
            rows.append(PreflightRow(
                check='clock offset', status='ok' if offset.split_bound_ns <= 1_000_000
                else 'warn', detail=f'{offset.offset_ns / 1e6:+.3f} ms within '
                                    f'{offset.bound_ns / 1e6:.3f} ms, by {offset.probes} probes'))
        return rows

    def mark(self, name: str) -> Event:
        """Return a mark stamped now, with its clocks read as closely together as can be."""
        best = self._now()
        for _ in range(_READINGS):
            if best[0] <= _CLOSE_NS:
                break
            best = min(best, self._now(), key=lambda found: found[0])
        return Event.model_construct(kind='mark', name=name, stamps=best[1])

    def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event:
        """Publish one stimulus; the message is built first, then the clocks are read."""
        message = to_ros(stimulus.message)
        publisher = self._publishers[stimulus.topic]
        header_ns = None
        if hasattr(message, 'header'):
            header_ns = self._stamps.get(stimulus.topic) if stimulus.stamp is Stamp.HOLD else None
            header_ns = self._clock.now_ns() if header_ns is None else header_ns
            set_header_stamp(message, header_ns)
            self._stamps[stimulus.topic] = header_ns
        serialised = serialize_message(message)
        _, stamps = self._now(header_ns)
        publisher.publish(serialised)
        self._sent[stimulus.topic].append((stamps.system_ns, time.time_ns(), scheduled_ns))
        return Event.model_construct(
            kind='stimulus', name=stimulus.topic, stamps=stamps, message=stimulus.message,
            hazard=hazard, truth=dict(stimulus.truth), scheduled_ns=scheduled_ns)

    def receive_until(self, steady_ns: int) -> Sequence[Event]:
        """Return what has arrived, or wait for it until ``steady_ns`` on the steady clock."""
        while True:
            now_ns = time.monotonic_ns()
            self._clock.check(now_ns)
            reason = self._ill_health()
            if reason is not None:
                return [self.mark('ControllerError').model_copy(
                    update={'kind': 'fault', 'text': reason})]
            if len(self._arrived) == _QUEUE:
                raise MeasurementError(f'{_QUEUE} messages arrived faster than they were read; '
                                       f'some are lost')
            events = [event for event in (self._event(*self._arrived.popleft())
                                          for _ in range(len(self._arrived))) if event]
            if events or now_ns >= steady_ns:
                return events
            time.sleep(min(steady_ns - now_ns, _SLICE_NS) / 1e9)

    def _ill_health(self) -> str | None:
        """Say once why the controller is gone; looked up ten times a second."""
        if self._spin.error is not None:
            raise MeasurementError(f'the receiving thread failed: {self._spin.error!r}')
        if self._incompatible:
            raise MeasurementError(f'not connected: {"; ".join(self._incompatible)}. Let both '
                                   f'sides use reliable, volatile quality of service')
        reason, self._unreported = self._unreported, None
        now_ns = time.monotonic_ns()
        if reason is None and not self._alarmed and now_ns - self._health_ns > _HEALTH_NS:
            self._health_ns = now_ns
            reason = self._alarm()
            self._alarmed = reason is not None
        return reason

    def _deserted(self) -> str | None:
        """Say which command topic of an external controller has not one publisher any more."""
        for topic in self._subscriptions:
            count = len(self._graph.publishers(topic))
            if count == 0:
                return f'{self._node.resolve_topic_name(topic)}: the publisher has left'
            if count > 1 and topic in self._commands:
                return (f'{self._node.resolve_topic_name(topic)}: a second publisher has come. '
                        f'Whose command would be judged?')
        return None

    def _now(self, header_ns: int | None = None) -> tuple[int, Stamps]:
        """Return the clocks, and how long reading them took (ns)."""
        steady_ns, system_ns = time.monotonic_ns(), time.time_ns()
        took_ns = time.monotonic_ns() - steady_ns
        return took_ns, Stamps.model_construct(
            steady_ns=steady_ns, system_ns=system_ns,
            ros_ns=self._clock.now_ns() if self._clock.sim_time else system_ns,
            header_ns=header_ns)

    def _event(self, steady_ns: int, system_ns: int, ros_ns: int, kind: Any, topic: str,
               raw: Any, info: Any) -> Event | None:
        message = None
        if raw is not None:
            message = deserialize_message(raw, interface_class(self._subscriptions[topic][0]))
        stamps = Stamps.model_construct(
            steady_ns=steady_ns, system_ns=system_ns, ros_ns=ros_ns,
            source_ns=info.get('source_timestamp') if info else None,
            received_ns=info.get('received_timestamp') if info else None,
            header_ns=header_stamp_ns(message))
        if kind in ('echo', 'lost', 'clock'):
            return self._own(kind, topic, stamps, info)
        if kind == 'response':
            text, trial_id = read_answer(message.data)
            return Event.model_construct(kind=kind, name=topic, stamps=stamps, text=text,
                                         trial_id=trial_id)
        return Event.model_construct(
            kind=kind, name=topic, stamps=stamps, message=from_ros(message),
            sequence=info.get('publication_sequence_number') if info else None)

    def _own(self, kind: Any, topic: str, stamps: Stamps, info: Any) -> Event | None:
        """Return an event of the harness itself; the echo of a foreign publisher is none."""
        if kind == 'lost':
            return Event.model_construct(kind=kind, name=topic, stamps=stamps.model_copy(
                update={'source_ns': None, 'received_ns': None}), text=str(info['lost']))
        if kind == 'clock':
            return Event.model_construct(kind=kind, name=topic, stamps=stamps)
        for before_ns, after_ns, scheduled_ns in reversed(self._sent[topic]):
            if before_ns <= (stamps.source_ns or 0) <= after_ns:
                return Event.model_construct(kind=kind, name=topic, stamps=stamps,
                                             scheduled_ns=scheduled_ns)
        return None

    def _ticked(self, steady_ns: int, system_ns: int, ros_ns: int, info: Any) -> None:
        self._arrived.append((steady_ns, system_ns, ros_ns, 'clock', '/clock', None, info))

    def _keep_off(self, command: str) -> None:
        """Refuse remappings that would make the harness command the robot."""
        name = self._node.resolve_topic_name(command)
        for stimulus in self._publishers:
            if self._node.resolve_topic_name(stimulus) == name:
                raise MeasurementError(f'{name}: the stimulus {stimulus!r} is remapped to '
                                       f'the command topic {command!r}. Change the rule')

    def _publish(self, topic: str, interface: str) -> None:
        """Publish on a topic, and listen to it for the middleware's stamp of each publish."""
        warm_up(interface)
        self._publishers[topic] = self._node.create_publisher(
            interface_class(interface), topic, qos.stimulus(),
            event_callbacks=PublisherEventCallbacks(
                incompatible_qos=self._misfit(f'a subscriber of {topic}'),
                use_default_callbacks=False))
        if HAS_MESSAGE_INFO:
            self._echoes[topic] = self._node.create_subscription(
                interface_class(interface), topic, self._callback('echo', topic), qos.echo(),
                raw=True)

    def _subscribe(self, topic: str, wanted: str, deadline: float, kind: str) -> None:
        """Subscribe with the type and QoS that the graph shows; again when they have changed."""
        interface, publishers = self._discover(topic, wanted, deadline, kind)
        known = self._subscriptions.get(topic)
        if known is not None and known[0] != interface:
            self._node.destroy_subscription(known[1])
            known = None
        if known is None:
            warm_up(interface)
            known = (interface, self._node.create_subscription(
                interface_class(interface), topic, self._callback(kind, topic),
                qos.command(publishers), raw=True,
                event_callbacks=SubscriptionEventCallbacks(
                    incompatible_qos=self._misfit(f'the publisher of {topic}'),
                    message_lost=self._missed(topic) if kind == 'command' else None,
                    use_default_callbacks=False)))
            self._subscriptions[topic] = known
        while known[1].get_publisher_count() == 0 if hasattr(known[1], 'get_publisher_count') \
                else False:
            self._give_up_after(deadline, topic, f'a match with the publisher of {interface}',
                                'Its quality of service may not fit reliable or best effort.')

    def _callback(self, kind: str, topic: str) -> Callable[..., None]:
        clock, arrived_now = self._clock, self._arrived.append
        payload = kind != 'echo'

        def receive(raw: Any, info: Any) -> None:
            steady_ns, system_ns = time.monotonic_ns(), time.time_ns()
            arrived_now((steady_ns, system_ns, clock.now_ns() if clock.sim_time else system_ns,
                         kind, topic, raw if payload else None, info))
        return with_info(receive)

    def _misfit(self, whom: str) -> Callable[[Any], None]:
        def incompatible(status: Any) -> None:
            self._incompatible.append(f'{whom} asks for another quality of service: '
                                      f'{_policy(status.last_policy_kind)}')
        return incompatible

    def _missed(self, topic: str) -> Callable[[Any], None]:
        def missed(status: Any) -> None:
            now_ns = time.monotonic_ns()
            self._arrived.append((now_ns, time.time_ns(), self._clock.now_ns(), 'lost', topic,
                                  None, {'lost': status.total_count_change}))
        return missed

    def _discover(self, topic: str, wanted: str, deadline: float, kind: str) -> \
            tuple[str, list[Any]]:
        name = self._node.resolve_topic_name(topic)
        expected = 'a publisher' if wanted == 'auto' else f'a publisher of {wanted}'
        while True:
            publishers = self._node.get_publishers_info_by_topic(name)
            types = sorted({info.topic_type for info in publishers})
            commanding = len(publishers) if self._is_external else \
                len({info.node_name for info in publishers})  # a killed child's may linger
            alone = commanding == 1 or kind == 'feedback'
            if len(types) == 1 and wanted in ('auto', types[0]) and alone:
                return types[0], publishers
            advice = f'Start the controller, or remap {topic} to the topic it publishes on.'
            if kind == 'feedback':
                advice = f'Start the robot, or remap {topic} to the topic of its state.'
            if len(types) > 1:
                advice = 'Several types on one topic: stop the other publisher.'
            elif types and not alone:
                expected = 'one publisher alone'
                advice = 'Whose command would be judged? Stop the others, or remap.'
            elif types:
                advice = f'Ask for {types[0]} or auto in the scenario, or publish {wanted}.'
            self._give_up_after(deadline, topic, expected, advice)

    def _await_listener(self, hazard: set[str], deadline: float) -> None:
        """A hazard that nobody listens to would be missed by everybody."""
        while not any(self._graph.listeners(topic, self._publishers[topic], self._echoes)
                      for topic in hazard):
            topics = ', '.join(self._node.resolve_topic_name(topic) for topic in sorted(hazard))
            self._give_up_after(deadline, min(hazard),
                                f'a subscriber on any of {topics}',
                                'Remap the stimuli to the topics that the controller listens to.')

    def _give_up_after(self, deadline: float, topic: str, wanted: str, advice: str) -> None:
        reason = None if self._is_external else self._alarm()
        if reason is not None:
            raise MeasurementError(f'not connected: {reason}')
        if time.monotonic() >= deadline:
            misfits = ''.join(f' {text}.' for text in self._incompatible)
            raise LinkTimeoutError(self._node.resolve_topic_name(topic), wanted, self._timeout_s,
                                   self._graph.discovered(topic, self._publishers),
                                   advice + misfits)
        time.sleep(_POLL_S)

    def _look_at_hosts(self) -> None:
        """Find out whose clocks the stamps are of, and how far the other's is off by now."""
        if self._looked_ns and time.monotonic_ns() - self._looked_ns < _DRIFT_NS:
            return
        others = [info for topic in self._subscriptions
                  for info in self._graph.publishers(topic)]
        own = next((info for topic in self._publishers for info in self._graph.publishers(topic)
                    if info.node_name == self._node.get_name()), None)
        known, because = (True, 'a child of the evaluator') if not self._is_external \
            else one_host(self._hosts, own, others)
        self.measuring = self.measuring.model_copy(update={
            'one_host': known, 'hosts_because': because, 'sim_time': self._clock.sim_time,
            'offset': self._offset()})
        self._looked_ns = time.monotonic_ns()

    def _offset(self) -> ClockOffset | None:
        """Ask the responder beside the controller, if there is one, for the time."""
        if not HAS_MESSAGE_INFO or PROBE in self._publishers \
                or not self._graph.subscribers(PROBE):
            return None
        return ask_offset(self._node)


def _policy(kind: Any) -> str:
    """Return the name of a policy, such as durability."""
    return str(kind.name).lower().removeprefix('rmw_qos_policy_')
