# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A world, or feedback, whose robot does not do as it is commanded decides nothing."""

import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.world_findings import AS_COMMANDED
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import Verdict
from unit.judging.invariants.test_in_a_world import odometry
from unit.records import benign_variant, driving, END_MS, hazard, NOMINAL_MS, reacting, record
from unit.world_scenarios import BASE, Brakes, commands, in_world, person, TERMS, told

OTHERS = Measuring(exact=True, world='gazebo')
FAR = {'scan': person(Brakes(), lambda t_s: 6.0)}


class Follows(Brakes):
    """Drives at a share of what it was commanded, along other axes maybe, or stands for a time."""

    def __init__(self, share=1.0, sideways=0.0, turn=0.0, stands_s=(9.0, 9.0)):
        super().__init__(0.8, brakes_s=0.1)
        self.share, self.sideways, self.turn, self.from_to_s = share, sideways, turn, stands_s

    def __call__(self, t_s):
        held = self.from_to_s[0] <= t_s < self.from_to_s[1]
        v = 0.0 if held else self.v(t_s)
        return {**super().__call__(t_s), 'vx': self.share * v, 'vy': self.sideways * v,
                'wz': self.turn * v}


def judged(robot, scenario=None, asked=None, measuring=OTHERS, **changes):
    return evaluate(in_world(robot, FAR, scenario, asked=asked or commands(Brakes(0.8, 0.1)),
                             measuring=measuring, **changes))


def check(result):
    return next((one for one in result.findings if one.check == AS_COMMANDED), None)


@pytest.mark.parametrize('share', [0.8, 1.0, 1.2])
def test_a_robot_that_does_as_commanded_is_judged(share):
    result = judged(Follows(share))
    assert result.verdict is Verdict.PASS and check(result) is None


@pytest.mark.parametrize('scenario', [None, benign_variant(robot=BASE)])
def test_a_robot_that_never_moves_is_wired_wrong(scenario):
    asked = commands(Brakes(0.8, 100.0)) if scenario else None
    result = judged(Follows(0.0), scenario, asked)
    assert result.verdict is Verdict.ERROR
    assert check(result).source == 'wiring'
    assert 'it stood (0 m/s) although 0.80 m/s were commanded' in result.reason


@pytest.mark.parametrize(('robot', 'words'), [
    (Follows(0.5), '50% of what was commanded'),
    (Follows(0.7), '70% of what'), (Follows(1.6), '160% of what'),
    (Follows(-1.0), '-100% of what'), (Follows(0.0, sideways=1.0), '100% of its motion'),
    (Follows(0.8, turn=4.0), 'not along what was commanded'),
    (Follows(stands_s=(-0.6, 0.0)), 'of what was commanded')])
def test_a_robot_that_does_otherwise_leaves_the_trial_open_with_the_share(robot, words):
    result = judged(robot)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert words in check(result).reason


def test_a_robot_that_stands_after_the_all_clear_is_found():
    robot = Brakes(0.8, 0.1, drives_s=1.0)
    result = judged(Follows(stands_s=(0.5, 9.0)), asked=commands(robot))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert check(result).at_ms >= 800


def test_a_robot_that_is_still_getting_faster_does_as_commanded():
    class SpeedsUp(Brakes):

        def v(self, t_s):
            return min(0.8, max(0.0, t_s + 0.7)) if t_s < 0.1 else super().v(t_s)
    assert check(judged(SpeedsUp(0.8, 0.1))) is None


class RunsOn(Brakes):
    """Drives on, whatever it is commanded."""

    def v(self, t_s):
        return 0.8

    def x(self, t_s):
        return 0.8 * t_s


def test_a_robot_that_drives_on_against_its_commands_is_not_the_controllers_failure():
    asked = [*driving(NOMINAL_MS + 10, 100.0), *driving(100.0, 6000.0, 0.0)]
    result = evaluate(record(
        asked, hazard(robot=BASE.model_copy(update={'stopping': BASE.stopping}),
                      separation=TERMS),
        extra=told({'robot': RunsOn(), 'scan': person(RunsOn(), lambda t_s: 1.0)},
                   to_ms=6000.0), measuring=OTHERS))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert 'where its commands and its declared braking leave' in check(result).reason
    assert any('it would be FAIL' in one.reason for one in result.findings)


def test_a_controller_that_does_not_stop_fails_in_a_world_that_stands_too():
    assert judged(Follows(0.0), asked=driving(NOMINAL_MS + 10, END_MS)).verdict is Verdict.FAIL


def test_in_the_embedded_world_a_fraction_is_open_too_unless_the_scenario_declares_why():
    embedded = Measuring(exact=True, world='mujoco')
    assert check(judged(Follows(0.5), measuring=embedded)).verdict is Verdict.INCONCLUSIVE


def test_a_world_that_reports_no_speed_of_its_robot_says_so():
    result = evaluate(record(reacting(100.0), hazard(robot=BASE, separation=TERMS), extra=told({
        'robot': lambda t_s: {'x': 0.0, 'y': 0.0, 'heading': 0.0}, **FAR}), measuring=OTHERS))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert check(result).reason == 'the world did not report how fast the robot moved'


def test_a_moment_without_a_speed_does_not_set_the_truth_aside():
    class Skips(Brakes):

        def __call__(self, t_s):
            truth = super().__call__(t_s)
            return {**truth, 'vx': float('nan')} if 0.3 < t_s < 0.4 else truth
    result = judged(Skips(0.8, 0.1))
    assert result.verdict is Verdict.PASS
    assert result.latency.stop.source == 'according to the simulator'


@pytest.mark.parametrize(('share', 'verdict'), [
    (1.0, Verdict.PASS), (0.0, Verdict.INCONCLUSIVE), (0.4, Verdict.INCONCLUSIVE)])
def test_feedback_that_shows_another_motion_than_commanded_is_no_evidence(share, verdict):
    robot = Brakes(0.8, 0.1)
    result = evaluate(record(reacting(100.0), hazard(robot=BASE, feedback=('odom',)),
                             extra=odometry(robot, share)))
    assert result.verdict is verdict
    assert verdict is Verdict.PASS or 'measured on odom' in check(result).reason


def test_feedback_with_a_gap_is_named_in_the_notes():
    robot = Brakes(0.8, 0.1)
    gap = [one for one in odometry(robot, 1.0)
           if not 10**12 + 3e8 < one.stamps.steady_ns < 10**12 + 8e8]
    result = evaluate(record(reacting(100.0), hazard(robot=BASE, feedback=('odom',)), extra=gap))
    assert [one.text for one in result.notes if one.code == 'set-aside'] == [
        'the motion on odom is not judged: it had a gap of 500 ms']
