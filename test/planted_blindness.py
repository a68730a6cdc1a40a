# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A controller with a planted fault: it does not see a near person on its left.

And the scenario in which it shows: a person steps near, and only a tracker tells of it.
"""

from pathlib import Path
from typing import Any

from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.scenario.message import Command, Observation
import yaml

NEAR_M, LEFT_RAD = 2.25, 0.0
SCENARIO = 'PLANTED-1'
SHIPPED = Path(__file__).parents[1] / 'config/scenarios/robotic/person_steps_near.yaml'


class BlindNearOnTheLeft(RuleBased):
    """The reference, but for persons that are nearer than 2.25 m on its left: it drives on."""

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
