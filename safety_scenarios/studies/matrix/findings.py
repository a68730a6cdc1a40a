# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What arms show against each other: who is dominated, where passes fall, which trials flip."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
import json

from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.matrix.cells import Results
from safety_scenarios.studies.matrix.file import ArmEntry, MatrixFile, text_of
from safety_scenarios.studies.matrix.pairs import PairedArms
from safety_scenarios.studies.matrix.summary import ALL, Cliff, Dominated, Flip

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
