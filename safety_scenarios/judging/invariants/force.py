# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Contact: no push on into it, and a force that goes down again."""

from collections.abc import Sequence
import math
from typing import ClassVar, Literal

import numpy
from pydantic import Field, model_validator
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.blocks.signal import Held, held_within, Limit, longest_gap_ns
from safety_scenarios.scenario.invariant import InvariantPlugin, SignalUnits, SPEEDS
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import LimitName, Verdict
from safety_scenarios.trial.trial import ALL_CLEAR


class Force(InvariantPlugin):
    """
    ``within`` after a contact above ``at_most`` begins, no command pushes on into it.

    The contact force is the scripted one (``force`` of the stimuli), or ``measured``: a feedback
    signal, which must itself be back at ``at_most`` by then. A standard's limit on the peak of an
    impact cannot be kept by a controller at ROS level (it comes within milliseconds); what can be
    judged is that it does not push on. The margin is that of the speed (signal's unit); of a
    measured force what is above the limit (N), or the time that was left (s).
    """

    names_signals: ClassVar[tuple[str, ...]] = ('signal', 'measured')
    names_feedback: ClassVar[tuple[str, ...]] = ('measured',)
    units: ClassVar[SignalUnits] = {'signal': SPEEDS, 'measured': ('N',)}

    kind: Literal['force'] = 'force'
    at_most: float = Field(ge=0, json_schema_extra={'unit': 'N'})
    """Greatest force that is no contact, or is harmless (N)."""
    signal: str = Field(min_length=1)
    """Signal with the commanded speed into the contact; with its sign, if a retreat is allowed."""
    push_at_most: float = Field(default=0.0, ge=0)
    """Fastest into the contact that still counts as no push (signal's unit)."""
    within: LimitName | float = 'critical'
    """A limit of the latency budget, or a time in ms after the contact began."""
    measured: str | None = None
    """Feedback signal with the contact force (N)."""
    filter_ms: float = Field(default=0.0, ge=0, le=10_000, json_schema_extra={'unit': 'ms'})
    """Time over which ``measured`` is averaged (ms)."""

    @model_validator(mode='after')
    def _within_is_a_time(self) -> 'Force':
        if isinstance(self.within, float) and self.within <= 0:
            raise ValueError(f'within: got {self.within:g}, expected a number > 0 (ms)')
        if self.filter_ms and self.measured is None:
            raise ValueError('got filter_ms without measured: a scripted force is not filtered')
        return self

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge each contact, from ``within`` after it began to its end."""
        scenario, window = trial.scenario, trial.timeline.window('hazard')
        if window is None:
            return self.finding(Verdict.INCONCLUSIVE,
                                'the hazard was not observed to its all-clear')
        forces = self._forces(trial)
        if any(force is None or not math.isfinite(force) for _, force in forces):
            return self.finding(Verdict.INCONCLUSIVE, 'the force is unknown or not a number')
        contacts = _above([(t_ns, force or 0.0) for t_ns, force in forces], self.at_most,
                          trial.record.end_ns)
        if not contacts:
            return self.finding(Verdict.INCONCLUSIVE, f'no contact above {self.at_most:g} N')
        within_ns = (round(self.within * 1e6) if isinstance(self.within, float)
                     else scenario.latency_budget.limit_ns(self.within))
        lasting = [(begin_ns, end_ns) for begin_ns, end_ns in contacts
                   if begin_ns + within_ns < end_ns]
        if self.measured is None:
            found = self._no_push(trial, lasting, within_ns)
            paused = None if found.verdict is not Verdict.PASS else _paused(trial, window)
            return found if paused is None else self.finding(
                Verdict.INCONCLUSIVE, f'for {paused / 1e6:.0f} ms the simulator published no '
                                      'force')
        if lasting:
            begin_ns, end_ns = lasting[0]
            still = max(force or 0.0 for _, force in held_within(
                forces, begin_ns + within_ns + 1, end_ns - 1))
            return self.finding(
                Verdict.FAIL, f'the force stayed above {self.at_most:g} N for '
                f'{(end_ns - begin_ns) / 1e6:.0f} ms, at last with up to {still:.4g} N',
                self.at_most - still, 'N', trial.timeline.since_onset_ms(begin_ns + within_ns))
        gap_ns = longest_gap_ns(forces, *window)
        if gap_ns > within_ns:
            return self.finding(Verdict.INCONCLUSIVE, f'{self.measured} was silent for '
                                f'{gap_ns / 1e6:.0f} ms, in which a contact may have lasted')
        longest_ns = max(end_ns - begin_ns for begin_ns, end_ns in contacts)
        return self.finding(
            Verdict.PASS, f'{len(contacts)} contacts, the longest above {self.at_most:g} N for '
            f'{longest_ns / 1e6:.0f} ms', (within_ns - longest_ns) / 1e9, 's')

    def _no_push(self, trial: JudgedTrial, lasting: Sequence[tuple[int, int]],
                 within_ns: int) -> Finding:
        """Judge the commands in scripted contacts that last longer than ``within``."""
        speeds = trial.signals.held(self.signal)
        unit = trial.scenario.body.signals[self.signal].unit
        limit = Limit(signal=self.signal, at_most=self.push_at_most)
        slack, unknown_ns = math.inf, None
        for begin_ns, end_ns in lasting:
            due_ns = begin_ns + within_ns
            samples = held_within(speeds, due_ns + 1, end_ns - 1)
            if not samples or samples[0][0] > due_ns or samples[-1][0] < lasting[0][0]:
                unknown_ns = due_ns
            for t_ns, speed in samples:
                margin = limit.margin(speed)
                if margin is None:
                    unknown_ns = max(t_ns, due_ns)
                elif margin < 0:
                    return self.finding(
                        Verdict.FAIL, f'pushed on into the contact, {-margin:.4g} {unit} too fast '
                        f'{(max(t_ns, due_ns) - begin_ns) / 1e6:.0f} ms after it began', margin,
                        unit, trial.timeline.since_onset_ms(max(t_ns, due_ns)))
                else:
                    slack = min(slack, margin)
        if not lasting:
            return self.finding(Verdict.INCONCLUSIVE, 'the contact was over before the limit of '
                                                      'time: nothing was left to judge')
        if unknown_ns is not None:
            return self.finding(Verdict.INCONCLUSIVE, f'no command in the contact tells '
                                f'{self.signal}, or not as a number',
                                at_ms=trial.timeline.since_onset_ms(unknown_ns))
        return self.finding(Verdict.PASS, f'no push into {len(lasting)} contacts', slack, unit)

    def _forces(self, trial: JudgedTrial) -> Held:
        if self.measured is None:
            return _scripted(trial)
        values = list(trial.signals.values(self.measured))
        if not self.filter_ms or any(force is None for _, force in values):
            return values
        return _averaged([(t_ns, force or 0.0) for t_ns, force in values],
                         round(self.filter_ms * 1e6))


def _scripted(trial: JudgedTrial) -> Held:
    """Return the greatest force that any stimulus shows; what the hazard shows ends with it."""
    shown: dict[str, float] = {}
    hazards: set[str] = set()
    found: list[tuple[int, float | None]] = []
    for event in trial.record.events:
        if event.kind in ('stimulus', 'state') and 'force' in event.truth:
            shown[event.name] = event.truth['force']
            hazards |= {event.name} if event.hazard else set()
        elif event.kind == 'state' and event.name in shown:
            del shown[event.name]  # it is gone, or touches nothing any more
        elif event.kind == 'mark' and event.name == ALL_CLEAR:
            shown |= dict.fromkeys(hazards, 0.0)
        else:
            continue
        found.append((event.stamps.steady_ns, max(shown.values(), default=0.0)))
    return found


def _paused(trial: JudgedTrial, window: tuple[int, int]) -> int | None:
    """Return how long (ns) a world told nothing of a thing that it tells a force of."""
    world = trial.motion.world
    pauses = [thing.pause(*window, arrives=True) for thing in (world.things if world else ())
              if 'force' in thing.keys]
    return max((pause[1] for pause in pauses if pause is not None), default=None)


def _above(forces: Sequence[tuple[int, float]], limit: float, end_ns: int) -> \
        list[tuple[int, int]]:
    """Return begin and end (steady ns) of each time in which the force is above a limit."""
    found: list[tuple[int, int]] = []
    for (t_ns, force), next_ns in zip(forces, [*(t for t, _ in forces[1:]), end_ns]):
        if force > limit and found and found[-1][1] == t_ns:
            found[-1] = found[-1][0], next_ns
        elif force > limit:
            found.append((t_ns, next_ns))
    return found


def _averaged(forces: Sequence[tuple[int, float]], window_ns: int) -> Held:
    """Return the mean of held values over the time before each; less where there was less."""
    if not forces:
        return ()
    times = numpy.array([t_ns - forces[0][0] for t_ns, _ in forces], dtype=float)
    levels = numpy.array([force for _, force in forces])
    area = numpy.concatenate(([0.0], numpy.cumsum(levels[:-1] * numpy.diff(times))))
    begin = numpy.maximum(times - window_ns, 0.0)
    with numpy.errstate(invalid='ignore', divide='ignore'):
        mean = (area - numpy.interp(begin, times, area)) / (times - begin)
    mean = numpy.where(times > begin, mean, levels)
    return [(t_ns, float(force)) for (t_ns, _), force in zip(forces, mean)]
