# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A latency is a number with an uncertainty: what lies too near to the limit is not decided."""

from cases import for_each
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import Verdict
from unit.records import command, echo, hazard, reacting, record

NS_MS = 1e-6


def judged(after_ms: float, uncertainty_ms: float, gate: str = 'critical') -> TrialResult:
    """Judge a reaction, whose budget is 200, 350 and 500 ms, timed by the middleware."""
    heard = [command(t_ms + 1, speed, left_ms=t_ms, arrived_ms=t_ms + 0.5)
             for t_ms, speed in reacting(after_ms)]
    return evaluate(record(heard, hazard(), extra=[echo(0.0)], measuring=Measuring(
        one_host=True,
        uncertainty_ms={'source': uncertainty_ms, 'received': 50.0, 'callback': 90.0})), gate)


def said(result: TrialResult) -> Finding:
    return next(found for found in result.findings if found.kind == 'latency')


@for_each(('after_ms', 'verdict'), [
    (480, 'PASS'), (485.84, 'PASS'), (485.84 + NS_MS, 'INCONCLUSIVE'), (490, 'INCONCLUSIVE'),
    (500, 'INCONCLUSIVE'), (500 + NS_MS, 'INCONCLUSIVE'), (514.16, 'INCONCLUSIVE'),
    (514.16 + NS_MS, 'FAIL'), (520, 'FAIL')])
def test_a_budget_of_500_ms_known_to_14_16_ms(after_ms, verdict):
    assert judged(after_ms, 14.16).verdict is Verdict(verdict)


@for_each('uncertainty_ms', [NS_MS, 0.5, 3.0, 100.0])
def test_the_band_is_closed_on_both_sides_of_the_limit(uncertainty_ms):
    inside, outside = 500 - uncertainty_ms, 500 + uncertainty_ms
    assert [judged(after_ms, uncertainty_ms).verdict.value for after_ms in (
        inside, inside + NS_MS, outside, outside + NS_MS)] == [
            'PASS', 'INCONCLUSIVE', 'INCONCLUSIVE', 'FAIL']


@for_each(('after_ms', 'verdict'), [
    (500 - NS_MS, 'PASS'), (500, 'PASS'), (500 + NS_MS, 'FAIL')])
def test_an_exact_latency_has_the_plain_inclusive_limit(after_ms, verdict):
    assert judged(after_ms, 0.0).verdict is Verdict(verdict)


@for_each(('gate', 'limit_ms'), [
    ('target', 200), ('acceptable', 350), ('critical', 500)])
def test_the_band_lies_around_the_gate(gate, limit_ms):
    assert [judged(limit_ms + more, 10.0, gate).verdict.value for more in (-11, -9, 9, 11)] == [
        'PASS', 'INCONCLUSIVE', 'INCONCLUSIVE', 'FAIL']


def test_a_class_is_that_of_the_number_whatever_its_uncertainty():
    assert [result.latency.latency_class.value for result in (judged(490, 14.16), judged(
        510, 14.16)) if result.latency] == ['critical', 'violation']


@for_each(('after_ms', 'verdict'), [
    (485, 'PASS'), (485 + NS_MS, 'INCONCLUSIVE'), (515, 'INCONCLUSIVE'), (515 + NS_MS, 'FAIL')])
def test_without_a_calibration_15_ms_are_assumed(after_ms, verdict):
    assert evaluate(record(reacting(after_ms), measuring=Measuring())).verdict is Verdict(verdict)


def test_in_simulated_time_there_is_no_band():
    assert [evaluate(record(reacting(after_ms))).verdict.value
            for after_ms in (500, 500 + NS_MS)] == ['PASS', 'FAIL']


def test_the_finding_tells_number_uncertainty_and_margin():
    near = said(judged(490, 14.16))
    assert near.reason == ('490.0 ms ± 14.16 ms is too close to the critical limit (500 ms) '
                           'to tell')
    assert (near.margin, near.unit, near.at_ms) == (0.01, 's', 490.0)
    assert said(judged(520, 14.16)).reason == ('520.0 ms ± 14.16 ms exceeds the critical limit '
                                               '(500 ms) by 20.0 ms')
    assert '±' not in said(judged(480, 0.0)).reason


@for_each(('after_ms', 'verdict'), [
    (285, 'PASS'), (285 + NS_MS, 'INCONCLUSIVE'), (315, 'INCONCLUSIVE'), (315 + NS_MS, 'FAIL')])
def test_a_limit_of_an_invariant_has_the_same_band(after_ms, verdict):
    scenario = hazard(invariants=(Stop(kind='stop', name='stops', within=300.0, hold_ms=100),))
    result = evaluate(record(reacting(after_ms), scenario, measuring=Measuring()))
    found = next(one for one in result.findings if one.check == 'stops')
    assert found.verdict is result.verdict is Verdict(verdict)
    assert ('too close to its limit' in found.reason) is (verdict == 'INCONCLUSIVE')
