# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is true of an arm in another simulator, by what it tells; and the force at its tool."""

import math

from cases import for_each
import pytest
from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.ros.worlds.external.arm import refuse_other_robot
from safety_scenarios.ros.worlds.external.bodies import BodyPath, models_of
from safety_scenarios.ros.worlds.external.mover import (
    ArmBook,
    ArmTruth,
    joint_errors,
    Joints,
    LATE_NS,
    named,
    PoseBook,
    Pushing,
)
from safety_scenarios.ros.worlds.external.truth import TrackedBody, Truth
from safety_scenarios.scenario.world import WorldBlock, WorldSettings
from safety_scenarios.scenario.world_body import disc
from safety_scenarios.stimuli.bodies import PersonAt
from unit.records import hazard

MS = 1_000_000
LINKS = 'foot', 'elbow', 'tip'


def links(x: float) -> dict:
    """Return an arm that reaches to the left first, and then ahead."""
    return {'foot': (0.0, 0.0, 0.0), 'elbow': (0.0, 0.5, 1.0), 'tip': (x, 0.5, 1.0)}


def arm(*, moving: float = 0.0, until_ms: int = 200, names=('a', 'b')) -> tuple[ArmBook, ArmTruth]:
    """Return what an arm has told whose tip and second joint move."""
    book = ArmBook()
    for at_ms in range(0, until_ms + 1, 10):
        moved = moving * at_ms / 1000
        book.put_links(at_ms * MS, links(0.4 + moved))
        book.put_joints(Joints(at_ms * MS, ('a', 'b'), (0.0, moved), (0.0, moving)))
    return book, ArmTruth(book, named(names, ('a', 'b')), LINKS, 0.06)


def person(x: float, y: float) -> tuple[PoseBook, TrackedBody]:
    """Return a person who stands there, and the poses."""
    intent = PersonAt(distance=2.0, bearing=0.0, speed=0.0, nearest=0.5)
    one = TrackedBody('stimulus_1', models_of(intent, True)[0],
                      BodyPath(intent.bodies()[0], False),
                      {'human_pose'})
    one.course.begin((0.0, 0.0, 0.0), 0)
    one.since_ns = 0
    poses = PoseBook()
    for at_ms in range(0, 201, 10):
        poses.put('robot', at_ms * MS, (0.0, 0.0, 0.0))
        poses.put('stimulus_1', at_ms * MS, (x, y, 0.0))
    return poses, one


def states(poses: PoseBook, one: TrackedBody, truth: ArmTruth) -> dict:
    """Return what is told last."""
    told = Truth(poses, 'robot', disc(0.3), WorldBlock(), -1, True, truth)
    return list(told.new_states({one.name: one}))[-1][1]


@for_each(('where', 'gap'), [
    ((1.4, 0.5), 1.4 - 0.4 - 0.25 - 0.06), ((0.0, -1.0), 1.0 - 0.25 - 0.06),
    ((0.4, 0.0), 0.4 - 0.25 - 0.06)])
def test_the_gap_is_that_to_the_nearest_link(where, gap):
    """Not to the disc of a base, nor to a hull: beside the forearm there is room."""
    poses, one = person(*where)
    assert states(poses, one, arm()[1])['human_pose']['gap'] == pytest.approx(gap)


def test_tool_and_joints_are_told_by_the_names_of_the_scenario():
    """In order, where it calls them otherwise; speeds of the tool are differences."""
    poses, one = person(3.0, 0.0)
    told = states(poses, one, arm(moving=0.5, names=('joint_1', 'joint_2'))[1])
    robot = told['robot']
    assert (robot['tool.x'], robot['tool.z'], robot['tool.speed']) == pytest.approx(
        (0.5, 1.0, 0.5))
    assert (robot['joint.joint_2'], robot['velocity.joint_2']) == pytest.approx((0.1, 0.5))
    assert 'radius' not in robot


def test_the_work_of_an_arm_is_that_of_its_busiest_joint():
    """1 rad there and 1 rad back is a cycle; no way that a base would go."""
    poses, one = person(3.0, 0.0)
    told = Truth(poses, 'robot', disc(0.3), WorldBlock(), -1, True, arm(moving=10.0)[1])
    first, *_, last = [found['task'] for _, found in told.new_states({}) if 'task' in found]
    assert first == {'progress': 0.0} and last == {'progress': pytest.approx(0.49)}


def test_without_links_no_gap_is_claimed():
    """An arm whose links nobody knows could be anywhere."""
    poses, one = person(3.0, 0.0)
    with pytest.raises(MeasurementError, match='its links are no longer published'):
        states(poses, one, ArmTruth(ArmBook(), {}, LINKS, 0.06))


def test_what_was_told_long_ago_is_not_what_is():
    """Of joints and links, nor is what is told after a clock went back."""
    book, truth = arm()
    assert truth.outline(300 * MS) is None and truth.progress(300 * MS) is None
    book.put_joints(Joints(10_000 * MS, ('a', 'b'), (0.0, 0.0), (0.0, 0.0)))
    book.put_joints(Joints(4 * MS, ('a', 'b'), (1.0, 1.0), (0.0, 0.0)))
    assert book.joints.stamp_ns == 4 * MS and not book.links


@pytest.mark.parametrize('wanted', [('a', 'c'), ('x', 'y', 'z')])
def test_another_arm_is_refused(wanted):
    """One with some of the names, or with fewer joints."""
    with pytest.raises(InputError, match='ros.robot.joints'):
        named(wanted, ('a', 'b'))


def test_an_arm_is_at_its_start_only_at_rest_there():
    """Joints that the scenario does not name may be anywhere; an unknown speed is no rest."""
    told = Joints(0, ('a', 'b', 'c'), (1.0, 0.5, 9.0), (0.0, 0.3, 9.0))
    assert [*joint_errors(told, {'a': 1.01, 'b': 0.5}, 0.02)] == ['b at 0.50 rad instead of 0.50']
    silent = told._replace(velocities=(math.nan,) * 3)
    assert len([*joint_errors(silent, {'a': 1.0, 'b': 0.5}, 0.02)]) == 2


def pushed(*told: tuple[int, float], now_ms: int, force: float = 60.0) -> Pushing:
    """Return a force that was asked for at 0, with what a sensor has told since."""
    pushing = Pushing()
    pushing.ask('wrench', force, 0)
    pushing.check([(at_ms * MS, found) for at_ms, found in told], now_ms * MS)
    return pushing


def test_a_force_counts_when_the_sensor_says_so():
    """About as much as was asked for; a moving tool has inertia."""
    pushed((8, 5.0), (16, 60.0), now_ms=100)
    pushed((16, 49.0), now_ms=200)
    pushed(now_ms=200)
    assert not Pushing().withdraw('wrench')


@for_each(('told', 'now_ms', 'said'), [
    (((8, 0.0), (240, 0.0)), 260, '0.0 N at the flange 260 ms'),
    (((8, 0.0), (260, 60.0)), 260, '60.0 N'),
    ((), 260, 'nothing new'),
    (((8, 60.0), (16, 0.0)), 270, 'after it was right last'),
    (((8, 40.0),), 300, 'expected about 60 N')])
def test_a_force_that_is_not_there_costs_the_trial(told, now_ms, said):
    """Nothing pushes, it pushes too late, it ceases, or it is another one."""
    with pytest.raises(MeasurementError, match=said):
        pushed(*told, now_ms=now_ms)
    assert LATE_NS == 250 * MS


def test_two_forces_at_a_time_are_refused():
    """One sensor tells their sum; the same stimulus may push harder."""
    pushing = pushed((8, 60.0), now_ms=10)
    pushing.ask('wrench', 70.0, 20 * MS)
    with pytest.raises(InputError, match='one at a time'):
        pushing.ask('other', 5.0, 20 * MS)
    assert pushing.withdraw('wrench') and pushing.topic == ''


def test_a_base_is_not_judged_where_an_arm_stands():
    """Whose drives listen; where somebody executes what it commands it is none of that."""
    ros = hazard().body
    with pytest.raises(InputError, match='scene:=hall'):
        refuse_other_robot(ros, 'posture', lambda topic: topic == 'posture')
    refuse_other_robot(ros, 'posture', lambda topic: 1)
    refuse_other_robot(ros, 'posture', lambda topic: 0)


@for_each('text', ['', 'nan', '1 x', '1e9'])
def test_a_posture_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match='a number for each joint'):
        WorldSettings(home=text)


def test_everything_is_known_only_up_to_what_was_told_last_by_the_slowest():
    """Lock-step waits for joints and links; of an arm that is silent nothing is known."""
    book, _ = arm(until_ms=100)
    book.put_links(140 * MS, links(0.4))
    assert book.observed_until_ns == 100 * MS and ArmBook().observed_until_ns == 0
