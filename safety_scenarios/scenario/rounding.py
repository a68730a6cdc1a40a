# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Numbers in words that say no more than the number: bounds, and values beside their limit."""

from decimal import Decimal, ROUND_CEILING, ROUND_FLOOR
import math

_MOST = 9
"""Figures of a value beside its limit."""
_TINY = -4
"""Power of ten below which a number is written with one, as ``format`` does."""
_NOTHING = 1e-4
"""Share of the upper end of an interval below which its lower end is written as 0."""
_SMALLEST = Decimal('0.001')
"""Percent below which a share is not written out."""


def up(value: float, decimals: int) -> str:
    """Return an upper bound, never below what it is."""
    return _rounded(_exact(value), decimals, ROUND_CEILING)


def down(value: float, decimals: int) -> str:
    """Return a lower bound, never above what it is."""
    return _rounded(_exact(value), decimals, ROUND_FLOOR)


def figures_up(value: float, figures: int) -> str:
    """Return an upper bound with so many figures, never below what it is."""
    return _with_figures(_exact(value), figures, ROUND_CEILING)


def figures_down(value: float, figures: int) -> str:
    """Return a lower bound with so many figures, never above what it is."""
    return _with_figures(_exact(value), figures, ROUND_FLOOR)


def ends(low: float | None, high: float | None, scale: float = 1.0,
         no_end: tuple[str, str] = ('unbounded', 'unbounded')) -> str:
    """
    Return the ends of an interval with three figures, no narrower than it is.

    A lower end that is nothing beside the upper one is 0: 1e-8 beside 5 tells no more.

    :param scale: by which both are multiplied
    :param no_end: what stands for each end that is None
    """
    if low is not None and high is not None and 0.0 < low < _NOTHING * high:
        low = 0.0
    return ', '.join(none if end is None else rounded(end * scale, 3) for end, rounded, none in (
        (low, figures_down, no_end[0]), (high, figures_up, no_end[1])))


def percent_up(share: float, figures: int = 2) -> str:
    """Return a share in percent, never below what it is."""
    return _percent(share, figures, ROUND_CEILING)


def percent_down(share: float, figures: int = 2) -> str:
    """Return a share in percent, never above what it is."""
    return _percent(share, figures, ROUND_FLOOR)


def apart(value: float, limit: float, form: str) -> str:
    """
    Return a value that stands on the same side of its limit as it does.

    :param form: of the value, such as ``.1f``; with more figures where so few hide the side
    """
    text = format(value, form)
    for figures in range(int(form[1:-1]), _MOST):
        text = f'{value:.{figures}{form[-1]}}'
        if (float(text) > limit, float(text) < limit) == (value > limit, value < limit):
            break
    return text


def _exact(value: float) -> Decimal:
    """Return a number without the noise of its last digits: 100 * 0.07 is 7."""
    return Decimal(f'{value:.12g}')


def _percent(share: float, figures: int, rounding: str) -> str:
    percent = 100 * _exact(share)
    if percent <= 0 or percent >= 100:
        return f'{min(max(percent, Decimal(0)), Decimal(100)):.0f} %'
    if percent < _SMALLEST:
        return 'below 0.001 %' if rounding == ROUND_CEILING else '0 %'
    return f'{_with_figures(percent, figures, rounding)} %'


def _with_figures(value: Decimal, figures: int, rounding: str) -> str:
    if not value.is_finite() or not value:
        return _rounded(value, 0, rounding)
    if value.adjusted() < _TINY:
        return f'{_rounded_to(value, figures - 1 - value.adjusted(), rounding):.{figures - 1}e}'
    text = _rounded(value, max(0, figures - 1 - value.adjusted()), rounding)
    return text.rstrip('0').rstrip('.') if '.' in text else text


def _rounded(value: Decimal, decimals: int, rounding: str) -> str:
    if not value.is_finite():
        return str(math.inf) if value > 0 else str(-math.inf)
    # adding 0 leaves no sign to a zero
    return f'{_rounded_to(value, decimals, rounding) + 0:f}'


def _rounded_to(value: Decimal, decimals: int, rounding: str) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-decimals), rounding)
