# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A robot as data: what its file must say, whose models are taken, and what is refused."""

import math
import os
from pathlib import Path
import re
import subprocess
import sys
from tempfile import TemporaryDirectory

from cases import for_each
import pytest
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.formats.companion_files import read_robot
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.scenario import Origin
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.stimuli.bodies import PersonAt
from safety_scenarios.worlds.mujoco.robots import chassis_of, installed_robots, robot_of
from safety_scenarios.worlds.mujoco.world import World
from unit.worlds.driven import Drive, drive, PERSON_STEPS_NEAR, scenario, twist

BASE = """joints: planar
driver: {kind: diff_drive}
limits: {max_speed: 1.0, acceleration: 1.0, deceleration: 1.0}
footprint: {radius: 0.4}
"""
HULL = '<geom name="hull" size="0.3 0.2 0.1" type="box" pos="0 0 0.2" mass="30"/>'
MENAGERIE = """<mujoco model="like_menagerie">
  <compiler meshdir="assets" angle="radian"/>
  <include file="common.xml"/>
  <worldbody>
    <light pos="0 0 3"/>
    <body name="base_link" pos="0 0 0.05">
      <freejoint/>
      <geom type="mesh" mesh="hull" contype="0" conaffinity="0" group="2" mass="0"
            material="grey"/>
      <geom type="mesh" mesh="hull" group="3" mass="25"/>
      <body name="wheel" pos="0 0.2 0"><joint name="wheel_joint" axis="0 1 0"/>
        <geom type="cylinder" size="0.05 0.02" euler="1.57 0 0" mass="1"/></body>
      <body name="robot" pos="0 0 0.3"><joint name="mast_joint" axis="0 0 1"/>
        <geom type="box" size="0.05 0.05 0.3" mass="2"/></body>
    </body>
  </worldbody>
  <actuator><velocity name="drive" joint="wheel_joint"/></actuator>
  <sensor><jointpos joint="wheel_joint"/></sensor>
  <keyframe><key name="home" qpos="0 0 0.05 1 0 0 0 0.1 0.2"/></keyframe>
</mujoco>"""
COMMON = ('<mujoco><asset><mesh name="hull" file="hull.obj"/><material name="grey"/></asset>'
          '</mujoco>')
URDF = """<robot name="cart"><link name="base_link">
  <inertial><origin xyz="0 0 0.1"/><mass value="12"/>
    <inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 0.15"/><geometry><box size="0.5 0.4 0.2"/></geometry></collision>
</link><link name="wheel"><inertial><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="wheel_joint" type="continuous"><parent link="base_link"/><child link="wheel"/>
  <origin xyz="0 0.2 0.1"/><axis xyz="0 1 0"/></joint></robot>"""


def cube(half: float) -> str:
    corners = [(x, y, z) for x in (-half, half) for y in (-half, half) for z in (-half, half)]
    faces = ((1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4))
    return ''.join(f'v {x} {y} {z}\n' for x, y, z in corners) + ''.join(
        f'f {" ".join(map(str, face))}\n' for face in faces)


def beside(folder: Path, model: str, text: str, robot: str = './robot.yaml', **files: str):
    """Write a robot beside a scenario file; return that scenario, which asks for it."""
    (folder / 'robot.yaml').write_text(text)
    if model:
        (folder / model).write_text(files.pop('content'))
    found = scenario({'robot': robot})
    return found.model_copy(update={'origin': Origin(path=str(folder / 'a.yaml'), sha256='')})


def test_three_robots_come_along_and_each_drives():
    assert {'small_ackermann', 'small_diff_drive', 'small_omni'} <= set(installed_robots())
    for name, path in installed_robots().items():
        found = read_robot(path)
        if found.file.is_base:
            told = drive({'robot': name}).on(twist(0.5), 2.0)
            assert told['robot']['x'] > 0.5
            assert told['robot']['radius'] == found.file.footprint.reach


def test_a_model_like_those_of_menagerie_is_taken_as_it_is(tmp_path):
    (tmp_path / 'assets').mkdir()
    (tmp_path / 'assets' / 'hull.obj').write_text(cube(0.3))
    (tmp_path / 'common.xml').write_text(COMMON)
    asked = beside(tmp_path, 'robot.xml', f'model: robot.xml\nbase: base_link\n{BASE}',
                   content=MENAGERIE)
    moved = Drive(World(asked, 0))
    assert moved.world._base.mass == pytest.approx(28.0)
    assert moved.on(twist(0.5), 2.0)['robot']['x'] > 0.5
    assert moved.world.apply('scan', PersonAt(distance=2.05, bearing=0.0, speed=0.0,
                                              nearest=0.5), True)
    told = moved.world.states()
    assert told['scan']['gap'] == pytest.approx(2.05 - 0.3 - 0.25, abs=2e-3)


def test_a_urdf_is_taken_as_it_is(tmp_path):
    asked = beside(tmp_path, 'cart.urdf', f'model: cart.urdf\nbase: base_link\nmass: 26\n{BASE}',
                   content=URDF)
    moved = Drive(World(asked, 0))
    assert moved.world._base.mass == pytest.approx(26.0)
    assert moved.on(twist(0.5), 2.0)['robot']['x'] > 0.5


def test_a_robot_whose_centre_of_mass_is_off_its_origin_still_drives_its_arc(tmp_path):
    hull = HULL.replace('pos="0 0 0.2"', 'pos="0.25 0.1 0.2"')
    asked = beside(tmp_path, 'a.xml', f'model: a.xml\nbase: base_link\n{BASE}', content=(
        f'<mujoco><worldbody><body name="base_link">{hull}</body></worldbody></mujoco>'))
    moved = Drive(World(asked, 0))
    told = moved.on(twist(0.6, turn=0.4), 4.0)
    assert told['robot']['vx'] == pytest.approx(0.6, abs=1e-3)
    assert told['robot']['vy'] == pytest.approx(0.0, abs=5e-3)
    assert told['robot']['wz'] == pytest.approx(0.4, abs=1e-3)


@pytest.mark.parametrize(('text', 'content', 'words'), [
    ('model: a.xml\nbase: b\n', '', r'robot.yaml:1:1: joints: missing. Add it'),
    ('model: a.xml\nbase: b\njoints: []\n', '', r':3:9: joints: got no joint, expected their'),
    ('model: a.xml\nbase: b\njoints: planar\n', '', r'without driver, limits, footprint'),
    (f'model: a.xml\nbase: b\nweight: 3\n{BASE}', '', r':3:1: weight: unknown key'),
    (f'model: b.xml\nbase: b\n{BASE}', '', r'robot.yaml:1:8: model: got b.xml, where no file is'),
    (f'model: a.xml\nbase: b\n{BASE}', '<mujoco><worldbody></mujoco>',
     r':1:8: model: .*a.xml: MuJoCo does not take it'),
    (f'model: a.xml\nbase: bas\n{BASE}',
     f'<mujoco><worldbody><body name="base">{HULL}</body></worldbody></mujoco>',
     r":2:7: base: got 'bas'.* Did you mean 'base'\?"),
    (f'model: a.xml\nbase: base\n{BASE}', '<mujoco><worldbody><body name="base"><geom size=".1" '
     'contype="0" conaffinity="0"/></body></worldbody></mujoco>', 'no geometry that touches'),
    (f'model: a.xml\nbase: base\n{BASE}', '<mujoco><worldbody><body name="base"><geom size=".1" '
     'mass="0"/></body></worldbody></mujoco>', 'MuJoCo does not take this scene: .*mass'),
    ('model: a.xml\nbase: base\njoints: [shoulder]\n', '', ':3:9: joints: got an arm, expected')])
def test_a_wrong_robot_file_says_where_and_what(tmp_path, text, content, words):
    asked = beside(tmp_path, 'a.xml', text, content=content)
    with pytest.raises(InputError, match=words):
        World(asked, 0)


def test_an_unknown_name_of_a_robot_is_told_with_the_nearest_one():
    with pytest.raises(InputError, match=r"ros.world.robot: got 'small_omi', .*'small_omni'\?"):
        robot_of(scenario({'robot': 'small_omi'}))


@for_each(('robot', 'words'), [
    ('./nowhere.yaml', r"ros.world.robot: got './nowhere.yaml', where no file is"),
    ('./', 'where no file is'), ('small_omi', r"'small_omni'\?"),
    ('arm6', 'joints: got an arm, expected a base'), ('./robot.yaml', 'got b.xml, where no file')])
def test_a_wrong_robot_is_refused_before_any_trial(robot, words):
    with TemporaryDirectory() as folder:
        asked = beside(Path(folder), '', f'model: b.xml\nbase: b\n{BASE}', robot=robot)
        for settings in ({'link': 'simulated'}, {'link': 'ros', 'world': {'kind': 'mujoco'}}):
            with pytest.raises(InputError, match=words):
                refuse_unrunnable([asked], RunSettings.model_validate(settings))
        refuse_unrunnable([asked], RunSettings(link='loopback'))  # where nothing needs a robot


@for_each(('world', 'words'), [
    ({'walls': [{'name': 'a', 'begin': [-1, 0.1], 'end': [1, 0.1]}]}, 'robot and wall:a 0.25 m'),
    ({'boxes': [{'name': 'a', 'at': [0, 0], 'size': [3, 3, 3]}]}, 'robot and box:a'),
    ({'boxes': [{'name': 'a', 'at': [8, 0], 'size': [1, 1, 1], 'mass': 9},
                {'name': 'b', 'at': [8.3, 0], 'size': [1, 1, 1]}]}, 'box:a and box:b 0.70 m')])
def test_what_begins_inside_of_something_else_is_refused(world, words):
    with pytest.raises(InputError, match=words):
        World(scenario(world), 0)


@for_each('world', [
    {'walls': [{'name': 'a', 'begin': [1, 1], 'end': [1, 1]}]},
    {'walls': [{'name': 'a', 'begin': [1, 1], 'end': [1, 2]}] * 2},
    {'walls': [{'name': f'a{place}', 'begin': [1, 1], 'end': [1, 2]} for place in range(10_000)]},
    {'boxes': [{'name': 'a', 'at': [5, 5], 'size': [1e9, 1.0, 1.0]}]},
    {'boxes': [{'name': 'a', 'at': [5, 5], 'size': [0.0, 1.0, 1.0]}]},
    {'boxes': [{'name': 'a', 'at': [math.nan, 5], 'size': [1.0, 1.0, 1.0]}]},
    {'start': {'x': 1e9}}])
def test_absurd_scenes_are_refused_by_the_file(world):
    with pytest.raises(ValueError, match='ros.world|WorldBlock'):
        scenario(world)


def test_somebody_who_appears_inside_the_robot_is_an_error_with_topic_and_gap():
    asked = scenario({})
    near = tuple(one.model_copy(update={'distance': 0.4}) for one in asked.body.stimuli)
    world = World(scenario({}, stimuli=near), 0)
    with pytest.raises(MeasurementError, match=r'appears on scan 0.15 m inside the robot'):
        world.apply('scan', near[0].intent(StimulusContext('', (), None)), hazard=True)


@for_each('value', [math.nan, math.inf, -math.inf, 1e300])
def test_a_command_that_is_no_speed_leaves_a_world_with_numbers_in_it(value):
    moved = drive({'robot': 'small_diff_drive'})
    moved.on(twist(0.5), 2.0)
    told = moved.on(twist(value), 1.0)
    assert all(math.isfinite(number) for truth in told.values() for number in truth.values())
    assert math.hypot(told['robot']['vx'], told['robot']['vy']) <= 1.5 + 1e-6


def test_a_command_of_another_type_moves_nothing():
    moved = drive({})
    told = moved.on(Message(type='std_msgs/msg/String', data={'data': 'go'}), 1.0)
    assert told['robot']['x'] == 0.0


def test_physics_without_a_solution_ends_the_trial_and_leaves_no_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    moved = drive({'robot': 'small_diff_drive'})
    moved.world._data.qvel[:] = 1e12
    with pytest.raises(MeasurementError, match='got physics without a solution'):
        moved.on(twist(0.5), 1.0)
    assert list(tmp_path.iterdir()) == []


def test_without_mujoco_the_link_says_what_to_install(tmp_path):
    (tmp_path / 'mujoco.py').write_text('raise ModuleNotFoundError("No module named mujoco")')
    done = subprocess.run(
        [sys.executable, '-c', 'import sys; from safety_scenarios.cli.main import main; '
         'sys.exit(main())', 'run', str(PERSON_STEPS_NEAR),
         '--link', 'simulated', '--output', str(tmp_path / 'out')], capture_output=True,
        text=True, env={**os.environ, 'PYTHONPATH': os.pathsep.join(
            [str(tmp_path), *filter(None, sys.path)])}, timeout=60)
    assert done.returncode == 2
    assert re.search(r'the embedded world needs mujoco.*safety_scenarios\[sim\]', done.stderr)


def test_a_plain_base_is_as_the_scenario_declares_it():
    asked = scenario({})
    plain = chassis_of(asked, asked.body.robot, asked.body.world)
    assert (plain.radius, plain.limits.deceleration) == (0.3, 1.0)


@pytest.mark.parametrize(('world', 'delay_s', 'expected_ms'), [
    ({}, None, 30.0), ({}, 0.25, 250.0), ({}, 0.0, 30.0),
    ({'robot': 'small_diff_drive'}, None, 30.0), ({'robot': 'small_diff_drive'}, 0.25, 250.0)])
def test_a_declared_delay_of_the_brakes_is_never_shortened_by_the_world(
        world, delay_s, expected_ms):
    asked = scenario(world)
    robot = asked.body.robot.model_copy(update={'brake_delay': delay_s})
    assert chassis_of(asked, robot, asked.body.world).limits.delay_ms == expected_ms
