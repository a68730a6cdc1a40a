# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The summary on the page of a run: what others wrote stays text, and it ends somewhere."""

import html

from cases import for_each
from markdown_it import MarkdownIt
import pytest
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.reports.ci import foreign, LONGEST, markdown, stopped
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from unit.loopback_runs import loopback_run

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
