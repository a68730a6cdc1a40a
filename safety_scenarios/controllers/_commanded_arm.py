# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where the joints of an arm are by what it was told last."""

from safety_scenarios.scenario.interfaces.robot_interfaces import Heard, joint_states, Joints
from safety_scenarios.scenario.message import Message

_NS = 1e-9
_ASTRAY_RAD = 0.1
"""An arm this far from where it was commanded to be did something else: begin from there."""
_FRESH_S = 0.15
"""Nobody knows where an arm is whose joint states are older than this: two periods at 10 Hz."""
_SILENT_S = 0.25
"""Joint states that cease for so long, as between two trials, begin anew."""


class CommandedArm:
    """
    Follows the trajectories that a controller speaks, whose speeds change evenly.

    What joint states tell is always a little old, and aiming by them again and again would make
    the arm swing. They count before the first trajectory, where the arm is far off, and after
    a silence, in which anything may have moved it.
    """

    def __init__(self) -> None:
        self._begin_ns = 0
        self._since_ns = self._received_ns = 0
        self._way: list[tuple[float, Joints]] = []
        """Seconds since the trajectory began, and the joints then."""

    def forget(self, now_ns: int) -> None:
        """Know nothing of the arm but what is heard from a steady time on."""
        self._way, self._since_ns = [], now_ns

    def now(self, heard: Heard, now_ns: int) -> Joints:
        """Return joint to (position, velocity) at a steady time; empty if they are not heard."""
        told = joint_states(heard)
        if not told:
            return {}
        received_ns = heard['joint_states'][0]
        silent_s = (received_ns - self._received_ns) * _NS
        self._received_ns = received_ns
        if received_ns < self._since_ns or (now_ns - received_ns) * _NS > _FRESH_S:
            return {}
        if not self._way or silent_s > _SILENT_S:
            return told
        then = self._at((now_ns - self._begin_ns) * _NS)
        before = self._at((received_ns - self._begin_ns) * _NS)
        astray = any(abs(told[name][0] - before[name][0]) > _ASTRAY_RAD
                     for name in before if name in told)
        return told if astray else {**told, **then}

    def sent(self, message: Message | None, states: Joints, now_ns: int) -> None:
        """
        Take what was spoken; None or another message tells nothing about the joints.

        :param states: where they were
        """
        self._way = []
        data = {} if message is None else message.data
        names = data.get('joint_names', ())
        if not names or any(name not in states for name in names):
            return
        self._begin_ns = now_ns
        self._way = [(0.0, {name: states[name] for name in names})]
        for point in data['points']:
            due = point['time_from_start']
            self._way.append((due['sec'] + due['nanosec'] * _NS, dict(zip(
                names, zip(point['positions'], point['velocities'], strict=True), strict=True))))

    def _at(self, seconds: float) -> dict[str, tuple[float, float]]:
        begin_s, begin = self._way[0]
        for end_s, end in self._way[1:]:
            if seconds < end_s:
                part = (seconds - begin_s) / (end_s - begin_s)
                return {name: _between(begin[name], end[name], max(0.0, part), end_s - begin_s)
                        for name in begin}
            begin_s, begin = end_s, end
        return dict(begin)


def _between(begin: tuple[float, float], end: tuple[float, float], part: float,
             whole_s: float) -> tuple[float, float]:
    """Return the state after a part of the time in which the speed changes evenly."""
    change = (end[1] - begin[1]) * part
    return begin[0] + (begin[1] + change / 2) * part * whole_s, begin[1] + change
