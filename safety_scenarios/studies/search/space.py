# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What differs between the trials of a scenario, how much was looked at, and what they came to.

The share of pairs of values that occurred together (t-way coverage, Kuhn 2013; a range counts as
four parts), the largest part of the ranges without any trial, and, of trials that were drawn as
the file declares, an upper bound on the share that fails. A searched trial bounds nothing.

Margins of different checks have different units and sizes. Each is divided by the median of what
that check had in trials that held it; a check whose margin never differs tells nothing and is
left out until it fails. A trial that is INCONCLUSIVE or ERROR has no score at all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
import json
from typing import Any

import numpy
from numpy.typing import NDArray
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.errors import did_you_mean, InputError
from safety_scenarios.scenario.blocks.vary import Draw, steps_to
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Estimate, Verdict

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

    def coordinate_at(self, share: float) -> float:
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

    def point_at(self, shares: Sequence[float] | Point) -> Point:
        """Return the point at shares of the declared distributions, one for each axis."""
        return numpy.array([axis.coordinate_at(float(share))
                            for axis, share in zip(self.axes, shares, strict=True)])

    def random(self, chance: numpy.random.Generator) -> Point:
        """Return a point as a campaign draws it."""
        return self.point_at(chance.random(len(self.axes)))

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
    in_texts = [name for name, draw in body.vary.items() if draw.is_in_text]
    if in_texts:
        raise InputError(f'{scenario.id}: got draws of texts: {", ".join(in_texts)}, expected '
                         f'those of a robot. Run more trials: campaign conditions shows with '
                         f'which texts they fail')
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


_PARTS = 4
"""Of a range, each as one value."""
_CENTRES, _SEED = 256, 20
"""Where a largest empty part is looked for; the seed of these points is part of the method."""


@dataclass(frozen=True)
class Gap:
    """A part of the space without a trial."""

    radius: float
    """Of the largest ball in which no trial lies, in shares of a range, over the ranges alone."""
    low: Point
    high: Point
    """Corners of a box without a trial."""
    volume: float
    """Of the box, as a share of the ranges: the largest empty box has at least that."""


@dataclass(frozen=True)
class Coverage:
    """How much of a space some trials have looked at."""

    trials: int
    """That were decided."""
    pairs_seen: int
    pairs: int
    """Of two values of two draws; a range counts as four values."""
    values_seen: int
    values: int
    gap: Gap | None
    """None: the space has no range."""
    drawn: int
    """Trials that were drawn as the file declares."""
    failing: Estimate | None
    """Share of failures under the declared distribution; None: no trial was drawn from it."""


def cover(space: Space, points: Sequence[Point], drawn: int = 0, failed: int = 0) -> Coverage:
    """
    Return how much of a space points cover.

    :param points: of trials that were decided
    :param drawn: how many trials were drawn from the declared distribution, by no search
    :param failed: how many of those failed
    """
    cells = _cells(space, points)
    sizes = [axis.size or _PARTS for axis in space.axes]
    pairs_seen = sum(len({(row[one], row[other]) for row in cells})
                     for one, other in combinations(range(len(sizes)), 2))
    return Coverage(
        len(points), pairs_seen,
        sum(one * other for one, other in combinations(sizes, 2)),
        sum(len({row[place] for row in cells}) for place in range(len(sizes))), sum(sizes),
        _largest_gap(space, points), drawn,
        clopper_pearson(failed, drawn, sided='upper') if drawn else None)


def _cells(space: Space, points: Sequence[Point]) -> list[tuple[int, ...]]:
    return [tuple(int(one) if axis.size else min(int(one * _PARTS), _PARTS - 1)
                  for axis, one in zip(space.axes, point)) for point in points]


def _largest_gap(space: Space, points: Sequence[Point]) -> Gap | None:
    ranges = numpy.flatnonzero(space.sizes == 0)
    if not len(ranges):
        return None
    known = numpy.array([point[ranges] for point in points]).reshape(len(points), len(ranges))
    centres = numpy.random.default_rng(_SEED).random((_CENTRES, len(ranges)))
    if not len(points):
        whole = numpy.ones(len(ranges))
        return Gap(float(numpy.linalg.norm(whole) / 2), 0 * whole, whole, 1.0)
    near = numpy.sqrt(((centres[:, None, :] - known[None]) ** 2).sum(2)).min(1)
    boxes = [_empty_box(centre, known) for centre in centres]
    volumes = [float(numpy.prod(high - low)) for low, high in boxes]
    widest = int(numpy.argmax(volumes))
    low, high = boxes[widest]
    return Gap(float(near.max()), low, high, volumes[widest])


def _empty_box(centre: NDArray[numpy.float64], points: NDArray[numpy.float64]) \
        -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Return a box around a centre without a point inside.

    It begins as the whole; the point inside that is cut away at the least cost goes first.
    """
    low, high = numpy.zeros(len(centre)), numpy.ones(len(centre))
    inside = points
    while True:
        inside = inside[((inside > low) & (inside < high)).all(1)]
        if not len(inside):
            return low, high
        nearest = inside[numpy.abs(inside - centre).max(1).argmin()]
        left = numpy.where(nearest > centre, (nearest - low) / (high - low),
                           (high - nearest) / (high - low))
        axis = int(left.argmax())  # what is left of the box if this side moves to the point
        if nearest[axis] > centre[axis]:
            high[axis] = nearest[axis]
        else:
            low[axis] = nearest[axis]


Scores = NDArray[numpy.float64]
_FLAT = 1e-6
"""Spread of a margin, as a share of its size, below which it tells nothing."""
_EDGE = 1e-9
"""A margin of exactly 0 is on the side that the verdict says."""
NO_NUMBER = 1.0
"""Margin of a check that holds or fails, and has no number."""


@dataclass(frozen=True)
class Outcome:
    """What one trial came to."""

    verdict: Verdict
    margins: Mapping[str, float] = field(default_factory=dict)
    """Check to its signed margin, in the check's own unit; of checks that were decided."""
    reason: str = ''

    @property
    def is_decided(self) -> bool:
        """Whether the trial passed or failed."""
        return self.verdict in (Verdict.PASS, Verdict.FAIL)

    @property
    def is_failure(self) -> bool:
        """Whether the trial failed."""
        return self.verdict is Verdict.FAIL

    @property
    def failed(self) -> frozenset[str]:
        """Return the checks that failed."""
        return frozenset(check for check, margin in self.margins.items() if margin < 0) \
            if self.is_failure else frozenset()


def outcome_of(result: TrialResult) -> Outcome:
    """Return what a trial came to; a check that was not decided has no margin."""
    margins: dict[str, float] = {}
    for finding in result.findings:
        if finding.verdict is Verdict.FAIL:
            margin = min(-NO_NUMBER if finding.margin is None else finding.margin, -_EDGE)
        elif finding.verdict is Verdict.PASS:
            margin = max(NO_NUMBER if finding.margin is None else finding.margin, _EDGE)
        else:
            continue
        margins[finding.check] = min(margin, margins.get(finding.check, margin))
    return Outcome(result.verdict, margins, result.reason)


class Scales:
    """
    What margins are divided by, from the trials that are known.

    :ivar checks: those that tell something, in the order of their names
    """

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        found: dict[str, list[float]] = {}
        for outcome in outcomes:
            if outcome.is_decided:
                for check, margin in outcome.margins.items():
                    found.setdefault(check, []).append(margin)
        self._by_check: dict[str, float] = {}
        for check, margins in sorted(found.items()):
            values = numpy.array(margins)
            held = values[values > 0]
            scale = float(numpy.median(held)) if len(held) else float(numpy.median(-values))
            if float(numpy.ptp(values)) > _FLAT * scale or values.min() < 0:
                self._by_check[check] = max(scale, _EDGE)
        self.checks = tuple(self._by_check)

    def row(self, outcome: Outcome) -> Scores:
        """Return the scores of a trial by check; NaN: not decided in it."""
        if not outcome.is_decided:
            return numpy.full(len(self.checks), numpy.nan)
        return numpy.array([outcome.margins.get(check, numpy.nan) / scale
                            for check, scale in self._by_check.items()])

    def score(self, outcome: Outcome) -> float:
        """
        Return the least score of a trial: below 0 exactly for FAIL; NaN: not decided.

        A trial that passes and in which no check tells anything has the score 1.
        """
        if not outcome.is_decided:
            return float('nan')
        row = self.row(outcome)
        known = row[~numpy.isnan(row)]
        if outcome.is_failure:
            return min(float(known.min(initial=-_EDGE)), -_EDGE)
        return max(float(known.min()), _EDGE) if len(known) else NO_NUMBER


class History:
    """Points that were tried, in order, and what they came to."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.outcomes: list[Outcome] = []

    def __len__(self) -> int:
        return len(self.points)

    def add(self, point: Point, outcome: Outcome) -> None:
        """Take one more trial."""
        self.points.append(point)
        self.outcomes.append(outcome)

    @property
    def decided(self) -> int:
        """Return how many trials passed or failed."""
        return sum(outcome.is_decided for outcome in self.outcomes)

    @property
    def failures(self) -> list[int]:
        """Return which trials failed, in order."""
        return [place for place, outcome in enumerate(self.outcomes) if outcome.is_failure]

    def scores(self) -> Scores:
        """Return the score of each trial; NaN: not decided."""
        scales = Scales(self.outcomes)
        return numpy.array([scales.score(outcome) for outcome in self.outcomes])

    def by_check(self) -> tuple[tuple[str, ...], Scores]:
        """Return the checks that tell something, and the scores: a row a trial."""
        scales = Scales(self.outcomes)
        rows = [scales.row(outcome) for outcome in self.outcomes]
        return scales.checks, numpy.array(rows).reshape(len(rows), len(scales.checks))
