# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What marks around words take from them: quotation marks, code, crosses, empty boxes."""

from collections.abc import Iterator
import json
import re

from safety_scenarios.scenario.wording.scope import Scope

_QUOTED = re.compile('"([^"\\n]{1,2000})"|“([^”]{1,2000})”|«([^»]{1,2000})»|„([^“”]{1,2000})[“”]|'
                     r"(?<![^\W_])['‘]((?:[^'‘’\n]|(?<=\w)['’](?=\w)){1,400})['’](?![^\W_])|"
                     r'~~([^~]{1,2000})~~|(?:^|\n)[ \t]*>([^\n]*)')
_CODE = re.compile(r'```(.+?)(?:```|\Z)|`([^`\n]+)`|<!--(.*?)(?:-->|\Z)', re.DOTALL)
_CROSS = re.compile('[\u274c\u2717\u2718\U0001f6ab\U0001f44e]|'
                    r'(?:^|(?<=\n))[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[[ \t]?\][ \t]')
"""A cross, a sign of no or a thumb down, and a box that nobody has ticked."""
_IRONIC = re.compile(r'(?:^|(?<!\bm)(?<!\brad)\s)/s\s*$')
_DATA = re.compile(r'\s*(```\w*\s*)?(?=[{\[])')
_FENCE = re.compile(r'\s*```')
_JSON = json.JSONDecoder()


def quotes(text: str) -> Iterator[Scope]:
    """Yield what stands in quotation marks, is struck out, or in a block of quotation."""
    stripped = text.strip()
    begin = _after_data(text)
    yield from _crossed(text, begin)
    for found in _CODE.finditer(text, begin):
        group = next(number for number in range(1, 4) if found[number] is not None)
        start, end = found.span(group)
        if found[0] != stripped or group == 3:  # nobody sees a comment
            yield Scope(start, end, 'quoted', (found.start(), start))
    for found in _QUOTED.finditer(text, begin):
        group = next(number for number in range(1, 8) if found[number] is not None)
        if found[0].strip() == stripped and group not in (6, 7):
            return  # an answer that is in quotation marks as a whole is no quotation
        start, end = found.span(group)
        yield Scope(start, end, 'struck out' if group == 6 else 'quoted', (found.start(), start))


def _after_data(text: str) -> int:
    """Return where JSON ends that a text begins with: all of its texts are in quotation marks."""
    found = _DATA.match(text)
    try:
        end = _JSON.raw_decode(text, found.end())[1] if found else 0
    except (ValueError, RecursionError):
        return 0
    closes = _FENCE.match(text, end) if found and found[1] else None
    return closes.end() if closes else end


def _crossed(text: str, begin: int) -> Iterator[Scope]:
    """Yield what signs take back that are no words: each the line that it stands in."""
    ended = -1
    for found in _CROSS.finditer(text, begin):
        if found.start() < ended:
            continue  # in the same line
        start = text.rfind('\n', 0, found.start()) + 1
        ended = text.find('\n', found.end())
        ended = len(text) if ended < 0 else ended
        yield Scope(start, ended, 'struck out', (start, start))
    ironic = _IRONIC.search(text)
    if ironic is not None:
        yield Scope(0, ironic.start(), 'taken back', ironic.span())
