# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with sensors is wrong by as much as the file says."""

import math
from typing import Any

import numpy
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.registry import resolve
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.frames import ALL_AROUND
from safety_scenarios.scenario.stimulus import StimulusContext
from unit.worlds.driven import Drive, drive, twist

CONTEXT = StimulusContext('', (), None)
MIDDLE = ALL_AROUND.rays // 2
"""The beam straight ahead."""
ROOM = [{'name': name, 'begin': begin, 'end': end, 'thickness': 0.1} for name, begin, end in (
    ('east', [4, -4], [4, 4]), ('west', [-4, -4], [-4, 4]),
    ('north', [-4, 4], [4, 4]), ('south', [-4, -4], [4, -4]))]
SCANS = 100


def stimulus(kind: str, **fields: Any) -> Any:
    return resolve('stimuli', kind)(**{'kind': kind, 'topic': 'scan', 'rate_hz': 20.0, **fields})


def messages(found: Drive, topic: str, count: int = 1, command: Any = None) -> list[Any]:
    """Return what a topic publishes from now on."""
    got: list[Any] = []
    while len(got) < count:
        due_ns = found.world.due_ns
        if command is not None:
            found.world.command('cmd_vel', command, found.world.now_ns,
                                10**18 + found.world.now_ns)
        found.world.advance(due_ns)
        got += [sensed.message.data for sensed in found.world.sensed(due_ns)
                if sensed.name == topic and sensed.message is not None]
    return got


def scans(senses: Any, count: int = SCANS, walls: Any = ROOM) -> Any:
    found = drive({'walls': walls, 'senses': senses})
    return numpy.array([data['ranges'] for data in messages(found, 'scan', count)])


@pytest.fixture(scope='module')
def true():
    return scans({}, 1)[0]


def test_noise_has_no_mean_and_the_deviation_that_is_asked_for(true):
    errors = (scans({'range_noise': 0.03}) - true).ravel()
    assert abs(errors.mean()) < 5 * 0.03 / math.sqrt(errors.size)
    assert abs(errors.std() - 0.03) < 5 * 0.03 / math.sqrt(2 * errors.size)


def test_as_many_beams_drop_out_as_is_asked_for():
    lost = numpy.isinf(scans({'dropouts': 0.3}))
    assert abs(lost.mean() - 0.3) < 5 * math.sqrt(0.3 * 0.7 / lost.size)
    assert len({tuple(row) for row in lost.tolist()}) > 1  # others each time


def test_drops_return_beams_from_before_what_is_there(true):
    ranges = scans({'short_returns': 0.2})
    short = ranges < true - 1e-9
    assert abs(short.mean() - 0.2) < 5 * math.sqrt(0.2 * 0.8 / short.size)
    assert (ranges[short] >= 0.05).all() and not (ranges > true + 1e-9).any()


def test_glare_looks_free_and_dirt_is_no_reading(true):
    ranges = scans({'glare': [{'middle': 0.0, 'width': 0.2}],
                    'dirt': [{'middle': math.pi, 'width': 0.2}]}, 1)[0]
    assert numpy.isinf(ranges[MIDDLE - 5:MIDDLE + 6]).all()
    assert (ranges[:5] == 0).all() and (ranges[-5:] == 0).all()
    assert ranges[ALL_AROUND.rays // 4] == true[ALL_AROUND.rays // 4]


@pytest.mark.parametrize('senses', [
    {'dirt': [{'middle': 0.0, 'width': 0.2}]}, {'short_returns': 0.2}])
def test_dirt_and_drops_are_read_where_there_is_nothing_to_see(senses):
    post = [{'name': 'post', 'begin': [3.0, 0.95], 'end': [3.0, 1.05]}]
    plain, read = scans({}, 1, post)[0], scans(senses, 1, post)[0]
    assert numpy.isfinite(plain).sum() < 5 < numpy.isfinite(read).sum() - 5
    assert not numpy.isfinite(plain[MIDDLE - 5:MIDDLE + 6]).any()


def test_a_scanner_turned_to_the_left_shows_everything_farther_right():
    post = [{'name': 'post', 'begin': [3.0, -0.05], 'end': [3.0, 0.05]}]
    ranges = scans({'yaw_offset': math.radians(10)}, 1, post)[0]
    seen = numpy.flatnonzero(numpy.isfinite(ranges))
    assert seen.mean() == pytest.approx(MIDDLE - 10, abs=0.6)


def test_glass_is_seen_where_a_beam_meets_it_squarely_and_seen_through_elsewhere():
    walls = [{'name': 'pane', 'begin': [2.0, -3.0], 'end': [2.0, 3.0], 'glass': True},
             {'name': 'behind', 'begin': [4.0, -6.0], 'end': [4.0, 6.0]}]
    ranges = scans({}, 1, walls)[0]
    angles = numpy.radians(numpy.arange(ALL_AROUND.rays) - MIDDLE)
    ahead = numpy.abs(angles) < math.radians(40)
    face = numpy.where(numpy.abs(angles) <= math.radians(10), 1.95, 3.95)
    assert ranges[ahead] == pytest.approx((face / numpy.cos(angles))[ahead], abs=1e-3)


def test_a_scanner_sees_nothing_that_is_lower_than_its_plane():
    low = [stimulus('obstacle', topic=topic, distance=2.0, height=0.12)
           for topic in ('scan', 'scan_high')]
    found = drive({'senses': {'mounts': {'scan': {'height': 0.06, 'x': 0.2},
                                         'scan_high': {'height': 0.3}}}}, stimuli=tuple(low))
    for one in low:
        assert found.world.apply(one.topic, one.intent(CONTEXT), True)
    assert messages(found, 'scan')[0]['ranges'][MIDDLE] == pytest.approx(1.8, abs=1e-3)
    assert all(map(math.isinf, messages(found, 'scan_high')[0]['ranges']))


def test_a_scanner_that_nobody_has_cannot_be_mounted():
    with pytest.raises(InputError, match='senses.mounts: got radar, expected the topic of a '
                                         'scanner: scan'):
        drive({'senses': {'mounts': {'radar': {'height': 1.0}}}})


def reports(topic: str, interface: str) -> Any:
    return {'feedback': (CommandTopic(topic=topic, message=interface),)}


@pytest.mark.parametrize('drift', [-0.1, 0.05])
def test_odometry_overstates_way_and_speed_by_its_drift(drift):
    found = drive({'senses': {'odometry_drift': drift}},
                  **reports('odom', 'nav_msgs/msg/Odometry'))
    told = messages(found, 'odom', 150, twist(0.8))[-1]
    truth = found.world.states()['robot']
    assert truth['x'] > 1.5
    assert told['pose']['pose']['position']['x'] == pytest.approx(
        truth['x'] * (1 + drift), abs=1e-3)
    assert told['twist']['twist']['linear']['x'] == pytest.approx(0.8 * (1 + drift), abs=1e-3)


def test_the_heading_of_odometry_turns_with_the_way():
    found = drive({'senses': {'heading_drift': 0.05}}, **reports('odom', 'nav_msgs/msg/Odometry'))
    pose = messages(found, 'odom', 150, twist(0.8))[-1]['pose']['pose']
    way = found.world.states()['robot']['x']
    assert 2 * math.atan2(pose['orientation']['z'], pose['orientation']['w']) \
        == pytest.approx(0.05 * way, rel=0.02)
    assert pose['position']['y'] == pytest.approx(way * math.sin(0.025 * way), rel=0.03)


def test_an_imu_feels_gravity_and_how_hard_the_base_speeds_up():
    found = drive({}, **reports('imu', 'sensor_msgs/msg/Imu'))
    rows = messages(found, 'imu', 60, twist(0.8))
    assert all(row['linear_acceleration']['z'] == pytest.approx(9.81) for row in rows)
    gained = sum(row['linear_acceleration']['x'] for row in rows) / 100
    assert gained == pytest.approx(found.world.states()['robot']['vx'], abs=0.02)
    assert max(row['linear_acceleration']['x'] for row in rows) == pytest.approx(1.5, abs=0.1)


def test_a_bumper_feels_what_the_base_runs_into():
    wall = [{'name': 'end', 'begin': [1.0, -1.0], 'end': [1.0, 1.0]}]
    found = drive({'walls': wall}, **reports('bumper', 'std_msgs/msg/Bool'))
    felt = [data['data'] for data in messages(found, 'bumper', 120, twist(0.5))]
    assert not any(felt[:40]) and any(felt)


@pytest.mark.parametrize(('force', 'moves'), [(20.0, False), (80.0, True)])
def test_what_pushes_the_bumper_pushes_the_base(force, moves):
    push = stimulus('contact', topic='contact', force=force)
    found = drive({}, stimuli=(push,))
    assert found.world.apply('contact', push.intent(CONTEXT), True)
    assert (found.on(twist(), 1.0)['robot']['x'] < -0.05) is moves


@pytest.mark.thorough
def test_in_the_dark_a_tracker_often_finds_nobody():
    person = stimulus('person', topic='human_pose', distance=3.0)
    found = drive({'senses': {'darkness': 0.5}}, stimuli=(person,))
    assert found.world.apply('human_pose', person.intent(CONTEXT), True)
    messages(found, 'human_pose', 100)
    looks = found.world.now_ns * 20 / 1e9
    assert abs(100 / looks - 0.5) < 5 * math.sqrt(0.25 / looks)
