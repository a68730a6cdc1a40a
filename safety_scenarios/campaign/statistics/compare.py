# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Which of two or more controllers is the better one, by the scenarios that all have met.

Six questions are asked of each pair of campaigns: more failures, later reactions and later
standstills over scenarios, which is about scenarios like these; more failures in these scenarios
together; more failures and later reactions in one of them. The chance that
equal controllers give any answer "worse" is 5 % at most, over all questions and all arms.

Only trials that are PASS or FAIL in both are compared. INCONCLUSIVE and ERROR say nothing of a
controller: they are counted and named, and where they might hide that a controller is worse, the
comparison is undecided.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from safety_scenarios.campaign.comparison import (
    Comparison,
    Confirmations,
    NonInferiority,
    WithinScenario,
)
from safety_scenarios.campaign.statistics.breakdown import cohen_d, cohen_h, compared
from safety_scenarios.campaign.statistics.paired import (
    Both,
    confirmed,
    confirmed_over,
    decided,
    difference_of_failures,
    differing,
    failures_over,
    held_against,
    holm,
    largest,
    latencies,
    latencies_over,
    later_confirmed,
    later_reactions,
    least_p,
    Margin,
    mcnemar,
    median_over_clusters,
    more_failures,
    Outcomes,
    outcomes,
    over_clusters,
    Pair,
    Pairs,
    signs,
    without,
)
from safety_scenarios.campaign.statistics.proportions import (
    no_narrower,
    p_text,
    whatever_undecided,
)
from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate

ALPHA = 0.05


@dataclass(frozen=True)
class Answer:
    """One p-value, and whether it speaks against the second."""

    text: str
    """What is worse, and in how many pairs; without the p-value."""
    p: float
    """Two-sided."""
    is_worse: bool
    least: float
    """Smallest p-value that so many pairs that differ can give."""

    @property
    def one_sided(self) -> float:
        """Return the chance that equal controllers seem so much worse."""
        return self.p / 2.0 if self.is_worse else 1.0

    def __str__(self) -> str:
        return f'{self.text}{p_text(self.p)}'


Question = Sequence[Answer]
"""Of one kind: over scenarios one answer, of scenarios by themselves one each."""


def questions(some: Sequence[Pairs], stopped: Collection[str]) -> Sequence[Question]:
    """
    Return what is asked of two campaigns: of failures first, then as much of times.

    :param some: decided pairs: all, and those that differ from each other
    :param stopped: scenarios whose number of trials a sequential test chose: no p-value holds
    """
    here = tuple(without(one, stopped) for one in some)
    return [
        [_over('fails more often', more_failures(outcomes(some[0])),
               largest(failures_over, some))],
        [_failing_together([outcomes(one) for one in here])] if len(here[0]) > 1 else [],
        list(failing_alone([outcomes(one) for one in here])),
        [_over('reacts later', later_reactions(some[0]), largest(latencies_over, some))],
        [_over('is confirmed later', later_confirmed(some[0]), largest(confirmed_over, some))],
        list(_later_alone(here))]


def significant_differences(arms: Sequence[Sequence[Question]]) -> list[tuple[str, ...]]:
    """
    Return for each arm in what it is worse.

    An answer counts with p < 5 % two-sided, if its one-sided chance is below 5 % also after
    correction for all questions of all arms (Holm 1979). A question whose pairs differ too little
    to give such a p-value at all asks nothing and is not counted (Tarone 1990, Biometrics
    46:515).

    :param arms: of each its questions
    """
    asked = sorted(((min(answer.one_sided for answer in question), place, question)
                    for place, mine in enumerate(arms) for question in mine
                    if any(answer.least < ALPHA for answer in question)),
                   key=lambda one: one[:2])
    found: list[list[str]] = [[] for _ in arms]
    for rank, (least, place, question) in enumerate(asked):
        of = len(asked) - rank
        if of * least >= ALPHA:
            break
        after = f', also after correction for {len(asked)} questions' if len(asked) > 1 else ''
        found[place] += [f'{answer}{after}' for answer in question
                         if answer.p < ALPHA and of * answer.one_sided < ALPHA]
    return [tuple(one) for one in found]


def _over(what: str, differences: Sequence[int], p: float) -> Answer:
    return Answer(f'{what}, over scenarios: ', p, sum(differences) > 0,
                  least_p(sum(difference != 0 for difference in differences)))


def _failing_together(some: Sequence[Mapping[str, Outcomes]]) -> Answer:
    """
    Return whether the second fails more often in these scenarios, each pair a draw of its own.

    By McNemar's exact test, which holds if both are equal in each of these scenarios.
    """
    sums = [sum(one.values(), Outcomes()) for one in some]
    counts = [(one[True, False], one[False, True]) for one in sums]
    worse, better = counts[0]
    return Answer(f'fails more often, in these scenarios: {worse} of {sums[0].total()} pairs '
                  f'against {better}, ', max(mcnemar(*one) for one in counts), worse > better,
                  mcnemar(sum(counts[-1]), 0))


def failing_alone(some: Sequence[Mapping[str, Outcomes]]) -> Iterator[Answer]:
    """
    Yield for each scenario whether the second fails more often in its own trials.

    By McNemar's exact test, adjusted for all scenarios (Holm).

    :param some: outcomes of all pairs, and if they count of those that differ from each other
    """
    names = sorted(name for name, counts in some[0].items() if counts)
    yield from _each_alone(
        names, [[(one[name][True, False], one[name][False, True]) for name in names]
                for one in some],
        [f'fails more often in {name}: {{}} of {some[0][name].total()} pairs against {{}}, '
         for name in names])


def _later_alone(some: Sequence[Pairs]) -> Iterator[Answer]:
    """Yield for each scenario whether the second reacts later than can be measured wrongly."""
    known = [signs(one) for one in some]
    names = sorted(name for name, counts in known[0].items() if counts)
    yield from _each_alone(
        names, [[(one[name][1], one[name][-1]) for name in names] for one in known],
        [f'reacts later in {name}: {{}} of {known[0][name].total()} pairs against {{}}, '
         for name in names])


def _each_alone(names: Sequence[str], some: Sequence[Sequence[tuple[int, int]]],
                texts: Sequence[str]) -> Iterator[Answer]:
    """
    Yield an answer for each scenario.

    :param some: worse and better pairs of each: all, and those that differ from each other
    """
    chances = holm([max(mcnemar(*one[place]) for one in some) for place in range(len(names))])
    for (worse, better), own, p, text in zip(some[0], some[-1], chances, texts, strict=True):
        yield Answer(text.format(worse, better), p, worse > better,
                     len(names) * mcnemar(sum(own), 0))


def if_undecided_had_failed(found: Pairs, stopped: Collection[str]) -> tuple[str, ...]:
    """
    Return in what the second is worse, if every undecided trial had come out against it.

    So a controller gains nothing by trials that end INCONCLUSIVE or ERROR.
    """
    passed = outcomes(found, undecided_against=True)
    more = more_failures(passed)
    alone = {name: counts for name, counts in passed.items() if name not in stopped}
    return significant_differences([[[_over('fails more often', more, over_clusters(more))],
                                     [_failing_together([alone])] if len(alone) > 1 else [],
                                     list(failing_alone([alone]))]])[0]


_CONFIDENCE = 0.95


def compare(first: Sequence[TrialResult], second: Sequence[TrialResult], link: str = 'ros',
            stopped: Collection[str] = (), margins: Sequence[Margin] = ()) -> Comparison:
    """
    Return how the second campaign compares with the first, scenario by scenario.

    Both must have been judged alike, which results do not tell.

    :param link: over which both were run, which says what trials came out alike
    :param stopped: scenarios whose number of trials a sequential test chose, in either
    :param margins: by how much the second may be worse
    :raises SettingsError: they have no trial in common, or drew different seeds
    """
    return compare_arms(first, [Arm(second, stopped)], link, margins)[0]


@dataclass(frozen=True)
class Arm:
    """A campaign that is compared with the first."""

    results: Sequence[TrialResult]
    stopped: Collection[str] = field(default=())
    """Scenarios whose number of trials a sequential test chose, in it or in the first."""
    flaw: str = ''
    """Why its trials or those of the first can show nothing to hold, such as missing ones."""


def compare_arms(first: Sequence[TrialResult], others: Sequence[Arm], link: str = 'ros',
                 margins: Sequence[Margin] = ()) -> Sequence[Comparison]:
    """
    Return how each other campaign compares with the first, scenario by scenario.

    Regressions are corrected for all of them (Holm), margins too (Bonferroni): more arms make no
    false claim more likely.

    :raises SettingsError: one has no trial in common with the first, or drew different seeds
    """
    arms = [_Against(first, arm, link) for arm in others]
    regressions = significant_differences([questions(one.decided, one.stopped) for one in arms])
    return [one.comparison(found, margins, len(arms))
            for one, found in zip(arms, regressions, strict=True)]


class _Against:
    """One campaign against the first."""

    def __init__(self, first: Sequence[TrialResult], arm: Arm, link: str) -> None:
        pairs, self.unpaired = paired(first, arm.results)
        self.found: dict[str, list[Both]] = {}
        """Every pair, by scenario."""
        for pair in pairs:
            self.found.setdefault(pair[0].scenario_id, []).append(pair)
        self.decided = tuple(map(decided, (self.found, differing(self.found, link))))
        """Pairs that both decided, all and those that differ; what came out alike is decided
        alike."""
        self.link, self.stopped = link, arm.stopped
        self.flaw = '; '.join(filter(None, (arm.flaw, without_pair(
            first, arm.results, self.found.keys() - set(arm.stopped)))))
        mine = {one.scenario_id for one in first if not one.warmup}
        self.not_compared = tuple(sorted(mine - self.decided[0].keys()))

    def comparison(self, regressions: tuple[str, ...], margins: Sequence[Margin],
                   arms: int) -> Comparison:
        """
        Return what there is to say.

        :param arms: campaigns that are compared with the first at once
        """
        some, both = self.decided, self.decided[0]
        passed = outcomes(both)
        total = sum(passed.values(), Outcomes())
        more = dict(zip(passed, more_failures(passed), strict=True))
        measured = {name: known for name, mine in both.items() if (known := latencies(mine))}
        flat: list[Pair] = [pair for mine in measured.values() for pair in mine]
        here = [without(one, self.stopped) for one in some]
        every = [pair for mine in self.found.values() for pair in mine]
        difference = no_narrower(*(difference_of_failures(list(outcomes(one).values()))
                                   for one in some))
        return Comparison(
            pairs=len(every), unpaired=self.unpaired,
            undecided=(sum(not one.is_decided for one, _ in every),
                       sum(not two.is_decided for _, two in every)),
            both_passed=total[True, True], only_first_passed=total[True, False],
            only_second_passed=total[False, True], neither_passed=total[False, False],
            scenarios=len(self.found),
            scenarios_better=sum(change < 0 for change in more.values()),
            scenarios_worse=sum(change > 0 for change in more.values()),
            failures_p=largest(failures_over, some), failures_difference=difference,
            failures_bounds=self._bounds(difference),
            failures_h=cohen_h((total[False, True] + total[False, False], total.total()),
                               (total[True, False] + total[False, False], total.total())),
            latency_pairs=len(flat), latency_scenarios=len(measured),
            latency_p=largest(latencies_over, some),
            median_difference_ms=median_over_clusters(list(measured.values()), 'ms'),
            latency_d=cohen_d([one for one, _ in flat], [two for _, two in flat]),
            worse=tuple(sorted(name for name, change in more.items() if change > 0)),
            alone=_alone(*here), confirmed=_confirmations(some),
            world=compared(*(one.values() for one in some)),
            notes=(*_notes(both), *_excluded_pairs(some, self.stopped)),
            decided=total.total(), not_compared=self.not_compared, regressions=regressions,
            doubts=() if regressions else tuple(_doubts(self)), arms=arms,
            margins=tuple(self._held(margin, arms) for margin in margins))

    def _held(self, margin: Margin, arms: int) -> NonInferiority:
        found = held_against(
            self.found, margin, self.link, confidence=1.0 - (1.0 - _CONFIDENCE) / arms,
            is_stopped=bool(set(self.stopped) & self.found.keys()))
        lacking = f'no pair decided of {" ".join(self.not_compared)}' if self.not_compared else ''
        why = '; '.join(filter(None, (self.flaw, lacking)))
        return found.model_copy(update={'answer': 'not shown', 'why': why}) \
            if found.answer == 'accepted' and why else found

    def _bounds(self, difference: Estimate) -> Estimate:
        """Return the difference of the failures, whatever the undecided would have come to."""
        if len([pair for mine in self.found.values() for pair in mine]) == sum(
                map(len, self.decided[0].values())):
            return difference
        some = self.found, differing(self.found, self.link)
        low, high = (no_narrower(*(difference_of_failures(list(outcomes(one, against).values()))
                                   for one in some)) for against in (False, True))
        return high.model_copy(update={
            'value': difference.value,
            **whatever_undecided(difference.value, low.low, high.high),
            'method': f'{high.method}; whatever the undecided trials would have come to'})


def _doubts(arm: _Against) -> Iterator[str]:
    """Yield why no regression was found though there may be one."""
    both, stopped = arm.decided[0], arm.stopped
    if arm.flaw:
        yield arm.flaw
    if arm.not_compared:
        yield (f'nothing could be compared of {" ".join(arm.not_compared)}: no pair of it is PASS '
               f'or FAIL in both')
    if sum(map(len, both.values())) < sum(map(len, arm.found.values())):
        yield from (f'{text}, if every trial that is INCONCLUSIVE or ERROR had come out against it'
                    for text in if_undecided_had_failed(arm.found, stopped))
    asked = questions(arm.decided, stopped)
    for part in (asked[:len(asked) // 2], asked[len(asked) // 2:]):
        # pairs that differ in the other kind make its questions count: worse there is not better
        yield from (f'{text}, but not together with the questions about '
                    f'{"times" if part[0] is asked[0] else "failures"}. Run more trials'
                    for text in significant_differences([part])[0])
    alike = arm.decided[:1]
    yield from (f'{text}, if repeats counted that came out alike, which they do not: a regression '
                f'by this, and whether by chance is unknown. Run other seeds, or vary something'
                for text in significant_differences([questions(alike, stopped)])[0])
    yield from _chosen(alike, stopped)
    for name, mine in both.items():
        for pairs, worst in ((mine, ''), (arm.found[name], (
                ', if every trial that is INCONCLUSIVE or ERROR had come out against it'))):
            lost = outcomes({name: pairs}, undecided_against=True)[name][True, False]
            if lost == len(pairs) > 1 and name not in stopped:
                yield (f'fails in each of {counted(lost, "pair")} of {name}, and the first in '
                       f'none{worst}: too few to show a regression. Run more trials')
                break
    alone = without(arm.decided[1], stopped)
    least = [least_p(len(both)), mcnemar(sum(map(len, alone.values())), 0),
             *(len(alone) * mcnemar(len(mine), 0) for mine in alone.values())]
    if both and min(least) >= ALPHA:
        yield ('so few pairs can show no regression: 6 pairs are needed that do not repeat each '
               'other')


def _chosen(alike: Sequence[Pairs], stopped: Collection[str]) -> Iterator[str]:
    """Yield in what the second may be worse, of trials whose number a sequential test chose."""
    names = sorted(set(stopped) & alike[0].keys())
    if not names:
        return
    why = 'how many trials there are a sequential test chose, so that no p-value holds. Run ' \
          'both with a number of trials that is fixed'
    yield from (
        f'{text}, but {why}' for text in significant_differences([questions(alike, ())])[0])
    passed = outcomes(alike[0])
    for name in names:
        worse, better = passed[name][True, False], passed[name][False, True]
        if worse > better and mcnemar(worse + better, 0) >= ALPHA:
            yield (f'fails more often in {name}: {worse} of {passed[name].total()} pairs against '
                   f'{better}, which are too few to decide, and {why}')


def _confirmations(some: Sequence[Pairs]) -> Confirmations | None:
    """Return the same of when the robots themselves stood."""
    told = confirmed(some[0])
    return Confirmations(
        pairs=sum(map(len, told)), scenarios=len(told), p=largest(confirmed_over, some),
        median_difference_ms=median_over_clusters(told, 'ms')) if told else None


def _alone(found: Pairs, distinct: Pairs) -> tuple[WithinScenario, ...]:
    """Return what each scenario's own trials tell; those without a difference tell nothing."""
    passed, counting = outcomes(found), outcomes(distinct)
    told = {name: counts for name, counts in sorted(passed.items())
            if counts[True, False] or counts[False, True]}
    chances = holm([max(mcnemar(one[name][True, False], one[name][False, True])
                        for one in (passed, counting)) for name in told]
                   + [1.0] * (len(passed) - len(told)))
    return tuple(WithinScenario(
        scenario_id=name, pairs=counts.total(), distinct=counting[name].total(),
        only_first_passed=counts[True, False], only_second_passed=counts[False, True], p=p)
        for (name, counts), p in zip(told.items(), chances))


def _notes(found: Pairs) -> Iterator[str]:
    """Yield what these scenarios do not tell of others."""
    for what, differences in (('failures', more_failures(outcomes(found))),
                              ('latencies', later_reactions(found))):
        differ = sum(difference != 0 for difference in differences)
        if differ and least_p(differ) > ALPHA:
            who = f'{differ} of {counted(len(differences), "scenario")} ' \
                  f'{"differs" if differ == 1 else "differ"}'
            yield (f'{what}: only {who}, so p cannot fall below {least_p(differ):.3g}: fewer '
                   f'than 6 that differ allow no statement about scenarios in general')


def _excluded_pairs(some: Sequence[Pairs], stopped: Collection[str]) -> Iterator[str]:
    """Yield what no p-value counts, and of what there is none."""
    made, counting = (sum(map(len, one.values())) for one in some)
    if counting < made:
        yield (f'{made - counting} of {counted(made, "pair")} came out like another one of the '
               f'same scenario: repeats that show nothing new, and no p-value counts them')
    names = sorted(set(stopped) & some[0].keys())
    if names:
        yield (f'no p-value of the trials of {" ".join(names)}: a sequential test chose how many '
               f'there are, and none would hold')


def without_pair(first: Sequence[TrialResult], second: Sequence[TrialResult],
                 names: Collection[str]) -> str:
    """Return that of some scenarios one campaign has trials that the other lacks; else empty."""
    one, two = ({(result.scenario_id, result.index) for result in side
                 if result.scenario_id in names and not result.warmup}
                for side in (first, second))
    return f'{counted(len(one ^ two), "trial")} of one campaign without that of the other. Run ' \
           f'both with the same number of trials' if one ^ two else ''


def paired(first: Sequence[TrialResult], second: Sequence[TrialResult]) -> \
        tuple[list[Both], int]:
    """
    Return the trials of one scenario and index in both, and how many are in one of them only.

    :raises SettingsError: they have no trial in common, or drew different seeds
    """
    others = {(result.scenario_id, result.index): result for result in second if not result.warmup}
    mine = [result for result in first if not result.warmup]
    pairs = [(result, others[result.scenario_id, result.index]) for result in mine
             if (result.scenario_id, result.index) in others]
    if not pairs:
        raise SettingsError('got two campaigns without a common trial, expected the same '
                            'scenarios in both. Run both over the same files')
    for one, two in pairs:
        if one.seed != two.seed:
            raise SettingsError(f'{one.scenario_id} trial {one.index}: got seeds {one.seed} and '
                                f'{two.seed}, expected the same. Run both with the same --seed')
    return pairs, len(mine) + len(others) - 2 * len(pairs)
