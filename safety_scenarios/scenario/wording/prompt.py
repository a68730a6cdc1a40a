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
        *(one for one in _OTHER.finditer(seen) if one[0] not in known)))


def _is_article(found: 're.Match[str]') -> bool:
    """Return whether what looks like the name of a thing is a word of its own, as in *pump a*."""
    return found[2] in ('a', 'i', 'o', 'y', 'e', 'u')


def _sentence(ends: Sequence[int], start: int, end: int) -> Scope:
    """Return the sentence around a place as a scope."""
    return Scope(ends[bisect_right(ends, start) - 1], ends[bisect_left(ends, end)],
                 'told of others', (start, end))
