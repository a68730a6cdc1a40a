# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The JUnit file: as CI servers read it, and never greener than the campaign."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from safety_scenarios import run
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.reports.ci import (
    junit_text,
    JunitSource,
    LONGEST_LINE,
    LONGEST_TEXT,
    MOST_TEXT,
    WHOLE,
)
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.summary import CampaignSummary

QUICK = str(Path(__file__).parents[2] / 'data' / 'quick_person.yaml')
ATTRIBUTES = {
    'testsuites': {'name', 'time', 'tests', 'failures', 'errors'},
    'testsuite': {'name', 'tests', 'failures', 'errors', 'time', 'skipped', 'timestamp'},
    'properties': set(), 'property': {'name', 'value'},
    'testcase': {'name', 'time', 'classname'}, 'failure': {'type', 'message'},
    'error': {'type', 'message'}}
"""Every element that is written, with attributes that the schema junit-10 of Jenkins knows."""


@pytest.fixture(scope='module')
def passed() -> TrialResult:
    return run(QUICK, link='loopback').trials[0]


@pytest.fixture(scope='module')
def failed() -> TrialResult:
    return run(QUICK, link='loopback', controller='never_stop').trials[0]


def summary_of(*results, planned=None) -> CampaignSummary:
    return summarise(results, controller='mine', seed=0, planned=planned or len(results),
                     interrupted=False)


def suite_of(*results, **more):
    text = junit_text(JunitSource(results, **{'summary': summary_of(*results), **more}))
    return ElementTree.fromstring(text.encode()).find('testsuite')


def reds(suite):
    return {case.get('name'): [(child.tag, child.get('type')) for child in case]
            for case in suite.findall('testcase') if len(case)}


def as_verdict(result, verdict, **more):
    finding = Finding(check='a check', kind='bound', verdict=verdict, reason='why', margin=-0.5,
                      unit='m')
    return result.model_copy(update={'verdict': verdict, 'reason': 'a check: why',
                                     'findings': (finding,), **more})


def test_every_element_is_one_that_servers_know(passed, failed):
    suite = suite_of(passed, failed, as_verdict(passed, Verdict.INCONCLUSIVE),
                     properties={'version x': '1'})
    for element in suite.iter():
        assert set(element.attrib) <= ATTRIBUTES[element.tag]
    assert (suite.get('tests'), suite.get('failures'), suite.get('errors'),
            suite.get('skipped')) == ('4', '1', '1', '0')
    assert float(suite.get('time')) > 0
    assert suite[0].tag == 'properties'


def test_a_pass_is_green_a_fail_a_failure_and_whatever_was_not_told_an_error(passed):
    assert reds(suite_of(passed)) == {}
    for verdict, tag in ((Verdict.FAIL, 'failure'), (Verdict.INCONCLUSIVE, 'error'),
                         (Verdict.ERROR, 'error')):
        found = reds(suite_of(as_verdict(passed, verdict)))
        assert found == {'Quick person trial 1': [(tag, verdict.value)]}


def test_a_failure_says_every_finding_with_its_margin_and_how_to_run_it_again(failed):
    text = suite_of(failed).find('testcase/failure').text
    assert f'seed {failed.seed}' in text
    for finding in failed.findings:
        assert (finding.reason in text) == (finding.verdict is Verdict.FAIL)


def test_warm_up_is_no_case(passed):
    warm = as_verdict(passed, Verdict.FAIL, warmup=True)
    suite = suite_of(warm, passed)
    assert suite.get('tests') == '2' and reds(suite) == {}


def test_a_campaign_without_all_of_its_trials_is_red(passed):
    assert WHOLE in reds(suite_of(passed, summary=summary_of(passed, planned=2)))
    assert WHOLE in reds(suite_of(passed, summary=None, stopped='disk full'))
    assert WHOLE in reds(suite_of(passed, flaws=['trials.jsonl: changed']))
    assert WHOLE in reds(suite_of())


@pytest.mark.parametrize('verdict', list(Verdict))
@pytest.mark.parametrize('planned', [1, 2])
def test_the_file_is_green_exactly_when_the_exit_code_is_0(passed, verdict, planned):
    result = passed if verdict is Verdict.PASS else as_verdict(passed, verdict)
    summary = summary_of(result, planned=planned)
    assert (not reds(suite_of(result, summary=summary))) == (summary.exit_code == 0)


@pytest.mark.parametrize('text', [
    '\x00\x08\x1b[31mred\x1b[0m \ufffe\uffff', 'half a pair \ud800', ']]></failure>&lt;<!--',
    'turned \u202e round', '\x85\x9b31m', 'ok \U0001f916 \n\t line'])
def test_whatever_a_controller_said_is_text(passed, text):
    result = as_verdict(passed, Verdict.FAIL, reason=text, scenario_name=text)
    result = result.model_copy(update={'findings': (
        result.findings[0].model_copy(update={'reason': text}),)})
    written = junit_text(JunitSource([result], summary_of(result))).encode()
    suite = ElementTree.fromstring(written).find('testsuite')
    assert [child.tag for child in suite.iter()].count('failure') == 1
    assert not {'\x1b', '\x00', '\x9b', '\u202e'} & set(written.decode())
    if text.startswith(']]>'):
        assert text in suite.find('testcase/failure').text


def test_texts_end_somewhere(passed):
    long = as_verdict(passed, Verdict.FAIL, reason='x' * 10**5)
    long = long.model_copy(update={'findings': (long.findings[0].model_copy(
        update={'reason': 'y' * 10**5}),) * 100})
    failure = suite_of(long).find('testcase/failure')
    assert len(failure.text) < LONGEST_TEXT + 100
    assert len(failure.get('message')) < LONGEST_LINE + 100
    many = junit_text(JunitSource([long] * 600, summary_of(long)))
    assert len(many) < MOST_TEXT + 600 * 1500
    assert many.count('<failure') == 600
