# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A body that a stimulus puts into the world: its geometry, its place, its motion, its look.

Each world builds and moves it, and each picture draws it, by this description alone.
"""

from dataclasses import dataclass
import math
from typing import Literal

from safety_scenarios.scenario.world.footprint import box, disc, Footprint, Placed
from safety_scenarios.scenario.world.motion import Figure, Motion

AWAY = 500.0
"""Where bodies wait until they appear: beyond every sensor (m)."""
SQUARELY = math.radians(10.0)
"""Glass returns a beam that meets it within this of its normal; else the beam goes on (rad)."""
Look = Literal['person', 'robot', 'thing']
"""As what pictures draw it; each has a colour of its own."""
Colour = tuple[float, float, float, float]
"""Red, green, blue and how opaque it is, from 0 to 1, as a camera sees it."""
GREY: Colour = (0.45, 0.45, 0.5, 1.0)
PANE: Colour = (0.6, 0.8, 0.9, 0.3)


@dataclass(frozen=True)
class Solid:
    """An upright cylinder or box, its middle over the origin of its body."""

    kind: Literal['cylinder', 'box']
    length: float
    """Along x; of a cylinder its diameter (m)."""
    width: float
    """Along y; of a cylinder its diameter (m)."""
    height: float
    above: float = 0.0
    """Of its lower side above the floor (m)."""
    is_seen: bool = True
    """Whether scanners and cameras see it; it is touched all the same."""

    @property
    def footprint(self) -> Footprint:
        """Return its outline on the floor."""
        return disc(self.width / 2) if self.kind == 'cylinder' else box(self.length, self.width)


@dataclass(frozen=True)
class Fall:
    """What a body becomes that does not stand upright for good."""

    solid: Solid
    """How it lies, across the direction in which it looked."""
    after_s: float | None
    """When it is in the way as one that lies, after it appeared (s); None: from then on."""


@dataclass(frozen=True)
class Body:
    """One body, as it is when it appears; another package makes its own of the same fields."""

    solid: Solid
    ahead: float
    """Of its middle from the robot's origin when it appears, x (m)."""
    left: float
    """The same, y (m)."""
    motion: Motion = Motion()
    look: Look = 'thing'
    label: str = ''
    """What pictures call it; empty: as its look."""
    colour: Colour = GREY
    mass: float | None = None
    """How hard it is to push away (kg); None: nothing pushes it, and it stands."""
    is_person: bool = False
    """Whether it is one of those whom the robot must not touch, soft as a human body."""
    is_tracked: bool = False
    """Whether a tracker of people shows where it is."""
    is_glass: bool = False
    """Whether a scanner sees it only where a beam meets it squarely."""
    to_face: bool = False
    """Whether its distance is counted to its face along the robot's path, as of a box across it;
    then it is turned as the robot is, and else it looks at the robot."""
    figure: Figure | None = None
    """Of a person: limbs, for a world that has them."""
    fall: Fall | None = None
    unfit: str = ''
    """Why a world of rigid bodies cannot have it: 'a person who reaches, expected ...'; empty: it
    can."""

    def __post_init__(self) -> None:
        if not self.motion.stands and (self.mass is None or self.to_face):
            raise ValueError('motion: got a body that moves, expected one with a mass (kg), whose '
                             'distance is to its middle')
        if self.is_glass and self.solid.kind != 'box':
            raise ValueError('is_glass: got a cylinder, expected a box: a pane is flat')

    @property
    def footprint(self) -> Footprint:
        """Return its outline on the floor as long as it stands; of what lies for good, lying."""
        return self.rigid.footprint

    @property
    def rigid(self) -> Solid:
        """Return what it is for a world of rigid bodies when it appears."""
        return self.fall.solid if self.fall is not None and self.fall.after_s is None \
            else self.solid

    @property
    def radius(self) -> float:
        """Return that of an upright cylinder (m); 0: it is none."""
        return self.solid.width / 2 if self.solid.kind == 'cylinder' else 0.0

    @property
    def depth(self) -> float:
        """Return how far its middle is behind what its distance is counted to (m)."""
        return self.solid.length / 2 if self.to_face else 0.0

    def heading(self, x: float, y: float, robot: Placed) -> float:
        """Return how it is turned when it appears there, before it goes anywhere (rad)."""
        return robot[2] if self.to_face else math.atan2(robot[1] - y, robot[0] - x)

    def distance(self, place: Placed, robot: Placed) -> float:
        """Return how far away it is from the robot's origin at a place (m)."""
        x, y, heading = place
        if self.to_face:
            return ((x - robot[0]) * math.cos(heading) + (y - robot[1]) * math.sin(heading)
                    - self.depth)
        return math.hypot(x - robot[0], y - robot[1])

    def seen_from(self, distance: float) -> Placed:
        """
        Return where it is as seen from the robot when it is so far away, by its stimulus (m).

        It has come straight nearer, or gone straight away, since it appeared. For pictures of
        trials without a world.
        """
        if self.to_face:
            return distance + self.depth, self.left, 0.0
        bearing = math.atan2(self.left, self.ahead)
        return (distance * math.cos(bearing), distance * math.sin(bearing), bearing + math.pi)
