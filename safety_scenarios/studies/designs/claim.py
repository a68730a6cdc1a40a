# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A claim in words, such as ``miss rate <= 1e-3 at 95 %``.

::

    claim      = subject relation number [unit] ["at" number "%"]
    subject    = "miss rate" | "false stop rate" | "failure rate" | "pass rate"
               | "p" number "reaction" | "difference of failures"
    relation   = "<=" | ">="
    unit       = "%" | "ms" | "s"
"""

from collections.abc import Sequence
from dataclasses import dataclass
import math
import re
from typing import Literal

from safety_scenarios.errors import did_you_mean, SettingsError

Subject = Literal['miss rate', 'false stop rate', 'failure rate', 'pass rate', 'reaction',
                  'difference of failures']
EXAMPLES = ('miss rate <= 1e-3 at 95 %', 'false stop rate <= 2 %', 'pass rate >= 99 % at 95 %',
            'p99 reaction <= 500 ms at 95 %', 'difference of failures <= 2 %')
_CONFIDENCE = 0.95
_LONGEST = 200
_WORD = re.compile(r'<=|>=|%|[0-9.]+(?:e[+-]?[0-9]+)?|[a-z]+|\S', re.ASCII)
_SHARES: Sequence[Subject] = (
    'miss rate', 'false stop rate', 'failure rate', 'pass rate', 'difference of failures')


@dataclass(frozen=True)
class Claim:
    """What shall be shown of a controller, or of two."""

    subject: Subject
    limit: float
    """Greatest share of trials; of ``pass rate`` the least one; of ``reaction`` a time in ms."""
    confidence: float = _CONFIDENCE
    """One-sided."""
    quantile: float = 0.99
    """Of a reaction: which quantile of its time."""

    @property
    def failure_rate(self) -> float:
        """
        Return which rate of bad trials has to be excluded; that rate itself is not bad enough.

        A trial is bad that misses, stops without need, fails, or reacts later than the limit; of
        a difference, a pair of trials in which only the second fails.
        """
        if self.subject == 'reaction':
            return 1.0 - self.quantile
        return 1.0 - self.limit if self.subject == 'pass rate' else self.limit

    @property
    def bad(self) -> str:
        """Return what a bad trial is called."""
        return {'miss rate': 'missed hazard', 'false stop rate': 'false stop',
                'reaction': 'later or missing reaction',
                'difference of failures': 'failure of the second arm alone'}.get(
                    self.subject, 'failure')

    def __str__(self) -> str:
        relation = '>=' if self.subject == 'pass rate' else '<='
        name, limit = str(self.subject), f'{self.limit:g}'
        if self.subject == 'reaction':
            name, limit = f'p{100.0 * self.quantile:.12g} reaction', f'{self.limit:g} ms'
        return f'{name} {relation} {limit} at {100.0 * self.confidence:.12g} %'


def read_claim(text: str, where: str = '--claim') -> Claim:
    """
    Return the claim that a text states.

    :param where: what the text was given by, for messages
    :raises SettingsError: it states none, and what would
    """
    if len(text) > _LONGEST:
        raise SettingsError(f'{where}: got {len(text)} characters, expected at most {_LONGEST}, '
                            f"such as '{EXAMPLES[0]}'")
    return _Reader(text, where).claim()


class _Reader:
    """Reads one claim, word by word."""

    def __init__(self, text: str, where: str) -> None:
        self._text, self._where = text, where
        self._words = _WORD.findall(text.lower())

    def claim(self) -> Claim:
        subject, quantile = self._subject()
        expected = '>=' if subject == 'pass rate' else '<='
        relation = self._next()
        if relation != expected:
            self._refuse(f'{relation or "the end"!r} behind {subject!r}', f'{expected}: '
                         + ('the rate of passed trials must not be lower'
                            if expected == '>=' else 'it must not be higher'))
        limit = self._time() if subject == 'reaction' else self._share('the limit')
        confidence = _CONFIDENCE
        if self._words:
            word = self._next()
            if word != 'at':
                self._refuse(repr(word), "'at' and a confidence, such as at 95 %, or the end")
            confidence = self._share('the confidence')
            if confidence <= 0.5:
                self._refuse(f'a confidence of {100.0 * confidence:g} %', 'more than 50 %')
        if self._words:
            self._refuse(f'{" ".join(self._words)!r} behind the claim', 'nothing more')
        return Claim(subject, limit, confidence, quantile)

    def _subject(self) -> tuple[Subject, float]:
        words = []
        while self._words and self._words[0] not in ('<=', '>=', '<', '>', '='):
            words.append(self._next())
        if len(words) == 3 and words[0] == 'p' and words[2] == 'reaction':
            share = self._number(words[1], 'a quantile') / 100.0
            if not 0.5 <= share < 1.0:
                self._refuse(f'p{words[1]}', 'p50 to p99.99')
            return 'reaction', share
        name = ' '.join(words)
        for subject in _SHARES:
            if name == subject:
                return subject, 0.99
        self._refuse(repr(name), f'one of {", ".join(_SHARES)}, p99 reaction',
                     did_you_mean(name, _SHARES))
        raise AssertionError

    def _share(self, what: str) -> float:
        """Return a share between 0 and 1, or in percent."""
        text = self._next()
        number = self._number(text, what)
        if self._words[:1] == ['%']:
            self._next()
            number /= 100.0
        elif number >= 1.0:
            self._refuse(f'{what} {text}', f'a share below 1, or {text} %')
        if not 0.0 < number < 1.0:
            self._refuse(f'{what} {text}', 'a share above 0 and below 1 (100 %)')
        return number

    def _time(self) -> float:
        """Return a time in ms."""
        number, unit = self._number(self._next(), 'a time'), self._next()
        if unit not in ('ms', 's'):
            self._refuse(f'{unit or "no unit"!r} behind the time', 'ms or s')
        number *= 1000.0 if unit == 's' else 1.0
        if not 0.0 < number < math.inf:
            self._refuse(f'{number:g} ms', 'a time above 0')
        return number

    def _number(self, text: str, what: str) -> float:
        try:
            found = float(text)
        except ValueError:
            found = math.nan
        if not math.isfinite(found):
            self._refuse(repr(text) if text else 'the end of the text', f'{what}, a number')
        return found

    def _next(self) -> str:
        return self._words.pop(0) if self._words else ''

    def _refuse(self, got: str, expected: str, hint: str = '') -> None:
        raise SettingsError(f"{self._where}: '{self._text}': got {got}, expected {expected}.{hint}"
                            f" For example '{EXAMPLES[0]}'")
