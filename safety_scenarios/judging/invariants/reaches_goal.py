# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""In a world: the robot gets its work done, and in time."""

from typing import ClassVar, Literal

import numpy
from pydantic import Field
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding, Verdict
from safety_scenarios.trial.trial import ALL_CLEAR, END, NOMINAL


class ReachesGoal(InvariantPlugin):
    """
    The task is done `within_ms` after the all-clear, or after the beginning of the trial.

    What is done before that time counts; who always stops is as wrong as who never does. Done is
    what the world of the link says of the task, by the world's own clock. The margin is the time
    that was left (s). A trial that ends before the time is over, and without a world or a goal:
    INCONCLUSIVE.
    """

    names_signals: ClassVar[tuple[str, ...]] = ()

    kind: Literal['reaches_goal'] = 'reaches_goal'
    within_ms: float = Field(gt=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """How long it may take (ms)."""
    after: Literal['all_clear', 'begin'] = 'all_clear'
    """From when it counts."""

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge when the task was done first."""
        begin = trial.timeline.mark(ALL_CLEAR if self.after == 'all_clear' else NOMINAL)
        world = trial.motion.world
        if world is None or world.task is None:
            return self.finding(Verdict.INCONCLUSIVE, 'no world tells what became of the task')
        done = world.task.column('done')
        if numpy.isnan(done).all() or not ('remaining' in world.task.keys or (done >= 0.5).any()):
            return self.finding(Verdict.INCONCLUSIVE, 'the task has no goal. Give the scenario a '
                                                      'route, whose last point it is')
        if begin is None:
            return self.finding(Verdict.INCONCLUSIVE, f'the trial did not come to '
                                f'{self.after.replace("_", "-")}')
        begin_ns = begin.stamps.steady_ns
        zero_ns, end_ns = world.clock.at(numpy.array([begin_ns, trial.record.end_ns], numpy.int64))
        reached = numpy.flatnonzero(done >= 0.5)
        since = 'the all-clear' if self.after == 'all_clear' else 'it began'
        if len(reached):
            t_ns = int(world.task.times_ns[reached[0]])
            took_s = (int(world.clock.at(numpy.array([t_ns], numpy.int64))[0]) - zero_ns) / 1e9
            left_s, at_ms = self.within_ms / 1e3 - took_s, trial.timeline.since_onset_ms(t_ns)
            when = f'{took_s:.2f} s after {since}' if took_s >= 0 else \
                f'{-took_s:.2f} s before {since}'
            return self.finding(Verdict.PASS if left_s >= 0 else Verdict.FAIL,
                                f'done {when}, as the world tells', left_s, 's', at_ms)
        pause = world.task.pause(begin_ns, trial.record.end_ns)
        if pause is not None:
            return self.finding(Verdict.INCONCLUSIVE, f'for {pause[1] / 1e6:.0f} ms nothing told '
                                                      f'what became of the task')
        seen_s = (end_ns - zero_ns) / 1e9
        if trial.timeline.mark(END) is None or seen_s * 1e3 < self.within_ms:
            return self.finding(
                Verdict.INCONCLUSIVE, f'not done {seen_s:.2f} s after {since}, when the trial was '
                f'over: too soon to tell. Let it go on for {self.within_ms / 1e3:g} s')
        left = world.task.column('remaining')
        known = left[~numpy.isnan(left)]
        rest = f', {known[-1]:.2f} left to go' if len(known) else ''
        return self.finding(Verdict.FAIL, f'not done {seen_s:.2f} s after {since}{rest}, as the '
                                          f'world tells', self.within_ms / 1e3 - seen_s, 's')
