# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Lines of a journal: gzip text readable at once, a chain of hashes, and a hash of commands.

A file that a crash cut is read up to the last piece that was written whole. ``zcat`` reads both.

In the chain, the hash of a line is that of the line and of all lines before it, decompressed and
with their ends (SHA-256). The last line of a journal holds the first digits of each of these
hashes, which tell the first broken line, and the whole of the last one: the head. The last line
counts without the chain itself, and of the first line the plan alone: the same trial of another
campaign has the same chain.
"""

from collections.abc import Iterable, Iterator
import hashlib
import io
import json
from pathlib import Path
import re
from typing import Any, BinaryIO
import zlib

_LEVEL = 6
_GZIP = 16 + zlib.MAX_WBITS
"""What zlib calls a stream with the header and the checksum of gzip; its header has no time."""
_BLOCK = 1 << 16
"""Bytes decompressed at a time."""
_LONGEST = 1 << 28
"""Bytes of a line: a small file that unpacks to more was made to fill the memory."""


class Compressor:
    """Compresses pieces of one gzip stream; each can be decompressed without a later one."""

    def __init__(self) -> None:
        self._stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP, zlib.DEF_MEM_LEVEL)

    def piece(self, data: bytes) -> bytes:
        """Return the next bytes of the file, which hold all of ``data``."""
        return self._stream.compress(data) + self._stream.flush(zlib.Z_SYNC_FLUSH)

    def end(self, data: bytes = b'') -> bytes:
        """Return the last bytes of the file."""
        return self._stream.compress(data) + self._stream.flush()


def compressed(data: bytes) -> bytes:
    """Return data as a whole gzip file; files behind one another are read as one."""
    return Compressor().end(data)


class Lines(io.RawIOBase):
    """
    Reads a gzip file as far as it goes.

    :param file: which it closes; one that could not be opened leaves no reader to be closed
    :ivar problem: what is wrong with the bytes read so far; empty: nothing
    :ivar is_whole: whether the file has its end; a crash may have cut it
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._stream = zlib.decompressobj(_GZIP)
        self._ready = memoryview(b'')
        self._line = 0
        self.problem = ''

    @property
    def is_whole(self) -> bool:
        """Return whether the file has its end."""
        return self._stream.eof and not self.problem

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer, up to the end of the file or to what is wrong with it."""
        while not self._ready and not self.problem:
            data = self._stream.unused_data or self._file.read(_BLOCK)
            if not data:
                break
            if self._stream.eof:
                self._stream = zlib.decompressobj(_GZIP)
            found = self._decompressed(data)
            after = len(found) - 1 - found.rfind(b'\n')
            self._line = after + (self._line if after == len(found) else 0)
            if self._line > _LONGEST:
                self.problem = f'it holds a line of more than {_LONGEST} bytes'
                found = found[:len(found) - after]
            self._ready = memoryview(found)
        taken = min(len(buffer), len(self._ready))
        buffer[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken

    def _decompressed(self, data: bytes) -> bytes:
        before = self._stream.copy()
        try:
            return self._stream.decompress(data)
        except zlib.error as error:
            self.problem = f'its compression is damaged: {error}'
        found = bytearray()
        for number in range(len(data)):  # what stands before the damage
            try:
                found += before.decompress(data[number:number + 1])
            except zlib.error:
                break
        return bytes(found)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def open_lines(path: Path) -> tuple[io.BufferedReader, Lines]:
    """
    Return a gzip file to be read line by line, and what tells whether it is whole.

    :raises OSError: it cannot be read
    """
    lines = Lines(path.open('rb'))
    return io.BufferedReader(lines, _BLOCK), lines


def read_gzip(path: Path) -> tuple[bytes, str]:
    """
    Return all that can be read of a gzip file, and what is wrong with it; empty: nothing.

    :raises OSError: it cannot be read
    """
    file, lines = open_lines(path)
    with file:
        data = file.read()
        return data, lines.problem or ('' if lines.is_whole else 'its end is missing')


def lines_in(path: Path) -> Iterator[bytes]:
    """
    Yield the lines of a gzip file that can be read, with their ends.

    :raises OSError: it cannot be read
    """
    file, _ = open_lines(path)
    with file:
        yield from file


LINK_DIGITS = 4
"""Hexadecimal digits: of 65,536 lines that were changed, one is found a line late. That one was
changed at all, the head tells, which has all 64. Hashes cannot be compressed."""
_OPENING, _CLOSING = b',"chain":{"links":"', b'"}}\n'
_HEAD = re.compile(rb'"head":"([0-9a-f]{64})"\}\}\n\Z')
_TAIL_BYTES = 80
"""Of a file, in which the head is."""
_HASHED_BLOCK = 1 << 20


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
            while block := file.read(_HASHED_BLOCK):
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


_OUTPUTS = ('command', 'response', 'say', 'tool_call')
_LEFT_OUT = ('trial_id', 'scheduled_ns')
"""Of an event: who was judged is in the id of a trial."""
_EVENT_HEAD = re.compile(rb'\["(\w+)",(?:null|"[^"\\]*"),\[(null|-?\d+)')
_STAMP = 'stamp'


def commanded(path: Path, *, timed: bool) -> str | None:
    """
    Return the SHA-256 of all commands and answers in a trial's journal, in order.

    None where there is none, or where the journal cannot be read: nothing is equal to that.
    Header stamps are left out.

    :param timed: with the time of each since the first event of the trial, which is the same
        in every repetition where time is simulated
    """
    found, count = hashlib.sha256(), 0
    now_ns, begin_ns = 0, -1
    before: dict[str, Any] = {}
    try:
        for number, line in enumerate(lines_in(path)):
            if not number:
                continue
            head = _EVENT_HEAD.match(line)
            value: Any = None if head else json.loads(line)
            if isinstance(value, dict):  # the last line: the trial has ended
                return found.hexdigest() if count else None
            kind, steady = (head[1].decode(), head[2]) if head else (value[0], value[2][0])
            now_ns += 0 if steady in (None, b'null') else int(steady)
            begin_ns = now_ns if begin_ns < 0 else begin_ns
            if kind not in _OUTPUTS:
                continue
            _, name, _, rest, *message = json.loads(line)
            if message and message[0] != 'same':
                before[name] = _unstamped(message[0])
            count += 1
            found.update(json.dumps([
                kind, name, now_ns - begin_ns if timed else None,
                {key: inner for key, inner in rest.items() if key not in _LEFT_OUT},
                before.get(name) if message else None]).encode())
    except (OSError, ValueError, TypeError, LookupError):
        pass
    return None


def _unstamped(value: Any) -> Any:
    """Return a message without the stamps in its headers."""
    if isinstance(value, dict):
        return {key: _unstamped(inner) for key, inner in value.items() if key != _STAMP}
    return [_unstamped(inner) for inner in value] if isinstance(value, list) else value
