# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
In what one controller is worse than another, with one error rate for everything that is asked.

Six questions are asked of each pair of campaigns: more failures, later reactions and later
standstills over scenarios, which is about scenarios like these; more failures in these scenarios
together; more failures and later reactions in one of them. The chance that
equal controllers give any answer "worse" is 5 % at most, over all questions and all arms.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from safety_scenarios.campaign.statistics.paired import (
    confirmed_over,
    failures_over,
    holm,
    largest,
    latencies_over,
    later_confirmed,
    later_reactions,
    least_p,
    mcnemar,
    more_failures,
    Outcomes,
    outcomes,
    over_clusters,
    Pairs,
    signs,
    without,
)
from safety_scenarios.campaign.statistics.proportions import p_text

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
    Return what is asked of two campaigns.

    :param some: decided pairs: all, and those that differ from each other
    :param stopped: scenarios whose number of trials a sequential test chose: no p-value holds
    """
    here = tuple(without(one, stopped) for one in some)
    return [
        [_over('fails more often', more_failures(outcomes(some[0])),
               largest(failures_over, some))],
        [_over('reacts later', later_reactions(some[0]), largest(latencies_over, some))],
        [_over('is confirmed later', later_confirmed(some[0]), largest(confirmed_over, some))],
        [_failing_together([outcomes(one) for one in here])] if len(here[0]) > 1 else [],
        list(failing_alone([outcomes(one) for one in here])), list(_later_alone(here))]


def shown(arms: Sequence[Sequence[Question]]) -> list[tuple[str, ...]]:
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
    yield from _alone(names, [[(one[name][True, False], one[name][False, True])
                               for name in names] for one in some],
                      [f'fails more often in {name}: {{}} of {some[0][name].total()} pairs '
                       f'against {{}}, ' for name in names])


def _later_alone(some: Sequence[Pairs]) -> Iterator[Answer]:
    """Yield for each scenario whether the second reacts later than can be measured wrongly."""
    known = [signs(one) for one in some]
    names = sorted(name for name, counts in known[0].items() if counts)
    yield from _alone(names, [[(one[name][1], one[name][-1]) for name in names] for one in known],
                      [f'reacts later in {name}: {{}} of {known[0][name].total()} pairs against '
                       f'{{}}, ' for name in names])


def _alone(names: Sequence[str], some: Sequence[Sequence[tuple[int, int]]],
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
    return shown([[[_over('fails more often', more, over_clusters(more))],
                   [_failing_together([alone])] if len(alone) > 1 else [],
                   list(failing_alone([alone]))]])[0]
