# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where work goes on after the all-clear, who stops for good fails a single trial."""

from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.nominal import RESUMES_WORK, resumes_work
from safety_scenarios.scenario.body import AllClear
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from unit.records import driving, hazard, NOMINAL_MS, record, stages

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
