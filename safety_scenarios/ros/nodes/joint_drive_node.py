# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
``joint_drive_node``: the drives of an arm in Gazebo, where no ros2_control has them.

It ticks with the joint states, which carry simulated time: a simulator that pauses is waited for.
"""

from collections.abc import Sequence
import json
import sys
import threading
from typing import Any

from pydantic import Field
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from safety_scenarios.registry import resolve
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import from_ros, header_stamp_ns
from safety_scenarios.ros.link.process_reports import stalls_reported
from safety_scenarios.ros.nodes.node_program import end_with_parent, NodeProgram, refuse_foreign
from safety_scenarios.ros.parameters import (
    names_of,
    overrides,
    read_settings,
    refuse_unknown_parameters,
)
from safety_scenarios.ros.spinning import spinning
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.worlds.arm_reference import ArmDrive, Limits
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64, Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

NAME = 'joint_drive_node'
COMMANDS, TRAJECTORY = 'commands', 'joint_trajectory'
"""Topics of controllers: speeds of all joints, and trajectories."""
_DRIVERS = {COMMANDS: 'forward_command', TRAJECTORY: 'joint_trajectory'}
ENABLE, POSTURE, STATES = 'drive_enable', 'posture', 'bridged/joint_states'
SHOWN = 'joint_states'
"""What controllers hear: as a joint_state_broadcaster, which is active while commands count."""
SPEED, DRIVEN = 'speed', 'driven'
"""Topics of the evaluator and the simulator."""
_TICK_NS, _STEP_S = 8_000_000, 0.004
_LONGEST_NS = 100_000_000
"""Joint states that are farther apart are not made up for."""
_AGAIN_NS = 100_000_000
"""So often a speed is published again that stays the same: somebody may have come late."""


class JointDriveSettings(Noun):
    """The drives of one arm."""

    joints: tuple[str, ...] = ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2',
                               'wrist_3')
    """Names of its joints in the simulator, in the order of the numbers of commands."""
    max_speed: float = Field(default=3.1, gt=0, le=100, json_schema_extra={'unit': 'rad/s'})
    """No joint is driven faster (rad/s)."""
    acceleration: float = Field(default=20.0, gt=0, le=1000, json_schema_extra={'unit': 'rad/s^2'})
    """How hard a joint is sped up (rad/s^2)."""
    deceleration: float = Field(default=10.0, gt=0, le=1000, json_schema_extra={'unit': 'rad/s^2'})
    """How hard a joint is stopped (rad/s^2)."""
    delay_ms: float = Field(default=20.0, ge=0, le=1000, json_schema_extra={'unit': 'ms'})
    """From a set-point to the first motion, the way to the simulator not counted (ms)."""
    exit_with_stdin: bool = False
    """End when standard input closes; for a parent that must not leave it behind."""


class JointDriveNode(Node):
    """
    The node.

    :raises SettingsError: a parameter that it does not have, or not like this
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(NAME, **options)
        self.settings = read_settings(self, JointDriveSettings)
        refuse_unknown_parameters(self, JointDriveSettings)


class JointDrive:
    """
    Subscribes to commands and joint states, and publishes the speed of each joint.

    :param node: a node whose callbacks run one after the other
    """

    def __init__(self, node: JointDriveNode) -> None:
        said = node.settings
        self._node, self._names = node, said.joints
        count = len(self._names)
        self._drive = ArmDrive(
            self._names, {topic: resolve('drivers', driver)(joints=self._names)
                          for topic, driver in _DRIVERS.items()},
            Limits(step_s=_STEP_S, delay_ns=round(said.delay_ms * 1e6),
                   top=said.max_speed, brakes=(said.deceleration,) * count,
                   drives=(max(said.acceleration, said.deceleration),) * count))
        self._last_ns: int | None = None
        self._told: dict[str, tuple[int, float]] = {}
        self._said = ''
        self._speeds = [node.create_publisher(Float64, f'{SPEED}/{name}', qos.stimulus())
                        for name in self._names]
        self._shown = node.create_publisher(JointState, SHOWN, qos.stimulus())
        self._is_enabled, self._taken = True, 0
        self._driven = node.create_publisher(String, DRIVEN, qos.conversation())
        newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        for interface, topic, take, profile in (
                (JointState, STATES, self._tick, newest),
                (Float64MultiArray, COMMANDS, self._command, qos.stimulus()),
                (JointTrajectory, TRAJECTORY, self._trajectory, qos.stimulus()),
                (JointTrajectory, POSTURE, self._go, qos.conversation()),
                (Bool, ENABLE, self._enable, qos.conversation())):
            node.create_subscription(interface, topic, take, profile)

    def _enable(self, said: Bool) -> None:
        self._is_enabled = said.data
        self._drive.enable(said.data)

    def _command(self, said: Float64MultiArray) -> None:
        self._drive.take(COMMANDS, from_ros(said), self._last_ns or 0)
        self._report(commands=1)

    def _trajectory(self, said: JointTrajectory) -> None:
        self._drive.take(TRAJECTORY, from_ros(said), self._last_ns or 0)
        self._report(commands=1)

    def _go(self, said: JointTrajectory) -> None:
        if said.points:
            self._drive.go(dict(zip(said.joint_names, said.points[-1].positions, strict=False)))

    def _tick(self, said: JointState) -> None:
        now_ns, where = header_stamp_ns(said) or 0, dict(zip(
            said.name, said.position, strict=False))
        missing = [name for name in self._names if name not in where]
        self._complain(f'{STATES}: got {", ".join(said.name) or "no joint"}, expected '
                       f'{", ".join(missing)} too, which parameter joints names. Correct it'
                       if missing else '')
        if missing:
            return
        if self._last_ns is None or now_ns < self._last_ns:
            self._last_ns, self._told = now_ns, {}
            self._drive.forget()
            return
        step_ns = now_ns - self._last_ns
        if step_ns < _TICK_NS:
            return
        self._last_ns = now_ns
        if self._is_enabled:
            self._shown.publish(said)
        speeds = self._drive.next(now_ns, [where[name] for name in self._names],
                                  min(step_ns, _LONGEST_NS) / 1e9)
        for name, publisher, speed in zip(self._names, self._speeds, speeds, strict=True):
            before_ns, before = self._told.get(name, (-_AGAIN_NS, 0.0))
            if speed != before or now_ns - before_ns >= _AGAIN_NS:
                self._told[name] = now_ns, speed
                publisher.publish(Float64(data=float(speed)))
        self._report()

    def _report(self, commands: int = 0) -> None:
        """Say how far it is, for who steps the simulator: by joint states, and commands heard."""
        self._taken += commands
        self._driven.publish(String(data=json.dumps(
            {'now_ns': self._last_ns or 0, 'taken': self._taken})))

    def _complain(self, problem: str) -> None:
        if problem != self._said:
            self._said = problem
            if problem:
                self._node.get_logger().error(problem)


_WHAT = ('Turns what is published on commands (std_msgs/msg/Float64MultiArray, speeds of all '
         'joints) or on joint_trajectory into speed/JOINT (std_msgs/msg/Float64) for the joints '
         'of an arm in another simulator, until SIGINT or SIGTERM.')
_MORE = """
It needs bridged/joint_states with simulated stamps, which it shows on joint_states. Between two
trials the evaluator tells it by drive_enable to take no command and to show nothing, and by
posture where the joints are to be (doc/manual/gazebo.md)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT, SIGTERM or, when asked to, the end of standard input."""
    return NodeProgram(NAME, _WHAT, JointDriveSettings, _MORE).run(arguments, _drive)


def _drive(arguments: Sequence[str], context: Context, ended: threading.Event) -> int:
    node = JointDriveNode(context=context)
    refuse_foreign(arguments, node.get_fully_qualified_name(), NAME,
                   names_of(JointDriveSettings) | set(overrides(node)))
    if node.settings.exit_with_stdin:
        end_with_parent(ended)
    JointDrive(node)
    with spinning(node, on_error=ended.set) as spin, stalls_reported(node, 'joint_drive'):
        ended.wait()
    return 0 if spin.error is None else 1


if __name__ == '__main__':
    sys.exit(main())
