# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Interface types by which a robot can be moved, and whether a message of one of them does.

Two questions are asked, with two answers. What a harness must not publish beside a real robot, and
what it does not play from a recording, is decided by type and name together (``may_move``). What a
controller under test publishes, and nobody declared, is decided by its type alone
(``may_command``): a controller chooses the names of its topics, and any driver can be remapped.
"""

from collections.abc import Iterator, Mapping
import math
import re
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
                        'joint_names', 'name', 'steering_angle', 'steering_angle_velocity',
                        'covariance'))
"""Fields whose numbers move nothing by themselves."""
_REPORTS = frozenset((
    'action_msgs', 'bond', 'builtin_interfaces', 'diagnostic_msgs', 'lifecycle_msgs', 'map_msgs',
    'rcl_interfaces', 'rosgraph_msgs', 'sensor_msgs', 'service_msgs', 'shape_msgs',
    'statistics_msgs', 'stereo_msgs', 'tf2_msgs', 'theora_image_transport', 'vision_msgs',
    'visualization_msgs'))
"""Packages whose messages report or draw something, but for those of ``_ORDERS``."""
_ORDERS = frozenset((
    'sensor_msgs/msg/Joy', 'sensor_msgs/msg/JointState', 'sensor_msgs/msg/MultiDOFJointState'))
_WORDS_AND_MAPS = frozenset((
    *(f'std_msgs/msg/{kind}' for kind in ('String', 'Bool', 'Empty', 'Header', 'ColorRGBA')),
    *(f'nav_msgs/msg/{kind}' for kind in (
        'Odometry', 'OccupancyGrid', 'MapMetaData', 'GridCells')),
    *(f'geometry_msgs/msg/{kind}' for kind in (
        'Polygon', 'PolygonStamped', 'PolygonInstance', 'PolygonInstanceStamped', 'Inertia',
        'InertiaStamped')),
    *(f'nav2_msgs/msg/{kind}' for kind in (
        'BehaviorTreeLog', 'BehaviorTreeStatusChange', 'CollisionDetectorState',
        'CollisionMonitorState', 'Costmap', 'CostmapMetaData', 'CostmapUpdate', 'Particle',
        'ParticleCloud', 'VoxelGrid')),
    *(f'control_msgs/msg/{kind}' for kind in (
        'AdmittanceControllerState', 'DynamicJointState', 'JointControllerState',
        'JointTrajectoryControllerState', 'MecanumDriveControllerState', 'PidState',
        'SingleDOFState', 'SingleDOFStateStamped', 'SteeringControllerStatus'))))
"""Further types that report or draw something."""
_LAPSING = frozenset((
    *(f'geometry_msgs/msg/{what}{stamped}' for what in (
        'Twist', 'Accel', 'TwistWithCovariance', 'AccelWithCovariance')
      for stamped in ('', 'Stamped')),
    'geometry_msgs/msg/VelocityStamped', 'sensor_msgs/msg/Joy', 'control_msgs/msg/JointJog',
    'ackermann_msgs/msg/AckermannDrive', 'ackermann_msgs/msg/AckermannDriveStamped'))
"""Types that a driver obeys for a moment, and has to be sent again and again."""
_READS = re.compile(r'/srv/(Get|List|Describe|Query|Check|Is)[A-Z]\w*$')
"""Types of services that ask for something and change nothing."""
_READ_ONLY = frozenset(('rcl_interfaces', 'lifecycle_msgs', 'nav_msgs', 'composition_interfaces',
                        'type_description_interfaces', 'tf2_msgs', 'controller_manager_msgs',
                        'simulation_interfaces', 'moveit_msgs'))
"""Packages in which the name of a service's type says that it only asks."""


def may_move(topic: str, interface: str) -> bool:
    """Return whether a driver may take what is published there for a command to move."""
    return interface in ALWAYS or (
        interface in BY_NAME and any(word in topic.lower() for word in _WORDS))


def may_command(interface: str) -> bool:
    """
    Return whether a driver or a planner may take it for an order, whatever its topic is called.

    A type that is not known to report something may be an order: a type of a robot's maker is.
    """
    package, _, kind = interface.partition('/')
    if interface in _ORDERS:
        return True
    return package not in _REPORTS and interface not in _WORDS_AND_MAPS \
        and not kind.startswith('action/')


def is_lasting(interface: str) -> bool:
    """Return whether one message, such as a goal, may move a robot long after it was sent."""
    return may_command(interface) and interface not in _LAPSING


def may_change(service: str) -> bool:
    """Return whether a service of this type may change something, rather than only tell it."""
    return not (service.partition('/')[0] in _READ_ONLY and (
        _READS.search(service) is not None or service.endswith('/FrameGraph')))


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
    elif not isinstance(data, str) and hasattr(data, '__iter__'):
        for number, inner in enumerate(data):
            yield from _numbers(inner, f'{path}[{number}]')
