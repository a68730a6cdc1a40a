# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Policies that reply once to each request: ACT over HTTP, and GR00T over ZeroMQ."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
import http.client
import json
import os
from typing import Any, ClassVar, NamedTuple

import numpy
from safety_scenarios.controllers.policies.model import (
    Inference,
    InferenceError,
    ModelOptions,
    named_outputs,
    Tensor,
)
from safety_scenarios.controllers.policies.servers.messages import (
    from_json,
    npy_array,
    packed,
    to_json,
    unpacked,
)
from safety_scenarios.controllers.policies.servers.server import (
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

_OK = 200
_LONGEST_ERROR = 1 << 16
_HEADERS = {'Content-Type': 'application/json', 'Accept': 'application/json'}


class ActModel(ServerModel):
    """
    Sends the contract's inputs as one map, under their own names.

    The answer may be a list of numbers, a map, or either of them as a text inside of JSON.
    """

    kind: ClassVar[str] = 'act'
    schemes: ClassVar[Mapping[str, int]] = {'http': 8000, 'https': 443}

    def connect(self, deadline: Deadline) -> None:
        """Open a connection, which is used again and again where the server allows it."""
        self.dial(deadline)

    def ask(self, inputs: Mapping[str, Any], deadline: Deadline) -> Inference:
        """Post the inputs."""
        connection: Any = self._idle(deadline) or self.dial(deadline)
        connection.within(deadline)
        exchange = http.client.HTTPConnection(self.place.host, self.place.port)
        exchange.sock = connection
        try:
            exchange.request('POST', self.place.path, to_json(dict(inputs)),
                             {**_HEADERS, 'Host': self.place.authority})
            # getresponse() would close the connection before the body of a last answer is read
            response = http.client.HTTPResponse(connection, method='POST')
            response.begin()
            body = self._body(response)
        except http.client.IncompleteRead:
            raise EOFError from None
        except http.client.RemoteDisconnected:
            raise
        except (http.client.HTTPException, ValueError) as error:  # a chunk of a negative size
            raise malformed(f'no HTTP: {error or type(error).__name__}') from error
        if response.will_close:
            self.hang_up()
        return Inference(named_outputs(refuse_error(from_json(body))))

    def _idle(self, deadline: Deadline) -> Connection | None:
        """Return the connection of the last answer, unless the server has closed it since."""
        connection = self._connection
        if connection is None:
            return None
        connection.within(deadline)
        early = connection.received(1)
        if early:
            raise unasked()
        if early is not None:
            self.hang_up()
        return self._connection

    @staticmethod
    def _body(response: http.client.HTTPResponse) -> bytes:
        if response.status != _OK:
            raise http_error(response.status, response.read(_LONGEST_ERROR))
        body = response.read(MAX_ANSWER + 1)
        if len(body) > MAX_ANSWER:
            raise too_large()
        is_to_the_end = response.length is None and not response.chunked
        if response.length or (is_to_the_end and not body):  # more was to come
            raise EOFError
        return body


try:
    import zmq
except ImportError as error:
    raise MissingDependencyError('a policy that GR00T serves', 'pyzmq',
                                 "pip install 'safety_scenarios[servers]'") from error

KEY_VARIABLE = 'GR00T_API_TOKEN'
_SLICE_MS = 50
"""How often a wait looks whether it was interrupted; an answer ends it at once."""
_ACTION = 'action'
_DTYPES = {'video': 'uint8', 'language': 'str', 'annotation': 'str'}


class _Modality(NamedTuple):
    """One array that the server declares."""

    kind: str
    key: str
    steps: int
    """So many observations it wants at once."""


class Gr00tModel(ServerModel):
    """
    Sends the contract's inputs as observations of modalities: video.ego_view, state.left_arm.

    The server says which it has. Versions from 1.6 on take them nested and with a dimension for a
    batch, earlier ones flat: which it is follows from the names that the server declares. ZeroMQ
    connects anew in silence, and loses the question: its monitor reports a connection that ended.
    """

    kind: ClassVar[str] = 'gr00t'
    schemes: ClassVar[Mapping[str, int]] = {'tcp': 5555}

    def __init__(self, address: str, options: ModelOptions) -> None:
        super().__init__(address, options)
        self._context: Any = None
        self._socket: Any = None
        self._disconnections: Any = None
        self._modalities: dict[str, _Modality] = {}
        self._is_nested = True

    def connect(self, deadline: Deadline) -> None:
        """Connect, learn what the server takes and gives, and let it begin anew."""
        self.dial(deadline).close()  # whether anything listens, which ZeroMQ does not tell
        if self._context is None:
            self._context = zmq.Context()
        self._socket = self._context.socket(zmq.REQ)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.REQ_CORRELATE, 1)  # else a late answer is that to the next
        self._socket.setsockopt(zmq.IPV6, 1)
        self._socket.setsockopt(zmq.MAXMSGSIZE, MAX_ANSWER)
        self._socket.setsockopt(zmq.HANDSHAKE_IVL, round(SILENT_S * 1e3))
        self._disconnections = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._socket.connect(f'tcp://{self.place.authority}')
        self._call('ping', None, deadline)
        found = as_mapping(self._call('get_modality_config', None, deadline))
        declared = [one for kind, config in found.items()
                    for one in _modalities(str(kind), config)]
        self._is_nested = not any(one.key.startswith(f'{one.kind}.') for one in declared)
        self._modalities = {
            f'{one.kind}.{one.key}' if self._is_nested else one.key: one for one in declared}
        self._begin(deadline)

    def inputs(self) -> Mapping[str, Tensor] | None:
        """Return the modalities that are observed; their shapes are not declared."""
        return {name: Tensor(None, _DTYPES.get(one.kind, ''))
                for name, one in self._modalities.items() if one.kind != _ACTION} or None

    def outputs(self) -> Mapping[str, Tensor] | None:
        """Return the parts of the action."""
        return {_part(one.key): Tensor(None, '')
                for one in self._modalities.values() if one.kind == _ACTION} or None

    def ask(self, inputs: Mapping[str, Any], deadline: Deadline) -> Inference:
        """Ask for one chunk."""
        if not self._is_connected():
            self.connect(deadline)
        data = self._observation(inputs)
        found = self._call('get_action', {'observation': data, 'options': {}}
                           if self._is_nested else data, deadline)
        if isinstance(found, (list, tuple)) and found:
            found = found[0]
        return Inference({_part(name): value for name, value in
                          named_outputs(as_mapping(found)).items()})

    def reset(self) -> None:
        """Let the server begin anew; earlier versions have nothing to forget, and refuse."""
        if self._is_connected():  # a new connection begins with it
            self._exchange(self._begin, Deadline(self.options.timeout_s))

    def _begin(self, deadline: Deadline) -> None:
        if self._is_nested:
            self._call('reset', {'options': None}, deadline)

    def hang_up(self) -> None:
        """Close the socket: after a wait in vain it could never be asked again."""
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.disable_monitor()
            self._disconnections.close(0)
            socket.close(0)
        super().hang_up()

    def close(self) -> None:
        """Hang up, and end the threads of ZeroMQ."""
        super().close()
        context, self._context = self._context, None
        if context is not None:
            context.destroy(0)

    def _is_connected(self) -> bool:
        """Return whether there is a connection; one that has ended is given up."""
        if self._socket is not None and self._disconnections.poll(0):
            self.hang_up()
        return self._socket is not None

    def _call(self, endpoint: str, data: Any, deadline: Deadline) -> Any:
        request = {'endpoint': endpoint}
        if data is not None:
            request['data'] = data
        token = os.environ.get(KEY_VARIABLE, '')
        if token:
            request['api_token'] = token
        both = zmq.Poller()
        for one in (self._socket, self._disconnections):
            both.register(one, zmq.POLLIN)
        try:
            self._socket.send(packed(request, npy_array), zmq.NOBLOCK)
            parts: list[bytes] = []
            while not parts:
                found = dict(both.poll(min(_SLICE_MS, 1 + int(deadline.remaining_s() * 1e3))))
                if self._socket in found:
                    with suppress(zmq.Again):  # what came was no answer to this question
                        parts = self._socket.recv_multipart(zmq.NOBLOCK)
                elif found or self.is_interrupted:
                    raise EOFError
        except zmq.ZMQError as error:
            raise EOFError from error
        if len(parts) != 1:
            raise malformed(f'got {len(parts)} parts, expected one')
        if parts[0] == b'ERROR':
            raise server_error('ERROR')
        answer = unpacked(parts[0])
        if isinstance(answer, Mapping) and 'error' in answer:
            raise server_error(answer['error'])
        return answer

    def _observation(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in inputs.items():
            known = self._modalities.get(name)
            kind, _, key = name.partition('.')
            steps = 1 if known is None else known.steps
            shown = _steps(value, kind, steps)
            if self._is_nested:
                shown = [shown] if isinstance(shown, list) else shown[None]
                found.setdefault(kind, {})[key] = shown
            else:
                found[name] = shown
        return found


def _steps(value: Any, kind: str, steps: int) -> Any:
    """Return a text, an image or a vector with a dimension for time in front."""
    if isinstance(value, str):
        return [value]
    if kind == 'video':
        return value if value.ndim > 3 else value[None]
    return numpy.reshape(value, (steps, -1))


def _part(key: str) -> str:
    return key.removeprefix(f'{_ACTION}.')


def _modalities(kind: str, config: Any) -> Sequence[_Modality]:
    """Return what the server declares of one kind, such as video."""
    try:
        told = config.get('as_json', config)
        told = json.loads(told) if isinstance(told, str) else told
        steps = max(1, len(told.get('delta_indices') or ()))
        return [_Modality(kind, str(key), steps) for key in told['modality_keys']]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InferenceError('malformed', f'get_modality_config: {kind} has no '
                                          f'modality_keys') from None
