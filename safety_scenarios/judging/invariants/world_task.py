# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""In a world: the robot touches nothing, keeps to its route, and gets its work done."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy
from pydantic import Field
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.contacts import Contact, described, STANDS, unknown
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.rounding import apart
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import ALL_CLEAR, END, NOMINAL

Newton = Annotated[float, Field(gt=0, le=10_000)]


class NoContact(InvariantPlugin):
    """
    Over the whole trial the robot touches nobody and nothing in its world.

    A robot that stands and is walked into is not at fault, nor is one that retreats from there;
    a force that a stimulus applies is no contact. With `regions` a person may be touched there,
    if the force stays within the limit: then the check that is made in every world (*touches
    nobody*) goes by that too. A contact at a region that is not named, or whose region or force
    is not told, is not allowed. The margin is that of the force (N), without `regions` that of
    the robot's own speed (m/s). Without a world nobody can tell: INCONCLUSIVE.
    """

    names_signals: ClassVar[tuple[str, ...]] = ()

    kind: Literal['no_contact'] = 'no_contact'
    bodies_only: bool = False
    """Whether only people count, as where a robot docks or pushes boxes."""
    regions: Mapping[str, Newton] = {}
    """Body region to the largest force that lasts (N), such as of your own copy of ISO/TS 15066;
    left out: no touch at all is allowed."""
    transient_factor: float = Field(default=1.0, ge=1, le=10)
    """How many times as much a force may be in the first 0.5 s of a contact."""

    def permits(self, contact: Any) -> bool:
        assert isinstance(contact, Contact)
        margin = self._margin(contact)
        return margin is not None and margin >= 0

    def check(self, trial: JudgedTrial) -> Finding:
        why = unknown(trial.timeline, trial.motion.world)
        found = [one for one in trial.motion.contacts if one.is_body or not self.bodies_only]
        wrong = [one for one in found if one.is_caused_above(STANDS) and not self.permits(one)]
        if wrong:
            worst = min(wrong, key=lambda one: (not one.is_body, -(one.force or 0.0),
                                                -one.own_speed))
            return self._violated(trial, worst)
        if why is not None:
            return self.finding(Verdict.INCONCLUSIVE, why)
        margins = [margin for one in found if (margin := self._margin(one)) is not None]
        for one in found:
            if one.is_caused_above(STANDS) is None and not self.permits(one):
                return self.finding(Verdict.INCONCLUSIVE, f'{described(one)} and the robot '
                                    f'touched, and it is unknown whether the robot moved')
        if not found:
            return self.finding(Verdict.PASS, 'nothing touched it, according to the simulator')
        permitted = [one for one in found if self.permits(one)]
        text = 'no harder than is allowed' if len(permitted) == len(found) else \
            'which the robot did not move into'
        return self.finding(Verdict.PASS, f'{described(found[0])} touched it, {text}, according '
                            f'to the simulator', min(margins, default=None) if permitted else None,
                            'N' if permitted else None,
                            trial.timeline.since_onset_ms(found[0].begin_ns))

    def _violated(self, trial: JudgedTrial, worst: Contact) -> Finding:
        margin, at_ms = self._margin(worst), trial.timeline.since_onset_ms(worst.begin_ns)
        if margin is not None:
            return self.finding(
                Verdict.FAIL, f'{apart(-margin, 0.0, ".0f")} N more than is allowed: '
                f'{described(worst)}, according to the simulator', margin, 'N', at_ms)
        why = '' if not self.regions or not worst.is_body else \
            ', and no region and force are declared that would be allowed'
        return self.finding(
            Verdict.FAIL, f'touched {described(worst)}, itself at {worst.own_speed:.2f} m/s, '
            f'according to the simulator{why}', STANDS - worst.own_speed, 'm/s', at_ms)

    def _margin(self, contact: Contact) -> float | None:
        """Return how far the force is from its limit (N), None where none allows it."""
        limits = [self.regions.get(region) for region in contact.regions]
        if not contact.is_body or not limits or None in limits or contact.force is None \
                or not contact.is_force_whole:
            return None
        least = min(limit for limit in limits if limit is not None)
        return min(least * self.transient_factor - contact.force,
                   least - (contact.lasting_force or 0.0))


class KeepsCourse(InvariantPlugin):
    """
    While the robot drives, it is at most ``at_most`` off its route, to either side.

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
        return self.at_most

    def check(self, trial: JudgedTrial) -> Finding:
        window, world = trial.timeline.window(self.during), trial.motion.world
        if window is None:
            return self.finding(Verdict.INCONCLUSIVE, f'the {self.during} was not observed whole')
        if world is None or world.task is None or 'lateral' not in world.task.keys:
            return self.finding(Verdict.INCONCLUSIVE, 'no simulator publishes how far off its '
                                                      'route it is')
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
                    Verdict.FAIL, f'{apart(farthest, self.at_most, ".3f")} m off its route, at '
                    f'most {self.at_most:g} m, according to the simulator',
                    self.at_most - farthest, 'm', at_ms)
        pause = world.task.pause(*window)
        if pause is not None:
            return self.finding(Verdict.INCONCLUSIVE, f'for {pause[1] / 1e6:.0f} ms its distance '
                                                      f'from the route was not published')
        if (inside & (numpy.isnan(lateral) | numpy.isnan(speeds))).any():
            return self.finding(Verdict.INCONCLUSIVE, 'its place or its speed is unknown')
        if not drives.any():
            return self.finding(Verdict.INCONCLUSIVE, 'it never drove')
        return self.finding(
            Verdict.PASS, f'at most {farthest:.3f} m off its route, according to the simulator',
            self.at_most - farthest, 'm', at_ms)


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
        begin = trial.timeline.mark(ALL_CLEAR if self.after == 'all_clear' else NOMINAL)
        world = trial.motion.world
        if world is None or world.task is None:
            return self.finding(Verdict.INCONCLUSIVE, 'no simulator publishes the progress of '
                                                      'the task')
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
            took = apart(took_s, self.within_ms / 1e3, '.2f')
            when = f'{took} s after {since}' if took_s >= 0 else f'{-took_s:.2f} s before {since}'
            return self.finding(Verdict.PASS if left_s >= 0 else Verdict.FAIL,
                                f'done {when}, according to the simulator', left_s, 's', at_ms)
        pause = world.task.pause(begin_ns, trial.record.end_ns)
        if pause is not None:
            return self.finding(Verdict.INCONCLUSIVE, f'for {pause[1] / 1e6:.0f} ms the progress '
                                                      f'of the task was not published')
        seen_s = (end_ns - zero_ns) / 1e9
        if trial.timeline.mark(END) is None or seen_s * 1e3 < self.within_ms:
            return self.finding(
                Verdict.INCONCLUSIVE, f'not done {seen_s:.2f} s after {since}, when the trial was '
                f'over: too soon to decide. Let it continue for {self.within_ms / 1e3:g} s')
        left = world.task.column('remaining')
        known = left[~numpy.isnan(left)]
        rest = f', {known[-1]:.2f} left to go' if len(known) else ''
        seen = apart(seen_s, self.within_ms / 1e3, '.2f')
        return self.finding(Verdict.FAIL, f'not done {seen} s after {since}{rest}, according to '
                                          f'the simulator', self.within_ms / 1e3 - seen_s, 's')
