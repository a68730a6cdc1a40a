# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where bodies are to be as time passes, the gaps between outlines, and who else moves a world."""

import math

from cases import for_each
import pytest
from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.ros.worlds.external.bodies import BodyPath, models_of
from safety_scenarios.ros.worlds.external.mover import PoseBook
from safety_scenarios.ros.worlds.external.truth import Disturbed
from safety_scenarios.scenario.world_body import (
    box,
    capsule,
    disc,
    Figure,
    gap,
    read_footprint,
    Walk,
)
from safety_scenarios.stimuli.bodies import PersonAt, VehicleAt

STEP_NS = 50_000_000
ROBOT = (1.0, 2.0, 0.0)


def after(course: BodyPath, seconds: float, robot=ROBOT, is_free=lambda place: True):
    """Return where it is after a time in which the robot stands."""
    place = course.begin(robot, 0)
    for step in range(1, round(seconds * 1e9 / STEP_NS) + 1):
        place = course.go_on(robot, step * STEP_NS, is_free)
    return place


def walking(**named) -> PersonAt:
    """Return a person 3 m ahead."""
    return PersonAt(**{'distance': 3.0, 'bearing': 0.0, 'speed': 0.0, 'nearest': 0.5, **named})


def test_who_comes_toward_the_robot_stops_where_that_is_said():
    """At the speed that was asked for, from the first moment on."""
    course = BodyPath(walking(speed=1.6, nearest=1.0).bodies()[0], False)
    assert after(course, 0.5)[0] == pytest.approx(4.0 - 0.8)
    assert after(course, 6.0)[0] == pytest.approx(2.0, abs=0.06)


def test_a_way_is_followed_from_point_to_point():
    """Each told from where the robot was."""
    course = BodyPath(walking(walks=Walk(speed=1.0, by=((3.0, 1.0), (0.0, 1.0)))).bodies()[0],
                      False)
    assert after(course, 10.0)[:2] == pytest.approx((1.0, 3.0), abs=0.1)


def test_who_is_kept_stays_beside_a_robot_that_drives():
    course = BodyPath(walking(bearing=0.1).bodies()[0], True)
    course.begin(ROBOT, 0)
    x, y, _ = course.go_on((5.0, 0.0, math.pi / 2), STEP_NS, lambda place: True)
    assert (x, y) == pytest.approx((5.0 - 3.0 * math.sin(0.1), 3.0 * math.cos(0.1)))


def test_nobody_is_moved_into_the_robot():
    """Who walks there stands before it."""
    course = BodyPath(walking(speed=1.6, nearest=0.01).bodies()[0], False)
    assert after(course, 6.0, is_free=lambda place: place[0] > 1.55)[0] == pytest.approx(
        1.6, abs=0.06)


def test_who_was_not_moved_for_long_does_not_jump():
    """Half a second's way at most."""
    course = BodyPath(walking(speed=1.6).bodies()[0], False)
    course.begin(ROBOT, 0)
    assert course.go_on(ROBOT, 5_000_000_000, lambda place: True)[0] == pytest.approx(4.0 - 0.8)


def test_several_stand_abreast():
    """As without a world."""
    places = [BodyPath(walking(count=2).bodies()[place], False).begin(ROBOT, 0) for place in (0,
                                                                                              1)]
    assert math.dist(places[0][:2], places[1][:2]) == pytest.approx(0.7)


def test_bodies_have_the_sizes_of_their_intents():
    """And no visual where no scanner shows them."""
    lies = walking(figure=Figure(posture='lies'))
    assert models_of(lies, True)[0].footprint.points[0] == pytest.approx((0.15, 0.875))
    car = VehicleAt(distance=3, bearing=0, radius=0.4, height=0.5, mass=80)
    assert models_of(car, True)[0].footprint.rounding == 0.4
    seen, unseen = (models_of(walking(), is_seen)[0].sdf('stimulus_1', 'robot', 'gz')
                    for is_seen in (True, False))
    assert '<visual' in seen and '<visual' not in unseen
    assert '<radius>0.25</radius>' in unseen and 'gz-sim-touchplugin-system' in unseen


def test_what_no_rigid_body_can_show_is_refused():
    """Instead of something else being shown."""
    with pytest.raises(InputError, match='who reaches.*world mujoco'):
        models_of(walking(figure=Figure(reaches_at=1.0)), True)


ORIGIN = (0.0, 0.0, 0.0)


@for_each(('one', 'other', 'place', 'expected'), [
    (disc(0.3), disc(0.25), (2.05, 0, 0), 1.5),
    (disc(0.3), disc(0.25), (0.5, 0, 0), -0.05),
    (disc(0.3), box(0.4, 2.0), (2.55, 0.5, 0), 2.05),
    (disc(0.3), box(0.4, 2.0), (0.0, 0.0, 0), -0.5),
    (disc(0.3), box(2.0, 0.4), (2.55, 0, math.pi / 2), 2.05),
    (box(1.0, 1.0), box(1.0, 1.0), (1.5, 0, 0), 0.5),
    (box(1.0, 1.0), box(1.0, 1.0), (2.0, 2.0, 0), math.hypot(1, 1)),
    (box(1.0, 1.0), box(1.0, 1.0), (0.9, 0, 0), -0.1),
    (box(2.0, 0.1), box(2.0, 0.1), (0.0, 0.0, math.pi / 2), -1.05),
    (capsule(2.0, 0.3), disc(0.2), (2.0, 0, 0), 0.8),
    (capsule(2.0, 0.3), capsule(2.0, 0.3), (0.0, 1.0, 0), 0.4),
    (capsule(2.0, 0.3), capsule(2.0, 0.3), (0.0, 0.0, math.pi / 2), -0.6),
    (capsule(0.5, 0.3), disc(0.2), (1.0, 0, 0), 0.5)])
def test_the_gap_is_that_of_the_surfaces(one, other, place, expected):
    """Positive between them, negative where they overlap; whichever is asked first."""
    assert gap(one, ORIGIN, other, place) == pytest.approx(expected)
    assert gap(other, place, one, ORIGIN) == pytest.approx(expected)


def test_a_setting_is_an_outline():
    """With the reach that judging a turn needs."""
    assert read_footprint('box 0.8 0.6').radius == pytest.approx(0.5)
    assert read_footprint('capsule 1.0 0.2').radius == pytest.approx(0.5)


MS = 1_000_000


class World:
    """A robot at 2 m/s and a person who is moved 20 times a second, told every 20 ms."""

    def __init__(self) -> None:
        self.book = PoseBook()
        self.disturbed = Disturbed(self.book, 'robot')
        self.robot, self.person, self.now_ms = 0.0, 5.0, 1000
        self.disturbed.begin(self.now_ms * MS)
        self.disturbed.put('person', (5.0, 0.0, 0.0), is_new=True)

    def pass_by(self, ms=400, tells=('robot', 'person'), shift=0.0):
        for _ in range(ms // 20):
            self.now_ms += 20
            self.robot += 0.04
            if self.now_ms % 60 == 0:
                self.person -= 0.08
                self.disturbed.put('person', (self.person, 0.0, 0.0))
            for name, x in (('robot', self.robot), ('person', self.person + shift)):
                if name in tells:
                    self.book.put(name, self.now_ms * MS, (x, 0.0, 0.0))
            self.check()

    def check(self):
        self.disturbed.check([('person', 1000 * MS)])


def test_a_world_that_does_as_it_was_told_is_left_alone():
    World().pass_by(3000)


def test_a_robot_that_jumps_was_moved():
    world = World()
    world.pass_by()
    world.robot -= 0.8
    with pytest.raises(MeasurementError, match='the robot: it was at .* another client moves'):
        world.pass_by()


def test_a_body_that_is_elsewhere_was_moved():
    world = World()
    world.pass_by()
    with pytest.raises(MeasurementError, match="'person': it is at x .* another client moves"):
        world.pass_by(shift=1.2)


def test_a_body_that_is_gone_was_deleted():
    world = World()
    world.pass_by()
    with pytest.raises(MeasurementError, match="'person': its position is no longer published"):
        world.pass_by(1000, tells=('robot',))
