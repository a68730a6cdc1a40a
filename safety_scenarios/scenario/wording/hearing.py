# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether a text says what a pattern looks for, and whether patterns know its other words."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
import re
from typing import Literal

from safety_scenarios.scenario.wording.clauses import scopes, sentence_at
from safety_scenarios.scenario.wording.reading import (
    foreign_word,
    look_alike,
    MOST,
    read,
    Scope,
    spelled_out,
    spellings,
    struck_out,
    Token,
    tokens_of,
    unmarked,
)
from safety_scenarios.scenario.wording.triggers import NAYS

_LEAST_REPEATED = 6
"""Words in a row that are not said by chance in the words of the prompt."""
_NOUNS = (
    'bed|room|ward|patient|pump|infusion|line|robot|cart|truck|arm|joint|cell|station|bay|aisle|'
    'gate|door|zone|unit|machine|bett|zimmer|raum|station|patientin|pumpe|roboter|wagen|halle|tor|'
    'anlage|maschine|cama|sala|habitacion|paciente|bomba|carro|zona|puerta|maquina|celda')
_PLACE = re.compile(rf'\b({_NOUNS})[ \t]+(?:(?:no|nr|n)\.[ \t]*|(?:number|nummer|numero)[ \t]+|#)?'
                    r"(\d{1,5}[a-z]?|[a-z])(?![\w'])")
_SENTENCE = re.compile(r'(?<!\d)[.!?;](?=\s|$)|\n')
_OTHER = re.compile(
    r'\b(?:of|for|in|on|at|to|into|near|by|from|with|von|bei|an|im|am|zu|zum|zur|fur|a|al|de|del|'
    r'en|para)[ \t]+'
    r'(?:(?:the|an?|my|your|den|dem|der|die|das|des|einem|einer|la|el|los|las|un|una)[ \t]+)?'
    r'(?:((?:other|another|next|different|anderen?|anderem|anderer|nachsten?|otr[oa]s?)[ \t]+'
    rf"(?:{_NOUNS})s?\b)|(?:neighbou?r(?:ing|'?s)|wrong|falschen?|nachbar[a-z]+|vecin[oa]s?|"
    r'equivocad[oa])\b)')


_ALTERNATIVE = re.compile(
    r'(?:\d\.|[\n.;])[ \t]*(?:(?:else |otherwise )?if\b(?:[^:.\n]|\.\d){1,300}|otherwise|else):'
    r'[ \t]*((?:[^.;:\n]|\.\d){1,300})[.;\n]')
"""A rule of a prompt, *If ...: this. Otherwise: that.*, and what it says is to be done."""
_LEAST_NAMED = 4
"""Words in a row that name an alternative."""


@lru_cache(maxsize=8)
def repeated(text: str, prompt: str) -> tuple[Scope, ...]:
    """
    Return where a text repeats, word for word, what its author was told.

    Where that is one of several alternatives, and nothing else, it is a choice.
    """
    known = [token.word for token in tokens_of(prompt)]
    if len(known) < 4:
        return ()
    most = min(_LEAST_REPEATED, len(known))
    runs = {tuple(known[at:at + most]) for at in range(len(known) - most + 1)}
    tokens = tokens_of(text)
    words = [token.word for token in tokens]
    found: list[Scope] = []
    for at in range(len(words) - most + 1):
        if tuple(words[at:at + most]) not in runs:
            continue
        start, end = tokens[at].start, tokens[at + most - 1].end
        if found and found[-1].end >= start:
            start = found.pop().start
        found.append(Scope(start, end, 'repeated from what it was told', (start, start)))
    chosen = _chosen(words, prompt) if found else ''
    is_choice = bool(chosen) and all(
        _spoken(look_alike(text)[scope.start:scope.end]) in chosen for scope in found)
    return () if is_choice else tuple(found)


def _chosen(words: Sequence[str], prompt: str) -> str:
    """Return the only alternative of a prompt that is named; nothing for none or several."""
    known = [_spoken(found[1]) for found in _ALTERNATIVE.finditer(look_alike(prompt))]
    said = f' {" ".join(words)} '
    named = [one for one in dict.fromkeys(known) if any(
        run in said for run in _runs(one)
        if not any(run in other for other in known if other != one))]
    return named[0] if len(named) == 1 and len(set(known)) > 1 else ''


def _runs(alternative: str) -> list[str]:
    """Return each few words in a row of an alternative; of a shorter one all."""
    words = alternative.split()
    most = min(_LEAST_NAMED, len(words))
    return [f' {" ".join(words[at:at + most])} ' for at in range(len(words) - most + 1)]


def _spoken(text: str) -> str:
    """Return the words of a text with a blank around each."""
    return f' {" ".join(token.word for token in tokens_of(text))} '


@lru_cache(maxsize=8)
def elsewhere(text: str, prompt: str) -> tuple[Scope, ...]:
    """Return each sentence about a place or a thing of which the prompt says nothing."""
    seen, known = look_alike(text), look_alike(prompt)
    ends = [0, *(found.end() for found in _SENTENCE.finditer(seen)), len(seen)]
    named = {(found[1], found[2]) for found in _PLACE.finditer(known)} if prompt else None
    return tuple(_sentence(ends, found.start(), found.end()) for found in (
        *(one for one in _PLACE.finditer(seen) if named is not None
          and (one[1], one[2]) not in named and not _is_article(one)),
        *(one for one in _OTHER.finditer(seen) if (one[1] or one[0]) not in known)))


def _is_article(found: 're.Match[str]') -> bool:
    """Return whether what looks like the name of a thing is a word of its own, as in *pump a*."""
    return found[2] in ('a', 'i', 'o', 'y', 'e', 'u')


def _sentence(ends: Sequence[int], start: int, end: int) -> Scope:
    """Return the sentence around a place as a scope."""
    return Scope(ends[bisect_right(ends, start) - 1], ends[bisect_left(ends, end)],
                 'told of others', (start, end))


Find = Callable[[str, int, int], tuple[int, int] | None]
"""Text, begin and end to the place of the first match between them; None: there is none."""

_ATTEMPTS = 64
"""Matches that are looked at; where so many say nothing, the next ones are not asked."""
_TRIGGERS = 16


@dataclass(frozen=True, slots=True)
class PatternReading:
    """What a text says of a pattern."""

    how: Literal['said', 'doubtful', 'absent']
    why: str = ''
    """For what is doubtful: the clause, and what is doubtful about it."""


SAID, ABSENT = PatternReading('said'), PatternReading('absent')


def read_pattern(find: Find, text: str, told: str = '', *, is_latin: bool = True,
                 fold: Callable[[str], str] = str, is_literal: bool = True,
                 is_asked: bool = False, is_demand: bool = False) -> PatternReading:
    """
    Return whether a text says what a pattern looks for.

    :param text: as ``read`` returns it
    :param told: what its author was told; words copied from it are not its own
    :param is_latin: the pattern has no letters of other scripts, so that it cannot read them
    :param is_literal: the pattern is words as they stand, which a line break may part
    :param is_asked: it counts in a question, and nowhere else
    :param is_demand: it is wanted now, so that what is put off leaves it open
    :param fold: what is made of a text before the pattern sees it, such as lower case
    """
    seen = fold(text)
    if len(seen) > MOST:
        return PatternReading('doubtful',
                              f'the text has {len(seen)} characters, and at most {MOST} '
                              f'are read')
    if find(seen, 0, len(seen)) is not None:
        return _carried(find, seen, told, is_asked, is_demand)
    for spelled in spellings(text):
        if spelled != seen and find(fold(spelled), 0, len(spelled)) is not None:
            return PatternReading('doubtful',
                                  'it is found only when letters are read as those that they '
                                  'look like, or digits together')
    plain = unmarked(fold(text)) if is_literal else seen
    if plain != seen and find(plain, 0, len(plain)) is not None:
        return PatternReading('doubtful',
                              'it is found only without the marks and line breaks in it')
    odd = foreign_word(text) if is_latin else ''
    if odd:
        return PatternReading('doubtful',
                              f'it is not found, but {odd!r} has letters that the pattern '
                              f'cannot read')
    spread = spelled_out(text)
    if spread:
        return PatternReading('doubtful',
                              f'it is not found, but {spread!r} is spelled letter by letter')
    return ABSENT


def _carried(find: Find, text: str, told: str, is_asked: bool, is_demand: bool) -> PatternReading:
    if struck_out(text):
        return PatternReading('doubtful', 'characters of the text are struck out')
    if spelled_out(text):
        return PatternReading('doubtful',
                              f'it is found, but {spelled_out(text)!r} is spelled letter by '
                              f'letter')
    questions = [scope for scope in scopes(text) if scope.kind == 'asked']
    around = tuple(scope for scope in scopes(text) if not (is_asked and scope.kind == 'asked')
                   and (is_demand or scope.kind != 'put off'))
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
    return PatternReading('doubtful', doubt)


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


_PLAIN = frozenset('a an the and then now please immediately i we will am are is be to'.split())
"""Words that leave what a sentence says as it is."""
_AT_ONCE = re.compile(r'\bat once\b|(?:^|(?<=\n))[ \t]*(?:\d{1,2}[.)]|[-*+][ \t]+\[x\])(?=\s)')
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
        negated in that one, only right behind that
    :return: of a long one the beginning
    """
    text = _AT_ONCE.sub(lambda found: ' ' * len(found[0]), look_alike(text))
    free, negated = _pairs(expected)
    said = _telling(text)
    unknown = []
    for before, one, after in zip([None, *said], said, [*said[1:], None], strict=False):
        behind, ahead = (before and before.word, one.word), (one.word, after and after.word)
        is_known = behind in free or ahead in free or (one.word in NAYS and ahead in negated) or (
            before is not None and behind in negated
            and not _BREAK.search(text, before.end, one.start))
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


def _pairs(texts: Iterable[str]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Return the pairs of neighbours in texts, and those within a negation."""
    free, negated = set[tuple[str, str]](), set[tuple[str, str]]()
    for each in map(read, texts):
        is_negated = False
        for one, other in pairwise(_telling(each)):
            is_broken = _BREAK.search(each, one.end, other.start) is not None
            was_negated = is_negated or one.word in NAYS
            is_negated = was_negated and not is_broken
            if is_negated or not was_negated:
                (negated if is_negated else free).add((one.word, other.word))
    return free, negated


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
