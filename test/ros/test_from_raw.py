# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is read straight from the bytes is what the middleware itself makes of them."""

from functools import reduce
import math
import random
import struct

import pytest
from rclpy.serialization import deserialize_message, serialize_message
from safety_scenarios.ros.link import convert
from safety_scenarios.ros.link.convert import (
    field_of,
    from_raw,
    from_ros,
    header_stamp_ns,
    interface_class,
    leaves,
    reader,
)
from safety_scenarios.trial.mcap.cdr import Codec

READ = ['geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped', 'std_msgs/msg/Bool',
        'std_msgs/msg/String', 'std_msgs/msg/Header', 'nav_msgs/msg/Odometry',
        'sensor_msgs/msg/Imu', 'sensor_msgs/msg/NavSatFix', 'sensor_msgs/msg/Temperature',
        'geometry_msgs/msg/WrenchStamped', 'geometry_msgs/msg/PoseWithCovarianceStamped',
        'geometry_msgs/msg/TransformStamped', 'sensor_msgs/msg/TimeReference',
        'std_msgs/msg/UInt64', 'std_msgs/msg/Float32', 'std_msgs/msg/Int8', 'std_msgs/msg/Char',
        'sensor_msgs/msg/JointState', 'trajectory_msgs/msg/JointTrajectory',
        'std_msgs/msg/Float64MultiArray', 'std_msgs/msg/Empty', 'std_msgs/msg/Byte',
        'std_msgs/msg/ByteMultiArray', 'sensor_msgs/msg/LaserScan', 'sensor_msgs/msg/BatteryState',
        'sensor_msgs/msg/PointCloud2', 'shape_msgs/msg/SolidPrimitive']
TEXTS = ['', 'a', 'base_link', 'Grüße', '人', 'a' * 300]
FLOATS = [0.0, -0.0, 1.5, math.nan, math.inf, -math.inf, 0.1, 1e-40, -3e38]


def one(chance, code):
    """Return a value that a field may have, its ends included."""
    if '/' in code:
        return filled(code, chance.random())
    if code == 'byte':
        return bytes([chance.randrange(256)])
    if code in ('float64', 'float32'):
        return chance.choice([*FLOATS, chance.uniform(-1, 1)])
    if code == 'bool':
        return chance.random() < 0.5
    if 'string' in code:
        return chance.choice(TEXTS)
    bits, signed = int(code.rpartition('int')[2]), code[0] != 'u'
    lowest, highest = (-2**(bits - 1), 2**(bits - 1) - 1) if signed else (0, 2**bits - 1)
    return chance.choice([lowest, highest, 0, 1, chance.randint(lowest, highest)])


def filled(interface, seed):
    """Return a message with anything in its fields."""
    chance, message = random.Random(f'{interface}{seed}'), interface_class(interface)()
    for path, field_type in leaves(type(message))[2].items():
        *outer, name = path.split('.')
        field = field_of(name, field_type)
        count = chance.choice([0, 1, 3]) if field.length == 0 else field.length
        value = one(chance, field.type) if count is None \
            else [one(chance, field.type) for _ in range(count)]
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


@pytest.mark.parametrize('interface', READ)
def test_bytes_are_read_as_the_middleware_reads_them(interface):
    assert reader(interface) is not None
    for seed in range(30):
        raw = serialize_message(filled(interface, seed))
        assert told(from_raw(raw, interface)) == told(by_ros(raw, interface))


@pytest.mark.parametrize('interface', READ)
def test_the_middleware_is_asked_only_where_it_must_be(interface, monkeypatch):
    raw = [serialize_message(filled(interface, seed)) for seed in range(5)]
    if interface != 'std_msgs/msg/UInt64':  # half of its numbers fit into 64 bits with a sign
        monkeypatch.setattr(convert, 'deserialize_message', None)
    assert all(from_raw(one, interface)[0].type == interface for one in raw)


@pytest.mark.parametrize('field_type', ['wstring', 'sequence<wstring, 3>'])
def test_a_type_that_the_codec_does_not_know_is_left_to_the_middleware(field_type):
    with pytest.raises(LookupError):
        Codec('a/msg/A', {'a/msg/A': [field_of('text', field_type)]})


@pytest.mark.parametrize(('field_type', 'kind', 'length'), [
    ('double', 'float64', None), ('string<5>', 'string', None), ('float[36]', 'float32', 36),
    ('sequence<double, 3>', 'float64', 0), ('sequence<string<5>>', 'string', 0),
    ('sequence<string<5>, 3>', 'string', 0), ('string<5>[2]', 'string', 2),
    ('sequence<geometry_msgs/Point>', 'geometry_msgs/msg/Point', 0)])
def test_the_types_in_generated_code_become_those_in_msg_files(field_type, kind, length):
    assert field_of('a', field_type) == ('a', kind, length)


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
