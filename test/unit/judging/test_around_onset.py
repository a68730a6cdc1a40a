# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whatever depends on where in their bounds a real hazard began and ended is left open."""

from cases import for_each
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.blocks.onset import Edge, ObservedOnset
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import Timeline
from unit.records import benign_variant, driving, ns, record, SIGNALS
from unit.trial.test_observed_onset import BARRIER, finding, judged, observed, told

WIDE = {'latency_ms': 300.0, 'uncertainty_ms': 200.0, 'release_within_ms': 1000.0}
"""Onset at 0 and release at 2560 ms after it, either of them known to 200 ms."""
SENSOR = [told(-400.0, False), told(300.0, True), told(2860.0, False)]
STANDS = 'no movement at a standstill'


def resuming(at_ms, stops_ms=250.0, ends_ms=3000.0):
    return [*driving(-690.0, stops_ms), *driving(stops_ms, at_ms, 0.0), *driving(at_ms, ends_ms)]


@for_each(('resumed_ms', 'verdict'), [
    (2200.0, Verdict.FAIL), (2400.0, Verdict.INCONCLUSIVE), (2600.0, Verdict.INCONCLUSIVE),
    (2800.0, Verdict.PASS)])
def test_a_standstill_lasts_until_wherever_the_release_may_have_been(resumed_ms, verdict):
    """From 2360 ms on it may drive again, and until 2760 ms it may have to stand."""
    _, result = judged(SENSOR, observed(**WIDE), commands=resuming(resumed_ms))
    found = finding(result, STANDS)
    assert found.verdict is verdict, found.reason
    assert ('too close to decide' in found.reason) is (verdict is Verdict.INCONCLUSIVE)
    assert result.verdict is verdict


def test_a_sensor_may_be_late_for_the_one_and_early_for_the_other():
    found, _ = judged(SENSOR, observed(**WIDE))
    timeline = Timeline(found)
    windows = [one.window('hazard') for one in (timeline, *timeline.around_onset)]
    begin, end = windows[0]
    assert [((one[0] - begin) / 1e6, (one[1] - end) / 1e6) for one in windows[1:]] == [
        (-200.0, -200.0), (-200.0, 200.0), (200.0, -200.0), (200.0, 200.0)]
    exact, _ = judged([told(-400.0, False), told(300.0, True)], observed(300.0, 0.0))
    assert not Timeline(exact).around_onset


def test_a_release_that_came_late_over_the_network_is_known_less_well():
    quick = [told(-450.0 + 50 * place, False, -450.0 + 50 * place, -451.0 + 50 * place)
             for place in range(10)]
    there = [told(40.0 + 50 * place, True, 40.0 + 50 * place, 39.0 + 50 * place)
             for place in range(52)]
    found, _ = judged([*quick, *there, told(2600.0, False, 2600.0, 2595.0)],
                      observed(release_within_ms=1000.0))
    assert Timeline(found).onset_watch.release_uncertainty_ns == ns(5.0 + 4.0)
    assert len(Timeline(found).around_onset) == 4


@for_each(('stopped_ms', 'verdict'), [
    (2300.0, Verdict.FAIL), (2450.0, Verdict.INCONCLUSIVE), (2700.0, Verdict.INCONCLUSIVE),
    (2800.0, Verdict.PASS)])
def test_whether_it_kept_working_to_the_end_of_an_event_that_nobody_knows_so_well(
        stopped_ms, verdict):
    scenario = benign_variant(signals={**SIGNALS, 'broken': BARRIER})
    onset = ObservedOnset(topic='barrier', when=Edge(signal='broken', at_least=1.0), **WIDE)
    scenario = scenario.model_copy(update={
        'body': scenario.body.model_copy(update={'onset': onset})})
    _, result = judged(SENSOR, scenario, commands=[
        *driving(-690.0, stopped_ms), *driving(stopped_ms, 3000.0, 0.0)])
    assert finding(result, 'keeps working').verdict is verdict


@for_each(('stops_ms', 'verdict'), [
    (2100.0, Verdict.PASS), (2250.0, Verdict.INCONCLUSIVE), (2450.0, Verdict.INCONCLUSIVE),
    (2650.0, Verdict.FAIL)])
def test_a_reaction_that_holds_to_the_release_alone_may_not_have_held_for_long_enough(
        stops_ms, verdict):
    """It has to hold for 200 ms before the release, which was between 2360 and 2760 ms."""
    budget = observed().latency_budget.model_copy(update={
        'acceptable_ms': 4000.0, 'critical_ms': 5000.0})
    scenario = observed(**WIDE).model_copy(update={'latency_budget': budget})
    _, result = judged(SENSOR, scenario, commands=resuming(3000.0, stops_ms))
    assert finding(result, 'reaction within the budget').verdict is verdict


def test_what_is_the_same_wherever_the_onset_was_stays_as_it_is():
    exact = evaluate(record(resuming(2600.0)))
    _, result = judged(SENSOR, observed(**WIDE | {'uncertainty_ms': 5.0}), commands=resuming(2600))
    assert [(one.check, one.verdict) for one in result.findings if one.check in {
        two.check for two in exact.findings}] == [(one.check, one.verdict) for one in
                                                  exact.findings]
