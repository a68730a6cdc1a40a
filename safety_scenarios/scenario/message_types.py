# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Which fields a type of message has (Twist, LaserScan), and which types move a robot.

Of a type that moves a robot two questions are asked, with two answers. What a harness must not
publish beside a real robot, and what it does not play from a recording, is decided by type and
name together (``may_move``). What a controller under test publishes, and nobody declared, is
decided by its type alone (``may_command``): a controller chooses the names of its topics, and any
driver can be remapped.
"""

from collections.abc import Iterator, Mapping, Sequence
import math
import re
from typing import Any

from safety_scenarios.errors import did_you_mean
from safety_scenarios.scenario.message import Message, parse_path

IMAGE_CHANNELS: Mapping[str, str] = {
    'rgb8': 'RGB', 'bgr8': 'BGR', 'rgba8': 'RGBA', 'bgra8': 'BGRA', 'mono8': 'L', '8UC1': 'L'}
"""Encoding of ``sensor_msgs/msg/Image`` with 8 bits a channel to the order of its channels, one
letter and one byte each. 8UC3 is not among them: it does not say which colour is first, and
cv_bridge does not convert it either."""

MEASURING = 'angle', 'range_m', 'scan', 'time', 'header'
"""How the names of fields begin that say how something was measured, and not what."""

_STANDARD = """
builtin_interfaces/Time: int sec, int nanosec
builtin_interfaces/Duration: int sec, int nanosec
std_msgs/Header: builtin_interfaces/Time stamp, string frame_id
std_msgs/Empty:
std_msgs/Bool: bool data
std_msgs/String: string data
std_msgs/Float32: float data
std_msgs/Float64: float data
std_msgs/Int8: int data
std_msgs/Int16: int data
std_msgs/Int32: int data
std_msgs/Int64: int data
std_msgs/UInt8: int data
std_msgs/UInt16: int data
std_msgs/UInt32: int data
std_msgs/UInt64: int data
std_msgs/MultiArrayDimension: string label, int size, int stride
std_msgs/MultiArrayLayout: std_msgs/MultiArrayDimension[] dim, int data_offset
std_msgs/Float32MultiArray: std_msgs/MultiArrayLayout layout, float[] data
std_msgs/Float64MultiArray: std_msgs/MultiArrayLayout layout, float[] data
geometry_msgs/Vector3: float x, float y, float z
geometry_msgs/Point: float x, float y, float z
geometry_msgs/Quaternion: float x, float y, float z, float w
geometry_msgs/Pose: geometry_msgs/Point position, geometry_msgs/Quaternion orientation
geometry_msgs/PoseStamped: std_msgs/Header header, geometry_msgs/Pose pose
geometry_msgs/PoseWithCovariance: geometry_msgs/Pose pose, float[] covariance
geometry_msgs/Twist: geometry_msgs/Vector3 linear, geometry_msgs/Vector3 angular
geometry_msgs/TwistStamped: std_msgs/Header header, geometry_msgs/Twist twist
geometry_msgs/TwistWithCovariance: geometry_msgs/Twist twist, float[] covariance
geometry_msgs/Wrench: geometry_msgs/Vector3 force, geometry_msgs/Vector3 torque
geometry_msgs/WrenchStamped: std_msgs/Header header, geometry_msgs/Wrench wrench
nav_msgs/Odometry: std_msgs/Header header, string child_frame_id, \
geometry_msgs/PoseWithCovariance pose, geometry_msgs/TwistWithCovariance twist
sensor_msgs/LaserScan: std_msgs/Header header, float angle_min, float angle_max, \
float angle_increment, float time_increment, float scan_time, float range_min, float range_max, \
float[] ranges, float[] intensities
sensor_msgs/JointState: std_msgs/Header header, string[] name, float[] position, \
float[] velocity, float[] effort
sensor_msgs/Range: std_msgs/Header header, int radiation_type, float field_of_view, \
float min_range, float max_range, float range, float variance
trajectory_msgs/JointTrajectoryPoint: float[] positions, float[] velocities, \
float[] accelerations, float[] effort, builtin_interfaces/Duration time_from_start
trajectory_msgs/JointTrajectory: std_msgs/Header header, string[] joint_names, \
trajectory_msgs/JointTrajectoryPoint[] points
"""
"""Type to its fields; of other types nothing is known here."""
_KINDS = {'bool': 'true or false', 'int': 'a whole number', 'float': 'a number', 'string': 'text'}
_NO_NUMBERS = ('NaN', 'Infinity', '-Infinity')
"""How a record writes numbers that JSON has not."""


def _parsed(text: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for line in text.strip().splitlines():
        name, _, fields = line.partition(':')
        pairs = (field.split() for field in fields.split(',') if field.strip())
        found[name] = {field: kind for kind, field in pairs}
    return found


_TYPES = _parsed(_STANDARD)


def refuse_unknown_fields(interface: str, data: Mapping[str, Any]) -> None:
    """
    Refuse fields that a message type has not, and values of another kind.

    :param interface: such as std_msgs/msg/Bool; nothing is refused of one that is not known here
    :raises ValueError: says which field, and what was expected there
    """
    _check(interface.replace('/msg/', '/'), data, '')


def refuse_unknown_number(interface: str, path: str) -> None:
    """
    Refuse a path at which a message type has no single number.

    :param interface: nothing is refused of one that is not known here, nor of what is inside it
    :param path: as ``Message.at`` takes it
    :raises ValueError: says which step, and what was expected there
    """
    kind, steps = interface.replace('/msg/', '/'), parse_path(path)
    fields = _TYPES.get(kind, {})
    payload = [name for name in fields if name != 'header']
    if steps[0] not in fields and 'header' in fields and len(payload) == 1:
        kind = fields[payload[0]]
    for step in steps:
        if kind in _TYPES and step not in _TYPES[kind]:
            raise ValueError(
                f'got the field {path}, expected one that {interface} has: '
                f'{kind.replace("/", "/msg/")} has {", ".join(_TYPES[kind]) or "none"}.'
                f'{did_you_mean(str(step), _TYPES[kind])} Correct its name')
        if kind in _TYPES:
            kind = _TYPES[kind][str(step)]
        elif kind.endswith('[]') and isinstance(step, int):
            kind = kind.removesuffix('[]')
        elif '/' not in kind:
            kind = ''  # a number has nothing inside
    if kind not in ('bool', 'int', 'float') and ('/' not in kind or kind in _TYPES):
        raise ValueError(f'got the field {path} of {interface}, expected the path of one number')


def _check(kind: str, value: Any, path: str) -> None:
    if kind.endswith('[]'):
        if not isinstance(value, Sequence) or isinstance(value, str):
            _refuse(path, value, 'a list')
        for index, item in enumerate(value):
            _check(kind.removesuffix('[]'), item, f'{path}[{index}]')
    elif kind in _KINDS:
        if not _is_of(kind, value):
            _refuse(path, value, _KINDS[kind])
    elif kind in _TYPES:
        if not isinstance(value, Mapping):
            _refuse(path, value, f'fields of {kind.replace("/", "/msg/")}')
        for name, inner in value.items():
            place = f'{path}.{name}' if path else str(name)
            if name not in _TYPES[kind]:
                raise ValueError(
                    f'got the field {place}, expected one of {kind.replace("/", "/msg/")}: '
                    f'{", ".join(_TYPES[kind]) or "none"}.'
                    f'{did_you_mean(str(name), _TYPES[kind])} Correct its name')
            _check(_TYPES[kind][name], inner, place)


def _is_of(kind: str, value: Any) -> bool:
    if kind == 'bool' or isinstance(value, bool):
        return kind == 'bool' and isinstance(value, bool)
    if kind == 'string':
        return isinstance(value, str)
    return isinstance(value, int if kind == 'int' else (int, float)) or (
        kind == 'float' and value in _NO_NUMBERS)


def _refuse(path: str, value: Any, expected: str) -> None:
    raise ValueError(f'got {value!r:.60} as the field {path}, expected {expected}')


def without_numbers(message: Message) -> Message:
    """Return a message with NaN for every number of its payload; pixels, which cannot, are 0."""
    return Message.model_construct(type=message.type, data=_blinded(message.data))


def _blinded(value: Any, name: str = '') -> Any:
    if name.startswith(MEASURING):
        return value
    if isinstance(value, dict):
        return {key: _blinded(inner, key) for key, inner in value.items()}
    if isinstance(value, tuple):
        return tuple(_blinded(inner) for inner in value)
    if isinstance(value, bytes):
        return bytes(len(value))
    return math.nan if isinstance(value, float) else value


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
