# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What holds at one moment of a record: its phase, and the distance that a stop would need."""

from collections.abc import Callable
import math

from safety_scenarios.reports.film.scene import Phase
from safety_scenarios.trial.timeline import Timeline
from safety_scenarios.trial.trial import ALL_CLEAR, TrialRecord


def phases_of(record: TrialRecord) -> Callable[[int], Phase]:
    """Return what tells the phase of a steady time (ns)."""
    timeline = Timeline(record)
    begin_ns, clear_ns = (math.inf if event is None else event.stamps.steady_ns
                          for event in (timeline.onset, timeline.mark(ALL_CLEAR)))

    def phase_at(t_ns: int) -> Phase:
        return 'nominal' if t_ns < begin_ns else 'hazard' if t_ns < clear_ns else 'after'
    return phase_at


def required_of(record: TrialRecord) -> Callable[[float | None], float | None]:
    """
    Return what tells S_p at a speed (m), None where the scenario does not tell how to reckon it.

    As the invariant ``separation`` has it: without a share of the controller, and for a robot
    that is faster than it declares, that of its top speed.
    """
    ros = record.trial.scenario.ros
    if ros is None or ros.separation is None or ros.robot.stopping is None:
        return lambda speed: None
    robot, separation = ros.robot, ros.separation
    top, known = separation.top_speed(robot), dict[float, float]()

    def required_at(speed: float | None) -> float | None:
        if speed is None:
            return None
        if speed not in known:  # most of a trial is driven at one speed
            known[speed] = separation.required(robot, min(speed, top), 0.0).total
        return known[speed]
    return required_at
