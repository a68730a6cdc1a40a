# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""How fast a simulator lets time pass: absolute deadlines, kept or given up; without ROS."""

_PATIENCE_NS = 5_000_000
"""A simulator this late catches up; later than that it lets the time go, and so is slower."""


class RealTime:
    """
    Simulated time at a factor of real time.

    It never runs faster than its factor for longer than a moment: what a busy host has taken is
    lost, so that no controller has to think faster afterwards than it was told.

    :param factor: simulated seconds in a real one
    :param begin_ns: simulated
    :param now_ns: steady clock
    """

    def __init__(self, factor: float, begin_ns: int, now_ns: int) -> None:
        self.factor = factor
        self._begin_ns, self._began_ns = begin_ns, now_ns
        self.lost_ns = 0

    def due_ns(self, simulated_ns: int) -> int:
        """Return the steady time at which a simulated time is due."""
        return self._began_ns + round((simulated_ns - self._begin_ns) / self.factor)

    def at(self, now_ns: int) -> int:
        """Return the simulated time that is due at a steady time."""
        return self._begin_ns + round((now_ns - self._began_ns) * self.factor)

    def reached(self, simulated_ns: int, now_ns: int) -> None:
        """Take note of what was reached when: a simulator that is far behind goes on from here."""
        late_ns = now_ns - self.due_ns(simulated_ns)
        if late_ns > _PATIENCE_NS:
            self._began_ns += late_ns
            self.lost_ns += late_ns
