# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether patterns know each word of a text: one word more can take back all the others."""

from collections.abc import Collection, Iterable
from itertools import pairwise
import re

from safety_scenarios.scenario.wording.hearing import Find
from safety_scenarios.scenario.wording.reading import look_alike, read, Token, tokens_of
from safety_scenarios.scenario.wording.triggers import NAYS

_PLAIN = frozenset('a an the and then now please immediately i we will am are is be to'.split())
"""Words that leave what a sentence says as it is."""
_AT_ONCE = re.compile(r'\bat once\b|(?:^|(?<=\n))[ \t]*\d{1,2}[.)](?=\s)')
_BREAK = re.compile(r'[^\w\s]|\n')
_SIGNS = frozenset(" \t\n\r.,;:!*#_-\u2013\u2014\u2022'\u2019")
_SHOWN = 40
_MOST = 16
"""Matches of a pattern in which words are looked up."""


def unknown_word(text: str, known: Collection[str], finds: Iterable[Find] = (),
                 expected: Iterable[str] = ()) -> str:
    """
    Return the first word or sign that may change what the others say; empty: there is none.

    :param text: as ``read`` returns it
    :param known: words that may be said beside those that a pattern asks for
    :param finds: a word without which one of these does not match is known
    :param expected: a word is known beside one that it stands beside in one of these; one that is
        negated here, only right behind that
    :return: of a long one the beginning
    """
    text = _AT_ONCE.sub(lambda found: ' ' * len(found[0]), look_alike(text))
    pairs = {pair for each in expected
             for pair in pairwise(one.word for one in _telling(read(each)))}
    negated = {word for nay, word in pairs if nay in NAYS}
    said = _telling(text)
    unknown = []
    for before, one, after in zip([None, *said], said, [*said[1:], None], strict=False):
        is_behind = before is not None and (before.word, one.word) in pairs
        is_known = is_behind or (one.word, after and after.word) in pairs
        if one.word in negated:
            is_known = before is not None and is_behind and not _BREAK.search(
                text, before.end, one.start)
        if not is_known and one.word not in known:
            unknown.append(one)
    for find in finds if unknown else ():
        begin = 0
        for _ in range(_MOST):
            place = find(text, begin, len(text))
            if place is None:
                break
            needed = _needed(find, text[slice(*place)], place[0], said)
            unknown = [one for one in unknown if one not in needed]
            begin = max(place[0] + 1, place[1])
    if unknown:
        return unknown[0].word[:_SHOWN]
    rest = list(text)
    for one in tokens_of(text):
        rest[one.start:one.end] = ' ' * (one.end - one.start)
    return next((char for char in rest if char not in _SIGNS), '')


def _telling(text: str) -> list[Token]:
    return [one for one in tokens_of(text) if one.word not in _PLAIN]


def _needed(find: Find, match: str, begin: int, words: Iterable[Token]) -> list[Token]:
    """
    Return the words without which a match is none, when those that it can spare are gone.

    :param begin: where the match begins in the text of the words
    """
    needed = []
    for one in words:
        start, end = one.start - begin, one.end - begin
        if start < 0 or end > len(match):
            continue
        without = f'{match[:start]}{"x" * (end - start)}{match[end:]}'
        if find(without, 0, len(without)) is None:
            needed.append(one)
        else:
            match = without
    return needed
