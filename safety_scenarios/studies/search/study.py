# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The three questions of a search, asked of one scenario, and what each comes to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
import math
from pathlib import Path
from typing import Any

import numpy
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings, SEEDS
from safety_scenarios.studies.search.boundary import BoundaryMap, map_boundary
from safety_scenarios.studies.search.failures import (
    different_failures,
    Evaluate,
    Log,
    save,
    Saved,
    search,
    Trials,
    World,
)
from safety_scenarios.studies.search.rare_events import estimate, RareEvent
from safety_scenarios.studies.search.samplers import sampler_of
from safety_scenarios.studies.search.space import cover, Coverage, History, Scales, Space, space_of

LOG = 'trials.jsonl'
_FEWEST_FOR_A_RATE = 200
_PILOT_SHARE, _PILOT_MOST = 0.1, 100
"""Trials that only show how large the margins are."""


@dataclass(frozen=True)
class SearchRequest:
    """What is to be searched, and how."""

    settings: RunSettings
    """With a seed; how a campaign of the scenario is run."""
    scenario: Scenario
    data: Mapping[str, Any]
    """The scenario's file as plain data."""
    trials: int
    folder: Path
    """For the log and what is saved."""
    controller: Any = None
    """The controller itself, if no plug-in has the name in the settings."""
    tell: Callable[[str], None] = lambda text: None
    """Takes a line for people while it goes on."""


@dataclass(frozen=True)
class FailureSearch:
    """What a search for failures came to."""

    scenario_id: str
    sampler: str
    seed: int
    space: Space
    history: History
    saved: Sequence[Saved]
    coverage: Coverage
    more_trials: int
    """That were run to make failures simple."""

    @property
    def undecided(self) -> int:
        """Return how many trials were neither PASS nor FAIL."""
        return len(self.history) - self.history.decided

    @property
    def exit_code(self) -> int:
        """Return 1 for failures, 3 where some trial was not decided, else 0."""
        return 1 if self.history.failures else 3 if self.undecided or not len(self.history) else 0

    @property
    def closest(self) -> tuple[str, float, int] | None:
        """Return check, margin and place of the trial that came nearest to a failure."""
        scores = self.history.scores()
        if self.history.failures or not len(scores) or numpy.isnan(scores).all():
            return None
        place = int(numpy.nanargmin(scores))
        outcome, scales = self.history.outcomes[place], Scales(self.history.outcomes)
        row = scales.row(outcome)
        if not len(row) or numpy.isnan(row).all():
            return None
        check = scales.checks[int(numpy.nanargmin(row))]
        return check, outcome.margins[check], place


@dataclass(frozen=True)
class BoundarySearch:
    """What a boundary map came to."""

    scenario_id: str
    seed: int
    space: Space
    axes: tuple[int, int]
    found: BoundaryMap

    @property
    def undecided(self) -> int:
        """Return how many trials were neither PASS nor FAIL."""
        return self.found.failing.count(None)

    @property
    def exit_code(self) -> int:
        """Return 1 for failures, 3 where some trial was not decided, else 0."""
        return 1 if True in self.found.failing else 3 if self.undecided else 0


@dataclass(frozen=True)
class RateSearch:
    """What an estimate of a rare failure came to."""

    scenario_id: str
    seed: int
    found: RareEvent

    @property
    def exit_code(self) -> int:
        """Return 1 where a share of failures is stated, else 3."""
        return 3 if self.found.problems else 1


def search_failures(asked: SearchRequest, sampler: str = 'guided') -> FailureSearch:
    """
    Search a scenario for failures, and save each different one as a file.

    :raises InputError: it cannot be searched
    """
    space, seed = space_of(asked.scenario), asked.settings.seed
    history = History()

    def seed_of(place: int) -> int:
        """Return that of a campaign's trial where trials are drawn as it draws them."""
        return seed if sampler != 'random' else (seed + place) % SEEDS
    chooses = sampler_of(sampler)(space, seed, history)
    with _opened(asked, space) as trials:
        search(trials.evaluate, chooses, history, asked.trials, seed_of=seed_of,
               batch=asked.settings.jobs, tell=_progress(asked))
        before = trials.run
        different = different_failures(space, trials.evaluate, history, seed_of, asked.tell)
        more = trials.run - before
    saved = list(save(space, asked.scenario, asked.data, different, asked.folder,
                      asked.settings, asked.controller))
    decided = [point for point, outcome in zip(history.points, history.outcomes)
               if outcome.is_decided]
    drawn = len(decided) if sampler == 'random' and len(decided) == len(history) else 0
    return FailureSearch(asked.scenario.id, sampler, seed, space, history, saved,
                         cover(space, decided, drawn, len(history.failures) if drawn else 0),
                         more)


def _opened(asked: SearchRequest, space: Space) -> Trials:
    return Trials(asked.settings, asked.scenario, space, Log(asked.folder / LOG), asked.controller)


def _progress(asked: SearchRequest) -> Callable[[int, History], None]:
    step = max(1, asked.trials // 10)
    due = [step]

    def tell(trials: int, history: History) -> None:
        if len(history) < due[0]:
            return
        due[0] += step
        failing = len(history.failures)
        asked.tell(f'{len(history)} of {trials} trials: {failing} failing, '
                   f'{len(history) - history.decided} not decided')
    return tell


def _counter(asked: SearchRequest) -> Callable[[int], None]:
    """Return what takes that so many more trials come, and tells each tenth of all."""
    done = [0]

    def tell(more: int) -> None:
        before, done[0] = done[0], done[0] + more
        if done[0] * 10 // asked.trials > before * 10 // asked.trials:
            asked.tell(f'{done[0]} of {asked.trials} trials')
    return tell


def search_boundary(asked: SearchRequest, names: Sequence[str]) -> BoundarySearch:
    """
    Map where a scenario passes and fails in the plane of two draws; others are drawn anew.

    :raises InputError: it cannot be searched
    """
    space, seed = space_of(asked.scenario), asked.settings.seed
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(f'axes: got {", ".join(names) or "nothing"}, expected two of '
                         f'{", ".join(space.names)}')
    axes = space.axis(names[0]), space.axis(names[1])
    chance = numpy.random.default_rng(seed)
    sizes = space.axes[axes[0]].size, space.axes[axes[1]].size
    tell = _counter(asked)
    with _opened(asked, space) as trials:
        def fails(square: Any) -> Sequence[bool | None]:
            worlds = []
            for row in square:
                point = space.random(chance)
                for place, size, share in zip(axes, sizes, row):
                    point[place] = min(int(share * size), size - 1) if size else share
                worlds.append(World(space.snapped(point), int(chance.integers(SEEDS))))
            outcomes = trials.evaluate(worlds)
            tell(len(outcomes))
            return [one.is_failure if one.is_decided else None for one in outcomes]

        def snap(square: Any) -> Any:
            """Return points between two ranges of a draw as those where their trials are."""
            return numpy.array([[space.axes[place].snapped(share) if len(
                space.axes[place].ranges) > 1 else share for place, share in zip(axes, row)]
                for row in square])
        return BoundarySearch(asked.scenario.id, seed, space, axes, map_boundary(
            fails, sizes, asked.trials, seed, snap=snap))


def search_rate(asked: SearchRequest) -> RateSearch:
    """
    Estimate how rare failures are under the declared distributions of a scenario's draws.

    :raises InputError: it cannot be searched, or by so few trials
    """
    if asked.trials < _FEWEST_FOR_A_RATE:
        raise InputError(f'trials: got {asked.trials} for a rate, expected at least '
                         f'{_FEWEST_FOR_A_RATE}')
    space, seed = space_of(asked.scenario), asked.settings.seed
    with _opened(asked, space) as trials:
        pilot = _pilot(trials.evaluate, space, asked, seed)
        scales = Scales(pilot)
        tell = _counter(asked)

        def margins(cube: Any) -> Any:
            tell(len(cube))
            worlds = [World(space.point_at(row[:-1]), int(row[-1] * (SEEDS - 1)))
                      for row in cube]
            return numpy.array([scales.score(one) for one in trials.evaluate(worlds)])
        found = estimate(margins, len(space.axes) + 1,
                         asked.trials - min(_PILOT_MOST, math.ceil(_PILOT_SHARE * asked.trials)),
                         seed)
    undecided = sum(not one.is_decided for one in pilot)
    if undecided:
        found = replace(found, rate=replace(found.rate, low=None, high=None), problems=(
            *found.problems, f'{undecided} of the first {len(pilot)} trials were not decided'))
    return RateSearch(asked.scenario.id, seed, found)


def _pilot(evaluate: Evaluate, space: Space, asked: SearchRequest, seed: int) -> Sequence[Any]:
    """Return plain trials that show how large the margins are; they estimate nothing."""
    chance = numpy.random.default_rng([seed, 1])
    number = min(_PILOT_MOST, math.ceil(_PILOT_SHARE * asked.trials))
    return evaluate([World(space.random(chance), int(chance.integers(SEEDS)))
                     for _ in range(number)])
