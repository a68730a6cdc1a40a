# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Who falls in another simulator: one who lies takes the place of one who stood; pure."""

from dataclasses import dataclass

from safety_scenarios.ros.worlds.external.bodies import Body, lying
from safety_scenarios.scenario.intent import Intent, PersonAt
from safety_scenarios.worlds.mujoco.entities import FALL_S, FALLEN


@dataclass
class Fall:
    """A person who falls: while one of the two bodies is there, the other one is kept here."""

    body: Body
    after_ns: int
    """After the person has appeared, when who falls is in the way as one who lies (ns)."""
    name: str = ''
    """Of the model of the body that is kept."""
    due_ns: int = 0
    is_down: bool = False
    faces: float | None = None
    """Where the person looked when appearing, across which he or she will lie (rad)."""

    def swap(self, name: str, body: Body) -> tuple[str, Body]:
        """Keep this one, and return the other: name of its model, and body."""
        self.is_down = not self.is_down
        found = self.name, self.body
        self.name, self.body = name, body
        return found


def fall_of(intent: Intent, is_seen: bool) -> Fall | None:
    """Return how who an intent puts there falls; None: nobody falls."""
    if not isinstance(intent, PersonAt) or intent.figure.posture != 'falls':
        return None
    return Fall(lying(intent.figure, is_seen),
                round((intent.figure.after_s + FALLEN * FALL_S) * 1e9))
