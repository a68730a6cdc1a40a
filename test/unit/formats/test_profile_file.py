# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Profile files: what ships is right, and each slip in one is refused with how to fix it."""


import jsonschema
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.formats.profile_file import (
    load_profile,
    profile_names,
    profile_path,
    profile_schema,
    sources_of,
    with_profile,
)
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.on_robot import fit
import yaml

BASE = """\
robot: {name: mine, kind: mobile_base, max_speed: 0.5}
topics:
  scan: {topic: /tb4/scan, type: sensor_msgs/msg/LaserScan, qos: {reliability: best_effort}}
  cmd_vel: /tb4/cmd_vel
absent: [human_pose]
driver: {kind: diff_drive, timeout_s: 0.5}
"""

SLIPS = {
    'a misspelt key': (('absent:', 'abscent:'), '5:1', "Did you mean 'absent'?"),
    'a misspelt field of a topic': (
        ('type: sensor', 'tpye: sensor'), '3:28', "Did you mean 'type'?"),
    'a misspelt kind': (('mobile_base', 'mobile_bas'), '1:27', "Did you mean 'mobile_base'?"),
    'a misspelt driver': (('diff_drive', 'diffdrive'), '6:16', "Did you mean 'diff_drive'?"),
    'a mapping in place of the kind of a driver': (
        ('kind: diff_drive', 'kind: {}'), '6:16', 'expected the kind of a driver'),
    'a misspelt parameter of the driver': (
        ('timeout_s', 'timeout_ms'), '6:28', "Did you mean 'timeout_s'?"),
    'a frame that is turned in degrees': (
        ('absent:', 'frames: {laser: {rotation: [0, 0, 180]}}\nabsent:'), '5:35',
        'In degrees? Then write 3.142'),
    'a frame in millimetres': (
        ('absent:', 'frames: {laser: {translation: [250, 0, 0]}}\nabsent:'), '5:32',
        'expected a number <= 5 (m)'),
    'frames that carry each other': (
        ('absent:', 'frames: {mast: {parent: laser}, laser: {parent: mast}}\nabsent:'), '5:9',
        'got the circle mast -> laser -> mast'),
    'a frame that carries itself': (
        ('absent:', 'frames: {mast: {parent: mast}}\nabsent:'), '5:9',
        'got the circle mast -> mast'),
    'a standstill of ten metres': (
        ('max_speed: 0.5', 'max_speed: 0.5, creep: 10'), '1:63', 'expected a number <= 0.5'),
    'a rate of turn in degrees': (
        ('max_speed: 0.5', 'max_speed: 0.5, max_yaw_rate: 90'), '1:70', 'expected a number <= 20'),
    'a type without msg': (
        ('sensor_msgs/msg/LaserScan', 'sensor_msgs/LaserScan'), '3:34',
        'geometry_msgs/msg/TwistStamped'),
    'a wrong word of QoS': (
        ('best_effort', 'besteffort'), '3:80', "Did you mean 'best_effort'?"),
    'a role with a slash': (
        ('  scan:', '  /scan:'), '3:10', 'expected a role as scenarios name it'),
    'a role that is there and absent': (('[human_pose]', '[scan]'), '', 'Remove one of the two'),
    'two roles on one topic': (('/tb4/cmd_vel', '/tb4/scan'), '', 'expected one each'),
    'a speed without a kind': (('kind: mobile_base, ', ''), '1:8', 'expected kind beside it'),
    'a number in quotes': (('0.5}\ntopics', "'0.5'}\ntopics"), '1:51', 'Remove the quotes'),
    'a key of the robot at the top': (
        ('absent:', 'max_speed: 0.5\nabsent:'), '5:1', 'Write it under robot'),
    'a parameter file': (
        (BASE, '/**: {ros__parameters: {hil.enabled: true}}'), '', 'below ros__parameters'),
    'a scenario': ((BASE, 'ros: {}\nlatency_budget: {}'), '', 'got a scenario'),
}


@pytest.mark.parametrize('slip', SLIPS)
def test_a_slip_is_refused_with_its_place_and_how_to_fix_it(slip, tmp_path):
    (before, after), place, advice = SLIPS[slip]
    assert before in BASE
    path = tmp_path / 'mine.yaml'
    path.write_text(BASE.replace(before, after, 1), encoding='utf-8')
    with pytest.raises(InputError) as refused:
        load_profile(str(path))
    assert advice in str(refused.value)
    assert f'{path}:{place}' in str(refused.value) if place else str(path) in str(refused.value)


STOPPING = 'max_speed: 0.5, stopping: '


@pytest.mark.parametrize(('stopping', 'braking'), [
    ('{model: constant_deceleration, deceleration: 9.5}', '9.5'),
    ('{model: measured, time: 0.2, distance: 0.012}', '10.4'),
    ('{model: half_time, time: 0.05}', '10')])
def test_a_base_that_brakes_harder_than_its_wheels_can_is_refused(stopping, braking, tmp_path):
    """Friction times g, by Coulomb: 0.9 * 9.81 is 8.83 m/s^2."""
    path = tmp_path / 'mine.yaml'
    path.write_text(BASE.replace('max_speed: 0.5', STOPPING + stopping), encoding='utf-8')
    with pytest.raises(InputError, match=f'1:8: robot: got stopping that brakes at {braking} '
                                         f'm/s.2, expected at most 8.83'):
        load_profile(str(path))


def test_what_wheels_can_just_do_is_taken_and_an_arm_has_none(tmp_path):
    path = tmp_path / 'mine.yaml'
    block = '{model: constant_deceleration, deceleration: 8.8}'
    path.write_text(BASE.replace('max_speed: 0.5', STOPPING + block), encoding='utf-8')
    assert load_profile(str(path)).robot.stopping.deceleration == 8.8
    path.write_text(f'robot: {{kind: arm, {STOPPING}{block.replace("8.8", "12.0")}}}')
    assert load_profile(str(path)).robot.stopping.deceleration == 12.0


@pytest.mark.parametrize(('name', 'notes'), [
    ('/cmd_vle', 1), ('/tb4/cmd_vell', 1), ('/cmd_vel', 0), ('/cmd_vel_2', 0), ('/drive', 0),
    ('cmd_vel_unstamped', 0)])
def test_a_topic_that_is_nearly_a_usual_one_is_questioned(name, notes, tmp_path):
    path = tmp_path / 'mine.yaml'
    path.write_text(BASE.replace('/tb4/cmd_vel', name), encoding='utf-8')
    told = load_profile(str(path)).near_misses
    assert len(told) == notes and all(f'{name} is nearly cmd_vel' in one for one in told)
    fitted = fit(RunSettings.model_validate(with_profile({'profile': str(path)})),
                 load_scenario('SCN-R-D-110'))
    assert not fitted.problems and fitted.notes[:notes] == told


TWIST = BASE.replace('cmd_vel: /tb4/cmd_vel', 'cmd_vel: {type: geometry_msgs/msg/Twist}')


@pytest.mark.parametrize('kind', ['diff_drive', 'omni', 'ackermann'])
def test_a_type_that_the_driver_of_the_distribution_rejects_is_refused(kind, tmp_path):
    path = tmp_path / 'mine.yaml'
    text = TWIST.replace('diff_drive', kind)
    path.write_text(text, encoding='utf-8')
    told = (f'4:19: topics.cmd_vel.type: got geometry_msgs/msg/Twist, and the driver {kind} of '
            f'jazzy takes geometry_msgs/msg/TwistStamped, so that it would reject every command')
    with pytest.raises(InputError, match=told):
        load_profile(str(path))
    path.write_text(text.replace('Twist}', 'TwistStamped}'), encoding='utf-8')
    assert load_profile(str(path)).driver['kind'] == kind
    if kind != 'omni':  # there is none on humble
        path.write_text(text.replace(kind, f'{kind}, distro: humble'), encoding='utf-8')
        assert load_profile(str(path)).driver['distro'] == 'humble'


def test_a_rotation_is_no_quaternion(tmp_path):
    path = tmp_path / 'mine.yaml'
    path.write_text(BASE + 'frames: {laser: {rotation: [0, 0, 1, 0]}}\n', encoding='utf-8')
    with pytest.raises(InputError, match='got 4 entries, expected at most 3. Shorten it: Roll'):
        load_profile(str(path))


LASER = BASE.replace('LaserScan,', 'LaserScan, frame: laser,')
CHAINS = {
    'no place at all': ('', '3:68: topics.scan.frame', 'Add "frames: {laser: {translation: '),
    'a chain that ends before the base': (
        'frames: {laser: {parent: base_footprint}}', '7:26: frames.laser.parent',
        'got the chain laser -> base_footprint, which does not reach base_link, expected the '
        'place of scan on the robot. Write "parent: base_link"'),
    'a circle': ('frames: {laser: {parent: rack}, rack: {parent: laser}}', '7:9: frames',
                 'got the circle laser -> rack -> laser'),
    'a scanner upside down': ('frames: {laser: {rotation: [3.14, 0.0, 0.0]}}',
                              '7:17: frames.laser', 'expected a level one'),
}


@pytest.mark.parametrize('slip', CHAINS)
def test_a_scanner_whose_place_is_unknown_is_refused_once(slip, tmp_path):
    frames, place, advice = CHAINS[slip]
    path = tmp_path / 'mine.yaml'
    path.write_text(LASER + frames, encoding='utf-8')
    with pytest.raises(InputError) as refused:
        load_profile(str(path))
    [line] = str(refused.value).splitlines()
    assert f'{path}:{place}' in line and advice in line


@pytest.mark.parametrize(('frames', 'x'), [
    ('laser: {translation: [0.3, 0.0, 0.2]}', 0.3),
    ('laser: {parent: rack, translation: [0.3, 0.0, 0.2]}, rack: {translation: [-0.1, 0, 0]}',
     0.2),
    ('laser: {parent: base_footprint, translation: [0.3, 0.0, 0.2]}, '
     'base_link: {parent: base_footprint, translation: [0.05, 0.0, 0.1]}', 0.25)])
def test_a_chain_of_frames_gives_the_place_in_the_base(frames, x, tmp_path):
    path = tmp_path / 'mine.yaml'
    path.write_text(f'{LASER}frames: {{{frames}}}', encoding='utf-8')
    place = load_profile(str(path)).scanner_place('scan')
    assert (place.frame, place.parent) == ('laser', 'base_link')
    assert place.translation == pytest.approx((x, 0.0, 0.0))


def test_an_unknown_profile_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="Did you mean 'turtlebot4'"):
        load_profile('turtlebot')


@pytest.mark.parametrize('name', profile_names())
def test_what_ships_is_read_and_fits_the_schema(name):
    data = yaml.safe_load(profile_path(name).read_text(encoding='utf-8'))
    jsonschema.validate(data, profile_schema())
    profile = load_profile(name)
    assert profile.robot.name == name
    assert not profile.hil.enabled


def test_six_profiles_ship():
    assert set(profile_names()) == {'arm', 'base', 'gazebo_cell', 'gazebo_hall', 'turtlebot4',
                                    'ur_ros2_control'}


def settings_with(tmp_path, **more):
    path = tmp_path / 'mine.yaml'
    path.write_text(BASE, encoding='utf-8')
    return RunSettings.model_validate(with_profile({'profile': str(path), **more}))


def test_a_value_of_the_profile_counts_unless_another_is_given(tmp_path):
    settings = settings_with(tmp_path, robot={'max_speed': 0.3}, trials=2)
    assert settings.robot.max_speed == 0.3
    assert settings.robot.kind == 'mobile_base'
    assert settings.names.full('scan') == '/tb4/scan'
    assert settings.topics['cmd_vel'].topic == '/tb4/cmd_vel'


def test_a_rule_that_is_given_goes_before_the_topic_of_the_profile(tmp_path):
    settings = settings_with(tmp_path, remap=('scan:=/other/scan',))
    assert settings.names.full('scan') == '/other/scan'
    assert settings.names.full('cmd_vel') == '/tb4/cmd_vel'


def test_each_value_that_is_not_the_default_has_its_source(tmp_path):
    found = sources_of(settings_with(tmp_path, robot={'max_speed': 0.3}, trials=2))
    assert found['robot.max_speed'] == {'value': 0.3, 'source': 'override'}
    assert found['topics.scan.topic'] == {'value': '/tb4/scan', 'source': 'profile mine.yaml'}
    assert found['trials'] == {'value': 2, 'source': 'override'}
    assert 'seed' not in found


def test_the_command_line_names_the_profile_and_not_its_values(tmp_path):
    settings = settings_with(tmp_path, robot={'max_speed': 0.3})
    line = settings.command(load_profile(settings.profile))
    assert '--set robot.max_speed=0.3' in line
    assert '--profile' in line and 'diff_drive' not in line and '/tb4/scan' not in line


def test_an_empty_profile_is_not_told_to_be_a_scenario(tmp_path):
    path = tmp_path / 'robot.yaml'
    path.write_text('# nothing yet\n')
    with pytest.raises(InputError) as error:
        load_profile(str(path))
    assert 'got an empty file, expected data in it. Fill it in' in str(error.value)
