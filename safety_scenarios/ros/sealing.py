# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Keeps what evaluator and simulator say to each other from every other node of the domain.

A topic is heard by whoever subscribes to it, the controller under test included. The plan of a
trial goes to the simulator that way, and the truth about the world comes back. With a key that
only the two processes have, nobody else can read it, and nobody else can move the world.
"""

from base64 import b64decode, b64encode
from hashlib import blake2b, shake_256
import hmac
import os
import secrets
import sys

_NONCE, _TAG, _KEY = 16, 16, 32


class Seal:
    """
    Encrypts and authenticates texts by a key: SHAKE-256 as a stream cipher, then keyed BLAKE2b.

    :param key: shared with the other end; empty: texts travel as they are
    """

    def __init__(self, key: bytes = b'') -> None:
        self.key = key

    @classmethod
    def fresh(cls) -> 'Seal':
        """Return one with a key of its own."""
        return cls(secrets.token_bytes(_KEY))

    def closed(self, text: str) -> str:
        """Return a text as only the other end can read it."""
        if not self.key:
            return text
        nonce, plain = secrets.token_bytes(_NONCE), text.encode()
        hidden = nonce + self._mixed(nonce, plain)
        return b64encode(self._tag(hidden) + hidden).decode()

    def opened(self, text: str) -> str | None:
        """Return the text that the other end has closed; None for any other."""
        if not self.key:
            return text
        try:
            data = b64decode(text, validate=True)
        except ValueError:
            return None
        tag, hidden = data[:_TAG], data[_TAG:]
        if len(hidden) < _NONCE or not hmac.compare_digest(tag, self._tag(hidden)):
            return None
        return self._mixed(hidden[:_NONCE], hidden[_NONCE:]).decode()

    def _mixed(self, nonce: bytes, data: bytes) -> bytes:
        stream = shake_256(self.key + nonce).digest(len(data))
        return (int.from_bytes(data, 'little') ^ int.from_bytes(stream, 'little')).to_bytes(
            len(data), 'little')

    def _tag(self, hidden: bytes) -> bytes:
        return blake2b(hidden, key=self.key, digest_size=_TAG, person=b'seal').digest()

    @property
    def line(self) -> bytes:
        """Return the key as a line for the standard input of the other process."""
        return self.key.hex().encode() + b'\n'


OPEN = Seal()
"""Of a simulator that somebody else has started: texts travel as they are."""


def seal_of_parent() -> Seal:
    """Return the seal whose key is the first line of standard input."""
    line = b''
    while not line.endswith(b'\n') and (part := os.read(sys.stdin.fileno(), 1)):
        line += part
    return Seal(bytes.fromhex(line.decode().strip()))
