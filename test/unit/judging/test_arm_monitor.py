# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The monitor of an arm that ships: whoever is near sees it slow, from the first moment on."""

from collections.abc import Iterator

from cases import for_each
from safety_scenarios.formats.loading import load_scenario, share_folder
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.verdict import Verdict
from unit.operation import at, Operation

FILE = load_scenario(share_folder() / 'config' / 'monitors' / 'arm.yaml')
JOINTS = list(FILE.body.robot.joints)


def arm(near: float, speed: float | None) -> Iterator[Event]:
    """Yield 3 s of an arm at one speed; None: its driver tells no velocities."""
    zeros = [0.0] * len(JOINTS)
    for t_ms in range(0, 3000, 50):
        yield Event(kind='feedback', name='joint_states', stamps=at(t_ms), message=Message(
            type='sensor_msgs/msg/JointState', data={
                'name': JOINTS, 'position': zeros,
                'velocity': [] if speed is None else [speed, *zeros[1:]]}))
        yield Event(kind='feedback', name='human_pose', stamps=at(t_ms), message=Message(
            type='geometry_msgs/msg/PoseStamped',
            data={'pose': {'position': {'x': near, 'y': 0.0, 'z': 0.0}}}))
        yield Event(kind='command', name='joint_trajectory', stamps=at(t_ms), sequence=t_ms // 50,
                    message=Message(type='trajectory_msgs/msg/JointTrajectory', data={
                        'joint_names': JOINTS, 'points': [{
                            'positions': zeros, 'velocities': [], 'accelerations': [],
                            'effort': [], 'time_from_start': {'sec': 1, 'nanosec': 0}}]}))


@for_each(('near', 'speed', 'verdict'), [
    (3.0, 0.8, Verdict.PASS), (0.5, 0.2, Verdict.PASS), (0.5, 0.8, Verdict.FAIL),
    (3.0, 1.2, Verdict.FAIL), (3.0, None, Verdict.INCONCLUSIVE)])
def test_speed_is_judged_by_who_is_near_and_never_passed_unseen(near, speed, verdict):
    operation = Operation(arm(near, speed), range(30, 3000, 30), FILE, window_s=2.0)
    assert operation.watch.verdict is verdict
