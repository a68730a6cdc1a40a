# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A model of Inspect as the controller under test, with the prompts of the controller ``llm``."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
import json
import logging
from typing import Any, cast, ClassVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from pydantic import PrivateAttr
from safety_scenarios.controllers.chat.reply import Completion
from safety_scenarios.controllers.chat.request import ChatServer, Reply
from safety_scenarios.controllers.chat.situation import described
from safety_scenarios.controllers.llm import LanguageModel
from safety_scenarios.scenario.message import Command, Message, Observation

_LOG = logging.getLogger(__name__)
_REQUESTS: ContextVar['Requests'] = ContextVar('requests')
"""What sends the requests of a sample; a controller is made anew for each scenario."""


class InspectModel(LanguageModel):
    """
    The controller ``llm`` whose requests Inspect sends: to any of its providers, and logged by it.

    Simulated time stands still while the model thinks, and then passes as long as that took: an
    answer, or a command, comes so much later. A command is asked for when the one before it has
    come, whatever the data did meanwhile.
    """

    takes_real_time: ClassVar[bool] = False

    _took_ns: int = PrivateAttr(default=0)
    _coming: tuple[int, Reply] | None = PrivateAttr(default=None)
    _current: Reply | None = PrivateAttr(default=None)

    @property
    def answer_delay_ns(self) -> int:
        """How long the model took for the answer that it gave last."""
        return self._took_ns

    def begin_trial(self) -> None:
        """Drop the decisions of the trial before."""
        super().begin_trial()
        self._coming = self._current = None

    def decide(self, observation: Observation) -> Command | Message | None:
        """Return the latest decision that has come by now; without one, that of the fallback."""
        if self._coming is not None and observation.t_ns >= self._coming[0]:
            self._current, self._coming = self._coming[1], None
        if self._coming is None and observation.readings:
            reply = self._ask(described(observation, self.driving.describe)).result()
            self._coming = observation.t_ns + _took_ns(reply), reply
        if self._current is None or self._current.fault is not None:
            return self._fallback(observation)
        return self._commands[self._current.value]

    def _waited(self, body: Mapping[str, Any], read: Callable[[Completion], Any]) -> Any:
        """Return what was read from the reply, and keep how long that took."""
        reply = self._loop.begin(self._server.ask(body, read)).result()
        self._took_ns = _took_ns(reply)
        if reply.fault is not None:
            _LOG.warning('no answer: %s', reply.fault)
        return reply.value

    def _connected(self, timeout_s: float) -> ChatServer:
        return ChatServer(cast(Any, _REQUESTS.get()), self.model, False, timeout_s)


@contextmanager
def sent_to(model: Model) -> 'Iterator[Requests]':
    """Let the controllers that are made meanwhile, for the sample that runs, ask this model."""
    requests = Requests(model, asyncio.get_running_loop())
    token = _REQUESTS.set(requests)
    try:
        yield requests
    finally:
        _REQUESTS.reset(token)


def _took_ns(reply: Reply) -> int:
    return reply.figures.ended_ns - reply.figures.began_ns


class Requests:
    """
    Sends the requests of a ``ChatServer`` through Inspect, as the client of the server would.

    :ivar error: what Inspect raised, if anything: then nothing is known of the model
    :param loop: of the sample, whose context decides where Inspect logs what was asked
    """

    def __init__(self, model: Model, loop: asyncio.AbstractEventLoop) -> None:
        self._model, self._loop, self._context = model, loop, copy_context()
        self.error: BaseException | None = None
        self.chat = self
        self.completions = self
        self.with_streaming_response = self

    def create(self, **body: Any) -> '_Response':
        """Return the response to one request, which is sent when it is entered."""
        return _Response(lambda: self._on_loop(self._generate(body)))

    async def close(self) -> None:
        """Inspect closes its models itself."""

    def _on_loop(self, work: Coroutine[Any, Any, ModelOutput]) -> 'Future[ModelOutput]':
        """Start work on the loop of the sample, in the sample's context."""
        done: Future[ModelOutput] = Future()

        def begin() -> None:
            task = self._loop.create_task(work)
            done.add_done_callback(lambda _: self._loop.call_soon_threadsafe(task.cancel)
                                   if done.cancelled() else None)
            task.add_done_callback(lambda _: self._hand_over(task, done))
        self._loop.call_soon_threadsafe(begin, context=self._context)
        return done

    def _hand_over(self, task: 'asyncio.Task[ModelOutput]', done: 'Future[ModelOutput]') -> None:
        """Give what came of a task to who waits for it in another thread."""
        if task.cancelled():
            done.cancel()
        elif not done.set_running_or_notify_cancel():
            return
        elif (error := task.exception()) is not None:
            self.error = error
            done.set_exception(error)
        else:
            done.set_result(task.result())

    async def _generate(self, body: Mapping[str, Any]) -> ModelOutput:
        tools = [ToolInfo(name=one['function']['name'], description=one['function']['description'],
                          parameters=ToolParams.model_validate(one['function']['parameters']))
                 for one in body.get('tools', ())]
        schema = body.get('response_format', {}).get('json_schema')
        config = GenerateConfig(
            temperature=body.get('temperature'),
            response_schema=None if schema is None else ResponseSchema(
                name=schema['name'], json_schema=schema['schema'], strict=schema['strict']))
        return await self._model.generate(
            messages_of(body['messages']), tools,
            'any' if body.get('tool_choice') == 'required' else None, config,
            cache=False)  # an answer from a cache comes in no time


class _Response:
    """What ``ChatServer`` reads of a response that came in one piece."""

    def __init__(self, send: Callable[[], 'Future[ModelOutput]']) -> None:
        self._send = send
        self._raw = b''
        self.headers: Mapping[str, str] = {}

    async def __aenter__(self) -> '_Response':
        output = await asyncio.wrap_future(self._send())
        self._raw = json.dumps(document_of(output)).encode()
        return self

    async def __aexit__(self, *error: object) -> None:
        pass

    async def iter_bytes(self) -> AsyncIterator[bytes]:
        """Yield the response as a chat completion."""
        yield self._raw


def messages_of(messages: Sequence[Mapping[str, Any]]) -> list[ChatMessage]:
    """Return messages of a chat completion as those of Inspect."""
    found: list[ChatMessage] = []
    for one in messages:
        role, content = one['role'], one.get('content') or ''
        if role in ('system', 'developer'):
            found.append(ChatMessageSystem(content=content))
        elif role == 'assistant':
            found.append(ChatMessageAssistant(content=content, tool_calls=[
                ToolCall(id=call['id'], function=call['function']['name'],
                         arguments=_arguments(call['function']['arguments']))
                for call in one.get('tool_calls', ())] or None))
        elif role == 'tool':
            found.append(ChatMessageTool(content=content, tool_call_id=one.get('tool_call_id')))
        else:
            found.append(ChatMessageUser(content=content))
    return found


def document_of(output: ModelOutput) -> dict[str, Any]:
    """Return an output of Inspect as a chat completion; one without a choice has none there."""
    if not output.choices:
        return {'error': output.error or 'the model gave no choice', 'choices': []}
    choice = output.choices[0]
    reasons = {'max_tokens': 'length', 'model_length': 'length',
               'content_filter': 'content_filter', 'tool_calls': 'tool_calls'}
    calls = [{'id': call.id, 'type': 'function', 'function': {
        'name': call.function, 'arguments': json.dumps(call.arguments)}}
        for call in choice.message.tool_calls or ()]
    usage = output.usage
    return {'choices': [{
        'message': {'content': choice.message.text, 'tool_calls': calls},
        'finish_reason': reasons.get(choice.stop_reason, 'stop')}],
        **({} if usage is None else {'usage': {
            'prompt_tokens': usage.input_tokens, 'completion_tokens': usage.output_tokens}})}


def _arguments(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or '{}')
    except ValueError:
        return {'text': text}
    return found if isinstance(found, dict) else {'value': found}
