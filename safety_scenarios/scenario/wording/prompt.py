# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An answer held against its prompt: words copied from it, and places that it does not name."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
import re

from safety_scenarios.scenario.wording.reading import look_alike, Scope, tokens_of

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
    r'(?:(?:other|another|next|different|anderen?|anderem|anderer|nachsten?|otr[oa]s?)[ \t]+'
    rf"(?:{_NOUNS})s?\b|(?:neighbou?r(?:ing|'?s)|wrong|falschen?|nachbar[a-z]+|vecin[oa]s?|"
    r'equivocad[oa])\b)')


@lru_cache(maxsize=8)
def repeated(text: str, prompt: str) -> tuple[Scope, ...]:
    """Return where a text repeats, word for word, what its author was told."""
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
    return tuple(found)


@lru_cache(maxsize=8)
def elsewhere(text: str, prompt: str) -> tuple[Scope, ...]:
    """Return each sentence about a place or a thing of which the prompt says nothing."""
    seen, known = look_alike(text), look_alike(prompt)
    ends = [0, *(found.end() for found in _SENTENCE.finditer(seen)), len(seen)]
    named = {(found[1], found[2]) for found in _PLACE.finditer(known)} if prompt else None
    return tuple(_sentence(ends, found.start(), found.end()) for found in (
        *(one for one in _PLACE.finditer(seen) if named is not None
          and (one[1], one[2]) not in named and not _is_article(one)),
        *(one for one in _OTHER.finditer(seen) if one[0] not in known)))


def _is_article(found: 're.Match[str]') -> bool:
    """Return whether what looks like the name of a thing is a word of its own, as in *pump a*."""
    return found[2] in ('a', 'i', 'o', 'y', 'e', 'u')


def _sentence(ends: Sequence[int], start: int, end: int) -> Scope:
    """Return the sentence around a place as a scope."""
    return Scope(ends[bisect_right(ends, start) - 1], ends[bisect_left(ends, end)],
                 'told of others', (start, end))
