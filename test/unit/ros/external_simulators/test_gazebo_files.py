# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The world, the bridge and the parameters that come along for Gazebo fit together."""

import math
from pathlib import Path
import shutil
import subprocess
from xml.etree import ElementTree

from cases import for_each
import pytest
from safety_scenarios.errors import SettingsError
from safety_scenarios.ros.launch_arguments import (
    EVAL,
    GAZEBO,
    is_driven,
    MORE,
    relayed,
    scene_files,
    server_command,
    world_name,
)
from safety_scenarios.ros.nodes.joint_drive_node import JointDriveSettings
from safety_scenarios.ros.worlds.external.stage import slots
from safety_scenarios.scenario.world import SLOTS, WorldSettings
import yaml

CONFIG = Path(__file__).parents[4] / 'config'
NAMES = (('ignition.msgs', 'gz.msgs'), ('ignition-gazebo-', 'gz-sim-'),
         ('ignition::gazebo::', 'gz::sim::'), ('ignition_frame_id', 'gz_frame_id'))


@for_each(('file', 'fortress'), [
    ('worlds/hall.sdf', 'worlds/hall_fortress.sdf'),
    ('worlds/cell.sdf', 'worlds/cell_fortress.sdf'),
    ('gz_bridge.yaml', 'gz_bridge_fortress.yaml'),
    ('gz_bridge_cell.yaml', 'gz_bridge_cell_fortress.yaml')])
def test_both_generations_differ_by_names_alone(file, fortress):
    """So that what is run in one says something of the other."""
    text = (CONFIG / fortress).read_text()
    for old, new in NAMES:
        text = text.replace(old, new)
    assert text == (CONFIG / file).read_text()


@pytest.mark.parametrize(('file', 'of_its_own'), [
    ('gz_bridge.yaml', {'cmd_vel', 'drive_enable'}),
    ('gz_bridge_cell.yaml', {'bridged/joint_states', 'wrench', 'push'})])
def test_the_bridge_carries_what_the_adapter_asks_for(file, of_its_own):
    """Each body's pose and touch, by the default names of the settings."""
    rows = yaml.safe_load((CONFIG / file).read_text())
    world = WorldSettings()
    assert {world.drive_enable, world.joints, world.push} >= \
        of_its_own - {'cmd_vel', 'wrench'}
    poses = {row['gz_topic_name'] for row in rows if row['ros_topic_name'] == world.poses}
    assert poses == {f'/model/{name}/pose' for name in ('robot', *slots())}
    topics = {row['ros_topic_name'] for row in rows}
    assert {f'{world.touched}/{name}' for name in slots()} < topics
    assert {world.contacts, '/clock', *of_its_own} < topics
    assert len(list(slots())) == SLOTS


def test_the_contact_sensor_is_where_the_bridge_listens():
    """Its topic is made of the names on the way to it."""
    root = ElementTree.parse(CONFIG / 'worlds' / 'hall.sdf').getroot()
    robot = root.find(".//model[@name='robot']")
    link, = [one for one in robot.findall('link')
             if one.find("sensor[@type='contact']") is not None]
    sensor = link.find("sensor[@type='contact']").get('name')
    rows = yaml.safe_load((CONFIG / 'gz_bridge.yaml').read_text())
    assert f'/world/hall/model/robot/link/{link.get("name")}/sensor/{sensor}/contact' in {
        row['gz_topic_name'] for row in rows}


def test_the_arm_of_the_cell_is_the_one_that_settings_and_drives_name():
    """Its joints in order, its links from the foot to the tip, a contact sensor on each."""
    robot = ElementTree.parse(CONFIG / 'worlds' / 'cell.sdf').getroot().find(
        ".//model[@name='robot']")
    rows = yaml.safe_load((CONFIG / 'gz_bridge_cell.yaml').read_text())
    topics = {row['gz_topic_name']: row['ros_topic_name'] for row in rows}
    driven = [plugin.findtext('joint_name') for plugin in robot.findall('plugin')
              if plugin.get('name').endswith('::JointController')]
    told = [one.text for plugin in robot.findall('plugin') for one in plugin.findall('joint_name')
            if plugin.get('name').endswith('::JointStatePublisher')]
    assert tuple(driven) == tuple(told) == JointDriveSettings().joints
    assert {name: topics[f'/model/robot/joint/{name}/cmd_vel'] for name in driven} == {
        name: f'speed/{name}' for name in driven}
    links = tuple(link.get('name') for link in robot.findall('link'))
    assert links == WorldSettings().links
    for link in links[:-1]:
        assert topics[f'/world/cell/model/robot/link/{link}/sensor/skin/contact'] == 'contacts'
    assert len(WorldSettings().home.split()) == len(driven)


def test_no_part_of_the_arm_is_outside_its_outline():
    """Each body is a cylinder about the line from its link to the next one, and no thicker."""
    robot = ElementTree.parse(CONFIG / 'worlds' / 'cell.sdf').getroot().find(
        ".//model[@name='robot']")
    links = robot.findall('link')
    origins = [[*map(float, link.findtext('pose').split())][:3] for link in links]
    for link, begin, end in zip(links, origins, origins[1:], strict=False):
        body = link.find('collision')
        place = [*map(float, body.findtext('pose').split())]
        cylinder = body.find('geometry/cylinder')
        assert float(cylinder.findtext('radius')) <= WorldSettings().thickness
        middle = [at + of for at, of in zip(begin, place[:3], strict=True)]
        assert middle == pytest.approx([(one + other) / 2 for one, other in zip(
            begin, end, strict=True)], abs=0.006)
        assert float(cylinder.findtext('length')) <= math.dist(begin, end) + 1e-9


@pytest.mark.parametrize(('scene', 'carried', 'is_driven_by_us'), [
    ('hall', ['bridged/scan:=scan', 'bridged/odom:=odom'], False), ('cell', [], True)])
def test_a_scene_comes_with_what_it_needs(scene, carried, is_driven_by_us):
    """World and bridge of each generation, a relay for the lidar, drives for the joints."""
    for plugins in ('gz', 'ignition'):
        assert all(path.is_file() for path in scene_files(CONFIG, scene, plugins))
    assert relayed('auto', scene) == carried and relayed('a:=b c:=d', scene) == ['a:=b', 'c:=d']
    assert relayed('', scene) == []
    assert is_driven('auto', scene, '') is is_driven_by_us
    assert not is_driven('auto', scene, 'my.sdf') and not is_driven('false', scene, '')
    assert is_driven('true', scene, 'my.sdf')


@pytest.mark.parametrize('file', ['hall.sdf', 'hall_fortress.sdf', 'cell.sdf',
                                  'cell_fortress.sdf'])
def test_libsdformat_takes_the_world(file):
    """The library that Gazebo reads it with."""
    ign = shutil.which('gz') or shutil.which('ign')
    if ign is None:
        pytest.skip('neither gz nor ign is installed, which check SDF by libsdformat')
    done = subprocess.run([ign, 'sdf', '-k', CONFIG / 'worlds' / file], text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if 'Valid' not in done.stdout and 'Error' not in done.stdout:
        pytest.skip(f'{ign} cannot check SDF here: {done.stdout:.200}')
    assert 'Valid' in done.stdout, done.stdout


@for_each('text', ['disc', 'box 1', 'disc -1', 'disc nan', 'ball 1', 'box 1 2 3',
                   'disc 100'])
def test_a_footprint_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match='disc RADIUS'):
        WorldSettings(footprint=text)


def test_the_launch_file_has_the_arguments_of_the_evaluator_and_its_own():
    """In a world that runs already, by its time."""
    assert set(GAZEBO.names) == {*EVAL.names, *(one['name'] for one in MORE)} - {
        'link', 'world', 'real_time_factor'}
    assert GAZEBO.given({}) == {'world.kind': 'external', 'use_sim_time': 'true'}


@pytest.mark.parametrize('plugins', ['gz', 'ignition'])
def test_a_server_needs_no_display_unless_a_window_is_asked_for(plugins, monkeypatch):
    """By the command of its generation; without that nothing is started."""
    world = CONFIG / 'worlds' / 'hall.sdf'
    assert world_name(world) == 'hall'
    monkeypatch.setattr(shutil, 'which', lambda name: f'/usr/bin/{name}')
    assert {'-s', '--headless-rendering'} < set(server_command(plugins, world, window=False))
    assert '-s' not in server_command(plugins, world, window=True)
    monkeypatch.setattr(shutil, 'which', lambda name: None)
    with pytest.raises(SettingsError, match='world.plugins.*server:=false'):
        server_command(plugins, world, window=False)


def test_a_world_file_that_is_none_is_refused(tmp_path):
    """Missing, no XML, or a model."""
    for name, text in (('a', None), ('b', 'no XML'), ('c', '<sdf><model name="m"/></sdf>')):
        if text is not None:
            (tmp_path / name).write_text(text)
        with pytest.raises(SettingsError, match='world_file'):
            world_name(tmp_path / name)
