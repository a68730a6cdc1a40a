# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Verdicts by tag, domain and severity, and the means of scores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum

from safety_scenarios.scenario.blocks.rubric import rounded, Scores
from safety_scenarios.scenario.result import TrialResult, Verdict
from safety_scenarios.trial.weighed_summary import Group, RubricSummary, Weighed

_OPEN = (Verdict.INCONCLUSIVE, Verdict.ERROR)


def weighed(results: Sequence[TrialResult]) -> Weighed | None:
    """
    Return trials by what their scenarios say of themselves; None where no result tells that.

    :param results: those that count
    """
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
