# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Where a text says that something is not so, not now, not by the speaker, or takes it back.

An algorithm of our own after the ideas of NegEx and ConText: words of ``triggers`` open a scope,
in front of them or behind, and other words, commas and the ends of sentences close it. Linear in
the length of the text. It reads English, knows no grammar, and errs towards doubt.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
import re

from safety_scenarios.scenario.wording import triggers
from safety_scenarios.scenario.wording.reading import (
    Kind,
    look_alike,
    quotes,
    Scope,
    TOKEN,
    Token,
    tokens_of,
)
from safety_scenarios.scenario.wording.triggers import is_announced, unmarked_scopes

_BULLET = re.compile(r'\n[ \t>]*(?:[-*+•·#]|\d{1,3}[.)]|\|)')
_STOPS = re.compile(r'[.!?;]')
_ABBREVIATIONS = frozenset('e g i dr mr mrs vs approx no st'.split())
_NEAR = 12
"""Words around one in which its like is looked for."""
_IN = frozenset('in within after en nach'.split())
_NEXT = frozenset('the next about another a'.split())
_MORE = frozenset('more further of'.split())
_NOT_UNDONE = frozenset('not never no cannot without before once when until unless only if after '
                        'nicht nunca'.split())
_ONLY = frozenset('just only nur war ein es era'.split())
_TELLS = frozenset(('said', 'says', 'say', 'supposedly', 'allegedly'))
_WHO = frozenset(('who', 'why', 'how'))
_ASKS = triggers.BEFORE_AFTER | {'am'}
_SPEAKER = frozenset(('i', "i'll"))
_BEFORE_NOW = frozenset(('before', 'already', 'earlier'))
_IS = frozenset('is are was were'.split())
_UP_TO_A_COMMA = frozenset(('instead of', 'rather than', 'in place of', 'without', 'far from',
                            'lack of', 'absence of', 'avoiding', 'skipping'))
_BEFORE_GOING_ON = frozenset('before until when if can may cannot unless once should shall that '
                             'will'.split())
_CLAUSE = frozenset('because since as where when while if until unless or for'.split())
_ANNOUNCED = 6
"""Words before a colon among which the one stands that announces what follows it."""
_NAYS = frozenset("not never no don't dont cannot can't without nicht nie no sin nunca".split())
_BEFORE_WAITS = triggers.JOINS | frozenset(
    "first please just i we you i'll we'll will should must shall erst now to let's bitte".split())
_PRONOUNS = frozenset('i we you it he she they this'.split())


@dataclass(frozen=True, slots=True)
class _Sentence:
    """Tokens from ``first`` up to ``last``, that one left out."""

    first: int
    last: int
    end: str
    """What closes it: one of ``.!?;``, ``:`` before a list, or nothing."""
    is_listed: bool
    """It is an item of a list."""


@lru_cache(maxsize=8)
def scopes(text: str) -> tuple[Scope, ...]:
    """Return where a text that was ``read`` does not simply say what its words say."""
    found = _Reader(text)
    return tuple(sorted((*found.scopes(), *quotes(text), *unmarked_scopes(text)),
                        key=lambda scope: (scope.start, scope.end)))


class _Reader:
    """One text, cut into words and sentences."""

    def __init__(self, text: str) -> None:
        self._text, self._tokens = text, tokens_of(text)
        self._gaps = [text[one.end:other.start] for one, other in
                      zip(self._tokens, self._tokens[1:], strict=False)]
        self._gaps.append(text[self._tokens[-1].end:] if self._tokens else '')
        self._before = text[:self._tokens[0].start] if self._tokens else ''
        self._sentences = list(self._cut())
        self._soft = [_is_soft(gap) for gap in self._gaps]
        self._fence = self._fences()
        self._comma = self._commas()

    def scopes(self) -> Iterator[Scope]:
        """Yield every scope, in the order of what opens it."""
        for number, sentence in enumerate(self._sentences):
            if sentence.end == '?' or self._asks(sentence):
                yield self._scope(sentence.first, sentence.last, 'asked', sentence.last,
                                  sentence.last)
            yield from self._no(number, sentence)
            yield from self._off(sentence)
            yield from self._denied(number, sentence)
            yield from self._alternative(number, sentence)
            at = sentence.first
            while at < sentence.last:
                skipped = self._longest(at, sentence, _NO_NEGATION)
                if skipped:
                    # "don't withhold the dose" negates no dose, and withholding it
                    yield self._scope(at + 1, at + skipped, 'negated', at, at + 1)
                    at += skipped
                    continue
                yield from self._later(at, number)
                for words, kinds in _AT.get(self._tokens[at].word, ()):
                    if self._is_at(at, words, sentence.last):
                        for kind in kinds:
                            yield from self._opened(kind, words, at, number)
                at += 1

    def _asks(self, sentence: _Sentence) -> bool:
        """Return whether a sentence is a question without its mark: "who am I to refuse"."""
        words = [token.word for token in self._tokens[
            sentence.first:min(sentence.last, sentence.first + 2)]]
        return len(words) == 2 and words[0] in _WHO and words[1] in _ASKS

    def _opened(self, kind: str, words: tuple[str, ...], at: int, number: int) -> Iterator[Scope]:
        sentence, after = self._sentences[number], at + len(words)
        if kind == 'NOT_SO':
            yield from self._negated(words, at, number)
        elif kind == 'NOT_SO_AFTER':
            if self._follows_a_verb(words, at, sentence):
                yield self._scope(self._clause_start(at, after, sentence), at, 'negated', at,
                                  after)
        elif kind in ('IF', 'TOLD') and not self._is_si(at) and not self._is_own_repetition(at):
            name: Kind = 'conditional' if kind == 'IF' else 'told of others'
            yield self._scope(after, self._listed_end(number), name, at, after)
            if kind == 'IF':
                yield self._scope(self._back(at, sentence), at, name, at, after)
            elif words[0] in _TELLS:
                yield self._scope(sentence.first, at, name, at, after)
        elif kind == 'LONG_AGO':
            yield self._scope(after, self._fence_of(after, sentence), 'told of another time', at,
                              after)
            yield self._scope(self._back(at, sentence), at, 'told of another time', at, after)
        elif kind == 'OF_OTHERS':
            yield self._scope(after, self._fence_of(after, sentence), 'told of others', at, after)
        elif kind in ('UNTIL', 'PUT_OFF', 'WAITS', 'FIRST'):
            yield from self._deferred(kind, at, after, number)
        elif kind == 'TAKEN_BACK':
            if self._takes_back(words, at, sentence):
                yield self._scope(0, at, 'taken back', at, after)
        elif kind == 'BUT_NOT' and sentence.last - after <= 2:
            start = self._sentences[max(0, number - 1)].first if at == sentence.first \
                else sentence.first
            yield self._scope(start, at, 'taken back', at, after)

    def _deferred(self, kind: str, at: int, after: int, number: int) -> Iterator[Scope]:
        """Yield what is to be done only after something else, or later."""
        sentence, end = self._sentences[number], self._listed_end(number)
        before = [token.word for token in self._tokens[max(sentence.first, at - 2):at]]
        is_negated = not _NAYS.isdisjoint(before[-1:]) or (
            before[1:] == ['wait'] and before[0] in _NAYS)
        if is_negated or (kind == 'PUT_OFF' and (
                self._longest(at, sentence, _NOT_PUT_OFF)
                or not triggers.NOT_PUT_OFF_BEHIND.isdisjoint(before[-1:]))):
            return
        start = after
        if kind == 'PUT_OFF':
            yield self._scope(self._back(at, sentence), at, 'put off', at, after)
        elif kind in ('WAITS', 'FIRST'):
            is_wait = kind == 'WAITS'
            if is_wait and before and before[-1] not in _BEFORE_WAITS and not self._soft[at - 1]:
                return
            start = next((place for place in range(after, sentence.last)
                          if self._tokens[place].word in triggers.THEN or (is_wait and (
                              self._soft[place - 1]
                              or self._tokens[place].word in triggers.JOINS))), end)
            if start == end < len(self._tokens) and self._tokens[end].word in triggers.THEN:
                end = self._listed_end(number + 1)  # "Wait for him. Then ..."
        if start < end:
            yield self._scope(start, end, 'put off', at, after)

    def _negated(self, words: tuple[str, ...], at: int, number: int) -> Iterator[Scope]:
        sentence, after = self._sentences[number], at + len(words)
        if words == ('no',) and after < sentence.last and self._soft[after - 1]:
            return  # "No, stop": what follows is said of its own
        end = self._fence_of(after, sentence)
        if ' '.join(words) in _UP_TO_A_COMMA:
            end = min(end, self._comma[min(after + 1, len(self._tokens) - 1)]
                      if after + 1 < sentence.last else end)
        if words == ('no',):
            end = min(end, self._colon_behind_a_clause(after, sentence))
        if end == sentence.last:
            end = self._listed_end(number)
        if end == after == sentence.last and sentence.end in ('', ':') \
                and number + 1 < len(self._sentences):
            end = self._sentences[number + 1].last  # the line ends, and the sentence does not
        yield self._scope(after, end, 'negated', at, after)
        if words[-1] in triggers.EITHER_WAY:
            yield self._scope(self._clause_start(at, at, sentence), at, 'negated', at, after)

    def _colon_behind_a_clause(self, after: int, sentence: _Sentence) -> int:
        """Return where "no action is needed: ..." goes on to what is; else where it ends."""
        has_verb = False
        for place in range(after, min(after + 12, sentence.last - 1)):
            has_verb = has_verb or self._tokens[place].word in _IS
            if has_verb and ':' in self._gaps[place]:
                return place + 1
        return sentence.last

    def _no(self, number: int, sentence: _Sentence) -> Iterator[Scope]:
        """Yield what a sentence of nothing but a no takes back: the sentence before it."""
        said = ' '.join(token.word for token in self._tokens[
            sentence.first:min(sentence.last, sentence.first + 5)])
        words = set(said.split())
        if number and (said in triggers.NO or (
                sentence.last - sentence.first <= 5 and words <= triggers.NO_AND_ITS_LIKE
                and words & triggers.NAYS)):
            yield self._scope(self._sentences[number - 1].first, sentence.first, 'taken back',
                              sentence.first, sentence.last)

    def _later(self, at: int, number: int) -> Iterator[Scope]:
        """Yield what is put off for hours or days, or undone again."""
        sentence, after = self._sentences[number], at + 1
        word = self._tokens[at].word
        if word in _IN:
            while after < sentence.last and self._tokens[after].word in _NEXT:
                after += 1
            is_number = after + 1 < sentence.last and (
                self._tokens[after].word in triggers.NUMBERS
                or self._tokens[after].word.isdigit())
            after += 1 + (is_number and self._tokens[after + 1].word in _MORE)
            unit = self._tokens[after].word if is_number and after < sentence.last else ''
            is_late = unit in triggers.DAYS or (unit in triggers.HOURS and word != 'within')
            if is_late or (unit in triggers.MINUTES and word != 'within'):
                for first, last in ((after + 1, self._listed_end(number)),
                                    (self._back(at, sentence), at)):
                    yield self._scope(first, last, 'conditional' if is_late else 'put off', at,
                                      after + 1)
        elif word in triggers.UNDOES and at and not any(
                one.word in _NOT_UNDONE or one.word.endswith("n't")
                for one in self._tokens[max(sentence.first, at - _NEAR):
                                        min(sentence.last, at + _NEAR)]):
            yield self._scope(0, at, 'taken back', at, at + 1)

    def _denied(self, number: int, sentence: _Sentence) -> Iterator[Scope]:
        """Yield what a colon, or *the following*, introduces as wrong; or what ends in against."""
        words = [token.word for token in self._tokens[sentence.first:sentence.last]]
        for place, word in enumerate(words):
            at = sentence.first + place
            if word in triggers.DENIES and ':' in self._gaps[at] \
                    and not triggers.NAMES_MORE.isdisjoint(words[max(0, place - _NEAR):place]):
                yield self._scope(at + 1, self._listed_end(number), 'negated', at, at + 1)
        if words[-1:] == ['against']:
            yield self._scope(sentence.first, sentence.last - 1, 'negated', sentence.last - 1,
                              sentence.last)
        elif words[-1:] == ['following'] and 'against' in words \
                and number + 1 < len(self._sentences):
            yield self._scope(sentence.last, self._sentences[number + 1].last, 'negated',
                              sentence.last - 1, sentence.last)

    def _alternative(self, number: int, sentence: _Sentence) -> Iterator[Scope]:
        """Yield what is one of two things that somebody else chooses: either this, or that."""
        words = [token.word for token in self._tokens[sentence.first:sentence.last]]
        at = sentence.first
        if words[:1] == ['or'] and number:
            yield self._scope(self._sentences[number - 1].first, at, 'conditional', at, at + 1)
        if 'either' in words and 'or' in words[words.index('either'):]:
            at += words.index('either')
            yield self._scope(at + 1, sentence.last, 'conditional', at, at + 1)

    def _off(self, sentence: _Sentence) -> Iterator[Scope]:
        """Yield what is switched off, as in data: "stop": false."""
        for at in range(sentence.first + 1, sentence.last):
            gap = self._gaps[at - 1]
            is_dash = at + 1 == sentence.last and any(dash in gap for dash in (' - ', '–', '—'))
            if self._tokens[at].word in triggers.OFF and (is_dash or (
                    (':' in gap or '=' in gap) and (
                        at + 1 == sentence.last or self._soft[at] or '=' in gap))):
                start = at - 1
                while start > sentence.first and not self._soft[start - 1] and at - start < 20:
                    start -= 1
                yield self._scope(start, at, 'negated', at, at + 1)

    def _takes_back(self, words: tuple[str, ...], at: int, sentence: _Sentence) -> bool:
        after = at + len(words)
        if words[0] in _SPEAKER and is_announced(
                look_alike(self._text), self._tokens[at].start, self._tokens[after - 1].end):
            return False
        if len(words) > 2:
            return at == sentence.first or words[0] != 'i' \
                or self._tokens[at - 1].word not in _BEFORE_GOING_ON
        begins = at == sentence.first or self._soft[at - 1] or words[0] in _ONLY
        return begins and (after == sentence.last or self._soft[after - 1])

    def _follows_a_verb(self, words: tuple[str, ...], at: int, sentence: _Sentence) -> bool:
        if len(words) > 1 and (words[-1] == 'wait' or words[0] in ('not', 'need')):
            return True
        if len(words) == 1 and ("n't" in words[0] or words[0] in ('cannot', 'never')):
            return True
        before = [token.word for token in self._tokens[max(sentence.first, at - 2):at]]
        return any(word in triggers.BEFORE_AFTER or word.endswith("'s") for word in before)

    def _clause_start(self, at: int, after: int, sentence: _Sentence) -> int:
        """Return where the clause begins that a trigger behind it negates."""
        ends_it = after == sentence.last
        least = sentence.first if ends_it else max(sentence.first, at - 40)
        for place in range(at - 1, least - 1, -1):
            word = self._tokens[place].word
            if word in triggers.ENDS:
                return place
            if not ends_it and (word in triggers.JOINS or word in _CLAUSE or word in _PRONOUNS):
                return place
            if not ends_it and place > sentence.first and self._soft[place - 1]:
                return place
        return least

    def _back(self, at: int, sentence: _Sentence) -> int:
        """Return where the clause begins that a condition behind it belongs to."""
        place = at
        while place > max(sentence.first, at - 60):
            if self._tokens[place - 1].word in triggers.JOINS:
                break
            if place < at and self._soft[place - 1]:
                break
            place -= 1
        return place

    def _fence_of(self, at: int, sentence: _Sentence) -> int:
        return min(self._fence[at], sentence.last) if at < len(self._fence) else sentence.last

    def _listed_end(self, number: int) -> int:
        """Return where a sentence ends, and where it opens a list, the list."""
        if self._sentences[number].end == ':':
            while number + 1 < len(self._sentences) and self._sentences[number + 1].is_listed:
                number += 1
        return self._sentences[number].last

    def _scope(self, first: int, last: int, kind: Kind, at: int, after: int) -> Scope:
        """Return the scope of tokens up to ``last``, opened by those from ``at`` to ``after``."""
        tokens = self._tokens
        start = tokens[first].start if first < len(tokens) else tokens[-1].end
        end = tokens[last - 1].end if last > first else start
        trigger = (tokens[at].start, tokens[after - 1].end) if after > at else (end, end)
        return Scope(start, end, kind, trigger)

    def _is_si(self, at: int) -> bool:
        """Return whether a word is the Spanish yes, which has an accent, and no *if*."""
        token = self._tokens[at]
        return self._text[token.start:token.end].lower() == 'sí'

    def _is_own_repetition(self, at: int) -> bool:
        """Return whether a word belongs to *as I said*, which repeats what is one's own."""
        before = [token.word for token in self._tokens[max(0, at - 2):at]]
        last = at + 1 < len(self._tokens) and self._tokens[at + 1].word in _BEFORE_NOW
        return self._tokens[at].word == 'said' and before in (['as', 'i'], ['like', 'i']) \
            and self._soft[at + last]

    def _is_at(self, at: int, words: tuple[str, ...], last: int) -> bool:
        return at + len(words) <= last and all(
            self._tokens[at + place].word == word for place, word in enumerate(words))

    def _longest(self, at: int, sentence: _Sentence,
                 known: dict[str, list[tuple[str, ...]]]) -> int:
        return max((len(words) for words in known.get(self._tokens[at].word, ())
                    if self._is_at(at, words, sentence.last)), default=0)

    def _cut(self) -> Iterator[_Sentence]:
        first, is_listed = 0, _BULLET.match('\n' + self._before) is not None
        for place, gap in enumerate(self._gaps):
            listed = _BULLET.search(gap) is not None
            end = _end(gap, self._tokens[place].word, listed,
                       place + 1 == len(self._tokens)) if self._tokens else ''
            if end is not None and self._tokens:
                yield _Sentence(first, place + 1, end, is_listed)
                first = place + 1
                is_listed = listed
        if first < len(self._tokens):
            yield _Sentence(first, len(self._tokens), '', is_listed)

    def _fences(self) -> list[int]:
        """Return, for each token, the first one from it on that no negation reaches."""
        fence = [len(self._tokens)] * (len(self._tokens) + 1)
        for place in range(len(self._tokens) - 1, -1, -1):
            word = self._tokens[place].word
            begins = place > 0 and word in triggers.BEGINS \
                and (self._soft[place - 1] or self._tokens[place - 1].word == 'and') \
                and not any(self._is_at(place, aside, len(self._tokens)) for aside in _ASIDES) \
                and not self._is_announced(place)
            fence[place] = place if word in triggers.ENDS or begins else fence[place + 1]
        return fence

    def _is_announced(self, place: int) -> bool:
        """Return whether a colon before a token opens what *this* named, as in "not this: ..."."""
        before = {token.word for token in self._tokens[max(0, place - _ANNOUNCED):place]}
        return ':' in self._gaps[place - 1] and not before.isdisjoint(triggers.ANNOUNCES)

    def _commas(self) -> list[int]:
        """Return, for each token, the first one behind the next comma, dash or line break."""
        comma = [len(self._tokens)] * max(1, len(self._tokens))
        for place in range(len(self._tokens) - 2, -1, -1):
            comma[place] = place + 1 if self._soft[place] else comma[place + 1]
        return comma


def sentence_at(text: str, start: int, end: int) -> str:
    """Return the sentence around a place, for people; no more than a line of it."""
    reader = _tokens_and_sentences(text)
    tokens, found = reader
    place = bisect_right([token.start for token in tokens], start) - 1
    if place < 0:
        return text[start:end][:120]
    one = next((sentence for sentence in found if sentence.first <= place < sentence.last), None)
    if one is None:
        return text[start:end][:120]
    first, last = tokens[one.first].start, tokens[one.last - 1].end
    first, last = max(first, start - 80), min(last, end + 80)
    return ' '.join(text[first:last].split())[:200]


@lru_cache(maxsize=8)
def _tokens_and_sentences(text: str) -> tuple[Sequence[Token], list[_Sentence]]:
    reader = _Reader(text)
    return reader._tokens, reader._sentences


def _end(gap: str, word: str, listed: bool, is_last: bool) -> str | None:
    """Return what a gap behind a word closes a sentence with; None: it closes none."""
    stop = _STOPS.search(gap.replace('...', ' ').replace('..', ' '))
    if stop is not None and not is_last:
        if '?' in gap:
            return '?'
        spaced = any(char.isspace() for char in gap) or stop[0] in '!;'
        if stop[0] == '.' and (not spaced or (word in _ABBREVIATIONS and len(gap) <= 2)):
            stop = None
    if stop is not None:
        return '?' if '?' in gap else stop[0]
    if is_last:
        return ''
    if listed:
        return ':' if ':' in gap else ''
    if re.search(r'\n[ \t]*\n', gap):
        return ':' if ':' in gap else ''
    return None


def _is_soft(gap: str) -> bool:
    """Return whether something between two words may part clauses."""
    return any(char in ',:;–—()[]\n.!?…"“”' for char in gap) or ' - ' in gap or '--' in gap


def _phrases(phrases: Iterable[str]) -> Iterator[tuple[str, ...]]:
    for phrase in phrases:
        yield tuple(TOKEN.findall(phrase))


def _by_first_word() -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    kinds: dict[tuple[str, ...], list[str]] = {}
    for kind, phrases in (
            ('NOT_SO', triggers.NOT_SO), ('NOT_SO_AFTER', triggers.NOT_SO_AFTER),
            ('IF', triggers.IF), ('TOLD', triggers.SAID_BY_OTHERS),
            ('LONG_AGO', triggers.LONG_AGO), ('OF_OTHERS', triggers.OF_OTHERS),
            ('UNTIL', triggers.UNTIL), ('PUT_OFF', triggers.PUT_OFF), ('WAITS', triggers.WAITS),
            ('FIRST', triggers.FIRST), ('TAKEN_BACK', triggers.TAKEN_BACK),
            ('BUT_NOT', triggers.BUT_NOT)):
        for words in _phrases(phrases):
            kinds.setdefault(words, []).append(kind)
    found: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for words, these in kinds.items():
        found.setdefault(words[0], []).append((words, tuple(these)))
    return found


def _grouped(phrases: Sequence[str]) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for words in _phrases(phrases):
        found.setdefault(words[0], []).append(words)
    return found


_AT = _by_first_word()
_NO_NEGATION = _grouped(triggers.NO_NEGATION)
_NOT_PUT_OFF = _grouped(triggers.NOT_PUT_OFF)
_ASIDES = tuple(_phrases(triggers.ASIDES))
