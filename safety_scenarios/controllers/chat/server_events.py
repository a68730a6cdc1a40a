# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Server-sent events: the bytes of a stream to the data of its events."""

from collections.abc import AsyncIterator, Iterator

_DATA = b'data'
_MARK = b'\xef\xbb\xbf'
"""A byte order mark, which may begin a stream."""


class EventReader:
    """
    Takes a stream piece by piece, and returns the data of each event as soon as it is complete.

    Lines end by LF, CRLF or CR and by nothing else: what Unicode calls a line separator may stand
    in an answer. Comments, and fields other than data, are nothing.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._is_begun = self._after_cr = False
        self._data: list[bytes] = []

    def add(self, piece: bytes) -> Iterator[bytes]:
        """Yield the data of the events that a piece completes."""
        for line in self._lines(piece):
            if line:
                self._take(line)
            elif self._data:
                yield self._event()

    def end(self) -> Iterator[bytes]:
        """Yield the data of an event after which the stream ended without an empty line."""
        if self._rest:
            self._take(bytes(self._rest))
        if self._data:
            yield self._event()

    def _lines(self, piece: bytes) -> Iterator[bytes]:
        if self._after_cr and piece:
            piece, self._after_cr = piece.removeprefix(b'\n'), False
        self._rest += piece
        if not self._is_begun:
            if len(self._rest) < len(_MARK) and _MARK.startswith(bytes(self._rest)):
                return
            self._is_begun = True
            if self._rest.startswith(_MARK):
                del self._rest[:len(_MARK)]
        if b'\n' not in piece and b'\r' not in piece:
            return
        *lines, rest = bytes(self._rest).replace(b'\r\n', b'\n').replace(b'\r', b'\n').split(b'\n')
        self._after_cr = self._rest.endswith(b'\r')
        self._rest = bytearray(rest)
        yield from lines

    def _take(self, line: bytes) -> None:
        field, _, value = line.partition(b':')
        if field == _DATA:
            self._data.append(value.removeprefix(b' '))

    def _event(self) -> bytes:
        data, self._data = b'\n'.join(self._data), []
        return data


async def event_data(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the data of each event of a stream."""
    reader = EventReader()
    async for piece in pieces:
        for data in reader.add(piece):
            yield data
    for data in reader.end():
        yield data
