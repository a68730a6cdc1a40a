# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Which of several checkpoints in order was the first to lose what a good one could.

The good one and the bad one run all trials. Those that the good one passes and the bad one fails
tell most: only these are run with the checkpoints between, a few at a time, with the checkpoint
that halves what is known best. As they were chosen by their outcome, the good and the bad one run
some of them again, and only that counts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import Literal

from safety_scenarios.campaign.statistics.change_point import change_point, ChangePoint
from safety_scenarios.campaign.statistics.compare import paired
from safety_scenarios.campaign.statistics.paired import (
    Both,
    decided,
    differing,
    mcnemar,
    Outcomes,
    outcomes,
    Pairs,
)
from safety_scenarios.campaign.statistics.proportions import p_text
from safety_scenarios.errors import counted
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict

BATCH = 4
"""Trials between two looks at what is known."""
_AGAIN = 6
"""Trials that the good and the bad checkpoint run again."""
_CONFIRMED = 8
"""Trials with the first bad checkpoint and the one before, before it is called so."""
_MOST_REPEATS = 10
"""Times that one world is run with one checkpoint, where it does not come out alike."""
_ALPHA = 0.05
BisectAnswer = Literal['found', 'no single step', 'not shown to be better', 'undecided']
World = tuple[str, int]
"""Scenario id and index of a trial: the same world with every checkpoint."""
RunTrials = Callable[[int, Sequence[World] | None], Sequence[TrialResult]]
"""Runs the trials of some worlds, None: all, with a checkpoint, and returns the results."""


class Visit(Noun):
    """Some trials with one checkpoint."""

    checkpoint: int
    failed: int
    of: int
    """Trials that PASS or FAIL."""
    undecided: int
    """Trials that are INCONCLUSIVE or ERROR, and tell nothing."""


class Bisection(Noun):
    """What a bisection came to."""

    checkpoints: tuple[str, ...]
    """In order: the good one first, the bad one last."""
    answer: BisectAnswer
    first_bad: int | None
    """Place of the checkpoint that lost it, if found."""
    probability: float | None
    """Of the answer, by the posterior; None where no checkpoint between was tried."""
    posterior: tuple[float, ...]
    """Probability of each to be the first bad one."""
    no_step: float
    confidence: float
    lost: int
    """Worlds that the good one passes and the bad one fails, repeats that came out alike once."""
    won: int
    """The reverse."""
    visits: tuple[Visit, ...]
    trials: int
    """That were run."""
    grid: int
    """That all checkpoints would have run together."""
    why: str
    """Of ``undecided`` and ``not shown to be better``."""

    @property
    def exit_code(self) -> int:
        """0: found; 3: not."""
        return 0 if self.answer == 'found' else 3


def bisect(names: Sequence[str], run: RunTrials, *, link: str, is_repeatable: bool,
           confidence: float = 0.95, tell: Callable[[Visit], None] = lambda visit: None) -> \
        Bisection:
    """
    Return which checkpoint was the first bad one.

    :param names: of the checkpoints in order, the good one first and the bad one last
    :param run: runs trials; called for one checkpoint at a time
    :param is_repeatable: whether a world comes out alike if a checkpoint runs it again
    :param confidence: posterior probability at which the search ends
    :param tell: takes each visit
    """
    return _Search(names, run, link, is_repeatable, tell).result(confidence)


class _Search:
    """The trials of one bisection."""

    def __init__(self, names: Sequence[str], run: RunTrials, link: str, is_repeatable: bool,
                 tell: Callable[[Visit], None]) -> None:
        self._names, self._run, self._link, self._tell = names, run, link, tell
        self._rounds = 1 if is_repeatable else _MOST_REPEATS
        self._visits: list[Visit] = []
        self._trials = self._grid = 0
        self._counts = [(0, 0) for _ in names]
        self._waiting: list[list[World]] = []

    def result(self, confidence: float) -> Bisection:
        last = len(self._names) - 1
        good, bad = self._results(0, None), self._results(last, None)
        pairs: dict[str, list[Both]] = {}
        for pair in paired(good, bad)[0]:
            pairs.setdefault(pair[0].scenario_id, []).append(pair)
        every = decided(pairs)
        different = differing(every, self._link)
        of = [sum(outcomes(one).values(), Outcomes()) for one in (every, different)]
        known = self._known(confidence, of[1])
        self._grid = len(good) * len(self._names)
        p = max(mcnemar(one[True, False], one[False, True]) for one in of)
        if p >= _ALPHA or of[1][True, False] <= of[1][False, True]:
            undecided = sum(map(len, pairs.values())) - of[0].total()
            beside = f', {counted(undecided, "pair")} undecided' if undecided else ''
            return known(answer='not shown to be better', why=(
                f'{of[1][True, False]} trials that only {self._names[0]} passes, '
                f'{of[1][False, True]} that only {self._names[-1]} passes{beside}: {p_text(p)}. '
                f'Run more trials, or scenarios that distinguish them'))
        worlds = list(_spread(_lost(different)))
        self._waiting = [worlds * self._rounds for _ in self._names]
        for place in (0, last):
            self._visit(place, _AGAIN)
        return self._searched(known, confidence)

    def _searched(self, known: Callable[..., Bisection], confidence: float) -> Bisection:
        while True:
            found = change_point(self._counts)
            place, probability = found.most_likely, max(found.first_bad)
            asked: list[int] = []
            if probability >= confidence:
                asked = [one for one in (place - 1, place) if self._can_ask(one)
                         and self._counts[one][1] < _CONFIRMED]
                if not asked:
                    return known(found, answer='found', first_bad=place, probability=probability)
            elif found.no_step >= confidence:
                return known(found, answer='no single step', probability=found.no_step)
            if not asked:
                between = range(1, len(self._names) - 1)
                telling = found.most_telling(list(filter(self._can_ask, between)))
                if telling is None or self._trials >= self._grid:
                    return known(found, answer='undecided', why=(
                        f'{self._names[place]} is the most likely one, at {probability:.3g}; '
                        + ('all worlds that distinguish the two were run' if telling is None else
                           'as many trials were run as the full grid has')
                        + '. Run more trials of each scenario'))
                asked = [telling, *(one for one in (0, len(self._names) - 1) if self._can_ask(one)
                                    and self._counts[one][1] <= self._counts[telling][1])]
            for one in asked:
                self._visit(one, BATCH)

    def _can_ask(self, place: int) -> bool:
        return bool(self._waiting[place])

    def _known(self, confidence: float, of: Outcomes) -> Callable[..., Bisection]:
        def known(found: ChangePoint | None = None, *, answer: BisectAnswer,
                  first_bad: int | None = None, probability: float | None = None,
                  why: str = '') -> Bisection:
            return Bisection(
                checkpoints=tuple(self._names), answer=answer, first_bad=first_bad,
                probability=probability, posterior=found.first_bad if found else (),
                no_step=found.no_step if found else 0.0, confidence=confidence,
                lost=of[True, False], won=of[False, True], visits=tuple(self._visits),
                trials=self._trials, grid=self._grid, why=why)
        return known

    def _visit(self, place: int, count: int) -> None:
        """Run the next worlds with a checkpoint, and count what came of them."""
        waiting = self._waiting[place]
        worlds = list(dict.fromkeys(waiting[:count]))
        del waiting[:len(worlds)]
        visit = self._seen(place, self._results(place, worlds))
        failed, of = self._counts[place]
        self._counts[place] = failed + visit.failed, of + visit.of

    def _results(self, place: int, worlds: Sequence[World] | None) -> Sequence[TrialResult]:
        results = [one for one in self._run(place, worlds) if not one.warmup]
        self._trials += len(results)
        if worlds is None:
            self._seen(place, results)
        return results

    def _seen(self, place: int, results: Sequence[TrialResult]) -> Visit:
        told = [one for one in results if one.is_decided]
        visit = Visit(checkpoint=place, of=len(told), undecided=len(results) - len(told),
                      failed=sum(one.verdict is Verdict.FAIL for one in told))
        self._visits.append(visit)
        self._tell(visit)
        return visit


def _lost(pairs: Pairs) -> Iterator[list[World]]:
    """Yield of each scenario the worlds that only the first passes."""
    for mine in pairs.values():
        yield [(one.scenario_id, one.index) for one, two in mine
               if one.verdict is Verdict.PASS and two.verdict is Verdict.FAIL]


def _spread(worlds: Iterable[Sequence[World]]) -> Iterator[World]:
    """Yield worlds of all scenarios in turn."""
    for row in zip_longest(*worlds):
        yield from chain(one for one in row if one is not None)
