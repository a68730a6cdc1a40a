# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A server that speaks LeRobot's asynchronous inference, its filter of observations included."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
import io
import pickle
import queue
import sys
import threading
import time
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import grpc
import numpy

_HELPERS = 'lerobot.async_inference.helpers'
_SIMILAR = 1.0
_STATE = 'observation.state'


class TimedAction:
    """As LeRobot's: a dataclass with these fields."""

    def __init__(self, timestamp: float, timestep: int, action: Any) -> None:
        self.timestamp, self.timestep, self.action = timestamp, timestep, action


TimedAction.__module__, TimedAction.__qualname__ = _HELPERS, 'TimedAction'


def pickled(actions: Any) -> bytes:
    """Return actions as the pickle that LeRobot sends."""
    modules = {name: ModuleType(name) for name in ('lerobot', 'lerobot.async_inference', _HELPERS)}
    modules[_HELPERS].TimedAction = TimedAction  # type: ignore[attr-defined]
    with patch.dict(sys.modules, modules):
        return pickle.dumps(actions)


class _Reader(pickle.Unpickler):

    def find_class(self, module: str, name: str) -> Any:
        if module == _HELPERS:
            return type(name, (SimpleNamespace,), {})
        return super().find_class(module, name)


def read(data: bytes) -> Any:
    return _Reader(io.BytesIO(data)).load()


def _field(data: bytes, number: int) -> Any:
    """Return a field of a message of protobuf: bytes or a number."""
    place, found = 0, None

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while place < len(data):
        tag = varint()
        value: Any = varint()
        if tag & 7 == 2:
            place, value = place + value, data[place:place + value]
        found = value if tag >> 3 == number else found
    return found


def message(data: bytes) -> bytes:
    """Return Actions of protobuf."""
    count, size = len(data), bytearray()
    while count > 127:
        size.append(count & 127 | 128)
        count >>= 7
    return b'\x0a' + bytes([*size, count]) + data


class LeRobotServer:
    """
    The server: it looks at the newest observation, unless that is like the one it computed from.

    :param policy: raw observation to rows of actions, or what is sent in their place as bytes
    :param waits_s: how long it waits for an observation before it answers without actions
    """

    def __init__(self, policy: Callable[[Mapping[str, float]], Any], waits_s: float = 0.3) -> None:
        self._policy, self._waits_s = policy, waits_s
        self._waiting: queue.Queue[Any] = queue.Queue(1)
        self._steps: set[int] = set()
        self._last: Any = None
        self.setup: Any = None
        self.received: list[Any] = []
        self.used: list[Any] = []
        self.readies = self.asked = 0
        self.largest = 0

    def ready(self, request: bytes, context: Any) -> bytes:
        self.readies += 1
        self._waiting, self._steps = queue.Queue(1), set()
        return b''

    def instructions(self, request: bytes, context: Any) -> bytes:
        self.setup = read(_field(request, 1))
        return b''

    def observations(self, requests: Iterator[bytes], context: Any) -> bytes:
        whole = b''
        for request in requests:
            state, data = _field(request, 1), _field(request, 2)
            whole = data if state == 1 else whole + data
            self.largest = max(self.largest, len(data))
            if state == 3:
                break
        found = read(whole)
        self.received.append(found)
        if found.must_go or self._last is None or not (
                found.timestep in self._steps or self._is_similar(found)):
            if self._waiting.full():
                self._waiting.get_nowait()
            self._waiting.put(found)
        return b''

    def _is_similar(self, observation: Any) -> bool:
        states = [numpy.array([one.observation[name] for name in sorted(one.observation)
                               if name.startswith(_STATE)]) for one in (self._last, observation)]
        return bool(numpy.linalg.norm(states[0] - states[1]) < _SIMILAR)

    def actions(self, request: bytes, context: Any) -> bytes:
        self.asked += 1
        try:
            found = self._waiting.get(timeout=self._waits_s)
        except queue.Empty:
            return b''
        self._steps.add(found.timestep)
        self._last = found
        self.used.append(found)
        rows = self._policy(found.observation)
        if isinstance(rows, bytes):
            return rows
        return message(pickled([
            TimedAction(found.timestamp + count / 30, found.timestep + count, row)
            for count, row in enumerate(numpy.asarray(rows, 'float32'))]))


@contextmanager
def lerobot(server: LeRobotServer) -> Iterator[str]:
    """Serve until the end; yields the address."""
    methods = {
        'Ready': grpc.unary_unary_rpc_method_handler(server.ready),
        'SendPolicyInstructions': grpc.unary_unary_rpc_method_handler(server.instructions),
        'SendObservations': grpc.stream_unary_rpc_method_handler(server.observations),
        'GetActions': grpc.unary_unary_rpc_method_handler(server.actions)}
    with ThreadPoolExecutor(4) as threads:
        made = grpc.server(threads, options=[('grpc.so_reuseport', 0)])
        made.add_generic_rpc_handlers((
            grpc.method_handlers_generic_handler('transport.AsyncInference', methods),))
        port = made.add_insecure_port('127.0.0.1:0')
        made.start()
        try:
            yield f'127.0.0.1:{port}'
        finally:
            made.stop(None).wait()


def delayed(rows: Sequence[Sequence[float]], *delays_s: float) -> Callable[[Any], Any]:
    """Return a policy that takes one time after the other, the last one again and again."""
    script, lock = list(delays_s) or [0.0], threading.Lock()

    def policy(observation: Any) -> Any:
        with lock:
            delay_s = script.pop(0) if len(script) > 1 else script[0]
        time.sleep(delay_s)
        return rows
    return policy
