# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Rests and resumed work: where a robot may stand, and where it has to continue."""

from collections.abc import Sequence
from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from ros.campaigns import brief
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.judging.blind_pass_rate import blind_pass_rate
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.nominal import (
    KEEPS_WORKING,
    NO_FALSE_STOP,
    RESUMES_WORK,
    resumes_work,
)
from safety_scenarios.scenario.body import AllClear
from safety_scenarios.scenario.message import Observation
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from unit.arm_runs import Decide, played, points, told
from unit.records import driving, hazard, NOMINAL_MS, record, stages

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
    assert blind_pass_rate(near_arm).level is not None
    body = near_arm.body
    short = near_arm.model_copy(update={'body': body.model_copy(update={'invariants': tuple(
        one for one in body.invariants if one.kind != 'stop')})})
    assert blind_pass_rate(short).level is None
    assert 'stops of up to 700 ms are not held against' in blind_pass_rate(short).why


CLEAR_MS, END_MS = 2000.0, 5500.0


def demanding(within_ms: float | None = 3000.0) -> Scenario:
    scenario = hazard()
    return scenario.model_copy(update={'body': scenario.robot_body.model_copy(update={
        'all_clear': AllClear(at_ms=CLEAR_MS, observe_ms=3500.0, resume_within_ms=within_ms)})})


def after(*parts: tuple[float, float, float | None], scenario: Scenario | None = None) -> Any:
    commands = driving(NOMINAL_MS, 100.0) + driving(100.0, CLEAR_MS, 0.0)
    for part in parts:
        commands += driving(*part)
    return record(commands, scenario or demanding(), all_clear_ms=CLEAR_MS, end_ms=END_MS)


def verdict(found: Any) -> Verdict | None:
    [finding] = resumes_work(stages(found))
    assert finding.check == RESUMES_WORK
    return finding.verdict


def test_driving_on_after_the_all_clear_is_right():
    assert verdict(after((CLEAR_MS, 4000.0, 0.0), (4000.0, END_MS, 0.8))) is Verdict.PASS


def test_standing_for_good_fails_the_trial():
    found = after((CLEAR_MS, END_MS, 0.0))
    assert verdict(found) is Verdict.FAIL
    assert evaluate(found).verdict is Verdict.FAIL


@for_each(('begins_ms', 'expected'), [(5000.0, Verdict.PASS), (5150.0, Verdict.FAIL)])
def test_who_drives_on_later_than_demanded_fails(begins_ms, expected):
    assert verdict(after((CLEAR_MS, begins_ms, 0.0), (begins_ms, END_MS, 0.8))) is expected


def test_setting_out_and_standing_again_fails():
    assert verdict(after((CLEAR_MS, 2500.0, 0.0), (2500.0, 4000.0, 0.8),
                         (4000.0, END_MS, 0.0))) is Verdict.FAIL


def test_commands_that_end_after_the_all_clear_are_inconclusive():
    assert verdict(after()) is not Verdict.PASS


def test_a_file_that_does_not_demand_it_finds_nothing():
    assert not list(resumes_work(stages(after((CLEAR_MS, END_MS, 0.0), scenario=demanding(None)))))


def test_work_that_resumes_when_nobody_looks_any_more_is_refused():
    with pytest.raises(ValidationError, match='Observe for longer'):
        AllClear(at_ms=1000.0, observe_ms=500.0, resume_within_ms=500.0)


def test_who_drives_in_a_small_circle_after_the_all_clear_does_not_work():
    def turning(rate: float) -> Verdict | None:
        found = after((CLEAR_MS, END_MS, 0.8))
        return verdict(found.model_copy(update={'events': tuple(
            event.model_copy(update={'message': event.message.model_copy(update={
                'data': {**event.message.data, 'angular': {'x': 0.0, 'y': 0.0, 'z': rate}}})})
            if event.kind == 'command' and event.message is not None
            and event.stamps.steady_ns > found.events[-1].stamps.steady_ns - 3_600_000_000
            else event for event in found.events)}))
    assert turning(0.0) is Verdict.PASS
    assert turning(2.5) is Verdict.FAIL
