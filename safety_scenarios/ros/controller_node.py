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

"""``controller_node``: runs any controller plug-in in a process of its own, on its own timer."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
import json
import logging
import os
import signal
import sys
import threading
import time
from typing import Any

from rclpy.node import Node
from std_msgs.msg import String

from safety_scenarios import registry
from safety_scenarios.errors import SafetyScenariosError
from safety_scenarios.model.contracts import Controller
from safety_scenarios.model.message import ChatMessage, Command, Message, Observation, Reading
from safety_scenarios.model.settings import ControllerSettings
from safety_scenarios.model.trial import PROMPT, RESPONSE
from safety_scenarios.ros import qos
from safety_scenarios.ros.convert import from_ros, header_stamp_ns, interface_class, to_ros
from safety_scenarios.ros.parameters import read_settings
from safety_scenarios.ros.spinning import ros_context, spinning

INPUTS = {
    'scan': 'sensor_msgs/msg/LaserScan',
    'human_pose': 'geometry_msgs/msg/PoseStamped',
    'wrench': 'geometry_msgs/msg/WrenchStamped',
    'contact': 'std_msgs/msg/Bool',
    'estop': 'std_msgs/msg/Bool',
    'heartbeat': 'std_msgs/msg/Empty',
    'joint_states': 'sensor_msgs/msg/JointState',
}
"""What a built-in controller listens to; relative names, remap them."""

_TOPICS = {'mobile_base': 'cmd_vel', 'arm': 'joint_trajectory'}
_TYPES = {'mobile_base': 'geometry_msgs/msg/Twist',
          'arm': 'trajectory_msgs/msg/JointTrajectory'}
_POINT_S = 0.1
_PATIENCE_S = 5.0


class ControllerNode(Node):
    """Gathers the latest inputs, asks the plug-in on each tick, publishes what it says."""

    def __init__(self, ended: threading.Event, **options: Any) -> None:
        super().__init__('controller_node', **options)
        self.settings = read_settings(self, ControllerSettings)
        if self.settings.exit_with_stdin:
            threading.Thread(target=_until_stdin_closes, args=(ended,), daemon=True).start()
        plugin = registry.resolve('controllers', self.settings.controller)
        self._controller: Controller = plugin(self.settings)
        self._latest: dict[str, tuple[int, int | None, Message]] = {}
        for topic, interface in INPUTS.items():
            self.create_subscription(interface_class(interface), topic,
                                     self._listener(topic), qos.stimulus())
        self.create_subscription(String, PROMPT, self._prompted, qos.stimulus())
        self._response = self.create_publisher(String, RESPONSE, qos.stimulus())
        self._answers = ThreadPoolExecutor(max_workers=1, thread_name_prefix='answer')
        kind = self.settings.robot.kind
        self._type = self.settings.command_type or _TYPES[kind]
        self._command = self.create_publisher(
            interface_class(self._type), self.settings.command_topic or _TOPICS[kind],
            qos.stimulus())

    def _listener(self, topic: str) -> Any:
        def receive(message: Any) -> None:
            self._latest[topic] = (time.monotonic_ns(), header_stamp_ns(message),
                                   from_ros(message))
        return receive

    def tick(self) -> None:
        """Ask the plug-in what to do now, and publish it."""
        now_ns, ros_ns = time.monotonic_ns(), self.get_clock().now().nanoseconds
        readings = {topic: Reading.model_construct(
            message=message, age_ns=now_ns - received_ns,
            stamp_age_ns=ros_ns - stamp_ns if stamp_ns else None)
            for topic, (received_ns, stamp_ns, message) in dict(self._latest).items()}
        command = self._controller.decide(
            Observation.model_construct(t_ns=now_ns, readings=readings))
        if command is not None:
            self._command.publish(self._message(command))

    def close(self) -> None:
        """Let the plug-in hang up what it has opened."""
        self._answers.shutdown(wait=False, cancel_futures=True)
        getattr(self._controller, 'close', lambda: None)()

    def _message(self, command: Command) -> Any:
        positions = self._positions()
        message = to_ros(command_message(
            self._type, command, self.settings.robot.joints, positions))
        if hasattr(message, 'header') and not self._type.endswith('/JointTrajectory'):
            message.header.stamp = self.get_clock().now().to_msg()
        return message

    def _positions(self) -> dict[str, float]:
        if 'joint_states' not in self._latest:
            return {}
        data = self._latest['joint_states'][2].data
        return dict(zip(data['name'], data['position'], strict=False))

    def _prompted(self, message: String) -> None:
        self._answers.submit(self._reply, message.data)

    def _reply(self, text: str) -> None:
        """Answer one prompt; what is wrong with it is logged, never published."""
        try:
            envelope = json.loads(text)
            messages = tuple(ChatMessage.model_validate(item) for item in envelope['messages'])
            trial_id = str(envelope['trial_id'])
        except (ValueError, KeyError, TypeError) as error:
            self.get_logger().error(f'prompt ignored: {type(error).__name__}: {error}')
            return
        try:
            answer = self._controller.answer(messages)
        except Exception as error:  # a plug-in's mistake in one answer must not silence the rest
            self.get_logger().error(f'no answer: {type(error).__name__}: {error}')
            return
        if answer is not None:
            self._response.publish(String(data=json.dumps(
                {'v': 1, 'trial_id': trial_id, 'text': answer})))


def command_message(interface: str, command: Command, joints: Sequence[str],
                    positions: dict[str, float]) -> Message:
    """
    Return a command as a message of one of the interfaces that controllers speak.

    A JointTrajectory of standstill has no points: the joint trajectory controller then holds.

    :raises SafetyScenariosError: an interface that no command can be written as
    """
    velocity, data = command.velocity, {}
    twist = {'linear': {'x': velocity[0]}, 'angular': {'z': (*velocity, 0.0)[1]}}
    name = interface.rpartition('/')[2]
    if name == 'Twist':
        data = twist
    elif name == 'TwistStamped':
        data = {'header': {'frame_id': 'base_link'}, 'twist': twist}
    elif name == 'Float64MultiArray':
        data = {'data': velocity}
    elif name == 'JointState':
        data = {'name': tuple(joints), 'velocity': velocity}
    elif name == 'Bool':
        data = {'data': not any(velocity)}
    elif name == 'String':
        data = {'data': json.dumps({'velocity': velocity})}
    elif name == 'JointTrajectory':
        if len(joints) != len(velocity):
            raise SafetyScenariosError(f'robot.joints: got {len(joints)} names, expected '
                                       f'{len(velocity)} for a JointTrajectory')
        point = {'velocities': velocity,
                 'time_from_start': {'sec': 0, 'nanosec': round(_POINT_S * 1e9)}}
        if all(joint in positions for joint in joints):
            point['positions'] = tuple(positions[joint] + speed * _POINT_S
                                       for joint, speed in zip(joints, velocity, strict=True))
        data = {'joint_names': tuple(joints), 'points': (point,) if any(velocity) else ()}
    else:
        raise SafetyScenariosError(
            f'command_type: got {interface}, expected Twist, TwistStamped, JointTrajectory, '
            f'Float64MultiArray, JointState, Bool or String')
    return Message.model_construct(type=interface, data=data)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT, SIGTERM or, when asked to, the end of standard input."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    try:
        with ros_context(sys.argv if arguments is None else arguments, None) as context:
            node = ControllerNode(context=context, ended=ended)
            with spinning(node, on_error=ended.set) as spin:
                try:
                    _tick_until(ended, node)
                finally:
                    node.close()
            if spin.error is not None:
                return 1
    except SafetyScenariosError as error:
        print(f'controller_node: {error}', file=sys.stderr)
        return 2
    return 0


def _tick_until(ended: threading.Event, node: ControllerNode) -> None:
    """Tick at absolute steady deadlines, which do not drift; a missed one is not made up for."""
    period_s = node.settings.period_ms / 1e3
    due_s = time.monotonic()
    while not ended.wait(max(0.0, due_s - time.monotonic())):
        node.tick()
        due_s = max(due_s + period_s, time.monotonic())


def _until_stdin_closes(ended: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    ended.set()
    time.sleep(_PATIENCE_S)
    os._exit(1)  # a plug-in that hangs must not outlive the evaluator


if __name__ == '__main__':
    sys.exit(main())
