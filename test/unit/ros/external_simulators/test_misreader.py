# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Sensors that are wrong, as a relay makes them: the same as in our own world."""

import math

from cases import for_each
import pytest
from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.ros.relay.line import Misreader, ODOMETRY, SCAN
from safety_scenarios.ros.worlds.external.sensors import misread
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world import Senses, WorldBlock
from safety_scenarios.stimuli.wire import Packet
from unit.records import hazard, planned

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
