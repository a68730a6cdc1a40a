# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The syntax tree of an RE2 pattern, as far as telling what it can match needs one.

Written against RE2 and not taken from ``re``: the two differ in ``$``, ``[[:alpha:]]``, ``{,3}``
and in what is a letter to a word boundary. Whatever is not understood gives up.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from safety_scenarios.scenario.untrusted_text import compile_pattern, readable_pattern

EDGE, SPACE, WORD, CLOSER, OPENER, FOREIGN, OTHER = (1 << bit for bit in range(7))
"""
What a character is to its neighbours: outside of the text; white space; what ``\\b`` takes for a
letter (ASCII letter, digit, underscore); a sign after which no word begins; one before which no
word ends; a letter outside of ASCII, which ``\\b`` takes for none; anything else.
"""
ANY = SPACE | WORD | CLOSER | OPENER | FOREIGN | OTHER

_CLOSERS, _OPENERS = frozenset('%)]}!?;.,:+°…'), frozenset('([{$#@¿¡')
_ASCII = tuple(map(chr, range(128)))
_DIGITS = frozenset('0123456789')
_LOWER = frozenset('abcdefghijklmnopqrstuvwxyz')
_UPPER = frozenset('ABCDEFGHIJKLMNOPQRSTUVWXYZ')
_WORDS = _DIGITS | _LOWER | _UPPER | {'_'}
_SPACES = frozenset('\t\n\f\r ')
_CLASSES = {'d': _DIGITS, 'w': _WORDS, 's': _SPACES}
_CONTROL = {'a': '\a', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}
_ASSERTIONS: dict[str, 'Where'] = {'b': 'bound', 'B': 'not_bound', 'A': 'begin', 'z': 'end'}
_WIDE = 100
"""A class of more characters is taken to hold every kind of them."""

Where = Literal['bound', 'not_bound', 'begin', 'end', 'begin_line', 'end_line']


@dataclass(frozen=True, slots=True, eq=False)
class Chars:
    """One character of a set."""

    kinds: int
    """Bits of what the character may be to its neighbours; 0 when no character fits."""
    letter: str = ''
    """The character when there is only one."""
    stops_at_lines: bool = False
    """A dot that matches all but a line break."""


@dataclass(frozen=True, slots=True, eq=False)
class Assertion:
    """A place between two characters."""

    where: Where


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """One after the other; ``text`` is how the pattern says it."""

    items: 'tuple[Node, ...]'
    text: str = ''


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of several."""

    options: tuple[Sequence, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """The same again and again; ``most`` None is without end."""

    item: 'Node'
    least: int
    most: int | None


Node: TypeAlias = Chars | Assertion | Sequence | Choice | Repeat


@dataclass(frozen=True, slots=True)
class _Flags:
    """What ``(?ims)`` switch."""

    ignore_case: bool
    many_lines: bool = False
    dot_is_all: bool = False


class _NotUnderstood(Exception):
    """A construct that this reader does not know."""


def parse(pattern: str, *, case_sensitive: bool) -> Sequence | None:
    """
    Return the tree of a pattern; None when it is not understood, or is none of RE2's.

    :param case_sensitive: the answer is taken as it is; else it is lower-cased before
    """
    try:
        compile_pattern(readable_pattern(pattern), case_sensitive=case_sensitive)
        return _Reader(pattern, case_sensitive).whole()
    except (_NotUnderstood, LookupError, RecursionError, ValueError):
        return None


class _Reader:

    def __init__(self, pattern: str, case_sensitive: bool) -> None:
        self._text = pattern
        self._at = 0
        self._lowered = not case_sensitive
        self._flags = _Flags(ignore_case=not case_sensitive)

    def whole(self) -> Sequence:
        found = self._choice()
        if self._at < len(self._text):
            self._give_up()
        return Sequence((found,), self._text)

    def _give_up(self) -> NoReturn:
        raise _NotUnderstood

    def _next(self, wanted: str) -> bool:
        """Move past ``wanted`` and return True, if that is what comes next."""
        if not self._text.startswith(wanted, self._at):
            return False
        self._at += len(wanted)
        return True

    def _take(self) -> str:
        self._at += 1
        return self._text[self._at - 1]

    def _choice(self) -> Node:
        options = [self._sequence()]
        while self._next('|'):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Sequence:
        items: list[Node] = []
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in '|)':
            if self._next(r'\Q'):
                literal, _, _ = self._text[self._at:].partition(r'\E')
                self._at = min(self._at + len(literal) + 2, len(self._text))
                items += [self._one(letter) for letter in literal]
            else:
                items += self._atom()
            least, most = self._count()
            if (least, most) != (1, 1) and items:
                items[-1] = Repeat(items[-1], least, most)
        return Sequence(tuple(items), self._text[start:self._at])

    def _count(self) -> tuple[int, int | None]:
        found: tuple[int, int | None] = (1, 1)
        for sign, count in (('*', (0, None)), ('+', (1, None)), ('?', (0, 1))):
            if self._next(sign):
                found = count
                break
        else:
            close = self._text.find('}', self._at, self._at + 12)
            if not self._text.startswith('{', self._at) or close < 0:
                return found
            least, comma, most = self._text[self._at + 1:close].partition(',')
            if not least or not set(least + most) <= _DIGITS:
                return found  # to RE2, too, it is text
            self._at = close + 1
            found = int(least), int(most) if most else None if comma else int(least)
        self._next('?')
        return found

    def _atom(self) -> Iterator[Node]:
        letter = self._take()
        if letter == '(':
            yield from self._group()
        elif letter == '[':
            yield self._set()
        elif letter == '.':
            all_ = self._flags.dot_is_all
            yield Chars(ANY, stops_at_lines=not all_)
        elif letter == '^':
            yield Assertion('begin_line' if self._flags.many_lines else 'begin')
        elif letter == '$':
            yield Assertion('end_line' if self._flags.many_lines else 'end')
        elif letter == '\\':
            yield self._escape()
        else:
            yield self._one(letter)

    def _group(self) -> Iterator[Node]:
        outside = self._flags
        if self._next('?'):
            if self._next('P<') or self._next('<'):
                self._at = self._text.index('>', self._at) + 1
            elif self._switch() == ')':
                return  # the flags hold to the end of the group around it
        inner = self._choice()
        if not self._next(')'):
            self._give_up()
        self._flags = outside
        yield inner if isinstance(inner, (Choice, Sequence)) else Sequence((inner,))

    def _switch(self) -> str:
        """Read ``i-s:`` or ``i-s)`` and return how it ends."""
        names = {'i': 'ignore_case', 'm': 'many_lines', 's': 'dot_is_all'}
        values = {name: getattr(self._flags, name) for name in names.values()}
        on = True
        while (letter := self._take()) not in ':)':
            if letter == '-':
                on = False
            elif letter in names:
                values[names[letter]] = on
            elif letter != 'U':
                self._give_up()
        self._flags = _Flags(**values)
        return letter

    def _escape(self) -> Node:
        letter = self._take()
        if letter in _ASSERTIONS:
            return Assertion(_ASSERTIONS[letter])
        if letter.lower() in _CLASSES:
            return self._chars(_CLASSES[letter.lower()], beyond=False, negated=letter.isupper())
        if letter in 'pP':
            self._property()
            return Chars(ANY)
        if letter == 'C':
            return Chars(ANY)
        return self._one(self._literal(letter))

    def _literal(self, letter: str) -> str:
        """Return the character that an escape stands for."""
        if letter in _CONTROL:
            return _CONTROL[letter]
        if letter == 'x':
            if self._next('{'):
                close = self._text.index('}', self._at)
                digits, self._at = self._text[self._at:close], close + 1
            else:
                digits, self._at = self._text[self._at:self._at + 2], self._at + 2
            return self._code(digits, 16)
        if letter in '01234567':
            end = self._at
            while end < self._at + 2 and self._text[end:end + 1] in tuple('01234567'):
                end += 1
            digits, self._at = letter + self._text[self._at:end], end
            return self._code(digits, 8)
        if letter.isalnum():
            self._give_up()
        return letter

    def _code(self, digits: str, base: int) -> str:
        try:
            return chr(int(digits, base))
        except (ValueError, OverflowError):
            self._give_up()

    def _property(self) -> None:
        if self._next('{'):
            self._at = self._text.index('}', self._at) + 1
        else:
            self._take()

    def _set(self) -> Chars:
        negated = self._next('^')
        ascii_: set[str] = set()
        beyond = 0
        start = self._at
        while self._at == start or not self._next(']'):
            if self._next('[:'):
                beyond |= FOREIGN | OTHER
                ascii_.update(_ASCII)
                self._at = self._text.index(':]', self._at) + 2
                if negated:
                    self._give_up()
                continue
            low = self._take()
            if low == '\\':
                name = self._take()
                if name.lower() in _CLASSES:
                    inside = _CLASSES[name.lower()]
                    ascii_ |= inside if name.islower() else set(_ASCII) - inside
                    beyond |= 0 if name.islower() else FOREIGN | OTHER | CLOSER | OPENER
                    continue
                if name in 'pP':
                    self._give_up()
                low = self._literal(name)
            high = low
            if self._text[self._at] == '-' and self._text[self._at + 1] != ']':
                self._at += 1
                high = self._take()
                if high == '\\':
                    high = self._literal(self._take())
            ascii_.update(_ASCII[ord(low):min(ord(high), 127) + 1])
            beyond |= _beyond_ascii(ord(low), ord(high))
        if negated:
            return self._chars(frozenset(_ASCII) - self._folded(ascii_), beyond=True)
        return self._chars(frozenset(ascii_), extra=beyond)

    def _one(self, letter: str) -> Chars:
        found = self._chars(frozenset(letter) if letter < '\x80' else frozenset(),
                            extra=0 if letter < '\x80' else _kind(letter))
        return Chars(found.kinds, letter.lower() if self._flags.ignore_case else letter)

    def _folded(self, letters: 'set[str] | frozenset[str]') -> frozenset[str]:
        if not self._flags.ignore_case:
            return frozenset(letters)
        return frozenset(letters) | {one.swapcase() for one in letters & (_LOWER | _UPPER)}

    def _chars(self, letters: frozenset[str], *, beyond: bool = False, extra: int = 0,
               negated: bool = False) -> Chars:
        """
        Return one character of the ASCII ``letters``, or of what else is said.

        :param beyond: or anything outside of ASCII
        :param negated: the other ASCII characters, and anything outside of ASCII
        """
        possible = self._folded(letters)
        if negated:
            possible, beyond = frozenset(_ASCII) - possible, True
        if self._lowered:
            possible -= _UPPER
        kinds = extra
        for letter in possible:
            kinds |= _kind(letter)
        return Chars(kinds | (FOREIGN | OTHER | CLOSER | OPENER | SPACE if beyond else 0))


def _kind(letter: str) -> int:
    if letter in _WORDS:
        return WORD
    if letter.isspace():
        return SPACE
    if letter in _CLOSERS:
        return CLOSER
    if letter in _OPENERS:
        return OPENER
    return FOREIGN if letter.isalnum() else OTHER


def _beyond_ascii(low: int, high: int) -> int:
    kinds = 0
    if high - low > _WIDE:
        return FOREIGN | OTHER | CLOSER | OPENER | SPACE if high > 127 else 0
    for code in range(max(low, 128), high + 1):
        kinds |= _kind(chr(code))
    return kinds
