# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A monitor finds what is violated, when it is, and says OK only of what it can tell."""

from collections.abc import Iterator
from functools import cache
import random

from cases import for_each
import pytest
from safety_scenarios.campaign.folder.many import MonitorRun
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.formats.loading import load_scenario, share_folder
from safety_scenarios.judging.monitoring import Level
from safety_scenarios.judging.sliding_window import watched_part
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.settings import MonitorSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord
from unit.operation import at, monitor_file, Operation, robot

TURNS = range(30, 3000, 30)


def spike(low, high, at_ms, for_ms=20):
    return lambda t: high if at_ms <= t < at_ms + for_ms else low


VIOLATIONS = {
    'could stop': ({'near': lambda t: 6.0 if t < 1500 else 0.2}, 1500),
    'slow enough': ({'speed': spike(0.4, 1.3, 1500)}, 1500),
    'sees': ({'dies': {'scan': 1500}}, 1750),
    'alive': ({'dies': {'cmd_vel': 1500}}, 1780),
    'yields': ({'near': lambda t: 6.0 if t < 1500 else 1.8}, 2000),
    'stays': ({'x': lambda t: 0.0 if t < 1500 else 9.5}, 1500)}
"""Check to what a robot does wrong, and when that is decided (ms)."""


@cache
def violated(check):
    """Return the operation of a robot that does something wrong."""
    return Operation(robot(3000, **VIOLATIONS[check][0]), TURNS)


def test_of_a_robot_that_does_nothing_wrong_nothing_is_found_and_all_is_ok():
    operation = Operation(robot(3000), TURNS)
    assert operation.found == []
    assert operation.after(1000) == {Level.OK}
    assert set(operation.watch.watched) == set(VIOLATIONS)
    assert operation.watch.verdict is Verdict.PASS


@pytest.mark.parametrize('check', VIOLATIONS)
def test_each_violation_is_found_in_the_turn_after_it_is_decided(check):
    decided_ms, operation = VIOLATIONS[check][1], violated(check)
    first = min(turn for turn, one in operation.found if one.finding.check == check)
    assert decided_ms <= first <= decided_ms + 60 + 50  # a turn, and the period of a sensor
    assert operation.watch.verdict is Verdict.FAIL


@pytest.mark.parametrize('check', VIOLATIONS)
def test_what_was_found_live_is_found_again_in_its_record(check, tmp_path):
    operation = violated(check)
    place = next(place for place, (_, one) in enumerate(operation.found)
                 if one.finding.check == check)
    live, events = operation.found[place][1], operation.kept[place]
    kept = MonitorRun(MonitorSettings(output=str(tmp_path / 'run')), monitor_file(), {})
    kept.write(live.number, live.finding, events, operation.watch.window.measuring)
    again = rejudge(kept.place(live.number, live.finding))
    assert again.flaws == ()
    [trial] = again.trials
    assert trial.identical
    assert trial.after.verdict is Verdict.FAIL
    assert live.finding in trial.after.findings
    assert events[0].stamps.steady_ns < at(500).steady_ns, 'the past is not kept'
    assert events[-1].stamps.steady_ns > at(2900).steady_ns, 'what followed is not kept'


def test_what_is_judged_of_a_record_is_what_was_judged_live():
    operation = Operation(robot(3000, speed=spike(0.4, 1.3, 2500)), TURNS, before_s=2)
    [(_, live)] = operation.found
    record = TrialRecord(trial=live.cut.record.trial, events=tuple(operation.kept[0]))
    assert watched_part(record).events == live.cut.record.events
    assert record.events[0].stamps.steady_ns < live.cut.record.events[0].stamps.steady_ns


@pytest.mark.parametrize('seed', range(4))
def test_a_single_wrong_command_is_found_however_irregular_the_turns_are(seed):
    chance = random.Random(seed)
    turns = [0.0]
    while turns[-1] < 8000:
        turns.append(turns[-1] + chance.choice((30, 200, 1500)) * chance.uniform(0.5, 1))
    spikes = sorted(chance.sample(range(1000, 7000, 10), 3))
    operation = Operation(robot(8000, period_ms=10, speed=lambda t: 1.3 if t in spikes else 0.4),
                          [*turns[1:-1], 8000])
    found = [one.finding for _, one in operation.found]
    apart = 1 + sum(later - earlier > 3500 for earlier, later in zip(spikes, spikes[1:]))
    assert {one.check for one in found} == {'slow enough'}
    assert apart <= len(found) <= 3


@pytest.mark.parametrize('topic', ['scan', 'odom', 'human_pose', 'cmd_vel'])
def test_silence_is_never_ok(topic):
    operation = Operation(robot(3000, speed=lambda t: 0.0, dies={topic: 1500}), TURNS[::3],
                          stale_after_s=0.5)
    reads = operation.watch._reads
    for turn, levels in operation.levels:
        for name, level in levels.items():
            if turn > 2100 and topic in reads[name]:
                assert level is not Level.OK, (turn, name)
    assert operation.watch.verdict is not Verdict.PASS
    assert 'silent for' in operation.watch.silent(at(3000).steady_ns)[topic]


def test_a_topic_that_never_came_is_never_ok():
    operation = Operation(robot(1000, dies={'scan': 0}), range(30, 1000, 30))
    assert operation.watch.watched['sees'].level is Level.STALE
    assert operation.watch.verdict is Verdict.INCONCLUSIVE


def test_what_was_wrong_right_before_the_last_topic_came_is_found():
    """In the turn in which everything that is declared is known for the first time."""
    events = (event for event in robot(1500, period_ms=5, speed=spike(0.4, 1.3, 995, 5))
              if event.name != 'scan' or event.stamps.steady_ns >= at(1000).steady_ns)
    assert Operation(events, range(30, 1500, 60)).checks == {'slow enough'}


def test_a_topic_that_comes_late_takes_nothing_from_checks_that_do_not_read_it():
    """The window began anew with it, too short for a check that had been OK."""
    events = (event for event in robot(2300)
              if event.name != 'scan' or event.stamps.steady_ns >= at(1000).steady_ns)
    operation = Operation(events, range(30, 2300, 60))
    assert operation.watch.verdict is Verdict.PASS
    assert operation.after(2000) == {Level.OK}


def with_old_stamps(events):
    """Yield commands with stamps; four of five of them are of 3 m/s and ten seconds old."""
    for event in events:
        if event.kind == 'command':
            is_old = event.stamps.steady_ns > at(500).steady_ns and (event.sequence or 0) % 5
            sec, nanosec = divmod(event.stamps.ros_ns, 10**9)
            message = Message(type='geometry_msgs/msg/TwistStamped', data={
                'header': {'stamp': {'sec': sec - 10 * bool(is_old), 'nanosec': nanosec}},
                'twist': {**event.message.data, 'linear': {
                    'x': 3.0 if is_old else 0.4, 'y': 0.0, 'z': 0.0}}})
            event = event.model_copy(update={'message': message})
        yield event


def test_what_only_a_driver_that_was_not_declared_would_reject_passes_nothing():
    operation = Operation(with_old_stamps(robot(1000)), range(30, 1000, 60))
    slow = operation.watch.watched['slow enough']
    assert slow.verdict is Verdict.INCONCLUSIVE
    assert 'the driver was not declared at ros.commands' in slow.lost


def stopped(events, lost_ms, told=True):
    """Yield what a monitor hears that is stopped from 800 ms on, and reads all that came then."""
    is_told = not told
    for event in events:
        if not is_told and event.stamps.steady_ns >= at(800 + lost_ms).steady_ns:
            is_told = True
            yield Event(kind='stall', name='evaluator', text='not run', stamps=at(800 + lost_ms),
                        truth={'began': 1e-3 * lost_ms, 'lost': 1e-3 * lost_ms})
        late = at(800).steady_ns < event.stamps.steady_ns < at(800 + lost_ms).steady_ns
        yield event.model_copy(update={'stamps': at(800 + lost_ms).model_copy(update={
            'header_ns': event.stamps.header_ns})}) if late else event


def after_a_stop(lost_ms, told=True, **does):
    turns = [turn for turn in range(40, 2000, 60) if not 800 < turn < 800 + lost_ms]
    return Operation(stopped(robot(2000, **does), lost_ms, told), turns)


def test_what_shows_only_because_the_monitor_could_not_run_is_no_violation():
    assert after_a_stop(500, told=False).checks >= {'alive'}
    found = after_a_stop(500)
    assert found.checks == set()
    assert found.watch.watched['alive'].level is Level.OK
    assert 'monitor itself could not run' in found.watch.watched['alive'].lost
    assert found.watch.verdict is Verdict.INCONCLUSIVE
    assert after_a_stop(30).watch.verdict is Verdict.PASS


def test_what_the_robot_did_is_found_though_the_monitor_could_not_run():
    assert after_a_stop(500, speed=spike(0.4, 1.3, 1100)).checks == {'slow enough'}
    assert 'alive' in after_a_stop(30, dies={'cmd_vel': 800}).checks
    assert 'alive' in after_a_stop(200, dies={'cmd_vel': 800}).checks
    assert 'sees' in after_a_stop(30, dies={'scan': 800}).checks


def test_on_a_busy_host_a_violation_that_is_too_large_for_it_is_found():
    def busy(events):
        for event in events:
            yield event
            if event.name == 'scan':
                yield Event(kind='stall', name='evaluator', text='not run', stamps=event.stamps,
                            truth={'began': 0.05, 'lost': 0.02})
    near = robot(1500, near=lambda t: 6.0 if t < 800 else 0.05)
    assert Operation(busy(near), range(40, 1500, 60)).checks >= {'could stop'}
    assert Operation(busy(robot(1500, dies={'cmd_vel': 800})), range(40, 1500, 60)).checks >= {
        'alive'}


def test_a_topic_that_is_heard_in_part_is_not_ok():
    """As one on which somebody else publishes in another type: what he commands is unknown."""
    operation = Operation(robot(3000), TURNS)
    assert operation.watch.verdict is Verdict.PASS
    operation.watch.unheard = {'cmd_vel': 'cmd_vel is published as two types'}
    operation.watch.judge(at(3000))
    of_command = operation.watch.watched['slow enough']
    assert (of_command.level, of_command.doubt) == (
        Level.STALE, 'cmd_vel is published as two types')
    assert operation.watch.watched['stays'].verdict is Verdict.PASS, 'it reads odom alone'
    assert operation.watch.verdict is Verdict.INCONCLUSIVE


def test_a_broken_clock_makes_all_of_it_stale_and_the_run_inconclusive():
    events = [*robot(3000)]
    events.insert(len(events) // 2, Event(kind='fault', name='ClockError', text='/clock is gone',
                                          stamps=events[len(events) // 2].stamps))
    operation = Operation(iter(events), TURNS)
    levels = dict(operation.levels)
    assert set(levels[1530].values()) == {Level.STALE}
    assert set(levels[2970].values()) == {Level.OK}
    assert operation.watch.verdict is Verdict.INCONCLUSIVE


def test_a_lost_command_is_no_ok_because_it_may_have_been_the_wrong_one():
    operation = Operation(robot(3000, lost=(75,)), TURNS)
    assert Level.WARN in operation.after(1400)
    assert 'lost in transit' in ' '.join(
        known.doubt for known in Operation(robot(1540, lost=(75,)), (
            1500, 1530)).watch.watched.values())
    assert operation.watch.verdict is Verdict.INCONCLUSIVE


def test_memory_is_bounded_and_what_does_not_fit_is_told():
    operation = Operation(robot(2500, period_ms=1), range(100, 2500, 100), max_memory_mb=1,
                          window_s=2, before_s=2)
    assert operation.size <= 1_000_000
    assert Level.OK not in operation.after(2000)
    assert 'max_memory_mb' in operation.watch.watched['slow enough'].doubt
    assert operation.watch.verdict is Verdict.INCONCLUSIVE


def test_one_violation_that_goes_on_is_one_finding_and_the_next_is_another():
    wrong = Operation(robot(3000, speed=lambda t: 1.3 if t >= 600 else 0.4), TURNS)
    assert [one.finding.check for _, one in wrong.found] == ['slow enough']
    twice = Operation(robot(3000, speed=lambda t: 1.3 if t in (600, 2600) else 0.4), TURNS)
    assert [one.finding.check for _, one in twice.found] == ['slow enough'] * 2
    assert twice.levels[-20][1]['slow enough'] is Level.OK


def test_who_is_near_since_long_does_not_come_near_again_as_the_window_slides():
    operation = Operation(robot(3000, near=lambda t: 6.0 if t < 600 else 1.8,
                                speed=lambda t: 0.4 if t < 700 or t > 2000 else 0.0), TURNS)
    assert 'yields' not in operation.checks


def test_a_robot_that_stands_with_live_sensors_is_ok():
    operation = Operation(robot(3000, speed=lambda t: 0.0), TURNS)
    assert operation.after(1000) == {Level.OK}


FILE = load_scenario(share_folder() / 'config' / 'monitors' / 'arm.yaml')
JOINTS = list(FILE.body.robot.joints)


def arm(near: float, speed: float | None) -> Iterator[Event]:
    """Yield 3 s of an arm at one speed; None: its driver tells no velocities."""
    zeros = [0.0] * len(JOINTS)
    for t_ms in range(0, 3000, 50):
        yield Event(kind='feedback', name='joint_states', stamps=at(t_ms), message=Message(
            type='sensor_msgs/msg/JointState', data={
                'name': JOINTS, 'position': zeros,
                'velocity': [] if speed is None else [speed, *zeros[1:]]}))
        yield Event(kind='feedback', name='human_pose', stamps=at(t_ms), message=Message(
            type='geometry_msgs/msg/PoseStamped',
            data={'pose': {'position': {'x': near, 'y': 0.0, 'z': 0.0}}}))
        yield Event(kind='command', name='joint_trajectory', stamps=at(t_ms), sequence=t_ms // 50,
                    message=Message(type='trajectory_msgs/msg/JointTrajectory', data={
                        'joint_names': JOINTS, 'points': [{
                            'positions': zeros, 'velocities': [], 'accelerations': [],
                            'effort': [], 'time_from_start': {'sec': 1, 'nanosec': 0}}]}))


@for_each(('near', 'speed', 'verdict'), [
    (3.0, 0.8, Verdict.PASS), (0.5, 0.2, Verdict.PASS), (0.5, 0.8, Verdict.FAIL),
    (3.0, 1.2, Verdict.FAIL), (3.0, None, Verdict.INCONCLUSIVE)])
def test_speed_is_judged_by_who_is_near_and_never_passed_unseen(near, speed, verdict):
    operation = Operation(arm(near, speed), range(30, 3000, 30), FILE, window_s=2.0)
    assert operation.watch.verdict is verdict
