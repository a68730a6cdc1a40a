# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From the campaigns of a matrix to what it came to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.campaign.statistics.proportions import SIMULATED
from safety_scenarios.errors import counted
from safety_scenarios.scenario.result import failed_checks, TrialResult
from safety_scenarios.studies.matrix.cells import cells
from safety_scenarios.studies.matrix.file import MatrixFile
from safety_scenarios.studies.matrix.findings import cliffs, dominated, flips
from safety_scenarios.studies.matrix.summary import (
    ArmCheck,
    ArmOutcome,
    EqualOutputs,
    MatrixSummary,
)
from safety_scenarios.trial.lines import commanded
from safety_scenarios.trial.summary import CampaignSummary

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
