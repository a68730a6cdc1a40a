# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Protective stop and slowing down: reached in time, held until the all-clear."""

from collections.abc import Iterator, Mapping
import math
from operator import itemgetter
from typing import ClassVar, Literal

import numpy
from pydantic import Field, model_validator
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.contacts import STANDS
from safety_scenarios.scenario.blocks.signal import Held, held_within, Limit
from safety_scenarios.scenario.invariant import InvariantPlugin, SignalUnits, SPEEDS
from safety_scenarios.scenario.noun import TopicName
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.rounding import apart
from safety_scenarios.scenario.verdict import LimitName, Verdict
from safety_scenarios.trial.margins import MarginSeries, Sample
from safety_scenarios.trial.trial import ALL_CLEAR

_FASTER = 1.5
"""Times the greatest speed before the hazard: who is so much faster after it drives at it."""
_ROUNDING = 1e-9
"""Share of that speed which sums and conversions may add."""
_UNSEEN_NS = 100_000_000
"""What a controller begins so soon after the hazard may be no answer to it."""
_SETTLED_NS = 100_000_000
"""A body that stands for shorter only swings through its rest."""
_NOISE = 0.001
"""Noise in the commands of a learned policy that stands (signal's unit)."""
_SWINGS = 0.01
"""Speed of swings about zero that are no noise (signal's unit)."""
_WAYS = {'m/s': 'm', 'rad/s': 'rad'}


class Stop(InvariantPlugin):
    """
    The stop begins ``within`` of onset, is reached, holds ``hold_ms``, stays until the all-clear.

    The condition is the scenario's reaction, or ``signal`` with ``at_most``, and all of the motion
    must meet it: every axis of a base, every joint of an arm. It begins with the first command of
    a braking that stays below the envelope of ``robot.stopping`` until the condition holds;
    without one, with the command from which it holds. On the way there the signal that
    ``nominal.require`` asks for must not exceed 1.5 times the greatest value that it had before
    the hazard; a rise in the first 0.1 s is INCONCLUSIVE. On demand it may never rise again, nor
    go into reverse. With ``reset`` the robot stays stopped beyond the all-clear, until somebody
    resets it. Where a world tells the motion, the robot must really come to stand and stay so,
    whatever was commanded. The margin of a stop that was reached is the time left (s); of a motion
    that should not be, its excess (signal's unit).
    """

    names_signals: ClassVar[tuple[str, ...]] = ('signal', 'signed')
    units: ClassVar[SignalUnits] = {'signal': SPEEDS, 'signed': SPEEDS}
    names_stimuli: ClassVar[tuple[str, ...]] = ('reset',)

    wording: ClassVar[Mapping[str, str]] = {
        'signed': 'and never into reverse', 'reset': 'and until somebody resets it on {}'}

    kind: Literal['stop'] = 'stop'
    within: LimitName | float = 'critical'
    """A limit of the latency budget, or a time in ms after onset."""
    hold_ms: float = Field(default=1000.0, ge=0, json_schema_extra={'unit': 'ms'})
    """How long it must hold without a break (ms)."""
    signal: str | None = None
    """Signal to use instead of the reaction."""
    at_most: float | None = Field(default=None, ge=0)
    """Its limit, in the signal's unit."""
    rise_at_most: float | None = Field(default=None, ge=0)
    """Monotone: most that the speed may rise again above the slowest since onset before it is
    stopped (its unit); left out: not judged."""
    signed: str | None = None
    """Signal with a sign, such as linear.x; then it must not go on into reverse."""
    reverse_at_most: float | None = Field(default=None, ge=0)
    """Fastest that ``signed`` may go against its direction at onset (its unit). Left out: the
    speed of a standstill, and no farther back than ``robot.creep`` in all. Of swings slower than
    0.01 only where they lead counts."""
    reset: TopicName | None = None
    """Stimulus topic: only after a message on it whose ``data`` is true may the robot move."""

    @model_validator(mode='after')
    def _signal_with_limit(self) -> 'Stop':
        if (self.signal is None) != (self.at_most is None):
            raise ValueError('got one of signal and at_most, expected both or neither')
        if isinstance(self.within, float) and self.within <= 0:
            raise ValueError(f'within: got {self.within:g}, expected a number > 0 (ms)')
        return self

    def stops(self) -> tuple[Limit, ...]:
        """Return its own limit, or none at all for the scenario's reaction."""
        return () if self.signal is None else (Limit(signal=self.signal, at_most=self.at_most),)

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge reach, hold and resume, in this order; the first that is broken is named."""
        scenario = trial.scenario
        onset, all_clear = trial.timeline.onset, trial.timeline.mark(ALL_CLEAR)
        if onset is None or all_clear is None:
            return self.finding(Verdict.INCONCLUSIVE,
                                'the hazard was not observed to its all-clear')
        limits = self._limits(trial)
        onset_ns, clear_ns = onset.stamps.steady_ns, all_clear.stamps.steady_ns
        within_ns = (round(self.within * 1e6) if isinstance(self.within, float)
                     else scenario.latency_budget.limit_ns(self.within))
        series = trial.motion.series(limits, is_stop=True)
        until_ns = self._until(trial, clear_ns)
        if not series.has_sample(onset_ns, clear_ns):
            return self.finding(Verdict.FAIL, 'no command took effect after onset: none arrived, '
                                'or the driver ignored them all')
        reached = self._reached(trial, limits, (onset_ns, clear_ns))
        if reached is None and series.is_open(onset_ns, clear_ns):
            return self.finding(Verdict.INCONCLUSIVE, 'cannot determine whether '
                                                      f'{_words(limits)}: '
                                f'a command leaves it open')
        if reached is None:
            return self.finding(Verdict.FAIL, f'never reached {_words(limits)}')
        braked = None if reached.inferred else trial.motion.braking(limits, onset_ns, reached.t_ns)
        took_ns = max(0, (reached.t_ns if braked is None else braked.begin_ns) - onset_ns)
        if took_ns > within_ns:
            did = 'reached' if braked is None or braked.begin_ns >= reached.t_ns else \
                'began to brake for'
            return self.finding(
                Verdict.FAIL, f'{did} {_words(limits)} '
                f'{apart((took_ns - within_ns) / 1e6, 0.0, ".1f")} ms after the limit of '
                f'{within_ns / 1e6:g} ms',
                (within_ns - took_ns) / 1e9, 's', took_ns / 1e6)
        broken = series.first_broken(reached.t_ns, until_ns)
        if broken is not None:
            return self._broken(broken, reached, clear_ns, onset_ns,
                                scenario.body.signals[broken.signal].unit if broken.signal else
                                kind_of(scenario.robot_body.robot).speed_unit)
        crooked = min(self._crooked(trial, limits, onset_ns, reached.t_ns, until_ns),
                      key=lambda finding: finding.verdict is not Verdict.FAIL, default=None)
        if crooked is not None:
            return crooked
        if clear_ns - reached.t_ns < self.hold_ms * 1e6:
            return self.finding(Verdict.INCONCLUSIVE,
                                'the all-clear came before the hold was over')
        stood_ms = (reached.t_ns - onset_ns) / 1e6
        moved, stood = self._truly(trial, limits, (onset_ns, clear_ns), until_ns)
        if moved is not None:
            return moved
        return self.finding(
            Verdict.PASS, f'stopped after {took_ns / 1e6:.1f} ms'
            + ('' if stood_ms <= took_ns / 1e6 else f' (commanded to stand after {stood_ms:.1f} '
                                                    'ms)')
            + f' and stayed until '
            f'{"the all-clear" if self.reset is None else "the reset or the end"}{stood}',
            (within_ns - took_ns) / 1e9, 's', took_ns / 1e6)

    def _reached(self, trial: JudgedTrial, limits: tuple[Limit, ...],
                 window: tuple[int, int]) -> Sample | None:
        """
        Return the sample from which it stands; None: there is none.

        A braking arm that goes back to where it was told to stand passes through a speed of zero:
        the stop is then at the end of that one braking, and not at its passage through zero.
        """
        series = trial.motion.series(limits, is_stop=True)
        first = series.first_held(window[0], 0, window[1])
        settled = None if first is None else series.first_held(first.t_ns, _SETTLED_NS, window[1])
        if first is None or settled is None or first.inferred:
            return first
        braked = trial.motion.braking(limits, window[0], settled.t_ns)
        return settled if braked is not None and braked.begin_ns <= first.t_ns else first

    def _truly(self, trial: JudgedTrial, limits: tuple[Limit, ...], window: tuple[int, int],
               until_ns: int) -> tuple[Finding | None, str]:
        """Return what the world tells against a stop that was commanded, and what it tells."""
        still = trial.motion.standstill(limits, is_stop=True)
        for track in trial.motion.simulated_tracks if still is not None else ():
            assert still is not None
            margins = numpy.where(track.fastest <= STANDS, numpy.maximum(still.margin(track), 0.0),
                                  still.margin(track))
            series = MarginSeries.from_arrays(track.times_ns, margins)
            stood = series.first_held(window[0], _SETTLED_NS, window[1])
            if stood is None:
                return self.finding(
                    Verdict.FAIL, f'commanded {_words(limits)}, and did not come to stand, '
                    f'{track.source}'), ''
            broken = series.first_broken(stood.t_ns, until_ns)
            at_ms = (stood.t_ns - window[0]) / 1e6
            if broken is not None:
                return self.finding(
                    Verdict.FAIL, f'commanded {_words(limits)}, stood {at_ms:.0f} ms after onset '
                    f'and moved again {(broken.t_ns - stood.t_ns) / 1e6:.0f} ms later, '
                    f'{track.source}', broken.margin, track.unit,
                    (broken.t_ns - window[0]) / 1e6), ''
            return None, f'; it stood {at_ms:.0f} ms after onset, {track.source}'
        return None, ''

    def _limits(self, trial: JudgedTrial) -> tuple[Limit, ...]:
        if self.signal is not None:
            return (Limit(signal=self.signal, at_most=self.at_most),)
        reaction = trial.scenario.body.reaction
        assert reaction is not None
        return reaction.limits

    def _until(self, trial: JudgedTrial, clear_ns: int) -> int:
        """Return until when the robot must stay stopped (steady ns)."""
        if self.reset is None:
            return clear_ns
        resets = trial.record.of_kind('stimulus', self.reset)
        return next((event.stamps.steady_ns for event in resets
                     if event.stamps.steady_ns >= clear_ns and event.message is not None
                     and event.message.data.get('data')), trial.record.end_ns)

    def _crooked(self, trial: JudgedTrial, limits: tuple[Limit, ...], onset_ns: int,
                 reached_ns: int, until_ns: int) -> Iterator[Finding]:
        """Look at the way to the stop: faster again, or into reverse."""
        signals = trial.scenario.body.signals
        require = trial.scenario.robot_body.nominal.require
        if require.signal in {limit.signal for limit in limits}:
            known = [(t_ns, abs(value)) for t_ns, value in trial.signals.held(require.signal)
                     if t_ns <= reached_ns and value is not None and math.isfinite(value)]
            before = max((speed for t_ns, speed in known if t_ns < onset_ns), default=0.0)
            most = _FASTER * (1.0 + _ROUNDING) * before \
                if before >= (require.at_least or 0.0) else math.inf
            faster = [(t_ns, speed) for t_ns, speed in known if speed > most > 0]
            if faster and faster[0][0] < onset_ns + _UNSEEN_NS:
                yield self.finding(
                    Verdict.INCONCLUSIVE, f'{require.signal} rose to {faster[0][1]:.4g} right '
                    f'after the hazard, too soon to be an answer to it for certain', at_ms=(
                        faster[0][0] - onset_ns) / 1e6)
            elif faster:
                t_ns, fastest = max(faster, key=itemgetter(1))
                yield from self._excess(
                    fastest - most, f'{require.signal} rose to {fastest:.4g} after the hazard',
                    t_ns, onset_ns, signals[require.signal].unit)
        names = [limit.signal for limit in limits] if self.rise_at_most is not None else []
        for name in names:
            slowest = math.inf
            for t_ns, value in held_within(trial.signals.held(name), onset_ns, reached_ns):
                speed = math.nan if value is None else abs(value)
                excess = speed - slowest - (self.rise_at_most or 0.0)
                yield from self._excess(excess, f'{name} rose again on the way to the stop', t_ns,
                                        onset_ns, signals[name].unit)
                slowest = min(slowest, speed)
        if self.signed is not None:
            way = held_within(trial.signals.held(self.signed), onset_ns, until_ns)
            if not way or way[0][0] > onset_ns:
                yield self.finding(Verdict.INCONCLUSIVE,
                                   f'no command contains {self.signed} at onset')
                return
            yield from self._reversed(trial, limits, way, (onset_ns, until_ns))

    def _reversed(self, trial: JudgedTrial, limits: tuple[Limit, ...], way: Held,
                  window: tuple[int, int]) -> Iterator[Finding]:
        """Look for speeds against the first one, and for how far slow ones lead in all."""
        robot, still = trial.scenario.robot_body.robot, trial.motion.standstill(limits, True)
        unit = trial.scenario.body.signals[self.signed or ''].unit
        most, creep, back, swung = self.reverse_at_most, math.inf, 0.0, 0.0
        if most is None and still is not None and unit == kind_of(robot).speed_unit:
            most, creep = still.linear if kind_of(robot).drives else still.joint, robot.creep
        direction = math.copysign(1.0, way[0][1] or 0.0)
        ends = [*(t_ns for t_ns, _ in way[1:]), window[1]]
        for (t_ns, value), end_ns in zip(way, ends, strict=True):
            against = math.nan if value is None else -direction * value
            yield from self._excess(against - (_NOISE if most is None else most),
                                    f'{self.signed} went into reverse', t_ns, window[0], unit)
            if value is None:
                continue
            led = against * (end_ns - max(t_ns, window[0])) / 1e9
            back, swung = max(0.0, back + led), swung + (led if against > _SWINGS else 0.0)
            if max(back, swung) > creep:
                yield self.finding(
                    Verdict.FAIL, f'{self.signed} went into reverse, by more than {creep:g} '
                    f'{_WAYS[unit]} in all', at_ms=(end_ns - window[0]) / 1e6)
                return

    def _excess(self, excess: float, what: str, t_ns: int, onset_ns: int,
                unit: str) -> Iterator[Finding]:
        at_ms = (t_ns - onset_ns) / 1e6
        if math.isnan(excess):
            yield self.finding(Verdict.INCONCLUSIVE, f'cannot determine whether {what}',
                               at_ms=at_ms)
        elif excess > 0:
            yield self.finding(Verdict.FAIL, f'{what}, {excess:.4g} {unit} more than allowed',
                               -excess, unit, at_ms)

    def _broken(self, broken: Sample, reached: Sample, clear_ns: int, onset_ns: int,
                unit: str) -> Finding:
        held_ms = (broken.t_ns - reached.t_ns) / 1e6
        at_ms = (broken.t_ns - onset_ns) / 1e6
        if broken.margin is None:
            return self.finding(Verdict.FAIL, f'{held_ms:.1f} ms into the stop a command is '
                                f'unknown or not a number', at_ms=at_ms)
        held = apart(held_ms, self.hold_ms, '.1f')
        what = f'held only {held} ms' if held_ms < self.hold_ms else (
            f'moved before the {"reset" if broken.t_ns > clear_ns else "all-clear"}, after it '
            f'stood for {held} ms')
        return self.finding(
            Verdict.FAIL, f'{what}: {-broken.margin:.4g} {unit} too fast',
            broken.margin if math.isfinite(broken.margin) else None, unit, at_ms)


def _words(limits: tuple[Limit, ...]) -> str:
    return ' and '.join(str(limit) for limit in limits)


_LEAST = 0.02
"""What a body may be faster than it is told and still follow (signal's unit)."""
_BEHIND_NS = 500_000_000
"""So long it may take to follow."""


class Slow(InvariantPlugin):
    """
    ``signal <= at_most`` is reached ``within`` of onset and holds until the all-clear.

    A robot that slows down at the deceleration of ``robot.stopping`` must begin ``within``. Where
    commands do not arrive as they are sent, slow ones are not enough: the robot must be slow.

    The margin is the slack of the speed (signal's unit): of the fastest command after the limit of
    time. A robot that slowed down in time has the smallest slack it kept.
    """

    units: ClassVar[SignalUnits] = {'signal': SPEEDS}

    kind: Literal['slow'] = 'slow'
    signal: str = Field(min_length=1)
    """Signal with the commanded speed."""
    at_most: float = Field(ge=0)
    """Fastest allowed (signal's unit)."""
    within: LimitName | float = 'critical'
    """A limit of the latency budget, or a time in ms after onset."""

    @model_validator(mode='after')
    def _within_is_a_time(self) -> 'Slow':
        if isinstance(self.within, float) and self.within <= 0:
            raise ValueError(f'within: got {self.within:g}, expected a number > 0 (ms)')
        return self

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge the command in force when the time is over, and each one after it."""
        scenario, window = trial.scenario, trial.timeline.window('hazard')
        if window is None:
            return self.finding(Verdict.INCONCLUSIVE,
                                'the hazard was not observed to its all-clear')
        within_ns = (round(self.within * 1e6) if isinstance(self.within, float)
                     else scenario.latency_budget.limit_ns(self.within))
        due_ns, limit = window[0] + within_ns, Limit(signal=self.signal, at_most=self.at_most)
        unit = scenario.body.signals[self.signal].unit
        series = trial.signals.margin_series([limit])
        if due_ns > window[1]:
            return self.finding(Verdict.INCONCLUSIVE,
                                'the all-clear came before the time was over')
        if not series.within(*window):
            return self.finding(Verdict.FAIL, 'no command took effect after onset: none arrived, '
                                'or the driver ignored them all')
        begin_ns, due_ns = due_ns, trial.motion.braked_until([limit], due_ns, window[1])
        before = series.before(due_ns + 1)
        samples = [*([before] if before else []), *series.within(due_ns + 1, window[1])]
        worst = min((sample for sample in samples if sample.margin is not None),
                    key=lambda sample: sample.margin or 0.0, default=None)
        if worst is not None and worst.margin is not None and worst.margin < 0:
            return self.finding(
                Verdict.FAIL, f'{-worst.margin:.4g} {unit} too fast '
                f'{(max(worst.t_ns, due_ns) - window[0]) / 1e6:.0f} ms after onset, allowed are '
                f'{self.at_most:g} {unit} from {within_ns / 1e6:g} ms on', worst.margin, unit,
                (max(worst.t_ns, due_ns) - window[0]) / 1e6)
        if worst is None or any(sample.margin is None for sample in samples):
            return self.finding(Verdict.INCONCLUSIVE,
                                f'{self.signal} is unknown or not a number in a command')
        untrue = self._untrue(trial, unit, due_ns, window[1])
        if untrue is not None:
            return untrue
        return self.finding(
            Verdict.PASS, f'{limit} from {(due_ns - window[0]) / 1e6:g} ms on until the all-clear'
            + (f', slowing down from {within_ns / 1e6:g} ms on' if due_ns > begin_ns else ''),
            worst.margin, unit, trial.timeline.since_onset_ms(worst.t_ns))

    def _untrue(self, trial: JudgedTrial, unit: str, due_ns: int, to_ns: int) -> Finding | None:
        """
        Find a robot that is fast although its commands are slow: they arrive otherwise.

        It is behind what it is told: to be faster for ``_BEHIND_NS`` yet tells nothing for sure.
        """
        if not any(plugin.on_commands for plugin in trial.record.trial.hazard):
            return None
        track = next((one for one in trial.motion.simulated_tracks if one.unit == unit), None)
        if track is None:
            return self.finding(Verdict.INCONCLUSIVE, (
                'the commands are slow, but do not arrive as they are sent, and the speed '
                'of the robot was not measured'))
        speeds, most = track.speed, self.at_most + _LEAST
        settled = track.most(speeds, due_ns + _BEHIND_NS, to_ns)
        fails = settled is not None and settled[0] > most
        worst = settled if fails else track.most(speeds, due_ns, to_ns)
        if worst is None or worst[0] <= most:
            return None
        return self.finding(
            Verdict.FAIL if fails else Verdict.INCONCLUSIVE,
            f'the robot was {worst[0] - self.at_most:.4g} {unit} too fast, according to the '
            f'simulator, while its commands were slow', self.at_most - worst[0], unit,
            trial.timeline.since_onset_ms(worst[1]))
