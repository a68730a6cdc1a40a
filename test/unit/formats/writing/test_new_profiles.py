# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a graph shows of a robot becomes its profile, and what it does not show is left open."""

import math

import pytest
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.profile_file import load_profile
from safety_scenarios.formats.writing.profile_text import (
    GraphFacts,
    profile_text,
    ProfileAnswers,
    StaticFrame,
    TopicFacts,
)
from safety_scenarios.formats.writing.urdf import read_urdf, turn_of
from safety_scenarios.scenario.frames import roll_pitch_yaw

SCAN, TWIST = 'sensor_msgs/msg/LaserScan', 'geometry_msgs/msg/TwistStamped'
ODOM, STATES = 'nav_msgs/msg/Odometry', 'sensor_msgs/msg/JointState'
TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'
TURTLE = (TopicFacts('/tb4/cmd_vel', TWIST, subscribers=1, reliability='reliable'),
          TopicFacts('/tb4/scan', SCAN, 1, 0, 'best_effort', 'volatile', 10.0, 'laser'),
          TopicFacts('/tb4/odom', ODOM, 1, 0, 'reliable', 'volatile', 20.0),
          TopicFacts('/tb4/battery_state', 'sensor_msgs/msg/BatteryState', 1))
ARM = (TopicFacts('/arm_controller/joint_trajectory', TRAJECTORY, subscribers=1),
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
    made = profile_text(GraphFacts(ARM, ARM_URDF), ProfileAnswers(stopping=(0.3, 0.15)))
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
    made = profile_text(GraphFacts(ARM[:1]), ProfileAnswers('a', '', 1.0, None, (0.3, 0.1)))
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
    made = profile_text(GraphFacts(ARM[:1]), ProfileAnswers())
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
