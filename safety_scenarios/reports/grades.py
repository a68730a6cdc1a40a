# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Grades of answers: as tables for people, as CSV for everything else."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
import csv
from dataclasses import dataclass
import io
from math import fsum
import re

from rich.markup import escape
from rich.table import Table
from safety_scenarios.errors import counted
from safety_scenarios.scenario.blocks.rubric import Scores
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import LatencyClass, Verdict

CLASSES = ('A', 'B', 'C', 'D', 'E', 'none')
_COLUMNS = ('file', 'line', 'scenario_id', 'scenario_name', 'domain', 'tags', 'severity',
            'time_pressure', 'model', 'variant', 'trial', 'verdict', 'failure_class', 'latency_ms',
            'latency_class', 'violated', 'open', 'reason', 'rubric', 'overall')
_FORMULA = re.compile(r'^(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20])')
"""Where a spreadsheet would begin to compute."""


@dataclass(frozen=True)
class Grade:
    """One row of the CSV."""

    file: str
    line: int
    scenario: Scenario
    about: Mapping[str, str]
    verdict: Verdict
    failure_class: str
    latency_ms: float | None
    latency_class: LatencyClass
    violated: Sequence[str]
    open: Sequence[str]  # noqa: A003
    reason: str
    scores: Scores | None


def grades_table(grades: Sequence[Grade]) -> Table:
    """Return a row for each scenario: its answers by verdict and by class."""
    rows = Table(title='Grades', title_justify='left', title_style='bold')
    for name in ('scenario', 'answers', 'PASS', 'FAIL', 'open', *CLASSES, 'overall', 'lowest'):
        rows.add_column(name, justify='left' if name == 'scenario' else 'right', overflow='fold')
    by_scenario: dict[str, list[Grade]] = {}
    for one in grades:
        by_scenario.setdefault(one.scenario.id, []).append(one)
    for name, found in by_scenario.items():
        verdicts = Counter(one.verdict for one in found)
        classes = Counter(one.failure_class for one in found)
        overall = [one.scores.overall for one in found if one.scores]
        rows.add_row(
            f'{escape(name)} {escape(found[0].scenario.name)}', str(len(found)),
            str(verdicts[Verdict.PASS]), str(verdicts[Verdict.FAIL]),
            str(verdicts[Verdict.INCONCLUSIVE] + verdicts[Verdict.ERROR]),
            *(str(classes[letter]) for letter in CLASSES),
            *((f'{fsum(overall) / len(overall):.4f}', f'{min(overall):.4f}') if overall
              else ('-', '-')))
    return rows


def totals(grades: Sequence[Grade]) -> Iterator[str]:
    """Yield the lines below the table."""
    verdicts = Counter(one.verdict.value for one in grades)
    classes = Counter(one.failure_class for one in grades)
    yield (f'{counted(len(grades), "answer")}: '
           + ', '.join(f'{verdicts[one.value]} {one.value}' for one in Verdict
                       if verdicts[one.value]))
    yield 'failure classes: ' + ', '.join(f'{name} {classes[name]}' for name in CLASSES)
    weight = fsum(one.scenario.severity for one in grades)
    failed = fsum(one.scenario.severity for one in grades if one.verdict is Verdict.FAIL)
    if weight:
        yield f'weighed by severity: {failed:.4g} of {weight:.4g} failed ({failed / weight:.1%})'
    scored = [one.scores for one in grades if one.scores]
    for name in dict.fromkeys(one.rubric for one in scored):
        found = [one for one in scored if one.rubric == name]
        means = ', '.join(
            f'{part.name} {fsum(one.of(part.name) or 0.0 for one in found) / len(found):.4f}'
            for part in found[0].dimensions)
        yield (f'{name}, mean of {counted(len(found), "answer")}: overall '
               f'{fsum(one.overall for one in found) / len(found):.4f}; {means}')


def wrong(grades: Sequence[Grade], most: int = 40) -> Iterator[str]:
    """Yield a line for each answer that did not pass, and what was expected of it."""
    bad = [one for one in grades if one.verdict is not Verdict.PASS]
    told = set[tuple[str, ...]]()
    for one in bad[:most]:
        yield (f'{one.file}:{one.line}: {one.scenario.id}: {one.verdict.value}, class '
               f'{one.failure_class}: {one.reason}')
        facts = (one.scenario.id, *one.scenario.facts.lines)
        if facts not in told:
            told.add(facts)
            yield from (f'    {text}' for text in facts[1:])
    if len(bad) > most:
        yield f'and {len(bad) - most} more that did not pass; --csv has all of them'


def grades_csv(grades: Iterable[Grade]) -> str:
    """Return all grades as CSV, with a column for each dimension of the rubrics."""
    grades = list(grades)
    names = list(dict.fromkeys(part.name for one in grades if one.scores
                               for part in one.scores.dimensions))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow([*_COLUMNS, *map(_harmless, names)])
    for one in grades:
        writer.writerow([*map(_harmless, _cells(one)), *(
            '' if one.scores is None or one.scores.of(name) is None else one.scores.of(name)
            for name in names)])
    return text.getvalue()


def _cells(one: Grade) -> Iterator[str]:
    scenario = one.scenario
    yield from (one.file, str(one.line), scenario.id, scenario.name, scenario.domain)
    yield '; '.join(scenario.tags)
    yield from (f'{scenario.severity:g}', scenario.constraint.time_pressure)
    yield from (one.about.get(name, '') for name in ('model', 'variant', 'trial'))
    yield from (one.verdict.value, one.failure_class)
    yield '' if one.latency_ms is None else f'{one.latency_ms:.3f}'
    yield from (one.latency_class.value, '; '.join(one.violated), '; '.join(one.open), one.reason)
    yield from ('', '') if one.scores is None else (one.scores.rubric, str(one.scores.overall))


def _harmless(cell: str) -> str:
    """Return a cell in which no spreadsheet computes and nothing moves a cursor."""
    shown = ''.join(one if one.isprintable() else ascii(one)[1:-1] for one in cell)
    return _FORMULA.sub("'", shown)
