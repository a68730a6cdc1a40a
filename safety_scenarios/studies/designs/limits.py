# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Limits of acceptance, as a file states them, held against campaigns.

Each limit is answered ``holds``, ``broken`` or ``cannot be determined``. What is claimed of other
trials is about these scenarios, as often as they were run. A trial that is INCONCLUSIVE or ERROR
helps no limit: to hold, a limit must hold also if each of them had been bad. Nor does it break
one: to be broken, it must be so also if each of them had been good.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator
from safety_scenarios.campaign.statistics.compare import without_pair
from safety_scenarios.campaign.statistics.paired import held_against, Margin
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    distinct,
    is_at_most,
    no_narrower,
    zero_failure_n,
)
from safety_scenarios.campaign.statistics.quantiles import (
    due_ms,
    is_due,
    judged_ms,
    quantile,
    reported_latency,
)
from safety_scenarios.errors import counted, did_you_mean, SettingsError
from safety_scenarios.formats.document.file_contents import read_noun
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.rounding import figures_down, figures_up, percent_down, percent_up
from safety_scenarios.scenario.verdict import Estimate, LatencyClass, Verdict
from safety_scenarios.studies.side_by_side import Campaign, flaw_of

LimitFigure = Literal['hazards_missed', 'false_stops', 'failures', 'reaction_ms',
                      'more_failures', 'later_ms', 'regression']
LimitAnswer = Literal['holds', 'broken', 'cannot be determined']
_DIFFERENCES = ('more_failures', 'later_ms', 'regression')
_SHARES = ('hazards_missed', 'false_stops', 'failures', 'more_failures')
_Name = Annotated[str, Field(min_length=1, max_length=200)]


class Limit(Noun):
    """One limit of acceptance."""

    figure: LimitFigure
    """hazards_missed, false_stops, failures: share of decided trials (0.01 is 1 %); reaction_ms: a
    quantile of the reaction; more_failures and later_ms: against the first campaign, difference of
    the failed shares and median difference of the reactions; regression: not significantly worse
    than the first campaign."""
    at_most: float = Field(default=0.0, ge=0.0)
    """Greatest value that is accepted: a share, or ms. Of regression left out."""
    quantile: float = Field(default=0.99, ge=0.5, lt=1.0)
    """Of reaction_ms: which quantile."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1.0)
    """One-sided: the upper bound at this confidence is at most the limit."""
    by: Literal['bound', 'trials'] = 'bound'
    """bound: of other trials, too; trials: of the trials that were made alone, for
    hazards_missed, false_stops and failures."""
    scenarios: tuple[_Name, ...] = Field(default=(), max_length=1000)
    """Ids of the scenarios that it is about; none: all."""
    tags: tuple[_Name, ...] = Field(default=(), max_length=100)
    """Only scenarios with one of these tags; none: all."""
    each: bool = False
    """Whether every scenario has to keep the limit by itself."""

    @model_validator(mode='after')
    def _fits(self) -> 'Limit':
        if self.figure in _SHARES and self.at_most >= 1.0:
            raise ValueError(f'got at_most {self.at_most:g} for {self.figure}, expected a share '
                             f'below 1, such as 0.01 for 1 %')
        if self.by == 'trials' and self.figure not in _SHARES[:3]:
            raise ValueError(f'got by trials for {self.figure}, expected it for '
                             f'{", ".join(_SHARES[:3])}')
        if self.figure == 'regression' and (self.at_most or self.scenarios or self.tags
                                            or self.each):
            raise ValueError('got more than the figure for regression, expected nothing beside '
                             'it: it is about the whole comparison')
        if self.figure in ('reaction_ms', 'later_ms') and not self.at_most:
            raise ValueError(f'got no at_most for {self.figure}, expected a time in ms')
        return self

    @property
    def is_difference(self) -> bool:
        """Return whether it is about two campaigns."""
        return self.figure in _DIFFERENCES

    def __str__(self) -> str:
        if self.figure == 'regression':
            return 'no significant regression'
        share, ms = f'{100.0 * self.at_most:.4g} %', f'{self.at_most:.4g} ms'
        what = {'hazards_missed': f'hazards missed <= {share}',
                'false_stops': f'false stops <= {share}', 'failures': f'failures <= {share}',
                'reaction_ms': f'p{100.0 * self.quantile:.12g} reaction <= {ms}',
                'more_failures': f'more failures <= {100.0 * self.at_most:.4g} points',
                'later_ms': f'later, median <= {ms}'}[self.figure]
        return f'{what} in these trials' if self.by == 'trials' \
            else f'{what} at {100.0 * self.confidence:.4g} %'


class Gate(Noun):
    """Limits of acceptance: a merge, a release or a locked design passes if all of them hold."""

    name: str = Field(default='', max_length=200)
    """For people."""
    limits: tuple[Limit, ...] = Field(min_length=1, max_length=100)
    """All of them must hold."""


class LimitOutcome(Noun):
    """What one limit came to, of one campaign."""

    limit: Limit
    campaign: str
    scenario: str
    """Id; empty: all that the limit is about."""
    answer: LimitAnswer
    found: str
    """The number that decided, with its bound."""
    why: str
    """Of ``cannot be determined``: what is in the way."""


class GateOutcome(Noun):
    """What all limits came to."""

    name: str
    outcomes: tuple[LimitOutcome, ...]
    uncounted: Mapping[str, str] = {}
    """Campaign to its trials without PASS that no limit counts, in words: all limits may hold
    beside them."""

    @property
    def exit_code(self) -> int:
        """0: all hold; 1: one is broken; 3: one cannot be determined, or a trial is uncounted."""
        answers = {one.answer for one in self.outcomes}
        holds = answers == {'holds'} and not self.uncounted
        return 1 if 'broken' in answers else 0 if holds else 3


def read_gate(path: Path) -> Gate:
    """
    Return the limits of a file.

    :raises InputError: every problem of the file with its line
    """
    return read_noun(path, Gate, 'limits')[0]


def held(gate: Gate, campaigns: Sequence[Campaign]) -> GateOutcome:
    """
    Return what the limits come to: of one campaign, or of each but the first, against the first.

    That all hold needs no correction for many limits, as each one must hold. That one is broken is
    claimed at a confidence corrected for all of them (Bonferroni).

    :raises SettingsError: a limit needs two campaigns and there is one, or is about no scenario
    """
    first, others = campaigns[0], campaigns[1:]
    if not others and (asked := [one for one in gate.limits if one.is_difference]):
        raise SettingsError(f'--gate: got one campaign and the limit {asked[0].figure}, expected '
                            f'two campaigns: it is about how the second differs from the first')
    found = [(limit, one, part) for one in others or [first] for limit in gate.limits
             for part in _parts(limit, one)]
    return GateOutcome(
        name=gate.name, outcomes=tuple(_Held(limit, one, part, first, len(found)).outcome()
                                       for limit, one, part in found),
        uncounted={one.name: text for one in others or [first] if (text := _uncounted(
            one, [(limit, part) for limit, other, part in found if other is one]))})


def _uncounted(one: Campaign, asked: 'Sequence[tuple[Limit, _Part]]') -> str:
    """Return how many trials are not PASS and count in no limit; empty: none."""
    found = [result for result in one.results
             if not result.warmup and result.verdict is not Verdict.PASS
             and not any(result.scenario_id in part.ids and _counts(limit.figure, result)
                         for limit, part in asked)]
    return '' if not found else (
        f'no limit counts {counted(len(found), "trial")} without PASS, such as '
        f'{found[0].trial_id}, which is {found[0].verdict.value}: add a limit of failures')


def _counts(figure: LimitFigure, result: TrialResult) -> bool:
    """Return whether a trial that is not PASS makes a figure worse, or its limit undetermined."""
    return is_about(figure, result) and (
        not result.is_decided or figure in ('regression', 'more_failures', 'failures')
        or result.is_missed and figure == 'hazards_missed'
        or result.is_false_stop and figure == 'false_stops')


@dataclass(frozen=True)
class _Part:
    """The scenarios that a limit is about."""

    name: str
    """Of the one scenario, if each has to keep the limit."""
    ids: frozenset[str]


def _parts(limit: Limit, one: Campaign) -> Iterator[_Part]:
    known: Mapping[str, frozenset[str]] = {
        result.scenario_id: frozenset(result.scenario.tags if result.scenario else ())
        for result in one.results if not result.warmup}
    fitting = {result.scenario_id for result in one.results if is_about(limit.figure, result)}
    missing = sorted(set(limit.scenarios) - known.keys())
    if missing:
        raise SettingsError(f'--gate: {limit.figure}: got the scenario {missing[0]}, which '
                            f'{one.name} has not run; expected one of {", ".join(sorted(known))}')
    every = frozenset[str]().union(*known.values())
    for tag in limit.tags:
        if tag not in every:
            raise SettingsError(f'--gate: {limit.figure}: got the tag {tag}, which no scenario of '
                                f'{one.name} has. Correct it, or leave it out.'
                                f'{did_you_mean(tag, every)}')
    ids = frozenset(name for name, tags in known.items()
                    if (not limit.scenarios or name in limit.scenarios)
                    and (not limit.tags or tags & set(limit.tags)))
    if not ids:
        raise SettingsError(f'--gate: {limit.figure}: got the tags {", ".join(limit.tags)}, which '
                            f'no scenario of these has. Correct the file')
    alone = sorted(ids & fitting) if limit.each else []
    yield from (_Part(name, frozenset([name])) for name in alone) if alone else (_Part('', ids),)


def is_about(figure: LimitFigure, result: TrialResult) -> bool:
    """Return whether a trial can be what a limit counts: a hazard is no false stop."""
    if figure in ('hazards_missed', 'false_stops'):
        return result.is_benign is (figure == 'false_stops')
    return not (result.is_benign and figure in ('reaction_ms', 'later_ms'))


class _Held:
    """One limit held against one campaign."""

    def __init__(self, limit: Limit, one: Campaign, part: _Part, first: Campaign,
                 limits: int) -> None:
        self._limit, self._one, self._part, self._first = limit, one, part, first
        self._results = [result for result in one.results
                         if result.scenario_id in part.ids and not result.warmup]
        self._of_each = 1.0 - (1.0 - limit.confidence) / limits
        """Confidence of a claim that one limit of so many is broken."""

    def outcome(self) -> LimitOutcome:
        """Return what it comes to."""
        limit = self._limit
        if limit.figure == 'regression':
            answer, found, why = self._regression()
        elif limit.figure in ('more_failures', 'later_ms'):
            answer, found, why = self._difference()
        elif self._stopped and limit.by == 'bound':
            answer, found, why = 'cannot be determined', '', (
                f'a sequential test chose how many trials of {" ".join(self._stopped)} there are, '
                f'so that no bound holds. Run a fixed number of trials')
        else:
            answer, found, why = self._reaction() if limit.figure == 'reaction_ms' \
                else self._share()
        if answer == 'holds' and (flaw := self._flaw()):
            answer, why = 'cannot be determined', flaw
        return LimitOutcome(limit=limit, campaign=self._one.name, scenario=self._part.name,
                            answer=answer, found=found, why=why)

    def _flaw(self) -> str:
        """Return what may be missing among the trials, so that nothing can be shown to hold."""
        lacking = sorted({one.scenario_id for one in self._first.results if not one.warmup}
                         - {one.scenario_id for one in self._one.results if not one.warmup})
        if lacking and not self._limit.scenarios:
            return f'it has no trial of {" ".join(lacking)}, which the first campaign has'
        if not self._limit.is_difference:
            return flaw_of(self._one.summary)
        return '; '.join(filter(None, (
            flaw_of(self._first.summary), flaw_of(self._one.summary), without_pair(
                self._first.results, self._one.results,
                self._part.ids.difference(self._stopped)))))

    @property
    def _stopped(self) -> list[str]:
        return sorted({row.scenario_id for one in (self._first, self._one)
                       for row in one.summary.scenarios
                       if row.stopped_early is not None} & self._part.ids)

    def _share(self) -> tuple[LimitAnswer, str, str]:
        limit = self._limit
        results = [result for result in self._results if is_about(limit.figure, result)]
        undecided = sum(not result.is_decided for result in results)
        bad, of = self._bad(results), len(results)
        beside = f', {undecided} undecided' if undecided else ''
        if not of:
            return 'cannot be determined', '', 'there is no such trial'
        if limit.by == 'trials':
            # a quotient is rounded as the limit is; a product is not: 0.29 * 100 < 29
            answer: LimitAnswer = 'broken' if bad / of > limit.at_most else \
                'holds' if (bad + undecided) / of <= limit.at_most else 'cannot be determined'
            why = f'{counted(undecided, "trial")} INCONCLUSIVE or ERROR may have been bad'
            return answer, f'{bad} of {of}{beside}', \
                why if answer == 'cannot be determined' else ''
        some = results, distinct(results, self._one.summary.link)
        high = no_narrower(*(self._bound([*one], True) for one in some))
        low = no_narrower(*(self._bound([*one], False) for one in some))
        found = f'{bad} of {of - undecided}{beside}: at most {percent_up(high.high or 0.0, 4)}'
        if is_at_most(high, limit.at_most):
            return 'holds', found, ''
        if low.low is not None and low.low > limit.at_most:
            return 'broken', f'{found}, at least {percent_down(low.low, 4)}', ''
        return ('cannot be determined', found,
                f'the bound is above the limit: {self._missing(bad, of)}')

    def _missing(self, bad: int, of: int) -> str:
        if self._limit.at_most <= 0.0:
            return 'no number of trials shows that it never happens. State a share, or by: trials'
        limit = self._limit
        return (f'{bad} bad of {of} that count are too many, or there are too few trials. Without '
                f'a bad or undecided one {zero_failure_n(limit.at_most, limit.confidence)} would '
                f'show it')

    def _bad(self, results: Iterable[TrialResult]) -> int:
        is_bad = {'hazards_missed': lambda one: one.is_missed,
                  'false_stops': lambda one: one.is_false_stop,
                  'failures': lambda one: one.verdict is Verdict.FAIL}[self._limit.figure]
        return sum(map(is_bad, results))

    def _bound(self, results: Sequence[TrialResult], upper: bool) -> Estimate:
        """Return the share with the bound on one side, for which the undecided are the worst."""
        bad = self._bad(results)
        if upper:
            return clopper_pearson(bad + sum(not one.is_decided for one in results), len(results),
                                   self._limit.confidence, 'upper')
        return clopper_pearson(bad, len(results), self._of_each, 'lower')

    def _reaction(self) -> tuple[LimitAnswer, str, str]:
        limit, due = self._limit, list(filter(is_due, self._results))
        some = due, distinct(due, self._one.summary.link)
        bound_ms = max((result.latency.reaction.uncertainty_ns / 1e6 for result in due
                        if result.latency and result.latency.reaction), default=0.0)
        high = no_narrower(*(reported_latency(
            due_ms(each), bound_ms, limit.quantile, limit.confidence) for each in some),
            is_bound=True)
        measured = [[judged_ms(one) if one.is_measured and one.is_decided else 0.0
                     for one in each] for each in some]
        low, above = (no_narrower(*(
            quantile(each, limit.quantile, 'ms', 1.0 - 2.0 * (1.0 - self._of_each))
            for each in some)) for some in (measured, [
                [float(one is None or one - bound_ms > limit.at_most) for one in each]
                for each in measured]))
        if high.high is not None and high.high <= limit.at_most:
            found = f'at most {figures_up(high.high, 4)} ms, n={high.n}'
            return ('cannot be determined', found, (
                'the limit is above the critical limit of each scenario: it accepts reactions '
                'that were too late there. Is it in ms? Lower it')) \
                if self._accepts_late(due) else ('holds', found, '')
        if above.low:
            return 'broken', (
                f'{measured[0].count(None)} of {len(due)} without a reaction' if low.low is None
                else f'at least {figures_down(low.low - bound_ms, 4)} ms, n={low.n}'), ''
        if high.high is None:
            return 'cannot be determined', '', high.method
        return 'cannot be determined', f'at most {figures_up(high.high, 4)} ms, n={high.n}', \
            'the bound is above the limit: run more trials'

    def _accepts_late(self, due: Sequence[TrialResult]) -> bool:
        """Return whether in each scenario a reaction within the limit was a violation."""
        late = {one.scenario_id for one in due if one.latency is not None
                and one.latency.latency_class is LatencyClass.VIOLATION
                and (judged_ms(one) or math.inf) <= self._limit.at_most}
        return late == {one.scenario_id for one in due}

    def _difference(self) -> tuple[LimitAnswer, str, str]:
        limit = self._limit
        pairs: dict[str, list[tuple[TrialResult, TrialResult]]] = {}
        for pair in self._one.pairs:
            if pair[0].scenario_id in self._part.ids:
                pairs.setdefault(pair[0].scenario_id, []).append(pair)
        margin = Margin('failures', limit.at_most) if limit.figure == 'more_failures' \
            else Margin('reaction', limit.at_most)
        found = held_against(pairs, margin, self._one.summary.link,
                             confidence=1.0 - 2.0 * (1.0 - limit.confidence),
                             is_stopped=bool(self._stopped))
        answer: LimitAnswer = 'holds' if found.answer == 'accepted' else 'cannot be determined'
        why = found.why
        if found.answer == 'shown worse':
            again = held_against(pairs, margin, self._one.summary.link,
                                 confidence=1.0 - 2.0 * (1.0 - self._of_each))
            answer, why = 'broken' if again.answer == 'shown worse' else answer, again.why
        scale, unit = (100.0, 'points') if limit.figure == 'more_failures' else (1.0, 'ms')
        ends = ['-inf' if found.bounds.low is None else figures_down(scale * found.bounds.low, 4),
                'inf' if found.bounds.high is None else figures_up(scale * found.bounds.high, 4)]
        value = '' if found.estimate.value is None else \
            f'{scale * found.estimate.value:.3g} {unit} [{ends[0]}, {ends[1]}]'
        return answer, f'{found.no_number or value} n={found.bounds.n}', why

    def _regression(self) -> tuple[LimitAnswer, str, str]:
        against = self._one.against
        assert against is not None
        code = against.regression_code
        answers: Mapping[int, LimitAnswer] = {0: 'holds', 1: 'broken', 3: 'cannot be determined'}
        why = '; '.join(against.doubts) or 'no pair of trials is PASS or FAIL in both'
        return answers[code], '; '.join(against.regressions), why if code == 3 else ''
