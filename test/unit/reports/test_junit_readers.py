# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The JUnit file as its readers take it: ``junitparser``, and the schema of Jenkins."""

from collections import Counter
import re
from xml.etree import ElementTree

from cases import for_each
from junitparser import Error, Failure, JUnitXml
import pytest
from safety_scenarios import run
from safety_scenarios.reports.ci import junit_text, JunitSource, RUNNING
from safety_scenarios.scenario.verdict import Verdict
from unit.conftest import QUICK

SECONDS = re.compile(r'(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?')
WHOLE, ANY = re.compile(r'\d+'), re.compile('.*', re.DOTALL)
RULES = {
    # of junit-10.xsd: element: (children with their least number, attributes: (must, form), text)
    'testsuites': ({'testsuite': 0}, {
        'name': (False, ANY), 'time': (False, SECONDS), 'tests': (False, ANY),
        'failures': (False, ANY), 'errors': (False, ANY)}, False),
    'testsuite': ({'testsuite': 0, 'properties': 0, 'testcase': 0, 'system-out': 0,
                   'system-err': 0}, {
        'name': (True, ANY), 'tests': (True, WHOLE), 'failures': (True, WHOLE),
        'errors': (True, WHOLE), 'group': (False, ANY), 'time': (False, SECONDS),
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
