# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Trials that did not pass: few of them one by one, many by their causes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
import math
from textwrap import wrap

from rich.text import Text
from safety_scenarios.errors import counted
from safety_scenarios.reports.plain_text import on_one_line, without_exponents
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict

COLOURS = {Verdict.PASS: 'green', Verdict.INCONCLUSIVE: 'yellow', Verdict.ERROR: 'magenta',
           Verdict.FAIL: 'red'}
_FEW = 6
"""Trials up to which each has a sentence of its own."""
_LONGEST = 320
"""Characters of a sentence."""
_CLASSES = 'AEBCD'
"""Of failures, in the order of format 1: the most severe first."""


@dataclass
class Cause:
    """Trials of one verdict that have the same check in common."""

    verdict: Verdict
    check: str
    worst: TrialResult
    margin: float
    unit: str | None
    trials: int = 0
    missed: int = 0
    false_stops: int = 0
    scenarios: set[str] = field(default_factory=set)

    @property
    def sentence(self) -> str:
        """Return how many they are, and what happened in the worst."""
        said = self.worst.reason.removeprefix(f'{self.check}: ')
        kinds = [text for count, text in (
            (self.missed, counted(self.missed, 'hazard missed', 'hazards missed')),
            (self.false_stops, counted(self.false_stops, 'false stop'))) if count]
        among = f' ({", ".join(kinds)})' if kinds else ''
        return (f'{self.check}: {counted(self.trials, "trial")} in '
                f'{counted(len(self.scenarios), "scenario")}{among}. '
                f'{"Worst: " if self.trials > 1 else ""}{_place(self.worst)}: {said}')


class Failures:
    """Collects the trials that did not pass; a campaign of any size takes little memory."""

    def __init__(self, results: Iterable[TrialResult] = ()) -> None:
        self._causes: dict[tuple[Verdict, str], Cause] = {}
        self._first: list[TrialResult] = []
        self._count = 0
        for result in results:
            self.add(result)

    def add(self, result: TrialResult) -> None:
        """Take note of a trial."""
        if result.verdict is Verdict.PASS or result.warmup:
            return
        self._count += 1
        if self._count <= _FEW:
            self._first.append(result)
        check, margin, unit = _cause_of(result)
        cause = self._causes.setdefault(
            (result.verdict, check), Cause(result.verdict, check, result, margin, unit))
        if margin < cause.margin and (unit == cause.unit or margin == -math.inf):
            cause.worst, cause.margin = result, margin
        cause.trials += 1
        cause.missed += result.is_missed
        cause.false_stops += result.is_false_stop
        cause.scenarios.add(result.scenario_id)

    def lines(self, width: int, most: int) -> Iterator[Text]:
        """
        Yield the lines to print, the worst verdict and the most frequent cause first.

        :param width: columns
        :param most: lines; what they leave out is counted in one more
        """
        if self._count <= _FEW:
            found = [(result.verdict, _sentence(result), 1) for result in sorted(
                self._first, key=lambda one: -one.verdict.rank)]
        else:
            found = [(cause.verdict, cause.sentence, cause.trials) for cause in sorted(
                self._causes.values(), key=lambda one: (-one.verdict.rank, -one.trials))]
        room = most
        for index, (verdict, sentence, _) in enumerate(found):
            rows = _wrapped(verdict, sentence, width)
            if index and len(rows) > room:
                rest = sum(trials for *_, trials in found[index:])
                yield Text(f'and {counted(rest, "trial")} more that did not pass')
                return
            room -= len(rows)
            yield from rows


def urgency_of(result: TrialResult) -> tuple[float, ...]:
    """
    Return what sorts the worst trial first: verdict, then the class of its failure.

    Then how many of its findings failed, then how late the reaction was: margins in metres and in
    seconds cannot be held against each other.
    """
    kind = _CLASSES.find(result.failure_class)
    return (-result.verdict.rank, kind if kind >= 0 else len(_CLASSES),
            -sum(one.verdict is Verdict.FAIL for one in result.findings), -_late_s(result))


def _late_s(result: TrialResult) -> float:
    """Return by how much the reaction came after the critical limit; infinite: never."""
    if result.latency is None:
        return 0.0
    if result.latency.reaction is None:
        return math.inf
    return max([0.0, *(-one.margin for one in result.findings
                       if one.kind == 'latency' and one.margin is not None)])


def kind_of_failure(result: TrialResult) -> str:
    """Return what a failed trial counts as (doc/reference/judging.md); empty: none."""
    return 'hazard missed' if result.is_missed else 'false stop' if result.is_false_stop else ''


def _sentence(result: TrialResult) -> str:
    kind = kind_of_failure(result)
    return f'{_place(result)}{", " if kind else ""}{kind}: {result.reason}'


def _place(result: TrialResult) -> str:
    return f'{result.scenario_name} ({result.scenario_id}, trial {result.index + 1})'


def _cause_of(result: TrialResult) -> tuple[str, float, str | None]:
    """Return the check that decided the verdict, and its margin; none at all is the worst."""
    for finding in result.findings:
        if finding.verdict is result.verdict and result.reason.startswith(f'{finding.check}: '):
            margin = -math.inf if finding.margin is None else finding.margin
            return finding.check, margin, finding.unit
    return result.reason.partition(': ')[0], -math.inf, None


def _wrapped(verdict: Verdict, sentence: str, width: int) -> list[Text]:
    text = without_exponents(on_one_line(sentence, _LONGEST))
    rows = [Text(line) for line in wrap(
        text, max(20, width), initial_indent=f'{verdict.value}  ',
        subsequent_indent=' ' * 6, break_on_hyphens=False)]
    rows[0].stylize(COLOURS[verdict], 0, len(verdict.value))
    return rows
