# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What every server of a policy is to its controller: faults, deadlines, patience at first."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
import io
import logging
import socket
import ssl
import time
from typing import Any, ClassVar, NamedTuple, TypeVar
from urllib.parse import urlsplit

from safety_scenarios.controllers.policies.model import (
    Inference,
    InferenceError,
    ModelOptions,
    PolicyModel,
)
from safety_scenarios.controllers.server_replies import LONGEST_REPLY, without_keys
from safety_scenarios.errors import escaped_controls, in_words, SettingsError

MAX_ANSWER = LONGEST_REPLY
"""Bytes of one answer; a chunk of actions has a few thousand."""
_LONGEST = 300
"""Characters that are kept of what a server says."""


class Deadline:
    """
    When a whole exchange has to be over, however many bytes come until then.

    :param within_s: from now on
    """

    def __init__(self, within_s: float) -> None:
        self.within_s = within_s
        self._end_s = time.monotonic() + within_s

    def remaining_s(self) -> float:
        """
        Return how much time is left.

        :raises TimeoutError: none is
        """
        left_s = self._end_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        return left_s

    def ends_within(self, seconds: float) -> bool:
        """Return whether no more time than this is left."""
        return time.monotonic() + seconds >= self._end_s


@contextmanager
def named_failures(deadline: Deadline) -> Iterator[None]:
    """
    Give what the network does to an exchange its name.

    :raises InferenceError: in place of an error of the operating system
    """
    try:
        yield
    except TimeoutError:
        raise InferenceError('timeout', f'no whole answer within {deadline.within_s:g} s') \
            from None
    except ConnectionRefusedError:
        raise InferenceError('refused', 'nothing listens there') from None
    except (ConnectionError, EOFError):
        raise InferenceError('dropped', 'the connection was closed before the answer came') \
            from None
    except ssl.SSLError as error:
        raise InferenceError('tls', in_words(error)) from error
    except socket.gaierror as error:
        raise InferenceError('unreachable', f'the host is unknown: {in_words(error)}') from error
    except OSError as error:
        raise InferenceError('unreachable', in_words(error)) from error


def malformed(why: str) -> InferenceError:
    """Return that an answer cannot be read."""
    return InferenceError('malformed', shortened(why))


def unasked() -> InferenceError:
    """Return that something came before the question: what it answers is unknown."""
    return malformed('an answer came before its question')


def too_large() -> InferenceError:
    """Return that an answer has more bytes than any chunk of actions."""
    return InferenceError('too_large', f'the answer has more than {MAX_ANSWER >> 20} MiB')


def server_error(text: Any) -> InferenceError:
    """Return what a server reports that went wrong there; of a traceback its last line."""
    lines = [line for line in str(text).splitlines() if line.strip()]
    return InferenceError('server_error', shortened(lines[-1] if lines else 'no reason is given'))


def http_error(status: int, body: bytes | bytearray) -> InferenceError:
    """Return that a server answered with a status other than 200."""
    return InferenceError(f'http_{status}', shortened(body.decode(errors='replace')))


def shortened(text: str) -> str:
    """Return what fits into a line of a log, without the keys that a server repeats."""
    return escaped_controls(' '.join(without_keys(text).split()))[:_LONGEST] or 'without a text'


def as_mapping(found: Any) -> Mapping[Any, Any]:
    """
    Return a message that has to be a map.

    :raises InferenceError: it is none
    """
    if not isinstance(found, Mapping):
        raise malformed(f'got {type(found).__name__}, expected a map')
    return found


def refuse_error(found: Any) -> Any:
    """
    Return an answer in which the server reports no error, whatever else is in it.

    :raises InferenceError: it reports one
    """
    error = found.get('error') if isinstance(found, Mapping) else None
    error = getattr(error, 'tolist', lambda: error)()  # an array has no truth value
    if error or (isinstance(found, Mapping) and found.keys() == {'error'}):
        raise server_error(error)
    return found


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
                self._socket.settimeout(self._deadline.remaining_s())
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
            self._socket.settimeout(self._deadline.remaining_s())
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
        self._socket.settimeout(self._deadline.remaining_s())
        self._socket.sendall(data)

    def recv_into(self, buffer: Any) -> int:
        """
        Take what has come; 0: the other side has closed.

        :raises TimeoutError: nothing comes in time
        """
        self._socket.settimeout(self._deadline.remaining_s())
        return self._socket.recv_into(buffer)

    def recv(self, most: int) -> bytes:
        """Return what has come; nothing: the other side has closed."""
        self._socket.settimeout(self._deadline.remaining_s())
        return self._socket.recv(most)

    def received(self, most: int) -> bytes | None:
        """
        Return what has come by now, without waiting; None: nothing has.

        No bytes mean that the other side has closed.

        :raises TimeoutError: the deadline is over
        """
        self._deadline.remaining_s()
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


_LOG = logging.getLogger(__name__)
_ABSENT = ('refused', 'unreachable')
"""Failures where nothing listens."""
_COMES_LATER = (*_ABSENT, 'dropped', 'http_429', 'http_502', 'http_503', 'http_504')
"""Failures of a server that is still being started."""
_PAUSE_S = 0.5
SILENT_S = 10.0
"""After which a new connection is given up on which not even a handshake came."""
_T = TypeVar('_T')


class ServerModel(PolicyModel):
    """
    Base of every protocol: it asks within a deadline, and begins anew after a failure.

    Until the first answer it waits for a server that is not there yet, ``cold_start_s`` in all;
    from then on each answer has ``timeout_s``, a new connection included.
    """

    takes_real_time: ClassVar[bool] = True
    kind: ClassVar[str]
    schemes: ClassVar[Mapping[str, int]]
    """Schemes of its addresses, each with the port that is meant without one."""

    def __init__(self, address: str, options: ModelOptions) -> None:
        super().__init__(address, options)
        self.place = read_address(self.kind, address, self.schemes)
        self._is_warm = self.is_interrupted = False
        self._start = Deadline(options.cold_start_s)
        self._connection: Connection | None = None

    def open(self) -> None:  # noqa: A003
        """
        Connect.

        :raises InferenceError: the server was not there in time
        """
        self._start = Deadline(self.options.cold_start_s)
        self._patiently(self.connect)

    def infer(self, inputs: Mapping[str, Any]) -> Inference:
        """Ask the server."""
        if self._is_warm:
            return self._exchange(lambda deadline: self.ask(inputs, deadline),
                                  Deadline(self.options.timeout_s))
        found = self._patiently(lambda deadline: self.ask(inputs, deadline))
        self._is_warm = True
        return found

    def interrupt(self) -> None:
        """End what is under way."""
        self.is_interrupted = self._is_warm = True  # so that nothing is tried again
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    def close(self) -> None:
        """Hang up."""
        self.interrupt()
        self.hang_up()

    def connect(self, deadline: Deadline) -> None:
        """
        Open a connection, and learn what the server tells of itself.

        :raises OSError: there is none
        """

    def ask(self, inputs: Mapping[str, Any], deadline: Deadline) -> Inference:
        """
        Ask over the connection, or over a new one where there is none.

        :raises OSError: the connection failed
        """
        raise NotImplementedError

    def hang_up(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def dial(self, deadline: Deadline) -> Connection:
        """
        Return a new connection over TCP, which ``hang_up`` closes.

        :raises OSError: there is none
        """
        self._connection = Connection(deadline)
        self._connection.open(self.place)
        return self._connection

    def _exchange(self, ask: Callable[[Deadline], _T], deadline: Deadline) -> _T:
        """Ask, and leave no connection behind on which a late answer could come."""
        try:
            with named_failures(deadline):
                return ask(deadline)
        except BaseException:
            self.hang_up()
            raise

    def _patiently(self, ask: Callable[[Deadline], _T]) -> _T:
        waits = False
        while True:
            try:
                return self._exchange(ask, self._start)
            except InferenceError as error:
                if error.name not in _COMES_LATER or self._is_warm \
                        or self._start.ends_within(_PAUSE_S) \
                        or (error.name in _ABSENT and not self.options.may_start_later):
                    raise InferenceError(error.name, f'{self.kind}:{self.address}: '
                                         f'{error.detail}') from error
                if not waits:
                    _LOG.warning('%s:%s: waiting up to %g s for the server: %s', self.kind,
                                 self.address, self._start.within_s, error)
                waits = True
            time.sleep(_PAUSE_S)
