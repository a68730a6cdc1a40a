# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Which stop category a command stream and the robot's state show.

Source: IEC 60204-1 and ISO 13850. Category 0 removes power at once, 1 after a controlled stop, 2
never. Commands alone cannot tell 1 from 2 and never show 0; a stream that ceases is no category.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from safety_scenarios.standards._inputs import (
    check_not_negative,
    check_positive,
    check_samples,
    check_span,
    clipped,
    held,
    nanoseconds,
    Piece,
)


class StopCategory(Enum):
    """What was shown, and no more than that."""

    CATEGORY_0 = '0'
    CATEGORY_1 = '1'
    CATEGORY_2 = '2'
    ONE_OR_TWO = '1_or_2'
    """A controlled stop; nothing tells what became of the power."""
    TWO_ASSUMED = '2_assumed'
    """A controlled stop under power; nothing tells whether the robot stood."""
    ZERO_OR_ONE = '0_or_1'
    """Power was removed; nothing tells whether the robot still moved."""
    IMPLICIT_STOP = 'implicit_stop'
    """Commands ceased: the consumer's timeout stops the robot, not the controller."""
    NO_STOP = 'no_stop'
    NOT_MOVING = 'not_moving'
    """It stood all the time: there was nothing to stop."""
    UNKNOWN = 'unknown'


@dataclass(frozen=True)
class Power:
    """
    What was recorded of the drives' power; give None instead where nothing was.

    :param off_ns: when it went off; None: it stayed on
    """

    off_ns: int | None


@dataclass(frozen=True)
class Motion:
    """
    Measured speed of the robot.

    :param times_ns: ascending stamps of the clock of the commands
    :param speeds: one for each (m/s or rad/s)
    """

    times_ns: Sequence[int]
    speeds: Sequence[float]


@dataclass(frozen=True)
class Classification:
    """
    A stop category and why.

    :param zero_ns: from when on the commands demanded standstill; None: they never did
    """

    category: StopCategory
    reason: str
    zero_ns: int | None = None


def classify_stop(times_ns: Sequence[int], speeds: Sequence[float], *, start_ns: int,
                  end_ns: int, power: Power | None = None, motion: Motion | None = None,
                  eps: float = 0.01, hold: float = 1.0,
                  consumer_timeout: float = 0.5) -> Classification:
    """
    Return the stop category that a stream of commanded speeds and the robot's state show.

    :param times_ns: ascending stamps of the commands, one clock for all
    :param speeds: commanded speeds (m/s or rad/s)
    :param start_ns: when the stop was due
    :param end_ns: until when everything was observed
    :param power: None when it was not recorded
    :param motion: None when it was not recorded
    :param eps: speed up to which it stands
    :param hold: how long a stop must last (s)
    :param consumer_timeout: after which the consumer of the commands stops by itself (s)
    :raises InputError: NaN or infinity, times that do not ascend, an end before the start
    """
    check_not_negative(eps=eps, hold=hold)
    check_positive(consumer_timeout=consumer_timeout)
    check_span('start_ns', start_ns, end_ns)
    if motion is not None:
        check_samples(motion.times_ns, motion=motion.speeds)
    pieces = held(times_ns, speeds, end_ns, eps=eps, timeout_ns=nanoseconds(consumer_timeout))
    if not pieces or pieces[0].since_ns > start_ns:
        return Classification(StopCategory.UNKNOWN, 'no command shows what it did at the start')
    observed = _Observed(clipped(pieces, start_ns), motion, start_ns, end_ns, eps,
                         nanoseconds(hold), consumer_timeout)
    before = [piece for piece in pieces if piece.since_ns < start_ns] or pieces[:1]
    if abs(before[-1].value) <= eps and not observed.moved_at(start_ns):
        return Classification(StopCategory.UNKNOWN, 'it stood at the start, and moved later') \
            if observed.moved() else Classification(StopCategory.NOT_MOVING, 'it never moved')
    if power is None or power.off_ns is None or power.off_ns > end_ns:
        return observed.under_power(power is not None)
    if power.off_ns < start_ns:
        return Classification(StopCategory.UNKNOWN, 'the power was off before the stop was due')
    return observed.without_power(power.off_ns)


@dataclass(frozen=True)
class _Observed:
    pieces: Sequence[Piece]
    motion: Motion | None
    start_ns: int
    end_ns: int
    eps: float
    hold_ns: int
    consumer_timeout: float

    def moved_at(self, t_ns: int) -> bool:
        """Return whether the robot was measured to move at a moment."""
        return max(self._measured_around(t_ns), default=0.0) > self.eps

    def moved(self) -> bool:
        """Return whether anything moved or should have, from the start on."""
        measured = [] if self.motion is None else [
            speed for t_ns, speed in zip(self.motion.times_ns, self.motion.speeds)
            if self.start_ns <= t_ns <= self.end_ns]
        return any(abs(speed) > self.eps
                   for speed in (*(piece.value for piece in self.pieces), *measured))

    def without_power(self, off_ns: int) -> Classification:
        zero_ns = next((since for since, until in self._quiet() if since <= off_ns <= until), None)
        around = self._measured_around(off_ns)
        if not around or min(around) <= self.eps < max(around):
            return Classification(StopCategory.ZERO_OR_ONE, 'power was removed, but no measured '
                                  'speed shows whether the robot still moved', zero_ns)
        if min(around) > self.eps:
            return Classification(StopCategory.CATEGORY_0, 'power was removed while it moved',
                                  zero_ns)
        if zero_ns is None:
            return Classification(StopCategory.UNKNOWN, 'power was removed while it stood, and '
                                  'no command had demanded that')
        return Classification(StopCategory.CATEGORY_1, 'power was removed after a controlled '
                              'stop', zero_ns)

    def under_power(self, is_recorded: bool) -> Classification:
        stops = self._quiet()
        stop = next((stop for stop in stops if stop[1] - stop[0] >= self.hold_ns), None)
        if stop is None:
            return self._without_stop(bool(stops) and stops[-1][1] == self.end_ns)
        zero_ns = stop[0]
        if self.motion is not None:
            doubt = self._still_moving(*stop)
            if doubt is not None:
                return Classification(*doubt, zero_ns)
        if not is_recorded:
            return Classification(StopCategory.ONE_OR_TWO, 'a controlled stop; whether power '
                                  'stayed was not recorded', zero_ns)
        if self.motion is None:
            return Classification(StopCategory.TWO_ASSUMED, 'commands demanded standstill under '
                                  'power; whether it stood was not measured', zero_ns)
        return Classification(StopCategory.CATEGORY_2, 'it stood under power', zero_ns)

    def _without_stop(self, ends_quiet: bool) -> Classification:
        last = self.pieces[-1]
        if last.implicit:
            return Classification(StopCategory.IMPLICIT_STOP, f'commands ceased, and the consumer '
                                  f'timed out after {self.consumer_timeout:g} s')
        if ends_quiet:
            return Classification(StopCategory.UNKNOWN, 'standstill was demanded too late to be '
                                  'held')
        return Classification(StopCategory.NO_STOP, 'commands demanded motion until the end')

    def _still_moving(self, zero_ns: int, until_ns: int) -> tuple[StopCategory, str] | None:
        """Return why the robot itself did not come to a stop that lasted, None when it did."""
        assert self.motion is not None
        during = [(t_ns, abs(speed)) for t_ns, speed in zip(
            self.motion.times_ns, self.motion.speeds) if zero_ns <= t_ns <= until_ns]
        if not during:
            return StopCategory.UNKNOWN, 'no speed was measured during the stop'
        if during[-1][1] > self.eps:
            return StopCategory.NO_STOP, 'standstill was demanded, but the robot moved on'
        moving = [place for place, (_, speed) in enumerate(during) if speed > self.eps]
        stood_ns = during[moving[-1] + 1][0] if moving else during[0][0]
        if during[-1][0] - stood_ns < self.hold_ns:
            return StopCategory.UNKNOWN, 'measured standstill was too short to decide'
        return None

    def _measured_around(self, t_ns: int) -> list[float]:
        """Return the measured speeds next to a moment, on both sides: [] when one is missing."""
        if self.motion is None:
            return []
        pairs = list(zip(self.motion.times_ns, self.motion.speeds))
        before = [abs(speed) for at_ns, speed in pairs if at_ns <= t_ns]
        after = [abs(speed) for at_ns, speed in pairs if at_ns >= t_ns]
        return [before[-1], after[0]] if before and after else []

    def _quiet(self) -> list[tuple[int, int]]:
        """Return when commands demanded standstill without a break: (since, until)."""
        runs: list[tuple[int, int]] = []
        for piece in self.pieces:
            if abs(piece.value) > self.eps or piece.implicit:
                continue
            if runs and runs[-1][1] == piece.since_ns:
                runs[-1] = (runs[-1][0], piece.until_ns)
            else:
                runs.append((piece.since_ns, piece.until_ns))
        return runs
