# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""SARIF, OSCAL and CycloneDX: what the formats demand, and that nothing undecided looks passed."""

from dataclasses import replace
import json
import re
import shutil

import pytest
from safety_scenarios.campaign.folder.evidence import Flaw
from safety_scenarios.campaign.folder.folder import settings_of
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.reports.outputs.release import review_of, REVIEWS
from safety_scenarios.scenario.blocks.traceability import Traceability
from safety_scenarios.scenario.verdict import Verdict

UUID = re.compile(r'[0-9a-f]{8}-[0-9a-f]{4}-[45][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}')
TOKEN = re.compile(r'[A-Za-z_][A-Za-z0-9.\-_]*')
CHANGED = Flaw('traces/x', 'changed')


@pytest.fixture(scope='module')
def judged(small_run):
    return {name: (small_run / name, rejudge(small_run / name))
            for name in ('rule_based', 'blind_clock')}


def as_if(found, verdict):
    """Return a campaign in which the first trial came to something else."""
    first, *rest = found.trials
    changed = first.after.model_copy(update={'verdict': verdict, 'reason': 'clock broke'})
    return type(found)((type(first)(first.before, changed, False), *rest), found.flaws,
                       found.summary)


def test_documents_are_plain_json_and_the_same_each_time(judged):
    for how in REVIEWS:
        one, again = (json.dumps(review_of(how, *judged['blind_clock']), allow_nan=False)
                      for _ in range(2))
        assert one == again


def test_sarif_has_a_result_at_the_scenario_file_for_each_failed_check(judged):
    document = review_of('sarif', *judged['blind_clock'])
    assert document['version'] == '2.1.0'
    [run] = document['runs']
    assert run['invocations'][0]['executionSuccessful'] is True
    known = {rule['id'] for rule in run['tool']['driver']['rules']}
    assert {row['ruleId'] for row in run['results']} == known
    failed = {(one.after.scenario_id, finding.check) for one in judged['blind_clock'][1]
              for finding in one.after.findings if finding.verdict is Verdict.FAIL}
    assert len(run['results']) == len(failed) > 2
    for row in run['results']:
        place = row['locations'][0]['physicalLocation']
        assert re.fullmatch(r'config/scenarios/robotic/\w+\.yaml',
                            place['artifactLocation']['uri'])
        assert (row['level'], row['kind'], place['region']['startLine']) == ('error', 'fail', 1)
    assert len({row['partialFingerprints']['scenarioAndCheck/v1']
                for row in run['results']}) == len(failed)


@pytest.mark.parametrize('started', ['yesterday', '2026-01-01T00:00:00', None])
def test_a_beginning_that_is_no_moment_keeps_no_document_back(started, judged, tmp_path):
    folder, found = judged['rule_based']
    settings = json.loads((folder / 'settings.json').read_text(encoding='utf-8'))
    (tmp_path / 'settings.json').write_text(json.dumps({**settings, 'started': started}))
    [run] = review_of('sarif', tmp_path, found)['runs']
    assert run['invocations'][0]['startTimeUtc'] == '1970-01-01T00:00:00Z'


def test_a_campaign_in_simulated_time_has_a_beginning_and_no_end(judged):
    folder, found = judged['rule_based']
    last = replace(found, trials=tuple(replace(one, after=one.after.model_copy(update={
        'started_system_ns': 4 * 10**18})) for one in found))
    for some, has_end in ((found, False), (last, True)):
        [run] = review_of('sarif', folder, some)['runs']
        [result] = review_of('oscal', folder, some)['assessment-results']['results']
        assert ('endTimeUtc' in run['invocations'][0], 'end' in result) == (has_end, has_end)
        assert {one['collected'] for one in result['observations']} == {
            result.get('end', result['start'])}


def test_sarif_of_a_passed_campaign_has_no_result(judged):
    assert review_of('sarif', *judged['rule_based'])['runs'][0]['results'] == []


@pytest.mark.parametrize('verdict', [Verdict.INCONCLUSIVE, Verdict.ERROR])
def test_what_could_not_be_judged_is_an_error_and_not_satisfied(judged, verdict):
    """By default GitHub's code scanning fails no merge request for a warning."""
    folder, found = judged['rule_based']
    changed = as_if(found, verdict)
    [row] = review_of('sarif', folder, changed)['runs'][0]['results']
    assert (row['ruleId'], row['level']) == ('undecided', 'error')
    states = states_of(review_of('oscal', folder, changed))
    assert ('not-satisfied', 'other') in states.values()


def test_a_check_called_like_a_rule_of_ours_has_failed_all_the_same(judged):
    folder, found = judged['blind_clock']
    trials = [replace(one, after=one.after.model_copy(update={'findings': tuple(
        finding.model_copy(update={'check': 'undecided'}) for finding in one.after.findings)}))
        for one in found]
    run = review_of('sarif', folder, replace(found, trials=tuple(trials)))['runs'][0]
    assert {(row['ruleId'], row['level']) for row in run['results']} == {
        ('check: undecided', 'error')}
    assert all('failed in' in row['message']['text'] for row in run['results'])


def test_sarif_has_a_result_for_missing_trials_and_for_each_flaw(judged):
    folder, found = judged['rule_based']
    lacking = replace(found, trials=found.trials[1:], flaws=(CHANGED,), not_judged=(
        settings_of(folder).plan[0],))
    rows = review_of('sarif', folder, lacking)['runs'][0]['results']
    assert [(row['ruleId'], row['level']) for row in rows] == [
        ('not-judged', 'error'), ('folder-changed', 'error')]
    assert '1 planned trial without a record' in rows[0]['message']['text']
    assert rows[1]['message']['text'] == 'traces/x: changed'


@pytest.mark.parametrize(('reason', 'text'), [
    ('got {0} and {"a": [1]}', 'got {{0}} and {{"a": [1]}}'),
    ('[click](http://x) \\', '\\[click\\](http://x) \\\\')])
def test_a_message_in_sarif_has_no_placeholder_and_no_link(judged, reason, text):
    folder, found = judged['blind_clock']
    changed = replace(found, trials=tuple(
        replace(one, after=one.after.model_copy(update={
            'verdict': Verdict.ERROR, 'reason': reason})) for one in found))
    run = review_of('sarif', folder, changed)['runs'][0]
    assert all(row['message']['text'].endswith(f': {text}') for row in run['results'])
    assert run['results']


def test_the_place_in_sarif_is_a_uri(judged):
    folder, found = judged['blind_clock']
    other = folder.parent / 'odd' / folder.name
    shutil.copytree(folder, other, dirs_exist_ok=True)
    path = other / 'settings.json'
    data = json.loads(path.read_text())
    for one in data['scenarios']:
        one['path'] = 'h 5#\u00fc?%.yaml'
    path.write_text(json.dumps(data))
    for row in review_of('sarif', other, found)['runs'][0]['results']:
        [place] = row['locations']
        assert place['physicalLocation']['artifactLocation']['uri'] == 'h%205%23%C3%BC%3F%25.yaml'


def test_oscal_calls_a_scenario_without_a_hazard_a_scenario(judged):
    folder, found = judged['rule_based']
    trials = [replace(one, after=one.after.model_copy(update={'traceability': Traceability()}))
              for one in found]
    document = review_of('oscal', folder, replace(found, trials=tuple(trials)))
    titles = {one['title'] for one in document['assessment-results']['results'][0]['findings']}
    assert titles == {'Scenario SCN-R-101', 'Scenario SCN-R-D-101'}


def states_of(document):
    return {one['target']['target-id']: (one['target']['status']['state'],
                                         one['target']['status']['reason'])
            for one in document['assessment-results']['results'][0]['findings']}


def test_oscal_has_a_finding_for_each_hazard(judged):
    passed = review_of('oscal', *judged['rule_based'])
    assert set(states_of(passed).values()) == {('satisfied', 'pass')}
    assert set(states_of(review_of('oscal', *judged['blind_clock'])).values()) == {
        ('not-satisfied', 'fail')}
    document = passed['assessment-results']
    result = document['results'][0]
    assert {'uuid', 'metadata', 'import-ap', 'results'} == document.keys()
    assert {'title', 'last-modified', 'version', 'oscal-version'} == document['metadata'].keys()
    seen = {one['uuid'] for one in result['observations']}
    assert {one['related-observations'][0]['observation-uuid'] for one in result['findings']} \
        == seen
    for one in (document, result, *result['observations'], *result['findings']):
        assert UUID.fullmatch(one['uuid'])
    for one in result['findings']:
        assert TOKEN.fullmatch(one['target']['target-id'])
    hazards = {name for one in judged['rule_based'][1] for name in one.after.traceability.hazards}
    assert states_of(passed).keys() == hazards


def test_a_changed_folder_satisfies_nothing(judged):
    folder, found = judged['rule_based']
    other = type(found)(found.trials, (CHANGED,), found.summary)
    assert set(states_of(review_of('oscal', folder, other)).values()) == {
        ('not-satisfied', 'other')}
    [invocation] = review_of('sarif', folder, other)['runs'][0]['invocations']
    assert invocation['executionSuccessful'] is False
    assert invocation['toolExecutionNotifications'][0]['level'] == 'error'


def test_cyclonedx_names_the_model_and_its_contract_by_hash(judged):
    from safety_scenarios.trial.identity import Artifact, Identity
    folder, found = judged['rule_based']
    plain = review_of('cyclonedx', folder, found)
    assert plain['metadata']['component']['type'] == 'application'
    files = tuple(Artifact(name=name, sha256=letter * 64, size=1, given_by='controller')
                  for name, letter in (('base.onnx', 'a'), ('base.yaml', 'b')))
    missed = found.summary.missed
    summary = found.summary.model_copy(update={
        'sut': Identity(artifacts=files, compared=True), 'missed': missed.model_copy(update={
            'share': missed.share.model_copy(update={'low': 0.1234567, 'high': 0.9876541})})})
    document = review_of('cyclonedx', folder, type(found)(found.trials, found.flaws, summary))
    assert (document['bomFormat'], document['specVersion']) == ('CycloneDX', '1.6')
    assert UUID.fullmatch(document['serialNumber'].removeprefix('urn:uuid:'))
    assert [(one['type'], one['hashes'][0]['content'][:1]) for one in document['components']] == [
        ('machine-learning-model', 'a'), ('file', 'b')]
    known = {one['bom-ref'] for one in document['components']} | {'controller'}
    assert {one['ref'] for one in document['dependencies']} == known
    metrics = document['metadata']['component']['modelCard']['quantitativeAnalysis'][
        'performanceMetrics']
    assert metrics[0]['type'] == 'hazards missed (share)'
    assert metrics[0]['confidenceInterval'] == {'lowerBound': '0.123456', 'upperBound': '0.987655'}
