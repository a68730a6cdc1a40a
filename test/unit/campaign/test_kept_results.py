# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Results until the summary: as they were, in less memory."""

import pickle

import pytest
from safety_scenarios.campaign.observed import KeptResults
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.verdict import Verdict


def finding(reason: str, margin: float) -> Finding:
    return Finding(check='stops', kind='stop', verdict=Verdict.PASS, reason=reason, margin=margin)


def trial(index: int) -> TrialResult:
    return TrialResult(
        trial_id=f't{index}', scenario_id='A', scenario_name='A', domain='robotic', index=index,
        controller='c', seed=0, verdict=Verdict.PASS, reason='it held', latency=None, counts={},
        findings=(finding('it stood', index + 0.5), finding(f'after {index} s', -0.0)),
        failure_class='none', started_system_ns=0, duration_ms=1.0)


@pytest.fixture
def both():
    """Return two results that were made apart, as by other processes, and as they were."""
    made = [trial(0), trial(1)]
    return [pickle.loads(pickle.dumps(one)) for one in made], made


def test_results_are_kept_as_they_were(both):
    kept = KeptResults()
    for one in both[0]:
        kept.append(one)
    assert kept == both[1]
    assert [one.model_dump_json() for one in kept] == [one.model_dump_json() for one in both[1]]
    assert [one.model_dump(exclude_unset=True) for one in kept] == [
        one.model_dump(exclude_unset=True) for one in both[1]]


def test_equal_texts_and_names_of_fields_are_kept_once(both):
    kept = KeptResults()
    for one in both[0]:
        kept.append(one)
    (first, later), (second, _) = (one.findings for one in kept)
    assert first.reason is second.reason
    assert first.model_fields_set is later.model_fields_set is second.model_fields_set


def test_findings_made_with_other_fields_keep_their_own(both):
    kept = KeptResults()
    bare = Finding(check='stops', kind='stop', verdict=None, reason='')
    kept.append(both[0][0].model_copy(update={'findings': (bare, finding('it stood', 1.0))}))
    assert [one.model_fields_set for one in kept[0].findings] == [
        {'check', 'kind', 'verdict', 'reason'},
        {'check', 'kind', 'verdict', 'reason', 'margin'}]
