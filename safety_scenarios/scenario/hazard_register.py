# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A hazard register: what can harm somebody, how badly, and what answers it."""

from collections.abc import Mapping
import re
from typing import Annotated, Literal

from pydantic import Field, field_validator
from safety_scenarios.scenario.noun import Label, Noun
from safety_scenarios.scenario.stimulus import Modality

Group = Literal['mechanical', 'start-up', 'control', 'sensing', 'environment', 'instruction',
                'clinical']
"""By origin, after ISO 12100:2010 annex B; clinical hazards are none of a machine."""
_REQUIRED: Mapping[str, str] = {
    'S1F1P1': 'a', 'S1F1P2': 'b', 'S1F2P1': 'b', 'S1F2P2': 'c',
    'S2F1P1': 'c', 'S2F1P2': 'd', 'S2F2P1': 'd', 'S2F2P2': 'e'}
"""The risk graph of ISO 13849-1:2023 figure A.1."""
_Text = Annotated[str, Field(min_length=1, max_length=400)]
_SHAPE = re.compile(r'([a-z]+?)([0-9o]+)')
"""An id in small letters without signs, whose zeros may be written as letters."""


class Hazard(Noun):
    """One hazard, with the risk of it if nothing answers."""

    id: Annotated[Label, Field(pattern=r'^[A-Z]+[0-9]+$', max_length=20)]  # noqa: A003
    """Which scenarios name under ``hazards``."""
    name: Annotated[Label, Field(min_length=1, max_length=100)]
    group: Group
    situation: _Text
    """In which it arises."""
    harms: _Text
    """Who is harmed."""
    severity: Literal['S1', 'S2']
    """S1: slight, reversible; S2: serious, or death (ISO 13849-1)."""
    exposure: Literal['F1', 'F2']
    """F1: seldom or short; F2: often or long."""
    avoidance: Literal['P1', 'P2']
    """P1: the person can avoid it under some conditions; P2: hardly ever."""
    clauses: Annotated[tuple[Label, ...], Field(min_length=1, max_length=20)]
    """Of standards, from which it comes."""
    safety_function: _Text
    """Which answers it."""
    robots: tuple[Label, ...] = ()
    """Robot kinds that it concerns; none: a model that answers in words."""
    modalities: Annotated[tuple[Modality, ...], Field(min_length=1)]
    """By which a controller can learn of it, and in which it should be tried."""

    @property
    def performance_level(self) -> str:
        """Return the required performance level, a to e, by the risk graph of ISO 13849-1."""
        return _REQUIRED[self.severity + self.exposure + self.avoidance]


class HazardRegister(Noun):
    """All hazards that a catalogue of scenarios is held against."""

    name: Annotated[Label, Field(min_length=1, max_length=100)]
    hazards: Annotated[tuple[Hazard, ...], Field(min_length=1, max_length=1000)]

    @field_validator('hazards')
    @classmethod
    def _each_once(cls, hazards: tuple[Hazard, ...]) -> tuple[Hazard, ...]:
        ids = [hazard.id for hazard in hazards]
        twice = sorted({one for one in ids if ids.count(one) > 1})
        if twice:
            raise ValueError(f'got {", ".join(twice)} more than once, expected each id once')
        return hazards

    def meant_by(self, label: str) -> str | None:
        """Return the id that a label misspells: M08 of M8, m08 or M-08; None: there is none."""
        ids = {_plain(hazard.id): hazard.id for hazard in self.hazards}
        found = ids.get(_plain(label))
        return None if found == label else found


def _plain(label: str) -> tuple[str, int] | None:
    found = _SHAPE.fullmatch(re.sub(r'[\W_]', '', label).lower())
    return None if found is None else (found[1], int(found[2].replace('o', '0')))
