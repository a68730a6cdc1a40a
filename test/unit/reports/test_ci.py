# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The JUnit file as CI servers read it, and the summary of a step: never greener than the run."""

from collections import Counter
import html
import re
from xml.etree import ElementTree

from cases import for_each
from junitparser import Error, Failure, JUnitXml
from markdown_it import MarkdownIt
import pytest
from safety_scenarios import run
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.reports.ci import (
    foreign,
    junit_text,
    JunitSource,
    LONGEST,
    LONGEST_LINE,
    LONGEST_TEXT,
    markdown,
    MOST_TEXT,
    RUNNING,
    stopped,
    WHOLE,
)
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.summary import CampaignSummary
from unit.conftest import QUICK
from unit.loopback_runs import loopback_run

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


SECONDS = re.compile(r'(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?')
DIGITS, ANY = re.compile(r'\d+'), re.compile('.*', re.DOTALL)
RULES = {
    # of junit-10.xsd: element: (children with their least number, attributes: (must, form), text)
    'testsuites': ({'testsuite': 0}, {
        'name': (False, ANY), 'time': (False, SECONDS), 'tests': (False, ANY),
        'failures': (False, ANY), 'errors': (False, ANY)}, False),
    'testsuite': ({'testsuite': 0, 'properties': 0, 'testcase': 0, 'system-out': 0,
                   'system-err': 0}, {
        'name': (True, ANY), 'tests': (True, DIGITS), 'failures': (True, DIGITS),
        'errors': (True, DIGITS), 'group': (False, ANY), 'time': (False, SECONDS),
        'skipped': (False, ANY), 'timestamp': (False, ANY), 'hostname': (False, ANY),
        'id': (False, ANY), 'package': (False, ANY), 'file': (False, ANY), 'log': (False, ANY),
        'url': (False, ANY), 'version': (False, ANY)}, False),
    'properties': ({'property': 1}, {}, False),
    'property': ({}, {'name': (True, ANY), 'value': (True, ANY)}, False),
    'testcase': ({'skipped': 0, 'error': 0, 'failure': 0, 'system-out': 0, 'system-err': 0}, {
        'name': (True, ANY), 'time': (False, SECONDS), 'classname': (False, ANY),
        'group': (False, ANY)}, False),
    'failure': ({}, {'type': (False, ANY), 'message': (False, ANY)}, True),
    'error': ({}, {'type': (False, ANY), 'message': (False, ANY)}, True)}


class Broken:
    """Raises when it is asked."""

    def decide(self, observation):
        raise RuntimeError('<script>alert(1)</script> \x1b[31m \x00')


def problems(element: ElementTree.Element):
    """Yield what the schema would refuse."""
    children, attributes, has_text = RULES[element.tag]
    for name, (must, _) in attributes.items():
        if element.get(name) is None and must:
            yield f'{element.tag} lacks {name}'
    for name, value in element.attrib.items():
        if name not in attributes or not attributes[name][1].fullmatch(value):
            yield f'{element.tag} has {name}={value!r}'
    found = Counter(child.tag for child in element)
    for name, least in children.items():
        if found[name] < least:
            yield f'{element.tag} lacks {name}'
    text = (element.text or '') + ''.join(child.tail or '' for child in element)
    if text.strip() and not has_text:
        yield f'{element.tag} holds {text!r}'
    for child in element:
        if child.tag not in children:
            yield f'{element.tag} holds {child.tag}'
        else:
            yield from problems(child)


FILES = {
    # verdict: (controller, what junitparser makes of the trial)
    Verdict.PASS: ('rule_based', None), Verdict.FAIL: ('never_stop', Failure),
    Verdict.INCONCLUSIVE: ('always_stop', Error), Verdict.ERROR: (Broken, Error)}


@pytest.mark.parametrize('verdict', FILES, ids=lambda verdict: verdict.value)
def test_a_file_of_each_verdict_is_read_by_junitparser_and_keeps_to_the_schema(verdict, tmp_path):
    controller, kind = FILES[verdict]
    results = run(QUICK, controller=controller, link='loopback')
    assert results.verdict is verdict
    path = tmp_path / 'junit.xml'
    path.write_text(junit_text(JunitSource(results.trials, results.summary)), encoding='utf-8')
    assert list(problems(ElementTree.parse(path).getroot())) == []
    read = JUnitXml.fromfile(str(path))
    assert (read.tests, read.failures, read.errors, read.skipped or 0) == (
        2, int(kind is Failure), int(kind is Error), 0)
    [suite] = read
    trial, _ = suite
    assert [type(result) for result in trial.result] == ([] if kind is None else [kind])
    for result in trial.result:
        assert result.type == verdict.value
        assert results.trials[0].findings and 'seed' in result.text


@pytest.mark.parametrize('stopped', [RUNNING, 'disk full'])
def test_a_file_of_no_trial_and_no_property_keeps_to_the_schema_too(stopped):
    text = junit_text(JunitSource([], stopped=stopped))
    assert list(problems(ElementTree.fromstring(text.encode()))) == []
    assert JUnitXml.fromstring(text.encode()).errors == 1


@for_each(('text', 'told'), [
    ('<testsuites><testcase name="a"/></testsuites>', 'testsuites holds testcase'),
    ('<testsuite name="a" tests="1" failures="0" errors="0"><properties/></testsuite>',
     'properties lacks property'),
    ('<testsuite name="a" tests="x" failures="0" errors="0"/>', "testsuite has tests='x'"),
    ('<testsuite tests="1" failures="0" errors="0">x</testsuite>', 'testsuite lacks name')])
def test_the_rules_refuse_what_the_schema_refuses(text, told):
    assert told in list(problems(ElementTree.fromstring(text)))


ATTACKS = ['<img src=x onerror=alert(1)>', '[click](http://evil.example)', '| a | b |\n|---|---|',
           '**bold** _em_ `code`', '</code><h1>PASS</h1>', '@everyone #1 https://evil.example',
           '\x1b[31m\u202e', '&lt;b&gt;', 'www.evil.example', '\n\n# PASS\n',
           '![x](http://a/b.png)']


@pytest.fixture(scope='module')
def shown(tmp_path_factory):
    return loopback_run(tmp_path_factory.mktemp('run') / 'run', 'SCN-R-101', 'SCN-R-D-101',
                        controller='never_stop')


@for_each('text', ATTACKS)
def test_what_somebody_else_wrote_is_nothing_but_text(text):
    rendered = MarkdownIt('gfm-like', {'html': True, 'linkify': False}).render(
        f'| a |\n|---|\n| {foreign(text)} |\n')
    inside = rendered.partition('<td>')[2].partition('</td>')[0]
    assert inside.startswith('<code>') and inside.endswith('</code>')
    assert '<' not in inside.removeprefix('<code>').removesuffix('</code>')
    seen = html.unescape(inside.removeprefix('<code>').removesuffix('</code>'))
    assert seen == ' '.join(text.split()).replace('\x1b', '\ufffd').replace('\u202e', '\ufffd')


def test_the_summary_says_verdict_scenarios_and_why(shown):
    text = markdown(shown.summary)
    assert text.startswith('## safety_scenarios: FAIL\n')
    assert text.count('**FAIL**') == 2  # its row and its reason
    assert '1 FAIL, 1 PASS' in text and 'exit code 1' in text
    rendered = MarkdownIt('gfm-like', {'linkify': False}).render(text)
    assert rendered.count('<tr>') == 3


def test_a_campaign_of_thousands_of_scenarios_does_not_fill_the_page(shown):
    [row, _] = shown.summary.scenarios
    many = shown.summary.model_copy(update={'scenarios': (row.model_copy(update={
        'scenario_name': '<' * 200, 'reason': '&' * 1000}),) * 5000})
    text = markdown(many)
    assert len(text) <= LONGEST + 100 and 'campaign.json' in text


def test_a_campaign_that_did_not_end_says_so():
    assert 'no result' in stopped('disk <full>') and '<full>' not in stopped('disk <full>')


def test_undecided_trials_are_no_pass(shown):
    [result] = [trial for trial in map(_result, shown.lines) if trial.scenario_id == 'SCN-R-101']
    finding = Finding(check='c', kind='harness', verdict=Verdict.INCONCLUSIVE, reason='r')
    result = result.model_copy(update={'verdict': Verdict.INCONCLUSIVE, 'findings': (finding,)})
    text = markdown(summarise([result], controller='x', seed=0, planned=1, interrupted=False))
    assert text.startswith('## safety_scenarios: INCONCLUSIVE') and '**INCONCLUSIVE**' in text


def _result(line):
    from safety_scenarios.scenario.result import TrialResult
    return TrialResult.model_validate_json(line)
