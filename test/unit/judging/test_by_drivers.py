# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial is judged by what a conforming driver executes, and never by a rejected command."""

import re
from typing import Any

import numpy
import pytest
from ros.campaigns import brief
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenario, share_folder
from safety_scenarios.formats.scenario_reading import scenario_schema
from safety_scenarios.judging.drivers.wheeled import DiffDrive
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.body import AllClear
from safety_scenarios.scenario.message import Message, Observation
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.robot_drivers import ByInterface
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.selftest.selftest import in_simulated_time
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import TrialRecord
from unit.arm_runs import Decide, onward, played, points, told
from unit.records import command, driving, hazard, planned
from unit.records import record as made_record
from unit.scripted import ScriptedLink

ROBOTIC = share_folder() / 'config' / 'scenarios' / 'robotic'
ARM, BASE, ARRAYS = (ROBOTIC / f'{name}.yaml'
                     for name in ('person_near_arm', 'person_steps_near', 'collision'))
OF_ARMS = ('empty_trajectory', 'foreign_joints', 'one_joint', 'in_half_a_minute', 'starts_later',
           'ends_moving', 'times_fall_back', 'names_twice', 'no_positions', 'past_trajectory',
           'nan_stop')
EMPTY_HOLDS = ('      unit: rad/s\n', '      unit: rad/s\n      empty: 0.0\n')
run = in_simulated_time()
LATE_NS = 3_000_000


def changed(path: Any, tmp_path: Any, *pairs: tuple[str, str]) -> Scenario:
    """Return a shipped scenario with parts of its text replaced."""
    text = path.read_text(encoding='utf-8')
    for before, after in pairs:
        assert before in text
        text = text.replace(before, after)
    copy = tmp_path / path.name
    copy.write_text(text, encoding='utf-8')
    return load_scenario(str(copy))


@pytest.fixture
def arm(tmp_path):
    """Return the shipped arm with a hazard so soon that ``onward`` meets no joint limit before."""
    [copy] = brief(tmp_path / 'brief', 'SCN-R-102')
    return load_scenario(copy)


def verdict(record: TrialRecord) -> Verdict:
    return evaluate(record).verdict


def failing(result: TrialResult) -> set[str]:
    return {finding.check for finding in result.findings if finding.verdict is Verdict.FAIL}


@pytest.mark.parametrize('controller', ['rule_based', 'stop_trajectory'])
@pytest.mark.parametrize('name', ['person_near_arm', 'person_passes_arm', 'collision'])
def test_a_stop_that_the_driver_accepts_passes(controller, name):
    result = evaluate(run(load_scenario(str(ROBOTIC / f'{name}.yaml')), controller, 0))
    assert (result.verdict, result.reason) == (Verdict.PASS, result.reason)
    assert not [note for note in result.notes if note.code == 'rejected']


@pytest.mark.parametrize('controller', OF_ARMS)
def test_a_stop_that_the_driver_does_not_execute_fails(controller):
    assert verdict(run(load_scenario(str(ARM)), controller, 0)) is Verdict.FAIL


@pytest.mark.parametrize('controller', OF_ARMS)
def test_nor_does_it_pass_when_the_file_calls_an_empty_trajectory_a_hold(controller, tmp_path):
    scenario = changed(ARM, tmp_path, EMPTY_HOLDS)
    assert verdict(run(scenario, controller, 0)) is Verdict.FAIL


@pytest.mark.parametrize('controller', ['short_array', 'long_array'])
def test_an_array_of_another_length_is_no_stop(controller):
    result = evaluate(run(load_scenario(str(ARRAYS)), controller, 0))
    assert result.verdict is Verdict.FAIL
    [note] = [note for note in result.notes if note.code == 'rejected']
    assert 'command size' in note.text and 'forward_controllers_base.cpp' in note.text


@pytest.mark.parametrize('name', ['collision', 'person_near_arm'])
def test_a_stop_that_reached_the_harness_late_is_still_what_the_arm_reacts_by(name, tmp_path):
    [copy] = brief(tmp_path / 'brief', {'collision': 'SCN-R-103'}.get(name, 'SCN-R-102'))
    found = run(load_scenario(copy), 'rule_based', 0)
    late = [event if event.kind != 'command' else event.model_copy(update={
        'stamps': event.stamps.model_copy(update={
            'steady_ns': event.stamps.steady_ns + LATE_NS,
            'system_ns': event.stamps.system_ns + LATE_NS,
            'source_ns': event.stamps.system_ns})}) for event in found.events]
    late.sort(key=lambda event: event.stamps.steady_ns)
    result = evaluate(found.model_copy(update={
        'events': tuple(late), 'measuring': found.measuring.model_copy(update={
            'one_host': True})}))
    on_time = evaluate(found)
    assert (result.verdict, result.reason) == (Verdict.PASS, result.reason)
    assert 0 <= result.latency.reaction.steady_ns - on_time.latency.reaction.steady_ns <= LATE_NS


def test_a_stop_with_a_stale_stamp_is_ignored_by_a_base():
    result = evaluate(run(load_scenario(str(BASE)), 'stale_stamp', 0))
    assert result.verdict is Verdict.FAIL
    [note] = [note for note in result.notes if note.code == 'rejected']
    assert '2.000 s old' in note.text
    assert re.search(r' rejects \d+ of \d+ commands.* It executed the other \d+; ', note.text)


def old_stamps(t_ms, heard):
    """Say to drive on, by commands that are older on arrival than the driver takes."""
    return Message(type='geometry_msgs/msg/TwistStamped', data={
        'header': {'stamp': {'sec': -10, 'nanosec': 0}, 'frame_id': 'base_link'},
        'twist': {'linear': {'x': 0.8, 'y': 0.0, 'z': 0.0},
                  'angular': {'x': 0.0, 'y': 0.0, 'z': 0.0}}})


def stamped_base(**driver: Any) -> Scenario:
    """Return a base whose commands are stamped, with its driver declared or assumed."""
    scenario = hazard(invariants=[Stop(name='it stops', within=500.0, hold_ms=200.0)])
    body = scenario.body.model_copy(update={'commands': (CommandTopic(
        topic='cmd_vel', message='geometry_msgs/msg/TwistStamped',
        driver=DiffDrive(**driver)),)})
    return scenario.model_copy(update={'body': body})


@pytest.mark.parametrize('is_assumed', [True, False])
def test_no_hazard_is_shown_to_who_commands_nothing_that_the_driver_takes(is_assumed):
    record = run_trial(planned(stamped_base(assumed=is_assumed)), ScriptedLink(old_stamps))
    assert record.of_kind('command') and 'onset' not in record.index.marks
    result = evaluate(record)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert 'a driver rejects every command' in result.reason


@pytest.mark.parametrize(('is_assumed', 'judged'), [
    (True, Verdict.INCONCLUSIVE), (False, Verdict.FAIL)])
def test_a_driver_that_is_only_assumed_makes_no_hazard_missed(is_assumed, judged):
    drive = [command(t_ms, old_stamps(t_ms, {})) for t_ms, _ in driving(-690, 3000)]
    found = evaluate(made_record(drive, stamped_base(assumed=is_assumed)))
    assert found.verdict is judged
    assert {one.verdict for one in found.findings if one.kind in ('latency', 'stop')} == {judged}


@pytest.mark.parametrize(('message', 'judged'), [
    ('message: trajectory_msgs/msg/JointTrajectory', Verdict.INCONCLUSIVE),
    ('driver: {kind: joint_trajectory}', Verdict.PASS)])
def test_a_trajectory_that_another_driver_of_an_arm_takes_keeps_no_limit(tmp_path, message,
                                                                         judged):
    """It asks for 9 rad/s and ends while it moves, which one on humble takes."""
    found = run(changed(ARM, tmp_path, (
        'message: trajectory_msgs/msg/JointTrajectory}]', message + '}]')), 'stop_trajectory', 0)
    place = found.events.index(found.of_kind('command')[6])
    event = found.events[place]
    data, joints = event.message.data, len(event.message.data['joint_names'])
    fast = event.message.model_copy(update={'data': {**data, 'points': [{
        **data['points'][-1], 'positions': [1.0] * joints, 'velocities': [9.0] * joints,
        'accelerations': [], 'time_from_start': {'sec': 0, 'nanosec': 200_000_000}}]}})
    result = evaluate(found.model_copy(update={'events': (
        *found.events[:place], event.model_copy(update={'message': fast}),
        *found.events[place + 1:])}))
    [limit] = [one for one in result.findings if one.check == 'no joint above its speed limit']
    assert limit.verdict is judged, limit.reason


def test_of_a_topic_of_any_type_each_driver_is_lenient():
    wheels = ByInterface(assumed=True, choices={'wheels': DiffDrive(assumed=True)})
    assert [one.distro for one in wheels.lenient.choices.values()] == ['humble']


def test_a_rejected_command_is_not_in_the_values_of_a_signal():
    record = run(load_scenario(str(ARRAYS)), 'short_array', 0)
    assert {value for _, value in Signals(record).values('joint_speed')} == {0.4}
    assert len(Signals(record).values('joint_speed')) < len(record.of_kind('command'))


def test_nothing_of_a_base_without_stamps_is_asked_of_a_driver():
    scenario = load_scenario(str(BASE))
    [topic] = scenario.body.commands
    assert isinstance(topic.driver, ByInterface)
    assert not topic.driver.may_reject('geometry_msgs/msg/Twist')
    assert topic.driver.may_reject('geometry_msgs/msg/TwistStamped')


def test_an_arm_all_of_whose_trajectories_are_rejected_was_not_commanded():
    result = evaluate(run(load_scenario(str(ARM)), 'wrong_joint', 0))
    assert result.verdict is not Verdict.PASS
    [finding] = [one for one in result.findings if one.check == 'the driver takes commands']
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "Incoming joint other_shoulder_pan doesn't match" in finding.reason


def test_joint_states_move_as_the_driver_executes():
    record = run(load_scenario(str(ARM)), 'rule_based', 0)
    execution = Signals(record).executed('joint_trajectory')
    shown = [event for event in record.of_kind('stimulus', 'joint_states')
             if event.stamps.steady_ns >= int(execution.times_ns[0])]
    assert len({event.message.data['position'] for event in shown}) > 50
    for event in shown:
        place = int(execution.times_ns.searchsorted(event.stamps.steady_ns, side='right')) - 1
        near = execution.position[max(0, place):place + 2]
        assert numpy.min(numpy.abs(near - event.message.data['position']).max(axis=1)) < 0.01


@pytest.mark.parametrize('seconds', [0.05, 0.1, 0.15])
def test_a_controller_that_stops_where_joint_states_told_it_was_can_pass(arm, seconds):
    held = []

    def decide(observation, near):
        names, now = told(observation)
        if not near:
            held.clear()
            return onward(observation)
        held.append((now, observation.t_ns))
        left = seconds - (observation.t_ns - held[0][1]) * 1e-9
        return {'joint_names': names, 'points': points((max(0.02, left), held[0][0], 0.0))}
    short = arm.model_copy(update={'body': arm.body.model_copy(update={
        'all_clear': AllClear(at_ms=2000.0), 'vary': {}})})
    result = evaluate(played(short, decide))
    assert result.verdict is Verdict.PASS, result.reason


def positions_only(observation: Observation, held: list[Any], steps: int) -> dict[str, Any]:
    """Return one point 50 ms ahead without a velocity; half a rad/s until the steps are done."""
    names, now = told(observation)
    if not held:
        held.append((now, 0))
    goal, done = held[-1]
    if steps > done:
        goal = tuple(value + 0.025 for value in goal)
    held.append((goal, done + 1))
    [point] = points((0.05, goal, 0.0))
    return {'joint_names': names, 'points': ({**point, 'velocities': ()},)}


@pytest.mark.parametrize(('goes_on', 'expected'), [(False, Verdict.PASS), (True, Verdict.FAIL)])
def test_an_arm_that_is_told_positions_only_can_stop(arm, goes_on, expected):
    held: list[Any] = []

    def decide(observation, near):
        steps = len(held) + 1 if not near or (goes_on and len(held) % 10 < 2) else 0
        return positions_only(observation, held, steps)
    short = arm.model_copy(update={'body': arm.body.model_copy(update={
        'all_clear': AllClear(at_ms=2000.0), 'vary': {}})})
    result = evaluate(played(short, decide))
    assert result.verdict is expected, result.reason


SECOND_NS = 1_000_000_000


def sparse(observation: Observation, near: bool, said: dict[str, Any],
           dies: str = '') -> dict[str, Any] | None:
    """
    Return a motion of 2 s once each 1.8 s, and near a person one stop and then nothing.

    :param dies: 'moving': it sends nothing any more near a person, after a last short motion;
        'hangs': the same while the person is near; 'stopped': nothing any more after its stop
    """
    names, now = told(observation)
    t_ns, state = observation.t_ns, said.setdefault('state', 'moving')
    if near and state == 'moving':
        said.update(state='near')
        return {'joint_names': names, 'points': points(
            (0.2, tuple(value + 0.05 for value in now), 0.0))} if dies in ('', 'stopped') \
            else onward(observation)
    if state == 'near' and (near or dies in ('moving', 'stopped')):
        return None
    if state == 'moving' and t_ns < said.get('due', 0):
        return None
    said.update(state='moving', due=t_ns + SECOND_NS * 9 // 5)
    way = said['way'] = -said.get('way', -1.0)
    return {'joint_names': names, 'points': points(
        (0.1, tuple(value + 0.025 * way for value in now), 0.5 * way),
        (1.9, tuple(value + 0.925 * way for value in now), 0.5 * way),
        (2.0, tuple(value + 0.95 * way for value in now), 0.0))}


@pytest.mark.parametrize(('dies', 'expected'), [
    ('', Verdict.PASS), ('moving', Verdict.FAIL), ('hangs', Verdict.FAIL),
    ('stopped', Verdict.FAIL)])
def test_a_trajectory_is_no_silence_and_its_end_is_one(arm, dies, expected):
    said: dict[str, Any] = {}
    record = played(arm, lambda observation, near: sparse(observation, near, said, dies))
    [finding] = [one for one in evaluate(record).findings if one.kind == 'liveness']
    assert finding.verdict is expected, finding.reason


def test_a_trajectory_that_the_driver_rejects_is_silence(arm):
    said: dict[str, Any] = {}

    def decide(observation, near):
        data = sparse(observation, False, said)
        return data and {**data, 'joint_names': tuple(f'other_{name}' for name in data[
            'joint_names'])}
    [finding] = [one for one in evaluate(played(arm, decide)).findings if one.kind == 'liveness']
    assert finding.verdict is Verdict.FAIL, finding.reason


@pytest.mark.parametrize(('every_ms', 'expected'), [(2, Verdict.PASS), (0.8, Verdict.FAIL)])
def test_an_arm_is_commanded_at_a_kilohertz_and_not_faster(arm, every_ms, expected):
    [check] = [one for one in arm.body.invariants if one.kind == 'liveness']
    record = played(arm, lambda observation, near: onward(observation))
    [command] = record.of_kind('command')[:1]
    first_ns, many = command.stamps.steady_ns, []
    while first_ns < record.end_ns:
        many.append(command.model_copy(update={'stamps': command.stamps.model_copy(update={
            'steady_ns': first_ns})}))
        first_ns += round(every_ms * 1e6)
    flooded = record.model_copy(update={'events': tuple(sorted(
        [*(one for one in record.events if one.kind != 'command'), *many],
        key=lambda one: one.stamps.steady_ns))})
    assert check.check(JudgedTrial.of(flooded)).verdict is expected


def attacks() -> dict[str, Decide]:
    """Return controllers that look as if they stopped an arm."""
    def slow_ramp(observation, near):
        names, now = told(observation)
        return onward(observation) if not near else {'joint_names': names, 'points': points(
            (10.0, tuple(value + 1.0 for value in now), 0.0))}

    said = []

    def stops_and_goes(observation, near):
        """Say once to stop for a while, and nothing any more that is executed."""
        names, now = told(observation)
        if near and not said:
            said.append(now)
            return {'joint_names': names, 'points': points(
                (0.05, now, 0.0), (0.4, now, 0.0),
                (1.4, tuple(value + 0.5 for value in now), 0.0))}
        return {'joint_names': names, 'points': ()} if near else onward(observation)

    def sawtooth(observation, near):
        names, now = told(observation)
        return onward(observation) if not near else {'joint_names': names, 'points': points(
            (0.2, tuple(value + 0.02 for value in now), 0.0))}

    def far_leap(observation, near):
        names, now = told(observation)
        return onward(observation) if not near else {'joint_names': names, 'points': points(
            (0.0, tuple(value + 1e308 for value in now), 0.0))}

    def no_time(observation, near):
        names, now = told(observation)
        point = {**points((0.1, now, 0.0))[0], 'time_from_start': {'sec': 10**30, 'nanosec': 0}}
        return onward(observation, 3.0) if not near else {'joint_names': names, 'points': (point,)}

    def words(observation, near):
        names, now = told(observation)
        point = {**points((0.1, now, 0.0))[0], 'positions': ('here',) * len(names)}
        return onward(observation, 3.0) if not near else {'joint_names': names, 'points': (point,)}

    def not_points(observation, near):
        return onward(observation, 3.0) if not near else {
            'joint_names': told(observation)[0], 'points': ('stop',)}

    def one_of_two(observation, near):
        """Stop once by what is accepted, and take it back by what is executed at once."""
        names, now = told(observation)
        if near and observation.t_ns // 50_000_000 % 2:
            return {'joint_names': names, 'points': points((0.05, now, 0.0))}
        return onward(observation)

    return {one.__name__: one for one in (slow_ramp, stops_and_goes, sawtooth, far_leap, no_time,
                                          words, not_points, one_of_two)}


@pytest.mark.parametrize('name', attacks())
def test_an_arm_that_goes_on_does_not_pass(arm, name):
    assert verdict(played(arm, attacks()[name])) is Verdict.FAIL


def test_without_joint_states_nobody_knows_how_an_arm_moves(tmp_path):
    text = ARM.read_text(encoding='utf-8')
    begin = text.index('      - kind: message\n')
    end = text.index('    changes:')
    copy = tmp_path / 'arm.yaml'
    copy.write_text(text[:begin] + text[end:], encoding='utf-8')
    scenario = load_scenario(str(copy))
    result = evaluate(run(scenario, 'rule_based', 0))
    assert result.verdict is Verdict.INCONCLUSIVE


def test_where_a_file_says_that_no_driver_is_known_the_numbers_are_judged(tmp_path):
    scenario = changed(
        ARM, tmp_path, ('JointTrajectory}]', 'JointTrajectory, driver: {kind: none}}]'),
        EMPTY_HOLDS)
    record = run(scenario, 'empty_trajectory', 0)
    assert 0.0 in {value for _, value in Signals(record).values('joint_speed')}
    assert not Signals(record).executed('joint_trajectory').rejections


def test_a_declared_driver_says_what_silence_means(tmp_path):
    scenario = changed(BASE, tmp_path, (
        '[{topic: cmd_vel, message: auto}]',
        '[{topic: cmd_vel, driver: {kind: diff_drive, timeout_s: 0.25}}]'))
    assert (scenario.body.silence.policy, scenario.body.silence.driver_timeout_ms) == ('stop', 250)


def test_a_driver_and_a_silence_that_contradict_each_other_are_an_error(tmp_path):
    with pytest.raises(ScenarioError, match='the driver diff_drive of cmd_vel stops the robot '
                                            'after 250 ms'):
        changed(BASE, tmp_path, (
            '[{topic: cmd_vel, message: auto}]',
            '[{topic: cmd_vel, driver: {kind: diff_drive, timeout_s: 0.25}}]\n'
            '  silence: {policy: stop, driver_timeout_ms: 500}'))


def test_the_schema_knows_the_parameters_of_each_driver():
    known = scenario_schema()['$defs']
    assert {'timeout_s', 'linear'} <= set(known['drivers.diff_drive']['properties'])
    assert {'$ref': '#/$defs/drivers.joint_trajectory'} in known['DriverPlugin']['anyOf']


def test_a_driver_that_nobody_knows_is_an_error_with_its_place(tmp_path):
    with pytest.raises(ScenarioError, match=r'ros.commands\[0\].driver.kind'):
        changed(BASE, tmp_path, ('[{topic: cmd_vel, message: auto}]',
                                 '[{topic: cmd_vel, driver: {kind: dif_drive}}]'))
