# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What every formula asks of its inputs: finite numbers, ordered stamps, held commands.

Quantities lie within +-1e12 and divisors are at least 1e-12, in SI units: any product or quotient
of a few of them is still a finite number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
import math

from safety_scenarios.errors import InputError

_LARGEST = 1e12
"""Beyond every speed, distance or force there is; squares of it are finite."""
_SMALLEST = 1e-12
"""Dividing by less overflows."""


def check_finite(**values: float) -> None:
    """
    Refuse NaN, infinity and what is no number.

    :raises InputError: naming the first such value
    """
    for name, value in values.items():
        if not _within(value, -_LARGEST, _LARGEST):
            raise InputError(f'{name}: got {value}, expected a finite number within +-1e12 '
                             f'(SI units)')


def check_not_negative(**values: float) -> None:
    """
    Refuse negative numbers too.

    :raises InputError: naming the first such value
    """
    for name, value in values.items():
        if not _within(value, 0.0, _LARGEST):
            raise InputError(f'{name}: got {value}, expected a finite number >= 0 and <= 1e12 '
                             f'(SI units)')


def check_positive(**values: float) -> None:
    """
    Refuse zero and negative numbers too.

    :raises InputError: naming the first such value
    """
    for name, value in values.items():
        if not _within(value, _SMALLEST, _LARGEST):
            raise InputError(f'{name}: got {value}, expected a finite number > 0, from 1e-12 to '
                             f'1e12 (SI units)')


def check_share(**values: float) -> None:
    """
    Refuse what is not from 0 to 1.

    :raises InputError: naming the first such value
    """
    for name, value in values.items():
        if not _within(value, 0.0, 1.0):
            raise InputError(f'{name}: got {value}, expected a number from 0 to 1')


def check_samples(times_ns: Sequence[int], **columns: Sequence[float]) -> None:
    """
    Refuse columns of another length than their times, and times that do not ascend.

    :param times_ns: int nanoseconds of one clock
    :param columns: a value for each time, finite
    :raises InputError: naming the column and the first wrong place
    """
    for place, (earlier, later) in enumerate(pairwise(times_ns)):
        if not earlier < later:
            raise InputError(f'times_ns[{place + 1}]: got {later} after {earlier}, expected '
                             f'ascending times. Keep the last of equal stamps')
    for name, values in columns.items():
        if len(values) != len(times_ns):
            raise InputError(f'{name}: got {len(values)} values, expected {len(times_ns)}, one '
                             f'for each time')
        for place, value in enumerate(values):
            check_finite(**{f'{name}[{place}]': value})


def nanoseconds(seconds: float) -> int:
    """Return a duration in whole nanoseconds; what is within a thousandth of one is that one."""
    return math.ceil(round(seconds * 1e9, 3))


def _within(value: float, low: float, high: float) -> bool:
    try:
        return bool(low <= value <= high)  # False for NaN
    except (TypeError, ValueError):
        return False


@dataclass(frozen=True)
class Piece:
    """
    One value in force.

    :param since_ns: first moment, included
    :param until_ns: last moment, excluded
    :param implicit: no command says so: the consumer's timeout has run out
    """

    since_ns: int
    until_ns: int
    value: float
    implicit: bool


def held(times_ns: Sequence[int], values: Sequence[float], end_ns: int, *,
         eps: float, timeout_ns: int | None) -> list[Piece]:
    """
    Return the pieces of a stream up to and with ``end_ns``; none before its first sample.

    :param eps: a value up to this is standstill, which no timeout changes
    :param timeout_ns: after which the consumer stops by itself; None: never
    :raises InputError: times that do not ascend, NaN or infinity
    """
    check_samples(times_ns, speeds=values)
    pieces: list[Piece] = []
    for place, (since_ns, value) in enumerate(zip(times_ns, values)):
        if since_ns > end_ns:
            break
        is_last = place + 1 == len(times_ns) or times_ns[place + 1] > end_ns
        until_ns = end_ns if is_last else times_ns[place + 1]
        if timeout_ns is not None and abs(value) > eps and until_ns - since_ns > timeout_ns:
            pieces.append(Piece(since_ns, since_ns + timeout_ns, value, False))
            pieces.append(Piece(since_ns + timeout_ns, until_ns, 0.0, True))
        else:
            pieces.append(Piece(since_ns, until_ns, value, False))
    return pieces


def clipped(pieces: Sequence[Piece], from_ns: int) -> list[Piece]:
    """Return what is in force from a moment on; the first piece begins there."""
    return [Piece(max(piece.since_ns, from_ns), piece.until_ns, piece.value, piece.implicit)
            for place, piece in enumerate(pieces)
            if piece.until_ns > from_ns or place + 1 == len(pieces)]


def check_span(start_name: str, start_ns: int, end_ns: int) -> None:
    """Refuse an observation that ends before it starts."""
    if end_ns < start_ns:
        raise InputError(f'end_ns: got {end_ns}, expected at least {start_name} {start_ns}')
