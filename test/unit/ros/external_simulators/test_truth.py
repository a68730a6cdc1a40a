# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is told of a world from the poses of its models, as they come in."""

from cases import for_each
import pytest
from safety_scenarios.ros.worlds.external.bodies import BodyPath, models_of
from safety_scenarios.ros.worlds.external.mover import ALIVE_NS, is_at, PoseBook
from safety_scenarios.ros.worlds.external.scenery import scenery_of
from safety_scenarios.ros.worlds.external.truth import TrackedBody, Truth
from safety_scenarios.scenario.world import Wall, WorldBlock
from safety_scenarios.scenario.world_body import disc
from safety_scenarios.stimuli.bodies import ObstacleAt, PersonAt

MS = 1_000_000
PERSON = PersonAt(distance=2.0, bearing=0.0, speed=0.0, nearest=0.5)


def person(book: PoseBook, *, is_there: bool = True) -> TrackedBody:
    """Return a person 2 m ahead, shown on scan."""
    one = TrackedBody('stimulus_1', models_of(PERSON, True)[0],
                      BodyPath(PERSON.bodies()[0], False),
                      {'scan'})
    one.course.begin((0.0, 0.0, 0.0), 0)
    one.since_ns = 0 if is_there else None
    return one


def drive(book: PoseBook, speed: float, *, until_ms: int, since_ms: int = 0,
          other: float | None = 2.0) -> None:
    """Let the robot drive ahead, and a body stand."""
    for at_ms in range(since_ms, until_ms + 1, 10):
        book.put('robot', at_ms * MS, (speed * at_ms / 1000, 0.0, 0.0))
        if other is not None:
            book.put('stimulus_1', at_ms * MS, (other, 0.0, 0.0))


def told(book: PoseBook, *shown: TrackedBody, feels: bool = False, felt: tuple[str, ...] = ()):
    truth = Truth(book, 'robot', disc(0.3), WorldBlock(), -1, feels)
    for name in felt:
        truth.feel(name)
    return list(truth.new_states({one.name: one for one in shown}))


def test_speeds_gaps_and_times_are_those_of_the_poses():
    """In the stamps of the simulation, whenever they arrived."""
    book = PoseBook()
    drive(book, 1.0, until_ms=200)
    stamp_ns, states = told(book, person(book))[-1]
    assert stamp_ns == 200 * MS
    robot, other = states['robot'], states['scan']
    assert (robot['x'], robot['vx'], robot['wz']) == pytest.approx((0.2, 1.0, 0.0))
    assert other['gap'] == pytest.approx(2.0 - 0.2 - 0.3 - 0.25)
    assert other['closing'] == pytest.approx(1.0)
    assert other['ttc'] == pytest.approx(other['gap'])
    assert (other['distance'], other['body']) == pytest.approx((1.8, 1.0))


def test_velocity_is_told_in_the_frame_of_the_robot():
    """One that looks to the left and drives there drives ahead."""
    book = PoseBook()
    for at_ms in range(0, 101, 10):
        book.put('robot', at_ms * MS, (0.0, 0.5 * at_ms / 1000, 1.5707963))
    assert told(book)[-1][1]['robot']['vx'] == pytest.approx(0.5)


@for_each(('x', 'feels', 'felt', 'expected'), [
    (0.50, False, (), 1.0), (0.555, False, (), 1.0),
    (0.70, False, (), None), (0.70, True, (), 0.0),
    (0.70, False, ('stimulus_1',), 1.0), (0.70, True, ('',), 1.0)])
def test_no_touch_is_told_only_where_it_would_be_felt(x, feels, felt, expected):
    """Outlines that meet touch whatever a sensor says; without one the key is left out."""
    book = PoseBook()
    drive(book, 0.0, until_ms=50, other=x)
    assert told(book, person(book), feels=feels, felt=felt)[0][1]['scan'].get(
        'touching') == expected


def test_a_touch_of_nobody_near_is_told_of_somebody_unknown():
    """Without saying that it is no person."""
    book = PoseBook()
    drive(book, 0.0, until_ms=50, other=3.0)
    first, second = (states for _, states in told(book, person(book), felt=('',))[:2])
    assert first['touched'] == {'touching': 1.0}
    assert second['touched'] == {}


def test_a_touch_of_what_others_have_put_there_is_told_though_somebody_is_near():
    """Of a pillar of the world itself nothing says that it is no person."""
    book = PoseBook()
    drive(book, 0.0, until_ms=50, other=0.7)
    states = told(book, person(book), feels=True, felt=('pillar',))[0][1]
    assert states['touched'] == {'touching': 1.0} and states['scan']['touching'] == 0.0
    waits = told(book, person(book), feels=True, felt=('stimulus_9',))[0][1]
    assert 'touched' not in waits, 'a body of ours that is there no more'


def test_a_touch_of_who_has_just_come_is_told_as_soon_as_poses_show_where():
    """A robot that has bounced off by then has touched all the same, and only then."""
    book = PoseBook()
    drive(book, 0.0, until_ms=50, other=0.7)
    one = person(book, is_there=False)
    truth = Truth(book, 'robot', disc(0.3), WorldBlock(), -1, False)
    truth.feel('stimulus_1')
    assert all('scan' not in states and 'touched' not in states
               for _, states in truth.new_states({one.name: one}))
    one.since_ns = 60 * MS
    drive(book, 0.0, since_ms=60, until_ms=80, other=0.7)
    first, *later = (states['scan'] for _, states in truth.new_states({one.name: one}))
    assert first['touching'] == 1.0 and later and not any('touching' in one for one in later)


def test_walls_are_told_as_our_own_world_does_while_they_are_near():
    """Without a distance, for nobody keeps one from walls; told once more when left behind."""
    wall, = scenery_of(WorldBlock(walls=(Wall(name='left', begin=(-9, 0.8), end=(2, 0.8)),)))
    wall.name, wall.since_ns = 'stimulus_1', 0
    place = wall.course.begin((0.0, 0.0, 0.0), 0)
    book = PoseBook()
    for at_ms in range(0, 101, 10):
        book.put('robot', at_ms * MS, (0.0, 0.0, 0.0) if at_ms < 60 else (99.0, 0.0, 0.0))
        book.put('stimulus_1', at_ms * MS, place)
    found = [states for _, states in told(book, wall, feels=True)]
    assert found[3]['wall:left'] == pytest.approx({
        'x': -3.5, 'y': 0.8, 'heading': 0.0, 'vx': 0.0, 'vy': 0.0, 'gap': 0.45, 'nearest': 0.45,
        'closing': 0.0, 'touching': 0.0, 'body': 0.0})
    assert found[5]['wall:left'] == {}
    assert all('wall:left' not in states for states in found[6:])


def test_who_is_not_confirmed_is_not_told():
    """A model that waits far away is not taken for a person there."""
    book = PoseBook()
    drive(book, 0.0, until_ms=50, other=500.0)
    assert all('scan' not in states for _, states in told(book, person(book, is_there=False)))


def test_a_telling_waits_for_the_pose_of_a_body_but_not_for_ever():
    """What a body is silent about is left out, which judging finds."""
    book = PoseBook()
    drive(book, 0.0, until_ms=20)
    book.put('robot', 30 * MS, (0.0, 0.0, 0.0))
    assert [stamp_ns for stamp_ns, _ in told(book, person(book))][-1] == 20 * MS
    drive(book, 0.0, since_ms=40, until_ms=300, other=None)
    stamp_ns, states = told(book, person(book))[-1]
    assert stamp_ns == 200 * MS and 'scan' not in states


@pytest.mark.parametrize('asked_ms', [55, 50])
def test_what_has_gone_is_told_so_from_then_on(asked_ms):
    """Not at a pose that was taken before, nor in the step after which it was asked to go."""
    book = PoseBook()
    drive(book, 0.0, until_ms=100)
    truth = Truth(book, 'robot', disc(0.3), WorldBlock(), -1, False)
    truth.leave(['scan'], asked_ms * MS)
    assert [stamp_ns // MS for stamp_ns, states in truth.new_states({})
            if 'scan' in states] == [60]


def test_a_world_that_begins_anew_is_another_one():
    """Its time goes back, and what was before is forgotten."""
    book = PoseBook()
    book.put('robot', 9_000 * MS, (1.0, 0.0, 0.0))
    book.put('robot', 10 * MS, (0.0, 0.0, 0.0))
    assert book.last('robot') == (10 * MS, (0.0, 0.0, 0.0))


def test_who_is_silent_while_others_tell_is_not_there():
    """That is how a removal is confirmed, and that a model never came."""
    book = PoseBook()
    drive(book, 0.0, until_ms=10)
    book.put('robot', 10 * MS + ALIVE_NS, (0.0, 0.0, 0.0))
    assert book.names() == ['robot']
    assert is_at((1.01, 2.0, 3.141), (1.0, 2.0, -3.141))
    assert not is_at((1.05, 2.0, 0.0), (1.0, 2.0, 0.0))


def test_the_distance_to_a_box_is_counted_to_its_face():
    """As its stimulus says it."""
    intent = ObstacleAt(distance=2.0, lateral=0.5, width=1.2, closing_speed=0.0, nearest=0.0)
    course = BodyPath(intent.bodies()[0], False)
    place = course.begin((1.0, 0.0, 0.0), 0)
    assert place == pytest.approx((3.2, 0.5, 0.0))
    assert course.distance(place, (1.0, 0.0, 0.0)) == pytest.approx(2.0)
