# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An arm that stands on its foot and moves its joints."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.driver import JOINTS
from safety_scenarios.scenario.message import Command
from safety_scenarios.scenario.robot_kind import AxisSignals, RobotKind, SpeedBound

_TRAJECTORY, _ARRAY = 'trajectory_msgs/msg/JointTrajectory', 'std_msgs/msg/Float64MultiArray'
_JOINT_STATE = 'sensor_msgs/msg/JointState'
_RATE = 'velocity.'
"""How the key begins by which a simulator reports the speed of a joint."""


class Arm(RobotKind):
    """It moves each of ``robot.joints``; that its foot stands says nothing of it."""

    noun = 'arm'
    has_joints = True
    command_topic = 'joint_trajectory'
    command_types = (_TRAJECTORY,)
    driver_types = (_ARRAY, _TRAJECTORY)
    feedback_types = (_JOINT_STATE,)
    world_reports = {'joint_states': _JOINT_STATE, 'wrench': 'geometry_msgs/msg/WrenchStamped'}
    speed_unit = 'rad/s'
    usual_top_speed = (0.005, 30)
    usual_rate_hz = 1100.0  # servo interfaces take commands at 1 kHz
    longest_rest_ns = 700_000_000  # slowing down, half a second for the gripper, speeding up
    creep_speed = 0.009

    def command(self, speed: float, turn: float = 0.0) -> Command:
        """Return one speed (rad/s) for all of its joints."""
        return Command(velocity=(speed,) * max(1, len(self.robot.joints)))

    def driver(self, interface: str,
               signals: Sequence[Signal]) -> tuple[str, Mapping[str, Any]] | None:
        """Return the joint trajectory controller, or what forwards an array to the joints."""
        if interface == _TRAJECTORY:
            return 'joint_trajectory', {}
        return self.array_driver(signals) if interface == _ARRAY else None

    def commanded(self, topic: str, interface: str,
                  signals: Iterable[Signal]) -> AxisSignals | None:
        """Return each joint of a JointState; of others the fastest joint, if it is read."""
        if interface == _JOINT_STATE:
            return AxisSignals(JOINTS, (), names_joints=True)
        read = [signal for signal in signals if signal.unit == 'rad/s']
        name, fastest = interface.rpartition('/')[2], None
        if name == 'JointTrajectory':
            fastest = next((signal for signal in read if signal.reduce == 'joint_speed'), None)
        elif name == 'Float64MultiArray' and any(
                signal.field.partition('[')[0] == 'data' for signal in read):
            fastest = Signal(topic=topic, field='data', reduce='max_abs', unit='rad/s')
        return None if fastest is None else AxisSignals(JOINTS, (fastest,))

    def measured(self, topic: str, interface: str) -> AxisSignals | None:
        """Return the fastest joint of a JointState."""
        if interface != _JOINT_STATE:
            return None
        return AxisSignals(JOINTS, (
            Signal(topic=topic, field='velocity', reduce='max_abs', unit='rad/s'),))

    def true_axes(self, keys: Set[str]) -> Mapping[str, str]:
        """Return each joint whose speed a simulator reports."""
        return {key.removeprefix(_RATE): key for key in sorted(keys) if key.startswith(_RATE)}

    def speed_bounds(self) -> Iterator[SpeedBound]:
        """Yield the top speed of its joints."""
        yield SpeedBound('its fastest joint', 'fastest', self.robot.max_speed, 'rad/s')
