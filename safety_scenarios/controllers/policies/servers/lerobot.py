# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A policy behind LeRobot's asynchronous inference: gRPC, with pickles in its messages."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
import logging
import time
from typing import Any, ClassVar

import numpy
from safety_scenarios.controllers.policies.model import (
    Inference,
    InferenceError,
    ModelOptions,
    UNNAMED,
)
from safety_scenarios.controllers.policies.servers.messages import dataclass_pickle, read_actions
from safety_scenarios.controllers.policies.servers.server import (
    Deadline,
    malformed,
    MAX_ANSWER,
    named_failures,
    server_error,
    ServerModel,
    too_large,
)
from safety_scenarios.errors import MissingDependencyError, SettingsError

try:
    import grpc
except ImportError as error:
    raise MissingDependencyError("a policy behind LeRobot's asynchronous inference", 'grpcio',
                                 "pip install 'safety_scenarios[lerobot]'") from error

_LOG = logging.getLogger(__name__)
_SERVICE = '/transport.AsyncInference/'
_PIECE = 2 << 20
_BEGIN, _MIDDLE, _END = 1, 2, 3
"""States of a transfer; a single piece is the end."""
_IMAGES, _STATE, _TASK = 'observation.images.', 'observation.state', 'task'
_OPTIONS = (('grpc.max_receive_message_length', MAX_ANSWER), ('grpc.enable_retries', 0),
            ('grpc.use_local_subchannel_pool', 1),
            ('grpc.enable_http_proxy', 0))  # that it listens is looked up without one, too
_OWN_LIMIT = 'message larger than max'
"""What gRPC itself says of a message that is too large; of RESOURCE_EXHAUSTED there are others."""
_VARINT, _BYTES = 0, 2
"""Wire types of protobuf: a number, and bytes with their count in front."""
_MOST_KEPT = 5000
"""Observations whose answer may come."""


class LeRobotModel(ServerModel):
    """
    Sends the contract's inputs as observation.state, observation.images.NAME and task.

    It takes newer observations while it infers (``send``, ``collect``). Which of them a chunk was
    computed from is told by the timestamp of its first action. The policy is loaded by the server
    as ``server`` of the contract says.
    """

    kind: ClassVar[str] = 'lerobot'
    schemes: ClassVar[Mapping[str, int]] = {'grpc': 8080}
    is_streamed: ClassVar[bool] = True
    is_pickled: ClassVar[bool] = True
    server_keys: ClassVar[tuple[str, ...]] = ('policy_type', 'pretrained_name_or_path',
                                              'actions_per_chunk')

    def __init__(self, address: str, options: ModelOptions) -> None:
        super().__init__(address if '://' in address else f'grpc://{address}', options)
        self._channel: Any = None
        self._call: Any = None
        self._is_instructed = False
        self._sent: dict[float, int] = {}
        """Timestamp of an observation to its number."""
        self._latest_s = 0.0

    def check(self) -> None:
        """
        Look at the parameters and at the contract.

        :raises SettingsError: pickles are not allowed, or the contract does not say what to load
        """
        if not self.options.allow_pickle:
            raise SettingsError(
                f'controller: got {self.kind}:{self.address}, whose answers are pickles, expected '
                f'--set controller.allow_pickle=true for a server that you trust. They are read '
                f'by a reader that knows tensors and arrays, and runs nothing that they name')
        lacking = [name for name in self.server_keys if name not in self.options.server]
        if lacking:
            raise SettingsError(
                f'controller: got {self.kind}:{self.address} with a contract without '
                f'server.{lacking[0]}, expected server: {{{", ".join(self.server_keys)}, '
                f'device}}, which names the policy that the server loads')

    def open(self) -> None:  # noqa: A003
        """
        Connect.

        :raises SettingsError: it cannot be opened
        """
        self.check()
        _LOG.warning('%s:%s: pickles from the server are read, but for tensors and arrays nothing '
                     'in them', self.kind, self.address)
        super().open()

    def connect(self, deadline: Deadline) -> None:
        """Connect, and let the server forget what it was sent."""
        self.dial(deadline).close()  # whether anything listens, at once
        self._connection = None
        self._channel = grpc.insecure_channel(self.place.authority, _OPTIONS)
        self._unary('Ready', b'', deadline)

    def ask(self, inputs: Mapping[str, Any], deadline: Deadline) -> Inference:
        """Send one observation, and wait for its chunk."""
        self._send(inputs, -1, 0, True, deadline)
        found = self._collect(deadline)
        if found is None:
            lost = [name for name in inputs
                    if name not in (_STATE, _TASK) and not name.startswith(_IMAGES)]
            raise InferenceError('no_actions', (
                'the server answered without actions. The reason is in its log' + (
                    f'. The server of LeRobot 0.4 passes on {_STATE}, {_IMAGES}NAME and {_TASK} '
                    f'alone, not {", ".join(lost)}' if lost else '')))
        return found

    def send(self, inputs: Mapping[str, Any], number: int, step: int, is_needed: bool) -> None:
        """
        Send an observation; the server decides whether it looks at it.

        :param number: by which a chunk that is computed from it is known
        :param step: of the action that is executed next
        :param is_needed: it must be looked at, because no action is left
        :raises InferenceError: it could not be sent
        """
        self._exchange(lambda deadline: self._send(inputs, number, step, is_needed, deadline),
                       Deadline(self.options.timeout_s))

    def collect(self) -> Inference | None:
        """
        Return the next chunk; None: the server had no observation to compute one from.

        It waits as long as the server does, or until it is abandoned. After a failure whoever
        asked has to hang up.

        :raises InferenceError: there is no chunk in the answer
        """
        with named_failures(Deadline(self.options.timeout_s)):
            return self._collect(None)

    def reset(self) -> None:
        """Let the server forget which steps it has computed."""
        self._sent.clear()
        if self._channel is not None:
            self._exchange(lambda deadline: self._unary('Ready', b'', deadline),
                           Deadline(self.options.timeout_s))

    def abandon(self) -> None:
        """End a wait for actions in another thread."""
        call = self._call
        if call is not None:
            call.cancel()

    def interrupt(self) -> None:
        """End what is under way."""
        super().interrupt()
        self.abandon()

    def hang_up(self) -> None:
        """Close the channel; what is computed for it is lost."""
        channel, self._channel = self._channel, None
        self._sent.clear()
        if channel is not None:
            channel.close()
        super().hang_up()

    def _send(self, inputs: Mapping[str, Any], number: int, step: int, is_needed: bool,
              deadline: Deadline) -> None:
        if self._channel is None:
            self.connect(deadline)
        if not self._is_instructed:
            told = {'device': 'cpu', 'rename_map': {}, **self.options.server,
                    'lerobot_features': features(inputs)}
            self._unary('SendPolicyInstructions', _field(
                1, dataclass_pickle('RemotePolicyConfig', told)), deadline)
            self._is_instructed = True
        now_s = self._latest_s = max(time.time(), self._latest_s + 1e-6)
        self._sent[now_s] = number
        if len(self._sent) > _MOST_KEPT:
            self._sent.pop(next(iter(self._sent)))
        data = dataclass_pickle('TimedObservation', {
            'timestamp': now_s, 'timestep': step, 'observation': raw_observation(inputs),
            'must_go': is_needed})
        channel = self._opened()
        with self._named(deadline):
            channel.stream_unary(f'{_SERVICE}SendObservations')(
                pieces(data), timeout=deadline.remaining_s())

    def _collect(self, deadline: Deadline | None) -> Inference | None:
        channel = self._opened()
        with self._named(deadline):
            self._call = channel.unary_unary(f'{_SERVICE}GetActions').future(
                b'', timeout=None if deadline is None else deadline.remaining_s())
            try:
                data = bytes_field(1, self._call.result())
            except grpc.FutureCancelledError:  # abandoned
                return None
        if not data:
            return None
        found = read_actions(data)
        if found.timestamp not in self._sent:
            raise malformed('the chunk has the timestamp of no observation that was sent')
        return Inference({UNNAMED: found.actions}, None, self._sent[found.timestamp])

    def _unary(self, method: str, data: bytes, deadline: Deadline) -> None:
        channel = self._opened()
        with self._named(deadline):
            channel.unary_unary(_SERVICE + method)(data, timeout=deadline.remaining_s())

    def _opened(self) -> Any:
        channel = self._channel
        if channel is None:  # another thread has hung up
            raise EOFError
        return channel

    @contextmanager
    def _named(self, deadline: Deadline | None) -> Iterator[None]:
        try:
            yield
        except ValueError as error:  # the channel was closed by another thread
            raise EOFError from error
        except grpc.RpcError as error:
            code, detail = error.code(), error.details() or ''
            if code is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise TimeoutError from None
            if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
                self._is_instructed = False  # it may be another process that is there next
                raise EOFError from None
            if code is grpc.StatusCode.UNIMPLEMENTED:
                raise malformed(f'no asynchronous inference of LeRobot: {detail}') from None
            raise (too_large() if code is grpc.StatusCode.RESOURCE_EXHAUSTED
                   and _OWN_LIMIT in detail else server_error(detail)) from None


def features(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what LeRobot calls the features of a robot: names, types and shapes."""
    found: dict[str, Any] = {}
    for name, value in inputs.items():
        if isinstance(value, str):
            continue
        is_image = name.startswith(_IMAGES)
        found[name] = {
            'dtype': 'image' if is_image else 'float32', 'shape': tuple(numpy.shape(value)),
            'names': ['height', 'width', 'channels'] if is_image else [
                f'{name}.{place}' for place in range(numpy.size(value))]}
    return found


def raw_observation(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs as a robot of LeRobot gives them: images, texts, and numbers one by one."""
    found: dict[str, Any] = {}
    for name, value in inputs.items():
        if isinstance(value, str):
            found[name] = value
        elif name.startswith(_IMAGES):
            found[name.removeprefix(_IMAGES)] = value
        else:
            found.update({f'{name}.{place}': float(one)
                          for place, one in enumerate(numpy.ravel(value))})
    return found


def pieces(data: bytes) -> Iterator[bytes]:
    """Yield a pickle as messages of at most 2 MB."""
    for begin in range(0, len(data), _PIECE):
        state = _END if begin + _PIECE >= len(data) else _MIDDLE if begin else _BEGIN
        yield bytes([_tag(1, _VARINT), state]) + _field(2, data[begin:begin + _PIECE])


def _tag(number: int, kind: int) -> int:
    return number << 3 | kind


def _field(number: int, data: bytes) -> bytes:
    """Return one field of bytes of a message of protobuf."""
    return bytes([_tag(number, _BYTES)]) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def bytes_field(number: int, message: bytes) -> bytes:
    """
    Return a field of bytes; empty: the message has none. Its last value counts.

    :raises InferenceError: it is no message of protobuf
    """
    found, place = b'', 0
    try:
        while place < len(message):
            tag, place = _read_varint(message, place)
            if tag & 7 == _VARINT:
                _, place = _read_varint(message, place)
                continue
            if tag & 7 != _BYTES:
                raise malformed(f'got wire type {tag & 7} in a message of protobuf')
            count, place = _read_varint(message, place)
            if place + count > len(message):
                raise malformed('got a message of protobuf that ends early')
            if tag >> 3 == number:
                found = message[place:place + count]
            place += count
    except IndexError:
        raise malformed('got a message of protobuf that ends early') from None
    return found


def _read_varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if not byte & 0x80:
            return value, place
        if shift > 63:
            raise malformed('got a number without end in a message of protobuf')
