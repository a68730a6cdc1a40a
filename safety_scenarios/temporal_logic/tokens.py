# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A formula's text as tokens, and what is wrong with it, with a caret below the place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import re

from safety_scenarios.errors import InputError

MAX_LENGTH = 10_000
"""Characters of a formula; people write tens."""
_SHOWN = 60
"""Characters on either side of a mistake in a message."""
_TOKEN = re.compile(r"""
    (?P<space>[ \t\r\n]+)
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<word>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)
  | (?P<foreign><=>|=>|==|!=|<>|&&|\|\||[&|!~^=])
  | (?P<symbol><->|->|<=|>=|[][()<>,:+*/-])
""", re.VERBOSE | re.ASCII)
_FOREIGN = {'<=>': '<->', '=>': '->', '&&': 'and', '&': 'and', '||': 'or', '|': 'or', '!': 'not',
            '~': 'not', '^': 'xor'}
_EQUAL = ('expected <, <=, > or >=. No measured value is exactly equal: write abs(x - y) <= '
          'tolerance, or > tolerance')


class FormulaError(InputError):
    """
    A formula that cannot be read; the message has the column and a caret line.

    :param offset: where in the text, from 0
    :param message: ``got ..., expected .... what to do``
    """

    def __init__(self, text: str, offset: int, message: str) -> None:
        self.line, self.column = _line_and_column(text, offset)
        whole = text.split('\n', self.line)[self.line - 1]
        begin = max(0, self.column - 1 - _SHOWN)
        shown = ''.join(one if one.isprintable() else ' '
                        for one in whole[begin:self.column - 1 + _SHOWN])
        super().__init__(f'{place(text, offset)}: {message}\n    {shown}\n    '
                         f'{" " * (self.column - 1 - begin)}^')


def place(text: str, offset: int) -> str:
    """Return ``column 8``, with the line if the text has several."""
    line, column = _line_and_column(text, offset)
    return f'line {line}, column {column}' if '\n' in text.strip() else f'column {column}'


def _line_and_column(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count('\n') + 1, offset - before.rfind('\n')


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a formula's text; the end is a piece too."""

    kind: str
    """number, word, symbol or end."""
    text: str
    offset: int

    @property
    def end(self) -> int:
        """Return the offset behind it."""
        return self.offset + len(self.text)

    def __str__(self) -> str:
        if self.kind == 'end':
            return 'the end of the formula'
        return repr(self.text if len(self.text) <= _SHOWN else f'{self.text[:_SHOWN]}...')


def tokenize(text: str) -> Sequence[Token]:
    """
    Return the tokens of a formula, the end included.

    :raises FormulaError: too long, or a character that no formula has
    """
    if len(text) > MAX_LENGTH:
        raise FormulaError(text, MAX_LENGTH, f'got {len(text)} characters, expected at most '
                                             f'{MAX_LENGTH}. Split it into several formulas')
    return [*_pieces(text), Token('end', '', len(text.rstrip()))]


def _pieces(text: str) -> Iterator[Token]:
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            raise FormulaError(text, offset, f'got the character {text[offset]!r}, expected '
                                             f'letters, digits, or one of < > = - + * / ( ) [ ]. '
                                             f'Remove it')
        token = Token(match.lastgroup or '', match.group(), offset)
        if token.kind == 'foreign':
            other = _FOREIGN.get(token.text)
            raise FormulaError(text, offset, f'got {token}, ' + (
                f'expected {other}. Write it so' if other else _EQUAL))
        if token.kind == 'number' and text[match.end():match.end() + 1].isalnum():
            raise FormulaError(text, match.end(), f'got a letter right after the number {token}, '
                                                  f'expected none. Leave units out: times are in '
                                                  f's, values in SI units')
        if token.kind != 'space':
            yield token
        offset = match.end()
