# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A campaign as a few lines of Markdown, as GitHub shows them on the page of a run.

Whatever others wrote (names, reasons, a controller's answer) stands in ``<code>`` with every sign
as its number, so that nothing of it is markup, a link or a mention.
"""

from collections.abc import Iterator

from safety_scenarios.scenario.blocks.expectation import expected_in
from safety_scenarios.scenario.result import Verdict
from safety_scenarios.trial.summary import CampaignSummary, Rate, ScenarioSummary

MOST_ROWS, LONGEST_TEXT, LONGEST = 200, 300, 60_000
"""GitHub takes 1 MiB for a whole step, and nobody reads more."""
_REASONS = 50


def markdown(summary: CampaignSummary) -> str:
    """Return the text."""
    text = '\n'.join(_lines(summary)) + '\n'
    return text if len(text) <= LONGEST else _brief(summary)


def stopped(why: str) -> str:
    """Return what to say of a campaign that did not end."""
    return f'## safety_scenarios: no result\n\nThe campaign did not end: {foreign(why)}\n'


def foreign(text: str) -> str:
    """Return what somebody else wrote, so that it can be nothing but text."""
    line = ' '.join(text[:4 * LONGEST_TEXT].split())
    line = line if len(line) <= LONGEST_TEXT else f'{line[:LONGEST_TEXT]}...'
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
           f'{_of(summary.missed)}. False stops: {_of(summary.false_stops)}.')
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


def _of(rate: Rate) -> str:
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
