# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Under which conditions the trials of a campaign fail, scenario by scenario.

ERROR and INCONCLUSIVE are no failures of the controller: those trials are left out of the failure
rate, and where they depend on a condition of their own, that is found apart. Trials that came out
alike in everything are one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import random
from typing import Any

from safety_scenarios.campaign.statistics.proportions import clopper_pearson, distinct
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.studies.conditions.condition import Axis, find_conditions, Search
from safety_scenarios.studies.conditions.effects import Effects, effects_of
from safety_scenarios.studies.search.space import ONSET, PHASE
from safety_scenarios.trial.plan import changes_of, onset_of
from safety_scenarios.trial.trial import Trial

CHANGES = 'changes'
"""Drawn of every trial beside ``ros.vary``, as when the hazard came and at what phase: how many
harmless changes came before it."""
UNJUDGED = 'could not be judged'
FAILED = 'fails'
_FEW = 4
"""Fewer failures of one kind are not looked at apart."""
_MOST_TRIALS = 5_000
"""More of one scenario are a sample of so many: what they show is clear by then."""
_ALPHA = 0.01
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
    """Distinct ones."""
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
    some = {name: _sample(distinct(results, link)) for name, results in groups.items()}
    odd = {name: results for name, results in some.items()
           if any(result.verdict is not Verdict.PASS for result in results)}
    return tuple(_of_scenario(name, results, planned.get(name), _ALPHA / len(odd))
                 for name, results in odd.items())


def _sample(results: list[TrialResult]) -> list[TrialResult]:
    return results if len(results) <= _MOST_TRIALS \
        else random.Random(0).sample(results, _MOST_TRIALS)


def _of_scenario(name: str, results: Sequence[TrialResult], planned: Trial | None,
                 alpha: float) -> ScenarioConditions:
    decided = [result for result in results if result.is_decided]
    failed = [result.verdict is Verdict.FAIL for result in decided]
    unjudged = [not result.is_decided for result in results]
    causes: dict[str, list[bool]] = {}
    for result in decided:
        if result.verdict is Verdict.FAIL:
            causes.setdefault(cause_of(result), [])
    alpha /= max(1, any(failed) + (len(causes) > 1) + any(unjudged))
    kinds = [_kind(FAILED, decided, failed, planned, alpha)] if any(failed) else []
    if len(causes) > 1:
        for cause in causes:
            mine = [result.verdict is Verdict.FAIL and cause_of(result) == cause
                    for result in decided]
            if sum(mine) >= _FEW:
                kinds.append(_kind(cause, decided, mine, planned, alpha / len(causes)))
    if any(unjudged):
        kinds.append(_kind(UNJUDGED, results, unjudged, planned, alpha))
    return ScenarioConditions(
        name, results[0].scenario_name, len(results), sum(failed), sum(unjudged), tuple(kinds),
        effects_of(axes_of(decided, planned), [float(one) for one in failed])
        if any(failed) else None,
        meanings_of(planned))


def cause_of(result: TrialResult) -> str:
    """Return the check that a failed trial failed by first."""
    return next((one.check for one in result.findings if one.verdict is Verdict.FAIL),
                result.reason.partition(': ')[0])


def _kind(what: str, results: Sequence[TrialResult], outcomes: Sequence[bool],
          planned: Trial | None, alpha: float) -> Kind:
    search = find_conditions(axes_of(results, planned), outcomes, alpha=alpha)
    return Kind(what, search, tuple(
        (clopper_pearson(*one.inside), clopper_pearson(*one.outside))
        for one in search.conditions))


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
            found[name] = ', '.join(told) if draw.keeps is None else \
                'which of the stimuli are published'
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
