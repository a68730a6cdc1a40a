# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a matrix came to, as ``matrix.json`` keeps it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    clustered,
    distinct,
    no_narrower,
    p_text,
)
from safety_scenarios.campaign.statistics.quantiles import quantile
from safety_scenarios.campaign.statistics.summarise import latency_quantile, rate
from safety_scenarios.errors import counted
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import exit_code, TrialResult
from safety_scenarios.scenario.rounding import ends
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.trial.summary import Rate

ALL = ''
"""Scenario id of a row that is about all scenarios."""


class Cell(Noun):
    """One arm over one scenario, or over all of them."""

    scenario_id: str
    """Empty: all scenarios together."""
    arm: str
    trials: int
    passed: int
    passed_share: Estimate
    """Share of the trials that PASS or FAIL; over all scenarios the interval is that of
    clusters."""
    inconclusive: int
    errors: int
    """Trials that tell nothing of the controller: in no share, and no loss of any arm."""
    missed: Rate
    false_stops: Rate
    median_ms: Estimate
    """Reaction; over all scenarios the median over scenarios of their medians."""
    worst_ms: float | None
    """None: a reaction is missing, or none was measured."""
    no_reaction: int
    gap_m: Estimate
    """Median of the smallest distance to anybody in each trial."""
    least_gap_m: float | None
    task_s: Estimate
    """Median time until the task was done; one that never was is longer than any. Of tasks with
    a goal alone."""
    time_lost_s: Estimate
    """Median time that the robot stood where nothing called for it."""


class EqualOutputs(Noun):
    """Two arms whose controllers put out the same, bit for bit, in some trials."""

    first: str
    second: str
    equal: int
    of: int
    """Trials in which both put out anything."""

    @property
    def is_suspicious(self) -> bool:
        """Whether nothing shows that the two arms ran different controllers."""
        return self.of > 0 and self.equal == self.of

    def __str__(self) -> str:
        alike = 'bit for bit the same commands' if self.is_suspicious else 'the same commands'
        return (f'{self.second} gave {alike} as {self.first} in {self.equal} of '
                f'{counted(self.of, "trial")}')


class ArmCheck(Noun):
    """Whether the arms differed: as they were set up, and in what they put out."""

    differences: Mapping[str, Mapping[str, str]]
    """Setting, parameter or hash to its value in each arm, of those that are not the same in
    all; empty text: its default."""
    outputs: tuple[EqualOutputs, ...]
    """Every two arms that put out the same in a trial at least."""
    unknown: tuple[str, ...] = ()
    """Arms of which no trial has any output to compare."""

    @property
    def warnings(self) -> Iterator[str]:
        """Yield what a reader of any comparison has to know first."""
        yield from (f'arm {one}: did its setting reach the model?'
                    for one in self.outputs if one.is_suspicious)
        yield from (f'arm {name} put out nothing in any trial: whether it differs from the others '
                    f'is unknown' for name in self.unknown)


class Difference(Noun):
    """One figure of an arm less that of another, by pairs of trials in the same world."""

    figure: str
    estimate: Estimate
    """Above 0: the other arm is better. Without a number where a reaction or the end of a task is
    missing, which is later than any number."""
    sign: int
    """1: the other arm is better by the number; -1: worse; 0: equal."""
    is_shown: bool
    """Whether the other arm is better beyond the interval."""

    def __str__(self) -> str:
        missing = ' (none came in one of the arms)' if self.estimate.value is None else ''
        return f'{self.figure} {estimate_text(self.estimate)}{missing}'


class Dominated(Noun):
    """An arm that another one beats: no worse in any figure, and better in one at least."""

    arm: str
    by: str
    behind_in: tuple[Difference, ...]
    """In what the other one is better, by the number or beyond the interval."""

    @property
    def is_shown(self) -> bool:
        """Whether more than noise says so."""
        return any(one.is_shown for one in self.behind_in)

    def __str__(self) -> str:
        shown = '; '.join(str(one) for one in self.behind_in if one.is_shown is self.is_shown)
        if self.is_shown:
            return (f'{self.arm} is dominated by {self.by}: no better in any figure, and worse in '
                    f'{shown}')
        return (f'{self.arm} is better than {self.by} in no figure, and worse in {shown}. Too few '
                f'trials to exclude chance: the interval of each difference contains 0. To test '
                f'the trials in pairs, use safety-scenarios compare')


class Cliff(Noun):
    """A fall of the pass rate between two neighbouring values of an axis."""

    axis: str
    line: str
    """What the arms have in common but for this axis, as the name of one of them begins."""
    scenario_id: str
    """Empty: over all scenarios."""
    before: str
    after: str
    """Values, in the order of the axis."""
    arms: tuple[str, str]
    passed: tuple[int, int]
    """Under each of the two values, of the pairs of trials that PASS or FAIL under both."""
    pairs: int
    lost: Estimate
    """Share of pairs that pass before and fail after, less those of which the reverse is true."""
    p: float
    """McNemar's exact test, adjusted for every scenario and step."""

    def __str__(self) -> str:
        where = f' in {self.scenario_id}' if self.scenario_id else ''
        return (f'{self.line + ": " if self.line else ""}{self.axis} from {self.before} to '
                f'{self.after}{where}: passes fall from {self.passed[0]} to {self.passed[1]} of '
                f'{counted(self.pairs, "pair")} (lost {estimate_text(self.lost)}, '
                f'{p_text(self.p)})')


class Flip(Noun):
    """One trial that did not come to the same verdict in all arms."""

    scenario_id: str
    index: int
    verdicts: Mapping[str, Verdict]
    """Arm to the verdict of the trial."""
    trials: Mapping[str, str]
    """Arm to the id of the trial."""

    @property
    def is_decided(self) -> bool:
        """Whether two arms differ in what counts: one PASSes and another one FAILs."""
        return {Verdict.PASS, Verdict.FAIL} <= set(self.verdicts.values())


class ArmOutcome(Noun):
    """What one arm came to."""

    name: str
    controller: str
    counts: bool
    verdict: Verdict
    verdicts: Mapping[str, int]
    completed: int
    planned: int
    skipped: tuple[str, ...] = ()
    """Scenarios that were left out by selection.skip."""
    failed_checks: Mapping[str, int] = {}
    """In how many failed trials each check failed, the most first."""


class MatrixSummary(Noun):
    """All arms, side by side."""

    sha256: str
    """Of ``matrix.yaml``."""
    seed: int
    order: Literal['trial', 'block']
    arms: tuple[ArmOutcome, ...]
    check: ArmCheck
    cells: tuple[Cell, ...]
    """Arms over all scenarios first, then scenario by scenario."""
    dominated: tuple[Dominated, ...]
    cliffs: tuple[Cliff, ...]
    flips: tuple[Flip, ...]
    flips_of: int
    """How many there are; the list holds those that count first."""
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Return the worst of the arms that count."""
        return Verdict.worst(_counting_verdicts(self.arms))

    @property
    def exit_code(self) -> int:
        """
        Return that of the worst of the arms that count, as of the trials of one campaign.

        An arm that does not count adds nothing, unless none of its trials could be judged: then
        what it was to be compared with is unknown.
        """
        return exit_code(_counting_verdicts(self.arms))


def _counting_verdicts(arms: Iterable[ArmOutcome]) -> Iterator[Verdict]:
    for arm in arms:
        if arm.counts:
            yield arm.verdict
        elif not any(arm.verdicts.get(name) for name in ('PASS', 'FAIL')):
            yield Verdict.INCONCLUSIVE


def estimate_text(estimate: Estimate) -> str:
    """Return a number with its interval, unit and n; without a number why there is none."""
    scale, unit = (100.0, ' %') if estimate.unit == '1' else (1.0, f' {estimate.unit}')
    if estimate.value is None and estimate.low is None and estimate.high is None:
        return f'unknown, n={estimate.n}'
    value = 'unbounded' if estimate.value is None else f'{estimate.value * scale:.3g}'
    return f'{value} [{ends(estimate.low, estimate.high, scale)}]{unit}, n={estimate.n}'


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
