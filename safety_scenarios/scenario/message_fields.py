# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Fields of the messages that scenario files write most, and the encodings of images, in ROS 2."""

from collections.abc import Mapping, Sequence
import math
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
