# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Which of several checkpoints in order was the first to lose what a good one could.

The good one and the bad one run all trials. Those that the good one passes and the bad one fails
tell most: only these are run with the checkpoints between, a few at a time, with the checkpoint
that halves what is known best. As they were chosen by their outcome, the good and the bad one run
some of them again, and only that counts.

Over a link on which they come out alike again, the bad one fails all of these. A checkpoint that
fails elsewhere, and as often, seems good beside it: so the last one before the bad one has to be
better in all trials, before the bad one is called the first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
import glob
from itertools import chain, zip_longest
from pathlib import Path
import re
from typing import Literal

from safety_scenarios.campaign.plan import plan_campaign
from safety_scenarios.campaign.run import run_campaign
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
from safety_scenarios.campaign.statistics.sequential import change_point, ChangePoint
from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.links.isolated_controller import removed_if_refused
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.trial import TrialRecord

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
        self._bad: Sequence[TrialResult] = ()

    def result(self, confidence: float) -> Bisection:
        last = len(self._names) - 1
        good, self._bad = self._results(0, None), self._results(last, None)
        different, of, p = self._against_bad(good)
        known = self._bisection(confidence, of[1])
        self._grid = len(good) * len(self._names)
        if not _is_better(of, p):
            undecided = len(paired(good, self._bad)[0]) - of[0].total()
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

    def _against_bad(self, results: Sequence[TrialResult]) -> tuple[Pairs, list[Outcomes], float]:
        """
        Return how all trials of a checkpoint compare with those of the bad one.

        :return: the pairs that differ, outcomes of all and of these, and the p-value
        """
        pairs: dict[str, list[Both]] = {}
        for pair in paired(results, self._bad)[0]:
            pairs.setdefault(pair[0].scenario_id, []).append(pair)
        every = decided(pairs)
        different = differing(every, self._link)
        of = [sum(outcomes(one).values(), Outcomes()) for one in (every, different)]
        return different, of, max(mcnemar(one[True, False], one[False, True]) for one in of)

    def _searched(self, known: Callable[..., Bisection], confidence: float) -> Bisection:
        while True:
            found = change_point(self._counts)
            place, probability = found.most_likely, max(found.first_bad)
            asked: list[int] = []
            if probability >= confidence:
                asked = [one for one in (place - 1, place) if self._can_ask(one)
                         and self._counts[one][1] < _CONFIRMED]
                if not asked and self._is_step(place):
                    return known(found, answer='found', first_bad=place, probability=probability)
                if not asked:
                    return known(found, answer='undecided', why=(
                        f'{self._names[place - 1]} is not shown to be better than '
                        f'{self._names[place]} in all trials, only in those that '
                        f'{self._names[place]} fails and {self._names[0]} passes. Run more '
                        f'trials of each scenario'))
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

    def _is_step(self, place: int) -> bool:
        """Return whether the checkpoint before one is better, where choice could seem so."""
        if self._rounds > 1 or not 1 < place == len(self._names) - 1:
            return True
        _, of, p = self._against_bad(self._results(place - 1, None))
        return _is_better(of, p)

    def _can_ask(self, place: int) -> bool:
        return bool(self._waiting[place])

    def _bisection(self, confidence: float, of: Outcomes) -> Callable[..., Bisection]:
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
        visit = self._checkpoint_visit(place, self._results(place, worlds))
        failed, of = self._counts[place]
        self._counts[place] = failed + visit.failed, of + visit.of

    def _results(self, place: int, worlds: Sequence[World] | None) -> Sequence[TrialResult]:
        results = [one for one in self._run(place, worlds) if not one.warmup]
        self._trials += len(results)
        if worlds is None:
            self._checkpoint_visit(place, results)
        return results

    def _checkpoint_visit(self, place: int, results: Sequence[TrialResult]) -> Visit:
        told = [one for one in results if one.is_decided]
        visit = Visit(checkpoint=place, of=len(told), undecided=len(results) - len(told),
                      failed=sum(one.verdict is Verdict.FAIL for one in told))
        self._visits.append(visit)
        self._tell(visit)
        return visit


def _is_better(of: Sequence[Outcomes], p: float) -> bool:
    """Return whether the first of two is better, by pairs that differ."""
    return p < _ALPHA and of[1][True, False] > of[1][False, True]


def _lost(pairs: Pairs) -> Iterator[list[World]]:
    """Yield of each scenario the worlds that only the first passes."""
    for mine in pairs.values():
        yield [(one.scenario_id, one.index) for one, two in mine
               if one.verdict is Verdict.PASS and two.verdict is Verdict.FAIL]


def _spread(worlds: Iterable[Sequence[World]]) -> Iterator[World]:
    """Yield worlds of all scenarios in turn."""
    for row in zip_longest(*worlds):
        yield from chain(one for one in row if one is not None)


MOST = 1000
"""Checkpoints of one bisection."""
_PATTERN = re.compile(r'[^\s:=(),]*\*[^\s:=(),]*')
_NAMED = re.compile(r'(?P<name>[^()]+)\((?P<parameters>[^()]*)\)')
_DIGITS = re.compile(r'(\d+)')
_NOT_IN_NAMES = re.compile(r'[^A-Za-z0-9_.=-]+')


def in_order(good: str, bad: str, between: Sequence[str]) -> Sequence[str]:
    """
    Return all checkpoints in order: the good one, those between, the bad one.

    One with ``*`` in a path stands for the files that there are, by number: ckpt_9 before ckpt_10.

    :raises SettingsError: a pattern without a file, one that is named twice, or too many
    """
    for one in (good, bad):
        if '*' in one:
            raise SettingsError(f'checkpoint: got {one}, expected one controller without *, for '
                                f'the good and for the bad one')
    found = [one for text in between for one in _expanded(text) if one not in (good, bad)]
    for one in found:
        if found.count(one) > 1:
            raise SettingsError(f'checkpoint: got {one} twice, expected it once')
    if good == bad:
        raise SettingsError(f'checkpoint: got {good} as good and as bad, expected two')
    if len(found) + 2 > MOST:
        raise SettingsError(f'checkpoint: got {len(found) + 2}, expected at most {MOST}')
    return [good, *found, bad]


def _expanded(text: str) -> Iterator[str]:
    pattern = _PATTERN.search(text)
    if pattern is None:
        yield text
        return
    names = sorted(glob.glob(pattern[0]), key=_by_number)
    if not names:
        raise SettingsError(f'checkpoint: got {text}, and no file is called {pattern[0]}. Correct '
                            f'the pattern')
    yield from (text[:pattern.start()] + name + text[pattern.end():] for name in names)


def _by_number(name: str) -> list[tuple[int, str]]:
    return [(int(part), '') if part.isdigit() else (-1, part) for part in _DIGITS.split(name)]


def controller_in(text: str) -> tuple[str, Sequence[str]]:
    """
    Return the controller that a text names, and its parameters as KEY=VALUE.

    As results name it: ``rule_based(delay_ms=100)``; or as --controller takes it.

    :raises SettingsError: a parameter without a value
    """
    named = _NAMED.fullmatch(text)
    if named is None:
        return text, ()
    parameters = [one.strip() for one in named['parameters'].split(',') if one.strip()]
    for one in parameters:
        if not one.partition('=')[2]:
            raise SettingsError(f'checkpoint: {text}: got {one!r}, expected KEY=VALUE, such as '
                                f'rule_based(delay_ms=100)')
    return named['name'], parameters


@dataclass(frozen=True)
class Checkpoint:
    """One controller of a bisection."""

    name: str
    settings: RunSettings


class CampaignsOfCheckpoints:
    """
    Runs trials with checkpoints, each time as a campaign in a folder of its own.

    :param folder: of all of them
    :raises InputError: a checkpoint cannot be run, or a sequential test would end its trials
    """

    def __init__(self, checkpoints: Sequence[Checkpoint], folder: Path) -> None:
        self._checkpoints, self._folder = checkpoints, folder
        first = checkpoints[0].settings
        if first.sequential.p1:
            raise SettingsError(f'sequential.p1: got {first.sequential.p1:g} with several '
                                f'checkpoints, expected 0: each would end after other trials, and '
                                f'no p-value would hold. Leave it out')
        self._scenarios: Sequence[Scenario] = load_scenarios(
            first.scenarios, first.regex).scenarios
        self._visits: dict[int, int] = {}
        with removed_if_refused(folder):  # before the first trial
            plan, *_ = [plan_campaign(one.settings, self._scenarios, within=folder)
                        for one in checkpoints]
        self.link = plan.setup.link.name
        self.is_repeatable = plan.setup.link_plugin.is_repeatable

    def run(self, place: int, worlds: Sequence[World] | None) -> Sequence[TrialResult]:
        """Run the trials of some worlds, None: all, with one checkpoint."""
        one = self._checkpoints[place]
        visit = self._visits[place] = self._visits.get(place, 0) + 1
        short = _NOT_IN_NAMES.sub('_', Path(one.name).name).strip('_.')[:60]
        folder = self._folder / f'{place:03d}-{short}' / str(visit)
        settings = one.settings.model_copy(update={'output': str(folder), 'only': tuple(
            f'{name}:{index}' for name, index in worlds or ())})
        results = _Results()
        summary = run_campaign(plan_campaign(
            settings, self._scenarios, folder=folder, within=self._folder), [results])
        if summary.interrupted:
            raise KeyboardInterrupt
        return results.found


class _Results(Observer):
    """Keeps the results of a campaign."""

    def __init__(self) -> None:
        self.found: list[TrialResult] = []

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        self.found.append(result)
