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

from collections import deque
from collections.abc import Callable, Sequence
import inspect
import json
import time
from typing import Any

from rclpy.node import Node
from rclpy.subscription import Subscription

from safety_scenarios.errors import LinkTimeoutError, MeasurementError
from safety_scenarios.model.contracts import Stamp, Stimulus
from safety_scenarios.model.event import Event, Stamps
from safety_scenarios.model.trial import PROMPT, RESPONSE, Trial
from safety_scenarios.ros import qos
from safety_scenarios.ros.convert import from_ros, header_stamp_ns, interface_class, to_ros
from safety_scenarios.ros.spinning import Spin

_STRING = 'std_msgs/msg/String'
_POLL_S = 0.02
_OTHER_SIDE_S = 1.0
_RESTART_S = 3.0
_SLICE_NS = 2_000_000
_HEALTH_NS = 100_000_000
_QUEUE = 1_000_000
_MAX_ANSWER = 1_000_000
_HAS_MESSAGE_INFO = hasattr(Subscription, 'CallbackType')

Alarm = Callable[[], str | None]


class RosLink:
    """
    Publishes stimuli and queues commands; the main thread sends, the spin thread receives.

    :param node: a spinning node, whose callbacks run in another thread
    :param spin: its spin thread, whose death makes the harness deaf
    :param connect_timeout_s: how long to wait for the other end
    :param ensure_running: brings the controller up before a trial, if it is ours; says whether it
        had died
    :param alarm: says why the controller is gone, if it is ours
    """

    def __init__(self, node: Node, spin: Spin, connect_timeout_s: float,
                 ensure_running: Callable[[], bool] = lambda: False,
                 alarm: Alarm | None = None) -> None:
        self._node = node
        self._spin = spin
        self._timeout_s = connect_timeout_s
        self._ensure_running = ensure_running
        self._is_external = alarm is None
        self._alarm = alarm or self._deserted
        self._publishers: dict[str, Any] = {}
        self._subscriptions: dict[str, tuple[str, Any]] = {}
        self._stamps: dict[str, Any] = {}
        self._arrived: deque[tuple[int, int, int, str, Any, Any]] = deque(maxlen=_QUEUE)
        self._health_ns = 0
        self._settled = False
        self._alarmed = False
        self._unreported: str | None = None

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
        for plugin in (*trial.nominal, *trial.hazard):
            interface = plugin.interface()
            if interface is not None and plugin.topic not in self._publishers:
                self._publishers[plugin.topic] = self._node.create_publisher(
                    interface_class(interface), plugin.topic, qos.stimulus())
        ros = trial.scenario.ros
        for command in ros.commands if ros else ():
            self._keep_off(command.topic)
            self._subscribe(command.topic, command.message, deadline)
        if PROMPT in self._publishers:
            self._subscribe(RESPONSE, _STRING, deadline)
        self._await_listener({plugin.topic for plugin in trial.hazard}, deadline)
        if has_died:
            time.sleep(_RESTART_S)
        elif trial.is_text and not self._settled:
            took_s = time.monotonic() - (deadline - self._timeout_s)
            time.sleep(max(_OTHER_SIDE_S, took_s))
        self._settled = True
        self._arrived.clear()

    def close(self) -> None:
        """Give up the endpoints."""
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)
        for _, subscription in self._subscriptions.values():
            self._node.destroy_subscription(subscription)

    def mark(self, name: str) -> Event:
        """Return a mark stamped now."""
        return Event.model_construct(kind='mark', name=name, stamps=self._now())

    def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event:
        """Publish one stimulus; the message is built first, then the clocks are read."""
        message = to_ros(stimulus.message)
        publisher = self._publishers[stimulus.topic]
        stamped = hasattr(message, 'header')
        if stamped and stimulus.stamp is Stamp.HOLD and stimulus.topic in self._stamps:
            message.header.stamp = self._stamps[stimulus.topic]
        elif stamped:
            message.header.stamp = self._node.get_clock().now().to_msg()
            self._stamps[stimulus.topic] = message.header.stamp
        stamps = self._now(header_ns=header_stamp_ns(message) if stamped else None)
        publisher.publish(message)
        return Event.model_construct(
            kind='stimulus', name=stimulus.topic, stamps=stamps, message=stimulus.message,
            hazard=hazard, truth=dict(stimulus.truth), scheduled_ns=scheduled_ns)

    def receive_until(self, steady_ns: int) -> Sequence[Event]:
        """Return what has arrived, or wait for it until ``steady_ns`` on the steady clock."""
        while True:
            reason = self._ill_health()
            if reason is not None:
                return [self.mark('ControllerError').model_copy(
                    update={'kind': 'fault', 'text': reason})]
            if len(self._arrived) == _QUEUE:
                raise MeasurementError(f'{_QUEUE} messages arrived faster than they were read; '
                                       f'some are lost')
            if self._arrived:
                return [self._event(*self._arrived.popleft())
                        for _ in range(len(self._arrived))]
            now_ns = time.monotonic_ns()
            if now_ns >= steady_ns:
                return []
            time.sleep(min(steady_ns - now_ns, _SLICE_NS) / 1e9)

    def _ill_health(self) -> str | None:
        """Say once why the controller is gone; looked up ten times a second."""
        if self._spin.error is not None:
            raise MeasurementError(f'the receiving thread failed: {self._spin.error!r}')
        reason, self._unreported = self._unreported, None
        now_ns = time.monotonic_ns()
        if reason is None and not self._alarmed and now_ns - self._health_ns > _HEALTH_NS:
            self._health_ns = now_ns
            reason = self._alarm()
            self._alarmed = reason is not None
        return reason

    def _deserted(self) -> str | None:
        """Say which command topic of an external controller has lost its publisher."""
        for topic in self._subscriptions:
            if self._node.count_publishers(topic) == 0:
                return f'{self._node.resolve_topic_name(topic)}: the publisher has left'
        return None

    def _now(self, header_ns: int | None = None) -> Stamps:
        return Stamps.model_construct(
            steady_ns=time.monotonic_ns(), system_ns=time.time_ns(),
            ros_ns=self._node.get_clock().now().nanoseconds, header_ns=header_ns)

    def _event(self, steady_ns: int, system_ns: int, ros_ns: int, topic: str, message: Any,
               info: Any) -> Event:
        stamps = Stamps.model_construct(
            steady_ns=steady_ns, system_ns=system_ns, ros_ns=ros_ns,
            source_ns=info.get('source_timestamp') if info else None,
            received_ns=info.get('received_timestamp') if info else None,
            header_ns=header_stamp_ns(message))
        if topic == RESPONSE:
            text, trial_id = _parse_response(message.data)
            return Event.model_construct(kind='response', name=topic, stamps=stamps, text=text,
                                         trial_id=trial_id)
        return Event.model_construct(kind='command', name=topic, stamps=stamps,
                                     message=from_ros(message))

    def _keep_off(self, command: str) -> None:
        """Refuse remappings that would make the harness command the robot."""
        name = self._node.resolve_topic_name(command)
        for stimulus in self._publishers:
            if self._node.resolve_topic_name(stimulus) == name:
                raise MeasurementError(f'{name}: the stimulus {stimulus!r} is remapped to '
                                       f'the command topic {command!r}. Change the rule')

    def _subscribe(self, topic: str, wanted: str, deadline: float) -> None:
        """Subscribe with the type and QoS that the graph shows; again when they have changed."""
        interface, publishers = self._discover(topic, wanted, deadline)
        known = self._subscriptions.get(topic)
        if known is not None and known[0] != interface:
            self._node.destroy_subscription(known[1])
            known = None
        if known is None:
            known = (interface, self._node.create_subscription(
                interface_class(interface), topic, self._callback(topic),
                qos.command(publishers)))
            self._subscriptions[topic] = known
        while known[1].get_publisher_count() == 0 if hasattr(known[1], 'get_publisher_count') \
                else False:
            self._give_up_after(deadline, topic, f'a match with the publisher of {interface}',
                                'Its quality of service may not fit reliable or best effort.')

    def _callback(self, topic: str) -> Callable[..., None]:
        def receive(*arrived: Any) -> None:
            steady_ns = time.monotonic_ns()
            if len(arrived) == 1:  # rclpy's events executor passes (message, info) as one tuple
                arrived = arrived[0] if isinstance(arrived[0], tuple) else (arrived[0], None)
            self._arrived.append((steady_ns, time.time_ns(),
                                  self._node.get_clock().now().nanoseconds, topic, *arrived))
        # rclpy decides by the signature whether to pass the middleware's stamps
        receive.__signature__ = inspect.signature(  # type: ignore[attr-defined]
            (lambda message, info: None) if _HAS_MESSAGE_INFO else (lambda message: None))
        return receive

    def _discover(self, topic: str, wanted: str, deadline: float) -> tuple[str, list[Any]]:
        name = self._node.resolve_topic_name(topic)
        expected = 'a publisher' if wanted == 'auto' else f'a publisher of {wanted}'
        while True:
            publishers = self._node.get_publishers_info_by_topic(name)
            types = sorted({info.topic_type for info in publishers})
            alone = len(publishers) == 1 or not self._is_external
            if len(types) == 1 and wanted in ('auto', types[0]) and alone:
                return types[0], publishers
            advice = f'Start the controller, or remap {topic} to the topic it publishes on.'
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
        while not any(self._publishers[topic].get_subscription_count() for topic in hazard):
            topics = ', '.join(self._node.resolve_topic_name(topic) for topic in sorted(hazard))
            self._give_up_after(deadline, min(hazard),
                                f'a subscriber on any of {topics}',
                                'Remap the stimuli to the topics that the controller listens to.')

    def _give_up_after(self, deadline: float, topic: str, wanted: str, advice: str) -> None:
        reason = None if self._is_external else self._alarm()
        if reason is not None:
            raise MeasurementError(f'not connected: {reason}')
        if time.monotonic() >= deadline:
            raise LinkTimeoutError(self._node.resolve_topic_name(topic), wanted, self._timeout_s,
                                   self._discovered(topic), advice)
        time.sleep(_POLL_S)

    def _discovered(self, topic: str) -> str:
        """Say who else is there, so that a wrong name or domain shows."""
        own = self._node.get_fully_qualified_name()
        nodes = sorted(name for name in (f'{space.rstrip("/")}/{node}' for node, space
                                         in self._node.get_node_names_and_namespaces())
                       if name != own)
        resolved = self._node.resolve_topic_name(topic)
        here = [info.topic_type for info in self._node.get_publishers_info_by_topic(resolved)]
        others = [f'{name} [{types[0]}]' for name, types in self._node.get_topic_names_and_types()
                  if name not in ('/rosout', '/parameter_events', resolved)
                  and self._node.count_publishers(name)
                  and name not in {self._node.resolve_topic_name(own_topic)
                                   for own_topic in self._publishers}]
        return (f'on this topic: {", ".join(here) or "nobody"}; '
                f'other published topics: {", ".join(others) or "none"}; '
                f'other nodes: {", ".join(nodes) or "none"} '
                f'(domain {self._node.context.get_domain_id()})')


def _parse_response(text: str) -> tuple[str, str | None]:
    """Return (answer, trial id); a text that is no envelope belongs to no trial."""
    if len(text) > _MAX_ANSWER:
        return text[:_MAX_ANSWER], None
    try:
        envelope = json.loads(text)
    except (ValueError, RecursionError):
        return text, None
    if not isinstance(envelope, dict) or not isinstance(envelope.get('text'), str):
        return text, None
    trial_id = envelope.get('trial_id')
    return envelope['text'], trial_id if isinstance(trial_id, str) else None
