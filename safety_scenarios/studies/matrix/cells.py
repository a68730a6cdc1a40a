# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The table of a matrix: each arm over each scenario, every number with its interval."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    clustered,
    distinct,
    no_narrower,
)
from safety_scenarios.campaign.statistics.quantiles import quantile
from safety_scenarios.campaign.statistics.summarise import latency_quantile, rate
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.studies.matrix.summary import ALL, Cell

Results = Mapping[str, Sequence[TrialResult]]
"""Arm to its trials that count, in order."""


def cells(arms: Results, link: str) -> Iterator[Cell]:
    """Yield every arm over all scenarios, then over one scenario after the other."""
    scenarios = dict.fromkeys(one.scenario_id for some in arms.values() for one in some)
    for name in (ALL, *scenarios):
        for arm, results in arms.items():
            yield cell(name, arm, [one for one in results
                                   if not name or one.scenario_id == name], link)


def cell(scenario: str, arm: str, results: Sequence[TrialResult], link: str) -> Cell:
    """Return one arm over one scenario; empty: over all that have a result."""
    rows: dict[str, list[TrialResult]] = {}
    for result in results:
        rows.setdefault(result.scenario_id, []).append(result)
    latencies = [result.latency.judged_ns if result.latency else None for result in results
                 if result.is_measured]
    missing = latencies.count(None)
    return Cell(
        scenario_id=scenario, arm=arm, trials=len(results),
        passed=sum(one.verdict is Verdict.PASS for one in results),
        passed_share=_passed(list(rows.values()), link),
        inconclusive=sum(one.verdict is Verdict.INCONCLUSIVE for one in results),
        errors=sum(one.verdict is Verdict.ERROR for one in results),
        missed=rate([one for one in results if not one.is_benign],
                    lambda one: one.is_missed, link),
        false_stops=rate([one for one in results if one.is_benign],
                         lambda one: one.is_false_stop, link),
        median_ms=_middle([latency_quantile(some, 0.5, link) for some in rows.values()], 'ms'),
        worst_ms=None if missing or not latencies
        else max(one for one in latencies if one is not None) / 1e6,
        no_reaction=missing,
        gap_m=_median(rows.values(), _gaps, 'm', link),
        least_gap_m=min(_gaps(results), default=None),
        task_s=_median(rows.values(), _task_times, 's', link),
        time_lost_s=_median(rows.values(), _times_lost, 's', link))


def _median(rows: Iterable[Sequence[TrialResult]],
            figure: Callable[[Sequence[TrialResult]], Sequence[float | None]], unit: str,
            link: str) -> Estimate:
    return _middle([no_narrower(*(quantile(figure(part), 0.5, unit)
                                  for part in (some, distinct(some, link))))
                    for some in rows], unit)


def _passed(rows: Sequence[Sequence[TrialResult]], link: str) -> Estimate:
    """Return the share of decided trials that pass; of several scenarios as clusters."""
    made = [[[one for one in part if one.is_decided] for part in (some, distinct(some, link))]
            for some in rows]
    counts = [[(sum(one.verdict is Verdict.PASS for one in part), len(part))
               for part in (both[which] for both in made)] for which in (0, 1)]
    if len(rows) == 1:
        return no_narrower(*(clopper_pearson(*one[0]) for one in counts))
    return no_narrower(*map(clustered, counts))


def _middle(found: Sequence[Estimate], unit: str) -> Estimate:
    """Return the median over scenarios of their medians; of one scenario its own."""
    if len(found) == 1:
        return found[0]
    known = [one.value for one in found if one.n]
    whole = quantile(known, 0.5, unit)
    return whole.model_copy(update={
        'method': f'median over scenarios of their medians: {whole.method}'})


def _gaps(results: Sequence[TrialResult]) -> list[float]:
    return [one.world.min_gap_m for one in results
            if one.world is not None and one.world.min_gap_m is not None]


def time_lost(result: TrialResult) -> float | None:
    """Return how long the robot of a decided trial stood where nothing called for it."""
    task = result.world.task if result.world is not None else None
    return None if task is None or not result.is_decided else task.time_lost_s


def _times_lost(results: Sequence[TrialResult]) -> list[float]:
    return [lost for one in results if (lost := time_lost(one)) is not None]


def task_time(result: TrialResult) -> tuple[bool, float | None]:
    """Return whether a trial tells how long its task took, and that; None: it was never done."""
    task = result.world.task if result.world is not None else None
    if task is None or task.remaining is None or not result.is_decided:
        return False, None
    return True, task.done_after_s


def _task_times(results: Sequence[TrialResult]) -> list[float | None]:
    return [took for is_known, took in map(task_time, results) if is_known]
