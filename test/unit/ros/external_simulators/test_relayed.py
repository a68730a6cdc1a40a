# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Sensors of another simulator that go through a relay, and what is misread there."""

import math

from cases import for_each
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.ros.relay.line import Line, Misreader, ODOMETRY, SCAN
from safety_scenarios.ros.relay.protocol import RelayTopic
from safety_scenarios.ros.worlds.external import sensors
from safety_scenarios.ros.worlds.external.sensors import misread, Relayed
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Silence
from safety_scenarios.scenario.wire_fault import WireFault
from safety_scenarios.scenario.world import Senses, WorldBlock
from safety_scenarios.stimuli.wire import Packet
from sensor_msgs.msg import Imu, LaserScan
from unit.records import hazard, planned

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
        self.line.set_interface(SCAN, lambda one: self.out.append(
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
    other.set_interface('sensor_msgs/msg/Imu', lambda _: None)
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
    other.set_interface('sensor_msgs/msg/Imu', lambda _: None)
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


BEAMS = 360
APART = 2 * math.pi / BEAMS


def scan(*ranges: float, count: int = BEAMS, **named) -> Packet:
    """Return a scan of a hall 5 m wide all around; the first beams read something else."""
    return Packet(Message(type=SCAN, data={
        'angle_min': -math.pi, 'angle_max': math.pi - APART, 'angle_increment': APART,
        'range_min': 0.05, 'range_max': 30.0, 'intensities': (),
        'ranges': (*ranges, *(5.0,) * (count - len(ranges))), **named}), 0)


def read(senses: Senses, packet: Packet, seed: int = 1):
    """Return the data that a relay publishes."""
    return Misreader(senses, seed, packet.message.type).read(packet).message.data


@for_each('offset', [0.0524, -0.0524, 0.3, APART / 3])
def test_a_scanner_turned_to_the_left_tells_everything_farther_right(offset):
    """By whole beams, and what is left over by where it says that they begin."""
    ranges = [5.0] * BEAMS
    ranges[200] = 2.0
    data = read(Senses(yaw_offset=offset), scan(*ranges))
    told = data['angle_min'] + data['ranges'].index(2.0) * APART
    assert told == pytest.approx(-math.pi + 200 * APART - offset)
    assert abs(data['angle_min'] + math.pi) <= APART / 2 + 1e-9
    assert data['angle_max'] - data['angle_min'] == pytest.approx(2 * math.pi - APART)


def test_a_scanner_that_looks_ahead_only_is_not_turned():
    """Nobody knows what it would see beyond its edge."""
    with pytest.raises(MeasurementError, match='looks all around'):
        read(Senses(yaw_offset=0.05), scan(count=180))


def test_dust_is_drawn_anew_for_each_scan_and_again_for_a_seed():
    """And a range that nobody has limited is that of the scanner."""
    dust = Senses(range_noise=0.02, dropouts=0.1)
    one = Misreader(dust, 3, SCAN)
    first, second = (one.read(scan()).message.data['ranges'] for _ in range(2))
    assert first != second and first == read(dust, scan(), 3)['ranges']
    lost = sum(map(math.isinf, first))
    assert 15 <= lost <= 60 and max(filter(math.isfinite, first)) < 5.2
    assert read(dust, scan(20.0))['ranges'][0] == pytest.approx(20.0, abs=0.2)
    assert read(Senses(range_max=4.0), scan(3.0))['ranges'][:2] == (3.0, math.inf)


def odometry(x: float, ahead: float) -> Message:
    """Return what wheels tell."""
    zero = {'x': 0.0, 'y': 0.0, 'z': 0.0}
    return Message(type=ODOMETRY, data={
        'pose': {'pose': {'position': {**zero, 'x': x}, 'orientation': {**zero, 'w': 1.0}},
                 'covariance': (0.0,) * 36},
        'twist': {'twist': {'linear': {**zero, 'x': ahead}, 'angular': zero},
                  'covariance': (0.0,) * 36}})


def test_odometry_drifts_from_where_it_is_when_the_trial_begins():
    """By the way that was driven since."""
    one = Misreader(Senses(odometry_drift=-0.1, heading_drift=0.02), 0, ODOMETRY)
    for step in range(101):
        data = one.read(Packet(odometry(7.0 + step * 0.02, 1.0), step * 20_000_000)).message.data
    pose = data['pose']['pose']
    assert pose['position']['x'] == pytest.approx(7.0 + 0.9 * 2.0, abs=1e-3)
    assert 2 * math.asin(pose['orientation']['z']) == pytest.approx(0.02 * 2.0)
    assert pose['position']['y'] == pytest.approx(1.8 * math.sin(0.02))
    assert data['twist']['twist']['linear']['x'] == pytest.approx(0.9)


def test_of_other_sensors_nothing_is_known():
    """Rather than leaving them right."""
    with pytest.raises(MeasurementError, match='sensor_msgs/msg/Imu'):
        Misreader(Senses(dropouts=0.1), 0, 'sensor_msgs/msg/Imu')


@for_each('told', [(), ('Twist',), ('Odometry', 'TwistStamped')])
def test_wheels_that_drift_are_told_by_odometry_alone_or_refused(told):
    """What no relay makes wrong would be right, and the trial about something else."""
    def of(*messages):
        scenario = hazard()
        ros = scenario.body.model_copy(update={
            'world': WorldBlock(senses=Senses(odometry_drift=0.1)),
            'feedback': tuple(CommandTopic(topic=f'told_{place}', message=message)
                              for place, message in enumerate(messages))})
        return planned(scenario.model_copy(update={'body': ros}))
    packages = {'Odometry': 'nav_msgs'}
    with pytest.raises(InputError, match='got wheels that drift, published on '):
        misread(of(*(f'{packages.get(one, "geometry_msgs")}/msg/{one}' for one in told)), ['scan'])
    assert misread(of(ODOMETRY, 'std_msgs/msg/Bool'), ['scan']) == {'told_0'}
