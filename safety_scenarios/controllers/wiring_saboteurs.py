# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Controllers that do the right thing where they are judged, and the wrong one elsewhere."""

from collections.abc import Mapping

from pydantic import PrivateAttr
from safety_scenarios.controllers.saboteurs import AsReference
from safety_scenarios.scenario.interfaces.robot_interfaces import command_message, joint_positions
from safety_scenarios.scenario.message import Command, Message, Observation

_BESIDE = '_beside'
"""After the command topic: where a second driver of the same robot might listen."""


class Elsewhere(AsReference):
    """Stops or slows on the command topic as the reference, and drives on over another one."""

    _is_driving: bool = PrivateAttr(default=False)

    @property
    def outputs(self) -> Mapping[str, str]:
        """Return the other topic, with the interface of the commands."""
        return {f'{self.context.topic}{_BESIDE}': self.context.interface}

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return the reference's command, and remember whether it drove on at cruise speed."""
        self._is_driving = _fastest(command) >= _fastest(self.at_share(self.cruise))
        return command

    def side_messages(self, observation: Observation) -> Mapping[str, Message]:
        """Return cruise speed on the other topic, once the reference does no longer."""
        if self._is_driving or not self.moving_ns(observation):
            return {}
        heard = {topic: (observation.t_ns, None, reading.message)
                 for topic, reading in observation.readings.items()}
        context = self.context
        positions = joint_positions(heard)
        return {topic: command_message(interface, self.at_share(self.cruise),
                                       context.robot.joints, positions)
                for topic, interface in self.outputs.items()}


def _fastest(command: Command) -> float:
    """Return its largest speed in whatever direction: joints go to and fro."""
    return max(map(abs, command.velocity), default=0.0)
