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

"""
Where a latency budget comes from: speed and separation monitoring, solved for the controller.

Source: the protective separation distance of ISO/TS 15066:2016, 5.5.4 (now in ISO 10218-2:2025) in
the form of Marvel and Norcross (2017, doi 10.1016/j.rcim.2016.08.001), solved for the share of the
reaction time that the controller may use.
"""

import math

from safety_scenarios.errors import InputError


def budget_walking_person(*, distance: float, human_speed: float, robot_speed: float,
                          stopping_time: float, stopping_distance: float, margins: float,
                          other_time: float) -> float:
    """
    Return the longest controller reaction time (s) for a person who walks toward the robot.

    :param distance: separation at which the person is first published (m)
    :param human_speed: directed speed toward the robot (m/s); 1.6 for walking
    :param robot_speed: directed speed toward the person (m/s)
    :param stopping_time: from start of braking to standstill (s)
    :param stopping_distance: distance covered while braking (m)
    :param margins: intrusion distance plus both position uncertainties (m)
    :param other_time: sensing, transport and actuation, everything but the controller (s)
    :raises InputError: a negative or non-finite input, or two speeds of zero
    """
    _check(distance=distance, human_speed=human_speed, robot_speed=robot_speed,
           stopping_time=stopping_time, stopping_distance=stopping_distance, margins=margins,
           other_time=other_time)
    closing = human_speed + robot_speed
    if closing == 0:
        raise InputError('human_speed and robot_speed: got 0 and 0, expected a closing speed > 0')
    free = distance - margins - stopping_distance - human_speed * stopping_time
    return free / closing - other_time


def budget_static(*, distance: float, robot_speed: float, stopping_distance: float,
                  margins: float, other_time: float) -> float:
    """
    Return the longest controller reaction time (s) for a person or an obstacle that stands still.

    Parameters and errors as in :func:`budget_walking_person`.
    """
    return budget_walking_person(
        distance=distance, human_speed=0.0, robot_speed=robot_speed, stopping_time=0.0,
        stopping_distance=stopping_distance, margins=margins, other_time=other_time)


def _check(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0):
            raise InputError(f'{name}: got {value}, expected a finite number >= 0 (SI units)')
