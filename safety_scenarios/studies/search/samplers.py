# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What chooses the next point: ours, and the samplers of Optuna and cma as they are.

Optuna and cma are imported when one of their samplers is named.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
import math
from typing import Any, Protocol
import warnings

import numpy
from safety_scenarios.errors import MissingDependencyError, UnknownPluginError
from safety_scenarios.studies.search.guided import Guided
from safety_scenarios.studies.search.space import History, Point, Space


class Sampler(Protocol):
    """Chooses points; what they came to is in the history that it was made with."""

    def ask(self) -> Point:
        """Return the next point to try."""
        ...


class Random:
    """
    Draws as a campaign does.

    :param seed: of the draws
    :param history: is not looked at
    """

    def __init__(self, space: Space, seed: int, history: History) -> None:
        self._space, self._chance = space, numpy.random.default_rng(seed)

    def ask(self) -> Point:
        """Return the next point to try."""
        return self._space.random(self._chance)


class _Optuna:
    """A sampler of Optuna: each draw is a parameter, a choice is categorical."""

    sampler = 'TPESampler'
    has_choices = True
    """Whether it knows choices; else each draw is its share of the distribution."""

    def __init__(self, space: Space, seed: int, history: History) -> None:
        optuna = required('optuna')
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space, self._history = space, history
        self._states = optuna.trial.TrialState
        with warnings.catch_warnings():  # that Optuna may change a sampler is no user's problem
            warnings.simplefilter('ignore', optuna.exceptions.ExperimentalWarning)
            self._study = optuna.create_study(sampler=getattr(optuna.samplers, self.sampler)(
                seed=seed))
        whole = optuna.distributions.FloatDistribution(0.0, 1.0)
        self._axes = {axis.name: optuna.distributions.CategoricalDistribution(
            tuple(range(axis.size))) if axis.size and self.has_choices else whole
            for axis in space.axes}
        self._asked: list[tuple[int, Any]] = []
        """Place in the history and trial of what it does not know yet."""

    def ask(self) -> Point:
        """Return the next point to try, after telling what came of the ones before."""
        if any(place < len(self._history) for place, _ in self._asked):
            scores = self._history.scores()
            for place, trial in self._asked:
                if place < len(scores):
                    if math.isnan(scores[place]):
                        self._study.tell(trial, state=self._states.FAIL)
                    else:
                        self._study.tell(trial, float(scores[place]))
            self._asked = [(place, trial) for place, trial in self._asked if place >= len(scores)]
        trial = self._study.ask(self._axes)
        self._asked.append((len(self._history) + len(self._asked), trial))
        chosen = [trial.params[name] for name in self._space.names]
        return self._space.snapped(numpy.array(chosen, float)) if self.has_choices \
            else self._space.point_at(chosen)


class Tpe(_Optuna):
    """Tree-structured Parzen estimator (Bergstra 2011), by Optuna."""


class Qmc(_Optuna):
    """A scrambled Sobol sequence, by Optuna."""

    sampler = 'QMCSampler'
    has_choices = False


class Cma:
    """
    CMA-ES (Hansen 2016), by cma: over the shares of each draw, begun anew where it has converged.

    :param seed: of everything random in the choice
    :param history: of the trials so far, which the caller extends
    """

    def __init__(self, space: Space, seed: int, history: History) -> None:
        self._cma = required('cma')
        self._space, self._history = space, history
        self._chance = numpy.random.default_rng(seed)
        self._waiting: list[Any] = []
        self._asked: list[Any] = []
        self._begun_at = 0
        self._begin()

    def _begin(self) -> None:
        self._strategy = self._cma.CMAEvolutionStrategy(
            self._chance.random(len(self._space.axes)), 0.3,
            {'bounds': [0, 1], 'verbose': -9, 'seed': int(self._chance.integers(1, 2**31))})

    def ask(self) -> Point:
        """Return the next point to try, after telling what came of a whole generation."""
        if not self._waiting:
            if self._asked:
                scores = self._history.scores()[self._begun_at:][:len(self._asked)]
                worst = numpy.nanmax(scores) if not numpy.isnan(scores).all() else 1.0
                if len(scores) == len(self._asked):
                    self._strategy.tell(self._asked, list(numpy.where(
                        numpy.isnan(scores), worst, scores)))
                if self._strategy.stop():
                    self._begin()
            self._asked = self._strategy.ask()
            self._waiting, self._begun_at = list(self._asked), len(self._history)
        return self._space.point_at(numpy.clip(self._waiting.pop(0), 0.0, 1.0))


SAMPLERS: Mapping[str, Callable[[Space, int, History], Sampler]] = {
    'guided': Guided, 'tpe': Tpe, 'cma': Cma, 'qmc': Qmc, 'random': Random}
"""By name, ours first."""


def sampler_of(name: str) -> Callable[[Space, int, History], Sampler]:
    """
    Return what makes a sampler.

    :raises UnknownPluginError: there is none of this name
    """
    if name not in SAMPLERS:
        raise UnknownPluginError('samplers', name, SAMPLERS)
    return SAMPLERS[name]


def required(module: str) -> Any:
    """
    Return a package of the extra.

    :raises MissingDependencyError: it is not installed
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError('this way to search', module,
                                     "pip install 'safety_scenarios[search]'") from error
