# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What comes from outside as somebody may look at it: whole numbers, short texts, no control."""

from collections.abc import Iterable, Sequence
import math
import re

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
