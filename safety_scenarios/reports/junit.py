# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A campaign as JUnit XML: a test case for each trial, as GitHub, GitLab and Jenkins show them.

FAIL is a failure; INCONCLUSIVE and ERROR are errors, and nothing is ever skipped. One more case
says whether every planned trial was run and judged, so that a campaign without any is red too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
import re
import time
from xml.etree import ElementTree

from safety_scenarios.scenario.result import Finding, TrialResult, Verdict
from safety_scenarios.trial.observer import Beginning, Observer
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import TrialRecord

CAMPAIGN, WHOLE = 'campaign', 'every planned trial was run and judged'
"""Class and name of the case that is about no trial."""
RUNNING = 'the campaign has not ended: it still runs, or was killed'
MOST_FINDINGS, LONGEST_TEXT, LONGEST_LINE, MOST_TEXT = 50, 10_000, 500, 5_000_000
"""Servers refuse files beyond some 10 MB; what is left out is in trials.jsonl."""
_EVERY_S, _SHARE = 10.0, 20.0
"""How often it is written while trials run, at most; and for no more than a 20th of the time."""
_NOT_XML = re.compile('[^\t\n\r\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd'
                      '\U00010000-\U0010ffff]')
"""What XML 1.0 has no place for, and what turns text around."""


@dataclass(frozen=True)
class JunitSource:
    """Everything that such a file is made of."""

    results: Sequence[TrialResult]
    summary: CampaignSummary | None = None
    stopped: str = ''
    """Why there is no summary."""
    flaws: Sequence[str] = ()
    """What is wrong with a folder that was judged again."""
    properties: Mapping[str, str] = field(default_factory=dict)


class JunitReport(Observer):
    """
    Keeps a JUnit file that is never greener than the campaign, at whatever moment it is read.

    :param write: replaces the file by a text, as a whole
    :param properties: of the file, such as versions
    """

    def __init__(self, write: Callable[[str], None], properties: Mapping[str, str]) -> None:
        self._write = write
        self._properties = dict(properties)
        self._results: list[TrialResult] = []
        self._next_s = 0.0

    def campaign_began(self, beginning: Beginning) -> None:
        """Say that it runs."""
        self._properties |= {'controller': beginning.controller.label,
                             'where': beginning.where, 'seed': str(beginning.seed)}
        self.stopped(RUNNING)

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Keep the result, and write the file now and then: a killed campaign ends nothing."""
        self._results.append(result)
        began_s = time.monotonic()
        if began_s >= self._next_s:
            self.stopped(RUNNING)
            took_s = time.monotonic() - began_s
            self._next_s = began_s + max(_EVERY_S, _SHARE * took_s)

    def campaign_ended(self, summary: CampaignSummary) -> None:
        """Write the whole file."""
        self._write(junit_text(JunitSource(self._results, summary,
                                           properties=self._properties)))

    def stopped(self, why: str) -> None:
        """Write what there is of a campaign that has no end, or none yet."""
        self._write(junit_text(JunitSource(self._results, stopped=why,
                                           properties=self._properties)))


def junit_text(source: JunitSource) -> str:
    """Return the file."""
    counted = [result for result in source.results if not result.warmup]
    suite = ElementTree.Element('testsuite')
    known = {**source.properties, **_of_summary(source.summary)}
    if known:  # the schema takes no empty list
        properties = ElementTree.SubElement(suite, 'properties')
        for name, value in known.items():
            ElementTree.SubElement(properties, 'property', name=_line(name), value=_line(value))
    left = MOST_TEXT
    for result in counted:
        left -= _trial(suite, result, left)
    _whole(suite, source, all(result.verdict is Verdict.PASS for result in counted))
    counts = {'tests': str(len(suite.findall('testcase'))),
              'failures': str(len(suite.findall('testcase/failure'))),
              'errors': str(len(suite.findall('testcase/error'))),
              'time': f'{sum(result.duration_ms for result in counted) / 1e3:.3f}'}
    suite.attrib |= {'name': _line(source.properties.get('controller', CAMPAIGN)), **counts,
                     'skipped': '0', **_began(counted)}
    suites = ElementTree.Element('testsuites', {'name': 'safety_scenarios', **counts})
    suites.append(suite)
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(
        suites, encoding='unicode')


def _of_summary(summary: CampaignSummary | None) -> Mapping[str, str]:
    if summary is None:
        return {}
    found = {'controller': summary.controller, 'link': summary.link, 'seed': str(summary.seed),
             'planned': str(summary.planned), 'verdict': summary.verdict.value,
             'exit_code': str(summary.exit_code)}
    sut = summary.sut
    if sut is not None:
        found |= {f'sut {number}': text for number, text in enumerate(sut.lines, 1)}
        found |= {'sut': sut.unidentified} if sut.unidentified else {}
    return found


def _trial(suite: ElementTree.Element, result: TrialResult, left: int) -> int:
    """Add a trial's case, and return how many characters of ``left`` it took."""
    case = _case(suite, result.scenario_id, f'{result.scenario_name} trial {result.index + 1}',
                 result.duration_ms / 1e3)
    if result.verdict is Verdict.PASS:
        return 0
    tag = 'failure' if result.verdict is Verdict.FAIL else 'error'
    text = _told(result, min(left, LONGEST_TEXT))
    problem = ElementTree.SubElement(case, tag, {
        'type': result.verdict.value,
        'message': _line(f'{result.verdict.value}: {result.reason}')})
    problem.text = text
    return len(text)


def _told(result: TrialResult, most: int) -> str:
    """Return everything that kept a trial from PASS."""
    lines = [f'trial {result.trial_id}, seed {result.seed}, controller {result.controller}']
    wrong = [finding for finding in result.findings
             if finding.verdict not in (None, Verdict.PASS)]
    lines += [_finding(finding)[:LONGEST_TEXT] for finding in wrong[:MOST_FINDINGS]]
    if len(wrong) > MOST_FINDINGS:
        lines.append(f'and {len(wrong) - MOST_FINDINGS} more findings')
    if result.scenario is not None:
        lines += [line[:LONGEST_TEXT] for line in result.scenario.lines]
    text, most = '\n'.join(lines), max(0, most)
    return _clean(text if len(text) <= most else f'{text[:most]}... (more in trials.jsonl)')


def _finding(finding: Finding) -> str:
    verdict = finding.verdict.value if finding.verdict else ''
    margin = '' if finding.margin is None else \
        f' (margin {f"{finding.margin:.4g} {finding.unit or str()}".rstrip()})'
    return f'{verdict} {finding.check}: {finding.reason}{margin}'


def _whole(suite: ElementTree.Element, source: JunitSource, all_passed: bool) -> None:
    """Add the case that is about the campaign; red whenever its exit code has no other reason."""
    case = _case(suite, CAMPAIGN, WHOLE, 0.0)
    why = list(source.flaws)
    summary = source.summary
    if summary is None:
        why.append(source.stopped or RUNNING)
    else:
        if summary.interrupted:
            why.append('the campaign was interrupted')
        if summary.completed < summary.planned:
            why.append(f'got {summary.completed} trials, expected {summary.planned} as planned')
        if summary.sut is not None:
            why += summary.sut.doubts
        if all_passed and summary.exit_code and not why:
            why.append(f'the campaign is {summary.verdict.value}, exit code {summary.exit_code}')
    if why:
        kind = (Verdict.ERROR if summary is None else Verdict.INCONCLUSIVE).value
        problem = ElementTree.SubElement(case, 'error', type=kind,
                                         message=_line(f'{kind}: {why[0]}'))
        problem.text = _clean('\n'.join(why)[:LONGEST_TEXT])


def _case(suite: ElementTree.Element, classname: str, name: str,
          seconds: float) -> ElementTree.Element:
    return ElementTree.SubElement(suite, 'testcase', classname=_line(classname),
                                  name=_line(name), time=f'{seconds:.3f}')


def _began(counted: Iterable[TrialResult]) -> Mapping[str, str]:
    began_ns = min((result.started_system_ns for result in counted if result.started_system_ns),
                   default=None)
    return {} if began_ns is None else {'timestamp': datetime.fromtimestamp(
        began_ns // 10**9, timezone.utc).strftime('%Y-%m-%dT%H:%M:%S')}


def _line(text: str) -> str:
    """Return text as an attribute may hold it: one line, and not without end."""
    line = ' '.join(_clean(text[:4 * LONGEST_LINE]).split())
    return line if len(line) <= LONGEST_LINE else f'{line[:LONGEST_LINE]}...'


def _clean(text: str) -> str:
    return _NOT_XML.sub('\N{REPLACEMENT CHARACTER}', text)
