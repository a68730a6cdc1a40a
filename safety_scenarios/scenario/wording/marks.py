# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Marks by which a text leaves open, or denies, what its words say, in whatever language.

Boxes that are not ticked, blanks to be filled in, tables with empty cells, ratings of nothing and
words of a status such as *to do*.
"""

from collections.abc import Iterator
import re

from safety_scenarios.scenario.wording.reading import after_data, Scope

_TICKED = r'\[[xX✓✔✗✘*+]\]|\([xX✓✔*+]\)|[☑☒✅✓✔🗹🗷]'
_BOX = (
    r'(?<![\w\]])\[[ \t_.\-·]{0,5}\](?![\w(\[])|(?<!\w)\([ \t_\u00a0]{1,5}\)|'
    r'(?<!\w)\{[ \t_]{1,5}\}|[【〔<][ \t_]{1,5}[】〕>]'
    '|[☐□◻◽▢⬜○◯⚪▫▯❏❐❑❒🔲🔳⎕◌〇⬚🗆❍]'
    r'|\\(?:square|Box|Circle)\b|&#(?:9744|x2610|9633|9675);|:white_(?:large_|medium_|small_)?'
    r'square:|:(?:black_square_button|white_circle|o):'
    r'|<input\b(?![^>]{0,200}\bchecked\b)[^>]{0,200}\b(?:checkbox|radio)\b[^>]{0,200}>')
_MARK = re.compile(f'(?P<ticked>{_TICKED})|(?P<box>{_BOX})')
_ANSWERED = re.compile(r'\s*(?:yes|no|ja|nein|s[ií]|on|off)\b', re.IGNORECASE)
_BLANK = re.compile(r'(?<![\w_])_{2,}(?![\w_])|\.{6,}|…{2,}')
_STARS = re.compile('[★☆⭐]+')
_STATUS = (r'(?:to[ -]?do|tbd|tba|pending|open|unchecked|undone|unticked|skipped?|optional|later|'
           r'wip|not (?:yet )?(?:done|started|planned|needed|necessary|required|applicable|'
           r'executed|performed|true|now|today|ticked|checked|selected|chosen)|n/a|none|offen|'
           r'ausstehend|'
           r'nicht (?:n[öo]tig|erledigt|notwendig|geplant|gemacht|zutreffend)|entf[äa]llt|'
           r'pendiente|por hacer|sin hacer|omitid[oa]|no (?:hecho|necesari[oa]|aplica)|-|–|—)')
_BEFORE = re.compile(rf'^\W*{_STATUS}\s*[:–—]', re.IGNORECASE)
_BEHIND = re.compile(rf'(?:[:=(\[–—]|\s-)\s*{_STATUS}\s*[)\]]?\s*[.!]?\s*$', re.IGNORECASE)
_ASIDE = re.compile(rf'[(\[]\s*(?![-–—])(?:{_STATUS}|no|false|nein|never|nie|nunca)\s*[)\]]|'
                    r'(?:->|=>|[,|])\s*(?:no|nein|false|0)\s*$|'
                    r'\b(?:unchecked|unticked|unselected|deselected)\b', re.IGNORECASE)
_UNSELECTED = re.compile(
    r'\b(?:selected|checked|ticked|chosen|done|do|execute|enabled|active|apply|confirmed)'
    r'["\']?\s{0,3}[:=]\s{0,3}["\']?(?:false|no|0|null|none)\b', re.IGNORECASE)
_VOID = re.compile(r'"[^"\n]{1,200}"\s{0,3}:\s{0,3}(?:""|\[\s{0,9}\]|\{\s{0,9}\})')
_NOTHING = re.compile(
    r'(?<![\w.,/])(?:0+(?:[.,]0+)?|zero|null|cero)\s*(?:/|of|out of|von|aus|de|sobre)\s*'
    r'(?:\d+|ten|five|a hundred|zehn|fünf|hundert|diez|cinco|cien)\b|'
    r'(?<![\w.,])0+(?:[.,]0+)?\s*(?:%|percent\b|prozent\b|por ciento\b)|'
    r'[:=]\s*(?:0+(?:[.,]0+)?|zero|null|cero)\s*(?=$|[.;,)}\]]\s|[.;,)}\]]$)', re.IGNORECASE)
_CHOICE = re.compile(
    r'\b(?:yes\s*/\s*no|no\s*/\s*yes|ja\s*/\s*nein|nein\s*/\s*ja|s[ií]\s*/\s*no)\b', re.IGNORECASE)
_CELL = re.compile(r'(?<!\\)\|')
_RULE = re.compile(r'[\s|:\-+=]*')
_EMPTY = re.compile(rf'[\s_.…]*|{_STATUS}|no|nein|0|[✗✘❌]', re.IGNORECASE)
_EMPTY_HTML = re.compile(r'<t[dh]\b[^>]{0,200}>(?:\s|&nbsp;)*</t[dh]>', re.IGNORECASE)
_ENDS = re.compile(r'(?<![\d.])[.!?;](?=\s|$)')


def unmarked_scopes(text: str) -> Iterator[Scope]:
    """Yield where marks leave open, or deny, what a text that was ``read`` says."""
    start = after_data(text)  # of values in data the words of ``triggers.OFF`` say enough
    for found in (*_VOID.finditer(text), *_UNSELECTED.finditer(text, 0, start)):
        is_void = found.re is _VOID
        yield Scope(found.start() if is_void else 0, found.end() if is_void else start,
                    'struck out', (found.start(), found.start()))
    last = text.rstrip()
    if last.endswith((':', '=')):  # and nothing comes
        yield Scope(last.rfind('\n') + 1, len(last), 'struck out', (len(last), len(last)))
    lines = text[start:].split('\n')
    has_x = any(re.match(r'[ \t]*[xX][ \t]', line) for line in lines)
    table: list[tuple[int, str]] = []
    for line in (*lines, ''):
        if len(_CELL.findall(line)) >= 2:
            table.append((start, line))
        elif table:
            yield from _of_table(table)
            table = []
        yield from _of_line(line, start, has_x)
        start += len(line) + 1
    if _EMPTY_HTML.search(text):
        yield Scope(0, len(text), 'struck out', (0, 0))


def _of_line(line: str, start: int, has_x: bool) -> Iterator[Scope]:
    def whole() -> Scope:
        return Scope(start, start + len(line), 'struck out', (start, start))

    if not line.strip() or not any(char.isalnum() for char in line):
        return
    blank = _BLANK.search(line)
    stars = ''.join(_STARS.findall(line))
    if blank is not None or _CHOICE.search(line) or stars.count('☆') * 2 > len(stars) \
            or (has_x and re.match(r'[ \t]*[oO0][ \t]', line)):
        yield whole()
    yield from _of_boxes(line, start)
    begin = 0
    for end in (*(found.end() for found in _ENDS.finditer(line)), len(line)):
        sentence = ' '.join(line[begin:end].split())
        if _BEFORE.search(sentence) or _BEHIND.search(sentence) \
                or _ASIDE.search(sentence) or _NOTHING.search(sentence) \
                or _UNSELECTED.search(sentence):
            yield Scope(start + begin, start + end, 'struck out', (start + begin, start + begin))
        begin = end


def _of_boxes(line: str, start: int) -> Iterator[Scope]:
    """Yield what stands behind each box that is not ticked, or before it where nothing does."""
    marks = list(_MARK.finditer(line))
    if not any(mark['box'] for mark in marks):
        return
    begins = not line[:marks[0].start()].strip(' \t>-*+•·|0123456789.)')
    answers = any(_ANSWERED.match(line, mark.end()) for mark in marks)
    if not begins or answers:
        yield Scope(start, start + len(line), 'struck out', (start, start))
        return
    for mark, end in zip(marks, (*(one.start() for one in marks[1:]), len(line)), strict=True):
        if mark['box']:
            yield Scope(start + mark.start(), start + end, 'struck out',
                        (start + mark.start(), start + mark.start()))


def _of_table(table: list[tuple[int, str]]) -> Iterator[Scope]:
    """Yield a table in which a cell is empty, or says no."""
    rows = [line for _, line in table if _RULE.fullmatch(line) is None]
    cells = [[cell.strip() for cell in _CELL.split(line.strip().strip('|'))] for line in rows]
    is_short = len({len(row) for row in cells}) > 1
    if len(rows) < 1 or not (is_short or any(
            _EMPTY.fullmatch(cell) for row in cells for cell in row)):
        return
    end = table[-1][0] + len(table[-1][1])
    yield Scope(table[0][0], end, 'struck out', (table[0][0], table[0][0]))
