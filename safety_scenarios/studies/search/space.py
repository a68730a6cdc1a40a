# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What differs between the trials of a scenario, as a space with one axis for each draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
import json
from typing import Any

import numpy
from numpy.typing import NDArray
from safety_scenarios.errors import did_you_mean, InputError
from safety_scenarios.scenario.blocks.vary import Draw, steps_to
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.scenario import Scenario

Point = NDArray[numpy.float64]
"""One number for each axis: 0 to 1 on a range, the index of the value on a choice."""
ONSET, PHASE = 'onset_ms', 'onset_phase'
"""Axes of every hazard: when it comes, and where in the controller's period."""


@dataclass(frozen=True)
class Axis:
    """One draw: ranges, or values to choose from."""

    name: str
    ranges: tuple[tuple[float, float], ...] = ()
    """Each as likely; one that is named twice is twice as likely."""
    choices: tuple[Any, ...] = ()
    """Each as likely; one that is named twice is twice as likely."""
    unit: str | None = None
    nominal: Any = None
    """What the file says without the draw; None: that is none of its values."""

    @cached_property
    def values(self) -> tuple[Any, ...]:
        """Return the different values of a choice."""
        found: list[Any] = []
        for value in self.choices:
            if value not in found:
                found.append(value)
        return tuple(found)

    @property
    def size(self) -> int:
        """Return how many values there are to choose from; 0 for a range."""
        return len(self.values)

    @cached_property
    def extent(self) -> tuple[float, float]:
        """Return least and most of all ranges."""
        return min(low for low, _ in self.ranges), max(high for _, high in self.ranges)

    def of_share(self, share: float) -> float:
        """
        Return the coordinate below which this share of the declared distribution lies.

        Of several ranges the shares follow each other in the order of the file.
        """
        parts = self.choices or self.ranges
        place = min(int(share * len(parts)), len(parts) - 1)
        if self.choices:
            return float(self.values.index(self.choices[place]))
        low, high = self.ranges[place]
        return self.coordinate(low + (share * len(parts) - place) * (high - low))

    def coordinate(self, value: Any) -> float:
        """Return the coordinate of a value."""
        if self.choices:
            return float(self.values.index(value))
        low, high = self.extent
        return (float(value) - low) / (high - low)

    def value(self, coordinate: float) -> Any:
        """Return the value at a coordinate."""
        if self.choices:
            return self.values[int(coordinate)]
        low, high = self.extent
        return min(max(low + coordinate * (high - low), low), high)

    def snapped(self, coordinate: float) -> float:
        """Return the nearest coordinate that the draw can take."""
        if self.choices:
            return float(min(max(int(coordinate), 0), self.size - 1))
        value = self.value(coordinate)
        return self.coordinate(min((min(max(value, low), high) for low, high in self.ranges),
                                   key=lambda inside: abs(inside - value)))

    @cached_property
    def middle(self) -> float:
        """Return the coordinate that is taken as ordinary: the file's value, else the middle."""
        if self.choices:
            return float(self.values.index(self.nominal)) if self.nominal in self.values else 0.0
        low, high = self.extent
        inside = isinstance(self.nominal, (int, float)) and low < self.nominal < high
        return self.snapped(self.coordinate(self.nominal) if inside else 0.5)

    def text(self, coordinate: float) -> str:
        """Return the value at a coordinate for people."""
        value = self.value(coordinate)
        shown = f'{value:.4g}' if isinstance(value, float) else \
            ' + '.join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
        return f'{shown} {self.unit}' if self.unit else shown


@dataclass(frozen=True)
class Space:
    """Every axis of a scenario, in the order of their names."""

    axes: tuple[Axis, ...]

    @cached_property
    def sizes(self) -> NDArray[numpy.intp]:
        """Return how many values each axis has; 0 for a range."""
        return numpy.array([axis.size for axis in self.axes], numpy.intp)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the axes."""
        return tuple(axis.name for axis in self.axes)

    @cached_property
    def middle(self) -> Point:
        """Return the point at which every draw is ordinary."""
        return numpy.array([axis.middle for axis in self.axes])

    def of_shares(self, shares: Sequence[float] | Point) -> Point:
        """Return the point at shares of the declared distributions, one for each axis."""
        return numpy.array([axis.of_share(float(share))
                            for axis, share in zip(self.axes, shares, strict=True)])

    def random(self, chance: numpy.random.Generator) -> Point:
        """Return a point as a campaign draws it."""
        return self.of_shares(chance.random(len(self.axes)))

    def snapped(self, point: Point) -> Point:
        """Return the nearest point that can be drawn."""
        return numpy.array([axis.snapped(float(one)) for axis, one in zip(self.axes, point)])

    def values(self, point: Point) -> dict[str, Any]:
        """Return the value of each axis at a point."""
        return {axis.name: axis.value(float(one)) for axis, one in zip(self.axes, point)}

    def text(self, point: Point, places: Sequence[int] | None = None) -> str:
        """Return a point for people, or some of its coordinates."""
        chosen = range(len(self.axes)) if places is None else places
        return ', '.join(f'{self.axes[place].name} {self.axes[place].text(float(point[place]))}'
                         for place in chosen)

    def axis(self, name: str) -> int:
        """
        Return the place of an axis.

        :raises InputError: there is none of this name
        """
        if name not in self.names:
            raise InputError(f'axes: got {name!r}, expected one of {", ".join(self.names)}.'
                             f'{did_you_mean(name, list(self.names))}')
        return self.names.index(name)


def space_of(scenario: Scenario) -> Space:
    """
    Return the space of a scenario: its draws, when its hazard comes, and at what phase.

    :raises InputError: nothing differs between its trials
    """
    body = scenario.body
    axes = [_axis(scenario, name, draw) for name, draw in body.vary.items()]
    if isinstance(body, RobotBody) and not scenario.is_monitor:
        first, last = body.nominal.duration_ms
        if first < last and ONSET not in body.vary:
            axes.append(Axis(ONSET, ((first, last),), unit='ms'))
        if PHASE not in body.vary:
            axes.append(Axis(PHASE, ((0.0, 1.0),)))
    if not body.vary:
        raise InputError(f'{scenario.id}: got a scenario in which nothing is drawn, expected '
                         f'ros.vary. Add the ranges to search, such as near: {{range: [0.6, '
                         f'1.8], sets: ["ros.stimuli[0].distance"]}}')
    return Space(tuple(sorted(axes, key=lambda axis: axis.name)))


def _axis(scenario: Scenario, name: str, draw: Draw) -> Axis:
    ranges = draw.ranges or (() if draw.range is None else (draw.range,))
    return Axis(name, tuple(ranges), tuple(draw.choice or ()), draw.unit, _nominal(scenario, draw))


def _nominal(scenario: Scenario, draw: Draw) -> Any:
    """Return what the file says where the draw puts its value; None: it keeps stimuli."""
    if not draw.sets:
        return max(draw.choice or (), key=len, default=None)  # every sensor at work
    found: Any = scenario.body
    for step in steps_to(draw.sets[0])[1:]:
        found = found[step] if isinstance(step, int) or isinstance(found, Mapping) \
            else getattr(found, str(step))
    return found


def key_of(values: Mapping[str, Any], seed: int) -> str:
    """Return a text that tells one world from all others, to look it up in a log."""
    return json.dumps({'seed': seed, 'values': values}, sort_keys=True, default=list)
