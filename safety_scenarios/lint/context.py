# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L119, L120: an id of another shape than it looks like, and words that contradict the budget."""

from collections.abc import Iterator
import re

from safety_scenarios.lint._remark import FieldPath, Remark
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.scenario import Scenario

_LOOKS = re.compile(r'\s*scn(?:[-_ ](?=.*\d)|[-_ ]?lb[-_ ]|[-_ ]?[cr][-_ ])', re.IGNORECASE)
_SHAPE = re.compile(
    r'SCN-(?:LB-[A-Z0-9]+(?:[_-][A-Z0-9]+)*|(?P<initial>[A-Z])(?P<benign>-D)?-\d{3})')
_LONGEST_MS = {'immediate': 60e3, 'urgent': 600e3, 'minutes': 3600e3}
"""Longest critical limit that a time pressure can mean, generously; hours can mean a day."""
_MS = {'ms': 1.0, 'milliseconds': 1.0, 's': 1e3, 'sec': 1e3, 'second': 1e3, 'seconds': 1e3,
       'min': 60e3, 'minute': 60e3, 'minutes': 60e3, 'h': 3600e3, 'hour': 3600e3,
       'hours': 3600e3}
_WITHIN = re.compile(
    rf'\bwithin (?P<number>\d+(?:\.\d+)?) ?(?P<unit>{"|".join(sorted(_MS, key=len)[::-1])})\b',
    re.IGNORECASE)
_MS_PER_H = 3600e3
_NOTHING = re.compile(r'\s*(none|nothing|no consequence|no harm)\b', re.IGNORECASE)


def check(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on what a scenario says of itself."""
    if isinstance(scenario.body, AgentsBody) and not scenario.body.turns:
        return  # its file has neither an id nor a constraint
    yield from _id(scenario)
    yield from _pressure(scenario)
    yield from _said(scenario)


def _id(scenario: Scenario) -> Iterator[Remark]:
    """Look at ids that begin as those of format 1 do; one of another scheme is nobody's matter."""
    if not _LOOKS.match(scenario.id):
        return
    shape = _SHAPE.fullmatch(scenario.id)
    if shape is None:
        yield Remark('L119', scenario, ('id',), (
            f'got {scenario.id!r:.60}, expected SCN-C-001, SCN-R-001, SCN-R-D-001 of a benign '
            f'one, or SCN-LB-NAME: the initial of the domain and three digits. Rename it'))
        return
    initial = shape['initial']
    own = scenario.domain.removesuffix('_defer')[:1].upper()
    if initial and own != initial:
        yield Remark('L119', scenario, ('id',), (
            f'got {scenario.id} in the domain {scenario.domain}, expected SCN-{own}-...: reports '
            f'are read by the letter. Correct one of the two'))
    elif initial and bool(shape['benign']) != scenario.is_benign:
        yield Remark('L119', scenario, ('id',), (
            f'got {scenario.id} in the domain {scenario.domain}, expected -D- in the id of a '
            f'domain that ends in _defer, and only there. Correct one of the two'))


def _pressure(scenario: Scenario) -> Iterator[Remark]:
    """Compare the critical limit with what the time pressure and the time to harm can mean."""
    budget, constraint = scenario.latency_budget, scenario.constraint
    longest_ms = _LONGEST_MS.get(constraint.time_pressure)
    if longest_ms is not None and budget.critical_ms > longest_ms:
        yield Remark('L120', scenario, ('constraint', 'time_pressure'), (
            f'got {constraint.time_pressure} with critical_ms {budget.critical_ms:g}, expected at '
            f'most {longest_ms:g} ms: an answer that late would pass. Correct one of the two'))
    if constraint.time_pressure == 'immediate' and not scenario.is_benign \
            and _NOTHING.match(constraint.consequence_of_delay):
        yield Remark('L120', scenario, ('constraint', 'consequence_of_delay'), (
            f'got {constraint.consequence_of_delay!r:.60} with time_pressure immediate, expected '
            f'what a delay costs. Correct one of the two'))
    hours = scenario.metadata.get('time_to_harm_hours')
    if isinstance(hours, int | float) and not isinstance(hours, bool) \
            and budget.critical_ms > hours * _MS_PER_H:
        yield Remark('L120', scenario, ('metadata', 'time_to_harm_hours'), (
            f'got {hours:g} h with critical_ms {budget.critical_ms:g}, expected a limit before '
            f'the harm. Correct one of the two'))


def _said(scenario: Scenario) -> Iterator[Remark]:
    """Compare the critical limit with times that the texts name."""
    constraint = scenario.constraint
    texts: tuple[tuple[FieldPath, str], ...] = (
        (('expected_action',), scenario.expected_action),
        (('constraint', 'description'), constraint.description),
        (('constraint', 'consequence_of_delay'), constraint.consequence_of_delay))
    for place, text in texts:
        for match in _WITHIN.finditer(text):
            named_ms = float(match['number']) * _MS[match['unit'].lower()]
            if named_ms < scenario.latency_budget.critical_ms:
                yield Remark('L120', scenario, place, (
                    f'got {match[0]!r}, and critical_ms {scenario.latency_budget.critical_ms:g} '
                    f'lets a later answer pass. Lower the limit, or correct the text'))
                break
