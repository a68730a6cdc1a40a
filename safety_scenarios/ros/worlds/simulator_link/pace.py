# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How fast a simulator lets time pass: absolute deadlines, kept or given up; without ROS."""

_PATIENCE_NS = 5_000_000
"""A simulator this late catches up at once."""
CATCHES_UP = 1.1
"""What it is later than that, it makes up for at no more than this times its factor, or at real
time where that is faster: nobody has to think faster afterwards than he was told."""
_MOST_NS = 1_000_000_000
"""What a host has taken beyond that is lost."""


class RealTime:
    """
    Simulated time at a factor of real time.

    :param factor: simulated seconds in a real one
    :param begin_ns: simulated
    :param now_ns: steady clock
    """

    def __init__(self, factor: float, begin_ns: int, now_ns: int) -> None:
        self.factor = factor
        self._begin_ns, self._began_ns = begin_ns, now_ns
        self._reached_ns = now_ns
        self._behind_ns = 0

    def due_ns(self, simulated_ns: int) -> int:
        """Return the steady time at which a simulated time is due."""
        return self._began_ns + round((simulated_ns - self._begin_ns) / self.factor)

    def at(self, now_ns: int) -> int:
        """Return the simulated time that is due at a steady time."""
        return self._begin_ns + round((now_ns - self._began_ns) * self.factor)

    def reached(self, simulated_ns: int, now_ns: int) -> None:
        """Take note of what was reached when: whoever is far behind catches up bit by bit."""
        late_ns = now_ns - self.due_ns(simulated_ns)
        passed_ns, self._reached_ns = now_ns - self._reached_ns, now_ns
        if late_ns > _PATIENCE_NS:
            self._began_ns += late_ns
            self._behind_ns = min(_MOST_NS, self._behind_ns + late_ns)
        elif self._behind_ns:
            faster = max(1.0, CATCHES_UP * self.factor) / self.factor
            made_up_ns = min(self._behind_ns, round(passed_ns * (faster - 1.0)))
            self._began_ns -= made_up_ns
            self._behind_ns -= made_up_ns
