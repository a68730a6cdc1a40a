# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Under which conditions the trials of a campaign fail, scenario by scenario.

A polynomial chaos expansion is fitted to the trials: products of orthonormal polynomials, one of
each draw, by least squares. Its coefficients are the variances of the effects, so the indices
follow without another trial (Sudret 2008, Reliab. Eng. Syst. Saf. 93:964). The degree is the one
with the best leave-one-out fit. Indices of a poor fit mean nothing; the fit is stated with them.
Of many degrees one may fit noise: so the best fit is also compared with that of permuted values.

ERROR and INCONCLUSIVE are no failures of the controller: those trials are left out of the failure
rate, and where they depend on a condition of their own, that is found apart. Each trial is a draw
of its own, and counts also where it came out like another one; but intervals are no narrower for
it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
import math
import random
from typing import Any

import numpy
from numpy.typing import NDArray
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    distinct,
    no_narrower,
)
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.studies.conditions.condition import Axis, find_conditions, Search
from safety_scenarios.studies.search.space import ONSET, PHASE
from safety_scenarios.trial.plan import changes_of, onset_of
from safety_scenarios.trial.trial import Trial

Numbers = NDArray[numpy.float64]
_MOST_DEGREE = 12
_FEWEST_A_TERM = 2.5
"""Trials for each coefficient: with fewer the expansion follows the noise."""
_MOST_TERMS = 400
"""Of an expansion, which bounds the time: it grows with the square of them."""
_FEWEST = 20
_LEAST_FIT = 0.1
"""Below this share of explained variance no index is stated."""
_PERMUTATIONS, _ALPHA = 99, 0.05
"""Nor where so many permutations of the values fit as well with a larger probability."""


_LEAST_LEFT = 1e-6
"""Of a function that is another one, up to rounding."""
_DEPENDENT, _FURTHEST = 0.5, 3.5
"""Correlation from which on draws are taken together, and beyond so many standard deviations of
independent ones."""


@dataclass(frozen=True)
class Effect:
    """What one draw explains of the variance between trials."""

    axis: str
    """Or several that depend on each other, such as when the hazard came and what came before."""
    alone: float
    """First-order Sobol index: by itself."""
    with_others: float
    """Total Sobol index: by itself and together with other draws."""


@dataclass(frozen=True)
class Effects:
    """The draws by what they explain, the largest first."""

    effects: tuple[Effect, ...]
    """Empty where the fit is too poor."""
    fit: float
    """Share of the variance that the fitted model predicts of trials it has not seen (Q2)."""
    trials: int
    p: float
    """Of such a fit where no draw matters, by permutation."""


def effects_of(axes: Sequence[Axis], values: Sequence[float]) -> Effects | None:
    """
    Return the Sobol indices of draws on a value of each trial, such as 1 where it failed.

    Draws of ``ros.vary`` are independent of each other. Those that are not, such as when the
    hazard came and how many harmless changes came before it, have one index together.

    :return: None for fewer than 20 trials, or where nothing differs
    """
    told = numpy.asarray(values, float)
    columns = {axis.name: _columns(axis) for axis in axes}
    columns = {name: some for name, some in columns.items() if some}
    groups = _together(columns)
    for names in groups:
        columns |= _independent({name: columns[name] for name in names})
    if len(told) < _FEWEST or not columns or told.std() == 0:
        return None
    chance = numpy.random.default_rng(0)
    rows = numpy.stack([told, *(chance.permutation(told) for _ in range(_PERMUTATIONS))], axis=1)
    largest = numpy.full(1 + _PERMUTATIONS, -numpy.inf)
    best: list[tuple[tuple[str, int], ...]] = []
    for degree, ways in product(range(1, _MOST_DEGREE + 1), (1, 2)):
        terms = list(_terms(columns, degree, ways))
        if _FEWEST_A_TERM * (len(terms) + 1) > len(told) or len(terms) > _MOST_TERMS:
            break
        fits = _fits(_matrix(columns, terms), rows)
        if fits[0] > largest[0]:
            best = terms
        largest = numpy.maximum(largest, fits)
    if not best:
        return Effects((), 0.0, len(told), 1.0)
    fit, terms = float(largest[0]), best
    p = float((largest >= fit - 1e-9).mean())
    if fit < _LEAST_FIT or p > _ALPHA:
        return Effects((), fit, len(told), p)
    weights, *_ = numpy.linalg.lstsq(_matrix(columns, terms), told, rcond=None)
    parts = weights[1:] ** 2
    total = float(parts.sum())
    found = [Effect(' and '.join(names),
                    float(sum(part for term, part in zip(terms, parts, strict=True)
                              if set(names).issuperset(axis for axis, _ in term))) / total,
                    float(sum(part for term, part in zip(terms, parts, strict=True)
                              if not set(names).isdisjoint(axis for axis, _ in term))) / total)
             for names in groups]
    return Effects(tuple(sorted(found, key=lambda one: -one.with_others)), fit, len(told), p)


def _together(columns: Mapping[str, Sequence[tuple[int, Numbers]]]) -> list[list[str]]:
    """Return the draws in groups: of those that follow each other none has an effect alone."""
    groups: list[list[str]] = []
    for name, mine in columns.items():
        alike = [group for group in groups if any(
            _follows(mine, columns[other]) for other in group)]
        groups = [group for group in groups if group not in alike] + [
            [*(one for group in alike for one in group), name]]
    return groups


def _follows(one: Sequence[tuple[int, Numbers]], other: Sequence[tuple[int, Numbers]]) -> bool:
    """Return whether two draws have a linear part in common, beyond that of chance."""
    trials = len(one[0][1])
    first, second = ([column for degree, column in mine if degree == 1] for mine in (one, other))
    return any(abs(float(mine @ theirs)) / trials > max(_DEPENDENT, _FURTHEST / math.sqrt(trials))
               for mine in first for theirs in second)


def _independent(columns: Mapping[str, Sequence[tuple[int, Numbers]]]) -> \
        dict[str, list[tuple[int, Numbers]]]:
    """
    Return the functions of draws that follow each other without what earlier ones already are.

    Else the weights of nearly equal columns would be large, with opposite signs.
    """
    if len(columns) < 2:
        return {name: [*some] for name, some in columns.items()}
    every = [column for some in columns.values() for _, column in some]
    orthogonal, triangle = numpy.linalg.qr(numpy.stack(every, axis=1))
    size = math.sqrt(len(every[0]))
    kept = iter(zip((orthogonal * size).T, numpy.abs(numpy.diag(triangle)) / size, strict=True))
    return {name: [(degree, column) for (degree, _), (column, left)
                   in zip(some, kept, strict=False) if left > _LEAST_LEFT]
            for name, some in columns.items()}


def _columns(axis: Axis) -> list[tuple[int, Numbers]]:
    """Return orthonormal functions of a draw in these trials, each with its degree."""
    is_number = axis.is_number and len(set(axis.values)) > 2
    if is_number:
        numbers = numpy.asarray(axis.values, float)
        spread = numpy.ptp(numbers)
        scaled = 2 * (numbers - numbers.min()) / spread - 1
        raw = numpy.polynomial.legendre.legvander(
            scaled, min(_MOST_DEGREE, len(set(axis.values)) - 1))
    else:
        values = [str(value) for value in axis.values]
        raw = numpy.stack([numpy.ones(len(values)), *(
            numpy.array([value == one for value in values], float)
            for one in sorted(set(values))[1:])], axis=1)
    if raw.shape[1] < 2:
        return []
    orthogonal, _ = numpy.linalg.qr(raw)  # by these trials, whatever the draw's law is
    return [(place if is_number else 1, orthogonal[:, place] * numpy.sqrt(len(raw)))
            for place in range(1, raw.shape[1])]


def _terms(columns: Mapping[str, Sequence[tuple[int, Numbers]]], degree: int, ways: int) -> \
        Iterator[tuple[tuple[str, int], ...]]:
    """Yield the products of at most so many draws, up to a total degree."""
    for count in range(1, ways + 1):
        for names in combinations(columns, count):
            for places in product(*(range(len(columns[name])) for name in names)):
                whole = sum(columns[name][place][0]
                            for name, place in zip(names, places, strict=True))
                if whole <= degree + count - 1:
                    yield tuple(zip(names, places, strict=True))


def _matrix(columns: Mapping[str, Sequence[tuple[int, Numbers]]],
            terms: Sequence[tuple[tuple[str, int], ...]]) -> Numbers:
    """Return the terms of each trial, the constant first."""
    rows = len(next(iter(columns.values()))[0][1])
    return numpy.stack([numpy.ones(rows), *(
        numpy.prod([columns[name][place][1] for name, place in term], axis=0)
        for term in terms)], axis=1)


def _fits(matrix: Numbers, values: Numbers) -> Numbers:
    """Return the leave-one-out fit of each column of values."""
    orthogonal, _ = numpy.linalg.qr(matrix)
    leverage = numpy.minimum((orthogonal ** 2).sum(axis=1), 1 - 1e-9)
    left_out = (values - orthogonal @ (orthogonal.T @ values)) / (1 - leverage)[:, None]
    found: Numbers = 1 - (left_out ** 2).mean(axis=0) / values.var(axis=0)
    return found


CHANGES = 'changes'
"""Drawn of every trial beside ``ros.vary``, as when the hazard came and at what phase: how many
harmless changes came before it."""
UNJUDGED = 'could not be judged'
FAILED = 'fails'
_FEW = 4
"""Fewer failures of one kind are not looked at apart."""
_MOST_TRIALS = 5_000
"""More of one scenario are a sample of so many: what they show is clear by then."""
_ALPHA_OF_CONDITIONS = 0.01
"""Chance that any condition at all is named in a campaign in which none matters."""


@dataclass(frozen=True)
class Kind:
    """One kind of outcome of a scenario's trials."""

    what: str
    """``fails``, ``could not be judged``, ``hazard missed``, ``false stop``, or a check."""
    search: Search
    rates: tuple[tuple[Estimate, Estimate], ...]
    """For each condition: its rate, and that of the rest (Clopper-Pearson), in the trials that
    chose it. So they are too far apart, and an interval may lie beyond the true rate."""


@dataclass(frozen=True)
class ScenarioConditions:
    """The conditions of one scenario."""

    scenario_id: str
    scenario_name: str
    trials: int
    failed: int
    undecided: int
    kinds: tuple[Kind, ...]
    effects: Effects | None
    """Of the draws on failures; None: too few trials, or none failed."""
    meanings: Mapping[str, str]
    """Name of a draw to what it sets."""


def conditions_of(trials: Sequence[tuple[TrialResult, Trial | None]], link: str) -> \
        tuple[ScenarioConditions, ...]:
    """
    Return the conditions of each scenario in which a trial failed or could not be judged.

    :param trials: results with what was planned, warm-up included, which does not count; of each
        scenario that of one trial is enough
    :param link: over which they were run, which says what trials came out alike
    """
    planned: dict[str, Trial] = {}
    for result, trial in trials:
        if trial is not None:
            planned.setdefault(result.scenario_id, trial)
    groups: dict[str, list[TrialResult]] = {}
    for result, _ in trials:
        if not result.warmup:
            groups.setdefault(result.scenario_id, []).append(result)
    some = {name: _sample(results) for name, results in groups.items()}
    odd = {name: results for name, results in some.items()
           if any(result.verdict is not Verdict.PASS for result in results)}
    return tuple(_scenario_conditions(name, results, planned.get(name),
                                      _ALPHA_OF_CONDITIONS / len(odd),
                                      link)
                 for name, results in odd.items())


def _sample(results: list[TrialResult]) -> list[TrialResult]:
    return results if len(results) <= _MOST_TRIALS \
        else random.Random(0).sample(results, _MOST_TRIALS)


def _scenario_conditions(name: str, results: Sequence[TrialResult], planned: Trial | None,
                         alpha: float, link: str) -> ScenarioConditions:
    decided = [result for result in results if result.is_decided]
    failed = [result.verdict is Verdict.FAIL for result in decided]
    unjudged = [not result.is_decided for result in results]
    causes: dict[str, list[bool]] = {}
    for result in decided:
        if result.verdict is Verdict.FAIL:
            causes.setdefault(cause_of(result), [])
    alpha /= max(1, any(failed) + (len(causes) > 1) + any(unjudged))
    axes = axes_of(decided, planned)
    kinds = [_kind(FAILED, decided, failed, axes, alpha, link)] if any(failed) else []
    if len(causes) > 1:
        for cause in causes:
            mine = [result.verdict is Verdict.FAIL and cause_of(result) == cause
                    for result in decided]
            if sum(mine) >= _FEW:
                kinds.append(_kind(cause, decided, mine, axes, alpha / len(causes), link))
    if any(unjudged):
        kinds.append(_kind(UNJUDGED, results, unjudged, axes_of(results, planned), alpha,
                           link))
    return ScenarioConditions(
        name, results[0].scenario_name, len(results), sum(failed), sum(unjudged), tuple(kinds),
        effects_of(axes, [float(one) for one in failed])
        if any(failed) else None,
        meanings_of(planned))


def cause_of(result: TrialResult) -> str:
    """Return the check that a failed trial failed by first."""
    return next((one.check for one in result.findings if one.verdict is Verdict.FAIL),
                result.reason.partition(': ')[0])


def _kind(what: str, results: Sequence[TrialResult], outcomes: Sequence[bool],
          axes: Sequence[Axis], alpha: float, link: str) -> Kind:
    search = find_conditions(axes, outcomes, alpha=alpha)
    told = dict(zip(map(id, results), outcomes, strict=True))
    left, rates = set(range(len(results))), []

    def rate(places: Iterable[int]) -> Estimate:
        some = [results[place] for place in sorted(places)]
        return no_narrower(*(clopper_pearson(sum(told[id(one)] for one in each), len(each))
                             for each in (some, distinct(some, link))))
    for one in search.conditions:
        left.difference_update(one.trials)
        rates.append((rate(one.trials), rate(left)))
    return Kind(what, search, tuple(rates))


def axes_of(results: Sequence[TrialResult], planned: Trial | None) -> tuple[Axis, ...]:
    """
    Return what was drawn in every one of some trials of a scenario.

    :param planned: one of them; without it units are unknown, and when each hazard came
    """
    names = [name for name in (results[0].drawn if results else ())
             if all(name in result.drawn for result in results)]
    units = _units(planned)
    found = [Axis(name, [_plain(result.drawn[name]) for result in results], units.get(name, ''))
             for name in names]
    if planned is not None:
        onsets = [onset_of(planned.scenario, result.seed) for result in results]
        found += [Axis(ONSET, [delay_ns * 1e-6 for delay_ns, _ in onsets], 'ms'),
                  Axis(PHASE, [phase for _, phase in onsets]),
                  Axis(CHANGES, [len(changes_of(planned.scenario, result.seed))
                                 for result in results])]
    return tuple(found)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ', '.join(f'{name} {one}' for name, one in value.items())
    return ' '.join(map(str, value)) if isinstance(value, (list, tuple)) else value


def _units(trial: Trial | None) -> Mapping[str, str]:
    return {} if trial is None else {
        name: draw.unit or '' for name, draw in trial.scenario.body.vary.items()}


def meanings_of(trial: Trial | None) -> Mapping[str, str]:
    """Return in words what each draw sets, such as ``distance of person on scan``."""
    found = {ONSET: 'when the hazard came, after the robot began to move',
             PHASE: 'in which part of a control period the hazard came',
             CHANGES: 'harmless changes before the hazard'}
    if trial is not None:
        body = trial.scenario.body
        for name, draw in body.vary.items():
            told = list(dict.fromkeys(_meaning(path, body) for path in draw.sets))
            found[name] = f'{{{name}}} in the texts' if draw.is_in_text else \
                ', '.join(told) if draw.keeps is None else 'which of the stimuli are published'
    return found


def _meaning(path: str, body: Any) -> str:
    """Return the field that a path leads to, and of which stimulus."""
    where, _, field = path.rpartition('.')
    before = where.startswith('ros.nominal')
    place = where.removeprefix('ros.nominal.').removeprefix('ros.')
    if place.startswith('stimuli[') and place.endswith(']'):
        stimuli = body.nominal.stimuli if before else body.stimuli
        number = int(place[8:-1])
        if before or not any(draw.keeps for draw in body.vary.values()):
            what = f'{stimuli[number].kind} on {stimuli[number].topic}'
        else:  # stimuli are left out of this trial, so that places do not tell which one it is
            what = ' or '.join(sorted({one.kind for one in stimuli if hasattr(one, field)})) \
                or 'the hazard'
        return f'{field} of {what}' + (' before the hazard' if before else '')
    return f'{field} of {place}'
