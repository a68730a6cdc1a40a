# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One request to an OpenAI-compatible server, streamed where the server streams."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
import json
import logging
import re
import time
from typing import Any

import openai
from safety_scenarios.controllers.chat.figures import reported_usage, RequestFigures, Usage
from safety_scenarios.controllers.chat.language_models import (
    redirected_to,
    TRANSPORT_ERRORS,
    why_broken,
)
from safety_scenarios.controllers.chat.reply import (
    Completion,
    completion_of,
    Fault,
    FaultyReplyError,
    StreamedCompletion,
)
from safety_scenarios.controllers.server_replies import (
    ReplyBody,
    ReplyTooLargeError,
    retry_after_s,
)

_DATA = b'data'
_MARK = b'\xef\xbb\xbf'
"""A byte order mark, which may begin a stream."""


class EventReader:
    """
    Takes a stream piece by piece, and returns the data of each event as soon as it is complete.

    Lines end by LF, CRLF or CR and by nothing else: what Unicode calls a line separator may stand
    in an answer. Comments, and fields other than data, are nothing.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._is_begun = self._after_cr = False
        self._data: list[bytes] = []

    def add(self, piece: bytes) -> Iterator[bytes]:
        """Yield the data of the events that a piece completes."""
        for line in self._lines(piece):
            if line:
                self._take(line)
            elif self._data:
                yield self._event()

    def end(self) -> Iterator[bytes]:
        """Yield the data of an event after which the stream ended without an empty line."""
        if self._rest:
            self._take(bytes(self._rest))
        if self._data:
            yield self._event()

    def _lines(self, piece: bytes) -> Iterator[bytes]:
        if self._after_cr and piece:
            piece, self._after_cr = piece.removeprefix(b'\n'), False
        self._rest += piece
        if not self._is_begun:
            if len(self._rest) < len(_MARK) and _MARK.startswith(bytes(self._rest)):
                return
            self._is_begun = True
            if self._rest.startswith(_MARK):
                del self._rest[:len(_MARK)]
        if b'\n' not in piece and b'\r' not in piece:
            return
        *lines, rest = bytes(self._rest).replace(b'\r\n', b'\n').replace(b'\r', b'\n').split(b'\n')
        self._after_cr = self._rest.endswith(b'\r')
        self._rest = bytearray(rest)
        yield from lines

    def _take(self, line: bytes) -> None:
        field, _, value = line.partition(b':')
        if field == _DATA:
            self._data.append(value.removeprefix(b' '))

    def _event(self) -> bytes:
        data, self._data = b'\n'.join(self._data), []
        return data


async def event_data(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the data of each event of a stream."""
    reader = EventReader()
    async for piece in pieces:
        for data in reader.add(piece):
            yield data
    for data in reader.end():
        yield data


_LOG = logging.getLogger(__name__)
_TAIL_S = 0.05
"""How long the token counts may come after the last piece of the answer."""
_TOO_MANY = 429
_FAILED = 500
_NOT_STREAMED = frozenset((400, 404, 415, 422, 501))
"""HTTP statuses by which servers refuse an option."""
_STREAMING = re.compile(r'\bstream', re.IGNORECASE)
"""What such a refusal is about; that no upstream server is there is none."""
_SSE = 'text/event-stream'
_PROCESSING = 'openai-processing-ms'


_BROKEN: tuple[type[Exception], ...] = (openai.OpenAIError, *TRANSPORT_ERRORS)
_NOTHING = RequestFigures()


@dataclass(frozen=True)
class Reply:
    """What came of one request."""

    value: Any
    """What was read from the completion; None where there is a fault."""
    figures: RequestFigures
    fault: FaultyReplyError | None = None


class ChatServer:
    """
    Sends requests to one model of one server, each once.

    :param streams: whether to ask for a stream
    """

    def __init__(self, client: openai.AsyncOpenAI, model: str, streams: bool,
                 timeout_s: float) -> None:
        self._client, self._model, self._timeout_s = client, model, timeout_s
        self._streams = streams
        self.figures: list[RequestFigures] = []
        """Of every request that has ended."""

    async def ask(self, body: Mapping[str, Any], read: Callable[[Completion], Any],
                  observed: RequestFigures = _NOTHING) -> Reply:
        """
        Send one request, and return what came of it, whatever that was.

        :param read: from a completion to its value; it may raise FaultyReplyError
        :param observed: what is known of the data that the request is about
        """
        sent = _Sent(time.monotonic_ns())
        try:
            completion = await asyncio.wait_for(self._completed(body, sent), self._timeout_s)
            reply = Reply(read(completion.without_keys), self._note(sent, observed))
        except asyncio.CancelledError:
            self._note(sent, observed, is_cancelled=True)
            raise
        except FaultyReplyError as error:
            reply = Reply(None, self._note(sent, observed, error.fault), error)
        except (asyncio.TimeoutError, openai.APITimeoutError):
            reply = Reply(None, self._note(sent, observed, Fault.TIMEOUT), FaultyReplyError(
                Fault.TIMEOUT, f'no answer within {self._timeout_s * 1e3:g} ms'))
        except Exception as error:  # no reply of a server may end the process that asked
            _LOG.exception('the client failed')
            reply = Reply(None, self._note(sent, observed, Fault.CLIENT_ERROR), FaultyReplyError(
                Fault.CLIENT_ERROR, type(error).__name__))
        return reply

    async def connect(self) -> None:
        """
        Open a connection, and import what the first request needs; the model is asked nothing.

        A server that is not there, or knows no list of models, is no error yet.
        """
        with suppress(Exception):
            create: Any = self._client.chat.completions.with_streaming_response.create
            assert create is not None  # what it imports is there from now on
            await self._client.models.with_raw_response.list()

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()

    def _note(self, sent: '_Sent', observed: RequestFigures, fault: Fault | None = None,
              is_cancelled: bool = False) -> RequestFigures:
        figures = RequestFigures(
            observed.observed_ns, observed.received_ns, sent.began_ns, sent.first_token_ns,
            sent.ended_ns or time.monotonic_ns(), sent.usage, fault, is_cancelled)
        self.figures.append(figures)
        return figures

    async def _completed(self, body: Mapping[str, Any], sent: '_Sent') -> Completion:
        streams = self._streams
        options = {'stream': True, 'stream_options': {'include_usage': True}} if streams else {}
        create: Any = self._client.chat.completions.with_streaming_response.create
        try:
            async with create(model=self._model, temperature=0, **body, **options) as response:
                if response.headers.get('content-type', '').strip().lower().startswith(_SSE):
                    return await _streamed(response, sent)
                completion = await _whole(response, sent)
                if streams:  # an error in one piece shows nothing of how the server answers
                    self._stop_streaming('the server answered in one piece')
                return completion
        except openai.APIStatusError as error:
            if streams and error.status_code in _NOT_STREAMED and _STREAMING.search(str(error)):
                self._stop_streaming(f'the server refused to stream: HTTP {error.status_code}')
            raise _by_status(error) from None
        except openai.APITimeoutError:
            raise
        except _BROKEN as error:
            raise FaultyReplyError(Fault.DISCONNECTED, why_broken(error)) from None
        except ReplyTooLargeError as error:
            raise FaultyReplyError(Fault.MALFORMED, str(error)) from None
        except (ValueError, RecursionError):
            raise FaultyReplyError(Fault.MALFORMED, 'no JSON') from None

    def _stop_streaming(self, reason: str) -> None:
        if self._streams:
            _LOG.warning('no streaming: %s. The time to the first token is unknown', reason)
        self._streams = False


class _Sent:
    """A request under way: its times, and what the server reported of it."""

    def __init__(self, began_ns: int) -> None:
        self.began_ns = began_ns
        self.first_token_ns: int | None = None
        self.ended_ns = 0
        self.usage = Usage()

    def usage_in(self, document: Any, processing_ms: str | None = None) -> Usage:
        """Return what a document of the reply reports; the answer is complete by now."""
        return reported_usage(document, processing_ms, self.ended_ns - self.began_ns)


async def _whole(response: Any, sent: _Sent) -> Completion:
    body = ReplyBody()
    async for piece in response.iter_bytes():
        body.add(piece)
    sent.ended_ns = time.monotonic_ns()
    document = json.loads(body.data)
    completion = completion_of(document)
    sent.usage = sent.usage_in(document, response.headers.get(_PROCESSING))
    return completion


async def _streamed(response: Any, sent: _Sent) -> Completion:
    """Read a stream up to the end of the answer, and for a moment longer the token counts."""
    found, events = StreamedCompletion(), event_data(_bounded(response.iter_bytes()))
    async for data in events:
        document = _document(data)
        if document is _DONE:
            break
        if document is None:
            continue
        if found.add(document) and sent.first_token_ns is None:
            sent.first_token_ns = time.monotonic_ns()
        if found.finish_reason:
            sent.ended_ns = time.monotonic_ns()
            sent.usage = sent.usage_in(document)
            await _read_tail(events, sent, found)
            return found.completion
    else:
        raise FaultyReplyError(Fault.DISCONNECTED, 'the stream ended early')
    sent.ended_ns = time.monotonic_ns()
    return found.completion


async def _bounded(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces of a stream, which has to be as small as a reply in one piece."""
    body = ReplyBody()
    async for piece in pieces:
        body.add(piece)
        yield piece


async def _read_tail(events: AsyncIterator[bytes], sent: _Sent, found: StreamedCompletion) -> None:
    """
    Read what comes soon after the answer: token counts, unless ``sent`` has them, and the end.

    A stream that is read to its end leaves its connection open for the next request.

    If more of the answer comes, its end was none, and ``found`` has that as its reason.
    """
    async def read() -> None:
        async for data in events:
            document = _document(data)
            if document is _DONE:
                continue
            is_more = isinstance(document, Mapping) and (
                document.get('error') or document.get('choices'))
            if is_more and found.add(document):
                found.finish_reason = _NOT_ENDED
            if sent.usage == Usage():
                sent.usage = sent.usage_in(document)
    with suppress(asyncio.TimeoutError, ValueError, RecursionError, ReplyTooLargeError, *_BROKEN):
        await asyncio.wait_for(read(), _TAIL_S)


_DONE = object()
_NOT_ENDED = 'more after the end'


def _document(data: bytes) -> Any:
    """Return the JSON document of an event of a stream; None: it has none."""
    text = data.strip()
    return None if not text else _DONE if text == b'[DONE]' else json.loads(text)


def _by_status(error: openai.APIStatusError) -> FaultyReplyError:
    status = error.status_code
    if (host := redirected_to(error)) is not None:
        return FaultyReplyError(Fault.REDIRECTED, f'HTTP {status} to {host}')
    fault = Fault.RATE_LIMITED if status == _TOO_MANY else \
        Fault.SERVER_ERROR if status >= _FAILED else Fault.REJECTED
    return FaultyReplyError(fault, f'HTTP {status} {type(error).__name__}',
                            retry_after_s(error.response.headers) or 0.0)
