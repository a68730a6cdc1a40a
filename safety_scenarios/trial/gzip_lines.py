# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Text in gzip: written piece by piece, each readable as soon as it is written, and read again.

A file that a crash cut is read up to the last piece that was written whole. ``zcat`` reads both.
"""

from collections.abc import Iterator
import io
from pathlib import Path
from typing import BinaryIO
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

    :ivar problem: what is wrong with the bytes read so far; empty: nothing
    :ivar is_whole: whether the file has its end; a crash may have cut it
    """

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open('rb')
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
    lines = Lines(path)
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
