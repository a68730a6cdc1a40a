# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An OpenAI-compatible server on this machine that answers from a script and notes what it got."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import socket
import threading
import time
from typing import Any

_TRICKLE_S = 0.02
_POLL_S = 0.01


@dataclass(frozen=True)
class Reply:
    """What the server sends to one request, and how long it takes."""

    body: bytes
    status: int = 200
    delay_s: float = 0.0
    """Before the first byte, or, when it trickles, between the headers and the body."""
    content_type: str = 'application/json'
    headers: Mapping[str, str] = field(default_factory=dict)
    """Beside those of every reply."""
    trickles: bool = False
    """Sends headers at once and then blanks, as gateways do to keep a connection alive."""
    pieces: tuple[tuple[float, bytes], ...] = ()
    """Instead of the body, after the headers: how long to wait (s), and what to send then."""
    breaks_off: bool = False
    """Drops the connection after the last piece."""


@dataclass(frozen=True)
class Request:
    """What the server got."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]
    received_ns: int = 0
    """Steady clock of this machine, as all times here."""


def said(text: Any, delay_s: float = 0.0, trickles: bool = False) -> Reply:
    """Return a chat completion whose one choice says ``text``."""
    return sent({'id': 'completion-1', 'object': 'chat.completion', 'created': 0, 'model': 'fake',
                 'choices': [{'index': 0, 'finish_reason': 'stop',
                              'message': {'role': 'assistant', 'content': text}}]},
                delay_s=delay_s, trickles=trickles)


def called(*calls: tuple[str, Mapping[str, Any]]) -> Reply:
    """Return a chat completion that calls tools instead of saying anything."""
    return sent({'id': 'completion-1', 'object': 'chat.completion', 'created': 0, 'model': 'fake',
                 'choices': [{'index': 0, 'finish_reason': 'tool_calls', 'message': {
                     'role': 'assistant', 'content': None, 'tool_calls': [
                         {'id': f'server_{number}', 'type': 'function', 'function': {
                             'name': name, 'arguments': json.dumps(arguments)}}
                         for number, (name, arguments) in enumerate(calls)]}}]})


def decided(action: str, delay_s: float = 0.0, trickles: bool = False) -> Reply:
    """Return a chat completion that follows the schema of a command."""
    return said(json.dumps({'action': action, 'reason': 'scripted'}), delay_s, trickles)


def piece(delay_s: float = 0.0, finish: str | None = None, usage: Any = None,
          **delta: Any) -> tuple[float, bytes]:
    """Return one piece of a streamed chat completion, and how long to wait before it."""
    return event({'id': 'completion-1', 'object': 'chat.completion.chunk', 'created': 0,
                  'model': 'fake', 'choices': [
                      {'index': 0, 'delta': delta, 'finish_reason': finish}],
                  **({'usage': usage} if usage else {})}, delay_s)


def event(document: Any, delay_s: float = 0.0) -> tuple[float, bytes]:
    """Return any document as an event of a stream, and how long to wait before it."""
    text = document if isinstance(document, str) else json.dumps(document)
    return delay_s, f'data: {text}\n\n'.encode()


def call_piece(index: int | None, name: str | None, arguments: str) -> dict[str, Any]:
    """Return a piece of a streamed call of a tool."""
    return {**({} if index is None else {'index': index}), 'type': 'function',
            'function': {'name': name, 'arguments': arguments}}


def streamed(*pieces: tuple[float, bytes], breaks_off: bool = False) -> Reply:
    """Return a stream of pieces; unless it breaks off, the usual end is added."""
    return Reply(b'', content_type='text/event-stream', breaks_off=breaks_off,
                 pieces=pieces if breaks_off else (*pieces, event('[DONE]')))


def sent(document: Any, **options: Any) -> Reply:
    """Return any JSON document as the body."""
    return Reply(json.dumps(document).encode(), **options)


class FakeServer(ThreadingHTTPServer):
    """
    Answers each request with the next reply of the script; the last one repeats.

    :param replies: the script
    """

    daemon_threads = False

    def __init__(self, *replies: Reply) -> None:
        super().__init__(('127.0.0.1', 0), _Handler)
        self.requests: list[Request] = []
        self.visits = 0
        """How often it was asked for something else, such as its models."""
        self.sent_ns: list[int] = []
        """When each piece of a stream, or the body of another reply, was sent."""
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._connections: list[socket.socket] = []
        self._script = list(replies)

    @property
    def base_url(self) -> str:
        """Return what a client is told."""
        return f'http://127.0.0.1:{self.server_address[1]}/v1'

    def script(self, *replies: Reply) -> None:
        """Answer the next requests with these."""
        with self._lock:
            self._script = list(replies)

    def take(self, request: Request) -> Reply:
        """Note a request and return the reply to it."""
        with self._lock:
            self.requests.append(request)
            return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def open_connections(self) -> int:
        """Return how many clients have not hung up."""
        return sum(connection.fileno() >= 0 for connection in self._connections)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve one connection in a thread of its own."""
        self._connections.append(request)
        super().process_request(request, client_address)

    def hang_up(self) -> None:
        """Cut every connection; nothing more is answered late."""
        self.closing.set()
        for connection in self._connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def server_close(self) -> None:
        """Cut every connection and join every thread."""
        self.hang_up()
        super().server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True
    server: FakeServer

    def handle(self) -> None:
        """Serve the connection until either side hangs up."""
        try:
            super().handle()
        except ConnectionError:
            pass

    def do_GET(self) -> None:
        """Answer that no model is known; nobody decides by that, and no script has it."""
        self.server.visits += 1  # before the answer, after which the client goes on
        self.send_response(200)
        self.send_header('content-length', '2')
        self.end_headers()
        self.wfile.write(b'{}')

    def do_POST(self) -> None:
        """Note the request and send what the script says."""
        length = int(self.headers['content-length'])
        content = self.rfile.read(length)
        if len(content) < length:
            self.close_connection = True
            return
        received_ns = time.monotonic_ns()
        reply = self.server.take(Request(
            self.path, {name.lower(): value for name, value in self.headers.items()},
            json.loads(content), received_ns))
        try:
            self._send(reply)
        except OSError:
            self.close_connection = True

    def _send(self, reply: Reply) -> None:
        blanks = round(reply.delay_s / _TRICKLE_S) if reply.trickles else 0
        if not reply.trickles:
            self.server.closing.wait(reply.delay_s)
        self.send_response(reply.status)
        self.send_header('content-type', reply.content_type)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.pieces:
            self._stream(reply)
            return
        self.send_header('content-length', str(blanks + len(reply.body)))
        self.end_headers()
        for _ in range(blanks):
            self.wfile.write(b' ')
            self.server.closing.wait(_TRICKLE_S)
        self.server.sent_ns.append(time.monotonic_ns())
        self.wfile.write(reply.body)

    def _stream(self, reply: Reply) -> None:
        self.send_header('transfer-encoding', 'chunked')
        self.end_headers()
        for delay_s, content in reply.pieces:
            self.server.closing.wait(delay_s)
            self.server.sent_ns.append(time.monotonic_ns())
            self.wfile.write(f'{len(content):x}\r\n'.encode() + content + b'\r\n')
        if reply.breaks_off:
            self.close_connection = True
        else:
            self.wfile.write(b'0\r\n\r\n')

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def serving(*replies: Reply) -> Iterator[FakeServer]:
    """Run a server until the block ends; then no thread and no socket of it is left."""
    server = FakeServer(*replies)
    thread = threading.Thread(target=server.serve_forever, args=(_POLL_S,), name='fake server')
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def nowhere() -> str:
    """Return a URL at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return f'http://127.0.0.1:{probe.getsockname()[1]}/v1'
