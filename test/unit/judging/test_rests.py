# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An arm may rest where its path ends and it turns back, and nowhere else."""

from collections.abc import Sequence
from typing import Any

import pytest
from ros.campaigns import brief
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.judging.blind_pass_rate import reckoned
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.nominal import KEEPS_WORKING, NO_FALSE_STOP, RESUMES_WORK
from safety_scenarios.scenario.body import AllClear
from safety_scenarios.scenario.message import Observation
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from unit.arm_runs import Decide, played, points, told

SPEED, AHEAD_S = 0.5, 0.05
Leg = tuple[float, float]
"""Direction and how long (s)."""


def at_the_ends(rest_s: float, leg_s: float = 1.0) -> Sequence[Leg]:
    """Return a way to and fro with a rest at each end."""
    return (1.0, leg_s), (0.0, rest_s), (-1.0, leg_s), (0.0, rest_s)


def on_the_way(rest_s: float) -> Sequence[Leg]:
    """Return the same way with a stop in the middle, after which it continues as before."""
    return (1.0, 0.5), (0.0, rest_s), (1.0, 0.5), (-1.0, 0.5), (0.0, rest_s), (-1.0, 0.5)


def on(legs: Sequence[Leg], at_s: float) -> tuple[float, float]:
    """Return how far it is (rad) and how fast (rad/s)."""
    at_s %= sum(lasts_s for _, lasts_s in legs)
    place = 0.0
    for direction, lasts_s in legs:
        if at_s < lasts_s:
            return place + SPEED * direction * at_s, SPEED * direction
        place, at_s = place + SPEED * direction * lasts_s, at_s - lasts_s
    return place, 0.0


def follows(legs: Sequence[Leg], never_resumes: bool = False) -> Decide:
    """Return a controller that follows a way, and stands while a person is near."""
    state: dict[str, Any] = {'at_s': 0.0}

    def decide(observation: Observation, near: bool) -> dict[str, Any]:
        names, now = told(observation)
        first = state.setdefault('first', now)
        t_ns = observation.t_ns
        state['stands'] = near or (never_resumes and state.get('stands', False))
        if not state['stands']:
            state['at_s'] += (t_ns - state.get('t_ns', t_ns)) / 1e9
        state['t_ns'] = t_ns
        if state['stands']:
            state.setdefault('held', now)
            return {'joint_names': names, 'points': points((AHEAD_S, state['held'], 0.0))}
        if state.pop('held', None) is not None:
            state['first'] = first = tuple(value - on(legs, state['at_s'])[0] for value in now)
        place, speed = on(legs, state['at_s'] + AHEAD_S)
        return {'joint_names': names, 'points': points((AHEAD_S, tuple(
            value + place for value in first), 0.0))} if not speed else {
            'joint_names': names, 'points': points(
                (AHEAD_S, tuple(value + place for value in first), speed),
                (2 * AHEAD_S, tuple(value + place + speed * AHEAD_S / 2 for value in first), 0.0))}
    return decide


def scenario(tmp_path: Any, name: str) -> Scenario:
    [copy] = brief(tmp_path / 'brief', name)
    return load_scenario(copy)


def verdicts(result: TrialResult) -> dict[str, Verdict | None]:
    return {finding.check: finding.verdict for finding in result.findings}


@pytest.mark.parametrize(('legs', 'expected'), [
    (at_the_ends(0.0), Verdict.PASS), (at_the_ends(0.25, 0.6), Verdict.PASS),
    (at_the_ends(0.9), Verdict.FAIL), (on_the_way(0.25), Verdict.FAIL)])
def test_a_rest_is_forgiven_where_an_arm_turns_back(tmp_path, legs, expected):
    result = evaluate(played(scenario(tmp_path, 'SCN-R-D-102'), follows(legs)))
    found = verdicts(result)
    assert (found[KEEPS_WORKING], found['does not stop for nothing']) == (expected, expected)
    assert result.verdict is expected, result.reason


@pytest.mark.parametrize(('legs', 'expected'), [
    (at_the_ends(0.25), Verdict.PASS), (on_the_way(0.25), Verdict.FAIL)])
def test_the_same_before_the_hazard(tmp_path, legs, expected):
    near_arm = scenario(tmp_path, 'SCN-R-102')
    late = near_arm.model_copy(update={'body': near_arm.body.model_copy(update={
        'nominal': near_arm.body.nominal.model_copy(update={'duration_ms': (4200.0, 4201.0)})})})
    found = verdicts(evaluate(played(late, follows(legs))))
    assert found[NO_FALSE_STOP] is expected


def test_a_single_rest_in_a_trial_may_be_a_stop_for_no_reason(tmp_path):
    once = ((1.0, 1.0), (0.0, 0.25), *(((-1.0, 1.0), (1.0, 1.0)) * 30))
    result = evaluate(played(scenario(tmp_path, 'SCN-R-D-102'), follows(once)))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert 'only once' in result.reason


def test_who_does_not_resume_does_not_rest(tmp_path):
    near_arm = scenario(tmp_path, 'SCN-R-102')
    near_arm = near_arm.model_copy(update={'body': near_arm.body.model_copy(update={
        'all_clear': AllClear(at_ms=2000.0, observe_ms=3000.0, resume_within_ms=1500.0),
        'vary': {}})})
    never = evaluate(played(near_arm, follows(at_the_ends(0.25), never_resumes=True)))
    assert verdicts(never)[RESUMES_WORK] is Verdict.FAIL
    assert never.verdict is Verdict.FAIL
    resumes = evaluate(played(near_arm, follows(at_the_ends(0.25))))
    assert verdicts(resumes)[RESUMES_WORK] is Verdict.PASS


def test_a_hold_as_short_as_a_rest_leaves_the_blind_pass_rate_of_an_arm_open(tmp_path):
    near_arm = scenario(tmp_path, 'SCN-R-102')
    assert reckoned(near_arm).level is not None
    body = near_arm.body
    short = near_arm.model_copy(update={'body': body.model_copy(update={'invariants': tuple(
        one for one in body.invariants if one.kind != 'stop')})})
    assert reckoned(short).level is None
    assert 'stops of up to 700 ms are not held against' in reckoned(short).why
