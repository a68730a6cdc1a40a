# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
``python3 capture.py INTERFACE``: write down every RTPS data message that passes an interface.

One JSON list a line on standard output: kernel's time of the packet (system time, ns), whether it
leaves this host, source stamp of the message (ns), writer (GUID prefix and entity, hexadecimal)
and its sequence number. Knows nothing of the package: the kernel's stamps are from before any code
of a receiver has run, and after all of a sender has. Ends with standard input.
"""

from collections.abc import Iterator
import json
import os
import selectors
import socket
import struct
import sys

_ALL = 0x0003
_OUTGOING = 4
_STAMP_NS = 35
"""SO_TIMESTAMPNS."""
_UDP = 17
_DATA, _DATA_FRAG, _INFO_TS = 0x15, 0x16, 0x09
_BUFFER = 64 * 1024 * 1024
_SO_RCVBUFFORCE = 33


def rtps(frame: bytes) -> bytes | None:
    """Return the RTPS message of an Ethernet frame, None if it carries another protocol."""
    if len(frame) < 14 or frame[12:14] != b'\x08\x00' or len(frame) < 34 or frame[23] != _UDP:
        return None
    if struct.unpack_from('!H', frame, 20)[0] & 0x1FFF:
        return None  # a later fragment has no header
    payload = frame[14 + 4 * (frame[14] & 0x0F) + 8:]
    return payload if payload[:4] == b'RTPS' else None


def data_messages(message: bytes) -> Iterator[tuple[int, str, int]]:
    """Yield source stamp (ns), writer and sequence number of each DATA of an RTPS message."""
    prefix, stamp_ns, place = message[8:20].hex(), 0, 20
    while place + 4 <= len(message):
        kind, flags, length = struct.unpack_from('<BBH', message, place)
        order = '<' if flags & 1 else '>'
        if order == '>':
            length, = struct.unpack_from('>H', message, place + 2)
        body = place + 4
        if kind == _INFO_TS and not flags & 2:
            seconds, fraction = struct.unpack_from(f'{order}iI', message, body)
            stamp_ns = seconds * 1_000_000_000 + round(fraction * 1e9 / 2**32)
        elif kind in (_DATA, _DATA_FRAG):
            high, low = struct.unpack_from(f'{order}iI', message, body + 12)
            yield stamp_ns, prefix + message[body + 8:body + 12].hex(), (high << 32) + low
        if length == 0:
            break  # the last submessage may go to the end
        place = body + length


def main() -> None:
    """Write until standard input ends."""
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
    packets.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER)
    packets.setsockopt(socket.SOL_SOCKET, _STAMP_NS, 1)
    packets.bind((sys.argv[1], _ALL))
    packets.setblocking(False)
    selector = selectors.DefaultSelector()
    selector.register(packets, selectors.EVENT_READ)
    selector.register(sys.stdin, selectors.EVENT_READ)
    sys.stdout.write('[]\n')
    sys.stdout.flush()
    while True:
        for key, _ in selector.select():
            if key.fileobj is sys.stdin:
                if not os.read(key.fd, 4096):
                    sys.stdout.flush()
                    return
                continue
            frame, told, _, place = packets.recvmsg(65536, 128)
            message = rtps(frame)
            stamp = next((data for level, kind, data in told
                          if level == socket.SOL_SOCKET and kind == _STAMP_NS), None)
            if message is None or stamp is None:
                continue
            seconds, nanoseconds = struct.unpack('qq', stamp)
            for source_ns, writer, number in data_messages(message):
                line = [seconds * 1_000_000_000 + nanoseconds, place[2] == _OUTGOING, source_ns,
                        writer, number]
                sys.stdout.write(json.dumps(line) + '\n')


if __name__ == '__main__':
    main()
