# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Policies behind a WebSocket with deadlines: those of openpi and of XPolicyLab."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timezone
import logging
import os
from types import MappingProxyType
from typing import Any, ClassVar
from uuid import uuid4

from safety_scenarios.controllers.policies.model import (
    duration_ns,
    Inference,
    InferenceError,
    ModelOptions,
    named_outputs,
)
from safety_scenarios.controllers.policies.servers.messages import (
    msgpack_numpy_array,
    openpi_array,
    packed,
    unpacked,
)
from safety_scenarios.controllers.policies.servers.server import (
    Address,
    as_mapping,
    Connection,
    Deadline,
    http_error,
    malformed,
    MAX_ANSWER,
    refuse_error,
    server_error,
    ServerModel,
    SILENT_S,
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
            for event in self._pop_events():
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

    def _pop_events(self) -> Any:
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


KEY_VARIABLE = 'OPENPI_API_KEY'
_LOG = logging.getLogger(__name__)
_TIMING = 'server_timing'


class _OverWebSocket(ServerModel):

    _socket: WebSocket | None = None

    def _opened(self, deadline: Deadline, headers: Mapping[str, str]) -> WebSocket:
        """
        Return a new WebSocket, unless the server says nothing on it for some seconds.

        It may never have seen this connection, and sees the next one.
        """
        early = Deadline(min(SILENT_S, deadline.remaining_s()))
        try:
            return WebSocket(self.dial(early), self.place, headers)
        except TimeoutError:
            deadline.remaining_s()
            raise InferenceError('unreachable', f'no WebSocket within {early.within_s:g} s'
                                 ) from None

    def hang_up(self) -> None:
        """Close the WebSocket."""
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.part()
        super().hang_up()


class OpenpiModel(_OverWebSocket):
    """Sends the contract's inputs as one map, under their own names."""

    kind: ClassVar[str] = 'openpi'
    schemes: ClassVar[Mapping[str, int]] = {'ws': 8000, 'wss': 443}

    def connect(self, deadline: Deadline) -> None:
        """Open a WebSocket, on which the server first tells of itself."""
        key = os.environ.get(KEY_VARIABLE, '')
        self._socket = self._opened(deadline, {
            'Authorization': f'Api-Key {key}'} if key else {})
        told = as_mapping(unpacked(self._socket.receive(deadline)))
        _LOG.info('%s:%s: connected; the server sent %s', self.kind, self.address,
                  ', '.join(sorted(map(str, told))) or 'nothing of itself')

    def ask(self, inputs: Mapping[str, Any], deadline: Deadline) -> Inference:
        """Send one map, and take the next one."""
        if self._socket is None:
            self.connect(deadline)
        assert self._socket is not None
        self._socket.refuse_unasked(deadline)
        self._socket.send(packed(dict(inputs), openpi_array), deadline)
        found = dict(refuse_error(as_mapping(unpacked(self._socket.receive(deadline)))))
        timing = found.pop(_TIMING, None)
        return Inference(named_outputs(found), duration_ns(
            timing.get('infer_ms')) if isinstance(timing, Mapping) else None)


_ANSWERS = {'hello': 'hello_ack', 'prepare_case': 'prepare_case_ack', 'reset': 'reset_result',
            'infer': 'infer_result'}
_CASE = 'safety_scenarios'


class XPolicyLabModel(_OverWebSocket):
    """
    Sends the contract's inputs nested by the slashes in their names: vision/cam_head/color.

    Actions come as one array, or as a map or a list of maps by the part of the robot.
    """

    kind: ClassVar[str] = 'xpolicylab'
    schemes: ClassVar[Mapping[str, int]] = {'ws': 19000, 'wss': 443}

    def __init__(self, address: str, options: ModelOptions) -> None:
        super().__init__(address, options)
        self._evaluation, self._trial, self._step = str(uuid4()), str(uuid4()), 0

    def connect(self, deadline: Deadline) -> None:
        """Open a WebSocket, and let the server load and begin."""
        self._socket = self._opened(deadline, {})
        self._request('hello', {}, deadline)
        self._request('prepare_case', {'action_case_id': _CASE}, deadline)
        self._begin(deadline)

    def ask(self, inputs: Mapping[str, Any], deadline: Deadline) -> Inference:
        """Ask for one chunk."""
        if self._socket is None:
            self.connect(deadline)
        found = self._request('infer', {'observation': _nested(inputs)}, deadline)
        self._step += 1
        if 'actions' not in found:
            raise malformed('infer_result without actions')
        return Inference(_outputs(found['actions']), duration_ns(found.get('latency_ms')))

    def reset(self) -> None:
        """Begin another trial on the server."""
        if self._socket is not None:
            self._exchange(self._begin, Deadline(self.options.timeout_s))

    def _begin(self, deadline: Deadline) -> None:
        self._trial, self._step = str(uuid4()), 0
        self._request('reset', {'trial_id': self._trial}, deadline)

    def _request(self, kind: str, payload: Mapping[str, Any], deadline: Deadline) -> Any:
        """Return the payload of the answer to one request; late answers to others are left out."""
        assert self._socket is not None
        number = str(uuid4())
        self._socket.send(packed({
            'message_type': kind, 'message_id': number, 'evaluation_id': self._evaluation,
            'action_case_id': _CASE, 'trial_id': self._trial, 'step': self._step,
            'sent_at': datetime.now(timezone.utc).isoformat(), 'payload': payload},
            msgpack_numpy_array), deadline)
        while True:
            found = as_mapping(unpacked(self._socket.receive(deadline)))
            if found.get('message_id') != number:
                continue
            told = as_mapping(found.get('payload') or {})
            if found.get('message_type') == 'error':
                raise server_error(f'{told.get("code", "error")}: {told.get("message", "")}')
            if found.get('message_type') != _ANSWERS[kind]:
                raise malformed(f'got {found.get("message_type")}, expected {_ANSWERS[kind]}')
            return told


def _nested(inputs: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in inputs.items():
        *above, last = name.split('/')
        inner = found
        for step in above:
            inner = inner.setdefault(step, {})
        inner[last] = value
    return found


def _outputs(actions: Any) -> dict[str, Any]:
    if isinstance(actions, (list, tuple)) and actions \
            and all(isinstance(one, Mapping) for one in actions):
        return {str(part): [one.get(part) for one in actions] for part in actions[0]}
    return named_outputs(actions)
