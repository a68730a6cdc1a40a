# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether a text says what a pattern looks for, and as its author's own words of now."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from safety_scenarios.scenario.wording.clauses import scopes, sentence_at
from safety_scenarios.scenario.wording.prompt import elsewhere, repeated
from safety_scenarios.scenario.wording.reading import (
    foreign_word,
    MOST,
    Scope,
    spelled_out,
    spellings,
    struck_out,
    unmarked,
)

Find = Callable[[str, int, int], tuple[int, int] | None]
"""Text, begin and end to the place of the first match between them; None: there is none."""

_ATTEMPTS = 64
"""Matches that are looked at; where so many say nothing, the next ones are not asked."""
_TRIGGERS = 16


@dataclass(frozen=True, slots=True)
class Heard:
    """What a text says of a pattern."""

    how: Literal['said', 'doubtful', 'absent']
    why: str = ''
    """For what is doubtful: the clause, and what is doubtful about it."""


SAID, ABSENT = Heard('said'), Heard('absent')


def hear(find: Find, text: str, told: str = '', *, is_latin: bool = True,
         fold: Callable[[str], str] = str, is_literal: bool = True,
         is_asked: bool = False) -> Heard:
    """
    Return whether a text says what a pattern looks for.

    :param text: as ``read`` returns it
    :param told: what its author was told; words copied from it are not its own
    :param is_latin: the pattern has no letters of other scripts, so that it cannot read them
    :param is_literal: the pattern is words as they stand, which a line break may part
    :param is_asked: it counts in a question, and nowhere else
    :param fold: what is made of a text before the pattern sees it, such as lower case
    """
    seen = fold(text)
    if len(seen) > MOST:
        return Heard('doubtful', f'the text has {len(seen)} characters, and at most {MOST} '
                                 f'are read')
    if find(seen, 0, len(seen)) is not None:
        return _carried(find, seen, told, is_asked)
    for spelled in spellings(text):
        if spelled != seen and find(fold(spelled), 0, len(spelled)) is not None:
            return Heard('doubtful', 'it is found only when letters are read as those that they '
                                     'look like')
    plain = unmarked(fold(text)) if is_literal else seen
    if plain != seen and find(plain, 0, len(plain)) is not None:
        return Heard('doubtful', 'it is found only without the marks and line breaks in it')
    odd = foreign_word(text) if is_latin else ''
    if odd:
        return Heard('doubtful', f'it is not found, but {odd!r} has letters that the pattern '
                                 f'cannot read')
    spread = spelled_out(text)
    if spread:
        return Heard('doubtful', f'it is not found, but {spread!r} is spelled letter by letter')
    return ABSENT


def _carried(find: Find, text: str, told: str, is_asked: bool) -> Heard:
    if struck_out(text):
        return Heard('doubtful', 'characters of the text are struck out')
    if spelled_out(text):
        return Heard('doubtful', f'it is found, but {spelled_out(text)!r} is spelled letter by '
                                 f'letter')
    questions = [scope for scope in scopes(text) if scope.kind == 'asked']
    around = tuple(scope for scope in scopes(text) if not (is_asked and scope.kind == 'asked'))
    around = tuple(sorted((*around, *(repeated(text, told) if told else ()),
                           *elsewhere(text, told)), key=lambda scope: scope.start))
    begin, doubt = 0, ''
    for _ in range(_ATTEMPTS):
        place = find(text, begin, len(text))
        if place is None:
            break
        if is_asked and not any(one.start <= place[0] < one.end for one in questions):
            doubt = doubt or f'only where nothing is asked: {sentence_at(text, *place)!r}'
            begin = place[0] + 1
            continue
        scope = _reserving(find, text, place, around)
        if scope is None:
            return SAID
        shorter = find(text, place[0], max(place[0], min(scope.start, scope.trigger[0])))
        if shorter is not None and _reserving(find, text, shorter, around) is None:
            return SAID  # it ends before what takes back what follows
        doubt = doubt or _why(text, place, scope)
        begin = max(place[0] + 1, min(place[1], scope.end))
    return Heard('doubtful', doubt)


def _reserving(find: Find, text: str, place: tuple[int, int],
               around: Sequence[Scope]) -> Scope | None:
    """Return a scope that a match stands in, None when it stands in none but its own."""
    start, end = place
    asked = 0
    for scope in around:
        if scope.start >= end:
            break
        if scope.end <= start:
            continue
        first, last = max(start, scope.trigger[0]), min(end, scope.trigger[1])
        if first >= last:
            return scope
        asked += 1
        without = f'{text[start:first]}{"x" * (last - first)}{text[last:end]}'
        if asked > _TRIGGERS or find(without, 0, len(without)) is not None:
            return scope  # the pattern asks for no such word
    return None


def _why(text: str, place: tuple[int, int], scope: Scope) -> str:
    by = ' '.join(text[slice(*scope.trigger)].split())
    clause = sentence_at(text, *place)
    named = f' by {by!r}' if any(char.isalnum() for char in by) else ''
    return f'only where it is {scope.kind}{named}: {clause!r}'
