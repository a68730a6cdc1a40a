# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How a command stream stops: reaction, onset, settling, path, overshoot, deceleration, jerk.

Each command is in force until the next, or until its consumer's timeout, after which the consumer
stops by itself: that is never credited to the controller. A path that is computed from commands is
a lower bound for a robot that lags behind them; one from measured state is better. What could not
be measured has a status and no number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
import math

from safety_scenarios.errors import InputError
from safety_scenarios.standards._inputs import (
    check_not_negative,
    check_positive,
    check_share,
    check_span,
    clipped,
    held,
    nanoseconds,
    Piece,
)

_ROUNDING = 1e-9  # 1 - 0.95 is more than 0.05


class Status(Enum):
    """What a number is, or why there is none; only ``MEASURED`` can meet a limit."""

    MEASURED = 'measured'
    PRE_SATISFIED = 'pre_satisfied'
    """It stood already at onset: nothing was asked of the controller."""
    ANTICIPATORY = 'anticipatory'
    """It slowed down before onset: not a reaction to the hazard."""
    NOT_MOVING = 'not_moving'
    """It did not move at onset, so that this has no meaning."""
    NO_RESPONSE = 'no_response'
    """No command was a reaction until the end of the observation."""
    NOT_STOPPED = 'not_stopped'
    """It never came to a stop until the end of the observation."""
    UNSETTLED = 'unsettled'
    """It did not stay stopped, or was not observed for long enough to tell."""
    IMPLICIT_STOP = 'implicit_stop'
    """Commands ceased, and only the consumer's timeout stopped the robot."""
    UNKNOWN = 'unknown'
    """No command says what was in force at onset, or too little was observed."""


@dataclass(frozen=True)
class Measure:
    """
    A number with its status.

    :param value: in the unit of its field; None unless the status is ``MEASURED``
    """

    status: Status
    value: float | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.status is Status.MEASURED):
            raise InputError(f'value: got {self.value} with {self.status.value}, expected a '
                             f'number if and only if it was measured')


@dataclass(frozen=True, kw_only=True)
class StopRules:
    """
    What counts as a stop.

    :param eps: speed up to which it stands (m/s or rad/s)
    :param hold: how long it must stay so to have settled (s)
    :param share: of the speed at onset: what is a change, and what a tolerable rise (1)
    :param baseline: how long before onset the speed should have been kept (s)
    :param consumer_timeout: after which the consumer of the commands stops by itself (s); None: it
        never does
    """

    eps: float = 0.01
    hold: float = 1.0
    share: float = 0.05
    baseline: float = 0.5
    consumer_timeout: float | None = 0.5

    def __post_init__(self) -> None:
        check_not_negative(eps=self.eps, hold=self.hold, baseline=self.baseline)
        check_share(share=self.share)
        if self.consumer_timeout is not None:
            check_positive(consumer_timeout=self.consumer_timeout)

    @property
    def timeout_ns(self) -> int | None:
        """Return the consumer's timeout in ns."""
        return None if self.consumer_timeout is None else nanoseconds(self.consumer_timeout)


@dataclass(frozen=True, kw_only=True)
class StopMetrics:
    """
    A stop in numbers; times count from onset.

    :param reaction_time: to the first command that is slower by more than the share and eps (s)
    :param stop_onset: to the first speed below (1 - share) of that at onset, never to exceed that
        again (s)
    :param first_zero: to the first standstill (s)
    :param settling_time: to the standstill that lasts (s)
    :param distance: path from onset until settled (m)
    :param signed_distance: displacement from onset until settled, along the motion at onset (m)
    :param overshoot: fastest motion the other way after the first standstill (m/s)
    :param reversals: how often the motion changed its direction
    :param peak_deceleration: largest loss of speed within any ``grid`` seconds, over ``grid``
        (m/s2)
    :param peak_jerk: of the commands held on a uniform grid (m/s3); scales with 1 / grid^2
    :param rise: how far the speed rose over its least so far before it first stood (m/s)
    :param monotone: whether the rise is within the share of the speed at onset; None: unknown
    :param command_gap: longest silence from onset until the end (s)
    :param grid: period of deceleration and jerk (s), to be quoted with them
    """

    reaction_time: Measure
    stop_onset: Measure
    first_zero: Measure
    settling_time: Measure
    distance: Measure
    signed_distance: Measure
    overshoot: Measure
    reversals: Measure
    peak_deceleration: Measure
    peak_jerk: Measure
    rise: Measure
    monotone: bool | None
    command_gap: Measure
    grid: float


def stop_metrics(times_ns: Sequence[int], speeds: Sequence[float], *, onset_ns: int, end_ns: int,
                 grid: float, rules: StopRules | None = None) -> StopMetrics:
    """
    Return how a stream of commanded speeds stops after a hazard.

    :param times_ns: ascending stamps of one clock
    :param speeds: one for each (m/s or rad/s), signed along the motion
    :param onset_ns: when the hazard was published
    :param end_ns: until when the stream was observed; silence until then counts
    :param grid: period of deceleration and jerk (s): a few command periods, because stamps that
        jitter by less than it make both too large
    :raises InputError: NaN or infinity, times that do not ascend, an end before onset
    """
    check_positive(grid=grid)
    check_span('onset_ns', onset_ns, end_ns)
    stop = _Stop(times_ns, speeds, onset_ns, end_ns, rules or StopRules())
    grid_ns = max(1, nanoseconds(grid))
    return StopMetrics(
        reaction_time=stop.reaction_time(), stop_onset=stop.stop_onset(),
        first_zero=stop.first_zero(), settling_time=stop.settling_time(),
        distance=stop.path(abs), signed_distance=stop.path(stop.along),
        overshoot=stop.overshoot(), reversals=stop.reversals(),
        peak_deceleration=stop.peak_deceleration(grid_ns), peak_jerk=stop.peak_jerk(grid_ns),
        rise=stop.rise(), monotone=stop.is_monotone(),
        command_gap=Measure(Status.MEASURED, stop.longest_gap_ns() / 1e9), grid=grid)


class _Stop:
    """One stream around one onset."""

    def __init__(self, times_ns: Sequence[int], speeds: Sequence[float], onset_ns: int,
                 end_ns: int, rules: StopRules) -> None:
        self.rules = rules
        self._onset_ns, self._end_ns = onset_ns, end_ns
        everything = held(times_ns, speeds, end_ns, eps=rules.eps, timeout_ns=rules.timeout_ns)
        self._commands = held(times_ns, speeds, end_ns, eps=rules.eps, timeout_ns=None)
        before = [piece for piece in everything if piece.since_ns < onset_ns]
        at = [piece for piece in everything if piece.since_ns == onset_ns]
        known = before[-1:] or at
        initial = known[0].value if known else 0.0
        self._initial = abs(initial)
        self._sign = math.copysign(1.0, initial)
        self._after = clipped(everything, onset_ns) if known else []
        self._unless_moving: Status | None = None  # why nothing about a motion can be measured
        if not known:
            self._unless_moving = Status.UNKNOWN
        elif self._initial <= rules.eps:
            self._unless_moving = Status.NOT_MOVING
        self._recent = [piece for piece in before
                        if piece.until_ns > onset_ns - nanoseconds(rules.baseline)]

    def along(self, speed: float) -> float:
        """Return a speed along the motion at onset."""
        return self._sign * speed

    def reaction_time(self) -> Measure:
        if self._unless_moving is Status.UNKNOWN:
            return Measure(Status.UNKNOWN)
        usual = max((abs(piece.value) for piece in self._recent), default=self._initial)
        if self._is_change(usual, self._initial):
            return Measure(Status.ANTICIPATORY)
        if self._unless_moving:
            return Measure(Status.PRE_SATISFIED)
        return self._since_onset(next(
            (piece for piece in self._commands if piece.since_ns >= self._onset_ns
             and self._is_change(self._initial, self.along(piece.value))), None),
            Status.NO_RESPONSE)

    def stop_onset(self) -> Measure:
        if self._unless_moving:
            return Measure(self._unless_moving)
        exceeds = [place for place, piece in enumerate(self._after)
                   if abs(piece.value) > self._initial]
        rest = self._after[exceeds[-1] + 1:] if exceeds else self._after
        slow = (1.0 - self.rules.share) * self._initial
        return self._since_onset(next(
            (piece for piece in rest if self.along(piece.value) <= slow), None),
            Status.NO_RESPONSE)

    def first_zero(self) -> Measure:
        if self._unless_moving:
            return Measure(self._standing())
        place = self._place_standing()
        return self._since_onset(None if place is None else self._after[place], Status.NOT_STOPPED)

    def settling_time(self) -> Measure:
        moving = self._places_moving()
        if not moving:
            return Measure(self._standing())
        settled = self._after[moving[-1] + 1:]
        if not settled:
            return Measure(Status.UNSETTLED)
        if settled[0].implicit:
            return Measure(Status.IMPLICIT_STOP)
        if self._end_ns - settled[0].since_ns < nanoseconds(self.rules.hold):
            return Measure(Status.UNSETTLED)
        return self._since_onset(settled[0], Status.UNSETTLED)

    def path(self, of: Callable[[float], float]) -> Measure:
        """Return the integral from onset until settled of a function of the speed."""
        settling = self.settling_time()
        if settling.value is None:
            return Measure(Status.NOT_MOVING) if settling.status is Status.PRE_SATISFIED \
                else settling
        until_settled = self._after[:self._places_moving()[-1] + 1]
        if any(piece.implicit for piece in until_settled):
            return Measure(Status.IMPLICIT_STOP)
        return Measure(Status.MEASURED, math.fsum(
            of(piece.value) * (piece.until_ns - piece.since_ns) / 1e9 for piece in until_settled))

    def overshoot(self) -> Measure:
        if self._unless_moving:
            return Measure(self._unless_moving)
        stood = self.first_zero()
        if stood.value is None:
            return stood
        after = self._after[self._place_standing():]
        return Measure(Status.MEASURED, max(0.0, *(-self.along(piece.value) for piece in after)))

    def reversals(self) -> Measure:
        if self._unless_moving:
            return Measure(self._unless_moving)
        signs = [self._sign, *(math.copysign(1.0, self._after[place].value)
                               for place in self._places_moving())]
        return Measure(Status.MEASURED, float(sum(one != other for one, other in pairwise(signs))))

    def rise(self) -> Measure:
        if self._unless_moving:
            return Measure(self._unless_moving)
        stood = self.first_zero()
        if stood.value is None:
            return stood
        least, rise = self._initial, 0.0
        for piece in self._after[:self._place_standing()]:
            rise = max(rise, abs(piece.value) - least)
            least = min(least, abs(piece.value))
        return Measure(Status.MEASURED, rise)

    def is_monotone(self) -> bool | None:
        rise = self.rise().value
        return None if rise is None else \
            rise <= self.rules.share * self._initial * (1.0 + _ROUNDING)

    def peak_deceleration(self, grid_ns: int) -> Measure:
        if self._unless_moving:
            return Measure(self._unless_moving)
        peak, first = 0.0, 0
        for place, later in enumerate(self._commands):
            while later.since_ns - self._commands[first].until_ns >= grid_ns:
                first += 1
            if later.since_ns >= self._onset_ns:
                peak = max([peak, *(self._loss(earlier.value, later.value)
                                    for earlier in self._commands[first:place])])
        return Measure(Status.MEASURED, peak / grid_ns * 1e9)

    def peak_jerk(self, grid_ns: int) -> Measure:
        if self._unless_moving:
            return Measure(self._unless_moving)
        begun = min(2, (self._onset_ns - self._commands[0].since_ns) // grid_ns)
        grid = range(self._onset_ns - begun * grid_ns, self._end_ns + 1, grid_ns)
        values, place = [], 0
        for t_ns in grid:
            while place + 1 < len(self._commands) and \
                    self._commands[place + 1].since_ns <= t_ns:
                place += 1
            values.append(self._commands[place].value)
        accelerations = [later - earlier for earlier, later in pairwise(values)]
        peak = max((abs(later - earlier) for earlier, later in pairwise(accelerations)),
                   default=None)
        return Measure(Status.UNKNOWN) if peak is None else \
            Measure(Status.MEASURED, peak / (grid_ns / 1e9)**2)

    def longest_gap_ns(self) -> int:
        """Return the longest time without a command that reaches beyond onset."""
        stamps = [piece.since_ns for piece in self._commands]
        before = [t_ns for t_ns in stamps if t_ns <= self._onset_ns]
        moments = [before[-1] if before else self._onset_ns, *stamps[len(before):], self._end_ns]
        return max(later - earlier for earlier, later in pairwise(moments))

    def _is_change(self, usual: float, speed: float) -> bool:
        """Return whether a speed is below the usual one by more than the share and eps."""
        change = max(self.rules.share * usual, self.rules.eps)
        return usual - speed > change * (1.0 + _ROUNDING)

    def _loss(self, earlier: float, later: float) -> float:
        """Return how much slower it got, or how much faster the other way."""
        return max(self.along(earlier) - self.along(later), abs(earlier) - abs(later))

    def _standing(self) -> Status:
        return Status.UNKNOWN if self._unless_moving is Status.UNKNOWN else Status.PRE_SATISFIED

    def _place_standing(self) -> int | None:
        return next((place for place, piece in enumerate(self._after)
                     if abs(piece.value) <= self.rules.eps), None)

    def _places_moving(self) -> list[int]:
        return [place for place, piece in enumerate(self._after)
                if abs(piece.value) > self.rules.eps]

    def _since_onset(self, piece: Piece | None, otherwise: Status) -> Measure:
        if piece is None:
            return Measure(otherwise)
        if piece.implicit:
            return Measure(Status.IMPLICIT_STOP)
        return Measure(Status.MEASURED, (piece.since_ns - self._onset_ns) / 1e9)
