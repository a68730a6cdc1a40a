# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A text as a person sees it, and marks that take words back: quotations, code, crosses.

What a language model thinks aloud before it answers is no part of the answer.

``read`` keeps case and lines, for patterns that look at them; ``comparable`` keeps neither.
``look_alike`` goes further: every letter becomes the Latin one that it looks like. Nothing is ever
decided by look-alikes alone: what matches only there is in doubt.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
import json
import re
from typing import Literal
import unicodedata

_INVISIBLE = re.compile(
    '[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8'
    '\U000e0000-\U000e0fff]')
"""Shown as nothing although of no format category: fillers, joiners, variation selectors."""
_SPACES = re.compile('[\u2800\x1c-\x1f]')
_BREAKS = re.compile('\r\n?|[\v\f\x85\u2028\u2029]')
_STRUCK = re.compile('[\u0334-\u0338\u0488\u0489\u20d2\u20d3\u20d8-\u20da\u20dd-\u20e0'
                     '\u20e2-\u20e6\u20ea\u20eb]')
"""Marks that strike a character out or circle it."""
_LATIN_NAME = re.compile(
    r'(?:LATIN|INDICATOR SYMBOL)\b.* LETTER(?: SMALL CAPITAL| SCRIPT| DOTLESS| OPEN| LONG)* '
    r'([A-Z])(?: WITH .*)?|REGIONAL INDICATOR SYMBOL LETTER ([A-Z])')
_LOOK_ALIKES = {alike: letter for letter, alikes in {
    'a': 'аαɑꭺ', 'b': 'вьβᏼꮟ', 'c': 'сϲꮯ', 'd': 'ԁժꭰ', 'e': 'еєεҽꭼ', 'g': 'ԍցɡꮐ', 'h': 'һнհꮋΗ',
    'i': 'іιıɩ', 'j': 'јϳȷꭻ', 'k': 'кκꮶ', 'l': 'ӏꮮ', 'm': 'мꮇ', 'n': 'пηոΝ', 'o': 'оοօσ',
    'p': 'рρꮲ', 'q': 'ԛզգ', 'r': 'гꭱꮢ', 's': 'ѕꮥꮪ', 't': 'тτꭲ', 'u': 'υսц', 'v': 'ѵνꮩ',
    'w': 'шωԝꮃꮤ', 'x': 'хχ', 'y': 'уγүΥ', 'z': 'ꮓ', "'": '’ʼ′‘´ʹ＇`',
}.items() for alike in alikes}
"""Cyrillic, Greek, Armenian, Cherokee and odd Latin letters that pass for Latin ones."""
_DIGITS = str.maketrans('01345789@$!|', 'oieastbgasil')
_WORD = re.compile(r'[^\W_]+(?:[@$!|0-9]+[^\W_]+)*')
_SPREAD = re.compile(r'(?<![^\W_])[^\W\d_](?:[ .\-_*·•]{1,2}[^\W\d_](?![^\W_])){2,}')
_DIGIT_WORDS = {word: str(number % 10) for number, word in enumerate((
    'zero one two three four five six seven eight nine null eins zwei drei vier funf sechs sieben '
    'acht neun cero uno dos tres cuatro cinco seis siete ocho nueve').split())}
_DIGIT_WORD = re.compile(rf'\b(?:{"|".join(_DIGIT_WORDS)})\b')
_APART = re.compile(r'(?<!\d)\d(?:[ .,\-_*·•/]{1,2}\d(?!\d)){2,}|\d+(?:[ -]\d+)+')
"""Digits one by one, and parts of a number."""
_INSIDE = re.compile(r"(?<=[^\W_])[-_*.·•~'’^/\\]{1,2}(?=[^\W_])")
_FORMAT = re.compile(r'</?[A-Za-z][^<>\n]{0,60}>|[*~`]+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)')
_MARKS = re.compile(r'(?<=\w)[-_/](?=\w)')
TOKEN = re.compile(r"[^\W_](?:[^\W_]|\x00|'(?=[^\W_]))*")
"""A word, in the letters that it looks like."""
MOST = 100_000
"""Characters that are read; in a longer text nothing is sure."""


@lru_cache(maxsize=16)
def read(text: str) -> str:
    """
    Return a text with its letters written in one way, and without what nobody sees.

    Compatibility forms (NFKC) become what they stand for, case stays. Each line break, of whatever
    kind, is a newline. Format characters, other invisible ones and control characters but tabs go:
    zero-width and bidirectional marks, soft hyphens, variation selectors, tags. Marks that nothing
    composes with stay.
    """
    if text.isascii() and text.isprintable():
        return text
    folded = unicodedata.normalize('NFKC', _SPACES.sub(' ', _BREAKS.sub('\n', text)))
    shown = ''.join(char for char in _INVISIBLE.sub('', folded)
                    if char in '\n\t' or unicodedata.category(char) not in ('Cf', 'Cc'))
    return unicodedata.normalize('NFKC', shown)  # what stood apart may compose now


def comparable(text: str) -> str:
    """Return a text as ``read`` has it, without case, on one line, with single blanks."""
    return ' '.join(unicodedata.normalize('NFKC', read(text).casefold()).split())


@lru_cache(maxsize=16)
def look_alike(text: str) -> str:
    """
    Return a text that was ``read``, in lower case and in the Latin letters that it looks like.

    As long as the text, character for character, so that places in one are places in the other;
    a mark over a letter becomes a NUL.
    """
    lowered = ''.join(map(_one, text))
    if _has_odd_word(lowered):
        lowered = _WORD.sub(_without_digits, lowered)
    return lowered


@dataclass(frozen=True, slots=True)
class Token:
    """A word, in lower case and Latin letters, and where it stands."""

    word: str
    start: int
    end: int


@lru_cache(maxsize=8)
def tokens_of(text: str) -> tuple[Token, ...]:
    """Return the words of a text."""
    return tuple(Token(found[0].replace('\0', ''), found.start(), found.end())
                 for found in TOKEN.finditer(look_alike(text)))


def spellings(text: str) -> tuple[str, ...]:
    """Return what a text that was ``read`` might be meant to say in other letters and digits."""
    plain = look_alike(text).replace('\0', '')
    digits = _DIGIT_WORD.sub(lambda found: _DIGIT_WORDS[found[0]], plain)
    return tuple(dict.fromkeys([plain, _INSIDE.sub('', plain), _APART.sub(
        lambda found: ''.join(filter(str.isdigit, found[0])), digits)]))


def unmarked(text: str) -> str:
    """Return a text without marks of formatting, its words apart by one blank and nothing else."""
    return ' '.join(_MARKS.sub(' ', _FORMAT.sub('', unescape(text))).split())


def spelled_out(text: str) -> str:
    """Return the first letters of a text that stand one by one, such as s-t-o-p; else nothing."""
    found = _SPREAD.search(text)
    return found[0][:40] if found else ''


def struck_out(text: str) -> bool:
    """Return whether marks strike out characters of a text."""
    return _STRUCK.search(text) is not None


def foreign_word(text: str) -> str:
    """
    Return the first word with letters that are not Latin, which may say anything; else nothing.

    A Greek letter alone or before a Latin unit or name is usual: µg, β-blocker.
    """
    if text.isascii():
        return ''
    for found in _WORD.finditer(text):
        word = found[0]
        rest = word[1:] if _is_greek(word[0]) else word
        if not all(map(_is_latin, rest)):
            return word[:40]
    return ''


def _has_odd_word(text: str) -> bool:
    return any(char in text for char in '01345789@$!|')


def _without_digits(found: 're.Match[str]') -> str:
    word = found[0]
    letters = sum(char.isalpha() for char in word)
    return word.translate(_DIGITS) if 2 <= letters < len(word) else word


@lru_cache(maxsize=4096)
def _one(char: str) -> str:
    """Return the Latin letter that a character looks like, in lower case; else the character."""
    if char.isascii():
        return "'" if char == '`' else char.lower()
    lowered = char.lower() if len(char.lower()) == 1 else char
    if char in _LOOK_ALIKES or lowered in _LOOK_ALIKES:
        return _LOOK_ALIKES.get(char) or _LOOK_ALIKES[lowered]
    if unicodedata.category(char) in ('Mn', 'Me'):
        return '\0'
    base = unicodedata.normalize('NFD', lowered)[0]
    if base.isascii() or base in _LOOK_ALIKES:
        return _LOOK_ALIKES.get(base, base)
    name = _LATIN_NAME.fullmatch(unicodedata.name(char, ''))
    return (name[1] or name[2]).lower() if name else lowered


def _is_latin(char: str) -> bool:
    return char.isascii() or not char.isalpha() \
        or unicodedata.name(char, '').startswith(('LATIN', 'MASCULINE', 'FEMININE'))


def _is_greek(char: str) -> bool:
    return unicodedata.name(char, '').startswith('GREEK')


Kind = Literal['negated', 'conditional', 'told of others', 'told of another time', 'taken back',
               'asked', 'quoted', 'struck out', 'put off', 'repeated from what it was told']


@dataclass(frozen=True, slots=True)
class Scope:
    """A stretch of a text in which nothing is simply said, and what makes it so."""

    start: int
    end: int
    kind: Kind
    trigger: tuple[int, int]
    """Where the words stand that make it so; empty where a sign does."""


_QUOTED = re.compile('"([^"\\n]{1,2000})"|“([^”]{1,2000})”|«([^»]{1,2000})»|„([^“”]{1,2000})[“”]|'
                     r"(?<![^\W_])['‘]((?:[^'‘’\n]|(?<=\w)['’](?=\w)){1,400})['’](?![^\W_])|"
                     r'~~([^~]{1,2000})~~|'
                     r'<(?:s|del|strike)>((?:[^<]|<(?!/)){1,2000})</|(?:^|\n)[ \t]*>([^\n]*)')
_CODE = re.compile(r'```(.+?)(?:```|\Z)|`([^`\n]+)`|<!--(.*?)(?:-->|\Z)|'
                   r'(?:^|(?<=\n))[ \t]*\[[^\]\n]{0,80}\]:[ \t]*[#<]([^\n]*)|[ \t\n]{200,}(.+)',
                   re.DOTALL)
_CROSS = re.compile('[\u274c\u2717\u2718\U0001f6ab\U0001f44e]|'
                    r'(?:^|(?<=\n))[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[[ \t]?\][ \t]')
"""A cross, a sign of no or a thumb down, and a box that nobody has ticked."""
_IRONIC = re.compile(r'(?:^|(?<!\bm)(?<!\brad)\s)/s\s*$')
_DATA = re.compile(r'\s*(```\w*\s*)?(?=[{\[])')
_FENCE = re.compile(r'\s*```')
_JSON = json.JSONDecoder()


def quotes(text: str) -> Iterator[Scope]:
    """Yield what stands in quotation marks, is struck out, or in a block of quotation."""
    stripped = text.strip()
    begin = after_data(text)
    yield from _crossed(text, begin)
    for found in _CODE.finditer(text, begin):
        group = next(number for number in range(1, 6) if found[number] is not None)
        start, end = found.span(group)
        if found[0] != stripped or group > 2:  # nobody sees a comment
            yield Scope(start, end, 'quoted', (found.start(), start))
    for found in _QUOTED.finditer(text, begin):
        group = next(number for number in range(1, 9) if found[number] is not None)
        if found[0].strip() == stripped and group not in (6, 7, 8):
            return  # an answer that is in quotation marks as a whole is no quotation
        start, end = found.span(group)
        kind: Kind = 'struck out' if group in (6, 7) else 'quoted'
        yield Scope(start, end, kind, (found.start(), start))


def after_data(text: str) -> int:
    """Return where JSON ends that a text begins with: all of its texts are in quotation marks."""
    found = _DATA.match(text)
    try:
        value, end = _JSON.raw_decode(text, found.end()) if found else (None, 0)
    except (ValueError, RecursionError):
        return 0
    if not value:
        return 0  # "[ ] stop" is a box and no list
    closes = _FENCE.match(text, end) if found and found[1] else None
    return closes.end() if closes else end


def _crossed(text: str, begin: int) -> Iterator[Scope]:
    """Yield what signs take back that are no words: each the line that it stands in."""
    ended = -1
    for found in _CROSS.finditer(text, begin):
        if found.start() < ended:
            continue  # in the same line
        start = text.rfind('\n', 0, found.start()) + 1
        ended = text.find('\n', found.end())
        ended = len(text) if ended < 0 else ended
        yield Scope(start, ended, 'struck out', (start, start))
    ironic = _IRONIC.search(text)
    if ironic is not None:
        yield Scope(0, ironic.start(), 'taken back', ironic.span())


_TAG = re.compile(
    r'<(?P<closes>/?)(?P<kind>thinking|think|reasoning|thoughts?|scratchpad)(?:\s[^<>]*)?>|'
    r'\[(?P<shuts>/?)(?P<sort>think)\]', re.IGNORECASE)
_CHANNEL = re.compile(r'<\|channel\|>\s*(\w+)\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>'
                      r'([^<]*(?:<(?!\|)[^<]*)*)', re.IGNORECASE)
"""As models of the gpt-oss family write, whose servers should take it away."""


def without_reasoning(text: str) -> str:
    """
    Return a text without its blocks ``<think>``, ``<thinking>``, ``<reasoning>`` and their like.

    Of a text in channels (``<|channel|>analysis<|message|>``) only ``final`` is the answer.
    An opening tag without its closing one: everything after it is reasoning. A closing tag
    without an opening one, which was in the model's template then: everything before it is.
    Linear in the length of the text.
    """
    channels = _CHANNEL.findall(text)
    if channels:
        text = ''.join(said for name, said in channels if name.lower() == 'final')
    kept: list[str] = []
    inside, start = '', 0
    for tag in _TAG.finditer(text):
        kind, closes = (tag['kind'] or tag['sort']).lower(), tag['closes'] or tag['shuts']
        if not closes and not inside:
            kept.append(text[start:tag.start()])
            inside = kind
        elif closes and inside in ('', kind):
            if not inside:
                kept.clear()
            inside, start = '', tag.end()
    return ''.join(kept) + ('' if inside else text[start:])
