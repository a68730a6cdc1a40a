# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What can be displayed: short texts, whole numbers, series with fewer points."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
import math
import re

import numpy

_HIDDEN = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e'
                     '\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]')
"""What moves a cursor, turns a text around, or is not seen."""


def shown(text: str, most: int | None = None) -> str:
    r"""
    Return a text in which everything is seen: an escape in place of what is not, such as ``\x1b``.

    Line breaks and tabs stay. What is longer than ``most`` loses its middle, and says how much.
    """
    if most is not None and len(text) > most:
        begin, end = most - most // 4, most // 4
        text = (f'{text[:begin]} [... {len(text) - begin - end} characters are left out here ...] '
                f'{text[len(text) - end:]}')
    return _HIDDEN.sub(_escape, text.replace('\r\n', '\n'))


def on_one_line(text: str, most: int | None = None) -> str:
    """Return the same without line breaks and tabs, which become blanks."""
    return ' '.join(shown(text, most).split())


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f'\\x{code:02x}' if code < 0x100 else f'\\u{code:04x}' if code < 0x10000 \
        else f'\\U{code:08x}'


def rounded(value: float | None, digits: int) -> float | int | None:
    """Return a number as a screen shows it, None for what is none; -0.0 is 0."""
    if value is None or not math.isfinite(value):
        return None
    found = round(value, digits)
    return int(found) if found == int(found) else found


def all_rounded(values: Iterable[float | None], digits: int) -> Sequence[float | int | None]:
    """Return several numbers so."""
    return [rounded(value, digits) for value in values]


Sample = tuple[int, float | None]
"""(ms, value); None: not known from then on."""


def changes(samples: Sequence[Sample]) -> Sequence[Sample]:
    """Return only the samples of a held series in which it changes, and its last."""
    if not samples:
        return ()
    found = [samples[0]]
    for sample in samples[1:]:
        if sample[1] != found[-1][1]:
            found.append(sample)
    return found if found[-1][0] == samples[-1][0] else [*found, samples[-1]]


def fewer(samples: Sequence[Sample], most: int) -> Sequence[Sample]:
    """
    Return at most so many samples in order: of each stretch of time its lowest and its highest.

    The first, the last, and where a value becomes unknown or known again are kept too, as far as
    there is room.

    :param most: at least 8
    """
    kept = places([value for _, value in samples], [t_ms for t_ms, _ in samples], most, ())
    return [samples[place] for place in kept]


def corners(values: Sequence[float | None], times: Sequence[float], near: float,
            most: int) -> Sequence[int]:
    """
    Return places between which straight lines lose no dip and no peak, the highest ones first.

    :param near: how far from a line a value may be
    """
    known = [place for place, value in enumerate(values) if value is not None]
    if not known:
        return ()
    x, y = (numpy.array([series[place] for place in known], dtype=float)
            for series in (times, values))

    def farthest(first: int, last: int) -> tuple[float, int, int, int]:
        away = numpy.abs(y[first:last + 1] - numpy.interp(
            x[first:last + 1], x[[first, last]], y[[first, last]]))
        place = int(away.argmax())
        return -float(away[place]), first + place, first, last

    found, spans = {0, len(known) - 1}, [farthest(0, len(known) - 1)]
    while spans and -spans[0][0] > near and len(found) < most:
        _, place, first, last = heappop(spans)
        found.add(place)
        for span in ((first, place), (place, last)):
            heappush(spans, farthest(*span))
    return [known[place] for place in sorted(found)]


def places(values: Sequence[float | None], times: Sequence[float], most: int,
           always: Collection[int]) -> Sequence[int]:
    """
    Return the places that are kept, in order.

    :param values: beside ``times``, in order of time
    :param always: places that are kept whatever their values
    """
    last = len(values) - 1
    if last < most:
        return range(last + 1)
    found = {0, last, *always}
    known = [place for place, value in enumerate(values) if value is not None]
    value_at = [value or 0.0 for value in values].__getitem__
    if known:
        found |= {min(known, key=value_at), max(known, key=value_at)}
    borders = [place for place in range(1, last + 1)
               if (values[place] is None) != (values[place - 1] is None)]
    found |= set(borders[:max(0, (most - len(found)) // 4)])
    stretches = max(1, (most - len(found)) // 2)
    wide = (times[last] - times[0]) / stretches or 1.0
    first = times[0]
    begins = [bisect_left(known, stretch, key=lambda place: int((times[place] - first) / wide))
              for stretch in range(stretches)]
    for begin, end in pairwise([*begins, len(known)]):
        if inside := known[begin:end]:
            found |= {min(inside, key=value_at), max(inside, key=value_at)}
    return sorted(found)
