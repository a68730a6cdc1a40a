# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What arms show against each other, in pairs and over all campaigns of a matrix.

A trial that is INCONCLUSIVE or ERROR in either arm tells nothing of the difference and is left
out. Of few scenarios the claim is about trials of these scenarios; of six and more it is about
scenarios like them, and trials of one scenario count as one cluster.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
import json
from pathlib import Path

from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.campaign.statistics.paired import (
    Both,
    decided,
    differing,
    holm,
    is_decided,
    latencies,
    later,
    mcnemar,
    median_over_clusters,
    Pair,
    Pairs,
    sign_flip,
)
from safety_scenarios.campaign.statistics.proportions import (
    difference_of_shares,
    no_narrower,
    SIMULATED,
)
from safety_scenarios.errors import counted
from safety_scenarios.scenario.result import failed_checks, TrialResult
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.studies.matrix.file import ArmEntry, MatrixFile, text_of
from safety_scenarios.studies.matrix.summary import (
    ALL,
    ArmCheck,
    ArmOutcome,
    cells,
    Cliff,
    Difference,
    Dominated,
    EqualOutputs,
    Flip,
    MatrixSummary,
    Results,
    task_time,
    time_lost,
)
from safety_scenarios.trial.lines import commanded
from safety_scenarios.trial.summary import CampaignSummary

FEWEST_CLUSTERS = 6
"""Scenarios from which on something can be said of scenarios in general, at 95 %."""
_Bad = Callable[[TrialResult], bool]
_Times = Callable[[Sequence[Both]], list[Pair]]


@dataclass(frozen=True)
class PairedArms:
    """The pairs of trials of two arms that are decided in both."""

    found: Pairs
    different: Pairs
    """Without those that came out alike, which show nothing new."""
    every: tuple[Pairs, Pairs]
    """Both with the pairs that are INCONCLUSIVE or ERROR in either arm."""

    @classmethod
    def of(cls, first: Sequence[TrialResult], second: Sequence[TrialResult],
           link: str) -> 'PairedArms':
        """Pair the trials of one scenario and index."""
        others = {(one.scenario_id, one.index): one for one in second}
        found: dict[str, list[Both]] = {}
        for one in first:
            other = others.get((one.scenario_id, one.index))
            if other is not None and one.seed == other.seed:
                found.setdefault(one.scenario_id, []).append((one, other))
        pairs = decided(found)
        return cls(pairs, differing(pairs, link), (found, differing(found, link)))

    def differences_at_worst(self, confidence: float) -> Iterator[Difference]:
        """
        Yield the same figures as if undecided trials had come out against the first.

        Its own undecided ones are bad and without a reaction, and those of the second are not bad.
        """
        return _differences(self.every, confidence, at_worst=True)

    def differences(self, confidence: float) -> Iterator[Difference]:
        """Yield what the second is worse in; a figure without a pair is left out."""
        return _differences((self.found, self.different), confidence, at_worst=False)

    def only(self, scenario_id: str) -> 'PairedArms':
        """Return the pairs of one scenario."""
        found, different, *every = ({scenario_id: one[scenario_id]} for one in (
            self.found, self.different, *self.every))
        return PairedArms(found, different, (every[0], every[1]))

    def loss(self) -> float:
        """Return McNemar's p-value of all pairs together; the larger one, as of one scenario."""
        return max(_mcnemar([pair for mine in one.values() for pair in mine])
                   for one in (self.found, self.different))

    def lost(self) -> Estimate:
        """Return in what share of trials of these scenarios a pass becomes a fail, less gains."""
        return no_narrower(*(difference_of_shares([
            (int(_changes(one, two, Verdict.PASS)), int(_changes(one, two, Verdict.FAIL)), 1)
            for mine in some.values() for one, two in mine])
            for some in (self.found, self.different)))

    def losses(self) -> Iterator[tuple[str, float]]:
        """
        Yield each scenario with a pair that only one passes, and McNemar's exact p-value.

        The larger one of all pairs and of those that differ; adjusted for all scenarios.
        """
        names = list(self.found)
        chances = holm([max(_mcnemar(one[name]) for one in (self.found, self.different))
                        for name in names])
        yield from ((name, p) for name, p in zip(names, chances, strict=True) if p < 1.0)


def _more(figure: str, found: Estimate) -> Difference:
    return Difference(figure=figure, estimate=found, sign=_sign(found.value),
                      is_shown=found.low is not None and found.low > 0.0)


def _or_undecided(is_bad: _Bad) -> _Bad:
    return lambda result: is_bad(result) or not result.is_decided


def _difference(pairs: Pairs, confidence: float, is_first_bad: _Bad,
                is_second_bad: _Bad) -> Estimate:
    """Return in what share of pairs only the second is bad, less that of only the first."""
    return difference_of_shares([
        (sum(is_second_bad(two) and not is_first_bad(one) for one, two in mine),
         sum(is_first_bad(one) and not is_second_bad(two) for one, two in mine), len(mine))
        for mine in _units(pairs)], confidence)


def _later(figure: str, unit: str, known: Sequence[list[list[Pair]]],
           confidence: float) -> Difference:
    """Return how much later the second is; where a time is missing, the sign test tells."""
    found = no_narrower(*(median_over_clusters(one, unit, confidence) for one in known))
    if found.value is not None:
        return Difference(figure=figure, estimate=found, sign=_sign(found.value),
                          is_shown=found.low is not None and found.low > 0.0)
    more = [[later(mine) for mine in one] for one in known]
    return Difference(figure=figure, estimate=found, sign=_sign(sum(more[0])),
                      is_shown=sum(more[0]) > 0
                      and max(map(sign_flip, more)) < 1.0 - confidence)


def _sign(value: float | None) -> int:
    return 0 if value is None else (value > 0.0) - (value < 0.0)


def _mcnemar(pairs: Sequence[Both]) -> float:
    return mcnemar(*(sum(_changes(one, two, before) for one, two in pairs)
                     for before in (Verdict.PASS, Verdict.FAIL)))


def _changes(one: TrialResult, two: TrialResult, before: Verdict) -> bool:
    return one.verdict is before and two.verdict is not before


def _differences(groups: Sequence[Pairs], confidence: float,
                 at_worst: bool) -> Iterator[Difference]:
    for figure, is_benign, is_bad in _SHARES:
        some = [_pairs_by_kind(one, is_benign) for one in groups]
        is_first_bad = _or_undecided(is_bad) if at_worst else is_bad
        if some[0]:
            yield _more(figure, no_narrower(*(
                _difference(one, confidence, is_first_bad, is_bad) for one in some)))
    for figure, unit, both in _TIMES:
        known = [[told for mine in _units(one)
                  if (told := _at_worst(mine, one, both) if at_worst else both(mine))]
                 for one in groups]
        if known[0]:
            yield _later(figure, unit, known, confidence)


def _units(pairs: Pairs) -> list[Sequence[Both]]:
    """Return what may be taken for independent: scenarios, or of few of them their trials."""
    if len(pairs) >= FEWEST_CLUSTERS:
        return list(pairs.values())
    return [[pair] for mine in pairs.values() for pair in mine]


def _pairs_by_kind(pairs: Pairs, is_benign: bool) -> Pairs:
    return {name: kept for name, mine in pairs.items()
            if (kept := [pair for pair in mine if pair[0].is_benign is is_benign])}


def _task_times(pairs: Sequence[Both]) -> list[Pair]:
    told = [(task_time(one), task_time(two)) for one, two in pairs]
    return [(first[1], second[1]) for first, second in told if first[0] and second[0]]


def _times_lost(pairs: Sequence[Both]) -> list[Pair]:
    told = [(time_lost(one), time_lost(two)) for one, two in pairs]
    return [pair for pair in told if None not in pair]


def _at_worst(pairs: Sequence[Both], every: Pairs, both: _Times) -> list[Pair]:
    """Return the times of pairs; where either is undecided, the first has taken for ever."""
    known = both([pair for pair in pairs if is_decided(pair)])
    is_asked = both is latencies and not pairs[0][0].is_benign or any(
        both([pair]) for pair in every[pairs[0][0].scenario_id] if is_decided(pair))
    return known + [(None, 0.0)] * (sum(not is_decided(pair) for pair in pairs) if is_asked else 0)


_SHARES: Sequence[tuple[str, bool, _Bad]] = (
    ('hazards missed', False, lambda one: one.is_missed),
    ('false stops', True, lambda one: one.is_false_stop),
    ('other failures', True, lambda one: bool(one.failed_otherwise)))
"""Figure, whether it is about benign variants, and which trials it counts."""
_TIMES: Sequence[tuple[str, str, _Times]] = (
    ('reaction', 'ms', latencies), ('task time', 's', _task_times),
    ('time lost', 's', _times_lost))


_ALPHA = 0.05
_FIGURES = 6
"""In which two arms are compared."""


def dominated(arms: Results, link: str) -> Iterator[Dominated]:
    """
    Yield each arm that another one beats in safety, reaction and task time together.

    By the differences in the same worlds: none is below 0, and one is above 0 with its whole
    interval, also if every undecided trial had come out against the better arm. The intervals hold
    for all arms and figures at once (Bonferroni). An arm that is behind by its numbers alone is
    named so, and is not dominated.
    """
    looks = max(1, _FIGURES * len(arms) * (len(arms) - 1) // 2)
    beaten: dict[str, list[Dominated]] = {}
    for best, other in permutations(arms, 2):
        pairs = PairedArms.of(arms[best], arms[other], link)
        found = list(pairs.differences(1.0 - _ALPHA / looks))
        at_worst = list(pairs.differences_at_worst(1.0 - _ALPHA / looks))
        if any(one.sign < 0 for one in (*found, *at_worst)) or not any(
                one.sign > 0 for one in found):
            continue
        shown = {one.figure for one in at_worst if one.is_shown}
        beaten.setdefault(other, []).append(Dominated(arm=other, by=best, behind_in=tuple(
            one.model_copy(update={'is_shown': one.is_shown and one.figure in shown})
            for one in found if one.sign > 0)))
    for some in beaten.values():
        yield max(some, key=lambda one: sum(figure.is_shown for figure in one.behind_in))


def cliffs(matrix: MatrixFile, arms: Results, link: str) -> Iterator[Cliff]:
    """
    Yield where passes fall from one value of an axis to the next, in the order of the file.

    In all trials of these scenarios together, and in each scenario, by McNemar's exact test over
    the pairs of trials; adjusted for all steps that are looked at, and twice for these two
    questions. It is a statement about trials of these scenarios. What grows is no cliff.
    """
    steps = [(axis, line, one, other) for axis in matrix.axes
             for line, one, other in neighbours(matrix, axis)
             if one in arms and other in arms]
    for axis, line, one, other in steps:
        pairs = PairedArms.of(arms[one], arms[other], link)
        for scenario_id, p in ((ALL, pairs.loss()), *pairs.losses()):
            adjusted = min(1.0, p * 2 * len(steps))
            if adjusted < _ALPHA:
                some = pairs.only(scenario_id) if scenario_id else pairs
                cliff = _cliff(some, (axis, line, one, other), matrix)
                if (cliff.lost.value or 0.0) > 0.0:
                    yield cliff.model_copy(update={'scenario_id': scenario_id, 'p': adjusted})


def _cliff(pairs: PairedArms, step: tuple[str, str, str, str], matrix: MatrixFile) -> Cliff:
    axis, line, one, other = step
    both = [pair for mine in pairs.found.values() for pair in mine]
    before, after = (text_of(matrix.arms[name].at[axis]) for name in (one, other))
    return Cliff(
        axis=axis, line=line, scenario_id=ALL, before=before, after=after, arms=(one, other),
        passed=(sum(first.verdict is Verdict.PASS for first, _ in both),
                sum(second.verdict is Verdict.PASS for _, second in both)),
        pairs=len(both), p=1.0, lost=pairs.lost())


def neighbours(matrix: MatrixFile, axis: str) -> Iterator[tuple[str, str, str]]:
    """Yield the name of a line and two arms on it that are next to each other on an axis."""
    for line, names in lines(matrix, axis).items():
        yield from ((line, one, other) for one, other in zip(names, names[1:]))


def lines(matrix: MatrixFile, axis: str) -> Mapping[str, Sequence[str]]:
    """
    Return the arms that differ in one axis alone, in its order, by what they have in common.

    Of a frozen matrix, whose arms know where they are.
    """
    order = {json.dumps(value): place for place, value in enumerate(matrix.axes[axis])}
    found: dict[str, list[str]] = {}
    for name, entry in matrix.arms.items():
        if axis in entry.at:
            found.setdefault(_rest(entry, axis), []).append(name)
    named: dict[str, Sequence[str]] = {}
    for names in found.values():
        names.sort(key=lambda name: order[json.dumps(matrix.arms[name].at[axis])])
        named[_line(names)] = names
    return named


def _rest(entry: ArmEntry, axis: str) -> str:
    """Return everything of an arm but where it is on one axis."""
    return json.dumps([entry.controller, {
        name: value for name, value in entry.set.items() if name != axis}], sort_keys=True)


def _line(names: Sequence[str]) -> str:
    """Return how the arms on a line are called together: what all their names have."""
    parts = [name.split(',') for name in names]
    return ','.join(part for part in parts[0] if all(part in one for one in parts))


def flips(arms: Results) -> list[Flip]:
    """
    Return each trial whose verdict is not the same in all arms.

    First those that count: PASS in one arm and FAIL in another one. Where arms differ by
    INCONCLUSIVE or ERROR alone, nothing is known of the controller.
    """
    found: dict[tuple[str, int], dict[str, TrialResult]] = {}
    for arm, results in arms.items():
        for result in results:
            found.setdefault((result.scenario_id, result.index), {})[arm] = result
    some = [Flip(scenario_id=scenario, index=index,
                 verdicts={arm: one.verdict for arm, one in row.items()},
                 trials={arm: one.trial_id for arm, one in row.items()})
            for (scenario, index), row in found.items()
            if len({one.verdict for one in row.values()}) > 1]
    return sorted(some, key=lambda flip: not flip.is_decided)


_MOST_FLIPS = 400


@dataclass(frozen=True)
class ArmDone:
    """What the campaign of one arm left."""

    folder: Path
    results: Sequence[TrialResult]
    summary: CampaignSummary
    effective: Mapping[str, str]
    """Controller, parameters, hashes and settings."""


def summarise(matrix: MatrixFile, arms: Mapping[str, ArmDone]) -> MatrixSummary:
    """
    Return what the arms came to, side by side.

    :param matrix: as it is frozen
    :param arms: by name, in the order of the matrix
    """
    counting = {name: [one for one in arm.results if not one.warmup] for name, arm in arms.items()}
    link = next(iter(arms.values())).summary.link
    flipped = flips(counting)
    return MatrixSummary(
        sha256=matrix.sha256, seed=matrix.seed, order=matrix.order or 'trial',
        arms=tuple(ArmOutcome(
            name=name, controller=arm.summary.controller, counts=matrix.arms[name].counts,
            verdict=arm.summary.verdict, verdicts=arm.summary.verdicts,
            completed=arm.summary.completed, planned=arm.summary.planned,
            skipped=arm.summary.skipped, failed_checks=failed_checks(counting[name]))
            for name, arm in arms.items()),
        check=check(arms), cells=tuple(cells(counting, link)),
        dominated=tuple(dominated(counting, link)),
        cliffs=tuple(cliffs(matrix, counting, link)), flips=tuple(flipped[:_MOST_FLIPS]),
        flips_of=len(flipped), notes=tuple(_notes(counting)))


def check(arms: Mapping[str, ArmDone]) -> ArmCheck:
    """Return in what the arms differ as they were set up, and in how far by what they put out."""
    keys = dict.fromkeys(key for arm in arms.values() for key in arm.effective)
    hashes = {name: outputs(arm.folder, arm.results, arm.summary.link)
              for name, arm in arms.items()}
    return ArmCheck(
        differences={key: {name: arm.effective.get(key, '') for name, arm in arms.items()}
                     for key in keys
                     if len({arm.effective.get(key) for arm in arms.values()}) > 1},
        outputs=tuple(found for one, other in combinations(arms, 2) if (
            found := equal_outputs((one, hashes[one]), (other, hashes[other]))).equal),
        unknown=tuple(name for name, some in hashes.items()
                      if not any(one is not None for one in some.values())))


Outputs = Mapping[tuple[str, int], str | None]
"""Scenario and index of a trial to the hash of all that its controller put out."""


def equal_outputs(first: tuple[str, Outputs], second: tuple[str, Outputs]) -> EqualOutputs:
    """Return in how many trials both put out the same, of those in which both put out anything."""
    (one, mine), (other, theirs) = first, second
    both = [(mine[key], theirs[key]) for key in mine.keys() & theirs.keys()
            if mine[key] is not None and theirs[key] is not None]
    return EqualOutputs(first=one, second=other, of=len(both),
                        equal=sum(before == after for before, after in both))


def outputs(folder: Path, results: Sequence[TrialResult], link: str) -> Outputs:
    """Return scenario and index to the hash of all that a controller put out in that trial."""
    return {(one.scenario_id, one.index): commanded(
        folder / journal_path(one.trial_id), timed=link in SIMULATED)
        for one in results if not one.warmup}


def _notes(arms: Mapping[str, Sequence[TrialResult]]) -> Iterator[str]:
    """Yield what keeps trials from being compared."""
    for name, results in arms.items():
        open_ = sum(not one.is_decided for one in results)
        if open_:
            yield (f'{name}: {open_} of {counted(len(results), "trial")} INCONCLUSIVE or ERROR: '
                   f'they are in no share, and no loss or gain of any arm')
