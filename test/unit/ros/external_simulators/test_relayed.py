# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a relay does for a world: it counts what it loses, and reads what a wrong sensor reads."""

import math

import pytest
from rclpy.serialization import deserialize_message, serialize_message
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.relay.line import Line, SCAN
from safety_scenarios.ros.relay.protocol import RelayTopic
from safety_scenarios.ros.worlds.external import sensors
from safety_scenarios.ros.worlds.external.sensors import Relayed
from safety_scenarios.scenario.stimulus import Silence
from safety_scenarios.scenario.wire_fault import WireFault
from safety_scenarios.scenario.world import Senses
from sensor_msgs.msg import Imu, LaserScan

TURNED = Senses(yaw_offset=math.radians(10.0))


def raw(number: int, count: int = 360) -> bytes:
    """Return a scan all around, of its number everywhere but ahead."""
    apart = 2 * math.pi / 360
    ranges = [float(number)] * count
    ranges[count // 2] = 0.5
    return bytes(serialize_message(LaserScan(
        angle_min=-math.pi, angle_max=math.pi - apart, angle_increment=apart, range_min=0.05,
        range_max=12.0, ranges=ranges)))


class Carried:
    """One topic of a relay, and what has come out of it."""

    def __init__(self) -> None:
        self.out: list[LaserScan] = []
        self.line = Line('/raw', '/scan', lambda: 0, True)
        self.line.of_interface(SCAN, lambda one: self.out.append(
            deserialize_message(one, LaserScan)))

    def send(self, *numbers: int) -> list[LaserScan]:
        """Return what comes out of scans."""
        self.out.clear()
        for number in numbers:
            self.line.carry(raw(number), None)
        return list(self.out)


def test_so_many_messages_are_lost_and_then_all_come():
    """As of one sensor whose messages get lost for a moment."""
    one = Carried()
    one.line.set_faults([WireFault(kind='drop', share=1.0, messages=2)], lambda: 0)
    assert [scan.ranges[0] for scan in one.send(1, 2, 3, 4)] == [3.0, 4.0]


def test_a_wrong_sensor_is_wrong_whatever_faults_come_and_go():
    """Until it is told that nothing is wrong with it."""
    one = Carried()
    one.line.misread(TURNED, 0, lambda: 0)
    one.line.set_faults([WireFault(kind='freeze')], lambda: 0)
    one.line.set_faults([], lambda: 0)
    scan, = one.send(4)
    assert list(scan.ranges).index(0.5) == 170 and one.line.status().senses == TURNED
    one.line.misread(None, 0, lambda: 0)
    assert list(one.send(4)[0].ranges).index(0.5) == 180


def test_a_sensor_that_cannot_be_wrong_like_this_is_refused_and_left_right():
    one = Carried()
    one.line.carry(raw(1, 180), None)
    with pytest.raises(MeasurementError, match='/scan: got a scanner turned.*all around'):
        one.line.misread(TURNED, 0, lambda: 0)
    assert one.line.status().senses is None
    other = Line('/raw', '/imu', lambda: 0, True)
    other.of_interface('sensor_msgs/msg/Imu', lambda _: None)
    other.carry(bytes(serialize_message(Imu())), None)
    with pytest.raises(MeasurementError, match='/imu: got wrong senses for a sensor_msgs/msg/Imu'):
        other.misread(TURNED, 0, lambda: 0)


def test_a_message_that_came_through_with_nothing_wrong_in_it_is_told():
    """As nothing had come before, by which it could have been refused; until the next time."""
    one = Carried()
    one.line.misread(TURNED, 0, lambda: 0)
    one.line.carry(raw(1, 180), None)
    assert 'nothing wrong in it: got a scanner turned' in one.line.status().problem
    one.line.misread(None, 0, lambda: 0)
    assert not one.line.status().problem
    other = Line('/raw', '/imu', lambda: 0, True)
    other.misread(TURNED, 0, lambda: 0)
    other.of_interface('sensor_msgs/msg/Imu', lambda _: None)
    other.carry(bytes(serialize_message(Imu())), None)
    assert 'got wrong senses for a sensor_msgs/msg/Imu' in other.status().problem


class Control:
    """The relays of a machine; an evaluator before us has left one scanner turned."""

    left = TURNED
    problem = ''

    def __init__(self, node, timeout_s) -> None:
        self.senses, self.faults = {'/scan': self.left, '/odom': None}, []

    def status(self):
        return {topic: RelayTopic(source='/raw', senses=senses, problem=self.problem)
                for topic, senses in self.senses.items()}

    topics = status

    def misread(self, topic, senses, seed=0):
        self.senses[f'/{topic.removeprefix("/")}'] = senses

    def apply(self, topic, faults):
        self.faults += faults
        return 0

    def clear(self, topic):
        self.faults.clear()


class Node:
    """One that sees a relay."""

    def count_publishers(self, topic):
        return 1

    def resolve_topic_name(self, topic):
        return f'/{topic.removeprefix("/")}'


def test_only_the_sensors_of_this_trial_are_wrong(monkeypatch):
    """What somebody has left wrong is right again, and after the trial all are."""
    monkeypatch.setattr(sensors, 'RelayControl', Control)
    one = Relayed(Node(), lambda: 0, 1.0)
    one.misread([], Senses(), 0)
    control = one._control
    assert control.senses == {'/scan': None, '/odom': None}
    one.misread(['/odom'], Senses(odometry_drift=0.1), 3)
    assert control.senses == {'/scan': None, '/odom': Senses(odometry_drift=0.1)}
    one.fail('/scan', Silence(topic='/scan', messages=3))
    assert control.faults == [WireFault(kind='drop', share=1.0, messages=3)]
    one.end()
    assert control.senses == {'/scan': None, '/odom': None} and not control.faults
    with pytest.raises(MeasurementError, match='/camera: got a fault of a sensor that no relay'):
        one.misread(['/camera'], TURNED, 0)


@pytest.mark.parametrize('senses, problem, told', [
    (None, '', 'that no longer adds the fault'), (Senses(), '', 'that no longer adds the fault'),
    (TURNED, 'as it is', 'with a problem.*: as it is')])
def test_a_trial_whose_sensor_was_right_in_the_end_is_none(monkeypatch, senses, problem, told):
    """As of a relay that was started again; and what is left of it is right."""
    monkeypatch.setattr(sensors, 'RelayControl', Control)
    one = Relayed(Node(), lambda: 0, 1.0)
    one.misread(['scan'], TURNED, 0)
    control = one._control
    control.senses['/scan'], control.problem = senses, problem
    with pytest.raises(MeasurementError, match=f'/scan: got a relay {told}'):
        one.end()
    assert control.senses['/scan'] is None
    one.end()
