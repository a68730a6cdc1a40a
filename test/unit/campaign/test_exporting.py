# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ``export`` writes: the same as Python gives, and no claim over what nobody could judge."""

from itertools import count
import json
import shutil

import pytest
from safety_scenarios.campaign.rejudging.rejudge import Rejudged
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.cli.main import main
from safety_scenarios.reports.outputs.assurance import evidence_item
from safety_scenarios.reports.outputs.exporting import judged
from safety_scenarios.scenario.verdict import Verdict


@pytest.fixture(scope='module')
def items(many_campaigns):
    names = ('passed', 'failed', 'open')
    return {one.name: evidence_item(one.folder, one.found)
            for one in judged([many_campaigns / name for name in names])}


def goals(item):
    return [one for one in item['elements'] if one['gsn'] == 'goal']


def test_all_formats_are_written_and_again_to_the_byte(many_campaigns, tmp_path, capsys):
    arguments = ['export', str(many_campaigns / 'passed'), str(many_campaigns / 'failed'),
                 *(part for how in ('csv', 'parquet', 'evidence') for part in ('--format', how)),
                 '--output']
    assert main([*arguments, str(tmp_path / 'one')]) == 0
    assert main([*arguments, str(tmp_path / 'two'), '--format', 'svg']) == 0
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
                for name in ('one', 'two'))
    assert one.items() <= two.items() and sorted(two) == [
        'dictionary.json', 'evidence.failed.json', 'evidence.passed.json', 'findings.csv',
        'findings.parquet', 'latency.svg', 'margins.svg', 'pairs.svg', 'samples.csv',
        'samples.parquet', 'trials.csv', 'trials.parquet']
    assert one['trials.csv'].count(b'\r\n') == 5


def test_nothing_is_written_into_a_campaign_nor_over_a_file(many_campaigns, tmp_path, capsys):
    folder = str(many_campaigns / 'passed')
    assert main(['export', folder, '--output', f'{folder}/tables']) == 2
    (tmp_path / 'file').write_text('mine')
    assert main(['export', folder, '--output', str(tmp_path / 'file')]) == 2
    assert main(['export', folder, folder, '--output', str(tmp_path / 'x')]) == 2
    assert main(['export', folder, '--format', 'svg', '--table', 'trials', '--output',
                 str(tmp_path / 'x')]) == 2
    told = capsys.readouterr().err
    for text in ("campaign's own folder", 'cannot be made', 'got it twice', '--table: got it'):
        assert text in told
    assert (tmp_path / 'file').read_text() == 'mine' and not (tmp_path / 'x').exists()


def test_a_changed_folder_gives_no_pass_and_no_claim(many_campaigns, tmp_path, capsys):
    shutil.copytree(many_campaigns / 'failed', tmp_path / 'changed')
    path = tmp_path / 'changed' / 'trials.jsonl'
    path.write_text(path.read_text().replace('FAIL', 'PASS'))
    assert main(['export', str(tmp_path / 'changed'), '--format', 'csv', '--format', 'evidence',
                 '--table', 'trials', '--output', str(tmp_path / 'out')]) == 3
    assert 'trials.jsonl: changed' in capsys.readouterr().err
    assert '"PASS"' not in (tmp_path / 'out' / 'trials.csv').read_text()
    item = json.loads((tmp_path / 'out' / 'evidence.json').read_text())
    assert item['flaws'] and all(goal['status'] != 'supported' for goal in goals(item))
    assert goals(item)[1]['bound'] is None


def test_a_pass_is_claimed_with_its_exact_one_sided_bound(items):
    whole, scenario = goals(items['passed'])
    assert (whole['status'], scenario['status']) == ('supported', 'supported')
    assert scenario['bound']['at_most'] == clopper_pearson(0, 2, sided='upper').high
    assert scenario['bound']['n'] == 2 and '0 failures in 2 trials, at most 78 %' in \
        scenario['statement']
    assert items['passed']['undecided']['trials'] == 0
    told = ' '.join(one['statement'] for one in items['passed']['elements'])
    for text in ('Run from 20', 'seed 0', 'Times are simulated', 'SHA-256 of its file'):
        assert text in told


def test_a_failure_refutes_and_its_bound_counts_it(items):
    whole, scenario = goals(items['failed'])
    assert (whole['status'], scenario['status']) == ('refuted', 'refuted')
    assert scenario['assertionDeclaration'] == 'defeated'
    assert scenario['bound']['at_most'] == 1.0


def test_nothing_is_claimed_over_trials_that_were_not_decided(items):
    item = items['open']
    whole, scenario = goals(item)
    assert (whole['status'], scenario['status']) == ('undecided', 'undecided')
    assert scenario['bound'] is None and scenario['latency_p99_bound'] is None
    assert '2 of 2 trials INCONCLUSIVE or ERROR' in scenario['why_no_bound'][0]
    assert whole['rates']['hazards_missed']['bound'] is None
    assert [one['verdict'] for one in item['undecided']['listed']] == ['INCONCLUSIVE'] * 2


@pytest.mark.parametrize('verdict', [Verdict.INCONCLUSIVE, Verdict.ERROR])
def test_one_undecided_trial_among_many_takes_the_bound_away(many_campaigns, verdict):
    [one] = judged([many_campaigns / 'passed'])
    results = [trial.after for trial in one.found]
    results[1] = results[1].model_copy(update={'verdict': verdict})
    summary = summarise(results, controller='mine', seed=0, planned=2, interrupted=False)
    found = type(one.found)(tuple(
        type(trial)(trial.before, result, True)
        for trial, result in zip(one.found, results)), (), summary)
    whole, scenario = goals(evidence_item(one.folder, found))
    assert scenario['bound'] is None and 'at most' not in scenario['statement']
    assert 'supported' not in (whole['status'], scenario['status'])
    assert whole['rates']['hazards_missed']['bound'] is None


@pytest.mark.parametrize(('rest', 'text'), [
    (Verdict.FAIL, '1 failure in 2 trials, and no bound is claimed, because 1 of 2'),
    (Verdict.PASS, 'nothing is claimed, because 1 of 2')])
def test_a_failure_is_stated_beside_an_undecided_trial_and_a_pass_is_not(
        many_campaigns, rest, text):
    verdicts = iter((Verdict.ERROR, rest))
    _, scenario = claims_over(many_campaigns, lambda result: result.model_copy(update={
        'verdict': next(verdicts)}))
    assert f': {text} trials INCONCLUSIVE or ERROR' in scenario['statement']


def claims_over(many_campaigns, change, times=1):
    """Return what is claimed of the passed campaign, after each of its results was changed."""
    [one] = judged([many_campaigns / 'passed'])
    results = [change(trial.after) for trial in [*one.found] * times]
    summary = summarise(results, controller='mine', seed=0, planned=2, interrupted=False,
                        link='loopback')
    return goals(evidence_item(one.folder, type(one.found)(tuple(
        Rejudged(result, result, True) for result in results), (), summary)))


def test_trials_that_came_out_alike_bound_nothing_more_than_one(many_campaigns):
    whole, scenario = claims_over(many_campaigns, lambda result: result.model_copy(update={
        'latency': None, 'findings': (), 'drawn': {}, 'scores': None}))
    assert scenario['bound']['n'] == 1
    assert '(1 of them differ in what is judged' in scenario['statement']


def test_failures_that_came_out_alike_are_counted_each(many_campaigns):
    numbers = count()

    def change(result):
        number = next(numbers)
        is_bad = number < 20
        return result.model_copy(update={
            'latency': None, 'findings': (), 'scores': None, 'drawn': {'x': is_bad or number},
            'verdict': Verdict.FAIL if is_bad else Verdict.PASS})
    _, scenario = claims_over(many_campaigns, change, times=50)
    assert scenario['bound']['at_most'] == clopper_pearson(20, 100, sided='upper').high
    assert '20 failures in 100 trials (81 of them differ' in scenario['statement']


def test_a_check_that_was_not_evaluated_leaves_its_claim_undecided(many_campaigns):
    whole, scenario = claims_over(many_campaigns, lambda result: result.model_copy(update={
        'findings': (*result.findings[:-1],
                     result.findings[-1].model_copy(update={'verdict': None}))}))
    assert (whole['status'], scenario['status']) == ('undecided', 'undecided')


def test_every_relation_is_between_parts_that_there_are(items):
    for item in items.values():
        ids = [one['id'] for one in item['elements']]
        assert len(set(ids)) == len(ids)
        assert {one[end] for one in item['relations'] for end in ('source', 'target')} == set(ids)
        [solution] = [one for one in item['elements'] if one['gsn'] == 'solution']
        assert len(solution['digest']['sha256']) == 64
