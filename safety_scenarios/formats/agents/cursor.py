# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A place in the text of a rule that only moves on, and what may come next there."""

from collections.abc import Collection, Sequence
from decimal import Decimal
import math
import re
from typing import NoReturn

from safety_scenarios.scenario.blocks.agents import MOST_EXACT, Operator

MAX_PHRASE = 200
"""Of what is said; longer text is a mistake in the quotes."""
MAX_TIMES = 100
"""Of one thing that is waited for."""
MAX_RULE_TEXT = 500
"""A rule is one sentence; the bound keeps parsing short."""
MAX_TIME_NS = 86_400_000_000_000
"""One day."""
_LETTERS = frozenset('abcdefghijklmnopqrstuvwxyz')
_IN_SYMBOL = _LETTERS | frozenset('0123456789_-')
_IN_NUMBER = frozenset('0123456789.+-')
_SHOWN = 30
"""Characters of the file in a message."""
_SCALES = (('ms', 10**6), ('s', 10**9), ('min', 60 * 10**9))
_QUOTES = {'"': '"', '“': '”'}
_JOINS = 'and or unless within from for until with at'.split()
"""Words with which something else begins behind a name or a quoted phrase."""
_NEXT = re.compile(rf'\s+(?:{"|".join(_JOINS)}|does\s+not\s+happen)(?![a-z0-9_-])|,')
_ARGUMENT = re.compile(r'[^\s=<>,"]+\s*(?:=|<=|>=)')


class GrammarError(ValueError):
    """A text that fits none of the forms; the message gives the column in it."""


class Cursor:
    """A place in a text that only moves on, so that reading it takes time by its length."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_RULE_TEXT:
            raise GrammarError(f'got {len(text)} characters, expected at most {MAX_RULE_TEXT}. '
                               f'Shorten it')
        self._text = text
        self._lower = ''.join(one.lower() if one.isascii() else one for one in text)
        self._at = 0
        self._end = len(text.rstrip())
        self._skip()

    def take(self, mark: str) -> bool:
        """Step over a mark if it comes next."""
        if not self._lower.startswith(mark, self._at, self._end):
            return False
        self._at += len(mark)
        self._skip()
        return True

    def take_word(self, word: str) -> bool:
        """Step over a word if it comes next and ends there."""
        behind = self._lower[self._at + len(word):self._at + len(word) + 1]
        return behind not in _IN_SYMBOL and self.take(word)

    def take_two(self, word: str) -> bool:
        """Step over a word if it comes next and something that is no join follows it."""
        place = self._at
        if self.take_word(word) and self._at > place + len(word) \
                and self._lower[self._at:self._at + 1] in _LETTERS:
            return True
        self._at = place
        return False

    def takes(self, *words: str) -> bool:
        """Step over several words if all of them come next."""
        place = self._at
        if all(self.take_word(word) for word in words):
            return True
        self._at = place
        return False

    def is_argument(self) -> bool:
        """Return whether a key and a comparison come next."""
        return _ARGUMENT.match(self._lower, self._at, self._end) is not None

    def key(self) -> str:
        """Return the key of an argument that comes next, case kept."""
        begin = self._at
        while self._at < self._end and not self._text[self._at].isspace() \
                and self._text[self._at] not in '=<>,"':
            self._at += 1
        found = self._text[begin:self._at]
        if not found or not found.isprintable() or len(found) > MAX_PHRASE:
            self._at = begin
            self.fail('the name of an argument')
        self._skip()
        return found

    def symbol(self, expected: str, reserved: Collection[str] = ()) -> str:
        """
        Return the symbol that comes next.

        :param reserved: words that are none while something follows them
        """
        begin = self._at
        if self._lower[begin:begin + 1] not in _LETTERS:
            self.fail(expected)
        self._run(_IN_SYMBOL)
        found = self._lower[begin:self._at]
        if found in reserved and self._text[self._at:self._end].strip():
            self._at = begin
            self.fail(expected)
        if len(found) > MAX_PHRASE:
            self._at = begin
            self.fail(f'at most {MAX_PHRASE} characters')
        self._skip()
        return found

    def phrase(self) -> str:
        """Return all that is left."""
        found = self._text[self._at:self._end]
        if not any(one.isalnum() for one in found):
            self.fail('words')
        if len(found) > MAX_PHRASE:
            self._at += MAX_PHRASE
            self.fail(f'at most {MAX_PHRASE} characters')
        self._at = next((self._at + index for index, one in enumerate(found)
                         if not one.isprintable()), self._end)
        return found

    def quoted(self) -> str | None:
        """Return the quoted words that come next; None where the quotes are part of a phrase."""
        close = _QUOTES.get(self._text[self._at:self._at + 1])
        stop = -1 if close is None else self._text.find(close, self._at + 1, self._end)
        if stop < 0 or not self._is_over(stop + 1):
            return None
        begin, self._at = self._at, stop + 1
        found = self._text[begin + 1:stop]
        if not any(one.isalnum() for one in found) or not found.isprintable() \
                or len(found) > MAX_PHRASE:
            self._at = begin
            self.fail(f'words in quotes, at most {MAX_PHRASE} characters')
        self._skip()
        return found

    def name(self, known: Sequence[str], is_alone: bool = False) -> str:
        """
        Return the name that comes next: a known one, one in quotes, or up to a joining word.

        :param is_alone: nothing may follow, so that unknown names may have any words
        """
        quoted = self.quoted()
        if quoted is not None:
            return quoted
        for one in sorted(known, key=len, reverse=True):
            length = len(one)
            if length and self._text[self._at:self._at + length].casefold() == one.casefold() \
                    and self._is_over(self._at + length):
                found = self._text[self._at:self._at + length]
                self._at += length
                self._skip()
                return found
        if is_alone:
            return self.phrase()
        joined = _NEXT.search(self._lower, self._at, self._end)
        whole, self._end = self._end, joined.start() if joined else self._end
        try:
            return self.phrase().strip()
        finally:
            self._end = whole
            self._skip()

    def value(self) -> str | bool | float:
        """Return the number, truth value or text that comes next."""
        quoted = self.quoted()
        if quoted is not None:
            return quoted
        begin = self._at
        joined = _NEXT.search(self._lower, begin, self._end)
        stop = joined.start() if joined else self._end
        found = self._text[begin:stop].strip()
        if not found or not found.isprintable() or len(found) > MAX_PHRASE:
            self.fail('a number, true, false or a text')
        self._at = stop
        self._skip()
        if found.lower() in ('true', 'false'):
            return found.lower() == 'true'
        try:
            number = float(found) if set(found.lower()) <= _IN_NUMBER | {'e'} else math.nan
        except ValueError:
            number = math.nan
        if not math.isnan(number) and found.lstrip('+-').isdecimal() \
                and abs(int(found)) > MOST_EXACT:
            self._at = begin
            self.fail(f'a whole number up to {MOST_EXACT}, or a text in quotes')
        return number if math.isfinite(number) else found

    def count(self) -> int:
        """Return how often something comes: a whole number from 1 to 100."""
        begin, number = self._at, self.number()
        if not 1 <= number <= MAX_TIMES or number != int(number):
            self._at = begin
            self.fail(f'a whole number from 1 to {MAX_TIMES}')
        return int(number)

    def operator(self) -> Operator:
        """Return the comparison that comes next."""
        ops: tuple[Operator, ...] = ('<=', '>=', '<', '>')
        for op in ops:
            if self.take(op):
                return op
        self.fail('<, <=, > or >=')

    @property
    def place(self) -> int:
        """Return how far it has come, for ``back`` and ``since``."""
        return self._at

    def back(self, place: int) -> None:
        """Go back to a place, once: what begins like another form is not it."""
        self._at = place

    def since(self, place: int) -> str:
        """Return the text between a place and here."""
        return self._text[place:self._at].strip()

    def number(self) -> float:
        """Return the finite number that comes next."""
        return float(self._digits())

    def time(self) -> int:
        """Return the duration that comes next (ns)."""
        begin = self._at
        number = self._digits()
        self._skip()
        scale = next((scale for unit, scale in _SCALES if self.take_word(unit)), 0)
        if not scale:
            self.fail('ms, s or min')
        if not 0 <= Decimal(number) * scale <= MAX_TIME_NS:
            self._at = begin
            self.fail('a time from 0 s to 86400 s (24 h)')
        return round(Decimal(number) * scale)

    def optional_time(self, word: str) -> int | None:
        """Return the duration behind a word, None without the word."""
        return self.some_time() if self.take_word(word) else None

    def some_time(self) -> int:
        """Return the duration above 0 that comes next (ns)."""
        begin = self._at
        found = self.time()
        if found == 0:
            self._at = begin
            self.fail('a time above 0')
        return found

    def finish(self) -> None:
        """Refuse what is left over."""
        if self._at < self._end:
            self.fail('the end of the text')

    def fail(self, expected: str) -> NoReturn:
        """
        Refuse the text.

        :raises GrammarError: always
        """
        got = repr(self._text[self._at:self._at + _SHOWN]) if self._at < self._end \
            else 'the end of the text'
        raise GrammarError(f'got {got} at column {self._at + 1} of the text, expected {expected}')

    def _digits(self) -> str:
        begin = self._at
        self._run(_IN_NUMBER)
        following = self._lower[self._at + 1:self._at + 2]
        if self._lower[self._at:self._at + 1] == 'e' and following in _IN_NUMBER and following:
            self._at += 1
            self._run(_IN_NUMBER)
        found = self._lower[begin:self._at]
        try:
            if math.isfinite(float(found)):
                self._skip()
                return found
        except ValueError:
            pass
        self._at = begin
        self.fail('a finite number')

    def _run(self, characters: frozenset[str]) -> None:
        while self._at < self._end and self._lower[self._at] in characters:
            self._at += 1

    def _skip(self) -> None:
        while self._at < self._end and self._text[self._at].isspace():
            self._at += 1

    def _is_over(self, place: int) -> bool:
        """Return whether a name or phrase may end at a place: nothing, or a join, follows."""
        if place >= self._end or not self._text[place:self._end].strip():
            return True
        joined = _NEXT.match(self._lower, place, self._end)
        return joined is not None or self._text[place] == ','
