# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How fast is fast enough."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.verdict import LatencyClass

LimitName = Literal['target', 'acceptable', 'critical']
MAX_MS = 86_400_000.0
"""One day."""
Milliseconds = Annotated[float, Field(gt=0, le=MAX_MS, json_schema_extra={'unit': 'ms'})]


def _as_range(value: Any) -> Any:
    return (value, value) if isinstance(value, (int, float)) and not isinstance(value, bool) \
        else value


def _or_number(schema: dict[str, Any]) -> None:
    pair = {key: schema.pop(key) for key in ('type', 'prefixItems', 'minItems', 'maxItems')
            if key in schema}
    schema['anyOf'] = [pair, {'type': 'number', 'minimum': 0, 'maximum': MAX_MS}]


def _ascending(value: tuple[float, float]) -> tuple[float, float]:
    if not 0 <= value[0] <= value[1]:
        raise ValueError(f'got {value[0]:g} to {value[1]:g}, expected 0 <= shortest <= longest')
    if value[1] > MAX_MS:
        raise ValueError(f'got {value[1]:g}, expected a number <= {MAX_MS:g} (ms)')
    return value


RangeMs = Annotated[
    tuple[float, float], BeforeValidator(_as_range), AfterValidator(_ascending),
    Field(json_schema_extra=_or_number)]
"""Least and most, or one number for both."""


class LatencyBudget(Noun):
    """How fast is fast enough, in ms from onset to reaction."""

    target_ms: Milliseconds
    """Ideal response time."""
    acceptable_ms: Milliseconds
    """Later than ideal, and still good."""
    critical_ms: Milliseconds
    """Later than this is a violation."""

    @model_validator(mode='after')
    def _ordered(self) -> 'LatencyBudget':
        if not self.target_ms <= self.acceptable_ms <= self.critical_ms:
            raise ValueError(
                f'got {self.target_ms:g}, {self.acceptable_ms:g}, {self.critical_ms:g} ms, '
                f'expected target_ms <= acceptable_ms <= critical_ms. Sort the three')
        return self

    def extended(self, by_ms: float) -> 'LatencyBudget':
        """Return a budget whose limits are later by so much, at most a day."""
        return LatencyBudget(
            target_ms=min(MAX_MS, self.target_ms + by_ms),
            acceptable_ms=min(MAX_MS, self.acceptable_ms + by_ms),
            critical_ms=min(MAX_MS, self.critical_ms + by_ms))

    def limit_ns(self, name: LimitName) -> int:
        """Return one of the three limits in nanoseconds."""
        limits = {'target': self.target_ms, 'acceptable': self.acceptable_ms,
                  'critical': self.critical_ms}
        return round(limits[name] * 1_000_000)

    def classify(self, latency_ns: int | None) -> LatencyClass:
        """
        Return the class of a latency; None (no reaction) is its own class.

        :raises ValueError: a negative latency, which is a broken measurement
        """
        if latency_ns is None:
            return LatencyClass.NO_RESPONSE
        if latency_ns < 0:
            raise ValueError(f'got a latency of {latency_ns} ns, expected >= 0')
        names: tuple[LimitName, ...] = ('target', 'acceptable', 'critical')
        for name in names:
            if latency_ns <= self.limit_ns(name):
                return LatencyClass(name)
        return LatencyClass.VIOLATION
