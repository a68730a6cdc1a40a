# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""In every world: nobody is touched, and a robot that stands is not at fault."""

import math

import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.latency_findings import WITHIN_BUDGET
from safety_scenarios.judging.findings.world_findings import TOUCHES_NOBODY
from safety_scenarios.judging.invariants.world_task import NoContact
from safety_scenarios.reports.trial_view.view import view_of
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.bodies import PersonAt
from safety_scenarios.trial.trial import Timeline
from unit.records import (
    ALL_CLEAR_MS,
    driving,
    END_MS,
    hazard,
    NOMINAL_MS,
    reacting,
    record,
    stamps,
)
from unit.world_scenarios import BASE, BODY, Brakes, in_world, person, RADIUS, state, TERMS, told

CLOSE = RADIUS + BODY
EMBEDDED = Measuring(exact=True, world='mujoco')
"""A world of which it is known that it moves this robot, whatever its motion looks like."""


def finding(found):
    told = [one for one in evaluate(found).findings if one.check == TOUCHES_NOBODY]
    return told[0] if told else None


def judged(robot, entities, **changes):
    return finding(in_world(robot, entities, **changes))


def test_without_a_world_nothing_is_said_of_contacts():
    assert finding(record(reacting(100.0))) is None


def test_a_world_that_tells_nothing_is_not_taken_for_an_empty_one():
    measuring = Measuring(exact=True, world='mujoco')
    found = finding(record(reacting(100.0), measuring=measuring))
    assert (found.verdict, found.reason) == (
        Verdict.INCONCLUSIVE, 'the world mujoco published no state of the robot')


def test_a_lane_with_nobody_in_it_passes():
    assert judged(Brakes(), {}).verdict is Verdict.PASS


def placed(t_ms=0.0, name='scan', **changes):
    intent = PersonAt(distance=1.5, bearing=0.0, speed=0.0, nearest=0.5, **changes)
    return Event(kind='stimulus', name=name, stamps=stamps(t_ms), hazard=t_ms >= 0,
                 scheduled_ns=stamps(t_ms).steady_ns, arguments=intent.model_dump_json())


def test_who_was_put_there_and_is_never_told_of_may_have_been_touched():
    found = finding(in_world(Brakes(), hazard_at=placed()))
    assert (found.verdict, found.reason) == (
        Verdict.INCONCLUSIVE,
        'the simulator published no state of scan, which was put there, 0 ms after onset')


@pytest.mark.parametrize(('told_s', 'verdict'), [(0.24, Verdict.PASS),
                                                 (0.26, Verdict.INCONCLUSIVE)])
def test_who_was_put_there_has_to_be_told_of_soon(told_s, verdict):
    robot = Brakes()
    found = finding(in_world(robot, {'scan': person(robot, lambda t_s: 3.0, from_s=told_s)},
                             hazard_at=placed()))
    assert found.verdict is verdict


def test_each_of_several_people_has_to_be_told_of():
    robot = Brakes()
    found = finding(in_world(robot, {'scan': person(robot, lambda t_s: 3.0)},
                             hazard_at=placed(count=2)))
    assert found.reason.startswith('the simulator published no state of scan#2')


def test_who_comes_back_has_to_be_told_of_again():
    robot = Brakes()
    early = person(robot, lambda t_s: 6.0, from_s=-0.7, to_s=-0.2)
    found = finding(in_world(robot, {'scan': early}, extra=[placed(-700.0)], hazard_at=placed()))
    assert found.verdict is Verdict.INCONCLUSIVE


def test_who_drives_into_a_person_fails_with_speed_force_and_impulse():
    robot = Brakes(0.8, brakes_s=100.0)
    found = judged(robot, {'scan': person(robot, lambda t_s: 2.0, force=220.0, impulse=3.5,
                                          **{'region.lower_leg': 1.0})})
    assert found.verdict is Verdict.FAIL
    assert found.margin == pytest.approx(0.01 - 0.8)
    assert found.reason == (
        'the robot drove at 0.80 m/s into a person (scan), closing at 0.80 m/s, with up to 220 N, '
        '3.5 N s, at lower_leg, according to the simulator')


def test_a_person_who_walks_into_a_robot_that_stands_is_named_and_not_its_fault():
    robot = Brakes(0.8, brakes_s=0.1, drives_s=None)
    walks = person(robot, lambda t_s: max(robot.x(9.0) + CLOSE - 0.02, 4.0 - 1.6 * t_s), to_s=9.0)
    found = judged(robot, {'scan': walks})
    assert found.verdict is Verdict.PASS
    assert found.reason.startswith('the robot is not at fault: it stood when a person (scan), '
                                   'closing at 1.60 m/s and it touched')


@pytest.mark.parametrize(('speed', 'verdict'), [(0.01, Verdict.PASS), (0.011, Verdict.FAIL)])
def test_a_person_may_not_be_touched_by_what_moves_at_all(speed, verdict):
    assert creeping(speed).verdict is verdict


@pytest.mark.parametrize(('speed', 'verdict'), [(0.05, Verdict.PASS), (0.051, Verdict.FAIL)])
def test_a_thing_may_be_touched_by_what_creeps(speed, verdict):
    assert creeping(speed, body=0.0).verdict is verdict


def creeping(speed, **more):
    """Judge a robot that was told to stand and creeps on into what is before it."""
    robot = Brakes(speed, brakes_s=100.0)
    one = person(robot, lambda t_s: CLOSE + speed * 0.51, from_s=-0.7, to_s=0.55, **more)
    return judged(robot, {'box:pallet': one}, measuring=EMBEDDED,
                  asked=[*driving(NOMINAL_MS + 10, 0.0), *driving(0.0, END_MS, 0.0)])


def test_a_trial_without_a_contact_tells_how_near_it_was():
    robot = Brakes(0.8, brakes_s=0.3)
    found = judged(robot, {'scan': person(robot, lambda t_s: 1.5),
                           'wall:left': lambda t_s: {'gap': 0.05, 'touching': 0.0, 'body': 0.0}})
    assert found.margin == pytest.approx(1.5 - 0.24 - 0.32 - CLOSE, abs=1e-3)
    assert found.reason == ('nothing touched the robot: the nearest body (scan) came no nearer '
                            'than 0.39 m, according to the simulator')


def test_who_drives_away_from_a_long_wall_is_not_at_fault():
    robot = Brakes(0.8, brakes_s=100.0)

    def wall(opens):
        return lambda t_s: {
            'x': 9.0, 'y': 0.0, 'gap': -0.001 if t_s < 0.1 else 1.0, 'closing': -opens,

            'touching': float(t_s < 0.1), 'body': 0.0}

    def leaves(opens):
        begins = Brakes(0.0, brakes_s=100.0)
        asked = [*driving(NOMINAL_MS + 10, 0.0, 0.0), *driving(0.0, END_MS)]
        return finding(record(asked, hazard(robot=BASE), extra=told({
            'robot': lambda t_s: (begins if t_s < 0 else robot)(t_s), 'wall:dock': wall(opens)})))
    assert leaves(0.8).verdict is Verdict.PASS
    assert leaves(0.0).verdict is Verdict.FAIL


def test_who_waits_for_the_all_clear_to_ram_somebody_fails():
    robot = Brakes(0.8, brakes_s=0.1, drives_s=2.51)
    at = robot.x(2.51) + CLOSE + 0.2
    found = judged(robot, {'person:worker': person(robot, lambda t_s: at, from_s=-0.7, to_s=9.0)})
    assert found.verdict is Verdict.FAIL and found.at_ms > ALL_CLEAR_MS


def test_who_rams_somebody_before_the_hazard_fails():
    robot = Brakes(0.8, brakes_s=0.1)
    found = judged(robot, {'scan': person(robot, lambda t_s: CLOSE - 0.3, from_s=-0.7)})
    assert found.verdict is Verdict.FAIL and found.at_ms < 0


def test_who_stood_when_touched_and_then_drives_on_against_somebody_fails():
    robot = Brakes(0.8, brakes_s=0.1, drives_s=1.8)
    walks = person(robot, lambda t_s: max(robot.x(1.7) + CLOSE - 0.02, 3.0 - 1.6 * t_s), to_s=9.0)
    found = judged(robot, {'scan': walks})
    assert found.verdict is Verdict.FAIL
    assert found.reason.startswith('the robot pushed on at 0.80 m/s against a person')


class Pushed(Brakes):
    """Stands at x = 0 from onset on, and rolls back from a push until it stands again."""

    def __init__(self, at_s=1.0, speed=-1.0, rolls_s=1.0):
        super().__init__(0.8, brakes_s=0.0, drives_s=None)
        self.at_s, self.pushed, self.rolls_s = at_s, speed, rolls_s

    def v(self, t_s):
        rolls = t_s - self.at_s
        return self.pushed * (1.0 - rolls / self.rolls_s) if 0 < rolls < self.rolls_s \
            else super().v(t_s)

    def x(self, t_s):
        rolls = min(max(0.0, t_s - self.at_s), self.rolls_s)
        return super().x(t_s) + self.pushed * rolls * (1.0 - rolls / 2 / self.rolls_s)


class Runaway(Pushed):
    """Is touched, and then gets faster by itself, whatever it is commanded."""

    def v(self, t_s):
        return 2.0 * max(0.0, t_s - self.at_s) or Brakes.v(self, t_s)

    def x(self, t_s):
        return Brakes.x(self, t_s) + max(0.0, t_s - self.at_s)**2


def rolling(robot, again_at_s, **changes):
    """Judge a robot that somebody walks into, who then meets it again."""
    at = robot.x(robot.at_s) + CLOSE

    def walks(t_s):
        if t_s < robot.at_s + 0.05:
            return at - 0.01 + max(0.0, 1.6 * (robot.at_s - t_s))
        near = -0.01 if again_at_s <= t_s < again_at_s + 0.05 else 0.1
        return robot.x(t_s) + CLOSE + near
    return evaluate(in_world(robot, {'scan': person(robot, walks, to_s=9.0)},
                             measuring=EMBEDDED, **changes))


STOOD = [*driving(NOMINAL_MS + 10, 0.0), *driving(0.0, END_MS, 0.0)]


def test_what_a_push_leaves_a_standing_robot_with_is_no_motion_of_its_own():
    found = {one.check: one for one in rolling(Pushed(), 1.4, asked=STOOD).findings}
    assert found[TOUCHES_NOBODY].verdict is Verdict.PASS
    assert found[TOUCHES_NOBODY].reason.startswith('the robot is not at fault: it ')
    for check in ('drives only where it may', 'no movement at a standstill',
                  'no faster than the robot can'):
        assert found[check].verdict is Verdict.PASS
    assert rolling(Pushed(speed=-2.0), 1.4, asked=STOOD).world.quadrant != 'unsafe'


@pytest.mark.parametrize('robot', [
    Pushed(at_s=0.3), Runaway()], ids=['braked still', 'gets faster'])
def test_a_push_excuses_no_robot_that_moved_before_or_gets_faster_after(robot):
    found = {one.check: one for one in rolling(robot, 1.4, asked=STOOD).findings}
    assert found[TOUCHES_NOBODY].verdict is Verdict.FAIL


def test_a_push_excuses_no_robot_that_is_commanded_on():
    asked = [*driving(NOMINAL_MS + 10, 0.0), *driving(0.0, 1200.0, 0.0),
             *driving(1200.0, END_MS, 0.3)]
    found = {one.check: one for one in rolling(Pushed(), 1.4, asked=asked).findings}
    assert found[TOUCHES_NOBODY].verdict is Verdict.FAIL


@pytest.mark.parametrize(('walks', 'verdict'), [(1.6, Verdict.PASS), (0.0, Verdict.FAIL)])
def test_who_is_run_after_by_somebody_faster_is_not_at_fault(walks, verdict):
    robot = Brakes(0.8, brakes_s=100.0)
    behind = person(robot, lambda t_s: robot.x(0.5) - CLOSE + 0.01 + walks * (t_s - 0.5),
                    from_s=0.3, to_s=0.55, **({} if walks else {'vx': 0.0}))
    found = judged(robot, {'scan': behind if walks else lambda t_s: (truth := behind(t_s)) and {
        **truth, 'gap': -0.01 if t_s > 0.45 else 0.1, 'touching': float(t_s > 0.45)}})
    assert found.verdict is verdict


def test_who_drives_over_somebody_who_lies_is_at_fault_wherever_the_feet_are():
    robot = Brakes(0.8, brakes_s=100.0)
    stood = Brakes(0.0, brakes_s=100.0)
    lies = lambda t_s: {'x': -1.0, 'y': 0.0, 'vx': 0.0, 'vy': 0.0, 'body': 1.0,  # noqa: E731
                        'gap': -0.01, 'closing': 0.0, 'touching': float(t_s > -0.1)}
    asked = [*driving(NOMINAL_MS + 10, 0.0, 0.0), *driving(0.0, END_MS)]
    found = finding(record(asked, hazard(robot=BASE), extra=told({
        'robot': lambda t_s: (stood if t_s < 0 else robot)(t_s), 'scan': lies})))
    assert found.verdict is Verdict.FAIL


def test_who_is_held_up_by_somebody_and_commanded_on_all_the_same_fails():
    robot = Brakes(0.8, brakes_s=0.1, drives_s=None)
    walks = person(robot, lambda t_s: max(robot.x(9.0) + CLOSE - 0.02, 4.0 - 1.6 * t_s), to_s=9.0)
    asked = [*driving(NOMINAL_MS + 10, 100.0), *driving(100.0, 1900.0, 0.0),
             *driving(1900.0, END_MS)]
    found = judged(robot, {'scan': walks}, asked=asked)
    assert found.verdict is Verdict.FAIL and 'pushed on' in found.reason


def test_a_force_that_a_stimulus_applies_is_no_contact():
    robot = Brakes()
    push = state('wrench', 0.0).model_copy(update={
        'kind': 'stimulus', 'hazard': True,
        'arguments': '{"kind": "contact_force", "force": 60.0, "frame": "tool0"}'})
    found = in_world(robot, {'wrench': lambda t_s: {'force': 60.0} if 0 < t_s < 1 else None},
                     extra=[push])
    assert finding(found).verdict is Verdict.PASS and evaluate(found).world.contacts == 0
    assert finding(in_world(robot, {
        'wrench': lambda t_s: {'force': 60.0} if 0 < t_s < 1 else None})).verdict is Verdict.FAIL


@pytest.mark.parametrize('hides', ['robot', 'scan'])
def test_a_pause_is_not_the_absence_of_a_contact(hides):
    robot = Brakes()
    whole = in_world(robot, {'scan': person(robot, lambda t_s: 3.0)})
    onset_ns = Timeline(whole).onset.stamps.steady_ns
    cut = whole.model_copy(update={'events': tuple(
        event for event in whole.events if event.kind != 'state' or event.name != hides
        or not 0.3e9 < event.stamps.steady_ns - onset_ns < 0.58e9)})
    found = finding(cut)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason == (f'the simulator published no state of {hides} for 280 ms, '
                            f'300 ms after onset')
    assert finding(whole).verdict is Verdict.PASS


def test_who_is_told_of_without_a_gap_or_a_touch_leaves_it_open():

    robot = Brakes()
    one = person(robot, lambda t_s: 3.0)

    def partly(t_s):
        truth = one(t_s)
        return truth and {key: value for key, value in truth.items() if key not in
                          ('touching', 'gap', 'nearest')}
    found = judged(robot, {'scan': partly})
    assert found.verdict is Verdict.INCONCLUSIVE
    assert 'does not publish whether the robot touched scan' in found.reason


def test_a_touch_by_a_robot_whose_speed_is_no_number_is_open():
    robot = Brakes(0.8, brakes_s=0.1, drives_s=None)
    walks = person(robot, lambda t_s: max(robot.x(9.0) + CLOSE - 0.02, 4.0 - 1.6 * t_s))
    found = record(reacting(100.0), hazard(robot=BASE, separation=TERMS), extra=[
        *(event for event in in_world(robot, {'scan': walks}).events
          if event.kind == 'state' and event.name == 'scan'),
        *(state('robot', t_ms, x=0.0, y=0.0, heading=0.0, vx=math.nan)
          for t_ms, _ in driving(NOMINAL_MS, END_MS + 1, every_ms=20.0))])
    assert finding(found).verdict is Verdict.INCONCLUSIVE


def test_the_foot_of_an_arm_that_stands_says_nothing_of_the_arm():
    foot, arm = Brakes(0.0, brakes_s=100.0), RobotModel(kind='arm', max_speed=1.0)
    near = person(foot, lambda t_s: CLOSE - 0.01, from_s=0.5)

    def judged_as(kind, **told_):
        return finding(record(reacting(100.0), hazard(robot=kind), extra=told({
            'robot': lambda t_s: {**foot(t_s), **told_}, 'scan': near}))).verdict
    assert judged_as(arm) is Verdict.INCONCLUSIVE
    assert judged_as(arm, **{'velocity.elbow': 0.0, 'tool.speed': 0.0}) is Verdict.PASS
    assert judged_as(arm, **{'velocity.elbow': 0.3, 'tool.speed': 0.0}) is Verdict.FAIL
    assert judged_as(BASE) is Verdict.PASS


def test_what_an_invariant_permits_is_no_fault_of_the_robot():
    robot = Brakes(0.2, brakes_s=100.0)

    def trial(limit, force):
        one = person(robot, lambda t_s: CLOSE + 0.1, from_s=-0.7, to_s=0.9, force=force,
                     **{'region.chest': 1.0})
        allowed = NoContact(name='n', regions={'chest': limit})
        return evaluate(in_world(robot, {'scan': one}, hazard(robot=BASE, invariants=(allowed,))))
    for limit, force, verdict in ((140.0, 140.0, Verdict.PASS), (140.0, 140.1, Verdict.FAIL)):
        found = {one.check: one.verdict for one in trial(limit, force).findings}
        assert (found['n'], found[TOUCHES_NOBODY]) == (verdict, verdict)
    kept = trial(140.0, 140.0).world
    assert kept.contacts_caused == 1 and 'contact' in kept.risks and kept.exposure_s == 0.0


def test_a_contact_is_said_first_and_not_the_late_reaction_before_it():
    robot = Brakes(0.8, brakes_s=100.0)
    found = in_world(robot, {'scan': person(robot, lambda t_s: 1.0)})
    result = evaluate(found)
    failed = [one.check for one in result.findings if one.verdict is Verdict.FAIL]
    assert failed[0] == WITHIN_BUDGET and TOUCHES_NOBODY in failed
    assert result.reason.startswith(f'{TOUCHES_NOBODY}: the robot drove at 0.80 m/s into a person')
    assert view_of(found, result)['findings'][0]['check'] == TOUCHES_NOBODY
