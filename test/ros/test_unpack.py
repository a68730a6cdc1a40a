# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is read straight from the bytes is what the middleware itself makes of them."""

from functools import reduce
import math
import random
import struct

import pytest
from rclpy.serialization import deserialize_message, serialize_message
from safety_scenarios.ros.messages import unpack
from safety_scenarios.ros.messages.convert import (
    from_ros,
    header_stamp_ns,
    interface_class,
    leaves,
)
from safety_scenarios.ros.messages.unpack import from_raw, reader

READ = ['geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped', 'std_msgs/msg/Bool',
        'std_msgs/msg/String', 'std_msgs/msg/Header', 'nav_msgs/msg/Odometry',
        'sensor_msgs/msg/Imu', 'sensor_msgs/msg/NavSatFix', 'sensor_msgs/msg/Temperature',
        'geometry_msgs/msg/WrenchStamped', 'geometry_msgs/msg/PoseWithCovarianceStamped',
        'geometry_msgs/msg/TransformStamped', 'sensor_msgs/msg/TimeReference',
        'std_msgs/msg/UInt64', 'std_msgs/msg/Float32', 'std_msgs/msg/Int8', 'std_msgs/msg/Char']
LEFT = ['sensor_msgs/msg/JointState', 'trajectory_msgs/msg/JointTrajectory',
        'std_msgs/msg/Float64MultiArray', 'std_msgs/msg/Empty', 'std_msgs/msg/Byte',
        'sensor_msgs/msg/LaserScan', 'sensor_msgs/msg/BatteryState']
TEXTS = ['', 'a', 'base_link', 'Grüße', '人', 'a' * 300]
FLOATS = [0.0, -0.0, 1.5, math.nan, math.inf, -math.inf, 0.1, 1e-40, -3e38]


def one(chance, code):
    """Return a value that a field may have, its ends included."""
    if code in ('double', 'float'):
        return chance.choice([*FLOATS, chance.uniform(-1, 1)])
    if code == 'boolean':
        return chance.random() < 0.5
    if code == 'string':
        return chance.choice(TEXTS)
    bits, signed = int(code.rpartition('int')[2]), code[0] != 'u'
    lowest, highest = (-2**(bits - 1), 2**(bits - 1) - 1) if signed else (0, 2**bits - 1)
    return chance.choice([lowest, highest, 0, 1, chance.randint(lowest, highest)])


def filled(interface, seed):
    """Return a message with anything in its fields, but sequences and bytes."""
    chance, message = random.Random(f'{interface}{seed}'), interface_class(interface)()
    for path, field in leaves(type(message))[2].items():
        *outer, name = path.split('.')
        code, _, count = field.rstrip(']').partition('[')
        if code.startswith('sequence') or code == 'octet':
            continue
        value = [one(chance, code) for _ in range(int(count))] if count else one(chance, code)
        setattr(reduce(getattr, outer, message), name, value)
    return message


def by_ros(raw, interface):
    """Return what the middleware makes of the bytes."""
    message = deserialize_message(raw, interface_class(interface))
    return from_ros(message), header_stamp_ns(message)


def told(found):
    """Return a message and its stamp to the bit, with the shape that it is kept by."""
    message, stamp_ns = found
    return message.type, repr(message.data), message.shape, message.packed, stamp_ns


@pytest.mark.parametrize('interface', READ + LEFT)
def test_bytes_are_read_as_the_middleware_reads_them(interface):
    assert (reader(interface) is not None) is (interface in READ)
    for seed in range(30):
        raw = serialize_message(filled(interface, seed))
        assert told(from_raw(raw, interface)) == told(by_ros(raw, interface))


@pytest.mark.parametrize('interface', READ)
def test_the_middleware_is_asked_only_where_it_must_be(interface, monkeypatch):
    raw = [serialize_message(filled(interface, seed)) for seed in range(5)]
    if interface != 'std_msgs/msg/UInt64':  # half of its numbers fit into 64 bits with a sign
        monkeypatch.setattr(unpack, 'deserialize_message', None)
    assert all(from_raw(one, interface)[0].type == interface for one in raw)


def test_big_endian_bytes_are_left_to_the_middleware():
    body = struct.pack('>6d', 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    message, stamp_ns = from_raw(b'\x00\x00\x00\x00' + body, READ[0])
    assert message.at('linear.x') == 1.0 and message.at('angular.z') == 6.0 and stamp_ns is None


@pytest.mark.parametrize('interface', ['geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped',
                                       'std_msgs/msg/String', 'nav_msgs/msg/Odometry'])
def test_bytes_that_are_cut_off_are_never_read_in_part(interface):
    raw = serialize_message(filled(interface, 1))
    for length in range(2, len(raw), 3):
        cut, expected = raw[:length], None
        try:
            expected = told(by_ros(cut, interface))
        except Exception as error:
            expected = type(error), str(error)
        try:
            found = told(from_raw(cut, interface))
        except Exception as error:
            found = type(error), str(error)
        assert found == expected
