# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What worlds told of many trials: quadrants, exposure, cost, and what became of the work."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from safety_scenarios.campaign.statistics.breakdown import bounded_mean
from safety_scenarios.campaign.statistics.confidence_sequences import (
    anytime_over_clusters,
    anytime_quantile,
)
from safety_scenarios.campaign.statistics.paired import (
    later,
    median_over_clusters,
    Pair,
    sign_flip,
)
from safety_scenarios.campaign.statistics.proportions import clustered, distinct, no_narrower
from safety_scenarios.campaign.statistics.quantiles import quantile
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate, QUADRANTS, Verdict, WorldFigures
from safety_scenarios.trial.summary import CampaignWorld, ScenarioWorld, WorldComparison

_Figure = Callable[[WorldFigures], float | None]
_Both = tuple[WorldFigures, WorldFigures]
_Trials = Sequence[tuple[TrialResult, TrialResult]]


def of_scenario(results: Sequence[TrialResult], link: str = 'ros', *,
                at_any_stop: bool = False) -> ScenarioWorld | None:
    """
    Return what worlds told of one scenario's trials, None where none was in a world.

    :param link: over which they were run, which says what trials came out alike
    :param at_any_stop: their number was not fixed beforehand
    """
    found = [result.world for result in results if result.world is not None]
    if not found:
        return None
    middle = anytime_quantile if at_any_stop else quantile
    gaps, exposures = [one.min_gap_m for one in found], [one.exposure_s for one in found]
    caused = [one.contacts_caused for one in found]
    ways = [one.stopping_distance_m for one in found if one.stopping_distance_m is not None]
    quadrants = _quadrants(results)
    return ScenarioWorld(
        trials=len(found), quadrants=quadrants, unknown=len(found) - sum(quadrants.values()),
        min_gap_m=_all(gaps, min), stopping_distance_m=max(ways, default=None),
        contacts_caused=None if None in caused else sum(one or 0 for one in caused),
        exposure_s=_all(exposures, lambda known: sum(known) / len(known)),
        task_s=no_narrower(*(middle(_task_times(some), 0.5, 's')
                             for some in (results, distinct(results, link)))))


def _task_times(results: Iterable[TrialResult]) -> list[float | None]:
    return [result.world.task.done_after_s for result in results if result.world is not None
            and result.world.task is not None and result.world.task.remaining is not None]


def of_campaign(rows: Mapping[str, Sequence[TrialResult]], is_stopped_early: bool,
                link: str = 'ros') -> CampaignWorld | None:
    """
    Return what worlds told of all trials, None where none was in a world.

    :param is_stopped_early: how many was not fixed beforehand, so that intervals have to hold at
        any stop, and medians over scenarios have none
    :param link: over which they were run, which says what trials came out alike
    """
    worlds = [[result.world for result in row if result.world is not None]
              for row in rows.values()]
    found = [one for row in worlds for one in row]
    if not found:
        return None

    longest_s = max(one.observed_s for one in found)

    def known(figure: _Figure) -> list[list[float]]:
        return [[value for one in row if (value := figure(one)) is not None] for row in worlds]

    def mean(figure: _Figure) -> Estimate:
        within = [[min(value, longest_s) for value in row] for row in known(figure)]  # rounding
        found = bounded_mean(within, longest_s, 's')
        if not is_stopped_early or found.value is None or not longest_s:
            return found
        ends = anytime_over_clusters([[min(1.0, value / longest_s) for value in row]
                                      for row in within])
        assert ends.low is not None and ends.high is not None
        return found.model_copy(update={
            'low': min(found.value, ends.low * longest_s),
            'high': max(found.value, ends.high * longest_s),
            'method': f'mean over {len(within)} scenarios, {ends.method}'})

    def middle(figure: _Figure, unit: str) -> Estimate:
        found = quantile([median(row) for row in known(figure) if row], 0.5, unit)
        return _plain(found.model_copy(update={
            'method': f'median over scenarios of their medians: {found.method}'}),
            is_stopped_early)

    quadrants = _quadrants(result for row in rows.values() for result in row)
    locked = sum(one.lockstep for one in found)
    known_done = ([_done(some) for some in made] for made in (
        list(rows.values()), [distinct(row, link) for row in rows.values()]))
    done = no_narrower(*(
        anytime_over_clusters(made) if is_stopped_early
        else clustered([(sum(some), len(some)) for some in made]) for made in known_done))
    gaps = [one.prediction_gap_m for one in found if one.prediction_gap_m is not None]
    return CampaignWorld(
        trials=len(found), worlds=tuple(sorted({one.world for one in found if one.world})),
        lockstep='all' if locked == len(found) else 'some' if locked else 'none',
        quadrants=quadrants, unknown=len(found) - sum(quadrants.values()),
        with_separation=sum('separation' in one.risks for one in found),
        exposure_s=mean(lambda one: one.exposure_s),
        safety_cost=mean(lambda one: one.safety_cost),
        time_lost_s=mean(lambda one: one.task.time_lost_s if one.task else None),
        task_done=done,
        progress_per_min=middle(_throughput, '1/min'),
        prediction_gap_m=middle(lambda one: one.prediction_gap_m, 'm'),
        prediction_gap_worst_m=min(gaps, default=None))


def _quadrants(results: Iterable[TrialResult]) -> dict[str, int]:
    """Count quadrants of the decided trials: in another the hazard may not have come."""
    return count_quadrants(result.world for result in results
                           if result.world is not None and result.is_decided)


def _done(results: Iterable[TrialResult]) -> list[bool]:
    """Return whether the work was done, of each trial in which that is known."""
    tasks = [result.world.task for result in results
             if result.world is not None and result.verdict is not Verdict.ERROR]
    return [task.done for task in tasks if task is not None and task.done is not None]


def compared(pairs: Iterable[_Trials], differing: Iterable[_Trials]) -> WorldComparison | None:
    """
    Return how two campaigns compare by what their worlds tell, None without a pair of such trials.

    :param pairs: those of each scenario
    :param differing: likewise, without those that came out alike
    """
    found, counting = ([mine for row in some if (mine := [
        (one.world, two.world) for one, two in row
        if one.world is not None and two.world is not None])] for some in (pairs, differing))
    if not found:
        return None
    flat = [pair for row in found for pair in row]
    (exposure, exposure_p), (cost, cost_p), (lost, lost_p) = (
        _difference(found, counting, figure) for figure in (
            lambda one: one.exposure_s, lambda one: one.safety_cost,
            lambda one: one.task.time_lost_s if one.task else None))
    return WorldComparison(
        pairs=len(flat), quadrants=(count_quadrants(one for one, _ in flat),
                                    count_quadrants(two for _, two in flat)),
        exposure_s=exposure, exposure_p=exposure_p, safety_cost=cost, safety_cost_p=cost_p,
        time_lost_s=lost, time_lost_p=lost_p)


def _difference(found: Sequence[Sequence[_Both]], counting: Sequence[Sequence[_Both]],
                figure: _Figure) -> tuple[Estimate, float]:
    known, others = ([told for row in some if (told := _both_known(row, figure))]
                     for some in (found, counting))
    return median_over_clusters(known, 's'), max(
        sign_flip([later(row) for row in some]) for some in (known, others))


def _both_known(row: Sequence[_Both], figure: _Figure) -> list[Pair]:
    both = [(figure(one), figure(two)) for one, two in row]
    return [pair for pair in both if None not in pair]


def count_quadrants(found: Iterable[WorldFigures]) -> dict[str, int]:
    """Return how many trials each quadrant has, all four of them."""
    counts = Counter(one.quadrant for one in found)
    return {quadrant: counts[quadrant] for quadrant in QUADRANTS}


def _throughput(one: WorldFigures) -> float | None:
    task = one.task
    return None if task is None or task.progress is None or one.observed_s <= 0 \
        else 60.0 * task.progress / one.observed_s


def _all(values: Sequence[float | None], of: Callable[[Sequence[float]], float]) -> float | None:
    """Return a number of all values, None where one of them is not known."""
    known = [value for value in values if value is not None]
    return of(known) if known and len(known) == len(values) else None


def _plain(found: Estimate, is_stopped_early: bool) -> Estimate:
    if not is_stopped_early:
        return found
    return found.model_copy(update={
        'low': None, 'high': None,
        'method': f'{found.method}; no interval: the number of trials was not fixed beforehand'})
