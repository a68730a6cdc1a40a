# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From latency to metres: the separation that a measured reaction time asks for."""

import math

from safety_scenarios.judging.motion.motion import Motion
from safety_scenarios.judging.motion.speeds import speeds_of
from safety_scenarios.scenario.blocks.separation import SeparationCost
from safety_scenarios.scenario.blocks.signal import held_within, in_force
from safety_scenarios.scenario.result import Latency


def separation_cost(motion: Motion, latency: Latency | None) -> SeparationCost | None:
    """
    Return the protective separation distance that a trial's latency asks for, with its terms.

    From the upper bound of the latency (its value plus its uncertainty), the fastest speed that
    was commanded from when the hazard came until the reaction, and the declared stopping model.

    :return: None without ``ros.separation``, without a reaction, whose latency has no bound, or
        where a speed is not known or above the robot's top speed
    """
    declared, onset = motion.scenario.body.separation_terms, motion.timeline.onset
    reaction = latency.reaction if latency else None
    if declared is None or reaction is None or onset is None:
        return None
    (terms, robot), onset_ns = declared, onset.stamps.steady_ns
    speeds = held_within(speeds_of(motion, terms.signal), onset_ns,
                         onset_ns + reaction.callback_ns)
    known = [speed for _, speed in speeds if speed is not None and math.isfinite(speed)]
    if not known or len(known) < len(speeds) or speeds[0][0] > onset_ns:
        return None
    toward = max(0.0, max(known) * terms.metres_per_unit)
    if not terms.covers(robot, toward):
        return None
    latency_ms = (reaction.judged_ns + reaction.uncertainty_ns) / 1e6
    need = terms.required(robot, toward, latency_ms / 1e3)
    available = in_force(motion.distances, onset_ns)
    return SeparationCost(
        latency_ms=latency_ms, speed=toward, approach_speed=terms.approach_speed,
        human=need.human, reaction=need.reaction, stopping=need.stopping,
        margins=need.margins.total, stopping_time=terms.stopping_time(robot, toward),
        required=need.total, per_second=terms.approach_speed + toward,
        available=available if available is not None and math.isfinite(available) else None)
