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
from safety_scenarios.controllers.policies.servers.arrays import openpi_array, read_map
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve, ServerConnection

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
def websocket(handle: Callable[[ServerConnection], None], port: int = 0) -> Iterator[str]:
    """Give each WebSocket to a function; yields the address."""
    def one(connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            handle(connection)
    with serve(one, '127.0.0.1', port, compression=None, max_size=None,
               close_timeout=0.1) as server:
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
