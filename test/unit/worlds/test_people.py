# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""People and other robots go where they are told, and are seen by those sensors that show them."""

import math
from typing import Any

from cases import for_each
import mujoco
import pytest
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.registry import resolve
from safety_scenarios.scenario.frames import ALL_AROUND
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.scenario.world_body import Figure, GRIP, Walk
from unit.worlds.driven import Drive, drive, PERSON_STEPS_NEAR, twist

CONTEXT = StimulusContext('', (), None)
STANDS = twist()


def person(**fields: Any) -> Any:
    return resolve('stimuli', 'person')(**{
        'kind': 'person', 'topic': 'scan', 'distance': 3.0, 'rate_hz': 20.0, **fields})


def shown(plugin: Any, *others: Any, world: Any = None, driver: str = 'diff_drive') -> Drive:
    """Return a world in which hazards have just appeared."""
    found = drive(world or {}, driver, stimuli=(plugin, *others))
    for one in (plugin, *others):
        assert found.world.apply(one.topic, one.intent(CONTEXT), True)
    return found


def scan(found: Drive, topic: str = 'scan') -> Any:
    found.world.advance(found.world.due_ns)
    while True:
        for sensed in found.world.sensed(found.world.due_ns):
            if sensed.name == topic and sensed.message is not None:
                return sensed.message.data['ranges']
        found.world.advance(found.world.due_ns)


def place(told: Any, name: str = 'scan') -> tuple[float, float]:
    return told[name]['x'], told[name]['y']


@for_each('direction', [0.0, 1.2, -math.pi / 2, 2.5])
def test_a_straight_walk_covers_speed_times_time(direction):
    told = shown(person(walks=Walk(speed=1.6, direction=direction))).on(STANDS, 1.5)
    assert place(told) == pytest.approx(
        (3.0 + 2.4 * math.cos(direction), 2.4 * math.sin(direction)), abs=1e-3)
    assert math.hypot(told['scan']['vx'], told['scan']['vy']) == pytest.approx(1.6, abs=1e-3)


def test_who_sets_off_later_speeds_up_as_feet_grip():
    told = shown(person(walks=Walk(speed=1.5, direction=0.0, after_s=0.5))).on(STANDS, 2.0)
    # 1.5 s, of which 0.5 s are for speeding up at 3 m/s^2
    assert place(told)[0] - 3.0 == pytest.approx(1.5 * 1.5 - 1.5**2 / (2 * GRIP), abs=0.02)


def test_a_way_from_point_to_point_ends_at_the_last_one():
    found = shown(person(walks=Walk(speed=1.2, by=((3.0, 1.0), (1.5, 1.0)))))
    told = found.on(STANDS, 4.0)
    assert place(told) == pytest.approx((1.5, 1.0), abs=0.06)
    assert abs(told['scan']['vx']) < 0.05
    assert max(y for _, y in found.of('scan', 'y')) < 1.3


def test_who_walks_toward_the_robot_rests_at_the_nearest_distance():
    found = shown(person(speed=1.6, nearest=1.0))
    told = found.on(STANDS, 4.0)
    assert told['scan']['distance'] == pytest.approx(1.0, abs=0.03)
    assert min(metres for _, metres in found.of('scan', 'distance')) > 0.97


def test_who_walks_along_stays_where_he_or_she_is_seen():
    found = shown(person(walks=Walk(along=True), bearing=0.4))
    found.on(twist(0.8, turn=0.3), 3.0)
    assert [metres for _, metres in found.of('scan', 'distance')] \
        == pytest.approx([3.0] * len(found.told), abs=0.01)
    assert found.told[-1][1]['robot']['x'] > 1.0


def test_who_yields_waits_until_the_robot_is_past():
    way = Walk(speed=1.2, by=((3.0, -2.0),), yields_at=2.5)
    found = shown(person(bearing=0.5, walks=way))
    told = found.on(twist(1.0), 2.0)
    assert told['scan']['distance'] < 2.5 and math.hypot(
        told['scan']['vx'], told['scan']['vy']) < 0.05
    assert abs(found.on(twist(1.0), 7.0)['scan']['y'] + 2.0) < 0.1


@pytest.mark.parametrize('is_hazard', [False, True])
def test_who_is_kept_beside_a_robot_that_turns_sweeps_nothing_along(is_hazard):
    ahead = person(**({'walks': Walk(speed=1.0, direction=0.0)} if is_hazard else {}))
    found = drive({'boxes': [
        {'name': 'crate', 'at': at, 'size': [0.4, 0.4, 0.4], 'mass': 5.0}
        for at in [[3.8, 0.0] if is_hazard else [1.1, 2.8]]]}, stimuli=(ahead,),
        nominal=load_scenario(PERSON_STEPS_NEAR).body.nominal.model_copy(
            update={'stimuli': () if is_hazard else (ahead,)}))
    assert found.world.apply('scan', ahead.intent(CONTEXT), is_hazard)
    before = place(found.world.states(), 'box:crate')
    after = place(found.on(STANDS if is_hazard else twist(turn=1.2), 1.2), 'box:crate')
    assert (math.dist(before, after) > 0.1) is is_hazard


@for_each('fields', [
    {'figure': Figure(posture='falls', after_s=0.5)},
    {'figure': Figure(reaches_at=1.0, after_s=0.5, hand_speed=0.5)},
    {'walks': Walk(speed=1.0, direction=math.pi / 2, after_s=0.5)}])
def test_a_gap_is_that_between_where_both_are_by_now(fields):
    gaps = set()

    def measure(told: Any) -> bool:
        world = found.world
        mujoco.mj_kinematics(world._model, world._data)
        geoms = [geom for entity in world._entities if entity.topics for geom in entity.geoms]
        gap = min(mujoco.mj_geomDistance(world._model, world._data, own, geom, 30.0, None)
                  for own in world._truth._geoms for geom in geoms)
        assert told['scan']['gap'] == pytest.approx(gap, abs=1e-6)
        gaps.add(round(gap, 3))
        return False
    found = shown(person(**fields))
    for speed, seconds in ((0.0, 1.5), (0.5, 0.3), (0.0, 1.0)):
        found.on(twist(speed), seconds, measure)
    found.world.withdraw('scan')
    assert found.world.apply('scan', person(**fields).intent(CONTEXT), True)
    found.on(twist(), 0.3, measure)
    assert len(gaps) > 10


def test_a_standing_person_is_seen_in_a_world_as_without_one():
    stimulus = person(distance=2.05, bearing=0.15)
    without = stimulus.at(0, 0, CONTEXT).message.data['ranges']
    assert scan(shown(stimulus)) == pytest.approx(without, abs=1e-3)


def test_a_walking_person_swings_legs_and_a_standing_one_does_not():
    ways = {}
    for name, fields in (('walks', {'distance': 5.0, 'walks': Walk(speed=1.4, direction=math.pi)}),
                         ('stands', {})):
        found = shown(person(**fields))
        found.on(STANDS, 1.0)
        ways[name] = [(gap, metres) for (_, gap), (_, metres) in zip(
            found.of('scan', 'gap'), found.of('scan', 'distance'), strict=True)]
    off = [metres - gap for gap, metres in ways['walks']]
    assert 0.05 < max(off) - min(off) < 0.3
    assert [metres - gap for gap, metres in ways['stands']] \
        == pytest.approx([0.55] * len(ways['stands']), abs=1e-3)


@for_each('fields', [{'speed': 1.4, 'nearest': 1.5},
                     {'walks': Walk(speed=1.4, by=((3.0, 2.0),))}])
def test_who_has_stopped_walking_stands_with_the_legs_together(fields):
    found = shown(person(distance=4.0, **fields))
    model = found.world._model
    leg = model.body('hazard:scan.leg.left').id
    found.on(STANDS, 0.5)
    assert abs(model.body_quat[leg][2]) > 0.01
    found.on(STANDS, 4.0)
    assert model.body_quat[leg].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_who_has_gone_is_not_felt_and_is_again_after_coming_back():
    found = shown(person(distance=1.5))
    found.world.withdraw('scan')
    assert not found.world._model.geom_contype[found.world._entities[-1].geoms].any()
    assert found.on(twist(0.8), 3.0)['robot']['x'] > 1.8
    assert found.world.apply('scan', person(distance=1.5).intent(CONTEXT), True)
    assert found.on(twist(0.8), 3.0, lambda told: told['scan']['touching'] > 0)['scan']['touching']


def test_a_hand_that_reaches_comes_at_its_speed_and_no_farther_than_the_arm():
    high = {'senses': {'mounts': {'scan': {'height': 1.42}}}}
    found = shown(person(figure=Figure(reaches_at=1.42)), world=high)
    before = min(scan(found)[ALL_AROUND.rays // 2 - 6:ALL_AROUND.rays // 2 + 6])
    found.on(STANDS, 1.0)
    after = min(scan(found)[ALL_AROUND.rays // 2 - 6:ALL_AROUND.rays // 2 + 6])
    assert after == pytest.approx(3.0 - 0.65, abs=0.03)  # 0.2 m to the side makes 1 cm more
    assert before > after + 0.4


def test_who_lies_is_as_wide_for_the_scanner_as_tall():
    ranges = scan(shown(person(figure=Figure(posture='lies'))))
    seen = sum(math.isfinite(one) for one in ranges)
    assert seen == pytest.approx(2 * math.degrees(math.atan(0.875 / 2.85)), abs=2)
    assert min(ranges) == pytest.approx(3.0 - 0.15, abs=0.01)


def test_who_falls_stands_first_and_lies_then():
    found = shown(person(figure=Figure(posture='falls', after_s=0.5)))
    widths = [sum(math.isfinite(one) for one in scan(found))]
    found.on(STANDS, 2.0)
    widths.append(sum(math.isfinite(one) for one in scan(found)))
    assert widths[0] < 12 < 30 < widths[1]


def test_a_child_weighs_as_its_height_says():
    assert Figure(height=1.1).weighs == pytest.approx(75 * (1.1 / 1.75)**3)
    assert Figure(height=1.1, mass=25).weighs == 25


def test_a_person_is_seen_only_by_the_sensor_of_its_topic():
    found = shown(person(topic='human_pose', message='geometry_msgs/msg/PoseStamped'), world={})
    assert 'human_pose' in found.world.states()
    lidar = drive({}, stimuli=(person(), person(topic='human_pose')))
    hidden = person(topic='human_pose')
    assert lidar.world.apply('human_pose', hidden.intent(CONTEXT), True)
    assert all(math.isinf(one) for one in scan(lidar))


def test_a_second_robot_drives_its_way_and_is_no_person():
    vehicle = resolve('stimuli', 'vehicle')(
        kind='vehicle', topic='scan', distance=3.0, bearing=0.5, radius=0.4,
        drives=Walk(speed=0.5, direction=-math.pi / 2))
    told = shown(vehicle).on(STANDS, 2.0)
    assert place(told) == pytest.approx((3 * math.cos(0.5), 3 * math.sin(0.5) - 1.0), abs=1e-3)
    assert (told['scan']['body'], told['scan']['radius']) == (0.0, 0.4)


def test_a_wall_comes_along_until_the_hazard_and_a_door_turns_then():
    walls = {'walls': [
        {'name': 'shelf', 'begin': [0.0, 1.0], 'end': [2.0, 1.0], 'along': True},
        {'name': 'door', 'begin': [4.0, -2.0], 'end': [4.0, -3.0], 'turns': 1.5,
         'turns_in_s': 1.0}]}
    found = drive(walls, stimuli=(person(),))
    told = found.on(twist(0.8), 2.0)
    assert told['wall:shelf']['x'] == pytest.approx(told['robot']['x'] + 1.0, abs=0.02)
    assert told['wall:door']['heading'] == pytest.approx(-math.pi / 2)
    assert found.world.apply('scan', person().intent(CONTEXT), True)
    stood = told['wall:shelf']['x']
    told = found.on(twist(0.4), 2.0)
    assert told['wall:shelf']['x'] == pytest.approx(stood, abs=0.02)
    assert told['wall:door']['heading'] == pytest.approx(1.5 - math.pi / 2, abs=0.01)


@for_each(('fields', 'words'), [
    ({'walks': {'speed': 1.0}}, 'got 0 of direction, by and along'),
    ({'walks': {'speed': 1.0, 'direction': 0.0, 'along': True}}, 'got 2 of'),
    ({'walks': {'direction': 0.0}}, 'without speed'),
    ({'walks': {'along': True, 'yields_at': 1.0}}, 'along alone'),
    ({'walks': {'along': True}, 'speed': 1.0}, 'got speed and walks'),
    ({'figure': {'posture': 'lies', 'reaches_at': 1.0}}, 'expected one of the two')])
def test_a_way_that_contradicts_itself_is_refused(fields, words):
    with pytest.raises(ValueError, match=words):
        person(**fields)
