# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A WebSocket over a connection with deadlines: messages out, messages in, no thread."""

from collections.abc import Mapping
from contextlib import suppress
import logging
from types import MappingProxyType
from typing import Any

from safety_scenarios.controllers.policies.servers.connection import Address, Connection
from safety_scenarios.controllers.policies.servers.failures import (
    Deadline,
    http_error,
    malformed,
    MAX_ANSWER,
    too_large,
    unasked,
)
from safety_scenarios.errors import MissingDependencyError

try:
    from websockets.client import ClientProtocol
    from websockets.exceptions import InvalidStatus, PayloadTooBig
    from websockets.frames import Opcode
    from websockets.protocol import State
    from websockets.uri import parse_uri
except ImportError as error:
    raise MissingDependencyError('a policy behind a WebSocket', 'websockets',
                                 "pip install 'safety_scenarios[servers]'") from error

_SILENT = logging.getLogger(f'{__name__}.silent')
_SILENT.disabled = True
"""What the protocol would write into a log has the keys of the headers in it."""
_DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)
_PIECE = 1 << 16
_PARTING_S = 0.2
"""How long it tries to say that it hangs up."""


class WebSocket:
    """
    One connection, open from the beginning.

    Pings are answered while it waits for a message. It sends none: many servers cannot answer
    while they infer.

    :param headers: beside those of the protocol
    :raises InferenceError: the server refuses
    :raises OSError: the connection fails
    """

    def __init__(self, connection: Connection, address: Address,
                 headers: Mapping[str, str] = MappingProxyType({})) -> None:
        self._connection = connection
        self._protocol = ClientProtocol(
            parse_uri(f'{address.scheme}://{address.authority}{address.path}'),
            max_size=MAX_ANSWER, logger=_SILENT)
        self._events: list[Any] = []
        request = self._protocol.connect()
        request.headers.update(headers)
        self._protocol.send_request(request)
        while self._protocol.state is State.CONNECTING:
            self._flush()
            self._receive()
        self._events = [one for one in self._events if hasattr(one, 'opcode')]

    def send(self, data: bytes, deadline: Deadline) -> None:
        """Send one message of bytes."""
        self._connection.within(deadline)
        self._protocol.send_binary(data)
        self._flush()

    def refuse_unasked(self, deadline: Deadline) -> None:
        """
        Refuse a message that comes before the next question; it could be taken for its answer.

        :raises InferenceError: there is one
        :raises EOFError: the server has hung up
        """
        self._connection.within(deadline)
        while (data := self._connection.received(_PIECE)) is not None:
            self._take(data)
        if any(event.opcode in _DATA for event in self._events):
            raise unasked()

    def receive(self, deadline: Deadline) -> bytes | str:
        """
        Return the next message.

        :raises InferenceError: it is too large, or none of this protocol
        :raises EOFError: the server hangs up
        """
        self._connection.within(deadline)
        parts: list[bytes] = []
        is_text = False
        while True:
            for event in self._taken():
                if event.opcode is Opcode.CLOSE:
                    raise EOFError
                if event.opcode in _DATA:
                    is_text = is_text or event.opcode is Opcode.TEXT
                    parts.append(bytes(event.data))
                    if event.fin:
                        whole = b''.join(parts)
                        return whole.decode(errors='replace') if is_text else whole
            self._receive()

    def part(self) -> None:
        """Tell the server that the connection ends, if that is possible at once."""
        with suppress(Exception):
            self._connection.within(Deadline(_PARTING_S))
            self._protocol.send_close()
            self._flush()

    def _taken(self) -> Any:
        while self._events:
            yield self._events.pop(0)

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._connection.sendall(data)

    def _receive(self) -> None:
        """Wait for bytes, and take them."""
        self._take(self._connection.recv(_PIECE))

    def _take(self, data: bytes) -> None:
        """Read bytes as what the protocol makes of them."""
        if not data:
            raise EOFError
        self._protocol.receive_data(data)
        failure = self._protocol.handshake_exc
        if isinstance(failure, InvalidStatus):
            raise http_error(failure.response.status_code, failure.response.body or b'')
        if failure is not None:
            raise malformed(f'no WebSocket: {failure}')
        failure = self._protocol.parser_exc
        if isinstance(failure, PayloadTooBig):
            raise too_large()
        if failure is not None:
            raise malformed(f'no WebSocket: {failure}')
        self._events += self._protocol.events_received()
        self._flush()
