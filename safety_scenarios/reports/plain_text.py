# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Text for where no terminal reads it: ASCII, because some tools that read logs know no more."""

import codecs
from collections.abc import Iterable
from decimal import Decimal
import io
import re
from typing import Any, TextIO

from safety_scenarios.errors import escaped_controls

_WORDS = str.maketrans({
    '±': '+/-', '°': ' deg', '–': '-', '—': '-', '…': '...', '‘': "'", '’': "'", '“': '"',
    '”': '"', '→': '->', '≤': '<=', '≥': '>=', '×': 'x', '✓': 'yes', '\u00a0': ' '})
"""What is meant by characters that this package itself writes."""
_ERRORS = 'safety_scenarios.plain_text'
"""Name of the error handler for streams."""


def plain(text: str) -> str:
    """Return a text in ASCII; a letter that ASCII does not have becomes an escape, as in JSON."""
    return text.translate(_WORDS).encode('ascii', _ERRORS).decode('ascii')


_SCIENTIFIC = re.compile(r'(?<![\w.-])-?\d+(?:\.\d+)?e[-+]\d+(?!\w)')
_LARGE = Decimal('1e15')
_NOISE = Decimal('1e-9')
"""Below it is what was lost by rounding, and no bound: that would take as many trials."""


_AT_A_LINES_END = re.compile(r' +\n')


_LEAST_WITH_AN_END = 100
"""Characters; a shorter text is a name, of which the beginning is shown."""


def without_exponents(text: str) -> str:
    """
    Return a text in which numbers such as 5e-05 are 0.00005, and 1e-20 is 0.

    No figure is left out: a bound stays one, and a margin on its side of 0.
    """
    return _SCIENTIFIC.sub(_decimal, text)


def _decimal(found: re.Match[str]) -> str:
    value = Decimal(found[0])
    if abs(value) >= _LARGE:
        return 'below -10^15' if value < 0 else 'above 10^15'
    text = f'{value:f}' if abs(value) >= _NOISE else '0'
    return text.rstrip('0').rstrip('.') if '.' in text else text


def on_one_line(text: str, longest: int = 500) -> str:
    """
    Return a text that takes one line and not too much of it, in which everything is seen.

    A long sentence loses its middle: at its end a message says what to do.

    :param longest: characters; of what is left out the number is given
    """
    line = ' '.join(
        escaped_controls(text if len(text) <= 4 * longest else text[:2 * longest]).split())
    if len(line) <= longest and len(text) <= 4 * longest:
        return line
    if longest < _LEAST_WITH_AN_END:
        return f'{line[:longest]}... ({len(text)} characters)'
    begin = line[:longest * 2 // 3].rpartition(' ')[0] or line[:longest * 2 // 3]
    rest = ' '.join(escaped_controls(text[-2 * longest:]).split())[-(longest // 3):]
    end = rest.partition(' ')[2] or rest
    return f'{begin} [... {len(text) - len(begin) - len(end)} characters ...] {end}'


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    bad = error.object[error.start:error.end].translate(_WORDS)
    return ''.join(one if one.isascii() else _escape(one) for one in bad), error.end


def _escape(letter: str) -> str:
    raw = letter.encode('utf-16-be', 'surrogatepass')
    return ''.join(f'\\u{raw[at:at + 2].hex()}' for at in range(0, len(raw), 2))


codecs.register_error(_ERRORS, _escaped)


class PlainText(io.TextIOBase):
    """Writes ASCII to another stream."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Return what a library asks for that draws boxes."""
        return 'ascii'

    def write(self, text: str) -> int:
        """Write a text as plain() says, without the blanks that fill up its lines."""
        self._stream.write(_AT_A_LINES_END.sub('\n', plain(text)))
        return len(text)

    def flush(self) -> None:
        """Let what was written arrive."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Return whether a terminal reads it."""
        return self._stream.isatty()


def speak_plainly(streams: Iterable[Any]) -> None:
    """Let standard streams that no terminal reads carry ASCII alone, whatever writes to them."""
    for stream in streams:
        if hasattr(stream, 'reconfigure') and not stream.isatty():
            stream.reconfigure(encoding='ascii', errors=_ERRORS)


def never_fail(streams: Iterable[Any]) -> None:
    """Let standard streams write an escape for what their encoding does not have."""
    for stream in streams:
        if hasattr(stream, 'reconfigure') and stream.errors == 'strict':
            stream.reconfigure(errors=_ERRORS)
