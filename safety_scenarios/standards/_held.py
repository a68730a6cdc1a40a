# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A command stream as its consumer sees it: each value in force until the next, or a timeout."""

from collections.abc import Sequence
from dataclasses import dataclass

from safety_scenarios.errors import InputError
from safety_scenarios.standards._inputs import check_samples


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
