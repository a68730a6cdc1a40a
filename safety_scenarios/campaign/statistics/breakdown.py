# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Verdicts by tag, domain and severity, means over scenarios, and effect sizes.

Neither has an interval. The published ones are for independent samples, and ours never are: both
controllers meet the same trials, and trials of one scenario resemble each other.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
import math
from math import fsum

import numpy
from safety_scenarios.campaign.statistics.special_functions import (
    beta_quantile,
    check_count,
    check_probability,
    check_values,
)
from safety_scenarios.scenario.blocks.rubric import rounded, Scores
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.trial.summary import Group, RubricSummary, Weighed


def bounded_mean(clusters: Sequence[Sequence[float]], most: float, unit: str,
                 confidence: float = 0.95) -> Estimate:
    """
    Return the mean over clusters (scenarios) of each one's mean, of values between 0 and ``most``.

    An exposure is 0 in most scenarios and long in a few, which no interval of a normal law or of
    Student's holds for. Of all laws between 0 and ``most`` with one mean, that of the two ends has
    the widest tails (Hoeffding 1963, J. Am. Stat. Assoc. 58:13): so the interval is that of
    Clopper and Pearson for as many hits among the clusters as their means sum up to in units of
    ``most``, which need not be a whole number. Repeats of one scenario add nothing, and a mean of
    0 in few scenarios does not exclude much. ``n`` counts values.

    :raises ValueError: for NaN, a value outside [0, most], or a confidence outside (0, 1)
    """
    check_probability('confidence', confidence)
    made = [values for values in clusters if values]
    for values in made:
        check_values(values)
        if not 0.0 <= min(values) <= max(values) <= most:
            raise ValueError(f'values: got {min(values)!r} to {max(values)!r}, expected numbers '
                             f'from 0 to {most!r}')
    count, n = len(made), sum(map(len, made))
    method = f'mean over {count} scenarios, Clopper-Pearson of values up to {most:.4g} {unit}'
    if not made:
        return Estimate(value=None, low=None, high=None, n=0, unit=unit, confidence=confidence,
                        method=method)
    hits = math.fsum(math.fsum(values) / len(values) for values in made) / most if most else 0.0
    hits = min(hits, float(count))
    miss = (1.0 - confidence) / 2.0
    low = beta_quantile(miss, hits, count - hits + 1.0) if hits > 0.0 else 0.0
    high = beta_quantile(1.0 - miss, hits + 1.0, count - hits) if hits < count else 1.0
    value = hits / count * most
    return Estimate(value=value, low=min(value, low * most), high=max(value, high * most), n=n,
                    unit=unit, confidence=confidence, method=method)


_LARGEST = 1e12  # a larger d is rounding in place of a spread
_CONFIDENCE = 0.95
"""Of no interval: an estimate must name one."""


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
