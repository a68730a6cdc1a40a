# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What processes send, by the packets themselves: RTPS over UDP on the loopback interface.

Of the protocol (OMG DDSI-RTPS 2.3, 8.3 and 9.4) only what tells who sent data and by which writer.
"""

from collections import Counter
from dataclasses import dataclass, field
import socket
import threading

_ALL = 0x0003
_IP, _UDP, _HEADER = 14, 8, 20
_DATA, _DATA_FRAG = 0x15, 0x16
_BUILTIN = 0xC0
"""Bits of the last byte of an entity id: who announces others, and no user's data."""


@dataclass
class Sent:
    """What one participant has sent; a participant is the first twelve bytes of a gid."""

    data: Counter = field(default_factory=Counter)
    """Entity id of each writer of user data to how many messages."""
    first: dict[bytes, bytes] = field(default_factory=dict)
    """The same to the payload of its first message, with what stands before it."""
    other: int = 0
    """Discovery, heartbeats and acknowledgements."""


class Wire:
    """
    Listens to the loopback interface while the block lasts.

    :ivar sent: participant to what it has sent
    :raises PermissionError: without the right to see packets
    """

    def __init__(self) -> None:
        self.sent: dict[bytes, Sent] = {}
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self._socket.bind(('lo', 0))
        self._socket.settimeout(0.2)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> 'Wire':
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """End."""
        self._ended.set()
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                frame, (_, _, direction, *_) = self._socket.recvfrom(1 << 17)
            except TimeoutError:
                continue
            if direction != socket.PACKET_OUTGOING:  # what comes back in is the same again
                self._take(frame)

    def _take(self, frame: bytes) -> None:
        begin = _IP + 4 * (frame[_IP] & 0x0F) + _UDP
        message = frame[begin:]
        if frame[_IP + 9] != socket.IPPROTO_UDP or message[:4] != b'RTPS':
            return
        sent = self.sent.setdefault(bytes(message[8:_HEADER]), Sent())
        place = _HEADER
        while place + 4 <= len(message):
            kind, flags = message[place], message[place + 1]
            length = int.from_bytes(message[place + 2:place + 4], 'little' if flags & 1 else 'big')
            body = message[place + 4:place + 4 + length] if length else message[place + 4:]
            if kind in (_DATA, _DATA_FRAG) and body[11] & _BUILTIN != _BUILTIN:
                sent.data[bytes(body[8:12])] += 1
                sent.first.setdefault(bytes(body[8:12]), bytes(body))
            else:
                sent.other += 1
            if not length:
                break
            place += 4 + length
