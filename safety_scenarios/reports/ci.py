# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A campaign for CI servers: JUnit XML, and a summary in Markdown on the page of a run.

FAIL is a failure; INCONCLUSIVE and ERROR are errors, and nothing is ever skipped. One more case
says whether every planned trial was run and judged, so that a campaign without any is red too.

Whatever others wrote (names, reasons, a controller's answer) stands in ``<code>`` with every sign
as its number, so that nothing of it is markup, a link or a mention.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
import os
from pathlib import Path
import re
import time
from xml.etree import ElementTree

from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.provenance import versions
from safety_scenarios.errors import SettingsError, shortened, TraceError
from safety_scenarios.scenario.blocks.traceability import expected_in
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.session import Beginning, Observer, OutputContext
from safety_scenarios.trial.summary import CampaignSummary, Rate, ScenarioSummary
from safety_scenarios.trial.trial import TrialRecord

CAMPAIGN, WHOLE = 'campaign', 'every planned trial was run and judged'
"""Class and name of the case that is about no trial."""
RUNNING = 'the campaign has not ended: it still runs, or was killed'
WITHDRAWN = 'the command that writes this file has not ended, or ended with an error'
MOST_FINDINGS, LONGEST_TEXT, LONGEST_LINE, MOST_TEXT = 50, 10_000, 500, 5_000_000
"""Servers refuse files beyond some 10 MB; what is left out is in trials.jsonl."""
_BEGIN = 200
"""Bytes of a JUnit file in which its first element is."""
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
    began: datetime | None = None
    """When the campaign began, by the clock of the computer; None: by that of its trials."""
    counts: bool = True
    """Whether it decides the exit code; False for an arm of a matrix that is a baseline."""


class JunitReport(Observer):
    """
    Keeps a JUnit file that is never greener than the campaign, at whatever moment it is read.

    :param write: replaces the file by a text, as a whole
    """

    def __init__(self, write: Callable[[str], None], properties: Mapping[str, str]) -> None:
        self._write = write
        self._properties = dict(properties)
        self._results: list[TrialResult] = []
        self._next_s = 0.0
        self._began = datetime.now(timezone.utc)

    def campaign_began(self, beginning: Beginning) -> None:
        """Say that it runs."""
        self._properties |= {'controller': beginning.controller.label,
                             'where': beginning.where}
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
        self._write(junit_text(JunitSource(
            summary.as_in_files(self._results), summary, properties=self._properties,
            began=self._began)))

    def stopped(self, why: str) -> None:
        """Write what there is of a campaign that has no end, or none yet."""
        self._write(junit_text(JunitSource(self._results, stopped=why,
                                           properties=self._properties, began=self._began)))


def junit_text(*sources: JunitSource) -> str:
    """Return the file, with one suite for each campaign."""
    suites = ElementTree.Element('testsuites', {'name': 'safety_scenarios'})
    suites.extend(_suite(source, MOST_TEXT // len(sources)) for source in sources)
    for name in ('tests', 'failures', 'errors'):
        suites.set(name, str(sum(int(suite.attrib[name]) for suite in suites)))
    suites.set('time', f'{sum(float(suite.attrib["time"]) for suite in suites):.3f}')
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(
        suites, encoding='unicode')


def _suite(source: JunitSource, left: int) -> ElementTree.Element:
    """Return what a campaign came to, in not many more characters than are left."""
    counted = [result for result in source.results if not result.warmup]
    suite = ElementTree.Element('testsuite')
    known = {**_summary_fields(source.summary), **source.properties}
    if known:  # the schema takes no empty list
        properties = ElementTree.SubElement(suite, 'properties')
        for name, value in known.items():
            ElementTree.SubElement(properties, 'property', name=_line(name), value=_line(value))
    for result in counted:
        left -= _trial(suite, source, result, left)
    _whole(suite, source, all(result.verdict is Verdict.PASS for result in counted))
    counts = {'tests': str(len(suite.findall('testcase'))),
              'failures': str(len(suite.findall('testcase/failure'))),
              'errors': str(len(suite.findall('testcase/error'))),
              'time': f'{sum(result.duration_ms for result in counted) / 1e3:.3f}'}
    suite.attrib |= {'name': _line(known.get('controller', CAMPAIGN)), **counts,
                     'skipped': '0', **_began(source.began, counted)}
    return suite


def _summary_fields(summary: CampaignSummary | None) -> Mapping[str, str]:
    if summary is None:
        return {}
    found = {'controller': summary.controller, 'link': summary.link, 'seed': str(summary.seed),
             'planned': str(summary.planned), 'verdict': summary.verdict.value,
             'exit_code': str(summary.exit_code), 'hazards missed': _rate_text(summary.missed),
             'false stops': _rate_text(summary.false_stops)}
    if summary.failed_otherwise is not None:
        found['other failures of benign variants'] = str(summary.failed_otherwise)
    sut = summary.sut
    if sut is not None:
        found |= {f'sut {number}': text for number, text in enumerate(sut.lines, 1)}
        found |= {'sut': sut.unidentified} if sut.unidentified else {}
    return found


def _trial(suite: ElementTree.Element, source: JunitSource, result: TrialResult,
           left: int) -> int:
    """Add a trial's case, and return how many characters of ``left`` it took."""
    case = _case(suite, result.scenario_id, f'{result.scenario_name} trial {result.index + 1}',
                 result.duration_ms / 1e3)
    if result.verdict is Verdict.PASS:
        return 0
    tag = 'failure' if result.verdict is Verdict.FAIL else 'error'
    text = _failure_text(result, min(left, LONGEST_TEXT), is_running=source.stopped == RUNNING)
    if not source.counts:
        ElementTree.SubElement(case, 'system-out').text = _clean(
            f'{result.verdict.value}: {result.reason}. This arm does not count\n') + text
        return len(text)
    problem = ElementTree.SubElement(case, tag, {
        'type': result.verdict.value,
        'message': _line(f'{result.verdict.value}: {result.reason}')})
    problem.text = text
    return len(text)


def _failure_text(result: TrialResult, most: int, *, is_running: bool) -> str:
    """
    Return everything that kept a trial from PASS.

    :param is_running: leave out the seed, by which the controller could know what is to come
    """
    lines = [] if is_running else [f'trial {result.trial_id}, seed {result.seed}']
    lines += [f'controller {result.controller}']
    wrong = [finding for finding in result.findings if finding.verdict not in (None, Verdict.PASS)]
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
    elif not source.counts:
        if not any(summary.verdicts.get(name) for name in ('PASS', 'FAIL')):
            why.append('no trial of this arm could be judged, which others are compared with')
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


def _began(began: datetime | None, counted: Iterable[TrialResult]) -> Mapping[str, str]:
    if began is None:
        began_ns = min((result.started_system_ns for result in counted
                        if result.started_system_ns), default=None)
        if began_ns is None:
            return {}
        began = datetime.fromtimestamp(began_ns // 10**9, timezone.utc)
    return {'timestamp': began.astimezone(timezone.utc).strftime('%Y-%m-%dT%H:%M:%S')}


def _line(text: str) -> str:
    """Return text as an attribute may hold it: one line, and not without end."""
    return shortened(' '.join(_clean(text[:4 * LONGEST_LINE]).split()), LONGEST_LINE)


def _clean(text: str) -> str:
    return _NOT_XML.sub('\N{REPLACEMENT CHARACTER}', text)


MOST_ROWS, LONGEST_CELL, LONGEST = 200, 300, 60_000
"""GitHub takes 1 MiB for a whole step, and nobody reads more."""
_REASONS = 50


def markdown(summary: CampaignSummary) -> str:
    text = '\n'.join(_lines(summary)) + '\n'
    return text if len(text) <= LONGEST else _brief(summary)


def stopped(why: str) -> str:
    """Return what to say of a campaign that did not end."""
    return f'## safety_scenarios: no result\n\nThe campaign did not end: {foreign(why)}\n'


def foreign(text: str) -> str:
    """Return what somebody else wrote, so that it can be nothing but text."""
    line = shortened(' '.join(text[:4 * LONGEST_CELL].split()), LONGEST_CELL)
    return '<code>' + ''.join(_sign(sign) for sign in line) + '</code>'


def _sign(sign: str) -> str:
    if sign == ' ' or sign.isalnum():
        return sign
    return f'&#{ord(sign)};' if sign.isprintable() else '&#65533;'


def _lines(summary: CampaignSummary) -> Iterator[str]:
    yield from _head(summary)
    yield '| scenario | expects | verdict | passed | median ms | worst ms | class |'
    yield '|---|---|---|---|---|---|---|'
    worst_first = sorted(summary.scenarios, key=lambda row: -row.verdict.rank)
    for row in worst_first[:MOST_ROWS]:
        yield (f'| {foreign(row.scenario_name)} | {expected_in(row.domain)} | {_verdict(row)} '
               f'| {row.verdicts.get("PASS", 0)}/{row.trials} | {_ms(row, row.median_ms.value)} '
               f'| {_ms(row, row.worst_ms)} | {" ".join(row.latency_classes) or "-"} |')
    yield ''
    if len(worst_first) > MOST_ROWS:
        yield f'{len(worst_first) - MOST_ROWS} more scenarios are in `campaign.json`.\n'
    wrong = [row for row in worst_first if row.verdict is not Verdict.PASS]
    for row in wrong[:_REASONS]:
        yield f'- {_verdict(row)} {foreign(row.scenario_id)}: {foreign(row.reason)}'
    yield ''


def _head(summary: CampaignSummary) -> Iterator[str]:
    yield f'## safety_scenarios: {summary.verdict.value}'
    yield ''
    verdicts = ', '.join(f'{count} {name}' for name, count in summary.verdicts.items())
    yield (f'Against {foreign(summary.controller)}: {summary.completed} of {summary.planned} '
           f'trials, {verdicts or "none judged"}; exit code {summary.exit_code}. Hazards missed: '
           f'{_rate_text(summary.missed)}. False stops: {_rate_text(summary.false_stops)}.')
    if summary.failed_otherwise is not None:
        yield f'Other failures of benign variants: {foreign(str(summary.failed_otherwise))}.'
    yield ''
    if summary.interrupted:
        yield '**Interrupted:** not every planned trial was run.\n'
    if summary.sut is not None:
        for doubt in summary.sut.doubts:
            yield f'**Not one thing was judged:** {foreign(doubt)}\n'
        told = list(summary.sut.lines)
        if told:
            yield f'Judged: {"; ".join(map(foreign, told[:20]))}\n'
        if summary.sut.unidentified:
            yield f'**Warning:** {foreign(summary.sut.unidentified)}\n'


def _rate_text(rate: Rate) -> str:
    """Return a count out of a count, or that nothing could be counted."""
    return f'{rate.count} of {rate.of}' if rate.of else \
        f'no such trial{" was judged" if rate.undecided else ""}'


def _brief(summary: CampaignSummary) -> str:
    return '\n'.join(_head(summary))[:LONGEST] + '\nThe rest is in `campaign.json`.\n'


def _verdict(row: ScenarioSummary) -> str:
    return row.verdict.value if row.verdict is Verdict.PASS else f'**{row.verdict.value}**'


def _ms(row: ScenarioSummary, value: float | None) -> str:
    if not row.latency_ms:
        return '-'
    return 'none' if value is None else f'{value:.1f}'


STEP_SUMMARY = 'GITHUB_STEP_SUMMARY'
"""Environment variable with the file whose Markdown GitHub shows."""
Tell = Callable[[str], None]


class _StepSummary(Observer):
    """Appends to the file that GitHub names; that it cannot is told, and changes no verdict."""

    def __init__(self, path: str, tell: Tell) -> None:
        self._path, self._tell = path, tell

    def campaign_ended(self, summary: CampaignSummary) -> None:
        self.append(markdown(summary))

    def append(self, text: str) -> None:
        """Append some Markdown."""
        try:
            with open(self._path, 'a', encoding='utf-8') as file:
                file.write(text + '\n')
        except OSError as error:
            self._tell(f'note: {STEP_SUMMARY}: {self._path} cannot be written: {error.strerror}')


@contextmanager
def junit(context: OutputContext) -> Iterator[Sequence[Observer]]:
    """
    Give what writes the JUnit file that the settings name, if they name one.

    A campaign that raises leaves a JUnit file that says so: an old one would be taken for its own.

    :raises SettingsError: the JUnit file cannot be written, or lies in the campaign's folder
    """
    settings = context.settings
    if not settings.junit:
        yield ()
        return
    report = JunitReport(_writer(Path(settings.junit), settings.output), _versions())
    with _stopping(report.stopped, context.warn):
        yield (report,)


@contextmanager
def junit_of_arms(context: OutputContext) -> Iterator[Callable[[Mapping[str, JunitSource]], None]]:
    """
    Give what writes the JUnit file of a matrix, if the settings name one: arm to its results.

    :param context: its output is the folder of the matrix
    :raises SettingsError: the JUnit file cannot be written, or lies in the folder
    """
    settings = context.settings
    if not settings.junit:
        yield lambda arms: None
        return
    write = _writer(Path(settings.junit), settings.output)
    with _stopping(lambda why: write(junit_text(JunitSource([], stopped=why))), context.warn):
        yield lambda arms: write(junit_text(*(replace(source, properties={
            'controller': arm, **_versions()}) for arm, source in arms.items())))


def _versions() -> Mapping[str, str]:
    return {f'version {name}': version for name, version in versions().items() if version}


@contextmanager
def _stopping(stopped: Callable[[str], None], warn: Tell) -> Iterator[None]:
    """Let a file say why there is no result, from the beginning on and if something raises."""
    stopped('the campaign did not begin')
    try:
        yield
    except BaseException as error:
        try:
            stopped(_why(error))
        except SettingsError as unwritten:
            warn(f'note: {unwritten}')
        raise


@contextmanager
def step_summary(context: OutputContext) -> Iterator[Sequence[Observer]]:
    """Give what appends to the page of a run on GitHub, where there is one."""
    page = os.environ.get(STEP_SUMMARY, '')
    if not page:
        yield ()
        return
    summary = _StepSummary(page, context.warn)
    try:
        yield (summary,)
    except BaseException as error:
        summary.append(stopped(_why(error)))
        raise


def _why(error: BaseException) -> str:
    return str(error) or 'interrupted'


def write_junit(path: Path, source: JunitSource, folder: Path) -> None:
    """
    Write a JUnit file of a campaign that was judged again.

    :raises SettingsError: it cannot be written, or lies in the folder
    """
    _writer(path, str(folder))(junit_text(source))


def withdraw_junit(path: Path) -> None:
    """
    Let an old JUnit file say that there is no result yet: it would be taken for a new one.

    A file that is no JUnit file is left as it is: its name may be a slip.

    :raises SettingsError: it cannot be written
    """
    try:
        is_old = path.is_file() and b'<testsuites' in path.read_bytes()[:_BEGIN]
    except OSError:
        return
    if is_old:
        _writer(path, '')(junit_text(JunitSource([], stopped=WITHDRAWN)))


def append_step_summary(summary: CampaignSummary, tell: Tell) -> None:
    """Append a summary to the page of a run, where there is one."""
    page = os.environ.get(STEP_SUMMARY, '')
    if page:
        _StepSummary(page, tell).campaign_ended(summary)


def _writer(path: Path, output: str) -> Callable[[str], None]:
    if path.is_dir():
        raise SettingsError(f'junit: got {path}, a folder, expected the name of a file, such as '
                            f'{path / "junit.xml"}')
    if output and path.resolve().is_relative_to(Path(output).resolve()):
        raise SettingsError(f"junit: got {path}, which is in the campaign's own folder, expected "
                            f'a file beside it: that folder holds what was measured, and its '
                            f'manifest every file of it')

    def write(text: str) -> None:
        try:
            write_whole(path.resolve(), text)  # who reads a link reads what it leads to
        except TraceError as error:
            raise SettingsError(f'junit: {str(error).partition(". ")[0]}') from None
    return write
