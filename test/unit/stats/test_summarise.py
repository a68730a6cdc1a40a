# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What the trials came to: what is missing never looks good."""

import pytest

from safety_scenarios.model.result import Latency, LatencyClass, TrialResult, Verdict
from safety_scenarios.model.summary import CampaignSummary, Share
from safety_scenarios.stats.summarise import summarise
from unit.records import ns


def trial(verdict: str = 'PASS', after_ms: float | None = 100.0, *, scenario: str = 'A',
          domain: str = 'robotic', measured: bool = True) -> TrialResult:
    latency = None
    if measured:
        took = None if after_ms is None else ns(after_ms)
        name = 'no_response' if took is None else 'target' if took <= ns(200) else 'violation'
        latency = Latency(onset_steady_ns=0, steady_ns=took, ros_ns=took, judged_ns=took,
                          source_ns=None, observed_ns=ns(2500), latency_class=LatencyClass(name))
    return TrialResult(
        trial_id='t', scenario_id=scenario, scenario_name=scenario, domain=domain, controller='c',
        index=0, seed=0, verdict=Verdict(verdict), reason=f'because {verdict}', latency=latency,
        findings=(), failure_class='none', started_system_ns=0, duration_ms=0.0, counts={})


def twin(verdict: str) -> TrialResult:
    return trial(verdict, scenario='D', domain='robotic_defer', measured=False)


def summary(*results: TrialResult, planned: int | None = None,
            interrupted: bool = False) -> CampaignSummary:
    return summarise(results, controller='c', seed=3, interrupted=interrupted,
                     planned=len(results) if planned is None else planned)


@pytest.mark.parametrize(('verdicts', 'worst', 'code'), [
    (['PASS'], 'PASS', 0), (['PASS', 'PASS'], 'PASS', 0), (['PASS', 'FAIL'], 'FAIL', 1),
    (['FAIL', 'ERROR', 'INCONCLUSIVE'], 'FAIL', 1), (['PASS', 'INCONCLUSIVE'], 'INCONCLUSIVE', 3),
    (['INCONCLUSIVE', 'ERROR', 'PASS'], 'ERROR', 3), ([], 'INCONCLUSIVE', 3)])
def test_the_worst_trial_gives_verdict_and_exit_code(verdicts, worst, code):
    found = summary(*map(trial, verdicts))
    assert (found.verdict, found.exit_code) == (Verdict(worst), code)


@pytest.mark.parametrize('changes', [{'planned': 3}, {'interrupted': True},
                                     {'planned': 3, 'interrupted': True}])
def test_a_campaign_that_was_not_completed_never_passes(changes):
    found = summary(trial(), trial(), **changes)
    assert (found.verdict, found.exit_code) == (Verdict.INCONCLUSIVE, 3)
    assert found.completed == 2


def test_a_failure_counts_also_in_a_campaign_that_was_not_completed():
    found = summary(trial('FAIL', 900.0), planned=5, interrupted=True)
    assert (found.verdict, found.exit_code) == (Verdict.FAIL, 1)


def test_a_campaign_without_trials_never_passes():
    assert summary(planned=0).exit_code == 3


@pytest.mark.parametrize(('latencies', 'median', 'worst'), [
    ([100.0], 100.0, 100.0), ([300.0, 100.0, 200.0], 200.0, 300.0), ([None], None, None),
    ([100.0, None, None], None, None), ([100.0, None, 150.0], 150.0, None),
    ([None, None, 100.0, 120.0, 110.0], 120.0, None)])
def test_a_missing_reaction_is_later_than_any_other(latencies, median, worst):
    row = summary(*(trial(after_ms=latency) for latency in latencies)).scenarios[0]
    assert (row.median_ms, row.worst_ms) == (median, worst)
    assert row.latency_ms == tuple(latencies)


def test_where_nothing_was_measured_there_is_no_median():
    row = summary(trial('ERROR', measured=False)).scenarios[0]
    assert (row.median_ms, row.worst_ms, row.latency_ms) == (None, None, ())


def test_missed_and_false_stops_are_a_pair():
    found = summary(trial(), trial('FAIL', 900.0), trial('FAIL', None), twin('PASS'),
                    twin('FAIL'))
    assert found.missed == Share(count=2, of=3)
    assert found.false_stops == Share(count=1, of=2)


def test_a_hazard_that_was_never_measured_is_not_one_of_those_that_were_met():
    found = summary(trial(), trial('ERROR', measured=False),
                    trial('INCONCLUSIVE', measured=False))
    assert found.missed == Share(count=0, of=1)


def test_a_twin_that_was_never_measured_is_not_one_of_those_that_were_let_be():
    assert summary(twin('PASS'), twin('ERROR'), twin('INCONCLUSIVE')).false_stops == Share(
        count=0, of=1)


def test_a_row_is_all_trials_of_one_scenario_in_order_of_appearance():
    found = summary(trial(scenario='B'), trial('FAIL', 900.0, scenario='A'), trial(scenario='B'),
                    trial('ERROR', scenario='A', measured=False))
    assert [(row.scenario_id, row.trials, row.verdict.value, row.reason)
            for row in found.scenarios] == [('B', 2, 'PASS', 'because PASS'),
                                            ('A', 2, 'FAIL', 'because FAIL')]
    assert found.scenarios[1].verdicts == {'ERROR': 1, 'FAIL': 1}
    assert found.scenarios[1].latency_classes == {'violation': 1}


def test_the_counts_add_up():
    found = summary(trial(), trial('FAIL'), trial('PASS', scenario='B'), planned=4)
    assert found.verdicts == {'FAIL': 1, 'PASS': 2}
    assert (found.planned, found.completed, found.seed) == (4, 3, 3)


def test_the_order_of_the_trials_changes_no_number():
    results = [trial(after_ms=latency) for latency in (300.0, None, 100.0, 200.0)]
    forth, back = (summary(*order).scenarios[0] for order in (results, results[::-1]))
    assert (forth.median_ms, forth.worst_ms, forth.verdicts) == (
        back.median_ms, back.worst_ms, back.verdicts)
