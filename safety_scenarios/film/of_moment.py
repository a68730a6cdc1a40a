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
"""What holds at one moment of a record: its phase, and the distance that a stop would need."""

from safety_scenarios.film.scene import Phase
from safety_scenarios.model.trial import ALL_CLEAR, TrialRecord


def phase_at(record: TrialRecord, t_ns: int) -> Phase:
    """Return the phase of a steady time."""
    onset, clear = record.onset, record.mark(ALL_CLEAR)
    if onset is None or t_ns < onset.stamps.steady_ns:
        return 'nominal'
    return 'hazard' if clear is None or t_ns < clear.stamps.steady_ns else 'after'


def required_at(record: TrialRecord, speed: float | None) -> float | None:
    """
    Return S_p at a speed (m), None where the scenario does not tell how to reckon it.

    As the invariant ``separation`` has it: without a share of the controller, and for a robot
    that is faster than it declares, that of its top speed.
    """
    ros = record.trial.scenario.ros
    if ros is None or ros.separation is None or ros.robot.stopping is None or speed is None:
        return None
    known = record.derive(_required)
    if speed not in known:
        top = ros.separation.top_speed(ros.robot)
        known[speed] = ros.separation.required(ros.robot, min(speed, top), 0.0).total
    return known[speed]


def _required(record: TrialRecord) -> dict[float, float]:
    """Return speed to S_p, as far as it is known: most of a trial is driven at one speed."""
    return {}
