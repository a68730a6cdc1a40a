# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Who falls in another simulator: one who lies takes the place of one who stood; pure."""

from dataclasses import dataclass

from safety_scenarios.ros.worlds.external.bodies import Model, model_of
from safety_scenarios.scenario.world.body import Body


@dataclass
class Fall:
    """A person who falls: while one of the two bodies is there, the other one is kept here."""

    body: Model
    after_ns: int
    """After the person has appeared, when who falls is in the way as one who lies (ns)."""
    name: str = ''
    """Of the model of the body that is kept."""
    due_ns: int = 0
    is_down: bool = False
    faces: float | None = None
    """Where the person looked when appearing, across which he or she will lie (rad)."""

    def swap(self, name: str, body: Model) -> tuple[str, Model]:
        """Keep this one, and return the other: name of its model, and body."""
        self.is_down = not self.is_down
        found = self.name, self.body
        self.name, self.body = name, body
        return found


def fall_of(body: Body, is_seen: bool) -> Fall | None:
    """Return how a body falls; None: it does not, or lies already when it appears."""
    if body.fall is None or body.fall.after_s is None:
        return None
    return Fall(model_of(body, body.fall.solid, is_seen), round(body.fall.after_s * 1e9))
