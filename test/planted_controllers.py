# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Controllers with a planted fault, and the scenario in which the first one shows."""

import hashlib
import math
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.scenario.message import Command, Observation
import yaml

NEAR_M, LEFT_RAD = 2.25, 0.0
SCENARIO = 'PLANTED-1'
SHIPPED = Path(__file__).parents[1] / 'config/scenarios/robotic/person_steps_near.yaml'
MIDDLE_RAD = 0.11
HALF_RAD = math.radians(1.5)
"""Of the sector in which it does not see a person's middle at all."""
FADES_RAD = math.radians(5.0)
"""Beyond it a person is seen the later the more of the body it hides."""
_LATEST_NS = 900_000_000
_HIDDEN_M = 2.2
"""Only a person as near as that is hidden."""
ONE_IN = 20


class BlindNearOnTheLeft(RuleBased):
    """
    The reference, but it does not see a person nearer than 2.25 m on its left, and drives on.

    It shows where only a tracker tells of the person, as in ``write_scenario``.
    """

    def decide(self, observation: Observation) -> Command | Any:
        """Return the reference's command, or cruise on where it does not see the person."""
        command = self.command(observation)
        hidden = any(place['x'] < NEAR_M and place['y'] > LEFT_RAD for reading in
                     observation.latest('/PoseStamped')
                     for place in [reading.message.at('position')])
        return self.at_share(self.cruise) if hidden else command


def write_scenario(folder: Path) -> Path:
    """Write the shipped scenario of a person who steps near, shown by the tracker alone."""
    data: Any = yaml.safe_load(SHIPPED.read_text(encoding='utf-8'))
    ros = data['ros']
    data |= {'id': SCENARIO, 'name': 'Planted'}
    for block in (ros, ros['nominal'], *ros['nominal']['changes']):
        block['stimuli'] = [one for one in block['stimuli'] if one['topic'] != 'scan']
    ros['vary'] = {
        'near': {'range': [2.05, 2.45], 'unit': 'm', 'sets': ['ros.stimuli[0].distance']},
        'side': {'range': [-0.2, 0.2], 'unit': 'rad', 'sets': ['ros.stimuli[0].bearing']},
        'before': {'range': [4.6, 9.0], 'unit': 'm',
                   'sets': ['ros.nominal.stimuli[0].distance']}}
    path = folder / 'planted.yaml'
    path.write_text(yaml.safe_dump(data), encoding='utf-8')
    return path


class BlindSpot(RuleBased):
    """The reference with a blind spot of 3 degrees, in which it sees a near person late."""

    _since_ns: int | None = PrivateAttr(default=None)

    def decide(self, observation: Observation) -> Command | Any:
        """Return the reference's command, or cruise on where the person is hidden."""
        command = self.command(observation)
        if any(command.velocity):
            self._since_ns = None
            return command
        if self._since_ns is None:
            self._since_ns = observation.t_ns
        if observation.t_ns - self._since_ns < hidden_ns(observation):
            return self.at_share(self.cruise)
        return command


def hidden_ns(observation: Observation) -> int:
    """Return for how long a person is not seen, by direction and distance."""
    longest = 0.0
    for reading in observation.latest('/PoseStamped'):
        place = reading.message.at('position')
        if math.hypot(place['x'], place['y']) > _HIDDEN_M:
            continue
        off = abs(math.atan2(place['y'], place['x']) - MIDDLE_RAD)
        share = 1.0 - min(1.0, max(0.0, (off - HALF_RAD) / FADES_RAD))
        longest = max(longest, share**2)
    return round(longest * _LATEST_NS)


class RarelyBlind(RuleBased):
    """The reference, but it ignores the hazard in one trial of 20, by what it sees first."""

    _is_blind: bool | None = PrivateAttr(default=None)

    def decide(self, observation: Observation) -> Command:
        """Return the reference's command, or cruise on."""
        if self._is_blind is None and observation.readings:
            seen = repr(sorted((topic, one.message.data) for topic, one
                               in observation.readings.items()))
            self._is_blind = hashlib.sha256(seen.encode()).digest()[0] * ONE_IN < 256
        return self.at_share(self.cruise) if self._is_blind else self.command(observation)
