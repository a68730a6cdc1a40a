# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trajectory that an arm can follow: every mistake is named; what is no number never passes."""

from collections.abc import Sequence
import math
from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.judging.invariants.limits import JointLimits, Limits
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord
from steps import growth
from unit.records import command, hazard, planned, record, shown, stages

JOINTS = {'lift': JointLimits(lower=-1.0, upper=1.0, velocity=0.5), 'spin': JointLimits(
    velocity=2.0)}
LIMITS = Limits(name='l', topic='arm', joints=JOINTS)
PLACED = Limits(name='l', topic='arm', joints=JOINTS, current='joint_states')
SCENARIO = hazard(commands=('arm',), reaction=None, domain='robotic_defer', signals={
    'speed': Signal(topic='arm', field='points', reduce='joint_speed', unit='rad/s')})


def point(t_s: float, positions: Sequence[float] = (), velocities: Sequence[float] = ()) -> \
        dict[str, Any]:
    sec, nanosec = divmod(round(t_s * 1e9), 10**9)
    return {'positions': tuple(positions), 'velocities': tuple(velocities),
            'time_from_start': {'sec': sec, 'nanosec': nanosec}}


def path(*points: Any, names: tuple[str, ...] = ('lift', 'spin')) -> Message:
    return Message(type='trajectory_msgs/msg/JointTrajectory',
                   data={'joint_names': names, 'points': points})


def state(t_ms: float, lift: float = 0.0, spin: float = 0.0, **changes: Any) -> Event:
    data = {'name': ('spin', 'lift'), 'position': (spin, lift), **changes}
    return shown(t_ms, 'joint_states', hazard=False, data=data)


def judged(*messages: Message, invariant: Limits = LIMITS,
           states: Sequence[Event] = ()) -> Finding:
    return invariant.check(stages(record([command(100.0 + index, message, topic='arm')
                                          for index, message in enumerate(messages)], SCENARIO,
                                         extra=states)))


def moving(speed: float = 0.4, over_s: float = 1.0) -> Message:
    """Return a way of the first joint at a constant speed to rest."""
    return path(point(1.0, (0.0, 0.0)), point(1.0 + over_s, (speed * over_s, 0.0), (0.0, 0.0)))


REST = (0.0, 0.0)


def test_a_trajectory_within_its_limits_passes_with_the_smallest_distance():
    finding = judged(moving(0.4))
    assert (finding.verdict, finding.unit) == (Verdict.PASS, 'rad/s')
    assert finding.margin == pytest.approx(0.1)
    finding = judged(moving(0.1, 9.5))
    assert (finding.margin, finding.unit) == (pytest.approx(0.05), 'rad')


def test_the_exact_speed_between_two_points_holds_and_a_bit_more_does_not():
    assert judged(moving(0.5)).verdict is Verdict.PASS
    finding = judged(moving(0.501))
    assert (finding.verdict, finding.unit, finding.at_ms) == (Verdict.FAIL, 'rad/s', 100.0)
    assert finding.margin == pytest.approx(-0.001)
    assert 'points[1]: lift has to go at 0.501 rad/s' in finding.reason
    assert judged(moving(-0.5)).verdict is Verdict.PASS
    assert judged(moving(-0.501)).verdict is Verdict.FAIL


@for_each(('position', 'verdict'), [
    (1.0, Verdict.PASS), (-1.0, Verdict.PASS), (1.001, Verdict.FAIL), (-1.001, Verdict.FAIL)])
def test_a_position_may_be_on_its_limit_and_not_beyond(position, verdict):
    finding = judged(path(point(9.0, (position, 0.0), REST)))
    assert finding.verdict is verdict
    if verdict is Verdict.FAIL:
        assert (finding.margin, finding.unit) == (pytest.approx(-0.001), 'rad')


@for_each(('velocity', 'verdict'), [
    (0.5, Verdict.PASS), (-0.5, Verdict.PASS), (0.501, Verdict.FAIL), (-0.501, Verdict.FAIL)])
def test_a_velocity_may_be_at_its_limit_and_not_beyond(velocity, verdict):
    assert judged(path(point(1.0, (), (velocity, 0.0)), point(2.0, (), REST))).verdict is verdict


def test_a_joint_that_turns_without_end_has_no_positions_to_keep():
    assert judged(path(point(1.0, (0.0, 99.0), REST))).verdict is Verdict.PASS


@pytest.mark.parametrize('last', [0.01, -0.01])
def test_a_trajectory_that_ends_in_motion_fails(last):
    message = path(point(1.0, REST, (last, 0.0)))
    finding = judged(message)
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, pytest.approx(-0.01))
    assert 'still moves' in finding.reason
    streaming = Limits(name='l', topic='arm', joints=JOINTS, ends_at_rest=False)
    assert judged(message, invariant=streaming).verdict is Verdict.PASS
    assert judged(path(point(1.0, REST, (1e-7, 0.0)))).verdict is Verdict.PASS


@for_each(('message', 'words'), [
    (path(point(1.0, REST), names=('lift', 'lift')), 'each once'),
    (path(point(1.0, REST), names=('lift', 'elbow')), 'elbow'),
    (path(point(1.0, REST), names=()), 'none'),
    (path(point(1.0, (0.0,))), 'got 1 numbers, expected 2'),
    (path(point(1.0, (), (0.0, 0.0, 0.0))), 'got 3 numbers, expected 2'),
    (path(point(1.0)), 'neither positions nor velocities'),
    (path(point(1.0, REST), point(1.0, REST)), 'do not increase'),
    (path(point(2.0, REST), point(1.0, REST)), 'do not increase'),
    (path(point(-1.0, REST)), 'do not increase'),
    (path(point(1.0, (), REST), point(2.0, REST, REST)), 'some have none')])
def test_a_mistake_that_has_no_size_fails_without_a_margin(message, words):
    finding = judged(message)
    assert (finding.verdict, finding.margin, finding.at_ms) == (Verdict.FAIL, None, 100.0)
    assert words in finding.reason


@for_each('value', [math.nan, math.inf, -math.inf])
@for_each('place', [
    {'positions': (0.0, 'odd')}, {'velocities': ('odd', 0.0)}, {'positions': ('odd', 0.0)},
    {'positions': REST, 'velocities': (0.0, 'odd')}])
def test_a_number_that_is_none_fails(value, place):
    odd = {key: tuple(value if item == 'odd' else item for item in items)
           for key, items in place.items()}
    for message in (path(point(1.0, **odd)), path(point(1.0, **odd), point(2.0, **odd))):
        finding = judged(message)
        assert (finding.verdict, finding.margin) == (Verdict.FAIL, None)


def test_one_broken_trajectory_among_many_fails():
    assert judged(moving(), moving(0.9), moving()).at_ms == 101.0
    assert judged(moving(), moving(0.9), moving()).verdict is Verdict.FAIL


def test_a_trajectory_without_points_asks_for_nothing():
    assert judged(path(names=())).verdict is Verdict.PASS
    assert judged(path(names=()), moving(0.4)).margin == pytest.approx(0.1)
    assert judged(path(names=())).margin is None


def test_no_command_is_inconclusive():
    assert judged().verdict is Verdict.INCONCLUSIVE
    stray = record([command(0.0, moving(), topic='elsewhere')], SCENARIO)
    assert LIMITS.check(stages(stray)).verdict is Verdict.INCONCLUSIVE


def test_an_empty_record_is_inconclusive():
    assert LIMITS.check(stages(TrialRecord(trial=planned(SCENARIO), events=()))).verdict is \
        Verdict.INCONCLUSIVE


def start(lift: float, t_s: float = 0.1) -> Message:
    return path(point(t_s, (lift, 0.0), REST))


def test_a_start_within_reach_passes_and_one_beyond_it_fails():
    """0.5 rad/s for 0.1 s and a tolerance of 0.05 rad."""
    near = [state(50.0)]
    assert judged(start(0.1), invariant=PLACED, states=near).verdict is Verdict.PASS
    finding = judged(start(0.101), invariant=PLACED, states=near)
    assert (finding.verdict, finding.unit) == (Verdict.FAIL, 'rad')
    assert finding.margin == pytest.approx(-0.001)
    assert 'lift starts 0.101 rad from where it is' in finding.reason
    assert judged(start(-0.101), invariant=PLACED, states=near).verdict is Verdict.FAIL


def test_the_newest_state_counts_whatever_the_order_of_its_joints():
    states = [state(50.0, lift=0.9), state(60.0, lift=0.3, spin=0.0)]
    assert judged(start(0.3), invariant=PLACED, states=states).verdict is Verdict.PASS
    later = [*states, state(200.0, lift=0.9)]
    assert judged(start(0.3), invariant=PLACED, states=later).verdict is Verdict.PASS


@for_each('states', [
    [], [state(200.0)], [state(50.0, lift=math.nan)], [state(50.0, position=(0.0,))],
    [state(50.0, name=('spin', 'elbow'))]])
def test_a_start_that_no_state_tells_is_inconclusive(states):
    finding = judged(start(0.0), invariant=PLACED, states=states)
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert '1 of 1 trajectories' in finding.reason


def test_without_a_state_a_broken_trajectory_still_fails():
    assert judged(moving(0.9), invariant=PLACED).verdict is Verdict.FAIL
    assert judged(start(0.0), start(5.0, 99.0), invariant=PLACED).verdict is Verdict.FAIL


def test_a_trajectory_of_velocities_has_no_start():
    by_velocity = path(point(1.0, (), (0.1, 0.0)), point(2.0, (), REST))
    assert judged(by_velocity, invariant=PLACED).verdict is Verdict.PASS


def test_a_message_that_is_no_trajectory_is_a_lookup_error():
    with pytest.raises(LookupError):
        judged(Message(type='std_msgs/msg/String', data={'data': 'stop'}))


@for_each('changes', [
    {'lower': 1.0, 'upper': -1.0}, {'velocity': 0.0}, {'velocity': math.nan}])
def test_limits_that_contradict_each_other_are_refused(changes):
    with pytest.raises(ValidationError):
        JointLimits(**{'velocity': 1.0, **changes})
    with pytest.raises(ValidationError):
        Limits(name='l', topic='arm', joints={})


def test_twenty_thousand_trajectories_are_judged_with_their_verdict():
    assert LIMITS.check(stages(trajectories(20_000))).verdict is Verdict.PASS


def trajectories(count):
    message = moving()
    return record([command(index / 10, message, topic='arm') for index in range(count)], SCENARIO)


def test_twice_the_trajectories_take_twice_the_steps():
    assert growth(lambda count: LIMITS.check(stages(trajectories(count))), 500) < 2.2
