# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A scenario on the robot of a profile: one file for all robots that have its roles."""

import json
import re
import shlex
import shutil

import pytest
import safety_scenarios
from safety_scenarios.campaign.open_session import connection
from safety_scenarios.campaign.plan import plan_trials
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import load_scenario, load_scenarios
from safety_scenarios.formats.profile_file import with_profile
from safety_scenarios.scenario.blocks.vary import Draw
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.scenario.world import MountedFrame
from safety_scenarios.trial.on_robot import fit, notes_of, on_robot
from safety_scenarios.trial.plan import drawn, varied
from unzipped import read_text

TB4 = """\
robot: {name: tb4, kind: mobile_base, max_speed: 0.6, radius: 0.2}
namespace: tb4
topics:
  scan: {type: sensor_msgs/msg/LaserScan, frame: laser}
  cmd_vel: {type: geometry_msgs/msg/TwistStamped}
  odom: {type: nav_msgs/msg/Odometry}
absent: [human_pose]
reference: [odom]
frames: {laser: {translation: [0.1, 0.0, 0.2], rotation: [0.0, 0.0, 1.5]}}
driver: {kind: diff_drive, timeout_s: 0.5}
"""
TRACKER = """\
robot: {name: tracker, kind: mobile_base}
topics: {human_pose: /people/nearest, cmd_vel: {}}
absent: [scan]
"""


@pytest.fixture
def profiles(tmp_path):
    for name, text in (('tb4', TB4), ('tracker', TRACKER)):
        (tmp_path / f'{name}.yaml').write_text(text, encoding='utf-8')
    return tmp_path


def settings_of(profile, **more):
    return RunSettings.model_validate(with_profile({'profile': str(profile), **more}))


def run(profile, scenario='SCN-R-101', **more):
    return safety_scenarios.run(scenario, profile=str(profile), seed=3, **{
        'link': 'loopback', 'world': 'none', 'calibration': 'off', **more})


def of_profile(profiles, name):
    return profiles / f'{name}.yaml' if name in ('tb4', 'tracker') else name


@pytest.mark.parametrize('name', ['base', 'turtlebot4', 'gazebo_hall', 'tb4', 'tracker'])
def test_one_file_runs_on_five_robots(profiles, name):
    found = run(of_profile(profiles, name), trials=2)
    assert [trial.verdict for trial in found.trials] == [Verdict.PASS] * 2


@pytest.mark.parametrize('name', ['base', 'turtlebot4', 'tb4', 'tracker'])
def test_who_never_stops_fails_on_each_robot(profiles, name):
    found = run(of_profile(profiles, name), controller='never_stop')
    assert [trial.verdict for trial in found.trials] == [Verdict.FAIL]


def test_one_file_runs_on_two_arms_with_other_names_of_joints():
    for name in ('arm', 'ur_ros2_control', 'gazebo_cell'):
        assert run(name, 'SCN-R-102').trials[0].verdict is Verdict.PASS


def test_a_role_that_is_missing_is_refused_with_what_to_add(profiles):
    (profiles / 'tb4.yaml').write_text(TB4.replace('absent: [human_pose]\n', ''), encoding='utf-8')
    with pytest.raises(InputError) as refused:
        run(profiles / 'tb4.yaml')
    told = str(refused.value)
    assert 'person_steps_near.yaml:' in told and 'ros.nominal.stimuli[1].topic' in told
    assert 'topics: {human_pose: {topic: human_pose, type: geometry_msgs/msg/PoseStamped}}' in told
    assert 'absent: [human_pose]' in told


def test_a_role_that_nothing_replaces_is_not_advised_to_be_absent(profiles, capsys):
    with pytest.raises(InputError, match='A robot that has none cannot run it'):
        run(profiles / 'tb4.yaml', 'SCN-R-109')
    assert main(['scenario', 'validate', str(profiles / 'tb4.yaml')]) == 2
    assert 'got the profile of a robot, expected a scenario' in capsys.readouterr().err


def test_who_is_left_without_a_hazard_is_named(fast, capsys):
    ids = 'SCN-R-101', 'SCN-R-D-101', 'SCN-R-104', 'SCN-R-D-104', 'SCN-R-107'
    *_, note = refused_lines(capsys, 'run', *ids, '--profile', str(fast), '--link', 'loopback')
    named = re.search(r'whose hazard is left out: (.*?)\. To run', note)
    skipped = json.loads(re.search(r'skip=(\[.*?\])', note)[1])
    assert named[1] == 'SCN-R-D-104' and skipped == ['SCN-R-101', 'SCN-R-104']


def test_a_hazard_that_nothing_else_shows_cannot_be_left_out(profiles):
    with pytest.raises(InputError, match='no other stimulus .* shows the same'):
        run(profiles / 'tracker.yaml', 'SCN-R-104')


def test_another_kind_of_robot_is_refused():
    with pytest.raises(InputError, match='got arm, and the profile base is of the kind'):
        run('base', 'SCN-R-102')


def test_those_for_another_kind_are_listed_in_one_line(capsys):
    assert main(['scenario', 'describe', '--profile', 'turtlebot4', 'SCN-R-101', 'SCN-R-102',
                 'SCN-R-103']) == 2
    shown = capsys.readouterr().out.splitlines()
    assert shown[-2:] == [
        'cannot run on this robot, whose kind is not arm: SCN-R-102 SCN-R-103',
        '1 of 3 scenarios run on turtlebot4: safety-scenarios run SCN-R-101 SCN-R-102 SCN-R-103 '
        '--profile turtlebot4 --set \'selection.skip=["SCN-R-102", "SCN-R-103"]\'']


FAST = """\
robot:
  {kind: mobile_base, max_speed: 1.8, stopping: {model: constant_deceleration, deceleration: 2.0}}
topics: {scan: {type: sensor_msgs/msg/LaserScan}, cmd_vel: {}}
absent: [human_pose, heartbeat]
"""


@pytest.fixture
def fast(tmp_path):
    (tmp_path / 'fast.yaml').write_text(FAST, encoding='utf-8')
    return tmp_path / 'fast.yaml'


def refused_lines(capsys, *words):
    """Return what a refused command prints, split where lines begin with what they are."""
    assert main(list(words)) == 2
    return capsys.readouterr().err.replace('\nerror', '\0error').replace(
        '\nnote', '\0note').split('\0')


def test_each_reason_is_told_once_with_its_scenarios_and_how_to_run_the_rest(
        fast, capsys, tmp_path):
    more = '--profile', str(fast), '--link', 'loopback', '--output', str(tmp_path / 'out')
    ids = 'SCN-R-101', 'SCN-R-D-101', 'SCN-R-104', 'SCN-R-108', 'SCN-R-D-108'
    *errors, note = refused_lines(capsys, 'run', *ids, *more)
    assert len(errors) == 2
    absent, = [line for line in errors if 'on human_pose, which the robot does not have' in line]
    assert absent.count('error: ') == 1 and '(SCN-R-108, SCN-R-D-108)' in absent
    too_fast, = [line for line in errors if f'{fast}:2:34: robot.max_speed: too fast' in line]
    assert 'too fast for 2 scenarios' in too_fast
    command = shlex.split(note.partition('To run the other 1: ')[2])
    assert command[1:7] == ['run', *ids] and command[-2:] == ['--output', more[-1]]
    assert '--seed' not in command
    assert main([*command[1:], '--set', 'calibration=off', '--set', 'jobs=1']) in (0, 1)
    shown = capsys.readouterr().out.splitlines()[-1]
    assert '1 of 1 trial: ' in shown and '; 4 scenarios skipped; exit code' in shown
    assert main(['evaluate', more[-1]]) in (0, 1)
    assert '; 4 scenarios skipped; exit code' in capsys.readouterr().out.splitlines()[-1]
    assert main([*command[1:-2], '--output', str(tmp_path / 'both'), '--set', 'jobs=1',
                 '--controller', 'rule_based', '--controller', 'never_stop']) in (0, 1)
    assert '; 4 scenarios skipped; exit code' in capsys.readouterr().out.splitlines()[-1]
    assert main(['scenario', 'describe', '--profile', str(fast), *ids]) == 2
    assert shlex.split(capsys.readouterr().out.splitlines()[-1].partition(f'{fast}: ')[2]) == [
        one for one in command[:-2] if one not in ('--link', 'loopback')]


def test_a_robot_that_is_too_fast_is_told_up_to_which_speed_the_scenario_fits(fast, capsys):
    """At that speed it can be run, and a hundredth above it cannot."""
    found = fit(settings_of(fast), load_scenario('SCN-R-101'))
    assert found.problems[0].field == 'latency_budget.critical_ms'
    speed = found.fits_up_to
    for more, is_fit in ((0.0, True), (0.01, False)):
        robot = {'max_speed': round(speed + more, 2)}
        assert (not fit(settings_of(fast, robot=robot), load_scenario(
            'SCN-R-101')).problems) is is_fit
    assert main(['scenario', 'describe', '--profile', str(fast), 'SCN-R-101']) == 2
    assert f'too fast: 1.8 m/s, fits up to {speed:g} m/s: ' in capsys.readouterr().out


@pytest.mark.parametrize(('profile', 'scenario', 'why'), [
    ('fast', 'SCN-R-108', 'missing'), ('fast', 'SCN-R-109', 'missing'),
    ('turtlebot4', 'SCN-R-107', 'does not fit')])
def test_what_is_wrong_at_every_speed_is_not_told_as_too_fast(fast, profile, scenario, why):
    found = fit(settings_of(fast if profile == 'fast' else profile), load_scenario(scenario))
    assert found.problems and (found.why, found.fits_up_to) == (why, None)


def test_brakes_that_need_more_grip_than_the_floor_has_do_not_fit(fast):
    """8 m/s^2 on a floor with the friction 0.8, on which wheels brake at most at 7.85 m/s^2."""
    for braking, problems in ((7.8, 0), (8.0, 1)):
        robot = {'max_speed': 1.0, 'stopping': {
            'model': 'constant_deceleration', 'deceleration': braking}}
        found = fit(settings_of(fast, robot=robot), load_scenario('SCN-R-201')).problems
        assert len(found) == problems
        assert all(one.field == 'ros.world.floor' and 'at most at 7.85 m/s^2' in one.message
                   for one in found)


def test_a_driver_that_brakes_more_softly_than_the_robot_declares_does_not_fit(fast, tmp_path):
    for braking, fields in ((2.0, []), (1.9, ['ros.commands[0].driver'])):
        path = tmp_path / f'{braking}.yaml'
        path.write_text(FAST.replace('1.8', '1.0') + 'driver: {kind: diff_drive, linear: '
                        f'{{max_acceleration: 0.5, max_deceleration: -{braking}}}}}\n')
        found = fit(settings_of(path), load_scenario('SCN-R-101')).problems
        assert [one.field for one in found] == fields


def test_a_limit_that_is_the_top_speed_is_that_of_the_robot(fast):
    """Others stay: what a scenario asks of every robot is no matter of its profile."""
    for speed in (0.4, 1.8):
        body = fit(settings_of(fast, robot={'max_speed': speed}),
                   load_scenario('SCN-R-D-110')).scenario.body
        [own] = [one for one in body.invariants if one.name == 'never faster than its limit']
        [jolts] = [one for one in body.invariants if one.name == 'no jolts']
        assert (own.at_most, jolts.rate_at_most) == (speed, 1.0)
    more = {'link': 'loopback', 'trials': 2}
    assert {one.verdict for one in run(fast, 'SCN-R-D-110', **more).trials} == {Verdict.PASS}
    told = run(fast, 'SCN-R-D-110', controller='races', **more).trials
    assert {one.verdict for one in told} == {Verdict.FAIL}


def test_a_robot_that_would_end_behind_the_hazard_is_too_fast(fast):
    """0.3 m are free, of which 0.5 m/s takes 0.175 m in 350 ms, and 0.0625 m of braking."""
    found = fit(settings_of(fast), load_scenario('SCN-R-110'))
    [problem] = found.problems
    assert problem.field == 'latency_budget.critical_ms' and 'behind the hazard' in problem.message
    assert found.fits_up_to == pytest.approx(0.60, abs=0.02)


def test_a_robot_that_would_end_behind_who_walks_into_its_path_is_too_fast():
    """The person stands 2.25 m ahead of the bumper; from 1.07 m/s on that is too near."""
    found = fit(settings_of('base', robot={'max_speed': 1.5}), load_scenario('SCN-R-203'))
    [problem] = found.problems
    assert 'behind the hazard at 2.25 m' in problem.message
    assert found.fits_up_to == pytest.approx(1.09, abs=0.03)
    slow = fit(settings_of('base', robot={'max_speed': 1.5}), load_scenario('SCN-R-227'))
    assert not slow.problems  # nobody is in its path by then


def test_a_slow_robot_has_time_for_who_overtakes_and_cuts_in():
    """The person stands near enough for it, however slow it is."""
    found = run('turtlebot4', 'SCN-R-203', link='simulated', world='mujoco', words='patterns')
    assert {one.verdict for one in found.trials} == {Verdict.PASS}


def test_the_top_speed_in_a_world_is_that_of_the_robot():
    """A faster robot may drive as fast as it can in every world with a base."""
    for scenario in load_scenarios(['worlds', 'faults']).scenarios:
        if scenario.body.robot.kind == 'mobile_base':
            own, = (one for one in scenario.body.invariants if getattr(one, 'top_speed', False))
            assert own.at_most == scenario.body.robot.max_speed


def test_a_fault_of_a_scanner_fits_a_robot_whose_scanner_is_ahead():
    """It alters the messages, and has no frame of its own."""
    found = fit(settings_of('turtlebot4'), load_scenario('SCN-R-105'))
    assert not found.problems
    assert found.scenario.body.stimuli == load_scenario('SCN-R-105').body.stimuli[:1]


def test_a_reaction_that_a_slow_robot_always_shows_is_refused():
    with pytest.raises(InputError, match='always meets, so that it would show nothing'):
        run('turtlebot4', 'SCN-R-107')


def test_another_type_on_the_command_topic_is_refused(profiles):
    (profiles / 'tb4.yaml').write_text(TB4.replace('TwistStamped', 'PoseStamped'),
                                       encoding='utf-8')
    with pytest.raises(InputError, match='the driver diff_drive of .* takes'):
        run(profiles / 'tb4.yaml')


def test_draws_set_the_same_fields_when_stimuli_are_left_out(profiles):
    """What is drawn for the tracker alone is drawn no more; all else is what it was."""
    before = load_scenario('SCN-R-107')
    [after] = on_robot(settings_of(profiles / 'tracker.yaml'), [before])
    values = drawn(before.body.vary, 7)
    whole = varied(before, {**values, 'shown_by': ('scan', 'human_pose')}).body
    part = varied(after, drawn(after.body.vary, 7)).body
    assert [one.topic for one in part.stimuli] == ['human_pose']
    assert part.stimuli[0].distance == whole.stimuli[1].distance
    assert part.stimuli[0].bearing == whole.stimuli[1].bearing
    assert part.nominal.stimuli[0].distance == whole.nominal.stimuli[1].distance
    assert [one.stimuli[0].distance for one in part.nominal.changes] == [
        one.stimuli[1].distance for one in whole.nominal.changes]
    assert part.all_clear == whole.all_clear


@pytest.mark.parametrize(('path', 'robot', 'told'), [
    ('ros.separation.reach', 'radius: 0.8', 'which the robot changes from 0.55 to 1.05'),
    ('ros.separation.other_time', 'brake_delay: 0.2', 'which the robot changes from 0.13 to 0.33'),
    ('ros.separation.intrusion', 'radius: 0.8', '')])
def test_no_draw_takes_the_place_of_a_value_of_the_robot(tmp_path, path, robot, told):
    """The person must not be 0.5 m nearer to a robot that is 0.5 m wider than the draw says."""
    (tmp_path / 'own.yaml').write_text(
        f'robot: {{kind: mobile_base, max_speed: 0.6, {robot}}}\n'
        'topics: {scan: {}, human_pose: {}, cmd_vel: {}}\n', encoding='utf-8')
    scenario = load_scenario('SCN-R-101')
    scenario = scenario.model_copy(update={'body': scenario.body.model_copy(update={
        'vary': {'own': Draw(range=(0.1, 0.2), sets=(path,))}})})
    found = fit(settings_of(tmp_path / 'own.yaml'), scenario)
    assert [one.field for one in found.problems] == ['ros.vary.own'] * bool(told)
    assert all(told in one.message for one in found.problems)


def test_frames_of_robot_and_scenario_make_no_circle(tmp_path):
    """Whoever reads the record of such a trial would refuse it."""
    (tmp_path / 'own.yaml').write_text(
        'robot: {kind: mobile_base}\ntopics: {scan: {}, human_pose: {}, cmd_vel: {}}\n'
        'frames: {laser: {parent: mast}}\n', encoding='utf-8')
    scenario = load_scenario('SCN-R-101')
    scenario = scenario.model_copy(update={'body': scenario.body.model_copy(update={
        'frames': (MountedFrame(frame='mast', parent='laser'),)})})
    [problem] = fit(settings_of(tmp_path / 'own.yaml'), scenario).problems
    assert 'got the circle mast -> laser -> mast' in problem.message


def test_values_of_the_robot_replace_those_of_the_scenario(profiles):
    body = fit(settings_of(profiles / 'tb4.yaml'), load_scenario('SCN-R-101')).scenario.body
    before = load_scenario('SCN-R-101').body
    assert (body.robot.max_speed, body.robot.radius) == (0.6, 0.2)
    assert body.robot.stopping == before.robot.stopping
    assert body.separation.reach == pytest.approx(before.separation.reach - 0.1)
    assert body.nominal.require.at_least == pytest.approx(before.nominal.require.at_least * 0.6)
    assert body.commands[0].message == 'geometry_msgs/msg/TwistStamped'
    assert body.commands[0].driver.kind == 'diff_drive' and not body.commands[0].driver.assumed
    assert body.silence.driver_timeout_ms == 500.0
    assert [one.topic for one in body.feedback] == ['odom']
    assert [one.frame for one in body.frames] == ['laser']


@pytest.mark.parametrize(('scenario', 'check', 'least'), [
    ('SCN-R-D-101', 'does not stop for nothing', 0.2), ('SCN-R-109', 'clears the rails', 0.2),
    ('SCN-R-107', 'goes on', 0.1)])
def test_a_slower_robot_need_not_drive_on_faster_than_it_can(scenario, check, least):
    """As much less as before the hazard; of a faster robot no more is asked."""
    for speed, asked in ((0.6, 0.6 * least), (1.5, least)):
        found = fit(settings_of('base', robot={'max_speed': speed}), load_scenario(scenario))
        one, = (one for one in found.scenario.body.invariants if one.name.startswith(check))
        assert one.at_least == pytest.approx(asked)
        notes = [note for note in found.notes if 'at_least' in note]
        assert len(notes) == (2 if speed < 1 else 0) and all('slower' in note for note in notes)


def test_a_robot_in_another_unit_is_told_first(profiles, capsys):
    path = profiles / 'mm.yaml'
    path.write_text(TB4.replace('max_speed: 0.6', 'max_speed: 460'), encoding='utf-8')
    notes = fit(settings_of(path), load_scenario('SCN-R-D-101')).notes
    assert notes[0].startswith('ros.robot.max_speed: got 460 m/s, expected between')
    assert not any('another unit' in note for note in notes[1:])
    assert main(['scenario', 'describe', '--profile', str(path), 'SCN-R-D-101']) == 0
    assert 'max_speed: got 460 m/s' in capsys.readouterr().out


def test_the_reach_of_an_arm_turns_its_speed_into_metres(tmp_path):
    """A longer arm needs more distance than the one of 1 m that the scenario is written for."""
    shipped, found = load_scenario('SCN-R-102'), []
    for more in ({}, {'robot': {'reach': 1.02}}):
        fitted = fit(settings_of('arm', **more), shipped)
        assert not fitted.problems
        found.append((fitted.scenario.body.separation.metres_per_unit, fitted.notes[-1]))
    assert found == [
        (1.0, 'ros.separation.metres_per_unit: 1, as in the scenario: the profile has no '
              'robot.reach'),
        (1.02, 'ros.separation.metres_per_unit: 1.02 instead of 1, by the reach of the robot')]
    [problem] = fit(settings_of('arm', robot={'reach': 1.5}), shipped).problems
    assert problem.field == 'latency_budget.critical_ms'  # too near for any controller
    path = tmp_path / 'base.yaml'
    path.write_text('robot: {kind: mobile_base, reach: 1.5}')
    with pytest.raises(InputError, match='got reach of mobile_base, expected it of an arm'):
        settings_of(path)


def test_scans_come_from_where_the_scanner_is(profiles):
    found = run(profiles / 'tb4.yaml', trials=4, output=profiles / 'out')
    frames = set()
    for path in (profiles / 'out' / 'traces').rglob('*.events.jsonl.gz'):
        frames |= {part.split('"')[2] for part in read_text(path).split('"frame_id')[1:]}
    assert found.trials[0].verdict is Verdict.PASS
    assert 'laser_left' not in frames and 'laser_backwards' not in frames


def test_a_scan_shows_the_hazard_where_it_is_from_a_scanner_on_a_chain_of_frames(profiles):
    """The nearest range counts from the scanner, 0.25 m ahead of the robot's origin."""
    (profiles / 'tb4.yaml').write_text(TB4.replace('laser: {', 'laser: {parent: foot, ').replace(
        'rotation: [0.0, 0.0, 1.5]}}', 'rotation: [0.0, 0.0, 1.5]}, base_link: '
        '{parent: foot, translation: [-0.15, 0.0, 0.1]}}'), encoding='utf-8')
    settings = settings_of(profiles / 'tb4.yaml', link='loopback', seed=3)
    trial, = plan_trials(settings, on_robot(settings, [load_scenario('SCN-R-104')]),
                         ControllerSpec(name='rule_based'), connection('loopback'))
    [hazard] = trial.hazard
    assert hazard.scanner.mounted.translation == pytest.approx((0.25, 0.0, 0.0))
    message = hazard.at(0, 0, StimulusContext('x', (), None)).message
    assert min(message.data['ranges']) == pytest.approx(hazard.distance - 0.25, abs=0.01)
    assert run(profiles / 'tb4.yaml', 'SCN-R-104').trials[0].verdict is Verdict.PASS


NARROW = 'frame: laser, scanner: {angle_min: %s, angle_max: %s, angle_increment: %s}'


@pytest.mark.parametrize('scenario', ['SCN-R-104', 'SCN-R-D-101'])
def test_a_scan_has_the_angles_of_the_robots_own_scanner(profiles, scenario):
    """Whatever a scenario draws: 270 degrees about the 0 of its frame, 1.5 rad to the left."""
    text = TB4.replace('frame: laser', NARROW % (-2.3562, 2.3562, 0.0058))
    (profiles / 'tb4.yaml').write_text(text, encoding='utf-8')
    settings = settings_of(profiles / 'tb4.yaml', link='loopback', seed=3, trials=3)
    for trial in plan_trials(settings, on_robot(settings, [load_scenario(scenario)]),
                             ControllerSpec(name='rule_based'), connection('loopback')):
        [shown] = trial.hazard
        data = shown.at(0, 0, StimulusContext('x', (), None)).message.data
        assert (len(data['ranges']), data['header']['frame_id']) == (813, 'laser')
        assert (data['angle_min'], data['angle_max']) == pytest.approx((-2.3562, 2.3534), abs=2e-4)
        assert shown.scanner.mounted.rotation[2] == pytest.approx(1.5)
        nearest = min(range(813), key=data['ranges'].__getitem__)
        if scenario == 'SCN-R-104':  # the box is across the path
            assert data['angle_min'] + nearest * 0.0058 + 1.5 == pytest.approx(0.0, abs=0.2)
    assert run(profiles / 'tb4.yaml', scenario).trials[0].verdict is Verdict.PASS


def test_a_hazard_that_the_scanner_does_not_see_is_refused(profiles):
    text = TB4.replace('frame: laser', NARROW % (0.0, 2.3562, 0.0058))
    (profiles / 'tb4.yaml').write_text(text, encoding='utf-8')
    with pytest.raises(InputError, match='SCN-R-104: trial 1: got the hazard obstacle on scan, '
                                         'where the scanner of the robot does not see it.*'
                                         'Correct its angles or its frame in the profile'):
        run(profiles / 'tb4.yaml', 'SCN-R-104')


@pytest.mark.parametrize(('angles', 'told'), [
    ((-2.0, 2.0, 0.0), 'rays'), ((-2.0, 2.0, -0.01), 'rays'), ((-4.0, 4.0, 0.01), 'one turn')])
def test_angles_that_no_scanner_has_are_refused(profiles, angles, told):
    (profiles / 'tb4.yaml').write_text(TB4.replace('frame: laser', NARROW % angles),
                                       encoding='utf-8')
    with pytest.raises(InputError, match=told):
        settings_of(profiles / 'tb4.yaml')


def test_the_result_states_what_is_left_out(profiles):
    [trial] = run(profiles / 'tb4.yaml').trials
    [note] = [note for note in trial.notes if note.code == 'robot-profile']
    assert 'human_pose is left out' in note.text and note.text.startswith('on the robot tb4')


def test_a_moved_folder_without_the_profile_is_judged_the_same(profiles):
    out = profiles / 'out'
    run(profiles / 'tb4.yaml', output=out)
    moved = profiles / 'elsewhere'
    shutil.move(out, moved)
    (profiles / 'tb4.yaml').unlink()
    found = rejudge(moved)
    assert [(one.identical, one.after.verdict) for one in found] == [(True, Verdict.PASS)]
    assert not found.flaws
    again = rejudge(moved, scenarios=[load_scenario('SCN-R-101')])
    assert [one.after.verdict for one in again] == [Verdict.PASS]
    told = json.loads((moved / 'settings.json').read_text())
    assert told['values']['driver.kind'] == {'value': 'diff_drive', 'source': 'profile tb4.yaml'}
    assert str(profiles / 'tb4.yaml') not in (moved / 'settings.json').read_text()


def test_without_a_profile_nothing_is_changed():
    scenario = load_scenario('SCN-R-101')
    assert on_robot(RunSettings(), [scenario]) == (scenario,)
    assert notes_of(scenario) is None


def test_quality_of_service_of_the_robot_is_that_of_our_endpoints():
    settings = settings_of('turtlebot4')
    [override, _] = settings.topics['scan'].qos.overrides(settings.names.full('scan'))
    assert (override.parameter, override.value) == (
        'qos_overrides./scan.publisher.reliability', 'best_effort')


def test_brakes_that_take_hold_late_cost_way_in_the_world_and_in_what_is_needed(tmp_path):
    text = ('robot: {{kind: mobile_base, max_speed: 0.5, brake_delay: {}, '
            'stopping: {{model: constant_deceleration, deceleration: 0.8}}}}\n'
            'topics: {{cmd_vel: cmd_vel, scan: {{type: sensor_msgs/msg/LaserScan}}, '
            'human_pose: {{type: geometry_msgs/msg/PoseStamped}}}}\n')
    ways = []
    for delay_s in (0.03, 0.25):
        profile = tmp_path / f'{delay_s}.yaml'
        profile.write_text(text.format(delay_s))
        body = fit(settings_of(profile), load_scenario('SCN-R-101')).scenario.body
        assert body.separation.other_time == pytest.approx(0.13 + delay_s)
        result, = run(profile, link='simulated', world='mujoco').trials
        assert result.verdict is Verdict.PASS
        ways.append(result.latency.stop.way)
    assert ways[1] - ways[0] == pytest.approx(0.22 * 0.4, abs=0.01)  # it cruises at 0.4 m/s
