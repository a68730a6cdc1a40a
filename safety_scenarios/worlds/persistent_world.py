# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is asked of a world without a trial: it lives until emptied, and others move its bodies."""

from collections.abc import Sequence
from typing import Protocol

from safety_scenarios.scenario.world_body import Placed, Solid

ROBOT = 'robot'
"""Name of the robot as an entity."""
ROOM = 24
"""Bodies that may be there at a time."""
FARTHEST_M = 10_000.0
"""Nothing is put farther away from the origin."""
FASTEST = 20.0
"""No base is made to go faster than this (m/s, rad/s)."""
Moved = tuple[float, float, float]
"""m/s along x and y of the frame ``world``, rad/s."""


class PersistentWorld(Protocol):
    """Robot, scene and sensors of a scenario, and room for bodies instead of its stimuli."""

    @property
    def has_room(self) -> bool:
        """Whether one more body may come."""

    def names(self) -> Sequence[str]:
        """Return who is there: the robot, then what was spawned, in order."""

    def where(self, name: str) -> tuple[Placed, Moved]:
        """
        Return where an entity is, and how it moves, in the frame ``world``.

        :raises KeyError: there is none of that name
        """

    def spawn(self, name: str, solid: Solid, place: Placed) -> None:
        """
        Let a body come.

        :param name: which nobody has yet; there is room for one more
        :raises InputError: it would be inside of something
        """

    def delete(self, name: str) -> None:
        """Let a body go that was spawned."""

    def put(self, name: str, place: Placed | None, moved: Moved | None) -> None:
        """
        Let an entity be somewhere else, or move otherwise, at once; None: as it is.

        :raises InputError: it would be inside of something, or is one that does not move by
            itself; nothing is changed then
        """

    def begin_again(self) -> None:
        """
        Let the robot stand at its start, and each body where it was spawned.

        :raises InputError: the robot would be inside of a body; nothing is changed then
        """
