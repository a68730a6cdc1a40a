# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What a picture of a trial shows: where everything was, moment by moment, and its result."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
import math
from typing import Literal, NamedTuple

from safety_scenarios.scenario.verdict import Verdict

Point = tuple[float, float]
Phase = Literal['nominal', 'hazard', 'after']
Kind = Literal['person', 'thing', 'robot']
"""As what a body is drawn; each has a colour of its own."""
CALLED: Mapping[Kind, str] = {'person': 'person', 'thing': 'thing', 'robot': 'other robot'}
"""What a body is called that has no label of its own, in the order of a legend."""


class Robot(NamedTuple):
    """Where the robot under test was (m, rad; frame ``world``)."""

    x: float
    y: float
    heading: float
    speed: float | None
    """Over ground, of an arm that of its tool (m/s); None: it is not known."""
    tool: Point | None = None
    """Of an arm: its tool, seen from above."""

    @property
    def place(self) -> Point:
        """Return what moves: the tool of an arm, else the base."""
        return (self.x, self.y) if self.tool is None else self.tool


class Body(NamedTuple):
    """A person, another robot or a thing at one moment."""

    name: str
    kind: Kind
    x: float
    y: float
    heading: float
    radius: float | None
    """Of round things (m)."""
    outline: tuple[Point, ...] = ()
    """Corners of what is not round, about its own origin (m)."""

    gap: float | None = None
    """To the robot, between the closest points of both (m); negative: they overlap. None: it is
    not known, or it is not judged."""
    label: str = ''
    """What pictures call it; empty: as all of its kind."""
    above: float = 0.0
    """Of its lower side above the floor (m)."""
    height: float | None = None
    """From its lower to its upper side (m); None: it is not known."""
    is_scenery: bool = False
    """Whether it is a wall or a door of the scene, to which no distance is judged."""

    @property
    def called(self) -> str:
        return self.label or CALLED[self.kind]

    @property
    def corners(self) -> tuple[Point, ...]:
        """Return the outline in the world."""
        return turned(self.outline, self.x, self.y, self.heading)


class Frame(NamedTuple):
    """One moment."""

    t_s: float
    """After the scene's zero."""
    phase: Phase
    robot: Robot
    bodies: tuple[Body, ...]
    gap: float | None
    """The least since the moment before (m)."""
    required: float | None
    """The protective separation distance S_p at the robot's speed (m)."""
    distance: float | None = None
    """From the nearest body, by the terms of ``ros.separation`` (m)."""
    commanded: float | None = None
    """The robot's speed in the last command, in the unit of its signal; for live views alone."""


@dataclass(frozen=True, slots=True)
class Scenery:
    """A wall or a box that does not move."""

    corners: tuple[Point, ...]
    is_glass: bool = False


@dataclass(frozen=True)
class Least:
    """The moment at which the gap was least."""

    gap: float
    t_s: float


@dataclass(frozen=True)
class Figures:
    """The numbers of a scene that its result has too."""

    reaction_s: float | None = None
    """When, on the scene's axis."""
    reaction_ms: float | None = None
    """How long it took, as it is judged."""
    reaction: str = ''
    """The same in words, also where there was none; empty: none was asked for."""
    least: Least | None = None


@dataclass(frozen=True)
class Scene:
    """All that a picture of one trial shows."""

    trial_id: str
    title: str
    controller: str
    verdict: Verdict
    reason: str
    frames: tuple[Frame, ...]
    figures: Figures
    source: str
    """Where poses and gaps come from, in words."""
    is_predicted: bool
    """Whether they are predicted, because no world reported them."""
    has_onset: bool
    """Whether zero is the onset; else the trial's beginning."""
    begin_s: float
    end_s: float
    all_clear_s: float | None
    """None: it never came."""
    footprint: float
    """Radius of a base (m); of an arm 0."""
    is_benign: bool = False
    """Whether what happens from zero on is harmless."""
    notes: tuple[str, ...] = ()
    """What whoever looks at it has to know, such as that the record is damaged."""
    facts: tuple[str, ...] = ()
    """What else its result says of the world."""
    scenery: tuple[Scenery, ...] = ()
    route: tuple[Point, ...] = ()
    commanded: tuple[tuple[float, float], ...] = ()
    """(s, m/s), each held until the next: what was asked of a base."""

    @cached_property
    def times(self) -> Sequence[float]:
        """Return the time of each frame."""
        return [frame.t_s for frame in self.frames]

    def at(self, t_s: float) -> Frame:
        """Return the frame in force at a time; the first one before it begins."""
        return self.frames[max(0, bisect_right(self.times, t_s + 1e-9) - 1)]

    def called(self, phase: Phase) -> str:
        return {'nominal': 'nominal', 'after': 'after the all-clear',
                'hazard': 'harmless event' if self.is_benign else 'hazard'}[phase]

    @property
    def first(self) -> Frame:
        """Return the first moment from zero on: what appears at the onset is there from then."""
        return next((frame for frame in self.frames if frame.t_s >= 0.0), self.frames[-1])

    @property
    def standstill_s(self) -> float | None:
        """When the robot first stands after the reaction, None without one."""
        since = self.figures.reaction_s
        return None if since is None else next(
            (frame.t_s for frame in self.frames if frame.t_s >= since
             and frame.robot.speed is not None and frame.robot.speed <= STANDS), None)

    @property
    def window(self) -> tuple[float, float]:
        """Return the part that tells what happened: some seconds about the hazard."""
        until = self.end_s if self.all_clear_s is None else self.all_clear_s + AFTER_S
        return max(self.begin_s, -BEFORE_S), min(self.end_s, until)

    @property
    def shows_least(self) -> bool:
        """Whether the least gap is in that part."""
        begin, end = self.window
        return self.figures.least is not None and begin <= self.figures.least.t_s <= end

    @property
    def decisive(self) -> Frame:
        """Return the moment at which the gap is least; if that is not seen, the hazard's last."""
        if self.figures.least is not None and self.shows_least:
            return self.at(self.figures.least.t_s)
        last = [frame for frame in self.frames if frame.phase == 'hazard'] or self.frames
        return last[-1]


def turned(points: Iterable[Point], x: float, y: float, heading: float) -> tuple[Point, ...]:
    """Return points about an origin as points in the world, in which it lies turned."""
    cos, sin = math.cos(heading), math.sin(heading)
    return tuple((x + a * cos - b * sin, y + a * sin + b * cos) for a, b in points)


STANDS = 0.01
"""Slower a robot counts as standing here (m/s)."""
BEFORE_S, AFTER_S = 2.0, 2.0
"""How much of the time before the onset, and after the all-clear, a picture shows."""
