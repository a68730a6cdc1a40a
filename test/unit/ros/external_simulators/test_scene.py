# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Walls, doors, glass and who falls, as other simulators are asked for them."""

import math
from types import SimpleNamespace

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.ros.worlds.external import scenery
from safety_scenarios.ros.worlds.external.bodies import BodyPath, fall_of, models_of, refuse_scene
from safety_scenarios.ros.worlds.external.mover import PoseBook
from safety_scenarios.ros.worlds.external.scenery import Scene, SceneryPath
from safety_scenarios.ros.worlds.external.truth import Disturbed, TrackedBody
from safety_scenarios.scenario.world import Box, Floor, Senses, Wall, WorldBlock
from safety_scenarios.scenario.world_body import box, disc, FALL_S, FALLEN, Figure, gap
from safety_scenarios.stimuli.bodies import ObstacleAt, PersonAt

MS, START = 1_000_000, (0.0, 0.0, 0.0)
SHELF = Wall(name='shelf', begin=(-3.0, 1.0), end=(1.6, 1.0), along=True)


class Asked:
    """Mover and stage in one, which does at once what it is asked for."""

    def __init__(self) -> None:
        self.places = {}

    def put(self, name, place):
        self.places[name] = place

    def ask(self, asked):
        assert asked is None

    def park(self, name):
        self.places[name] = None

    place_body = put


def scene_of(block: WorldBlock, *bodies: TrackedBody):
    """Return a scene with these bodies, put up, and what was asked for."""
    asked = Asked()
    scene = Scene(asked, asked, Disturbed(PoseBook(), 'robot'), disc(0.3), block, START)
    every = [*scene.scenery, *bodies]
    for number, one in enumerate(every):
        one.name = f'body_{number}'
    scene.name([f'more_{number}' for number in range(len(scene.extend(every)))])
    scene.place_entities(0)
    scene.begin(0)
    return scene, asked


def test_what_comes_along_stays_where_it_is_when_the_hazard_comes():
    """Beside the robot until then, wherever that is."""
    scene, asked = scene_of(WorldBlock(walls=(SHELF,)))
    course = scene.scenery[0].course
    assert asked.places['body_0'] == pytest.approx((-0.7, 1.0, 0.0))
    there = course.go_on((5.0, 0.0, math.pi / 2), 50 * MS, lambda place: True)
    assert there == pytest.approx((4.0, -0.7, math.pi / 2)) and course.moves
    scene.hazard_comes(60 * MS, lambda: (6.0, 0.0, 0.0))
    assert asked.places['body_0'] == pytest.approx((5.3, 1.0, 0.0)) and not course.moves
    scene.hazard_comes(70 * MS, lambda: pytest.fail('it has come already'))


@pytest.mark.parametrize('turns', [1.57, -1.57])
def test_a_door_turns_about_its_hinge_in_its_time(turns):
    """From when the hazard comes, and no farther than it is told."""
    course = SceneryPath((2.0, 1.0), math.pi, 0.9, turns=turns, turns_in_s=0.8)
    course.begin(START, 0)
    assert not course.moves and course.waits
    course.hazard_comes(START, 0)
    for step in range(1, 9):
        x, y, heading = course.go_on(START, step * 50 * MS, lambda place: True)
    assert math.remainder(heading - math.pi, math.tau) == pytest.approx(turns / 2)
    assert math.hypot(x - 2.0, y - 1.0) == pytest.approx(0.45)
    for step in range(9, 20):
        course.go_on(START, step * 50 * MS, lambda place: True)
    assert not course.moves
    assert math.remainder(course.place[2] - math.pi, math.tau) == pytest.approx(turns)


def test_a_door_turns_as_far_as_the_robot_lets_it():
    """So that it touches it, as outlines tell."""
    door = Wall(name='door', begin=(1.0, 1.0), end=(0.1, 1.0), turns=1.57, turns_in_s=0.8)
    scene, _ = scene_of(WorldBlock(walls=(door,)))
    one, robot = scene.scenery[0], (0.9, 0.4, 0.0)

    def apart_at(place):
        return gap(disc(0.3), robot, one.body.footprint, place)
    scene.hazard_comes(0, lambda: robot)
    for step in range(1, 20):
        one.course.go_on(robot, step * 50 * MS, lambda there: apart_at(there) > 0.0)
    apart = apart_at(one.course.place)
    assert 0 < apart < 0.005 and one.course.moves


def test_nobody_walks_into_a_wall_and_who_stands_in_one_gets_out():
    """Bodies here are moved by poses, so nothing else would stop them."""
    scene, _ = scene_of(WorldBlock(walls=(SHELF,), boxes=(
        Box(name='crate', at=(5.0, 0.0), size=(1.0, 1.0, 1.0)),)))
    intent = PersonAt(distance=2.0, bearing=0.0, speed=0.0, nearest=0.5)
    one = TrackedBody('body_9', models_of(intent, True)[0], BodyPath(intent.bodies()[0], False))
    one.course.begin(START, 0)
    assert scene.is_free(one, (3.0, 0.0, 0.0))
    assert not scene.is_free(one, (4.5, 0.0, 0.0))
    assert not scene.is_free(one, (0.0, 0.9, 0.0))
    one.course.begin((3.0, 0.0, 0.0), 0)  # in the middle of the crate
    assert scene.is_free(one, (5.5, 0.0, 0.0))


@pytest.mark.parametrize('block', [
    WorldBlock(walls=(Wall(name='wall', begin=(0.2, -1.0), end=(0.2, 1.0)),)),
    WorldBlock(boxes=(Box(name='wall', at=(0.0, 0.5), size=(1.0, 0.5, 1.0)),))])
def test_a_robot_that_begins_inside_of_something_is_refused(block):
    """As it is in our own world."""
    with pytest.raises(InputError, match='robot and (wall|box):wall 0.[0-9]+ m inside each other'):
        scene_of(block)


@for_each(('named', 'told'), [
    ({'floor': Floor(friction=0.1)}, 'got floor'), ({'payload': 5.0}, 'got payload'),
    ({'senses': Senses(mounts={'scan': {'height': 0.1}})}, 'got senses.mounts'),
    ({'boxes': (Box(name='crate', at=(5, 0), size=(1, 1, 1), mass=20),)}, 'got a mass in boxes')])
def test_what_no_service_can_do_is_refused(named, told):
    ros = SimpleNamespace(robot=SimpleNamespace(kind='mobile_base'), world=WorldBlock(**named))
    with pytest.raises(InputError, match=f'{told}, expected.*world mujoco'):
        refuse_scene(ros)
    ros.world = WorldBlock(walls=(SHELF,), senses=Senses(dropouts=0.1))
    refuse_scene(ros)  # what a relay and bodies can do is not


def test_an_arm_needs_links_that_are_told_and_room():
    """Nothing sees to it that it begins beside a wall."""
    ros = SimpleNamespace(robot=SimpleNamespace(kind='arm'), world=WorldBlock())
    with pytest.raises(InputError, match='got arm, expected mobile_base'):
        refuse_scene(ros)
    refuse_scene(ros, has_arms=True)
    ros.world = WorldBlock(walls=(SHELF,))
    with pytest.raises(InputError, match='got walls around an arm, expected'):
        refuse_scene(ros, has_arms=True)


@for_each('scanner', [
    (-2.0, 0.3, 0.0), (-0.5, 0.0, 0.0), (-4.0, 0.75, 0.5), (3.0, -0.4, 0.0), (0.1, 2.5, 0.0)])
def test_pieces_cover_what_is_seen_of_a_pane_and_nothing_else(scanner):
    """Within 10 degrees of its normal, as far as it goes, on the face that is looked at."""
    footprint, pane = box(0.4, 1.6), (0.0, 0.0, 0.0)
    patch = scenery.visible_patch(footprint, pane, scanner)
    lengths = scenery.lengths(footprint)
    sides = []
    for number, place in scenery.covering(patch, lengths):
        corners = scenery.piece(lengths[number], 2.0).footprint.at(place)
        face = max(abs(x) for x, _ in corners) == pytest.approx(0.2) if abs(scanner[0]) > 0.2 \
            else max(abs(y) for _, y in corners) == pytest.approx(0.8)
        assert face
        along = [corner[0 if abs(scanner[0]) <= 0.2 else 1] for corner in corners]
        sides.append((min(along), max(along)))
    sides.sort()
    assert all(after[0] <= before[1] + 1e-9 for before, after in zip(sides, sides[1:]))
    away = abs(scanner[0]) - 0.2 if abs(scanner[0]) > 0.2 else abs(scanner[1]) - 0.8
    foot, end = (scanner[1], 0.8) if abs(scanner[0]) > 0.2 else (scanner[0], 0.2)
    reach = away * math.tan(math.radians(10))
    assert sides[0][0] == pytest.approx(max(-end, foot - reach))
    assert max(high for _, high in sides) == pytest.approx(min(end, foot + reach))


def test_glass_is_not_seen_from_aside():
    """A beam that meets it otherwise goes on."""
    assert scenery.visible_patch(box(0.4, 1.6), (0.0, 0.0, 0.0), (-2.0, 1.5, 0.0)) is None
    assert scenery.visible_patch(box(0.4, 1.6), (0.0, 0.0, 0.0), (-13.0, 0.0, 0.0)) is None


def test_glass_is_shown_while_it_is_there_and_nobody_can_touch_its_pieces():
    """They come before the pane itself, and go with it."""
    intent = ObstacleAt(distance=2.0, lateral=0, width=1.6, closing_speed=0, nearest=0,
                        is_glass=True)
    body = models_of(intent, True)[0]
    assert '<visual' not in body.sdf('pane', 'robot', 'gz') and not body.solid.is_seen
    pane = TrackedBody('', body, BodyPath(intent.bodies()[0], False), is_glass=True)
    scene, asked = scene_of(WorldBlock(), pane)
    assert not any(asked.places.values())
    pane.course.begin(START, 0)
    pane.topics.add('scan')
    scene.appears(pane, 0, START)
    shown = {name: place for name, place in asked.places.items() if place is not None}
    assert 'body_0' not in shown and all(place[0] == pytest.approx(2.005)
                                         for place in shown.values())
    assert {name for name, _ in scene.there()} == set(shown)
    sdf = scenery.piece(0.1, 2.0).sdf('piece', 'robot', 'gz')
    assert '<visual' in sdf and '<collision' not in sdf and 'touchplugin' not in sdf
    scene.leaves(pane)
    assert not any(asked.places.values()) and not list(scene.there())


def test_who_falls_lies_from_the_middle_of_the_fall_on_and_stands_when_coming_again():
    """One of two bodies is there, across where the person looked."""
    intent = PersonAt(distance=2.0, bearing=0.0, speed=0.0, nearest=0.5,
                      figure=Figure(posture='falls', after_s=0.5))
    one = TrackedBody('', models_of(intent, True)[0], BodyPath(intent.bodies()[0], False),
                      {'scan'},
                      fall=fall_of(intent.bodies()[0], True))
    scene, asked = scene_of(WorldBlock(), one)
    one.course.begin(START, 0)
    scene.appears(one, 0, START)
    one.since_ns = 0
    down_ns = round((0.5 + FALLEN * FALL_S) * 1e9)
    scene.let_fall(down_ns - MS)
    assert one.name == 'body_0' and len(one.body.footprint.points) == 1
    scene.let_fall(down_ns)
    assert one.name == 'more_0' and one.since_ns is None and one.asked_ns == down_ns
    assert asked.places == {'more_0': pytest.approx((2.0, 0.0, math.pi)), 'body_0': None}
    assert one.body.footprint.points[0] == pytest.approx((0.15, 0.875))
    assert one.models == {'body_0', 'more_0'}, 'a touch of either is one of this person'
    one.course.begin(START, 2 * down_ns)
    scene.appears(one, 2 * down_ns, START)
    assert one.name == 'body_0' and one.course.faces is None
