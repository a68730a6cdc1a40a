# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Encrypts what evaluator and simulator send each other: no other node can read, forge or repeat it.

Every node of a domain can subscribe to a topic, the controller under test included. The plan of a
trial goes to the simulator on one, and the true state of the world comes back on another. Only
these two processes have the key.
"""

from base64 import b64decode, b64encode
import os
import sys

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError:  # ``OverRos.refusals`` reports it, where a simulator is to be started
    AESGCM = None

_OWN, _NONCE, _KEY_BITS = 6, 12, 256
"""Bytes of a nonce by which two senders differ, and of all of it with a number of the text."""


class Seal:
    """
    Encrypts and authenticates texts with AES-256-GCM.

    :param key: shared with the other process; empty: texts are sent in clear
    """

    def __init__(self, key: bytes = b'') -> None:
        self._key = key
        self._cipher = AESGCM(key) if key else None
        self._own, self._count = os.urandom(_OWN), 0
        self._latest: dict[tuple[str, bytes], int] = {}
        """Topic and sender to the number of the latest text."""

    @classmethod
    def fresh(cls) -> 'Seal':
        """Return one with a new random key."""
        return cls(os.urandom(_KEY_BITS // 8))

    def closed(self, text: str, topic: str = '') -> str:
        """Return a text that only the other process can read, on this topic, and only once."""
        if self._cipher is None:
            return text
        self._count += 1
        nonce = self._own + self._count.to_bytes(_NONCE - _OWN, 'big')
        sealed = self._cipher.encrypt(nonce, text.encode(), topic.encode())
        return b64encode(nonce + sealed).decode()

    def opened(self, text: str, topic: str = '') -> str | None:
        """
        Return the text that the other process has encrypted for a topic; None for any other.

        None also for one that is not newer than the latest on its topic: it was sent again by
        somebody else.
        """
        if self._cipher is None:
            return text
        try:
            data = b64decode(text, validate=True)
            found = self._cipher.decrypt(data[:_NONCE], data[_NONCE:], topic.encode()).decode()
        except (ValueError, InvalidTag):
            return None
        sender, number = (topic, data[:_OWN]), int.from_bytes(data[_OWN:_NONCE], 'big')
        if number <= self._latest.get(sender, 0):
            return None
        self._latest[sender] = number
        return found

    @property
    def line(self) -> bytes:
        """Return the key as a line for the standard input of the other process."""
        return self._key.hex().encode() + b'\n'


OPEN = Seal()
"""Of a simulator that another program has started: texts are sent in clear."""


def seal_of_parent() -> Seal:
    """Return the seal whose key is the first line of standard input."""
    line = b''
    while not line.endswith(b'\n') and (part := os.read(sys.stdin.fileno(), 1)):
        line += part
    return Seal(bytes.fromhex(line.decode().strip()))
