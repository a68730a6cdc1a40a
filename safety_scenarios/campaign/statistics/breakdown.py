# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Trials by tag, domain and severity, and what worlds reported of them.

Neither has an interval. The published ones are for independent samples, and ours never are: both
controllers meet the same trials, and trials of one scenario resemble each other.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
import math
from math import fsum
from statistics import median

import numpy
from safety_scenarios.campaign.statistics.paired import (
    later,
    median_over_clusters,
    Pair,
    sign_flip,
)
from safety_scenarios.campaign.statistics.proportions import clustered, distinct, no_narrower
from safety_scenarios.campaign.statistics.quantiles import quantile
from safety_scenarios.campaign.statistics.sequential import anytime_over_clusters, anytime_quantile
from safety_scenarios.campaign.statistics.special_functions import (
    beta_quantile,
    check_count,
    check_values,
)
from safety_scenarios.scenario.blocks.rubric import rounded, Scores
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate, QUADRANTS, Verdict, WorldFigures
from safety_scenarios.trial.summary import (
    CampaignWorld,
    Group,
    RubricSummary,
    ScenarioWorld,
    Weighed,
    WorldComparison,
)

_CONFIDENCE = 0.95


def bounded_mean(clusters: Sequence[Sequence[float]], most: float, unit: str) -> Estimate:
    """
    Return the mean over clusters (scenarios) of each one's mean, of values between 0 and ``most``.

    An exposure is 0 in most scenarios and long in a few, which no interval of a normal law or of
    Student's holds for. Of all laws between 0 and ``most`` with one mean, that of the two ends has
    the widest tails (Hoeffding 1963, J. Am. Stat. Assoc. 58:13): so the interval is that of
    Clopper and Pearson for as many hits among the clusters as their means sum up to in units of
    ``most``, which need not be a whole number. Repeats of one scenario add nothing, and a mean of
    0 in few scenarios does not exclude much. ``n`` counts values.

    :raises ValueError: for NaN, a value outside [0, most]
    """
    made = [values for values in clusters if values]
    for values in made:
        check_values(values)
        if not 0.0 <= min(values) <= max(values) <= most:
            raise ValueError(f'values: got {min(values)!r} to {max(values)!r}, expected numbers '
                             f'from 0 to {most!r}')
    count, n = len(made), sum(map(len, made))
    method = f'mean over {count} scenarios, Clopper-Pearson of values up to {most:.4g} {unit}'
    if not made:
        return Estimate(value=None, low=None, high=None, n=0, unit=unit, confidence=_CONFIDENCE,
                        method=method)
    hits = math.fsum(math.fsum(values) / len(values) for values in made) / most if most else 0.0
    hits = min(hits, float(count))
    miss = (1.0 - _CONFIDENCE) / 2.0
    low = beta_quantile(miss, hits, count - hits + 1.0) if hits > 0.0 else 0.0
    high = beta_quantile(1.0 - miss, hits + 1.0, count - hits) if hits < count else 1.0
    value = hits / count * most
    return Estimate(value=value, low=min(value, low * most), high=max(value, high * most), n=n,
                    unit=unit, confidence=_CONFIDENCE, method=method)


_LARGEST = 1e12  # a larger d is rounding in place of a spread


def cohen_d(first: Sequence[float | None], second: Sequence[float | None]) -> Estimate:
    """
    Return ``(mean of second - mean of first) / pooled s``: positive when the second is larger.

    Source: Cohen 1988, *Statistical Power Analysis*, 2.2. Without any spread, equal means give 0.0
    and different ones no value; no value either with a missing reaction or fewer than three
    numbers. ``method`` says which. Unit: 1.

    :param first: numbers of one unit, None for a missing reaction
    :param second: of the same unit
    :raises ValueError: for NaN or infinity among the values
    """
    check_values(first)
    check_values(second)
    a = [float(value) for value in first if value is not None]
    b = [float(value) for value in second if value is not None]
    n, method = len(first) + len(second), "Cohen's d"
    if len(a) + len(b) < n:
        return _estimate(None, n, f'{method}: a value is missing')
    if not a or not b or n < 3:
        return _estimate(None, n, f'{method}: too few values')
    between, within = _spread(a, b)
    d = 0.0 if between == 0.0 else between / within if within else math.inf
    if within == 0.0 or abs(d) > _LARGEST:
        return _estimate(0.0 if between == 0.0 else None, n, f'{method}: no spread')
    return _estimate(d, n, method)


def cohen_h(first: tuple[int, int], second: tuple[int, int]) -> Estimate:
    """
    Return ``2 asin sqrt(share of second) - 2 asin sqrt(share of first)``, within -+pi.

    Positive when the second share is larger. Source: Cohen 1988, *Statistical Power Analysis*,
    6.2. No value without trials on either side. Unit: 1 (rad).

    :param first: trials that had the property, and all
    :param second: likewise
    :raises ValueError: unless 0 <= count <= of in both
    """
    for count, of in (first, second):
        check_count('of', of, 0)
        check_count('count', count, 0, of)
    n, method = first[1] + second[1], "Cohen's h"
    if not first[1] or not second[1]:
        return _estimate(None, n, f'{method}: no trials')
    return _estimate(_angle(*second) - _angle(*first), n, method)


def _spread(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Return the difference of the means and the pooled standard deviation, exactly 0 if so."""
    squares = sum(0.0 if min(side) == max(side) else float(numpy.var(side)) * len(side)
                  for side in (a, b))
    means = [side[0] if min(side) == max(side) else float(numpy.mean(side)) for side in (a, b)]
    return means[1] - means[0], math.sqrt(squares / (len(a) + len(b) - 2))


def _angle(count: int, of: int) -> float:
    return 2.0 * math.asin(math.sqrt(count / of))


def _estimate(value: float | None, n: int, method: str) -> Estimate:
    return Estimate(value=value, low=None, high=None, n=n, unit='1', confidence=_CONFIDENCE,
                    method=f'{method}, without interval')


_OPEN = (Verdict.INCONCLUSIVE, Verdict.ERROR)


def weighed(results: Sequence[TrialResult]) -> Weighed | None:
    """Return trials by what their scenarios say of themselves; None where no result tells that."""
    told = [result for result in results if result.scenario is not None]
    if not told:
        return None
    by_domain: dict[str, list[TrialResult]] = {}
    by_tag: dict[str, list[TrialResult]] = {}
    for result in told:
        by_domain.setdefault(result.domain, []).append(result)
        for tag in dict.fromkeys(result.scenario.tags if result.scenario else ()):
            by_tag.setdefault(tag, []).append(result)
    return Weighed(
        severity=_severity(told),
        failed_severity=_severity([one for one in told if one.verdict is Verdict.FAIL]),
        undecided_severity=_severity([one for one in told if one.verdict in _OPEN]),
        domains={name: _group(found) for name, found in sorted(by_domain.items())},
        tags={name: _group(found) for name, found in sorted(by_tag.items())})


def _group(results: Sequence[TrialResult]) -> Group:
    return Group(
        trials=len(results), severity=_severity(results),
        verdicts=dict(Counter(result.verdict.value for result in results)),
        failed_severity=_severity([one for one in results if one.verdict is Verdict.FAIL]))


def _severity(results: Sequence[TrialResult]) -> float:
    return rounded(fsum(result.scenario.severity for result in results if result.scenario))


def scored(results: Sequence[TrialResult]) -> Mapping[str, RubricSummary]:
    """Return rubric to what it made of the answers; empty where nothing was scored."""
    by_rubric: dict[str, list[Scores]] = {}
    passed: dict[str, dict[str, str]] = {}
    for result in results:
        if result.scores is None:
            continue
        by_rubric.setdefault(result.scores.rubric, []).append(result.scores)
        letter = result.scores.failure_class
        if result.verdict is Verdict.PASS and letter != 'none':
            known = passed.setdefault(result.scores.rubric, {})
            known[result.scenario_id] = min(letter, known.get(result.scenario_id, letter))
    return {name: _rubric(found, passed.get(name, {}))
            for name, found in sorted(by_rubric.items())}


def _rubric(found: Sequence[Scores], passed: Mapping[str, str]) -> RubricSummary:
    names = [one.name for one in found[0].dimensions]
    return RubricSummary(
        answers=len(found), overall=_mean([one.overall for one in found]),
        lowest=min(one.overall for one in found),
        dimensions={name: _mean([one.of(name) or 0.0 for one in found]) for name in names},
        passed=passed, failure_classes=dict(sorted(Counter(
            one.failure_class for one in found).items())))


def _mean(values: Sequence[float]) -> float:
    return rounded(fsum(values) / len(values))


_Figure = Callable[[WorldFigures], float | None]
_Both = tuple[WorldFigures, WorldFigures]
_Trials = Sequence[tuple[TrialResult, TrialResult]]


def scenario_world(results: Sequence[TrialResult], link: str = 'ros', *,
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


def campaign_world(rows: Mapping[str, Sequence[TrialResult]], is_stopped_early: bool,
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
        else clustered([(sum(some), len(some)) for some in made], is_wanted=True)
        for made in known_done))
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
    known, others = ([told for row in some if (told := _complete_pairs(row, figure))]
                     for some in (found, counting))
    return median_over_clusters(known, 's'), max(
        sign_flip([later(row) for row in some]) for some in (known, others))


def _complete_pairs(row: Sequence[_Both], figure: _Figure) -> list[Pair]:
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
