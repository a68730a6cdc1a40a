# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One request to an OpenAI-compatible server, streamed where the server streams."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
import json
import logging
import time
from typing import Any

import openai
from safety_scenarios.controllers.chat.figures import RequestFigures, Usage
from safety_scenarios.controllers.chat.reply import (
    Completion,
    completion_of,
    Fault,
    FaultyReplyError,
    StreamedCompletion,
)
from safety_scenarios.controllers.language_models import TRANSPORT_ERRORS, why_broken

_LOG = logging.getLogger(__name__)
_TAIL_S = 0.05
"""How long the token counts may come after the last piece of the answer."""
_TOO_MANY = 429
_FAILED = 500
_NOT_STREAMED = frozenset((400, 404, 415, 422, 501))
"""HTTP statuses by which servers refuse an option."""
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

        :param body: messages and options of the request
        :param read: from a completion to its value; it may raise FaultyReplyError
        :param observed: what is known of the data that the request is about
        """
        sent = _Sent(time.monotonic_ns())
        try:
            completion = await asyncio.wait_for(self._completed(body, sent), self._timeout_s)
            reply = Reply(read(completion), self._note(sent, observed))
        except asyncio.CancelledError:
            self._note(sent, observed, is_cancelled=True)
            raise
        except FaultyReplyError as error:
            reply = Reply(None, self._note(sent, observed, error.fault), error)
        except (asyncio.TimeoutError, openai.APITimeoutError):
            reply = Reply(None, self._note(sent, observed, Fault.TIMEOUT), FaultyReplyError(
                Fault.TIMEOUT, f'no answer within {self._timeout_s * 1e3:g} ms'))
        return reply

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
                if response.headers.get('content-type', '').startswith(_SSE):
                    return await _streamed(response, sent)
                if streams:
                    self._stop_streaming('the server answered in one piece')
                return await _whole(response, sent)
        except openai.APIStatusError as error:
            if streams and error.status_code in _NOT_STREAMED and 'stream' in str(error).lower():
                self._stop_streaming(f'the server refused to stream: HTTP {error.status_code}')
            raise _by_status(error) from None
        except openai.APITimeoutError:
            raise
        except _BROKEN as error:
            raise FaultyReplyError(Fault.DISCONNECTED, why_broken(error)) from None
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


async def _whole(response: Any, sent: _Sent) -> Completion:
    raw = await response.read()
    sent.ended_ns = time.monotonic_ns()
    document = json.loads(raw)
    completion = completion_of(document)
    sent.usage = _usage(document, response.headers.get(_PROCESSING))
    return completion


async def _streamed(response: Any, sent: _Sent) -> Completion:
    """Read a stream up to the end of the answer, and for a moment longer the token counts."""
    found = StreamedCompletion()
    lines = response.iter_lines()
    async for line in lines:
        document = _document(line)
        if document is _DONE:
            break
        if document is None:
            continue
        if found.add(document) and sent.first_token_ns is None:
            sent.first_token_ns = time.monotonic_ns()
        if found.finish_reason:
            sent.ended_ns = time.monotonic_ns()
            sent.usage = _usage(document)
            if sent.usage == Usage():
                sent.usage = await _late_usage(lines)
            return found.completion
    else:
        raise FaultyReplyError(Fault.DISCONNECTED, 'the stream ended early')
    sent.ended_ns = time.monotonic_ns()
    return found.completion


async def _late_usage(lines: Any) -> Usage:
    """Return the token counts of a piece that comes after the answer, if it comes soon."""
    async def read() -> Usage:
        async for line in lines:
            document = _document(line)
            if document is _DONE:
                break
            if document is not None and _usage(document) != Usage():
                return _usage(document)
        return Usage()
    with suppress(asyncio.TimeoutError, ValueError, RecursionError, *_BROKEN):
        return await asyncio.wait_for(read(), _TAIL_S)
    return Usage()


_DONE = object()


def _document(line: str) -> Any:
    """Return the JSON document of a line of a stream; None: the line has none."""
    if not line.startswith('data:'):
        return None
    text = line[len('data:'):].strip()
    return _DONE if text == '[DONE]' else json.loads(text)


def _usage(document: Any, processing_ms: str | None = None) -> Usage:
    if not isinstance(document, Mapping):
        return Usage()
    usage, timings = document.get('usage'), document.get('timings')
    usage = usage if isinstance(usage, Mapping) else {}
    times = [timings.get(name) for name in ('prompt_ms', 'predicted_ms')] \
        if isinstance(timings, Mapping) else []  # of llama.cpp
    known = [time_ms for time_ms in times if isinstance(time_ms, (int, float))]
    server_ns = round(sum(known) * 1e6) if known else None
    if server_ns is None and processing_ms is not None and processing_ms.isdecimal():
        server_ns = int(processing_ms) * 1_000_000
    return Usage(_count(usage.get('prompt_tokens')), _count(usage.get('completion_tokens')),
                 server_ns)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _by_status(error: openai.APIStatusError) -> FaultyReplyError:
    status = error.status_code
    fault = Fault.RATE_LIMITED if status == _TOO_MANY else \
        Fault.SERVER_ERROR if status >= _FAILED else Fault.REJECTED
    wait = error.response.headers.get('retry-after', '')
    return FaultyReplyError(fault, f'HTTP {status} {type(error).__name__}',
                            float(wait) if wait.isdecimal() else 0.0)
