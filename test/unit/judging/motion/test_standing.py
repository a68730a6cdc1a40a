# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Standing means all of the motion; a speed bound holds for all of it; creeping is motion."""

from collections.abc import Callable
import math
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.motion import worst_of
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import Reaction
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from unit.records import (
    ALL_CLEAR_MS,
    benign_variant,
    command,
    driving,
    END_MS,
    hazard,
    NOMINAL_MS,
    record,
    TWIST,
)

SPEED = {'speed': Signal(topic='cmd_vel', field='linear.x', reduce='abs', unit='m/s')}
"""A file that reads one number of a command."""
BASE = RobotModel(kind='mobile_base', max_speed=1.0, radius=0.3)
BRAKES = BASE.model_copy(update={
    'stopping': Stopping(model='constant_deceleration', deceleration=1.6)})
FASTER, WAYS, STANDS = ('no faster than the robot can', 'drives only where it may',
                        'no movement at a standstill')


def moving(vx: float = 0.0, vy: float = 0.0, wz: float = 0.0) -> Message:
    return Message(type=TWIST, data={'linear': {'x': vx, 'y': vy, 'z': 0.0},
                                     'angular': {'x': 0.0, 'y': 0.0, 'z': wz}})


def told(from_ms: float, to_ms: float, *speeds: float, every_ms: float = 50.0) -> list[Any]:
    return [(t_ms, moving(*speeds)) for t_ms, _ in driving(from_ms, to_ms, every_ms=every_ms)]


def found(commands: Any, robot: RobotModel = BASE, benign: bool = False,
          **changes: Any) -> dict[str, Finding]:
    make = benign_variant if benign else hazard
    result = evaluate(record(commands, make(robot=robot, signals=SPEED), **changes))
    return {finding.check: finding for finding in result.findings} | {
        'trial': Finding(check='trial', kind='', verdict=result.verdict, reason=result.reason)}


def stopping(*instead: float) -> list[Any]:
    """Return a drive that stops after 200 ms, or does something else then."""
    return [*told(NOMINAL_MS + 10, 200, 0.8), *told(200, ALL_CLEAR_MS, *(instead or (0.0,))),
            *told(ALL_CLEAR_MS + 10, END_MS, 0.8)]


def test_standing_still_is_standing_and_names_its_source():
    stands = found(stopping())[STANDS]
    assert stands.verdict is Verdict.PASS
    assert 'prediction from the commands on cmd_vel' in stands.reason


@for_each('speeds', [
    (0.0, 0.0, 3.0), (0.0, 0.0, -3.0), (0.0, 0.3, 0.0), (0.0, -0.3, 0.0), (0.0, 0.0, 0.2),
    (0.049,), (-0.049,), (0.0, 0.049), (0.0, 0.0, 0.15), (0.02,), (0.002,)])
def test_whatever_axis_moves_on_it_is_no_standstill(speeds):
    judged = found(stopping(*speeds))
    assert judged['trial'].verdict is Verdict.FAIL
    assert Verdict.FAIL in {judged[name].verdict for name in (STANDS, WAYS) if name in judged}


def test_a_creep_is_judged_by_its_way_and_by_its_pace():
    way = found(stopping(0.049))[STANDS]
    assert way.margin == pytest.approx(0.05 - 0.049 * 2.3, abs=1e-3)
    pace = found(stopping(0.01))[STANDS]
    assert (pace.unit, pace.verdict) == ('m/s', Verdict.FAIL)
    assert pace.margin == pytest.approx(0.05 / 60 - 0.01)


def test_the_scenario_says_how_far_a_robot_may_creep():
    lax = BASE.model_copy(update={'creep': 4.0})
    assert found(stopping(0.049), lax)[STANDS].verdict is Verdict.PASS


def test_rounding_is_no_creep():
    assert found(stopping(1e-6, -1e-6, 1e-6))['trial'].verdict is Verdict.PASS


def test_swings_whose_mean_is_zero_are_motion():
    swings = [(t_ms, moving(0.049 * (-1) ** place)) for place, (t_ms, _) in enumerate(
        driving(200, ALL_CLEAR_MS))]
    judged = found([*told(NOMINAL_MS + 10, 200, 0.8), *swings])
    assert judged[STANDS].verdict is Verdict.FAIL


@for_each(('speed', 'mean', 'verdict'), [
    (0.001, 0.0, 'PASS'), (0.001, 0.0008, 'PASS'), (0.001, 0.0009, 'FAIL'),
    (0.0016, 0.0, 'INCONCLUSIVE'), (0.0049, 0.0, 'INCONCLUSIVE'), (0.006, 0.0, 'FAIL')])
def test_noise_of_a_standstill_is_no_creep_unless_it_leads_away(speed, mean, verdict):
    """For 59 s; the slowest pace of a creep is 0.83 mm/s, to and fro up to 5 mm/s is open."""
    clear_ms = 59_000.0
    noise = [(t_ms, moving(mean + speed * (-1) ** place)) for place, (t_ms, _) in enumerate(
        driving(200, clear_ms))]
    judged = found([*told(NOMINAL_MS + 10, 200, 0.8), *noise], all_clear_ms=clear_ms,
                   end_ms=clear_ms + 500)
    assert judged[STANDS].verdict is Verdict[verdict], judged[STANDS].reason


@for_each('speed', [0.009, 0.006])
def test_a_robot_that_trembles_faster_than_noise_does_not_stand(speed):
    """Though no swing leads farther than 0.45 mm: noise is at most 5 mm/s on average."""
    swings = [(t_ms, moving(speed * (-1) ** place)) for place, (t_ms, _) in enumerate(
        driving(200, ALL_CLEAR_MS))]
    judged = found([*told(NOMINAL_MS + 10, 200, 0.8), *swings])
    assert judged[STANDS].verdict is Verdict.FAIL


@for_each(('clear_ms', 'verdict'), [(ALL_CLEAR_MS, 'INCONCLUSIVE'), (59_000.0, 'FAIL')])
def test_a_short_time_leaves_open_whether_it_creeps_or_is_noise(clear_ms, verdict):
    """At +-4.5 mm/s, three times ahead and twice back in turn: a creep of 0.9 mm/s."""
    speeds = [(t_ms, moving(0.0045 if place % 5 < 3 else -0.0045))
              for place, (t_ms, _) in enumerate(driving(200, clear_ms))]
    judged = found([*told(NOMINAL_MS + 10, 200, 0.8), *speeds], all_clear_ms=clear_ms,
                   end_ms=clear_ms + 500)[STANDS]
    assert judged.verdict is Verdict[verdict], judged.reason


@for_each(('axis', 'half_ms', 'verdict'), [
    (0, 50, 'INCONCLUSIVE'), (2, 50, 'INCONCLUSIVE'),
    (0, 600, 'FAIL'), (1, 600, 'FAIL'), (2, 600, 'FAIL')])
def test_a_swing_of_a_standstill_is_a_creep_by_how_far_it_leads(axis, half_ms, verdict):
    """At +-4 mm/s of the fastest point, 0.2 mm and 2.4 mm to and fro; 2 mm is no jitter."""
    speed = [0.0] * 3
    speed[axis] = 0.004 if axis < 2 else 0.004 / 0.3
    swings = [(t_ms, moving(*(each * (-1) ** int((t_ms - 200) // half_ms) for each in speed)))
              for t_ms, _ in driving(200, ALL_CLEAR_MS)]
    judged = found([*told(NOMINAL_MS + 10, 200, 0.8), *swings])[STANDS]
    assert judged.verdict is Verdict[verdict], judged.reason


@for_each(('speeds', 'verdict'), [
    ((1.0,), 'PASS'), ((1.02,), 'FAIL'), ((-1.2,), 'FAIL'), ((0.0, 1.2), 'FAIL'),
    ((0.8, 0.8), 'FAIL'), ((0.8, 0.0, 0.6), 'PASS'), ((0.8, 0.0, 20.0), 'FAIL'),
    ((0.0, 0.0, 3.5), 'FAIL')])
def test_no_axis_is_faster_than_the_robot_can(speeds, verdict):
    fast = [*told(NOMINAL_MS + 10, 0, 0.8), *told(0, 200, *speeds), *told(200, ALL_CLEAR_MS, 0.0)]
    assert found(fast)[FASTER].verdict is Verdict[verdict]


def test_a_declared_rate_of_turn_is_a_bound_of_its_own():
    agile = BASE.model_copy(update={'max_yaw_rate': 2.0})
    turning = [*told(NOMINAL_MS + 10, 200, 1.0, 0.0, 2.0), *told(200, ALL_CLEAR_MS, 0.0)]
    assert found(turning)[FASTER].verdict is Verdict.FAIL
    assert found(turning, agile)[FASTER].verdict is Verdict.PASS
    faster = [*told(NOMINAL_MS + 10, 200, 1.0, 0.0, 2.1), *told(200, ALL_CLEAR_MS, 0.0)]
    assert found(faster, agile)[FASTER].unit == 'rad/s'
    assert found(faster, agile)[FASTER].verdict is Verdict.FAIL


def test_a_radius_that_nobody_declared_is_said_to_be_assumed():
    bare = RobotModel(kind='mobile_base', max_speed=1.0)
    assert 'radius 0.3 m assumed' in found(stopping(), bare)[FASTER].reason
    assert 'assumed' not in found(stopping())[FASTER].reason


def test_a_base_drives_ahead_unless_the_scenario_says_otherwise():
    back = [*told(NOMINAL_MS + 10, 200, -0.8), *told(200, ALL_CLEAR_MS, 0.0)]
    side = [*told(NOMINAL_MS + 10, 200, 0.6, 0.4), *told(200, ALL_CLEAR_MS, 0.0)]
    allowed = {ways: [found(way, BASE.model_copy(update={'travel': ways})).get(WAYS)
                      for way in (back, side)] for ways in ('forward', 'both', 'any')}
    assert [one.verdict for one in allowed['forward']] == [Verdict.FAIL, Verdict.FAIL]
    assert [one.verdict for one in allowed['both']] == [Verdict.PASS, Verdict.FAIL]
    assert allowed['any'] == [None, None]


def test_where_nothing_is_in_the_way_driving_in_circles_is_no_work():
    agile = BASE.model_copy(update={'max_yaw_rate': 9.0})
    judged = {turn: found(told(NOMINAL_MS + 10, END_MS, 0.8, 0.0, turn, every_ms=20), agile,
                          benign=True)['keeps working'].verdict for turn in (0.0, 0.3, 4.0)}
    assert judged == {0.0: Verdict.PASS, 0.3: Verdict.PASS, 4.0: Verdict.FAIL}


def odom(t_ms: float, speed: float) -> Any:
    message = Message(type='nav_msgs/msg/Odometry', data={'twist': {'twist': {
        'linear': {'x': speed, 'y': 0.0, 'z': 0.0}, 'angular': {'x': 0.0, 'y': 0.0, 'z': 0.0}}}})
    return command(t_ms, message, topic='odom', kind='feedback')


def measured(speed: float, after: float) -> dict[str, Finding]:
    reports = [odom(t_ms, speed if t_ms < 250 else after)
               for t_ms, _ in driving(NOMINAL_MS + 5, END_MS)]
    result = evaluate(record([*stopping(), *reports], hazard(
        robot=BASE, signals=SPEED, feedback=('odom',))))
    return {finding.check: finding for finding in result.findings}


def test_what_the_robot_reports_goes_before_what_it_was_told():
    assert 'measured on odom' in measured(0.8, 0.0)[STANDS].reason
    rolls = measured(0.8, 0.2)[STANDS]
    assert (rolls.verdict, 'measured on odom' in rolls.reason) == (Verdict.FAIL, True)


@for_each(('speed', 'verdict'), [(0.005, Verdict.PASS), (0.012, Verdict.FAIL)])
def test_noise_that_the_robot_reports_is_no_way(speed, verdict):
    clear_ms = 15_000.0
    reports = [odom(t_ms, 0.8 if t_ms < 250 else speed * (-1) ** place)
               for place, (t_ms, _) in enumerate(driving(NOMINAL_MS + 5, clear_ms + 500))]
    result = evaluate(record(
        [*told(NOMINAL_MS + 10, 200, 0.8), *told(200, clear_ms, 0.0), *reports], hazard(
            robot=BASE, signals=SPEED, feedback=('odom',)), all_clear_ms=clear_ms,
        end_ms=clear_ms + 500))
    [stands] = [finding for finding in result.findings if finding.check == STANDS]
    assert stands.verdict is verdict, stands.reason
    assert 'measured on odom' in stands.reason


def test_who_leaves_slowly_and_comes_back_has_not_stood():
    """Measured at 4.9 mm/s for half a minute each way: 0.14 m away in between."""
    clear_ms, back_ms = 59_000.0, 29_600.0
    reports = [odom(t_ms, 0.8 if t_ms < 250 else 0.0049 if t_ms < back_ms else -0.0049)
               for t_ms, _ in driving(NOMINAL_MS + 5, clear_ms + 500)]
    result = evaluate(record(
        [*told(NOMINAL_MS + 10, 200, 0.8), *told(200, clear_ms, 0.0), *reports], hazard(
            robot=BASE, signals=SPEED, feedback=('odom',)), all_clear_ms=clear_ms,
        end_ms=clear_ms + 500))
    [stands] = [finding for finding in result.findings if finding.check == STANDS]
    assert stands.verdict is Verdict.FAIL and 'it moved 0.14' in stands.reason


@for_each(('least', 'verdict'), [(0.0, Verdict.PASS), (0.2, Verdict.FAIL),
                                 (0.03, Verdict.FAIL)])
def test_the_way_of_the_braking_is_no_creeping_and_what_goes_on_after_it_is(least, verdict):
    braking = [odom(t_ms, max(least, 0.8 - 1.6 * max(0.0, t_ms - 250) / 1e3))
               for t_ms, _ in driving(NOMINAL_MS + 5, END_MS)]
    result = evaluate(record([*stopping(), *braking], hazard(
        robot=BRAKES, signals=SPEED, feedback=('odom',))))
    [stands] = [finding for finding in result.findings if finding.check == STANDS]
    assert (stands.verdict, stands.reason) == (verdict, stands.reason)
    assert 'measured on odom' in stands.reason


def test_a_robot_that_rolls_on_longer_than_it_declares_has_not_stood():
    """To be slow at the very end excuses nothing."""
    rolling = [odom(t_ms, 0.8 if t_ms < ALL_CLEAR_MS - 100 else 0.0)
               for t_ms, _ in driving(NOMINAL_MS + 5, END_MS)]
    result = evaluate(record([*stopping(), *rolling], hazard(
        robot=BRAKES, signals=SPEED, feedback=('odom',))))
    [stands] = [finding for finding in result.findings if finding.check == STANDS]
    assert (stands.verdict, stands.reason) == (Verdict.FAIL, stands.reason)
    assert 'measured on odom' in stands.reason


def after_a_short_hazard(speed: Callable[[float], float]) -> Finding:
    """Judge a robot that is told to stop 200 ms after a hazard that lasts for 700 ms."""
    reports = [odom(t_ms, speed(t_ms - 250.0))
               for t_ms, _ in driving(NOMINAL_MS + 5, END_MS, every_ms=10)]
    result = evaluate(record([*told(NOMINAL_MS + 10, 200, 0.8), *told(200, 700, 0.0),
                              *told(710, END_MS, 0.8), *reports],
                             hazard(robot=BRAKES, signals=SPEED, feedback=('odom',)),
                             all_clear_ms=700))
    [stands] = [finding for finding in result.findings if finding.check == STANDS]
    return stands


@for_each(('brakes', 'least', 'verdict'), [
    (1.6, 0.0, Verdict.INCONCLUSIVE), (2.0, 0.0, Verdict.PASS), (0.2, 0.0, Verdict.INCONCLUSIVE),
    (4.0, 0.02, Verdict.FAIL), (0.0, 0.0, Verdict.FAIL)])
def test_whether_it_would_stand_is_open_where_the_hazard_ends_while_it_brakes(
        brakes, least, verdict):
    """One that came to rest stood, and one that creeps or does not brake at all did not."""
    found = after_a_short_hazard(
        lambda ms: max(least, 0.8 - brakes * max(0.0, ms) / 1e3) if ms < 450 else 0.8)
    assert found.verdict is verdict, found.reason
    assert ('it still braked' in found.reason) == (verdict is Verdict.INCONCLUSIVE)


def test_what_is_open_hides_nothing_that_is_wrong():
    open_, wrong = after_a_short_hazard(lambda ms: max(0.0, 0.8 - 1.6 * max(0.0, ms) / 1e3)
                                        if ms < 450 else 0.8), after_a_short_hazard(lambda ms: 0.8)
    assert open_.verdict is Verdict.INCONCLUSIVE and wrong.verdict is Verdict.FAIL
    for found in ([open_, wrong], [wrong, None, open_]):
        assert worst_of(found) is wrong
    assert worst_of([None]) is None


def test_a_report_that_never_showed_the_motion_tells_nothing():
    assert 'prediction' in measured(0.0, 0.0)[STANDS].reason


def test_a_base_that_is_driven_on_another_topic_does_not_stand():
    other = [command(t_ms, moving(0.3), topic='cmd_vel_2')
             for t_ms, _ in driving(NOMINAL_MS + 10, END_MS)]
    both = hazard(robot=BASE, signals=SPEED, commands=('cmd_vel', 'cmd_vel_2'))
    stands = next(finding for finding in evaluate(record([*stopping(), *other], both)).findings
                  if finding.check == STANDS)
    assert (stands.verdict, 'and yet it moved' in stands.reason) == (Verdict.FAIL, True)


def test_a_signed_speed_below_its_limit_is_no_standstill_in_reverse():
    signed = {'speed': Signal(topic='cmd_vel', field='linear.x', unit='m/s')}
    result = evaluate(record(stopping(-0.8), hazard(robot=BASE, signals=signed)))
    assert result.verdict is Verdict.FAIL
    assert result.latency.reaction is None


JOINTS = {'speed': Signal(topic='commands', field='data', reduce='max_abs', unit='rad/s')}
ARM = RobotModel(kind='arm', max_speed=0.5, joints=('a', 'b', 'c'))


def arm(*after: float) -> dict[str, Finding]:
    def array(*speeds: float) -> Message:
        return Message(type='std_msgs/msg/Float64MultiArray', data={'data': speeds})
    sent = [command(t_ms, array(0.4, 0.4, 0.4) if t_ms < 200 else array(*after), topic='commands')
            for t_ms, _ in driving(NOMINAL_MS + 10, ALL_CLEAR_MS)]
    result = evaluate(record(sent, hazard(
        robot=ARM, signals=JOINTS, commands=('commands',),
        reaction=Reaction(signal='speed', at_most=0.02))))
    return {finding.check: finding for finding in result.findings}


@for_each('after', [(0.0, 0.0, 0.019), (0.0, -0.01, 0.0), (0.002, 0.0, 0.0)])
def test_a_joint_that_creeps_is_motion(after):
    assert arm(0.0, 0.0, 0.0)[STANDS].verdict is Verdict.PASS
    assert arm(*after)[STANDS].verdict is Verdict.FAIL


def test_every_joint_is_bounded_by_the_top_speed():
    assert arm(0.0, 0.0, 0.0)[FASTER].unit == 'rad/s'
    assert arm(0.0, 0.6, 0.0)[FASTER].verdict is Verdict.FAIL


@for_each('bad', [math.nan, math.inf, -math.inf, 1e300])
def test_what_is_no_number_never_stands(bad):
    assert found(stopping(0.0, bad))['trial'].verdict is Verdict.FAIL
