# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a campaign may claim of how often trials fail, and why it may claim nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from safety_scenarios.campaign.statistics.distinct import distinct
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    clustered,
    zero_failure_n,
)
from safety_scenarios.errors import counted
from safety_scenarios.reports.page.source import Claim
from safety_scenarios.scenario.estimate import Estimate
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import TrialResult, Verdict
from safety_scenarios.trial.summary import BOUNDS, CampaignSummary, ScenarioSummary

_CONFIDENCE = 0.95
_AIMS = (0.05, 0.01, 0.001)
"""Failure rates that people ask for."""
CHANGED = 'this folder is not as its campaign must have left it'
ALIKE = 'a sequential test counted trials that came out alike as several'


def claim_of(summary: CampaignSummary, results: Sequence[TrialResult],
             flaws: Sequence[str] = ()) -> Claim:
    """
    Return the share of failing trials with what bounds it.

    Nothing is claimed where a trial is missing, or could not be judged, or where the folder is not
    as its campaign left it. Trials that came out alike to the last digit are one trial: repeating
    what does not vary shows nothing new.

    :param flaws: what is wrong with the folder
    """
    trials = [result for result in results if not result.warmup]
    failed = sum(result.verdict is Verdict.FAIL for result in trials)
    strata = list(different(trials, summary.link).values())
    differing = sum(of for _, of in strata)
    why = _withheld(summary, trials, flaws)
    share = None if why else _share(summary, strata)
    if not why and share is None:
        why = ALIKE if len(strata) == 1 else \
            'a sequential test chose the number of trials of several scenarios'
    return Claim(failed, len(trials), differing, len(strata), share, why or _about(strata),
                 {f'{aim:.3g}': zero_failure_n(aim, _CONFIDENCE) for aim in _AIMS}
                 if len(strata) == 1 else {})


def unclaimed(found: Any, why: str, *, is_bound: bool = False) -> Any:
    """
    Return a summary, or a part of one, in which no number has an interval.

    :param why: what stands in place of the intervals, in the method of each number
    :param is_bound: a number is nothing but the end of its interval, and goes with it
    """
    if isinstance(found, Estimate):
        return found.model_copy(update={
            'value': None if is_bound else found.value, 'low': None, 'high': None,
            'method': f'{found.method}; no interval: {why}'})
    if isinstance(found, ScenarioSummary):
        found = found.model_copy(update={'separation': None})  # what a bound would cost
    if isinstance(found, Noun):
        return found.model_copy(update={
            name: unclaimed(getattr(found, name), why, is_bound=name in BOUNDS)
            for name in type(found).model_fields})
    if isinstance(found, Mapping):
        return {name: unclaimed(value, why) for name, value in found.items()}
    return tuple(unclaimed(one, why) for one in found) if isinstance(found, tuple) else found


def different(trials: Sequence[TrialResult], link: str) -> Mapping[str, tuple[int, int]]:
    """Return for each scenario how many different trials failed, and how many there are."""
    found: dict[str, tuple[int, int]] = {}
    for trial in distinct(trials, link):
        failed, made = found.get(trial.scenario_id, (0, 0))
        found[trial.scenario_id] = (failed + (trial.verdict is Verdict.FAIL), made + 1)
    return found


def _withheld(summary: CampaignSummary, trials: Sequence[TrialResult],
              flaws: Sequence[str]) -> str:
    """Return why nothing may be claimed; empty if something may."""
    if flaws:
        return CHANGED
    if not trials:
        return 'no trial was run'
    if summary.interrupted or summary.completed < summary.planned:
        return f'{summary.completed} of {counted(summary.planned, "planned trial")} were completed'
    if summary.sut is not None and any(summary.sut.doubts):
        return 'nobody can say that all trials were of the same controller'
    undecided = sum(not trial.is_decided for trial in trials)
    if undecided:
        return f'{undecided} of {counted(len(trials), "trial")} could not be judged'
    return ''


def _share(summary: CampaignSummary, strata: Sequence[tuple[int, int]]) -> Estimate | None:
    """
    Return the share of failures: with its upper bound alone where there was none.

    The upper end of a two-sided 90 % interval is the one-sided 95 % bound.
    """
    early = [row for row in summary.scenarios if row.stopped_early is not None]
    if early:
        is_whole = len(strata) == 1 and strata[0][1] == summary.scenarios[0].trials
        return summary.scenarios[0].failed if is_whole else None
    failed = sum(count for count, _ in strata)
    if len(strata) == 1:
        return clopper_pearson(*strata[0], _CONFIDENCE, 'two' if failed else 'upper')
    if failed:
        return clustered(strata, _CONFIDENCE)
    found = clustered(strata, 2 * _CONFIDENCE - 1)
    return found.model_copy(update={'confidence': _CONFIDENCE, 'low': None, 'method':
                                    found.method.replace('two-sided', 'one-sided upper')})


def _about(strata: Sequence[tuple[int, int]]) -> str:
    if len(strata) == 1:
        return 'in trials of this scenario if they are independent'
    return f'in scenarios like these {len(strata)}'
