# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An arm in the embedded world, held to known answers."""

import json
import math

from cases import for_each
import mujoco
import numpy
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.from_python import run
from safety_scenarios.judging.drivers.joint_trajectory import CANCEL
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import ContactForce, JointsAt, StimulusContext
from safety_scenarios.worlds.mujoco.scene import BODY_N_M
from safety_scenarios.worlds.mujoco.world import World
from unit.worlds.arms import arm, JOINTS, scenario, shipped, speeds, swing, trajectory

DELAY_S = 0.02
"""Of the arm that comes along, from the set-point to the first torque."""


def home(moved):
    return [moved.world.states()['robot'][f'joint.{name}'] for name in JOINTS]


def stop(moved, what):
    """Stop joint one; return how long and how far it braked from when its speed first fell."""
    before = len(moved.told)
    moved.command(what)
    moved.on(1.0)
    way, speed = moved.joint(JOINTS[0])[before:], moved.joint(JOINTS[0], 'velocity')[before:]
    top = speed[0][1]
    begun = max(place for place, (_, now) in enumerate(speed) if now > top - 1e-6)
    ended = min(place for place, (_, now) in enumerate(speed) if abs(now) < 1e-3)
    return speed[ended][0] - speed[begun][0], way[-1][1] - way[begun][1]


@pytest.mark.parametrize('top', [1.0, 0.5])
def test_it_stops_in_the_declared_time_and_distance(top):
    moved = arm()
    moved.command(speeds(top, 0, 0, 0, 0, 0))
    moved.on(1.0)
    assert moved.joint(JOINTS[0], 'velocity')[-1][1] == pytest.approx(top, abs=1e-3)
    seconds, way = stop(moved, speeds(0, 0, 0, 0, 0, 0))
    assert seconds == pytest.approx(0.3 * top, rel=0.02, abs=0.0075)  # told each 5 ms
    assert way == pytest.approx(0.15 * top**2, rel=0.02)


def test_a_goal_that_ends_at_once_is_stopped_no_harder_than_declared():
    moved = arm(driver='joint_trajectory')
    there = home(moved)
    moved.command(trajectory([(4.0, [one + 4.0 * (place == 0) for place, one
                                     in enumerate(there)], [0.0] * 6)]))
    moved.on(2.0)
    top = moved.joint(JOINTS[0], 'velocity')[-1][1]
    seconds, way = stop(moved, Message(type=CANCEL, data={}))
    assert top > 0.9
    assert way == pytest.approx(top**2 / 2 / (1.0 / 0.3), rel=0.06)
    assert seconds == pytest.approx(top * 0.3, rel=0.05)


def test_it_follows_a_trajectory():
    moved = arm(driver='joint_trajectory')
    start = home(moved)
    moved.command(trajectory(swing(6.0, 2.0, 0.8, start)))
    moved.on(6.5)
    rate = math.pi
    off = [place - start[0] - 0.4 * (1 - math.cos(rate * min(6.0, at - DELAY_S)))
           for at, place in moved.joint(JOINTS[0]) if at > 0.1]
    assert max(map(abs, off)) < 0.005


def test_gravity_does_not_move_an_arm_that_stands():
    for world in ({}, {'payload': 5.0}):
        moved = arm(world=world)
        start = home(moved)
        moved.world.advance(10_000_000_000)
        assert home(moved) == pytest.approx(start, abs=1e-3)


def test_a_load_makes_it_stop_later():
    ways = []
    for load in (0.0, 10.0):
        moved = arm(world={'payload': load})
        moved.command(speeds(1.0, 0, 0, 0, 0, 0))
        moved.on(1.5)
        ways.append(stop(moved, speeds(*[0.0] * 6))[1])
    assert ways[1] > 1.2 * ways[0]


def wiping():
    return World(shipped('collision'), 0)


def force_of(world):
    [shown] = [one.message for one in world.sensed(world.now_ns)
               if one.name == 'wrench' and one.message is not None][-1:]
    return shown.at('wrench.force')


@pytest.mark.parametrize('moves', [0.0, 0.3])
def test_a_push_is_what_the_wrist_sensor_shows(moves):
    world = wiping()
    world.command('commands', speeds(*[moves] * 6), 0, 10**18)
    world.advance(1_000_000_000)
    assert math.hypot(*force_of(world).values()) < 0.5  # its own weight is taken off
    assert world.apply('wrench', ContactForce(force=60.0, frame='tool0'), hazard=True)
    world.advance(1_200_000_000)
    assert force_of(world)['x'] == pytest.approx(60.0, rel=0.02)
    assert world.states()['wrench']['force'] == 60.0
    world.withdraw('wrench')
    world.advance(1_400_000_000)
    assert math.hypot(*force_of(world).values()) < 0.5


def test_the_force_against_a_wall_is_no_more_than_its_drives_have():
    moved = arm(world={'walls': [{'name': 'end', 'begin': [-2, 0.6], 'end': [2, 0.6]}]})
    moved.command(speeds(0.5, 0, 0, 0, 0, 0))
    told = moved.on(3.0)
    lever = math.hypot(told['robot']['tool.x'], told['robot']['tool.y'])
    force = told['wall:end']['force']
    assert told['wall:end']['touching'] == 1.0
    assert abs(told['robot']['velocity.shoulder_pan']) < 1e-3
    assert 0.5 * 160.0 / lever < force < 2.0 * 160.0 / 0.3


def meets_a_person(speed, world=None, feet=True, seconds=3.0):
    """Swing an arm about its column into somebody; return it, the person's body and the mass."""
    [person] = scenario().body.stimuli
    person = person.model_copy(update={'distance': 0.66, 'bearing': 2.6, 'speed': 0.0,
                                       'nearest': 0.3})
    moved = arm(stimuli=(person,), world=world or {})
    shown = moved.world
    moved.command(speeds(speed, 0, 0, 0, 0, 0))
    moved.on(0.5)
    assert shown.apply('human_pose', person.intent(StimulusContext('', (), None)), hazard=True)
    [body] = (entity for entity in shown._entities if entity.topics)
    if not feet:  # as on ice: nothing but the arm moves the person
        body.move = lambda robot, step_s: None
    moved.on(seconds)
    return moved, [(before['robot'], told['human_pose']) for (_, before), (_, told)
                   in zip(moved.told, moved.told[1:], strict=False) if 'human_pose' in told]


def first_touch(met):
    begun = next(place for place, (_, body) in enumerate(met) if body['touching'])
    ended = next(place for place in range(begun, len(met)) if not met[place][1]['touching'])
    return met[begun:ended + 1]


@pytest.mark.parametrize('speed', [1.0, 0.5])
def test_a_person_takes_the_impulse_that_is_told(speed):
    _, met = meets_a_person(speed, feet=False)
    touch = first_touch(met)
    moves = math.hypot(touch[-1][1]['vx'], touch[-1][1]['vy'])
    assert 75.0 * moves == pytest.approx(touch[-2][1]['impulse'], rel=0.02)


@pytest.mark.parametrize('speed', [1.0, 0.5])
def test_the_peak_force_on_a_person_is_that_of_masses_and_spring_and_drives(speed):
    moved, met = meets_a_person(speed)
    touch = first_touch(met)
    robot = touch[0][0]
    model, data = moved.world._model, moved.world._data
    inertia = numpy.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    joint = int(model.joint('robot/joint_1').dofadr[0])
    lever = math.hypot(robot['tool.x'], robot['tool.y'])
    weighs, least = inertia[joint, joint] / lever**2, moved.world._base.mass
    mass = 1 / (1 / weighs + 1 / 75.0)
    by_spring = speed * lever * math.sqrt(mass * BODY_N_M)
    peak = max(body.get('force', 0.0) for _, body in touch)
    assert by_spring < peak < 1.25 * (by_spring * math.sqrt(weighs / least) + 160.0 / lever)


def test_who_is_clamped_against_a_wall_feels_what_the_drives_have():
    moved, met = meets_a_person(0.5, seconds=5.0, world={'walls': [
        {'name': 'behind', 'begin': [-2, 0], 'end': [-0.5, 0]},
        {'name': 'beside', 'begin': [-0.9, -1], 'end': [-0.9, 1]}]})
    last = [body for _, body in met[-100:]]
    lever = math.hypot(met[-1][0]['tool.x'], met[-1][0]['tool.y'])
    assert all(body['touching'] for body in last)
    pan = [robot['joint.shoulder_pan'] for robot, _ in met[-100:]]
    assert max(pan) - min(pan) < 0.01
    assert min(body['force'] for body in last) > 0.7 * 160.0 / lever
    assert max(body['force'] for body in last) < 2.0 * 160.0 / lever


@pytest.mark.parametrize(('name', 'controller', 'verdict'), [
    ('person_near_arm', 'rule_based', 'PASS'), ('person_near_arm', 'never_stop', 'FAIL'),
    ('collision', 'rule_based', 'PASS'), ('collision', 'never_stop', 'FAIL'),
    ('person_passes_arm', 'rule_based', 'PASS'), ('person_passes_arm', 'always_stop', 'FAIL'),
    ('contact_within_bound', 'rule_based', 'PASS'),
    ('contact_within_bound', 'always_stop', 'FAIL')])
def test_a_controller_is_told_from_another_with_the_loop_closed(name, controller, verdict):
    [result] = run(shipped(name), controller=controller, trials=1, link='simulated').trials
    assert result.verdict.name == verdict


def test_the_same_trial_is_the_same_to_the_byte():
    texts = []
    for _ in range(2):
        moved = arm()
        moved.command(speeds(0.3, -0.2, 0.2, 0.1, 0.4, -0.3))
        moved.on(2.0)
        texts.append(json.dumps([told for _, told in moved.told]))
    assert texts[0] == texts[1]


def test_work_is_counted_and_a_stop_shows():
    moved = arm()
    moved.on(1.0)
    moved.command(speeds(0.5, 0.1, 0, 0, 0, 0))
    moved.on(2.1)
    told = [truth['task']['progress'] for _, truth in moved.told if 'task' in truth]
    assert told[5] == 0.0 and told[-1] == pytest.approx(0.5, abs=0.06)
    moved.command(speeds(*[0.0] * 6))
    moved.on(0.5)
    still = moved.world._arm.cycles()
    moved.on(2.0)
    assert moved.world._arm.cycles() == pytest.approx(still, abs=1e-9)


def test_joints_are_where_they_are_shown_until_they_are_commanded():
    moved = arm()
    world = moved.world
    shown = (0.3, -2.0, 2.0, -0.1, 1.0, 0.2)
    assert world.apply('joint_states', JointsAt(names=JOINTS, positions=shown), hazard=False)
    assert home(moved) == pytest.approx(list(shown))
    [state] = [one for one in world.sensed(0) if one.name == 'joint_states']
    assert state.is_report and state.message.at('position') == pytest.approx(shown)
    moved.command(speeds(0.5, 0, 0, 0, 0, 0))
    moved.on(1.0)
    there = home(moved)
    assert world.apply('joint_states', JointsAt(names=JOINTS, positions=shown), hazard=False)
    assert home(moved) == pytest.approx(there)
    assert not world.apply('joint_states', JointsAt(names=JOINTS, positions=shown), hazard=True)


@pytest.mark.parametrize('driver', ['joint_velocity', 'forward_command'])
def test_numbers_that_are_none_change_nothing(driver):
    moved = arm(driver=driver)
    moved.command(speeds(0.2, 0, 0, 0, 0, 0))
    moved.on(0.5)
    moved.command(speeds(*[math.nan] * 6))
    told = moved.on(0.5)['robot']
    assert told['velocity.shoulder_pan'] == pytest.approx(0.2, abs=1e-3)
    assert all(map(math.isfinite, told.values()))


def test_beyond_its_range_a_stop_holds_the_joint():
    moved = arm(driver='joint_trajectory')
    start = home(moved)
    moved.command(trajectory([(5.0, [9.0, *start[1:]], [0.0] * 6)]))
    told = moved.on(7.0)['robot']
    assert told['joint.shoulder_pan'] == pytest.approx(6.28, abs=0.05)
    assert abs(told['velocity.shoulder_pan']) < 0.01
    moved.command(trajectory([(5.0, start, [0.0] * 6)]))
    assert moved.on(7.0)['robot']['joint.shoulder_pan'] == pytest.approx(start[0], abs=0.005)


def test_fewer_joints_are_the_first_ones_and_the_others_stay():
    names = ('one', 'two')
    moved = arm(joints=names, nominal=scenario().body.nominal.model_copy(update={'stimuli': ()}))
    moved.command(speeds(0.2, 0.1))
    told = moved.on(1.0)['robot']
    assert [name for name in told if name.startswith('joint.')] == ['joint.one', 'joint.two']
    assert told['velocity.one'] == pytest.approx(0.2, abs=1e-3)


def shows(**data):
    """Return the nominal phase with other joint states."""
    nominal = scenario().body.nominal
    person, joints = nominal.stimuli
    return nominal.model_copy(update={'stimuli': (
        person, joints.model_copy(update={'data': {**joints.data, **data}}))})


@for_each(('changed', 'says'), [
    ({'joints': [*JOINTS, 'seventh']}, 'expected at least the 7 of ros.robot.joints'),
    ({'joints': ['joint_1', 'elbow']}, 'where ros.robot.joints names elbow too'),
    ({'world': {'robot': 'small_omni'}}, 'got a base that drives'),
    ({'nominal': shows(name=(*JOINTS[:5], 'gripper'))}, 'got the joint gripper'),
    ({'nominal': shows(position=(0.0, 9.0, 0.0, 0.0, 0.0, 0.0))}, 'got 9 of shoulder_lift'),
    ({'nominal': shows(position=(0.0, -1.2, 1.4, 1.15, 2.9, 0.0))}, 'touches'),
    ({'world': {'robot': 'arm7'}}, 'expected one of arm6'),
    ({'world': {'walls': [{'name': 'near', 'begin': [-1, 0.3], 'end': [1, 0.3]}]}},
     'touches wall:near')])
def test_what_cannot_be_is_refused_with_a_reason(changed, says):
    with pytest.raises(InputError) as refused:
        arm(**changed)
    assert says in str(refused.value)


CHAIN = ('<mujoco><worldbody><body name="b">{free}<geom size=".05"/><body pos="0 0 .2">'
         '<joint {name} axis="0 1 0" range="-2 2"/><geom size=".03"/></body></body></worldbody>'
         '</mujoco>')


@pytest.mark.parametrize(('free', 'name', 'says'), [
    ('', '', 'got a joint without a name (hinge)'),
    ('<freejoint/>', 'name="j1"', 'got a joint without a name (ball or free joint)'),
    ('', 'name="j2"', "got 'j1', which its model does not have"),
    ('<', 'name="j1"', 'MuJoCo does not take it')])
def test_a_robot_file_that_is_no_arm_is_refused_with_its_place(tmp_path, free, name, says):
    (tmp_path / 'own.xml').write_text(CHAIN.format(free=free, name=name), encoding='utf-8')
    own = tmp_path / 'own.yaml'
    own.write_text('model: own.xml\nbase: b\njoints: [j1]\n', encoding='utf-8')
    nominal = scenario().body.nominal.model_copy(update={'stimuli': ()})
    with pytest.raises(InputError) as refused:
        arm(joints=['only'], nominal=nominal, world={'robot': str(own)})
    assert str(refused.value).startswith(f'{own}:') and says in str(refused.value)


def test_an_arm_of_the_user_moves_by_the_names_of_the_scenario(tmp_path):
    (tmp_path / 'own.xml').write_text(CHAIN.format(free='', name='name="j1"'), encoding='utf-8')
    own = tmp_path / 'own.yaml'
    own.write_text('model: own.xml\nbase: b\njoints: [j1]\nfoot: 0.5\n', encoding='utf-8')
    nominal = scenario().body.nominal.model_copy(update={'stimuli': ()})
    moved = arm(joints=['only'], nominal=nominal, world={'robot': str(own)})
    moved.command(speeds(0.4))
    told = moved.on(1.0)['robot']
    assert told['velocity.only'] == pytest.approx(0.4, abs=1e-3)
    assert told['tool.z'] == pytest.approx(0.7, abs=1e-6)
