# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Servers of policies that answer from a script, each as its protocol demands."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
import socket
import threading
import time
from typing import Any

import msgpack
import numpy
from safety_scenarios.controllers.policies.servers.messages import (
    msgpack_numpy_array,
    npy_array,
    openpi_array,
    read_map,
)
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve, ServerConnection
import zmq

Handle = Callable[[Any], None]
"""Takes one connection, and returns when it is over."""


def openpi_bytes(message: Any) -> bytes:
    return msgpack.packb(message, default=openpi_array)


def read(data: bytes | str) -> Any:
    assert isinstance(data, bytes)
    return msgpack.unpackb(data, object_hook=read_map, strict_map_key=False)


@contextmanager
def listening(handle: Handle) -> Iterator[int]:
    """Give each TCP connection to a function, in a thread of its own; yields the port."""
    with socket.create_server(('127.0.0.1', 0)) as server:
        threads: list[threading.Thread] = []

        def one(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                connection.settimeout(5.0)
                handle(connection)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    threads.append(threading.Thread(target=one, args=(connection,)))
                    threads[-1].start()
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join()


@contextmanager
def websocket(handle: Callable[[ServerConnection], None], port: int = 0,
              **options: Any) -> Iterator[str]:
    """Give each WebSocket to a function; yields the address."""
    def one(connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            handle(connection)
    with serve(one, '127.0.0.1', port, compression=None, max_size=None,
               close_timeout=0.1, **options) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f'ws://127.0.0.1:{server.socket.getsockname()[1]}'
        finally:
            server.shutdown()
            thread.join()


Answer = Callable[[Any], bytes | str]
"""An observation to what is sent back."""


@contextmanager
def openpi(*answers: Answer) -> Iterator[str]:
    """Serve as openpi does: answer by one after the other, the last one again and again."""
    script = list(answers)

    def handle(connection: ServerConnection) -> None:
        connection.send(openpi_bytes({'name': 'scripted'}))
        for data in connection:
            answer = script.pop(0) if len(script) > 1 else script[0]
            connection.send(answer(read(data)))
    with websocket(handle) as address:
        yield address


def actions(*rows: tuple[float, ...], infer_ms: Any = None, delay_s: float = 0.0) -> Answer:
    """Return an answer of openpi."""
    def answer(observation: Any) -> bytes:
        time.sleep(delay_s)
        timing = {} if infer_ms is None else {'server_timing': {'infer_ms': infer_ms}}
        return openpi_bytes({'actions': numpy.array(rows), **timing})
    return answer


NEWER = {'video': {'__ModalityConfig_class__': True, 'as_json': {
    'modality_keys': ['ego_view'], 'delta_indices': [0]}},
    'state': {'__ModalityConfig_class__': True, 'as_json': {
        'modality_keys': ['base'], 'delta_indices': [-1, 0]}},
    'language': {'modality_keys': ['annotation.human.task'], 'delta_indices': [0]},
    'action': {'modality_keys': ['base_motion'], 'delta_indices': [0, 1]}}
"""What a server of GR00T 1.6 and later declares."""
OLDER = {'video': {'as_json': '{"modality_keys": ["video.ego_view"], "delta_indices": [0]}'},
         'state': {'as_json': '{"modality_keys": ["state.base"], "delta_indices": [0]}'},
         'action': {'as_json': '{"modality_keys": ["action.base_motion"]}'}}
"""The same of an earlier one."""


DIES = object()
"""In place of an answer: the server closes its connections, and listens again."""


@contextmanager
def gr00t(answer: Callable[[Any], Any], config: Any = NEWER,
          says_again: bool = False, asked: list[str] | None = None) -> Iterator[str]:
    """
    Serve as GR00T does; an answer that is bytes is sent as it stands.

    :param asked: what was asked for, in order, is added to it
    :param says_again: each answer comes once more, just before the next one
    """
    context = zmq.Context()

    def opened(port: int | str) -> Any:
        found = context.socket(zmq.ROUTER if says_again else zmq.REP)
        found.setsockopt(zmq.LINGER, 0)
        while True:
            with suppress(zmq.ZMQError):  # the one before is closed by a thread of ZeroMQ
                found.bind(f'tcp://127.0.0.1:{port}')
                return found
            time.sleep(0.01)
    first = opened('*')
    address = first.last_endpoint.decode()
    ended = threading.Event()

    def serve_all() -> None:
        server, last = first, list[bytes]()
        while not ended.is_set():
            if not server.poll(10):
                continue
            *envelope, data = server.recv_multipart()
            request = read(data)
            endpoint = request['endpoint']
            if asked is not None:
                asked.append(endpoint)
            found = {'status': 'ok'} if endpoint == 'ping' else config \
                if endpoint == 'get_modality_config' else {} if endpoint == 'reset' \
                else answer(request)
            if found is DIES:
                server.close()
                server = opened(address.rpartition(':')[2])
                continue
            if says_again and last:
                server.send_multipart(last)
            last = [*envelope, found if isinstance(found, bytes)
                    else msgpack.packb(found, default=npy_array)]
            server.send_multipart(last)
        server.close()
    thread = threading.Thread(target=serve_all)
    thread.start()
    try:
        yield address
    finally:
        ended.set()
        thread.join()
        context.destroy(0)


@contextmanager
def xpolicylab(answer: Callable[[Any], Any], requests: list[Any]) -> Iterator[str]:
    """Serve as XPolicyLab does: each request is noted, and answer gives what infer_result has."""
    kinds = {'hello': 'hello_ack', 'prepare_case': 'prepare_case_ack', 'reset': 'reset_result',
             'infer': 'infer_result'}

    def handle(connection: ServerConnection) -> None:
        for data in connection:
            request = read(data)
            requests.append(request)
            kind, payload = kinds[request['message_type']], {'ok': True}
            if kind == 'infer_result':
                payload = answer(request)
                if isinstance(payload, bytes):
                    connection.send(payload)
                    continue
                kind = payload.pop('as', kind)
            connection.send(msgpack.packb({**request, 'message_id': 'late', 'payload': {}},
                                          default=msgpack_numpy_array))
            connection.send(msgpack.packb({
                **request, 'message_type': kind, 'payload': payload}, default=msgpack_numpy_array))
    with websocket(handle) as address:
        yield address
