# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Interface types by which a robot can be moved, and whether a message of one of them does."""

from collections.abc import Iterator, Mapping
import math
from typing import Any

from safety_scenarios.scenario.message import Message

ALWAYS = frozenset((
    'geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped',
    'trajectory_msgs/msg/JointTrajectory', 'trajectory_msgs/msg/MultiDOFJointTrajectory',
    'control_msgs/msg/JointJog', 'ackermann_msgs/msg/AckermannDrive',
    'ackermann_msgs/msg/AckermannDriveStamped'))
"""Types that say motion whatever their topic is called."""
BY_NAME = frozenset((
    *(f'std_msgs/msg/{kind}{bits}{array}' for kind, sizes in (
        ('Float', (32, 64)), ('Int', (8, 16, 32, 64)), ('UInt', (8, 16, 32, 64)))
      for bits in sizes for array in ('', 'MultiArray')),
    *(f'geometry_msgs/msg/{what}{stamped}' for what in ('Vector3', 'Accel')
      for stamped in ('', 'Stamped')),
    'sensor_msgs/msg/JointState', 'control_msgs/msg/MultiDOFCommand'))
"""Types that say many things, and motion on a topic that is called after a command."""
_WORDS = ('cmd', 'command', 'controller', 'reference', 'velocit', 'effort', 'setpoint', 'goal',
          'actuator', 'motor', 'throttle', 'thrust', 'wheel')
_NO_MOTION = frozenset(('header', 'layout', 'time_from_start', 'duration', 'dof_names',
                        'joint_names', 'name', 'steering_angle', 'steering_angle_velocity'))
"""Fields whose numbers move nothing by themselves."""


def may_move(topic: str, interface: str) -> bool:
    """Return whether a driver may take what is published there for a command to move."""
    return interface in ALWAYS or (
        interface in BY_NAME and any(word in topic.lower() for word in _WORDS))


def motion_in(message: Message) -> str | None:
    """
    Return what of a message moves a robot, such as ``linear.x = 0.5``; None if nothing does.

    A trajectory with points moves it: where it is now, and so whether it is to stay there, is not
    in the message. NaN moves it, as nobody knows where to.
    """
    points = message.data.get('points')
    if message.type.endswith('JointTrajectory'):
        return f'{len(points)} points' if points else None
    return next((f'{path} = {value:g}' for path, value in _numbers(message.data, '')
                 if value or math.isnan(value)), None)


def fastest_in(message: Message) -> tuple[str, float]:
    """Return the largest number of a message that moves a robot, whatever its sign, and where."""
    return max(_numbers(message.data, ''), default=('', 0.0), key=lambda found: (
        math.inf if math.isnan(found[1]) else abs(found[1])))


def _numbers(data: Any, path: str) -> Iterator[tuple[str, float]]:
    if isinstance(data, Mapping):
        for name, inner in data.items():
            if name not in _NO_MOTION:
                yield from _numbers(inner, f'{path}.{name}' if path else str(name))
    elif isinstance(data, (int, float)) and not isinstance(data, bool):
        yield path, float(data)
    elif not isinstance(data, (str, bytes)) and hasattr(data, '__iter__'):
        for number, inner in enumerate(data):
            yield from _numbers(inner, f'{path}[{number}]')
