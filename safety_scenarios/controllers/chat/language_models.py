# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Clients of OpenAI-compatible servers, tools in their form, and what a reply says and calls."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
import logging
import os
import re
import ssl
from typing import Any
from urllib.parse import urlsplit

import openai
from safety_scenarios.controllers.chat.reply import (
    Completion,
    Fault,
    FaultyReplyError,
    MOST_CALLS,
    ToolCall,
    words_in,
)
from safety_scenarios.errors import in_words
from safety_scenarios.scenario.conversation import as_json, MAX_NAME, Turn, Utterance
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.untrusted_text import read_json

_TRUSTED = ('SSL_CERT_FILE', 'SSL_CERT_DIR', 'SSLKEYLOGFILE')
"""Environment variables by which a user says whom to trust, and what is kept of it."""
_LIBRARY = import_module(openai.DefaultHttpxClient.__mro__[1].__module__)
"""httpx or httpx2, as openai has it; they trust different authorities."""
TRANSPORT_ERRORS: tuple[type[Exception], ...] = (_LIBRARY.HTTPError, _LIBRARY.StreamError, OSError)
"""What it raises when a connection breaks."""
TIMEOUTS: tuple[type[Exception], ...] = (openai.APITimeoutError, _LIBRARY.TimeoutException)
"""What is raised when a server takes too long."""
_LONGEST_ERROR = 1 << 16
"""Bytes that are read of the body of an error."""
for _name in ('httpx', 'httpx2'):
    logging.getLogger(_name).setLevel(logging.WARNING)  # they log every URL


def client(base_url: str, key: str, timeout_s: float) -> openai.OpenAI:
    """
    Return a client with connections of its own, which asks once and not again.

    :param base_url: empty: what the environment names, or the library's own default
    """
    return openai.OpenAI(
        base_url=base_url or None, api_key=key, timeout=timeout_s, max_retries=0,
        http_client=openai.DefaultHttpxClient(
            timeout=timeout_s, verify=_trusted(), follow_redirects=False,
            event_hooks={'response': [_shorten_error]}))


def async_client(base_url: str, key: str, timeout_s: float) -> openai.AsyncOpenAI:
    """Return one whose requests can be cancelled, otherwise as ``client`` does."""
    return openai.AsyncOpenAI(
        base_url=base_url or None, api_key=key, timeout=timeout_s, max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(
            timeout=timeout_s, verify=_trusted(), follow_redirects=False,
            event_hooks={'response': [_shorten_error_later]}))


class _Beginning(_LIBRARY.AsyncByteStream, _LIBRARY.SyncByteStream):  # type: ignore
    """The first bytes of a body; the library reads the whole body of an error."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        left = _LONGEST_ERROR
        for piece in self._stream:
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = _LONGEST_ERROR
        async for piece in self._stream:
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()


def _shorten_error(response: Any) -> None:
    if not response.is_success:
        response.stream = _Beginning(response.stream)


async def _shorten_error_later(response: Any) -> None:
    _shorten_error(response)


def redirected_to(error: openai.APIStatusError) -> str | None:
    """Return the host to which a server wants to send a request on; None: it does not."""
    if not 300 <= error.status_code < 400:
        return None
    target = error.response.headers.get('location', '')
    try:
        return urlsplit(target).hostname or 'another path of this server'
    except ValueError:
        return 'an address that cannot be read'


def connection_problem(base_url: str, key: str, timeout_s: float) -> str:
    """Return why no connection to a server can be made; empty: one can, whatever it answers."""
    with client(base_url, key, timeout_s) as asked:
        try:
            asked.models.with_raw_response.list()
        except openai.APIConnectionError as error:
            if not isinstance(error.__cause__, _LIBRARY.ReadTimeout):  # it is there, and slow
                return why_broken(error)
        except openai.OpenAIError:
            pass
    return ''


def why_broken(error: BaseException) -> str:
    """Return why a connection failed, in the words of the operating system if it has some."""
    found: BaseException | None = error
    why = type(error).__name__
    while found is not None:
        if isinstance(found, ConnectionError) and found.errno:
            why = os.strerror(found.errno).lower()
        elif isinstance(found, OSError) and found.strerror:
            why = in_words(found)
        elif isinstance(found, _LIBRARY.ConnectTimeout):
            why = 'no connection in time'
        inner = getattr(found, 'exceptions', ())
        found = inner[0] if inner else found.__cause__ or found.__context__
    return why


def _trusted() -> ssl.SSLContext:
    return _certificates(tuple(os.environ.get(name) for name in _TRUSTED))


@lru_cache(maxsize=8)
def _certificates(told: tuple[str | None, ...]) -> ssl.SSLContext:
    """
    Return what the library would make anew for each client, which takes some 30 ms each time.

    :param told: what the environment says of it, which the library reads itself
    """
    made: ssl.SSLContext = _LIBRARY.create_ssl_context()
    return made


_CALL, _RESULT = 'tool_call ', 'tool_result '
_ANYTHING = {'type': 'object', 'properties': {}}
_LONGEST_NAME = 64


def waits(messages: Sequence[ChatMessage]) -> bool:
    """Return whether a call of the agent has no result yet, so that there is nothing to ask."""
    return bool(_Chat(messages, {}).unanswered)


def tools_of(turn: Turn) -> list[dict[str, Any]]:
    """Return the tools of a turn, by names that a server takes."""
    return [{'type': 'function', 'function': {
        'name': known, 'description': description,
        'parameters': dict(turn.parameters.get(name, _ANYTHING))}}
        for (name, description), known in zip(turn.tools, names_of(turn).values(), strict=True)]


def names_of(turn: Turn) -> Mapping[str, str]:
    """Return each tool's name to the one that the server knows it by."""
    found: dict[str, str] = {}
    for name, _ in turn.tools:
        known = re.sub(r'[^A-Za-z0-9_-]', '_', name)[:_LONGEST_NAME]
        number = 2
        while known in found.values():
            end = f'_{number}'
            known, number = known[:_LONGEST_NAME - len(end)] + end, number + 1
        found[name] = known
    return found


def messages_of(turn: Turn) -> list[dict[str, Any]]:
    """Return what was said, with calls and results as a server wants them."""
    return _Chat(turn.messages, names_of(turn)).messages


class _Chat:
    """Pairs each call with its result: the first of its name that came after it."""

    def __init__(self, messages: Sequence[ChatMessage], known: Mapping[str, str]) -> None:
        self._known = known
        self.unanswered: list[tuple[str, str]] = []
        """Id and name of each call without a result so far."""
        self.messages: list[dict[str, Any]] = []
        for message in messages:
            name, brace, text = message.content.partition(' ')[2].partition(' {')
            text = brace.lstrip() + text
            if message.role == 'assistant' and message.content.startswith(_CALL):
                self._call(name, text)
            elif message.role == 'tool' and message.content.startswith(_RESULT):
                self._result(name, text)
            else:
                self.messages.append({'role': message.role, 'content': message.content})

    def _call(self, name: str, arguments: str) -> None:
        number = sum(len(one.get('tool_calls', ())) for one in self.messages)
        call = {'id': f'call_{number}', 'type': 'function', 'function': {
            'name': self._known.get(name, name), 'arguments': arguments}}
        last = self.messages[-1] if self.messages else {}
        if 'tool_calls' in last:
            last['tool_calls'].append(call)
        else:
            self.messages.append({'role': 'assistant', 'content': None, 'tool_calls': [call]})
        self.unanswered.append((f'call_{number}', name))

    def _result(self, name: str, text: str) -> None:
        found = next((one for one in self.unanswered if one[1] == name), None)
        if found is None:  # its call is longer ago than what is remembered
            return
        self.unanswered.remove(found)
        self.messages.append({'role': 'tool', 'tool_call_id': found[0], 'content': text})


def uttered(completion: Completion, turn: Turn) -> tuple[Utterance, ...]:
    """
    Return what a reply says or calls; words beside calls are thought aloud, and not said.

    Calls in a reply that was cut off, filtered or refused are judged, as a program may make them,
    beside a saying that names what is missing: with that no trial can pass.

    :raises FaultyReplyError: it is neither words nor calls that can be made
    """
    if not completion.calls:
        text = words_in(completion)
        if not _can_be_sent(text):
            raise FaultyReplyError(Fault.MALFORMED, 'words with half a character')
        return (Utterance(kind='say', text=text, truncated_by=completion.truncated_by),)
    if len(completion.calls) > MOST_CALLS:
        raise FaultyReplyError(Fault.MALFORMED, 'too many calls')
    given = {known: name for name, known in names_of(turn).items()}
    try:
        completion.raise_unfinished(with_calls=True)
    except FaultyReplyError as fault:
        why = completion.truncated_by or completion.finish_reason or fault.fault.value
        return (*_makeable(completion.calls, given), Utterance(kind='say', truncated_by=why))
    return tuple(_called(call, given) for call in completion.calls)


def _makeable(calls: Sequence[ToolCall], given: Mapping[str, str]) -> Iterator[Utterance]:
    for call in calls:
        with suppress(FaultyReplyError):
            yield _called(call, given)


def _called(call: ToolCall, given: Mapping[str, str]) -> Utterance:
    try:
        arguments = read_json(call.arguments or '{}')
        can_be_sent = _can_be_sent(call.name) and _can_be_sent(as_json(arguments))
    except ValueError:
        arguments = None
    if not 0 < len(call.name) <= MAX_NAME or not isinstance(arguments, dict) or not can_be_sent:
        raise FaultyReplyError(Fault.MALFORMED, 'a call that cannot be made')
    return Utterance(kind='tool_call', name=given.get(call.name, call.name), args=arguments)


def _can_be_sent(text: str) -> bool:
    """Return whether a text can be written as UTF-8; JSON can say half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
