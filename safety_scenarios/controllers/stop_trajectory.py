# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A controller that is as good as the reference, and stops an arm in another way."""

from typing import Any

from pydantic import PrivateAttr
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.scenario.message import Command, Message, Observation

_BRAKING, _STEPS = 8.0, 4
"""rad/s^2, and the waypoints of a ramp."""
_HOLDS_S = 0.05
_NS = 1_000_000_000


class StopTrajectory(RuleBased):
    """
    Stops an arm by a ramp of several waypoints, and then holds its end.

    The ramp is said once; until the arm moves on, it repeats where the ramp ends.
    """

    _end: tuple[tuple[float, ...], int] | None = PrivateAttr(default=None)

    def decide(self, observation: Observation) -> Command | Message:
        """Return what the reference does, but for the way in which an arm stops."""
        command = self.command(observation)
        states = observation.readings.get('joint_states')
        if any(command.velocity) or states is None \
                or not self.context.interface.endswith('/JointTrajectory'):
            self._end = None
            return command
        now_ns = observation.t_ns
        if self._end is not None:
            positions, due_ns = self._end
            return self._said([(max(_HOLDS_S, (due_ns - now_ns) / _NS), positions,
                                (0.0,) * len(positions))])
        data = states.message.data
        known = dict(zip(data['name'], zip(data['position'], data['velocity'], strict=True),
                         strict=True))
        age_s = states.age_ns / _NS
        ramp = self._ramp([(known[name][0] + known[name][1] * age_s, known[name][1])
                           for name in self.context.robot.joints])
        self._end = ramp[-1][1], now_ns + round(ramp[-1][0] * _NS)
        return self._said(ramp)

    def _ramp(self, joints: list[tuple[float, float]]) -> list[Any]:
        """Return (due s, positions, velocities) of waypoints at an even deceleration to rest."""
        whole_s = max(_HOLDS_S, max(abs(speed) for _, speed in joints) / _BRAKING)
        found = []
        for step in range(1, _STEPS + 1):
            part = step / _STEPS
            found.append((whole_s * part, tuple(
                position + speed * whole_s * (part - part * part / 2)
                for position, speed in joints), tuple(speed * (1 - part) for _, speed in joints)))
        return found

    def _said(self, points: list[Any]) -> Message:
        return Message(type=self.context.interface, data={
            'joint_names': self.context.robot.joints, 'points': tuple({
                'positions': positions, 'velocities': velocities,
                'time_from_start': dict(zip(('sec', 'nanosec'), divmod(round(due_s * _NS), _NS),
                                            strict=True))}
                for due_s, positions, velocities in points)})
