# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which hazards of a register the scenarios probe, by robot kind and modality, and which not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from safety_scenarios.lint.pairs import hazards_of
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.companion_files import Hazard, HazardRegister
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import Modality
from safety_scenarios.scenario.verdict import Verdict

NO_ROBOT = ''
"""Robot kind of a scenario in which a model answers in words alone."""
Column = tuple[str, Modality]
"""Robot kind and modality."""


@dataclass(frozen=True)
class Cell:
    """The scenarios that probe one hazard on one robot kind by one modality."""

    scenarios: tuple[str, ...]
    without_benign: tuple[str, ...]
    """Those of them without a benign variant, so that needless stops are not seen. Scenarios with
    agents have none: what must not stop the robot happens in the same trial."""
    trials: int = 0
    verdict: Verdict | None = None
    """The worst of the campaign's trials; None: there is none."""


@dataclass(frozen=True)
class Row:
    """One hazard, and what probes it."""

    hazard: Hazard
    cells: Mapping[Column, Cell]

    @property
    def gaps(self) -> tuple[Column, ...]:
        """Return where the register wants it tried, and no scenario does."""
        return tuple((robot, modality) for robot in self.hazard.robots or (NO_ROBOT,)
                     for modality in self.hazard.modalities
                     if (robot, modality) not in self.cells)


@dataclass(frozen=True)
class HazardCoverage:
    """A register against scenarios, and against the results of a campaign if there is one."""

    register: HazardRegister
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    unlisted: Mapping[str, tuple[str, ...]]
    """Labels that scenarios name and the register does not hold, with these scenarios."""
    unnamed: tuple[str, ...]
    """Scenarios that name no hazard of the register."""

    @property
    def missing(self) -> tuple[Hazard, ...]:
        """Return the hazards that no scenario probes at all."""
        return tuple(row.hazard for row in self.rows if not row.cells)


def hazard_coverage(register: HazardRegister, scenarios: Sequence[Scenario],
                    results: Iterable[TrialResult] = ()) -> HazardCoverage:
    """
    Return which hazards the scenarios probe.

    :param results: of a campaign, whose verdicts stand in the cells; warm-up does not count
    """
    found: dict[str, dict[Column, list[str]]] = {one.id: {} for one in register.hazards}
    unlisted: dict[str, list[str]] = {}
    for scenario in scenarios:
        for label in dict.fromkeys(scenario.traceability.hazards):
            if label not in found:
                unlisted.setdefault(label, []).append(scenario.id)
                continue
            for column in columns_of(scenario):
                found[label].setdefault(column, []).append(scenario.id)
    trials: dict[str, list[TrialResult]] = {}
    for result in results:
        if not result.warmup:
            trials.setdefault(result.scenario_id, []).append(result)
    paired = {name for scenario in scenarios for name in hazards_of(scenario)} | {
        scenario.id for scenario in scenarios
        if scenario.expects == 'restraint' or isinstance(scenario.body, AgentsBody)}
    rows = tuple(Row(hazard, {column: _cell(ids, paired, trials) for column, ids
                              in found[hazard.id].items()}) for hazard in register.hazards)
    wanted = {column for row in rows for column in (*row.cells, *row.gaps)}
    named = {name for cells in found.values() for ids in cells.values() for name in ids}
    return HazardCoverage(
        register, rows, tuple(sorted(wanted, key=_place)),
        {label: tuple(ids) for label, ids in sorted(unlisted.items())},
        tuple(scenario.id for scenario in scenarios if scenario.id not in named))


def columns_of(scenario: Scenario) -> Iterator[Column]:
    """Yield by which modalities a scenario shows its hazard, on which robot kind."""
    body = scenario.body
    robot = NO_ROBOT if body.robot is None else body.robot.kind
    if isinstance(body, RobotBody):
        ways: Iterable[Modality] = (one.modality or body.level for one in body.stimuli)
    elif isinstance(body, AgentsBody):
        ways = ('text', *(one.modality or 'object' for one in body.hazard))
    else:
        ways = ('text',)
    for way in dict.fromkeys(ways):
        yield robot, way


def _cell(ids: Sequence[str], paired: Iterable[str],
          trials: Mapping[str, Sequence[TrialResult]]) -> Cell:
    results = [result for name in ids for result in trials.get(name, ())]
    return Cell(tuple(ids), tuple(name for name in ids if name not in paired), len(results),
                Verdict.worst(result.verdict for result in results) if results else None)


def _place(column: Column) -> tuple[bool, str, int]:
    robot, modality = column
    return robot == NO_ROBOT, robot, get_args(Modality).index(modality)
