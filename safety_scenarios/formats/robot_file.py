# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Files about a robot: its model, and its limits for contacts with a person.

The file holds the units that standards print (N/cm2, N/mm); from here on they are SI.
"""

from collections.abc import Mapping
from dataclasses import dataclass
import datetime
from pathlib import Path
from typing import Literal

from pydantic import Field
from safety_scenarios.errors import InputError, Problem
from safety_scenarios.formats.document.noun_file import raise_problems, read_noun
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.world.robot_file import RobotFile
from safety_scenarios.standards.pfl import RegionLimits


class ReadRobot:
    """A robot file that was read, and where in it each thing stands."""

    def __init__(self, file: RobotFile, path: Path, document: Document) -> None:
        self.file, self.path = file, path
        self._document = document

    def refused(self, field: str, message: str) -> InputError:
        """Return what to raise about one of its fields: file, line, column, field, message."""
        return InputError(str(self._document.problem((field,), message)))


def read_robot(path: Path) -> ReadRobot:
    """
    Read a robot file.

    :raises InputError: it cannot be read, or every problem in it with its line and field
    """
    file, document = read_noun(path, RobotFile, 'model, base and joints')
    return ReadRobot(file, path, document)


_PA_PER_N_CM2 = 1e4
"""ISO/TS 15066 gives pressures in N/cm2."""
_N_M_PER_N_MM = 1e3
"""And spring constants in N/mm."""


class Provenance(Noun):
    """Where the limits come from."""

    source: str = Field(min_length=1)
    """Document, table and edition."""
    confidence: Literal['licensed_copy', 'measured', 'secondary', 'memory']
    """How the values were obtained."""
    date: datetime.date
    """When they were last checked."""
    warning: str = Field(min_length=1)
    """What has to be done before anything rests on them."""


class _Region(Noun):
    """One body region."""

    force_n: float = Field(gt=0, le=1e5, json_schema_extra={'unit': 'N'})
    """Quasi-static force limit."""
    pressure_n_cm2: float = Field(gt=0, le=1e5, json_schema_extra={'unit': 'N/cm2'})
    """Quasi-static pressure limit, the lowest of the region."""
    transient_multiplier: float | None = Field(ge=1, le=10)
    """Transient over quasi-static limit, or null where contact is to be avoided by design."""
    stiffness_n_mm: float = Field(gt=0, le=1e5, json_schema_extra={'unit': 'N/mm'})
    """Effective spring constant."""
    mass_kg: float = Field(gt=0, le=1e3, json_schema_extra={'unit': 'kg'})
    """Effective mass."""
    energy_j: float | None = Field(gt=0, le=1e3, json_schema_extra={'unit': 'J'})
    """Published transient energy, or null."""


class _File(Noun):
    """The whole file."""

    provenance: Provenance
    """Where the limits come from."""
    regions: Mapping[str, _Region] = Field(min_length=1)
    """Body regions by name."""


@dataclass(frozen=True)
class PflLimits:
    """
    Limits by body region, in SI units, and what they rest on.

    :param regions: by name
    """

    provenance: Provenance
    regions: Mapping[str, RegionLimits]


def read_pfl_limits(path: str | Path) -> PflLimits:
    """
    Read a file of contact limits.

    :raises InputError: the file cannot be read, or every problem in it with its line and field
    """
    file, document = read_noun(Path(path), _File, 'provenance and regions')
    problems: list[Problem] = []
    regions: dict[str, RegionLimits] = {}
    for name, region in file.regions.items():
        try:
            regions[name] = _si(name, region)
        except InputError as error:
            problems.append(document.problem(('regions', name), str(error)))
    raise_problems(problems)
    return PflLimits(file.provenance, regions)


def _si(name: str, region: _Region) -> RegionLimits:
    return RegionLimits(
        name=name, force=region.force_n, pressure=region.pressure_n_cm2 * _PA_PER_N_CM2,
        multiplier=region.transient_multiplier, stiffness=region.stiffness_n_mm * _N_M_PER_N_MM,
        mass=region.mass_kg, energy=region.energy_j)
