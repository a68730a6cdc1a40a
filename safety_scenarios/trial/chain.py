# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The chain of hashes over the lines of a journal: whatever is changed later breaks it.

The hash of a line is that of the line and of all lines before it, decompressed and with their
ends (SHA-256). The last line of a journal holds the first digits of each of these hashes, which
tell the first broken line, and the whole of the last one: the head. The last line counts without
the chain itself, and of the first line the plan alone: the same trial of another campaign has the
same chain.
"""

from collections.abc import Iterable
import hashlib
from pathlib import Path
import re

from safety_scenarios.trial.gzip_lines import open_lines

LINK_DIGITS = 4
"""Hexadecimal digits: of 65,536 lines that were changed, one is found a line late. That one was
changed at all, the head tells, which has all 64. Hashes cannot be compressed."""
_OPENING, _CLOSING = b',"chain":{"links":"', b'"}}\n'
_HEAD = re.compile(rb'"head":"([0-9a-f]{64})"\}\}\n\Z')
_TAIL_BYTES = 80
"""Of a file, in which the head is."""
_BLOCK = 1 << 20


class Chain:
    """
    Hashes line after line.

    :ivar links: the first digits of each line's hash
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.links: list[str] = []

    def add(self, line: bytes) -> None:
        """Take the next line, with its end."""
        self._hash.update(line if self.links else _plan(line))
        self.links.append(self._hash.hexdigest()[:LINK_DIGITS])

    def end(self, line: bytes) -> tuple[bytes, str]:
        """
        Take the last line, a JSON object with its end.

        :return: the line with the chain in it, and the head of the chain
        """
        self._hash.update(line)
        head = self._hash.hexdigest()
        return (line[:-2] + _OPENING + ''.join(self.links).encode() + b'","head":"'
                + head.encode() + _CLOSING), head


class ReadChain:
    """
    Compares the lines of a journal with the chain in its last line.

    It hashes while the journal is read; only of a broken chain every line is hashed again.

    :param first: line of the journal
    """

    def __init__(self, first: bytes) -> None:
        self._hash = hashlib.sha256(_plan(first))

    def add(self, line: bytes) -> None:
        """Take a line that is neither the first nor the last one."""
        self._hash.update(line)

    def head(self, last: bytes) -> str | None:
        """Return the head of the chain; None: it is broken, or there is none."""
        found = _HEAD.search(last)
        self._hash.update(_bare(last))
        head = self._hash.hexdigest()
        return head if found is not None and found[1].decode() == head else None


def head_of(path: Path) -> str:
    """Return the head as it stands at the end of a journal; empty: there is none."""
    try:
        with open_lines(path)[0] as file:
            end = b''
            while block := file.read(_BLOCK):
                end = (end + block)[-_TAIL_BYTES:]
    except OSError:
        return ''
    found = _HEAD.search(end)
    return '' if found is None else found[1].decode()


def break_in(lines: Iterable[bytes]) -> tuple[int, str] | None:
    """
    Return the first line at which the chain of a whole journal is broken, and what is wrong.

    :param lines: of the journal, with their ends
    :return: number of the line, from 1; None: the chain holds
    """
    found = list(lines)
    last = found.pop() if found else b''
    opening, _, rest = last.rpartition(_OPENING)
    if not opening or _HEAD.search(last) is None:
        return len(found) + 1, 'the last line has no chain of hashes'
    links = rest.partition(b'"')[0].decode(errors='replace')
    chain = Chain()
    for number, line in enumerate(found, 1):
        chain.add(line)
        place = (number - 1) * LINK_DIGITS
        if chain.links[-1] != links[place:place + LINK_DIGITS]:
            return number, (f'{_named(number)} is not as it was written, or one was added or '
                            f'taken out before it')
    if len(found) * LINK_DIGITS < len(links):
        return len(found) + 1, f'{_named(len(found) + 1)} was taken out'
    if chain.end(_bare(last))[0] != last:
        return len(found) + 1, 'the last line is not as it was written'
    return None


def without_chain(journal: bytes) -> bytes:
    """Return the events of a whole journal, and how it was measured, without plan and chain."""
    return _bare(journal.partition(b'\n')[2])


def _plan(first: bytes) -> bytes:
    """Return what of the first line of a journal is of the trial, and not of the campaign."""
    return first.partition(b'"trial":')[2]


def _bare(last: bytes) -> bytes:
    """Return the last line without the chain."""
    opening, _, _ = last.rpartition(_OPENING)
    return opening + b'}\n' if opening else last


def _named(number: int) -> str:
    return 'the plan' if number == 1 else f'event {number - 1}'
