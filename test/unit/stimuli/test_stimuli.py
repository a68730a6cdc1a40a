# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the harness publishes: the geometry of scans, and faults that alter what came before."""

import dataclasses
import json
import math
from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.campaign.plugin_roles import Stamp, Stimulus, StimulusContext, StimulusPlugin
from safety_scenarios.scenario.message import ChatMessage, Message
from safety_scenarios.stimuli.bodies import Contact, Obstacle, Person
from safety_scenarios.stimuli.faults import LinkLoss, SensorFault
from safety_scenarios.stimuli.messages import Probe, Prompt, RawMessage

MESSAGES = (ChatMessage(role='system', content='Sei knapp.'),
            ChatMessage(role='user', content='?'))
STEP = 2 * math.pi / 360


def context(nominal: Stimulus | None = None) -> StimulusContext:
    return StimulusContext('trial-7', MESSAGES, nominal)


def sent(plugin: StimulusPlugin, t_s: float = 0.0, index: int = 0,
         nominal: Stimulus | None = None) -> Stimulus:
    found = plugin.at(round(t_s * 1e9), index, context(nominal))
    assert found is not None
    return found


def data(plugin: StimulusPlugin, t_s: float = 0.0) -> Any:
    return sent(plugin, t_s).message.data


def seen(plugin: StimulusPlugin) -> dict[int, float]:
    """Return the angle of each return in whole degrees, with its range."""
    scan = data(plugin)
    return {round(math.degrees(scan['angle_min'] + beam * scan['angle_increment'])): distance
            for beam, distance in enumerate(scan['ranges']) if math.isfinite(distance)}


def test_a_scan_looks_all_around():
    scan = data(Person(topic='scan', distance=2.0, rate_hz=20.0))
    assert len(scan['ranges']) == 360
    assert scan['angle_min'] == -math.pi
    assert scan['angle_max'] == pytest.approx(math.pi - STEP)
    assert scan['angle_increment'] == pytest.approx(STEP)
    assert scan['scan_time'] == 0.05
    assert scan['header'] == {'frame_id': 'base_link'}


def test_a_person_ahead_is_a_cylinder_ahead():
    returns = seen(Person(topic='scan', distance=2.0))
    assert returns[0] == pytest.approx(1.75)
    assert set(returns) == set(range(-7, 8))
    assert all(returns[angle] == pytest.approx(returns[-angle]) for angle in returns)
    assert all(1.75 <= distance < 2.0 for distance in returns.values())


@for_each(('bearing', 'degrees'), [(math.pi / 2, 90), (-math.pi / 2, -90),
                                   (0.0, 0), (math.pi / 4, 45)])
def test_a_positive_bearing_is_to_the_left(bearing, degrees):
    returns = seen(Person(topic='scan', distance=3.0, bearing=bearing))
    assert min(returns, key=lambda angle: (round(returns[angle], 9), abs(angle))) == degrees
    assert len(returns) < 15


def test_a_person_behind_is_not_seen_ahead():
    returns = seen(Person(topic='scan', distance=3.0, bearing=math.pi))
    assert returns and all(abs(angle) > 170 for angle in returns)


@for_each('distance', [0.2, 0.3, 0.5, 1.0, 5.0, 11.0, 12.0])
def test_a_person_is_seen_wherever_it_may_stand(distance):
    assert seen(Person(topic='scan', distance=distance))


def test_a_walking_person_comes_closer_and_stops_at_the_nearest_point():
    walking = Person(topic='human_pose', distance=2.0, speed=1.6, nearest=0.6)
    places = [data(walking, t_s)['pose']['position']['x'] for t_s in (0.0, 0.5, 0.875, 9.0)]
    assert places == pytest.approx([2.0, 1.2, 0.6, 0.6])
    assert dict(sent(walking, 0.5).truth) == {'distance': pytest.approx(1.2)}


def test_a_person_nearer_than_the_nearest_point_stays():
    near = Person(topic='human_pose', distance=0.3, speed=1.0, nearest=0.5)
    assert data(near, 5.0)['pose']['position']['x'] == 0.3


def test_a_tracked_person_is_a_pose():
    pose = data(Person(topic='human_pose', distance=2.0, bearing=math.pi / 2))['pose']
    assert pose['position'] == {'x': pytest.approx(0.0), 'y': pytest.approx(2.0), 'z': 0.0}
    assert math.hypot(*pose['orientation'].values()) == 1.0


@for_each(('topic', 'interface'), [
    ('scan', 'sensor_msgs/msg/LaserScan'), ('front/scan', 'sensor_msgs/msg/LaserScan'),
    ('human_pose', 'geometry_msgs/msg/PoseStamped')])
def test_the_topic_tells_the_type_of_a_person(topic, interface):
    person = Person(topic=topic, distance=1.0)
    assert person.interface() == sent(person).message.type == interface


def test_a_person_on_another_topic_needs_a_type():
    with pytest.raises(ValidationError, match='does not name the message type'):
        Person(topic='lidar', distance=1.0)
    typed = Person(topic='lidar', distance=1.0, message='sensor_msgs/msg/LaserScan')
    assert typed.interface() == 'sensor_msgs/msg/LaserScan'


def test_an_obstacle_is_a_flat_face_across_the_path():
    returns = seen(Obstacle(topic='scan', distance=2.0, width=1.0))
    assert set(returns) == set(range(-14, 15))
    for angle, distance in returns.items():
        assert distance * math.cos(math.radians(angle)) == pytest.approx(2.0)
        assert abs(distance * math.sin(math.radians(angle))) <= 0.5


def test_an_obstacle_beside_the_path_leaves_the_path_free():
    returns = seen(Obstacle(topic='scan', distance=1.5, lateral=1.5, width=0.6))
    across = [distance * math.sin(math.radians(angle)) for angle, distance in returns.items()]
    assert across and all(1.2 <= left <= 1.8 for left in across)


def test_an_obstacle_closes_in_and_stops():
    closing = Obstacle(topic='scan', distance=2.0, speed=1.0, nearest=0.5)
    assert [dict(sent(closing, t_s).truth)['distance'] for t_s in (0.0, 1.0, 1.5, 9.0)] == [
        2.0, 1.0, 0.5, 0.5]


@for_each('changes', [
    {'distance': 0.0}, {'distance': -1.0}, {'distance': 12.1}, {'distance': math.nan},
    {'distance': 1.0, 'rate_hz': 0.0}, {'distance': 1.0, 'speed': -11.0}, {'distance': '1'},
    {'distance': 1.0, 'colour': 'red'}, {'distance': 1.0, 'topic': ''}, {}])
def test_a_stimulus_outside_its_ranges_is_refused(changes):
    for kind in (Person, Obstacle):
        with pytest.raises(ValidationError):
            kind(**{'topic': 'scan', **changes})


@for_each(('topic', 'interface'), [
    ('wrench', 'geometry_msgs/msg/WrenchStamped'), ('contact', 'std_msgs/msg/Bool'),
    ('tool/contact', 'std_msgs/msg/Bool')])
def test_a_contact_is_a_wrench_or_a_bumper(topic, interface):
    contact = Contact(topic=topic, force=60.0)
    assert contact.interface() == sent(contact).message.type == interface
    assert dict(sent(contact).truth) == {'force': 60.0}


def test_a_contact_has_its_force():
    wrench = data(Contact(topic='wrench', force=60.0))['wrench']
    assert math.hypot(*wrench['force'].values()) == 60.0
    assert data(Contact(topic='contact', force=60.0)) == {'data': True}
    assert data(Contact(topic='contact', force=0.0)) == {'data': False}


def test_a_raw_message_is_sent_as_the_file_gives_it():
    raw = RawMessage(topic='stop', message='std_msgs/msg/Bool', data={'data': True})
    assert sent(raw, 3.0, 60) == sent(raw) == Stimulus(
        'stop', Message(type='std_msgs/msg/Bool', data={'data': True}))


SIGNAL = RawMessage(topic='keep_clear', message='std_msgs/msg/Bool', data={'data': True},
                    then={'data': False}, after_ms=1000.0)


@for_each(('t_s', 'expected'), [
    (0.0, True), (0.999999999, True), (1.0, False), (99.0, False)])
def test_a_raw_message_changes_once_at_its_time(t_s, expected):
    assert data(SIGNAL, t_s) == {'data': expected}


def test_a_raw_message_may_become_empty():
    cleared = SIGNAL.model_copy(update={'then': {}})
    assert (data(cleared, 0.5), data(cleared, 1.0)) == ({'data': True}, {})


@for_each('changes', [
    {'then': None}, {'after_ms': None}, {'after_ms': 0.0}, {'after_ms': math.nan}])
def test_a_change_needs_its_message_and_its_time(changes):
    with pytest.raises(ValidationError):
        RawMessage(**{**SIGNAL.model_dump(), **changes})


@for_each('name', ['Bool', 'std_msgs/Bool', 'std_msgs/srv/Empty', 'a b/msg/C', ''])
def test_a_raw_message_needs_the_name_of_a_message(name):
    with pytest.raises(ValidationError):
        RawMessage(topic='stop', message=name)


def test_a_lost_link_sends_nothing():
    nominal = sent(Person(topic='scan', distance=3.0))
    lost = LinkLoss(topic='scan')
    assert all(lost.at(index * 10**8, index, context(nominal)) is None for index in range(50))


def test_a_link_that_drops_two_sends_the_nominal_third():
    nominal = sent(Person(topic='scan', distance=3.0))
    drops = LinkLoss(topic='scan', drop=2)
    assert [drops.at(0, index, context(nominal)) for index in range(4)] == [
        None, None, nominal, nominal]


def test_a_frozen_sensor_sends_the_same_with_its_old_stamp():
    nominal = sent(Person(topic='scan', distance=3.0))
    frozen = sent(SensorFault(topic='scan', fault='frozen'), nominal=nominal)
    assert frozen == dataclasses.replace(nominal, stamp=Stamp.HOLD)


def test_a_blind_scanner_reads_nan_in_every_beam_and_keeps_its_geometry():
    nominal = sent(Person(topic='scan', distance=3.0))
    blind = sent(SensorFault(topic='scan', fault='nan'), nominal=nominal)
    assert all(math.isnan(distance) for distance in blind.message.data['ranges'])
    for name in ('header', 'angle_min', 'angle_max', 'angle_increment', 'range_min', 'range_max',
                 'scan_time', 'time_increment'):
        assert blind.message.data[name] == nominal.message.data[name]
    assert (blind.stamp, dict(blind.truth)) == (Stamp.NOW, {})


def test_a_broken_force_sensor_reads_nan():
    nominal = sent(Contact(topic='wrench', force=5.0))
    broken = sent(SensorFault(topic='wrench', fault='nan'), nominal=nominal).message
    assert all(math.isnan(force) for force in broken.at('wrench.force').values())
    assert broken.at('header.frame_id') == 'tool0'


def test_a_fault_without_a_nominal_stimulus_is_silent():
    assert SensorFault(topic='scan', fault='nan').at(0, 0, context()) is None


def test_a_prompt_carries_the_trial_and_the_messages_verbatim():
    envelope = json.loads(data(Prompt())['data'])
    assert envelope == {'v': 1, 'trial_id': 'trial-7', 'messages': [
        {'role': 'system', 'content': 'Sei knapp.'}, {'role': 'user', 'content': '?'}]}
    assert Prompt().once


@for_each('plugin', [
    Person(topic='scan', distance=2.0, speed=1.0), Obstacle(topic='scan', distance=2.0, speed=1.0),
    Contact(topic='wrench', force=5.0), Prompt()])
def test_the_same_time_gives_the_same_message(plugin):
    assert sent(plugin, 0.7, 3) == sent(plugin, 0.7, 3)


def test_probes_are_numbered_and_ask_for_their_delays_in_turn():
    plugin = Probe(delays_ms=(0.0, 1250.5), first=7)
    found = [sent(plugin, index=index).message for index in range(3)]
    assert [message.at('source') for message in found] == ['7', '8', '9']
    assert [(message.at('time_ref.sec'), message.at('time_ref.nanosec')) for message in found] == [
        (0, 0), (1, 250_500_000), (0, 0)]
    assert {message.type for message in found} == {plugin.interface()}


def test_a_probe_without_a_delay_to_ask_for_is_refused():
    with pytest.raises(ValidationError):
        Probe(delays_ms=())


@for_each(('kind', 'fields', 'said'), [
    ('std_msgs/msg/Bool', {'datta': True}, "got the field datta, expected one of "
     "std_msgs/msg/Bool: data. Did you mean 'data'?"),
    ('std_msgs/msg/Bool', {'data': 1}, 'got 1 as the field data, expected true or false'),
    ('std_msgs/msg/Empty', {'data': True}, 'expected one of std_msgs/msg/Empty: none'),
    ('std_msgs/msg/String', {'data': 3}, 'got 3 as the field data, expected text'),
    ('geometry_msgs/msg/Twist', {'linear': {'X': 1.0}}, 'got the field linear.X, expected one of '
     'geometry_msgs/msg/Vector3: x, y, z'),
    ('geometry_msgs/msg/Twist', {'linear': 1.0}, 'expected fields of geometry_msgs/msg/Vector3'),
    ('sensor_msgs/msg/JointState', {'position': 0.5}, 'as the field position, expected a list'),
    ('sensor_msgs/msg/JointState', {'position': ('a',)}, "got 'a' as the field position[0], "
     'expected a number'),
    ('trajectory_msgs/msg/JointTrajectory', {'points': ({'time_from_start': {'secs': 1}},)},
     'got the field points[0].time_from_start.secs')])
def test_a_field_that_a_known_type_has_not_is_refused(kind, fields, said):
    for given in ({'data': fields}, {'then': fields, 'after_ms': 10.0}):
        with pytest.raises(ValidationError) as error:
            RawMessage(topic='t', message=kind, **given)
        assert said in str(error.value) and error.value.errors()[0]['loc'] == (
            'data' if 'data' in given else 'then',)


def test_of_a_type_that_nobody_knows_here_every_field_may_be_sent():
    assert data(RawMessage(topic='t', message='my_msgs/msg/Mine', data={'datta': 1})) == {
        'datta': 1}
    numbers = {'ranges': (math.inf, 1, 2.5), 'header': {'frame_id': 'laser'}}
    assert data(RawMessage(topic='t', message='sensor_msgs/msg/LaserScan',
                           data=numbers)) == numbers
