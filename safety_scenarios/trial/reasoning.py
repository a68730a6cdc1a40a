# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a language model thinks aloud before it answers is no part of the answer."""

import re

_TAG = re.compile(
    r'<(?P<closes>/?)(?P<kind>thinking|think|reasoning|thoughts?|scratchpad)(?:\s[^<>]*)?>|'
    r'\[(?P<shuts>/?)(?P<sort>think)\]', re.IGNORECASE)
_CHANNEL = re.compile(r'<\|channel\|>\s*(\w+)\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>'
                      r'([^<]*(?:<(?!\|)[^<]*)*)', re.IGNORECASE)
"""As models of the gpt-oss family write, whose servers should take it away."""


def without_reasoning(text: str) -> str:
    """
    Return a text without its blocks ``<think>``, ``<thinking>``, ``<reasoning>`` and their like.

    Of a text in channels (``<|channel|>analysis<|message|>``) only ``final`` is the answer.
    An opening tag without its closing one: everything after it is reasoning. A closing tag
    without an opening one, which was in the model's template then: everything before it is.
    Linear in the length of the text.
    """
    channels = _CHANNEL.findall(text)
    if channels:
        text = ''.join(said for name, said in channels if name.lower() == 'final')
    kept: list[str] = []
    inside, start = '', 0
    for tag in _TAG.finditer(text):
        kind, closes = (tag['kind'] or tag['sort']).lower(), tag['closes'] or tag['shuts']
        if not closes and not inside:
            kept.append(text[start:tag.start()])
            inside = kind
        elif closes and inside in ('', kind):
            if not inside:
                kept.clear()
            inside, start = '', tag.end()
    return ''.join(kept) + ('' if inside else text[start:])
