# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A model of Inspect as the controller under test, with the prompts of the controller ``llm``."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextvars import copy_context
import json
from typing import Any

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
from safety_scenarios.controllers.chat.request import ChatServer
from safety_scenarios.controllers.llm import LanguageModel


class InspectModel(LanguageModel):
    """
    The controller ``llm`` whose requests Inspect sends: to any of its providers, and logged by it.

    Create it in a sample of Inspect: it sends its requests on that sample's event loop.
    """

    _asks: Any = PrivateAttr(default=None)

    def on(self, model: Model) -> 'InspectModel':
        """Send the requests of the sample that runs now to a model; return the controller."""
        self._asks = Requests(model, asyncio.get_running_loop())
        return self

    def _connected(self, timeout_s: float) -> ChatServer:
        return ChatServer(self._asks, self.model, False, timeout_s)


class Requests:
    """
    Sends the requests of a ``ChatServer`` through Inspect, as the client of the server would.

    :param loop: of the sample, whose context decides where Inspect logs what was asked
    """

    def __init__(self, model: Model, loop: asyncio.AbstractEventLoop) -> None:
        self._model, self._loop, self._context = model, loop, copy_context()
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
            task.add_done_callback(lambda _: _hand_over(task, done))
        self._loop.call_soon_threadsafe(begin, context=self._context)
        return done

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
            'any' if body.get('tool_choice') == 'required' else None, config)


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

    async def read(self) -> bytes:
        """Return the response as a chat completion."""
        return self._raw


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
            found.append(ChatMessageTool(content=content,
                                         tool_call_id=one.get('tool_call_id')))
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


def _hand_over(task: 'asyncio.Task[ModelOutput]', done: 'Future[ModelOutput]') -> None:
    """Give what came of a task to who waits for it in another thread."""
    if task.cancelled():
        done.cancel()
    elif not done.set_running_or_notify_cancel():
        return
    elif (error := task.exception()) is not None:
        done.set_exception(error)
    else:
        done.set_result(task.result())
