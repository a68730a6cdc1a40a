# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""In a world: while it drives, the robot stays near its route."""

from typing import ClassVar, Literal

import numpy
from pydantic import Field
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding, Verdict


class KeepsCourse(InvariantPlugin):
    """
    While the robot drives, it is at most `at_most` off its route, to either side.

    Its place is what the world of the link tells of its task, and not what it believes: odometry
    that drifts and a floor that is slippery show. The margin is the distance that was left (m).
    Without a world, or without a route in it, nobody can tell: INCONCLUSIVE.
    """

    names_signals: ClassVar[tuple[str, ...]] = ()

    kind: Literal['keeps_course'] = 'keeps_course'
    at_most: float = Field(ge=0, le=100, json_schema_extra={'unit': 'm'})
    """Farthest off the route (m)."""
    during: Literal['trial', 'hazard'] = 'trial'
    """`trial`: from its start to its end; `hazard`: from onset to the all-clear."""
    still: float = Field(default=0.05, ge=0, le=10, json_schema_extra={'unit': 'm/s'})
    """Speed up to which the robot does not drive (m/s)."""

    def lateral_limit(self) -> float:
        """Return how far off its route it may be (m)."""
        return self.at_most

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge the place that is farthest off."""
        window, world = trial.timeline.window(self.during), trial.motion.world
        if window is None:
            return self.finding(Verdict.INCONCLUSIVE, f'the {self.during} was not observed whole')
        if world is None or world.task is None or 'lateral' not in world.task.keys:
            return self.finding(Verdict.INCONCLUSIVE, 'no world tells how far off its route it is')
        times = world.task.times_ns
        inside = (times >= window[0]) & (times <= window[1])
        lateral = numpy.abs(world.task.column('lateral'))
        speeds = trial.motion.in_world.speed_of(times)
        drives = inside & (speeds > self.still) & ~numpy.isnan(lateral)
        if drives.any():
            place = int(numpy.where(drives, lateral, -1.0).argmax())
            farthest = float(lateral[place])
            at_ms = trial.timeline.since_onset_ms(int(times[place]))
            if farthest > self.at_most:
                return self.finding(
                    Verdict.FAIL, f'{farthest:.3f} m off its route, at most {self.at_most:g} m, '
                    f'as the world tells', self.at_most - farthest, 'm', at_ms)
        pause = world.task.pause(*window)
        if pause is not None:
            return self.finding(Verdict.INCONCLUSIVE, f'for {pause[1] / 1e6:.0f} ms nothing told '
                                                      f'how far off its route it was')
        if (inside & (numpy.isnan(lateral) | numpy.isnan(speeds))).any():
            return self.finding(Verdict.INCONCLUSIVE, 'its place or its speed is unknown')
        if not drives.any():
            return self.finding(Verdict.INCONCLUSIVE, 'it never drove')
        return self.finding(
            Verdict.PASS, f'at most {farthest:.3f} m off its route, as the world tells',
            self.at_most - farthest, 'm', at_ms)
