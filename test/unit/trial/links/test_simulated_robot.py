# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a robot would report where there is none: it moves as its driver executes the commands."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
import math
from pathlib import Path
import random
from typing import Any

import pytest
from safety_scenarios import registry
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.from_python import run
from safety_scenarios.judging.drivers.twist_commands import AxisLimits
from safety_scenarios.scenario.driver import BASE_AXES, Commanded, DriverPlugin
from safety_scenarios.scenario.interfaces import command_message, INPUTS
from safety_scenarios.scenario.message import Command, Message
from safety_scenarios.scenario.robot_drivers import (
    from_json,
    simulated_robot,
    SimulatedRobot,
    to_json,
)
from safety_scenarios.scenario.topic_names import input_names
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.selftest.kill_matrix import SABOTEURS
from safety_scenarios.studies.selftest.selftest import in_simulated_time, self_test
from safety_scenarios.trial.links.robot_reports import PERIOD_NS, SimulatedReports
import yaml

DATA = Path(__file__).parents[3] / 'data' / 'selftest'
CONFIRMED = DATA / 'confirmed.yaml'
MS = 1_000_000
STAMPED = 'geometry_msgs/msg/TwistStamped'
LIMITS = AxisLimits(max_acceleration=1.0, max_deceleration=-2.0, max_velocity=0.9)


def twist(speed: float, turn: float = 0.0) -> Message:
    return command_message(STAMPED, Command(velocity=(speed, turn)), (), {})


def changed(tmp_path: Path, **ros: Any) -> str:
    """Write the scenario with some keys of its ``ros:`` changed."""
    data = yaml.safe_load(CONFIRMED.read_text(encoding='utf-8'))
    data['ros'] |= ros
    path = tmp_path / 'changed.yaml'
    path.write_text(yaml.safe_dump(data), encoding='utf-8')
    return str(path)


def robot_of(path: Path | str) -> SimulatedRobot:
    [scenario] = load_scenarios([str(path)]).scenarios
    found = simulated_robot(scenario)
    assert found is not None
    return found


@pytest.mark.parametrize('driver', [
    registry.resolve('drivers', kind)(**more) for kind, more in (
        ('diff_drive', {}), ('diff_drive', {'linear': LIMITS, 'angular': LIMITS}),
        ('diff_drive', {'distro': 'humble', 'timeout_s': 0.0}), ('omni', {'linear': LIMITS}),
        ('ackermann', {}), ('ackermann', {'timeout_s': 0.0}),
        ('joint_velocity', {'joints': ('a', 'b')}),
        ('forward_command', {'joints': ('a', 'b'), 'distro': 'humble'}))],
    ids=lambda driver: f'{driver.kind} {driver.distro}')
def test_a_driver_does_the_same_command_by_command_as_with_all_of_them(driver: DriverPlugin):
    """Streams with gaps beyond every timeout, numbers that are none, and arrays too long."""
    for seed in range(20):
        chance = random.Random(seed)
        commands, t_ns = list[Commanded](), 1_000 * MS
        for _ in range(12):
            t_ns += round(chance.choice((40, 50, 90, 700, 1300)) * MS * chance.uniform(0.5, 1))
            numbers = tuple(chance.choice((0.0, 0.4, -0.7, 0.9)) for _ in range(
                2 if chance.random() < 0.95 else 3))
            if chance.random() < 0.08:
                numbers = (float('nan'), *numbers[1:])
            message = Message(type='std_msgs/msg/Float64MultiArray', data={'data': numbers}) \
                if driver.is_joint_space else twist(*numbers[:2])
            commands.append(Commanded(t_ns, t_ns, message))
        axes = ('a', 'b') if driver.is_joint_space else BASE_AXES
        follower = driver.follow(dict.fromkeys(axes, 0.0))
        assert follower is not None
        for place, command in enumerate(commands):
            try:
                follower.take(command)
            except ValueError:
                assert not driver.execute(commands, {}, command.t_ns).accepted[place]
            look_ns = command.t_ns + 19 * MS
            found = driver.execute(commands[:place + 1], {}, look_ns)
            if not len(found.times_ns):
                continue
            now = found.velocity[int(found.times_ns.searchsorted(look_ns, side='right')) - 1]
            state = follower.state(look_ns)
            assert [state.get(axis, (0.0, None))[1] for axis in axes] == [
                None if value != value else pytest.approx(value) for value in now.tolist()]


@pytest.mark.parametrize('driver', [
    registry.resolve('drivers', kind)(**more) for kind, more in (
        ('diff_drive', {}), ('diff_drive', {'linear': LIMITS, 'angular': LIMITS}),
        ('diff_drive', {'distro': 'humble', 'timeout_s': 0.0}), ('omni', {}),
        ('ackermann', {}), ('joint_velocity', {'joints': ('a', 'b')}))],
    ids=lambda driver: f'{driver.kind} {driver.distro}')
def test_a_driver_does_the_same_for_as_long_as_it_says(driver: DriverPlugin):
    """Of stale stamps too: a command that is no number may wake one that had timed out."""
    for seed in range(20):
        chance = random.Random(seed)
        follower = driver.follow({'a': 0.0, 'b': 0.0})
        assert follower is not None
        t_ns, lasts_ns, speeds = 1_000 * MS, -math.inf, dict[str, float]()
        for _ in range(400):
            t_ns += round(chance.choice((1, 7, 10, 90)) * MS)
            if chance.random() < 0.1:
                numbers = [chance.choice((0.0, 0.4, -0.7)) for _ in range(2)]
                if chance.random() < 0.3:
                    numbers[0] = float('nan')
                message = Message(type='std_msgs/msg/Float64MultiArray', data={
                    'data': tuple(numbers)}) if driver.is_joint_space else twist(*numbers)
                late_ns = t_ns - chance.choice((0, 450, 990, 1100)) * MS
                with suppress(ValueError):
                    follower.take(Commanded(t_ns, t_ns, message if driver.is_joint_space
                                            else message.stamped(late_ns)))
                lasts_ns = -math.inf
            now = {axis: speed for axis, (_, speed) in follower.state(t_ns).items()}
            assert t_ns > lasts_ns or now == speeds
            lasts_ns, speeds = follower.lasts_ns(t_ns), now
            assert lasts_ns >= t_ns


@pytest.mark.parametrize('rate_hz', [7, 10, 30, 100])
def test_who_is_asked_only_when_it_may_have_changed_does_the_same(rate_hz: float):
    """A command that is no number wakes a driver at its next cycle, not at one gone by."""
    driver = registry.resolve('drivers', 'ackermann')(timeout_s=0.5, update_rate_hz=rate_hz)
    told, woken = [], []
    for is_always_asked in (True, False):
        follower, lasts_ns, speeds = driver.follow({}), -math.inf, []
        for t_ns in range(0, 2_000 * MS, 5 * MS):
            speed = {0: 1.0, 955 * MS: float('nan')}.get(t_ns)
            if speed is not None:
                with suppress(ValueError):
                    follower.take(Commanded(t_ns, t_ns, twist(speed, 0.0).stamped(t_ns)))
                lasts_ns = -math.inf
            if t_ns % (10 * MS) == 0 and (is_always_asked or t_ns > lasts_ns):
                speeds.append((t_ns, follower.state(t_ns)))
                lasts_ns = follower.lasts_ns(t_ns)
        moved = [(t_ns, now) for (t_ns, now), (_, before)
                 in zip(speeds[1:], speeds, strict=False) if now != before]
        told.append(moved)
        woken.append(moved[-1][0] >= 955 * MS)
    assert told[0] == told[1] and all(woken)


def reported(robot: SimulatedRobot, commands: Sequence[tuple[int, Message]],
             until_ms: int) -> list[tuple[float, Mapping[str, Any]]]:
    """Return (ms, data of the first topic) of what it reports of commands on base/cmd_vel."""
    reports, queue = SimulatedReports(robot), list(commands)
    found = []
    for t_ns in range(0, until_ms * MS, PERIOD_NS):
        while queue and queue[0][0] * MS <= t_ns:
            at_ms, message = queue.pop(0)
            reports.take('base/cmd_vel', message, at_ms * MS, at_ms * MS)
        found.append((t_ns / MS, next(iter(reports.reports(t_ns).values())).data))
    return found


def speeds(found: list[tuple[float, Mapping[str, Any]]]) -> dict[float, float]:
    return {t_ms: data['twist']['twist']['linear']['x'] for t_ms, data in found}


def test_odometry_follows_the_set_points_and_brakes_as_the_robot_declares():
    """At 2 m/s^2 from 0.8 m/s: 0.4 s, and 0.16 m; the last command came 35 ms after a report."""
    driving = [(t_ms, twist(0.8)) for t_ms in range(0, 1000, 50)]
    standing = [(t_ms, twist(0.0)) for t_ms in range(1015, 2000, 50)]
    found = reported(robot_of(CONFIRMED), [*driving, *standing], 2000)
    speed = speeds(found)
    assert speed[980] == speed[1000] == 0.8
    assert speed[1200] == pytest.approx(0.8 - 2.0 * 0.185)
    assert speed[1400] == pytest.approx(0.8 - 2.0 * 0.385) and speed[1420] == 0.0
    assert found[-1][1]['pose']['pose']['position']['x'] == pytest.approx(
        0.8 * 1.015 + 0.16, abs=2e-3)


def test_silence_and_a_rejected_command_do_what_they_do_to_the_driver():
    """Its ``cmd_vel_timeout`` is 0.5 s, and it takes no Twist without a header."""
    robot = robot_of(CONFIRMED)
    bare = command_message('geometry_msgs/msg/Twist', Command(velocity=(0.0, 0.0)), (), {})
    quiet = speeds(reported(robot, [(0, twist(0.8))], 1200))
    ignored = speeds(reported(robot, [(0, twist(0.8)), (100, bare)], 1200))
    assert quiet == ignored
    assert quiet[500] == 0.8 and quiet[700] < 0.8 and quiet[1000] == 0.0


def test_a_robot_that_declares_no_stopping_stands_at_once():
    robot = robot_of(CONFIRMED)
    plain = robot.model_copy(update={'robot': robot.robot.model_copy(update={'stopping': None})})
    assert speeds(reported(plain, [(0, twist(0.8)), (100, twist(0.0))], 200))[120] == 0.0


def test_an_arm_reports_its_joints_where_the_driver_has_got_them(tmp_path):
    [scenario] = load_scenarios(['SCN-R-102']).scenarios
    block = scenario.body.model_copy(update={'feedback': (scenario.body.commands[0].model_copy(
        update={'topic': 'arm/joint_states', 'message': 'auto', 'driver': None}),)})
    robot = simulated_robot(scenario.model_copy(update={'body': block}))
    assert robot is not None and not robot.untold
    joints = robot.robot.joints
    [topic] = robot.drivers
    reports = SimulatedReports(robot)
    assert reports.reports(0)['arm/joint_states'].data['position'] == (0.0,) * len(joints)
    moving = Command(velocity=(0.4,) * len(joints))
    reports.take(topic, command_message(
        'trajectory_msgs/msg/JointTrajectory', moving, joints, dict.fromkeys(joints, 0.0)),
        1_000 * MS, 1_000 * MS)
    data = reports.reports(1_100 * MS)['arm/joint_states'].data
    assert data['name'] == joints
    assert data['position'] == pytest.approx((0.04,) * len(joints), abs=1e-6)
    assert data['velocity'] == pytest.approx((0.4,) * len(joints), abs=1e-6)


@pytest.mark.parametrize(('ros', 'told'), [
    ({'feedback': [{'topic': 'base/odom', 'message': 'std_msgs/msg/Float64'}]}, 'Float64'),
    ({'commands': [{'topic': 'base/cmd_vel', 'driver': {'kind': 'none'}}]}, 'no driver')])
def test_what_cannot_be_worked_out_is_said_and_never_passes(tmp_path, ros, told):
    path = changed(tmp_path, **ros, **({'signals': {
        'speed': {'topic': 'base/cmd_vel', 'field': 'twist.linear', 'reduce': 'norm',
                  'unit': 'm/s'},
        'measured': {'topic': 'base/odom', 'field': 'data', 'unit': 'm/s'}}}
        if 'feedback' in ros else {}))
    results = run(path, link='loopback')
    assert results.verdict is not Verdict.PASS and told in results.trials[0].reason
    [row] = [row for row in results.summary.preflight[0].rows if row.check == 'feedback']
    assert row.status == 'warn' and told in row.detail


def test_the_text_of_a_robot_is_the_robot(tmp_path):
    for path in (CONFIRMED, changed(tmp_path, commands=[{'topic': 'base/cmd_vel'}])):
        robot = robot_of(path)
        again = from_json(to_json(robot), registry.resolve)
        assert again == robot and reported(again, [(0, twist(0.5))], 200) == reported(
            robot, [(0, twist(0.5))], 200)


def test_the_reference_passes_a_scenario_of_the_user_and_a_late_robot_does_not():
    good = run(str(CONFIRMED), link='loopback', trials=3)
    assert good.verdict is Verdict.PASS, good.explain()
    assert all(trial.latency.confirmed is not None for trial in good.trials)
    assert {note.code for trial in good.trials for note in trial.notes} == {'simulated-robot'}
    late = run(str(CONFIRMED), link='loopback', controller='brakes_late').trials[0]
    assert [one.check for one in late.findings if one.verdict is Verdict.FAIL] == [
        'safe state confirmed']
    assert late.latency.latency_class.value == 'target'


@pytest.mark.slow
@pytest.mark.thorough
def test_the_self_test_of_such_a_scenario_finds_every_check_killed():
    [scenario] = load_scenarios([str(CONFIRMED)]).scenarios
    found = self_test([scenario], in_simulated_time(), saboteurs=[
        one for one in SABOTEURS if not one.among_agents], seeds=(0,))
    assert not found.mistakes, [mistake.message for mistake in found.mistakes]
    [row] = [row for row in found.scenarios[0].rows if row.kind == 'confirmation']
    assert {'brakes_late', 'never_stop'} <= {
        cell.saboteur for cell in row.cells if set(cell.verdicts) == {Verdict.FAIL}}


@pytest.mark.parametrize(('shown', 'name', 'topic'), [
    (['front/scan:sensor_msgs/msg/LaserScan'], 'scan', 'front/scan'),
    (['lidar:sensor_msgs/msg/LaserScan'], 'scan', 'scan'),
    (['goal:geometry_msgs/msg/PoseStamped'], 'human_pose', 'human_pose'),
    (['scan:sensor_msgs/msg/LaserScan', 'rear/scan:sensor_msgs/msg/LaserScan'], 'scan', 'scan'),
    (['front/scan:sensor_msgs/msg/LaserScan', 'rear/scan:sensor_msgs/msg/LaserScan'], 'scan',
     'scan'),
    (['gripper/contact:std_msgs/msg/Bool'], 'contact', 'gripper/contact'),
    (['button:std_msgs/msg/Bool'], 'estop', 'estop'),
    (['front/scan:sensor_msgs/msg/Image'], 'scan', 'scan')],
    ids=['by its last part', 'the only one of its type', 'a goal', 'its own name first',
         'two of a name',
         'one of three by name', 'one of three by type', 'another type'])
def test_a_controller_hears_what_can_only_be_meant_for_it(shown, name, topic):
    assert input_names(INPUTS, shown)[name] == topic


@pytest.mark.parametrize('command', [
    {'topic': 'base/cmd_vel'},
    {'topic': 'base/cmd_vel', 'driver': {'kind': 'omni'}},
    {'topic': 'base/cmd_vel', 'message': STAMPED}])
def test_the_type_of_the_commands_is_one_that_scenario_and_driver_take(tmp_path, command):
    """Its signal reads ``twist.linear``, and a Twist has no such field."""
    results = run(changed(tmp_path, commands=[command]), link='loopback')
    assert results.verdict is Verdict.PASS, results.explain()
