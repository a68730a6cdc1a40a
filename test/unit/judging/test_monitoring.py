# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A monitor finds what is violated, when it is, and says OK only of what it can tell."""

from collections.abc import Iterator
from functools import cache
import random

from cases import for_each
import pytest
from safety_scenarios.campaign.folder.monitored import Kept
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
    kept = Kept(MonitorSettings(output=str(tmp_path / 'run')), monitor_file(), {})
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
