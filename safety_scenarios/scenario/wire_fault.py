# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What may be wrong with the way that messages take, as one noun: its kind, its numbers, its seed.

A fault of *time* decides when a message arrives, if at all, and never looks at it. A fault of
*content* changes what it says, and never when it arrives. What each of them does, to the letter,
is in ``stimuli/wire.py``.
"""

from collections.abc import Mapping
import re
from typing import Any, ClassVar, get_args, Literal

from pydantic import Field, model_serializer, model_validator, SerializerFunctionWrapHandler
from safety_scenarios.scenario.noun import Noun
from typing_extensions import Self

OfTime = Literal['freeze', 'drop', 'delay', 'jitter', 'duplicate', 'reorder', 'throttle']
OfContent = Literal['noise', 'bias', 'nan', 'quantise', 'stale', 'future', 'foreign_clock',
                    'wrong_frame', 'wrong_modality', 'truncated']
WireKind = Literal[OfTime, OfContent]
OF_TIME: frozenset[str] = frozenset(get_args(OfTime))
"""Kinds that decide when a message arrives, and never look at it."""
MAX_FAULT_MS = 600_000.0
"""Longer than any trial waits."""
_FIELD = r'^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$'
_NAMED: Mapping[str, Any] = {'fields': ()}
_NEEDS: Mapping[str, tuple[str, ...]] = {
    'drop': ('share',), 'delay': ('delay_ms',), 'jitter': ('jitter_ms',),
    'throttle': ('most_hz',), 'noise': ('sigma',), 'bias': ('offset',), 'quantise': ('step',),
    'stale': ('age_ms',), 'future': ('ahead_ms',), 'foreign_clock': ('offset_s',),
    'wrong_frame': ('frame',), 'wrong_modality': ('how',), 'truncated': ('keep',)}
"""What nobody but the user can say."""
_TAKES: Mapping[str, Mapping[str, Any]] = {
    'freeze': {'messages': None}, 'drop': {'messages': None, 'seed': 0}, 'jitter': {'seed': 0},
    'duplicate': {'share': 1.0, 'copies': 1, 'seed': 0}, 'reorder': {'share': 1.0, 'seed': 0},
    'noise': {'seed': 0, **_NAMED}, 'bias': _NAMED, 'nan': _NAMED, 'quantise': _NAMED,
    'foreign_clock': {'drift_ppm': 0.0}, 'wrong_modality': {'factor': 1000.0, **_NAMED},
    'truncated': _NAMED}
"""What may be said besides, and what it is where nobody does."""


class WireParameters(Noun):
    """The numbers of a fault; each kind takes its own, and refuses the others."""

    share: float | None = Field(default=None, gt=0, le=1)
    """Of drop, duplicate, reorder: how likely it is for each message to be hit; the first always
    is."""
    messages: int | None = Field(default=None, ge=1, le=1_000_000)
    """Of drop and freeze: so many are hit, and then none any more; left out: there is no end."""
    delay_ms: float | None = Field(default=None, gt=0, le=MAX_FAULT_MS,
                                   json_schema_extra={'unit': 'ms'})
    """Of delay: how much later each message arrives (ms)."""
    jitter_ms: float | None = Field(default=None, gt=0, le=MAX_FAULT_MS,
                                    json_schema_extra={'unit': 'ms'})
    """Of jitter: each message arrives later by something between nothing and this (ms)."""
    copies: int | None = Field(default=None, ge=1, le=100)
    """Of duplicate: how often a message comes again."""
    most_hz: float | None = Field(default=None, gt=0, le=10_000, json_schema_extra={'unit': 'Hz'})
    """Of throttle: no more messages a second than these."""
    sigma: float | None = Field(default=None, gt=0)
    """Of noise: standard deviation, in the unit of what is measured."""
    offset: float | None = None
    """Of bias: what is added, in the unit of what is measured."""
    step: float | None = Field(default=None, gt=0)
    """Of quantise: every value is the nearest multiple of it."""
    age_ms: float | None = Field(default=None, gt=0, le=MAX_FAULT_MS,
                                 json_schema_extra={'unit': 'ms'})
    """Of stale: how much older its header stamp says that a message is (ms)."""
    ahead_ms: float | None = Field(default=None, gt=0, le=86_400_000,
                                   json_schema_extra={'unit': 'ms'})
    """Of future: how far ahead of time its header stamp is (ms)."""
    offset_s: float | None = Field(default=None, ge=-2e9, le=2e9, json_schema_extra={'unit': 's'})
    """Of foreign_clock: how far ahead the clock of the header stamps is; negative: behind (s)."""
    drift_ppm: float | None = Field(default=None, ge=-1e6, le=1e6,
                                    json_schema_extra={'unit': 'ppm'})
    """Of foreign_clock: how much faster that clock runs, from the begin of the fault on (ppm)."""
    frame: str | None = Field(default=None, max_length=200)
    """Of wrong_frame: the frame that headers name."""
    how: Literal['units', 'empty', 'axes'] | None = None
    """
    Of wrong_modality: units: every measured number times ``factor``; empty: as if nobody had
    filled the message in; axes: x and y change places, z its sign, and lists of numbers their
    order.
    """
    factor: float | None = None
    """Of wrong_modality by units: 1000 where the sender thinks in millimetres."""
    keep: float | None = Field(default=None, ge=0, lt=1)
    """Of truncated: the share of each list that is left, from its begin."""
    fields: tuple[str, ...] | None = Field(default=None, min_length=1, max_length=50)
    """Of noise, bias, nan, quantise, wrong_modality, truncated: paths of the fields that are
    hit, such as ranges; left out: all that is measured."""
    seed: int | None = Field(default=None, ge=0, le=2**31 - 1)
    """Of what is drawn."""

    @model_validator(mode='after')
    def _paths(self) -> Self:
        for path in self.fields or ():
            if not re.match(_FIELD, path):
                raise ValueError(f'fields: got {path!r:.80}, expected a path of names such as '
                                 f'pose.position.x; a list is hit as a whole')
        return self

    @property
    def given(self) -> dict[str, Any]:
        """Return the numbers that were given."""
        found = ((name, getattr(self, name)) for name in WireParameters.model_fields)
        return {name: value for name, value in found if value is not None}

    @model_serializer(mode='wrap')
    def _without_absent(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        told: dict[str, Any] = written(self)
        return {name: value for name, value in told.items()
                if value is not None or name not in WireParameters.model_fields}


class WireFault(WireParameters):
    """One thing that is wrong with the way from a publisher to its hearers."""

    kind: WireKind
    """What is wrong; doc/reference/wire_faults.md says what each does."""

    kinds: ClassVar[tuple[str, ...]] = (*get_args(OfTime), *get_args(OfContent))

    @model_validator(mode='after')
    def _fits_together(self) -> Self:
        needs, takes = _NEEDS.get(self.kind, ()), _TAKES.get(self.kind, {})
        known = (*needs, *takes)
        for name in self.given:
            if name not in known:
                raise ValueError(f'{name}: got it with {self.kind}, expected '
                                 f'{", ".join(known) or "no number at all"}. Remove it, or name '
                                 f'the fault that it belongs to')
        for name in needs:
            if getattr(self, name) is None:
                raise ValueError(f'{name}: missing, {self.kind} needs it')
        if self.kind == 'wrong_modality' and self.how != 'units' and self.factor is not None:
            raise ValueError(f'factor: got it with how: {self.how}, expected it with how: units')
        for name, nothing in (('offset', 0), ('factor', 1), ('frame', None)):
            if getattr(self, name) == nothing and nothing is not None:
                raise ValueError(f'{name}: got {nothing}, which changes nothing, expected '
                                 f'another number')
        if self.kind == 'foreign_clock' and not self.offset_s and not self.drift_ppm:
            raise ValueError('offset_s: got 0 without drift_ppm, which changes nothing, expected '
                             'one of them')
        return self

    @property
    def is_of_time(self) -> bool:
        """Whether it decides when a message arrives, and never looks at it."""
        return self.kind in OF_TIME

    def number(self, name: str) -> Any:
        value = getattr(self, name)
        return _TAKES.get(self.kind, {}).get(name) if value is None else value

    def __str__(self) -> str:
        numbers = ', '.join(f'{name} {value}' for name, value in self.given.items())
        return f'{self.kind} ({numbers})' if numbers else self.kind
