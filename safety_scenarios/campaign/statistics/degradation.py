# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Degradation: how often trials pass and how late they react, over a number that was varied."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from safety_scenarios.campaign.comparison import Degradation, Series, Step
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    clustered,
    distinct,
    no_narrower,
)
from safety_scenarios.campaign.statistics.quantiles import quantile
from safety_scenarios.campaign.statistics.summarise import latency_quantile
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.trial.summary import CampaignSummary, ScenarioSummary

_ALL = 'all scenarios'
_VALUES = 3
"""Fewer values that were drawn show no trend."""
_STEPS = 6
"""More values than that are put together, as many trials in each step."""


@dataclass(frozen=True)
class Varying:
    """A campaign, and the numbers by which it was set up."""

    name: str
    results: Sequence[TrialResult]
    summary: CampaignSummary
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Settings and parameters of the controller, by their names."""
    lines: Mapping[str, str] = field(default_factory=dict)
    """Of a number in which some campaigns differ and in nothing else: what they are called
    together. Those of another name are another line."""


def degradations(campaigns: Sequence[Varying]) -> Iterator[Degradation]:
    """Yield what can be shown: over what differs between campaigns, then over what was drawn."""
    yield from _between(campaigns)
    names = {(result.scenario_id, name) for one in campaigns for result in one.results
             for name, value in result.drawn.items() if is_number(value)}
    for scenario, name in sorted(names):
        yield from _drawn(campaigns, scenario, name)


def is_number(value: object) -> bool:
    """Return whether a value has a place on an axis."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) \
        and abs(value) < float('inf')


def as_number(value: object) -> float | None:
    """Return a value as its place on an axis; None: it has none."""
    return float(value) if isinstance(value, (int, float)) and is_number(value) else None


def _drawn(campaigns: Sequence[Varying], scenario: str, name: str) -> Iterator[Degradation]:
    def value(result: TrialResult) -> float:
        return float(result.drawn[name])
    made = [[result for result in one.results if result.scenario_id == scenario
             and not result.warmup and is_number(result.drawn.get(name))] for one in campaigns]
    values = sorted(value(result) for some in made for result in some)
    if len(set(values)) < _VALUES:
        return
    begins = _begins(values)
    yield Degradation(name, scenario, tuple(
        Series(one.name, tuple(_steps(one, some, value, begins)))
        for one, some in zip(campaigns, made, strict=True) if some))


def _begins(values: Sequence[float]) -> list[float]:
    """Return where each step begins; equal values are never torn apart."""
    known = sorted(set(values))
    if len(known) <= _STEPS:
        return known
    return sorted({values[len(values) * number // _STEPS] for number in range(_STEPS)})


def _steps(one: Varying, results: Sequence[TrialResult], value: Callable[[TrialResult], float],
           begins: Sequence[float]) -> Iterator[Step]:
    for begin, end in zip(begins, [*begins[1:], float('inf')], strict=True):
        some = [result for result in results if begin <= value(result) < end]
        if not some:
            continue
        row = next((row for row in one.summary.scenarios
                    if row.scenario_id == some[0].scenario_id), None)
        early = row is not None and row.stopped_early is not None
        yield Step(min(map(value, some)), max(map(value, some)), len(some),
                   _open(_passed(some, one.summary.link), early),
                   _open(latency_quantile(some, 0.5, one.summary.link), early),
                   _undecided(some))


def _open(found: Estimate, early: bool) -> Estimate:
    """Return an estimate, without an interval where a sequential test ended the trials."""
    return found.model_copy(update={'low': None, 'high': None}) if early else found


def _between(campaigns: Sequence[Varying]) -> Iterator[Degradation]:
    known = sorted(set().union(*(one.numbers for one in campaigns)))
    differing = [name for name in known if len({one.numbers[name] for one in campaigns
                                                if name in one.numbers}) > 1]
    for name in differing:
        rows: dict[tuple[str, str], list[Step]] = {}
        some = sorted((one for one in campaigns if name in one.numbers),
                      key=lambda one: one.numbers[name])
        for one in some:
            if len(one.summary.scenarios) > 1:
                rows.setdefault((one.lines.get(name, ''), _ALL), []).append(
                    _step_of_all(one, one.numbers[name]))
        for one in some:
            for row in one.summary.scenarios:
                rows.setdefault((one.lines.get(name, ''), row.scenario_id), []).append(
                    _step_of(one, row, one.numbers[name]))
        series = tuple(Series(f'{line}: {scenario}' if line else scenario, tuple(steps))
                       for (line, scenario), steps in rows.items()
                       if len({step.low for step in steps}) > 1)
        if series:
            yield Degradation(name, '', series, tuple(
                other for other in differing
                if other != name and not all(name in one.lines for one in some)))


def _step_of_all(one: Varying, value: float) -> Step:
    """Return all trials of a campaign as a step; the intervals are those of scenarios."""
    counting = [result for result in one.results if not result.warmup]
    found = [clustered([(sum(result.verdict is Verdict.PASS for result in mine), len(mine))
                        for name in dict.fromkeys(result.scenario_id for result in some)
                        if (mine := [result for result in some if result.scenario_id == name
                                     and result.is_decided])], is_wanted=True)
             for some in (counting, distinct(counting, one.summary.link))]
    medians = quantile([row.median_ms.value for row in one.summary.scenarios if row.median_ms.n],
                       0.5, 'ms')
    early = any(row.stopped_early is not None for row in one.summary.scenarios)
    return Step(value, value, len(counting), _open(no_narrower(*found), early),
                _open(medians, early), _undecided(counting))


def _undecided(results: Sequence[TrialResult]) -> int:
    return sum(not result.is_decided for result in results)


def _passed(results: Sequence[TrialResult], link: str) -> Estimate:
    """Return the share of the trials that PASS or FAIL which pass."""
    return no_narrower(*(
        clopper_pearson(sum(result.verdict is Verdict.PASS for result in part), len(part))
        for part in ([result for result in some if result.is_decided]
                     for some in (results, distinct(results, link)))))


def _step_of(one: Varying, row: ScenarioSummary, value: float) -> Step:
    """Return all trials of a scenario in one campaign as a step."""
    mine = [result for result in one.results
            if result.scenario_id == row.scenario_id and not result.warmup]
    return Step(value, value, row.trials, _open(
        _passed(mine, one.summary.link), row.stopped_early is not None), row.median_ms,
        _undecided(mine))
