# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Text and data as they may stand in a page.

What others wrote (names, answers, errors) is shown as text and nothing else: the template escapes
it, data goes in as base64, and characters that nobody sees or that turn the line around become
visible signs here.
"""

import base64
from collections.abc import Mapping
import json
import re
from typing import Any
import zlib

LONGEST = 4000
"""Characters of one text that the page shows; the record has the rest."""
_UNSEEN = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f'
                     '\ud800-\udfff\ufeff\ufff9-\ufffb]')
_PICTURES = 0x2400
"""Where Unicode has a picture of each control character of ASCII."""


def visible(text: str, longest: int = LONGEST) -> str:
    """Return a text in which every character can be seen, and which ends before it is a book."""
    cut = text if len(text) <= longest else \
        f'{text[:longest]}... ({len(text)} characters; the record has all of them)'
    return _UNSEEN.sub(lambda found: _sign(found[0]), cut)


def _sign(letter: str) -> str:
    number = ord(letter)
    if number < 0x20 and letter != '\r':
        return chr(_PICTURES + number)
    return '' if letter == '\r' else f'[U+{number:04X}]'


def visible_in(data: Any) -> Any:
    """Return JSON data with each text in it as ``visible`` has it."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, Mapping):
        return {visible(str(name)): visible_in(value) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [visible_in(value) for value in data]
    return data


def compact(data: Any) -> str:
    """Return JSON in ASCII without a blank; no NaN, which browsers do not read."""
    return json.dumps(data, separators=(',', ':'), allow_nan=False, default=str)


def packed(text: str | bytes, level: int = 9) -> str:
    """Return a text gzipped and in base64, as ``SafetyScenarios.unpack`` of the page reads it."""
    data = text.encode() if isinstance(text, str) else text
    made = zlib.compressobj(level, zlib.DEFLATED, 31)
    return base64.b64encode(made.compress(data) + made.flush()).decode('ascii')
