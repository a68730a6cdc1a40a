# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
The strings of a rule: a bare word, or one of a few forms. Parsed by hand, nothing is evaluated.

::

    trigger := symbol [" from " agent] | "at " time | "after " time " of " symbol
             | "says:" phrase | "tool:" name | "signal:" symbol op number
    action  := symbol | "say:" phrase | "publish:" symbol | "set:" symbol "=" number
             | "expect:" symbol [" within " time] [held] | "forbid:" symbol [held]
             | "permit:" symbol | "fault:" symbol | "end:" ("pass" | "fail" | "stop")
    held    := " for " time | " until " symbol
    time    := number ("ms" | "s")        op := "<" | "<=" | ">" | ">="
    symbol  := a letter, then letters, digits, "_" and "-"

Case and spaces around the parts don't matter. A phrase is plain text, never a pattern.
"""

from dataclasses import dataclass
from decimal import Decimal
import math
from typing import Literal, NoReturn

from safety_scenarios.model.agents import Operator

MAX_PHRASE = 200
"""Of what is said; longer text is a mistake in the quotes."""
MAX_RULE_TEXT = 500
"""A rule is one sentence; the bound keeps parsing short."""
MAX_TIME_NS = 86_400_000_000_000
"""One day."""
_LETTERS = frozenset('abcdefghijklmnopqrstuvwxyz')
_IN_SYMBOL = _LETTERS | frozenset('0123456789_-')
_IN_NUMBER = frozenset('0123456789.+-')
_SHOWN = 30
"""Characters of the file in a message."""


@dataclass(frozen=True)
class TriggerText:
    """What a trigger says."""

    kind: Literal['symbol', 'at', 'says', 'tool', 'signal']
    name: str = ''
    """Symbol, phrase, tool or signal."""
    agent: str = ''
    delay_ns: int = 0
    op: Operator | None = None
    value: float | None = None


@dataclass(frozen=True)
class ActionText:
    """What an action says."""

    kind: Literal['symbol', 'say', 'publish', 'set', 'expect', 'forbid', 'permit', 'fault', 'end']
    name: str
    """Symbol, phrase, key of a topic, or how the run ends."""
    value: float = 0.0
    within_ns: int | None = None
    """expect: how soon."""
    for_ns: int | None = None
    """expect, forbid: how long."""
    until: str = ''
    """expect, forbid: the symbol that releases it."""


class GrammarError(ValueError):
    """A text that fits none of the forms; the message gives the column in it."""


def parse_trigger(text: str) -> TriggerText:
    """
    Return what a trigger says.

    :raises GrammarError: it fits none of the forms
    """
    cursor = _Cursor(text)
    found = _trigger(cursor)
    cursor.finish()
    return found


def parse_action(text: str) -> ActionText:
    """
    Return what an action says.

    :raises GrammarError: it fits none of the forms
    """
    cursor = _Cursor(text)
    found = _action(cursor)
    cursor.finish()
    return found


def _trigger(cursor: '_Cursor') -> TriggerText:
    if cursor.take('says:'):
        return TriggerText('says', cursor.phrase().lower())
    if cursor.take('tool:'):
        return TriggerText('tool', cursor.phrase())
    if cursor.take('signal:'):
        name, op = cursor.symbol('the name of a signal'), cursor.operator()
        return TriggerText('signal', name, op=op, value=cursor.number())
    if cursor.take_word('at'):
        return TriggerText('at', delay_ns=cursor.time())
    if cursor.take_word('after'):
        delay_ns = cursor.time()
        if not cursor.take_word('of'):
            cursor.fail("'of' and a symbol")
        return TriggerText('symbol', cursor.symbol('a symbol'), delay_ns=delay_ns)
    name = cursor.symbol('a symbol, at, after, says:, tool: or signal:')
    return TriggerText('symbol', name, cursor.phrase() if cursor.take_word('from') else '')


def _action(cursor: '_Cursor') -> ActionText:
    if cursor.take('say:'):
        return ActionText('say', cursor.phrase())
    if cursor.take('publish:'):
        return ActionText('publish', cursor.symbol('the key of a topic'))
    if cursor.take('fault:'):
        return ActionText('fault', cursor.symbol('the name of a fault'))
    if cursor.take('set:'):
        name = cursor.symbol('the name of what to set')
        if not cursor.take('='):
            cursor.fail("'='")
        return ActionText('set', name, value=cursor.number())
    if cursor.take('expect:'):
        name, within_ns = cursor.symbol('a symbol'), cursor.optional_time('within')
        for_ns, until = _held(cursor)
        if within_ns is None and (for_ns is not None or until):
            within_ns = cursor.optional_time('within')
        return ActionText('expect', name, within_ns=within_ns, for_ns=for_ns, until=until)
    if cursor.take('forbid:'):
        name = cursor.symbol('a symbol')
        for_ns, until = _held(cursor)
        return ActionText('forbid', name, for_ns=for_ns, until=until)
    if cursor.take('permit:'):
        return ActionText('permit', cursor.symbol('a symbol'))
    if cursor.take('end:'):
        for how in ('pass', 'fail', 'stop'):
            if cursor.take_word(how):
                return ActionText('end', how)
        cursor.fail('pass, fail or stop')
    return ActionText('symbol', cursor.symbol('a symbol, say:, publish:, set:, expect:, forbid:, '
                                              'permit:, fault: or end:'))


def _held(cursor: '_Cursor') -> tuple[int | None, str]:
    """Return for how long, and until which symbol, something holds; at most one of the two."""
    for_ns = cursor.optional_time('for')
    if for_ns is None and cursor.take_word('until'):
        return None, cursor.symbol('a symbol')
    return for_ns, ''


class _Cursor:
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

    def symbol(self, expected: str) -> str:
        """Return the symbol that comes next."""
        begin = self._at
        if self._lower[begin:begin + 1] not in _LETTERS:
            self.fail(expected)
        self._run(_IN_SYMBOL)
        found = self._lower[begin:self._at]
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

    def operator(self) -> Operator:
        """Return the comparison that comes next."""
        ops: tuple[Operator, ...] = ('<=', '>=', '<', '>')
        for op in ops:
            if self.take(op):
                return op
        self.fail('<, <=, > or >=')

    def number(self) -> float:
        """Return the finite number that comes next."""
        return float(self._digits())

    def time(self) -> int:
        """Return the duration that comes next (ns)."""
        begin = self._at
        number = self._digits()
        self._skip()
        scale = 10**6 if self.take_word('ms') else 10**9 if self.take_word('s') else 0
        if not scale:
            self.fail('ms or s')
        if not 0 <= Decimal(number) * scale <= MAX_TIME_NS:
            self._at = begin
            self.fail('a time from 0 s to 86400 s (24 h)')
        return round(Decimal(number) * scale)

    def optional_time(self, word: str) -> int | None:
        """Return the duration behind a word, None without the word."""
        if not self.take_word(word):
            return None
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
