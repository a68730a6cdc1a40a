# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A connection to a model's server on which nothing waits longer than its deadline."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
import io
import socket
import ssl
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from safety_scenarios.controllers.policies.servers.failures import Deadline
from safety_scenarios.errors import SettingsError


class Address(NamedTuple):
    """Where a server listens."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_encrypted(self) -> bool:
        """Return whether it is reached through TLS."""
        return self.scheme in ('https', 'wss')

    @property
    def authority(self) -> str:
        """Return host and port as addresses have them."""
        host = f'[{self.host}]' if ':' in self.host else self.host
        return f'{host}:{self.port}'


def read_address(kind: str, text: str, schemes: Mapping[str, int]) -> Address:
    """
    Return an address as its parts.

    :param kind: of the policy, for the message
    :param schemes: that it may have, each with the port that is meant without one
    :raises SettingsError: it is none, or has something in it that would be recorded with it
    """
    first, port = next(iter(schemes.items()))
    expected = (f'expected {kind}:{first}://HOST:PORT, such as {kind}:{first}://127.0.0.1:{port}, '
                f'without user, password or query. Keys belong in the environment')
    try:
        found = urlsplit(text)
        port = found.port or schemes.get(found.scheme, 0)
    except ValueError:
        raise SettingsError(f'controller: got {kind}: with an address that cannot be read, '
                            f'{expected}') from None
    if found.scheme not in schemes or not found.hostname or '@' in found.netloc \
            or found.query or found.fragment or not text.isprintable() or ' ' in text:
        shown = '' if '@' in text or '?' in text else f'{text!r}, '
        raise SettingsError(f'controller: got {kind}: with {shown or "credentials, "}{expected}')
    return Address(found.scheme, found.hostname, port, found.path or '/')


@lru_cache(maxsize=64)
def _resolved(host: str, port: int) -> Sequence[Any]:
    """Return what a host's name stands for; asked once, because no deadline holds for it."""
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


class Connection:
    """
    One TCP connection, through TLS where the address says so.

    To ``http.client`` it is a socket.

    :param deadline: until when ``open`` has to be over; ``within`` sets another for what follows
    """

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._is_interrupted = False
        self._socket = socket.socket()

    def open(self, address: Address) -> None:  # noqa: A003
        """
        Connect.

        :raises OSError: no address of the host can be reached
        """
        failed: OSError = OSError(f'{address.host} has no address')
        for family, kind, protocol, _, place in _resolved(address.host, address.port):
            self._socket.close()
            self._socket = socket.socket(family, kind, protocol)
            try:
                self._socket.settimeout(self._deadline.left_s())
                self._socket.connect(place)
                break
            except OSError as error:
                failed = error
                if self._is_interrupted:
                    raise EOFError from None
        else:
            raise failed
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if address.is_encrypted:
            self._socket.settimeout(self._deadline.left_s())
            self._socket = ssl.create_default_context().wrap_socket(
                self._socket, server_hostname=address.host)

    def within(self, deadline: Deadline) -> None:
        """Hold everything that follows to a deadline."""
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        """
        Send everything.

        :raises TimeoutError: the other side does not take it in time
        """
        self._socket.settimeout(self._deadline.left_s())
        self._socket.sendall(data)

    def recv_into(self, buffer: Any) -> int:
        """
        Take what has come; 0: the other side has closed.

        :raises TimeoutError: nothing comes in time
        """
        self._socket.settimeout(self._deadline.left_s())
        return self._socket.recv_into(buffer)

    def recv(self, most: int) -> bytes:
        """Return what has come; nothing: the other side has closed."""
        self._socket.settimeout(self._deadline.left_s())
        return self._socket.recv(most)

    def received(self, most: int) -> bytes | None:
        """
        Return what has come by now, without waiting; None: nothing has.

        No bytes mean that the other side has closed.

        :raises TimeoutError: the deadline is over
        """
        self._deadline.left_s()
        self._socket.settimeout(0.0)
        try:
            return self._socket.recv(most)
        except (BlockingIOError, ssl.SSLWantReadError):
            return None
        except ConnectionError:
            return b''

    def makefile(self, mode: str = 'rb', *more: Any) -> io.BufferedReader:
        """Return it as a file to read from, which leaves it open when it is closed."""
        return io.BufferedReader(_Reading(self))

    def interrupt(self) -> None:
        """End what another thread waits for here."""
        self._is_interrupted = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hang up."""
        self.interrupt()
        self._socket.close()


class _Reading(io.RawIOBase):

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._connection.recv_into(buffer)
