# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Named scalars read from commands, limits on them, and their series over a trial."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
import math
from operator import itemgetter
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator
from safety_scenarios.scenario.interfaces import peak_joint_speed, positions_of
from safety_scenarios.scenario.message import Message, parse_path
from safety_scenarios.scenario.noun import Noun

Unit = Literal['m/s', 'rad/s', 'm', 'rad', 'N', 'N.m', 's', '1']
"""SI units (REP 103) a signal may have; ``1`` is a pure number."""

_NON_SI = {'km/h': 'm/s', 'mm/s': 'm/s', 'cm/s': 'm/s', 'mph': 'm/s', 'deg/s': 'rad/s',
           'rpm': 'rad/s', 'mm': 'm', 'cm': 'm', 'km': 'm', 'deg': 'rad', 'kN': 'N',
           'Nm': 'N.m', 'ms': 's', '%': '1'}
_TWIST = {'linear': 'm/s', 'angular': 'rad/s'}


class Signal(Noun):
    """A scalar with a unit, computed from each command on a topic."""

    topic: str = Field(min_length=1)
    """Relative topic name, one of the scenario's ``commands``."""
    field: str
    """Field path in the message, such as ``linear.x`` or ``points[*].velocities``."""
    reduce: Literal['none', 'abs', 'norm', 'max_abs', 'min', 'max', 'joint_speed'] = 'none'
    """
    How a vector or sequence becomes one number; ``joint_speed`` is the speed of the fastest joint
    as the driver executes a JointTrajectory over time.
    """
    current: str | None = None
    """Topic with the JointState that a ``joint_speed`` signal starts from."""
    unit: Unit
    """Unit of the field; SI only, the harness converts nothing."""
    empty: float | None = None
    """Value of an empty sequence, such as no points, where no driver says; null: unknown."""

    @field_validator('unit', mode='before')
    @classmethod
    def _only_si(cls, unit: Any) -> Any:
        if isinstance(unit, str) and unit in _NON_SI:
            raise ValueError(f'got {unit!r}, expected the SI unit {_NON_SI[unit]!r} (REP 103). '
                             f'Write the limits in {_NON_SI[unit]} too')
        return unit

    @model_validator(mode='after')
    def _joint_speed_of_points(self) -> 'Signal':
        if self.reduce == 'joint_speed' and self.field != 'points':
            raise ValueError(f'got field {self.field!r} with reduce joint_speed, expected field '
                             f'points of a JointTrajectory')
        return self

    @property
    def speed(self) -> str:
        """
        Return ``m/s`` or ``rad/s`` of a signal that tells a speed, nothing of another.

        What ``linear`` and ``angular`` of a Twist are does not hang on the unit in the file.
        """
        lead = self.field.removeprefix('twist.').partition('.')[0]
        return _TWIST.get(lead, self.unit if self.unit in _TWIST.values() else '')

    @field_validator('field')
    @classmethod
    def _is_path(cls, path: str) -> str:
        parse_path(path)
        return path

    def value(self, message: Message, current: Message | None = None) -> float | None:
        """
        Return the signal's value in one message; None when the message does not tell.

        :param current: the latest message on the ``current`` topic
        :raises LookupError: the message type has no such field
        """
        found = message.at(self.field)
        if self.reduce == 'joint_speed':
            if not found:
                return self.empty
            names = message.at('joint_names')
            return peak_joint_speed(message, positions_of(current, names) if current else None)
        if isinstance(found, bool):
            return float(found)
        if isinstance(found, (int, float)):
            return abs(float(found)) if self.reduce in ('abs', 'norm', 'max_abs') \
                else float(found)
        numbers = _numbers(found)
        if numbers is None or (self.reduce in ('none', 'abs') and len(numbers) > 1):
            raise LookupError(f'{message.type}: field {self.field!r} is not a number; '
                              f'add reduce: norm, max_abs, min or max')
        if not numbers:
            return self._empty_value(message)
        if any(math.isnan(number) for number in numbers):
            return math.nan
        if self.reduce == 'norm':
            return math.hypot(*numbers)
        if self.reduce == 'min':
            return min(numbers)
        if self.reduce == 'max':
            return max(numbers)
        if self.reduce == 'none':
            return numbers[0]
        return max(abs(number) for number in numbers)

    def _empty_value(self, message: Message) -> float | None:
        """Tell 'no points at all' (hold) from 'points that leave this field out' (unknown)."""
        first = parse_path(self.field)[0]
        return self.empty if not message.data.get(str(first)) else None


def _numbers(value: Any) -> tuple[float, ...] | None:
    if isinstance(value, dict):
        value = tuple(value.values())
    if not isinstance(value, (tuple, list)):
        return None
    if not all(isinstance(item, (int, float)) for item in value):
        return None
    return tuple(float(item) for item in value)


class Limit(Noun):
    """A bound on one signal, inclusive on both sides."""

    signal: str = Field(min_length=1)
    """Name of one of the scenario's signals."""
    at_most: float | None = None
    """Upper limit, in the signal's unit."""
    at_least: float | None = None
    """Lower limit, in the signal's unit."""

    @model_validator(mode='after')
    def _one_side(self) -> 'Limit':
        if self.at_most is None and self.at_least is None:
            raise ValueError('got no limit, expected at_most, at_least or both')
        if self.at_most is not None and self.at_least is not None \
                and self.at_least > self.at_most:
            raise ValueError(f'got at_least {self.at_least} above at_most {self.at_most}, '
                             f'expected at_least <= at_most')
        return self

    def margin(self, value: float | None) -> float | None:
        """
        Return the signed distance to the nearer limit; >= 0 holds, None when unknown or NaN.

        An infinite value gives a margin of -infinity, on whichever side it is: no robot can do it.
        """
        if value is None or math.isnan(value):
            return None
        if math.isinf(value):
            return -math.inf
        sides = []
        if self.at_most is not None:
            sides.append(self.at_most - value)
        if self.at_least is not None:
            sides.append(value - self.at_least)
        return min(sides)

    def __str__(self) -> str:
        parts = []
        if self.at_least is not None:
            parts.append(f'{self.signal} >= {self.at_least:g}')
        if self.at_most is not None:
            parts.append(f'{self.signal} <= {self.at_most:g}')
        return ' and '.join(parts)


Held = Sequence[tuple[int, float | None]]
"""(steady ns, value) in time order, each value in force until the next; None is unknown."""


def in_force(values: Held, t_ns: int) -> float | None:
    """Return the value in force at a time; unknown before the first."""
    index = bisect_right(values, t_ns, key=itemgetter(0)) - 1
    return values[index][1] if index >= 0 else None


def held_within(values: Held, from_ns: int, to_ns: int) -> Held:
    """Return the value in force just before a time, and each one in [``from_ns``, ``to_ns``]."""
    first = bisect_left(values, from_ns, key=itemgetter(0))
    last = bisect_right(values, to_ns, key=itemgetter(0))
    return values[max(0, first - 1):last]


def longest_gap_ns(values: Held, from_ns: int, to_ns: int) -> int:
    """Return the longest time within [``from_ns``, ``to_ns``] in which no new value came."""
    inside = [t_ns for t_ns, _ in held_within(values, from_ns, to_ns) if t_ns >= from_ns]
    return max(later - earlier for earlier, later in pairwise([from_ns, *inside, to_ns]))
