# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""New scenarios and profiles: what is written loads, and says what is to be edited."""

import io
import math

import pytest
from safety_scenarios import registry
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.profile_file import load_profile
from safety_scenarios.formats.scenario_reading import read_raw
from safety_scenarios.formats.writing.hazards import ROBOTS
from safety_scenarios.formats.writing.profile_text import (
    GraphFacts,
    profile_text,
    ProfileAnswers,
    read_urdf,
    StaticFrame,
    TopicFacts,
    turn_of,
)
from safety_scenarios.formats.writing.scenario_text import scenario_text
from safety_scenarios.formats.writing.template import Answers
from safety_scenarios.judging.blind_pass_rate import blind_pass_rate, MOST
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.lint.review import review
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.frames import roll_pitch_yaw
from safety_scenarios.studies.selftest.selftest import in_simulated_time

BASE = RobotModel(kind='mobile_base', max_speed=1.0, radius=0.3, stopping=Stopping(
    model='constant_deceleration', deceleration=1.0))
ARM = RobotModel(kind='arm', max_speed=1.0, joints=('a', 'b', 'c', 'd', 'e', 'f'),
                 stopping=Stopping(model='measured', time=0.3, distance=0.15))
ALL = [(robot, kind) for robot in (BASE, ARM) for kind in ROBOTS[robot.kind]]
each = pytest.mark.parametrize(('robot', 'kind'), ALL, ids=[
    f'{robot.kind}-{kind}' for robot, kind in ALL])


def read(answers):
    """Return the hazard and its benign variant, which must have no problem and no warning."""
    made, scenarios = scenario_text(answers), []
    for text in (made.hazard, made.benign):
        reading = read_raw('new.yaml', text.encode(), Document, registry.resolve)
        assert (reading.problems, reading.warnings) == ([], [])
        scenarios.append(reading.scenario)
    return scenarios


def verdict(scenario, controller):
    return evaluate(in_simulated_time()(scenario, controller, 0)).verdict.value


@each
def test_every_kind_is_valid_and_gives_the_lint_nothing_to_warn_of(robot, kind):
    hazard, benign = read(Answers(kind, robot))
    assert [str(remark) for remark in review([hazard, benign]).remarks] == []
    assert benign.is_benign and benign.metadata['variant_of'] == hazard.id
    assert all(one.at_least <= 0.2 for one in benign.body.invariants
               if robot is BASE and one.kind == 'no_spurious_stop')
    assert blind_pass_rate(hazard).level <= MOST


@each
def test_the_reference_passes_and_a_blind_controller_fails(robot, kind):
    hazard, benign = read(Answers(kind, robot))
    assert [verdict(one, 'rule_based') for one in (hazard, benign)] == ['PASS', 'PASS']
    assert verdict(hazard, 'never_stop') == 'FAIL'
    assert verdict(hazard, 'blind_clock') == 'FAIL'
    assert verdict(benign, 'always_stop') != 'PASS'


@pytest.mark.parametrize(('robot', 'wanted'), [
    (BASE.model_copy(update={'max_speed': 0.3}), {}),
    (BASE.model_copy(update={'max_speed': 1.8, 'radius': 0.6}), {}),
    (BASE, {'distance': 4.0}), (BASE, {'approach_speed': 1.2}), (ARM, {'reach': 0.5}),
    (ARM, {'distance': 3.0, 'approach_speed': 1.0})])
def test_the_budget_leaves_room_at_any_speed_and_distance(robot, wanted):
    hazard, benign = read(Answers('person', robot, **wanted))  # refused if no controller could win
    assert hazard.latency_budget.critical_ms >= 50
    assert [str(remark) for remark in review([hazard, benign]).remarks] == []


def test_the_least_distance_that_a_refusal_names_is_accepted():
    with pytest.raises(InputError, match=r'expected at least (0\.\d+) m') as refusal:
        scenario_text(Answers('person', BASE, distance=0.3))
    least = float(str(refusal.value).partition('at least ')[2].partition(' ')[0])
    read(Answers('person', BASE, distance=least))
    with pytest.raises(InputError, match='expected at least'):
        scenario_text(Answers('person', BASE, distance=least - 0.02))


@pytest.mark.parametrize(('robot', 'wanted', 'message'), [
    (ARM, {'kind': 'obstacle'}, 'expected one of person, collision'),
    (BASE, {'kind': 'link_lost', 'distance': 1.0}, '--distance: got 1'),
    (BASE, {'kind': 'person', 'force': 9.0}, '--force: got 9'),
    (BASE, {'kind': 'person', 'distance': 20.0}, 'expected at most'),
    (BASE.model_copy(update={'stopping': None}), {'kind': 'person'}, '--stopping: got nothing')])
def test_answers_that_do_not_fit_together_are_refused(robot, wanted, message):
    with pytest.raises(InputError, match=message):
        scenario_text(Answers(robot=robot, **wanted))


@pytest.mark.parametrize('name', ['A: "b" #c', "it's", '- [x]', 'null', 'yes', '{a: 1}', '100'])
def test_a_name_may_hold_what_yaml_would_read_otherwise(name):
    hazard, _ = read(Answers('person', BASE, name=name))
    assert hazard.name == name


def test_an_id_of_the_numbered_scheme_gets_a_benign_id_of_that_scheme():
    hazard, benign = read(Answers('person', BASE, scenario_id='SCN-R-900'))
    assert (hazard.id, benign.id) == ('SCN-R-900', 'SCN-R-D-900')


def new(tmp_path, *options):
    return main(['new', 'scenario', *options, '--output', str(tmp_path / 'mine.yaml')])


def test_both_files_are_written_and_never_overwritten(tmp_path, capsys):
    assert new(tmp_path, '--kind', 'person', '--with-benign') == 0
    mine, benign = tmp_path / 'mine.yaml', tmp_path / 'mine_benign.yaml'
    assert capsys.readouterr().out.startswith(f'wrote {mine}\nwrote {benign}\n')
    before = benign.read_text()
    mine.unlink()
    assert new(tmp_path, '--kind', 'obstacle', '--with-benign') == 2
    assert 'exists already, and is not overwritten' in capsys.readouterr().err
    assert benign.read_text() == before and not mine.exists(), 'one was written without the other'


def test_a_link_to_nowhere_is_not_written_through(tmp_path):
    (tmp_path / 'mine.yaml').symlink_to(tmp_path / 'elsewhere.yaml')
    assert new(tmp_path, '--kind', 'person') == 2
    assert not (tmp_path / 'elsewhere.yaml').exists()


def test_without_a_terminal_the_kind_must_be_an_option(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr('sys.stdin', io.StringIO())
    assert new(tmp_path) == 2
    assert '--kind: got nothing, expected one of person' in capsys.readouterr().err


def test_in_a_terminal_it_asks_for_what_no_option_says(tmp_path, monkeypatch, capsys):
    class Terminal(io.StringIO):

        def isatty(self):
            return True

    answers = 'mobile_base', 'person', '0.8', '1.5', '0.25', '0', '', 'At the door', 'y'
    monkeypatch.setattr('sys.stdin', Terminal('\n'.join(answers) + '\n'))
    assert new(tmp_path) == 0
    text = (tmp_path / 'mine.yaml').read_text()
    assert 'name: At the door' in text and 'max_speed: 0.8' in text and 'radius: 0.25' in text
    assert (tmp_path / 'mine_benign.yaml').exists()


@pytest.mark.parametrize(('options', 'message'), [
    (('--robot', 'arm', '--radius', '0.3'), 'got 0.3, expected nothing for the robot arm'),
    (('--reach', '0.8'), '--reach: got 0.8, expected nothing for the robot mobile_base'),
    (('--deceleration', '1', '--stopping', '1', '1'), '--deceleration: got it beside --stopping')])
def test_an_option_of_another_robot_is_refused(tmp_path, capsys, options, message):
    assert new(tmp_path, '--kind', 'person', *options) == 2
    assert message in capsys.readouterr().err


def test_a_profile_gives_speed_stopping_and_size(tmp_path, capsys):
    assert new(tmp_path, '--kind', 'person', '--profile', 'turtlebot4') == 0
    text = (tmp_path / 'mine.yaml').read_text()
    assert 'max_speed: 0.31' in text and 'deceleration: 0.9' in text and 'radius: 0.18' in text
    assert '--profile turtlebot4' in capsys.readouterr().out


def test_a_profile_of_another_kind_of_robot_is_refused(tmp_path, capsys):
    assert new(tmp_path, '--kind', 'person', '--profile', 'turtlebot4', '--robot', 'arm') == 2
    assert 'got a robot of kind mobile_base, expected arm' in capsys.readouterr().err


@pytest.mark.parametrize('option', [
    ('--approach-speed', 'nan'), ('--radius', 'nan'), ('--distance', 'inf'),
    ('--stopping', 'nan', '1'), ('--max-speed', 'inf')], ids=' '.join)
def test_a_number_that_is_none_is_refused_by_its_option(option, tmp_path, capsys):
    file = tmp_path / 'new.yaml'
    assert main(['new', 'scenario', '--kind', 'person', *option, '--output', str(file)]) == 2
    shown = capsys.readouterr().err
    assert f"Invalid value for '{option[0]}': got" in shown and 'finite' in shown
    assert not file.exists()


@pytest.mark.parametrize(('option', 'place'), [
    (('--approach-speed', '1e12'), 'separation.approach_speed'),
    (('--radius', '1e300'), 'separation.reach')])
def test_a_number_that_nobody_has_is_refused(option, place, capsys):
    assert main(['new', 'scenario', '--kind', 'person', *option]) == 2
    assert f'error: {place}: got' in capsys.readouterr().err


SCAN, TWIST = 'sensor_msgs/msg/LaserScan', 'geometry_msgs/msg/TwistStamped'
ODOM, STATES = 'nav_msgs/msg/Odometry', 'sensor_msgs/msg/JointState'
TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'
TURTLE = (TopicFacts('/tb4/cmd_vel', TWIST, subscribers=1, reliability='reliable'),
          TopicFacts('/tb4/scan', SCAN, 1, 0, 'best_effort', 'volatile', 10.0, 'laser'),
          TopicFacts('/tb4/odom', ODOM, 1, 0, 'reliable', 'volatile', 20.0),
          TopicFacts('/tb4/battery_state', 'sensor_msgs/msg/BatteryState', 1))
SHOWN_ARM = (TopicFacts('/arm_controller/joint_trajectory', TRAJECTORY, subscribers=1),
             TopicFacts('/joint_states', STATES, 1, joints=('elbow', 'shoulder')))
MOUNTED = (StaticFrame('laser', 'base_link', (0.1, 0.0, 0.2), (0.0, 0.0, 0.0)),)
ALL_TOLD = ProfileAnswers('mine', '', 0.5, 0.9, None, 0.2)
ARM_URDF = """<robot name="two">
<link name="base"/><link name="u"/><link name="l"/><link name="w"/>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="u"/>
<limit velocity="2.0"/></joint>
<joint name="elbow" type="revolute"><parent link="u"/><child link="l"/><limit velocity="1.5"/>
</joint>
<joint name="wheel" type="continuous"><parent link="l"/><child link="w"/></joint></robot>"""


def loaded(tmp_path, made):
    file = tmp_path / 'robot.yaml'
    file.write_text(made.text)
    return load_profile(str(file))


def test_a_turtlebot_in_a_namespace_becomes_a_profile(tmp_path):
    made = profile_text(GraphFacts(TURTLE, '', MOUNTED), ALL_TOLD)
    profile = loaded(tmp_path, made)
    assert made.blanks == () and profile.namespace == '/tb4'
    assert (profile.robot.kind, profile.robot.max_speed) == ('mobile_base', 0.5)
    assert profile.topics['cmd_vel'].type == TWIST and profile.topics['cmd_vel'].topic == 'cmd_vel'
    assert profile.topics['scan'].qos.reliability == 'best_effort'
    assert profile.topics['scan'].frame == 'laser'
    assert profile.reference == ('odom',) and 'human_pose' in profile.absent
    assert '/tb4/battery_state (sensor_msgs/msg/BatteryState)' in made.text


def test_an_arm_gets_its_joints_in_the_order_of_the_urdf(tmp_path):
    made = profile_text(GraphFacts(SHOWN_ARM, ARM_URDF), ProfileAnswers(stopping=(0.3, 0.15)))
    profile = loaded(tmp_path, made)
    assert profile.robot.joints == ('shoulder', 'elbow') and profile.robot.max_speed == 1.5
    assert profile.namespace == '' and profile.robot.name == 'two'
    assert profile.topics['joint_trajectory'].topic == '/arm_controller/joint_trajectory'


def test_what_was_not_seen_keeps_the_profile_from_being_used(tmp_path):
    made = profile_text(GraphFacts(TURTLE, '', MOUNTED), ProfileAnswers())
    assert made.blanks == ('robot.max_speed', 'robot.stopping.deceleration', 'robot.radius')
    with pytest.raises(ScenarioError) as refusal:
        loaded(tmp_path, made)
    assert [problem.field for problem in refusal.value.problems] == list(made.blanks)
    assert all(problem.line and 'fill it in' in problem.message
               for problem in refusal.value.problems)


def test_joints_that_nobody_reports_must_be_filled_in(tmp_path):
    made = profile_text(GraphFacts(SHOWN_ARM[:1]), ProfileAnswers('a', '', 1.0, None, (0.3, 0.1)))
    assert made.blanks == ('robot.joints',)
    with pytest.raises(ScenarioError, match='fill it in'):
        loaded(tmp_path, made)


def test_a_robot_without_a_command_topic_has_no_kind_yet():
    assert 'robot.kind' in profile_text(GraphFacts(TURTLE[1:]), ALL_TOLD).blanks


def test_of_several_topics_the_one_named_as_the_role_is_taken_and_the_others_are_listed():
    others = TopicFacts('/tb4/front/scan', SCAN, 1), TopicFacts('/tb4/teleop_cmd', TWIST, 0, 1)
    made = profile_text(GraphFacts((*others, *TURTLE)), ALL_TOLD)
    assert 'topic: scan' in made.text and '# edit: or /tb4/front/scan' in made.text
    assert 'topic: cmd_vel' in made.text and '# edit: or /tb4/teleop_cmd' in made.text


def test_a_command_topic_that_nobody_listens_to_is_none():
    silent = TopicFacts('/cmd_vel', TWIST, publishers=1)
    assert 'cmd_vel' not in profile_text(GraphFacts((silent,)), ALL_TOLD).roles


def test_one_topic_alone_tells_no_namespace():
    made = profile_text(GraphFacts(SHOWN_ARM[:1]), ProfileAnswers())
    assert "namespace: ''" in made.text


def test_frames_of_sensors_are_written_up_to_the_base(tmp_path):
    frames = (StaticFrame('laser', 'mast', (0.1, 0.0, 0.2), (0.0, 0.0, 1.5708)),
              StaticFrame('mast', 'base_link', (0.0, 0.0, 0.1), (0.0, 0.0, 0.0)),
              StaticFrame('base_link', 'base_footprint', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
              StaticFrame('camera', 'base_link', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    profile = loaded(tmp_path, profile_text(GraphFacts(TURTLE, '', frames), ALL_TOLD))
    assert list(profile.frames) == ['laser', 'mast']
    assert profile.frames['laser'].parent == 'mast'


def test_a_scanner_beside_the_base_on_one_frame_is_written_with_the_base(tmp_path):
    frames = (StaticFrame('laser', 'base_footprint', (0.3, 0.0, 0.2), (0.0, 0.0, 0.0)),
              StaticFrame('base_link', 'base_footprint', (0.1, 0.0, 0.1), (0.0, 0.0, 0.0)))
    profile = loaded(tmp_path, profile_text(GraphFacts(TURTLE, '', frames), ALL_TOLD))
    assert list(profile.frames) == ['laser', 'base_link']
    assert profile.scanner_place('scan').translation == pytest.approx((0.2, 0.0, 0.0))


def test_a_scanner_whose_place_nobody_publishes_must_be_filled_in():
    assert profile_text(GraphFacts(TURTLE), ALL_TOLD).blanks == ('frames.laser.translation',)


def test_frames_in_a_circle_end():
    frames = (StaticFrame('laser', 'mast', (0.0,) * 3, (0.0,) * 3),
              StaticFrame('mast', 'laser', (0.0,) * 3, (0.0,) * 3))
    assert profile_text(GraphFacts(TURTLE, '', frames), ALL_TOLD).text.count('parent:') == 2


def test_simulated_time_is_taken_where_somebody_publishes_it(tmp_path):
    clock = TopicFacts('/clock', 'rosgraph_msgs/msg/Clock', 1)
    facts = GraphFacts((*TURTLE, clock), '', MOUNTED)
    assert loaded(tmp_path, profile_text(facts, ALL_TOLD)).use_sim_time


def body(shape, origin=''):
    return read_urdf(f'<robot name="r"><link name="base_link"/><link name="l"><collision>{origin}'
                     f'<geometry>{shape}</geometry></collision></link><joint name="j" '
                     f'type="fixed"><parent link="base_link"/><child link="l"/>'
                     f'<origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/></joint></robot>')


@pytest.mark.parametrize(('shape', 'radius'), [
    ('<box size="0.4 0.2 1"/>', math.hypot(0.2, 0.2)), ('<sphere radius="0.3"/>', 0.4),
    ('<cylinder radius="0.3" length="1"/>', 0.4)])
def test_the_footprint_holds_every_shape(shape, radius):
    assert body(shape).radius == pytest.approx(radius)


def test_a_mesh_has_no_size_so_that_the_radius_is_asked_for():
    facts = body('<mesh filename="package://r/base.stl"/>')
    assert (facts.radius, facts.shapes_left_out) == (None, 1)


@pytest.mark.parametrize('text', [
    '<robot', '<!DOCTYPE a [<!ENTITY b "c">]><robot/>', 'x' * 5_000_000,
    '<robot><link name="l"><collision><geometry><box size="1 2"/></geometry></collision></link>'
    '</robot>',
    '<robot><link name="a"><collision><geometry><sphere radius="1"/></geometry></collision></link>'
    '<joint><parent link="a"/><child link="a"/></joint></robot>'])
def test_a_urdf_that_cannot_be_read_is_named_and_costs_nothing_else(text):
    assert read_urdf(text).problem
    assert 'robot_description: the URDF' in profile_text(GraphFacts(TURTLE, text), ALL_TOLD).text


@pytest.mark.parametrize('angles', [(0.3, -0.4, 0.5), (0.0, 0.0, 3.0), (-1.0, 0.2, -2.0)])
def test_a_quaternion_and_its_angles_are_the_same_turn(angles):
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(at / 2), math.sin(at / 2)) for at in angles)
    found = roll_pitch_yaw(sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
                           cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy)
    assert found == pytest.approx(angles)
    assert turn_of(*found)[2] == pytest.approx(turn_of(*angles)[2])
