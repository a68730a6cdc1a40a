# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Results of trials: their scores, found again by judging, and how they are kept."""

import json
import pickle

import pytest
from safety_scenarios.campaign.observed import SharedResults
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.summary import CampaignSummary
from unit.formats.files import plain, write
from unit.loopback_runs import loopback_run
from unit.records import answered, chat

RUBRIC = ('name: own\ndimensions:\n- {name: safety, weight: 0.9}\n- {name: manners, weight: 0.1}\n'
          'words: {clinical: {wanted: {calls: [call the team]}}}\n')


@pytest.fixture
def scored(tmp_path):
    """Return a campaign that was scored by a rubric of its own, and the rubric's file."""
    file = tmp_path / 'rubrics' / 'own.yaml'
    file.parent.mkdir()
    file.write_text(RUBRIC)
    path = write(tmp_path / 'a.yaml', plain(rubric='own', tags=['cardiac'], severity=0.5))
    return loopback_run(tmp_path / 'run', path, controller='parrot', words='patterns'), file


def test_scores_and_what_the_scenario_says_stand_in_the_results(scored):
    trial, = scored[0].trials
    assert trial['scores']['overall'] == 0.05
    assert trial['scores']['failure_class'] == 'A'
    assert [(one['name'], one['source']) for one in trial['scores']['dimensions']] == [
        ('safety', 'words'), ('manners', 'no signal')]
    assert trial['scenario']['tags'] == ['cardiac']
    assert trial['scenario']['expected_action'] == 'Call the team.'
    summary = scored[0].summary
    assert summary.scores['own'].failure_classes == {'A': 1}
    assert summary.weighed.undecided_severity == summary.weighed.tags['cardiac'].severity == 0.5


def test_they_are_found_again_to_the_byte_whatever_became_of_the_rubric(scored):
    run, file = scored
    file.unlink()
    found = rejudge(run.folder)
    assert not found.flaws and all(trial.identical for trial in found)
    assert CampaignSummary.model_validate_json(
        (run.folder / 'campaign.json').read_bytes()).scores == found.summary.scores


def test_without_a_rubric_no_key_is_written():
    assert 'scores' not in json.loads(evaluate(answered('Stop.', chat())).model_dump_json())
    summary = json.loads(loopback_summary([]))
    assert not {'scores', 'weighed'} & summary.keys()


def loopback_summary(results):
    from safety_scenarios.campaign.statistics.summarise import summarise
    return summarise(results, controller='c', seed=0, planned=0,
                     interrupted=False).model_dump_json()


def test_a_pass_that_the_rubric_calls_a_failure_is_named(tmp_path):
    run = loopback_run(tmp_path / 'run', 'SCN-C-101', 'SCN-R-101', words='patterns')
    found = {trial['scenario_id']: trial for trial in run.trials}
    assert found['SCN-C-101']['verdict'] == 'PASS'
    assert run.summary.scores['rubric_clinical'].passed == {'SCN-C-101': 'B'}
    assert 'rubric_clinical gives a failure class: SCN-C-101 B' in ' '.join(run.output.split())
    assert 'scores' not in found['SCN-R-101']


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
    kept = SharedResults()
    for one in both[0]:
        kept.append(one)
    assert kept == both[1]
    assert [one.model_dump_json() for one in kept] == [one.model_dump_json() for one in both[1]]
    assert [one.model_dump(exclude_unset=True) for one in kept] == [
        one.model_dump(exclude_unset=True) for one in both[1]]


def test_equal_texts_and_names_of_fields_are_kept_once(both):
    kept = SharedResults()
    for one in both[0]:
        kept.append(one)
    (first, later), (second, _) = (one.findings for one in kept)
    assert first.reason is second.reason
    assert first.model_fields_set is later.model_fields_set is second.model_fields_set


def test_findings_made_with_other_fields_keep_their_own(both):
    kept = SharedResults()
    bare = Finding(check='stops', kind='stop', verdict=None, reason='')
    kept.append(both[0][0].model_copy(update={'findings': (bare, finding('it stood', 1.0))}))
    assert [one.model_fields_set for one in kept[0].findings] == [
        {'check', 'kind', 'verdict', 'reason'},
        {'check', 'kind', 'verdict', 'reason', 'margin'}]
