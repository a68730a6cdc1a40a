# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From text to a formula: tokens, then recursive descent.

Binding, from the tightest::

    abs(x)  rise(f)  fall(f)  ( )
    -x
    x * 2   x / 2                        one side is a number
    x + y   x - y
    x < y   <=   >   >=                  also a chain: 0.1 <= x <= 0.2
    not, always G, eventually F, historically H, once O
    until U, weak_until W, since S       not in a chain
    and
    xor                                  not in a chain
    or
    -> implies                           to the right: a -> (b -> c)
    <-> iff                              not in a chain

A temporal operator may have bounds in seconds, as in ``eventually[0, 0.5] (v <= 0.05)``; a colon
is as good as the comma. What ``always`` and its like cover must be in parentheses if more follows:
``always a < 1 -> b < 1`` could mean two things, one of which holds far too easily.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, DecimalException, Inexact, InvalidOperation, Overflow
import math
import re
from typing import NoReturn

from safety_scenarios.errors import did_you_mean, InputError, shortened
from safety_scenarios.temporal_logic.formula import (
    And,
    Bounds,
    Constant,
    Edge,
    Formula,
    Future,
    Iff,
    Implies,
    Name,
    Node,
    Not,
    Number,
    Or,
    Past,
    Predicate,
    Scaled,
    Since,
    Size,
    Sum,
    Term,
    Until,
    walk,
)

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
        return repr(shortened(self.text, _SHOWN))


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


MAX_DEPTH = 100
"""Well below the recursion limit of Python."""
MAX_SECONDS = 10**9
"""30 years; in ns it fits into 64 bits."""
_ALIASES = {'G': 'always', 'F': 'eventually', 'H': 'historically', 'O': 'once', 'U': 'until',
            'W': 'weak_until', 'S': 'since', 'implies': '->', 'iff': '<->'}
_PREFIXES = ('always', 'eventually', 'historically', 'once')
_CALLS = ('abs', 'rise', 'fall')
_UNTIL, _UNARY, _COMPARISON = 5, 6, 7
"""How strongly operators bind; see the table."""
_BINDING = {'<->': 0, '->': 1, 'or': 2, 'xor': 3, 'and': 4, 'until': _UNTIL,
            'weak_until': _UNTIL, 'since': _UNTIL, '<': _COMPARISON, '<=': _COMPARISON,
            '>': _COMPARISON, '>=': _COMPARISON, '+': 8, '-': 8, '*': 9, '/': 9}
_MINUS = 10
"""A sign binds most strongly."""
_ALONE = {_BINDING[name] for name in ('<->', 'xor', 'until')}
KEYWORDS = frozenset({'not', 'true', 'false', *_PREFIXES, *_CALLS, *_ALIASES,
                      *(name for name in _BINDING if name.isidentifier())})
"""Words that are no signal's name."""
_EXACT = Context(prec=60, traps=[Inexact, InvalidOperation, Overflow])
_A_CONDITION = 'expected a condition. Compare it with something, such as {} > 0.5'
_A_VALUE = 'expected a number or a signal. A condition has no value: use and, or, ->'


def parse(text: str, signals: Collection[str] | None = None) -> Formula:
    """
    Read a formula.

    :param signals: the known names; None accepts any
    :raises FormulaError: with the column and what was expected there
    """
    reading = _Parser(text, signals)
    found = reading.formula(reading.expression(0))
    if reading.next.kind != 'end':
        reading.refuse(reading.next, 'an operator or the end of the formula'
                       + reading.unclosed_bound())
    if max(depth for _, depth in walk(found)) > MAX_DEPTH:
        raise FormulaError(text, 0, f'got more than {MAX_DEPTH} operators inside each other, '
                                    f'expected fewer. Split the formula')
    return found


class _Parser:
    """Reads tokens from left to right; remembers where the last whole expression began."""

    def __init__(self, text: str, signals: Collection[str] | None) -> None:
        self._text = text
        self._signals = signals
        self._tokens = tokenize(text)
        self._at = 0
        self._depth = 0
        """Of the recursion: an operator and its parentheses are two."""
        self._open = 0
        """Parentheses that are not closed yet."""
        self._clear = True
        """Whether what was read last shows by itself where it ends."""

    @property
    def next(self) -> Token:  # noqa: A003
        return self._tokens[self._at]

    def expression(self, binding: int) -> Node:
        """Read operands and the operators between them that bind at least as tight."""
        self._depth += 1
        if self._depth > 2 * MAX_DEPTH or self._open > MAX_DEPTH:
            raise FormulaError(self._text, self.next.offset, f'got more than {MAX_DEPTH} levels '
                               f'of nesting, expected fewer. Split the formula')
        begin = self._at
        found, limit = self._operand(), _MINUS
        while (operator := self._operator()) is not None:
            tight = _BINDING[operator]
            if tight < binding:
                break
            if tight in _ALONE and limit == tight:
                self.refuse(self.next, 'parentheses: which of the two comes first?')
            if tight == _COMPARISON:
                found = self._comparisons(found, begin)
            elif tight > _COMPARISON:
                found = self._arithmetic(operator, found, begin)
            else:
                found = self._logic(operator, found, begin)
            limit, self._clear = tight, False
        self._depth -= 1
        return found

    def formula(self, node: Node, begin: int = 0) -> Formula:
        """Return what was read from token ``begin`` on, if it can be true or false."""
        if isinstance(node, (Name, Number, Sum, Scaled, Size)):
            said = self._text_from(begin)
            shown = said if len(said) < 20 else 'x'
            raise FormulaError(self._text, self._tokens[begin].offset, f'got the value '
                               f'{said[:60]!r}, {_A_CONDITION.format(shown)}')
        return node

    def term(self, node: Node, begin: int) -> Term:
        """Return what was read from token ``begin`` on, if it is a value."""
        if not isinstance(node, (Name, Number, Sum, Scaled, Size)):
            raise FormulaError(self._text, self._tokens[begin].offset,
                               f'got the condition {self._text_from(begin)[:60]!r}, {_A_VALUE}')
        return node

    def refuse(self, token: Token, expected: str) -> NoReturn:
        """Refuse a token."""
        before = self._tokens[self._at - 1] if self._at else token
        hint = did_you_mean(before.text.lower(), KEYWORDS) \
            if before.kind == 'word' and before.text not in KEYWORDS else ''
        raise FormulaError(self._text, token.offset,
                           f'got {token}, expected {expected}{"." + hint if hint else ""}')

    def unclosed_bound(self) -> str:
        """Return a remark on bounds where no operator takes them."""
        return '. Bounds follow right after a temporal operator' if self.next.text == '[' else ''

    def _text_from(self, begin: int) -> str:
        return ' '.join(self._text[self._tokens[begin].offset:self._tokens[self._at - 1].end]
                        .split())

    def _take(self, text: str, expected: str | None = None) -> Token:
        token = self.next
        if token.text != text:
            self.refuse(token, expected or repr(text))
        self._at += 1
        return token

    def _operator(self) -> str | None:
        word = _ALIASES.get(self.next.text, self.next.text)
        return word if word in _BINDING else None

    def _operand(self) -> Node:
        token, begin = self.next, self._at
        word = _ALIASES.get(token.text, token.text)
        if token.kind == 'end' or word in _BINDING and word != '-' or token.text in tuple(')],:'):
            self._refuse_operand(token)
        self._at += 1
        if word in _PREFIXES:
            return self._temporal(word)
        if word == 'not':
            begin = self._at
            return Not(self.formula(self.expression(_UNARY), begin))
        if word == '-':
            begin = self._at
            return _scaled(-1.0, self.term(self.expression(_MINUS), begin))
        if word == '(' or word in _CALLS:
            return self._group(token, word)
        self._clear = True
        if token.kind == 'number':
            return Number(self._finite(float(token.text), begin))
        if word in ('true', 'false'):
            return Constant(word == 'true')
        if token.kind != 'word':
            self._at = begin
            self._refuse_operand(token)
        return self._signal(token)

    def _refuse_operand(self, token: Token) -> NoReturn:
        before = self._tokens[self._at - 1] if self._at else token
        keyword = f'. {before} is a keyword, not a signal' \
            if before.text in KEYWORDS and self._operator() is not None else ''
        self.refuse(token, 'a signal, a number or an operator that begins a condition'
                    + (keyword or self.unclosed_bound()))

    def _signal(self, token: Token) -> Name:
        if self.next.text in ('(', '['):
            self.refuse(self.next, f'an operator: {token} is no function and has no bounds')
        if self._signals is not None and token.text not in self._signals:
            known = ', '.join(sorted(self._signals)) or 'none'
            raise FormulaError(
                self._text, token.offset, f'got {token}, expected one of the signals: {known}.'
                f'{did_you_mean(token.text, [*self._signals, *KEYWORDS])}')
        return Name(token.text)

    def _group(self, token: Token, word: str) -> Node:
        if word in _CALLS:
            self._take('(')
        begin = self._at
        self._open += 1
        found = self.expression(0)
        self._open -= 1
        if self.next.text != ')':
            self.refuse(self.next, f"an operator or ')' for the {token} in "
                                   f'{place(self._text, token.offset)}' + self.unclosed_bound())
        if word == 'abs':
            found = _size(self.term(found, begin))
        elif word in _CALLS:
            found = Edge(self.formula(found, begin), rising=word == 'rise')
        self._at += 1
        self._clear = True
        return found

    def _temporal(self, word: str) -> Formula:
        token, bounds, begin = self._tokens[self._at - 1], self._bounds(), self._at
        part = self.formula(self.expression(_UNARY), begin)
        if not self._clear and self._operator() is not None:
            self.refuse(self.next, f'parentheses around what the {token} in '
                                   f'{place(self._text, token.offset)} covers: '
                                   f'{token.text} (...)')
        kind = Future if word in ('always', 'eventually') else Past
        return kind(part, word in ('always', 'historically'), bounds)

    def _bounds(self) -> Bounds | None:
        if self.next.text != '[':
            return None
        opening = self._take('[')
        first = self._nanoseconds()
        if self.next.text not in tuple(',:'):
            self.refuse(self.next, "',' and the end of the window (s)")
        self._at += 1
        last = self._nanoseconds()
        self._take(']', "']' after the end of the window")
        if first > last:
            raise FormulaError(self._text, opening.offset, f'got a window from {first / 1e9:g} to '
                               f'{last / 1e9:g} s, expected begin <= end. Swap the two')
        return Bounds(first, last)

    def _nanoseconds(self) -> int:
        token = self.next
        if token.text == '-':
            self.refuse(token, 'a time >= 0 (s)')
        if token.kind != 'number':
            self.refuse(token, 'a time in seconds, such as 0.5. For a window without end leave '
                               'the bounds out')
        if float(token.text) > MAX_SECONDS:
            self.refuse(token, f'at most {MAX_SECONDS} s. For a window without end leave the '
                               f'bounds out')
        try:
            found = _EXACT.multiply(Decimal(token.text), Decimal(10**9))
            if found != found.to_integral_value():
                raise Inexact
        except DecimalException:
            self.refuse(token, 'a whole number of ns. Round it to nine digits')
        self._at += 1
        return int(found)

    def _finite(self, value: float, begin: int) -> float:
        if not math.isfinite(value):
            raise FormulaError(self._text, self._tokens[begin].offset, 'got a constant too large '
                               'for a double, expected a finite number. Choose a smaller one')
        return value

    def _logic(self, operator: str, left: Node, begin: int) -> Formula:
        first = self.formula(left, begin)
        self._at += 1
        bounds = self._bounds() if operator in ('until', 'weak_until', 'since') else None
        then = self._at
        tight = _BINDING[operator]
        second = self.formula(self.expression(tight if operator == '->' else tight + 1), then)
        match operator:
            case 'and':
                return And((*first.parts, second) if isinstance(first, And) else (first, second))
            case 'or':
                return Or((*first.parts, second) if isinstance(first, Or) else (first, second))
            case '->':
                return Implies(first, second)
            case '<->':
                return Iff(first, second)
            case 'xor':
                return Not(Iff(first, second))
            case 'since':
                return Since(first, second, bounds)
        return Until(first, second, operator == 'weak_until', bounds)

    def _comparisons(self, found: Node, begin: int) -> Formula:
        left, parts = self.term(found, begin), list[Formula]()
        while self._operator() in ('<', '<=', '>', '>='):
            operator = self.next
            self._at += 1
            then = self._at
            right = self.term(self.expression(_COMPARISON + 1), then)
            if isinstance(left, Number) and isinstance(right, Number):
                raise FormulaError(self._text, operator.offset, 'got two constants, expected a '
                                   'signal on one side. Write true or false')
            larger, smaller = (left, right) if operator.text[0] == '>' else (right, left)
            parts.append(Predicate(larger, smaller, self._text_from(begin)))
            begin, left = then, right
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _arithmetic(self, operator: str, found: Node, begin: int) -> Term:
        left = self.term(found, begin)
        self._at += 1
        then = self._at
        right = self.term(self.expression(_BINDING[operator] + 1), then)
        if operator in '+-':
            return self._sum(left, right if operator == '+' else _scaled(-1.0, right), begin)
        if operator == '/':
            if not isinstance(right, Number) or not right.value:
                raise FormulaError(self._text, self._tokens[then].offset, 'got '
                                   f'{self._text_from(then)!r}, expected a constant other than 0. '
                                   'Formulas stay linear: multiply both sides instead')
            right = Number(self._finite(1.0 / right.value, then))
        if isinstance(left, Number):
            left, right = right, left
        if not isinstance(right, Number):
            raise FormulaError(self._text, self._tokens[then].offset, 'got a product of two '
                               'signals, expected a constant on one side. Formulas are linear')
        scaled = _scaled(right.value, left)
        self._finite(scaled.value if isinstance(scaled, Number) else
                     scaled.factor if isinstance(scaled, Scaled) else 0.0, begin)
        return scaled

    def _sum(self, left: Term, right: Term, begin: int) -> Term:
        if isinstance(left, Number) and isinstance(right, Number):
            return Number(self._finite(left.value + right.value, begin))
        return Sum((*(left.parts if isinstance(left, Sum) else (left,)), right))


def _scaled(factor: float, term: Term) -> Term:
    """Return a term times a constant, with the constants multiplied out."""
    if isinstance(term, Number):
        return Number(factor * term.value)
    if isinstance(term, Scaled):
        return Scaled(factor * term.factor, term.part)
    return Scaled(factor, term)


def _size(term: Term) -> Term:
    return Number(abs(term.value)) if isinstance(term, Number) else Size(term)
