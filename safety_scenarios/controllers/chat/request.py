# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One request to an OpenAI-compatible server, streamed where the server streams."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
import json
import logging
import math
import re
import time
from typing import Any

import openai
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
    token_count,
)

_TOKENS_OF_A_PRICE = 1_000_000
_TAIL = 0.95
"""Of the requests: they are as fast as the figure ``p95``."""
_ROUNDED_MS = 1.0
"""So much longer than a request a server may report to have taken: some round up."""


@dataclass(frozen=True)
class Usage:
    """What a server reports of one request beside the answer; None: it does not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    server_ns: int | None = None
    """How long the server says it took."""


def reported_usage(document: Any, processing_ms: str | None, took_ns: int) -> Usage:
    """
    Return what a server reports of a request, without figures that cannot be right.

    :param processing_ms: by a header; that of OpenAI
    :param took_ns: how long the whole request took: the server cannot have taken longer
    """
    if not isinstance(document, Mapping):
        return Usage()
    usage, timings = document.get('usage'), document.get('timings')
    usage = usage if isinstance(usage, Mapping) else {}
    times = [timings.get(name) for name in ('prompt_ms', 'predicted_ms')] \
        if isinstance(timings, Mapping) else []  # of llama.cpp
    known = [time_ms for time_ms in times
             if isinstance(time_ms, (int, float)) and not isinstance(time_ms, bool)]
    if not known and processing_ms is not None and processing_ms.isdecimal():
        known = [float(processing_ms)]
    return Usage(token_count(usage.get('prompt_tokens')),
                 token_count(usage.get('completion_tokens')), _server_ns(known, took_ns))


def _server_ns(times_ms: Sequence[float], took_ns: int) -> int | None:
    """Return the sum of times; None without one, or if it cannot be part of the request."""
    took_ms = took_ns / 1e6
    if not times_ms or not all(0 <= time_ms <= took_ms + _ROUNDED_MS for time_ms in times_ms):
        return None
    total_ms = math.fsum(times_ms)
    return min(round(total_ms * 1e6), took_ns) if total_ms <= took_ms + _ROUNDED_MS else None


@dataclass(frozen=True)
class RequestFigures:
    """One request; times are on the steady clock of the controller's host (ns)."""

    observed_ns: int | None = None
    """Header stamp of the newest input that was described; None without a stamp."""
    received_ns: int | None = None
    """When that input was received; None: no input was described."""
    began_ns: int = 0
    """When the request was sent."""
    first_token_ns: int | None = None
    """When the first piece of the answer came; None: none came, or it was not streamed."""
    ended_ns: int = 0
    """When the command was complete, or the request failed or was cancelled."""
    usage: Usage = Usage()
    fault: Fault | None = None
    is_cancelled: bool = False
    """Whether newer data or the end of the controller cancelled it."""

    @property
    def first_token_ms(self) -> float | None:
        """Time to the first token."""
        return None if self.first_token_ns is None else (self.first_token_ns - self.began_ns) / 1e6

    @property
    def complete_ms(self) -> float:
        """Time to the complete command."""
        return (self.ended_ns - self.began_ns) / 1e6


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, in any currency."""

    prompt: float = 0.0
    completion: float = 0.0

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of one request; None without a price, or without token counts."""
        if not (self.prompt or self.completion) or usage.prompt_tokens is None \
                or usage.completion_tokens is None:
            return None
        return (usage.prompt_tokens * self.prompt
                + usage.completion_tokens * self.completion) / _TOKENS_OF_A_PRICE


def summary(requests: Sequence[RequestFigures], prices: Prices) -> str:
    """Return one line of ``name=value`` fields; what is unknown is left out."""
    return ' '.join(f'{name}={value}' for name, value in _fields(requests, prices))


def _fields(requests: Sequence[RequestFigures], prices: Prices) -> Iterator[tuple[str, str]]:
    valid = [one for one in requests if one.fault is None and not one.is_cancelled]
    yield 'requests', str(len(requests))
    yield 'valid', str(len(valid))
    yield 'cancelled', str(sum(one.is_cancelled for one in requests))
    faults = Counter(one.fault for one in requests if one.fault is not None)
    for fault in Fault:
        if faults[fault]:
            yield fault.value, str(faults[fault])
    yield from _times('first_token', [one.first_token_ms for one in valid
                                      if one.first_token_ms is not None])
    yield from _times('complete', [one.complete_ms for one in valid])
    yield from _times('server', [one.usage.server_ns / 1e6 for one in valid
                                 if one.usage.server_ns is not None])
    for name, counts in (
            ('prompt_tokens', [one.usage.prompt_tokens for one in requests]),
            ('completion_tokens', [one.usage.completion_tokens for one in requests])):
        known = [count for count in counts if count is not None]
        if known:
            yield name, str(sum(known))
    costs = [cost for one in requests if (cost := prices.cost(one.usage)) is not None]
    if costs:
        yield 'cost', f'{math.fsum(costs):.6f}'
        yield 'requests_without_cost', str(len(requests) - len(costs))


def _times(name: str, times_ms: Sequence[float]) -> Iterator[tuple[str, str]]:
    if not times_ms:
        return
    ordered = sorted(times_ms)
    for label, share in (('p50', 0.5), ('p95', _TAIL), ('max', 1.0)):
        place = max(0, math.ceil(share * len(ordered)) - 1)
        yield f'{name}_ms_{label}', f'{ordered[place]:.0f}'


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
