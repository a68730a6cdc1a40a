# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A formula about a robot in operation, while samples come in.

What must always hold is asked at each sample of a window of the recent past, as soon as the past
that it looks back to is in the window. What it looks ahead to may still come: that is open, and
nothing unknown.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from safety_scenarios.errors import InputError
from safety_scenarios.temporal_logic.formula import (
    And,
    children,
    Edge,
    Formula,
    Future,
    Past,
    Since,
    Until,
)
from safety_scenarios.temporal_logic.offline import Evaluation


class Horizon(NamedTuple):
    """How far around a sample a formula looks."""

    past_ns: int
    future_ns: int
    samples: int
    """How many samples before it, whatever their age: ``rise`` looks at one."""


class Running(NamedTuple):
    """What a window says of what must always hold."""

    body: Formula
    sample: int
    """The sample that decided."""
    margin: float
    """Upper bound where it is violated, else the lower one."""
    outcome: bool | None
    """True: it held wherever that is known by now; None: something is unknown."""


def bodies(formula: Formula) -> tuple[Formula, ...]:
    """
    Return what must always hold, for each ``always`` that a formula joins by ``and``.

    :raises InputError: it asks for anything else, or looks ahead or back without bounds
    """
    if isinstance(formula, And):
        return tuple(body for part in formula.parts for body in bodies(part))
    if not isinstance(formula, Future) or not formula.every or formula.bounds is not None:
        raise InputError('a robot in operation has no first moment, expected always (...) '
                         'without bounds around the whole formula, or several joined by and')
    horizon(formula.part)
    return (formula.part,)


def horizon(node: Formula) -> Horizon:
    """
    Return how far around a sample a formula looks.

    :raises InputError: without bounds
    """
    below = [horizon(part) for part in children(node)]  # type: ignore[arg-type]
    past_ns, future_ns, samples = (max((one[place] for one in below), default=0)
                                   for place in range(3))
    if isinstance(node, Edge):
        return Horizon(past_ns, future_ns, samples + 1)
    if isinstance(node, (Future, Until, Past, Since)):
        if node.bounds is None:
            name = type(node).__name__.lower()
            raise InputError(f'got an operator of the {name} kind without bounds inside '
                             f'always, expected bounds such as eventually[0, 1]: a robot in '
                             f'operation has no end and no beginning')
        if isinstance(node, (Future, Until)):
            return Horizon(past_ns, future_ns + node.bounds.last_ns, samples)
        return Horizon(past_ns + node.bounds.last_ns, future_ns, samples)
    return Horizon(past_ns, future_ns, samples)


def running(evaluation: Evaluation) -> Iterator[Running]:
    """
    Yield what the trace of a window says, for each body of its formula; nothing of one too short.

    :param evaluation: of the whole formula, of which more will come
    """
    stamps, end_ns = evaluation.trace.stamps, evaluation.trace.end_ns
    for body in bodies(evaluation.formula) if len(stamps) else ():
        looks = horizon(body)
        first = max(int(np.searchsorted(stamps, stamps[0] + looks.past_ns)), looks.samples)
        over = int(np.searchsorted(stamps, end_ns - looks.future_ns, 'right'))
        rows = evaluation.rows(body)
        low, high = rows[0, first:], rows[-1, first:]
        if not len(low):
            continue
        at = int(np.argmin(high))
        if high[at] <= 0:
            yield Running(body, first + at, float(high[at]), False)
            continue
        if over <= first:
            continue
        at = int(np.argmin(low[:over - first]))
        yield Running(body, first + at, float(low[at]), True if low[at] > 0 else None)
