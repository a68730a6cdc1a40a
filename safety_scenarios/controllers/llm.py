# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A language model as controller, behind any OpenAI-compatible server."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, Future, wait
from functools import cached_property
import logging
import threading
import time
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import Field, field_validator, PrivateAttr
from safety_scenarios.controllers.chat.questions import described
from safety_scenarios.controllers.chat.reply import action_in, Completion, options_of, words_in
from safety_scenarios.controllers.chat.request import Prices, RequestFigures, summary
from safety_scenarios.controllers.rule_based import motion, RuleBased
from safety_scenarios.controllers.server_replies import api_key
from safety_scenarios.errors import MissingDependencyError, SettingsError
from safety_scenarios.formats.companion_files import DEFAULT, load_prompt
from safety_scenarios.scenario.companion_files import DrivingPrompt
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.conversation import Turn, Utterance
from safety_scenarios.scenario.message import (
    ChatMessage,
    Command,
    CommandStamps,
    Message,
    Observation,
)

_T = TypeVar('_T')
_HANG_UP_S = 5.0
"""Closing connections takes milliseconds; nothing waits for longer than this."""


class EventLoop:
    """Runs coroutines until it is closed."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._begun: list[Future[Any]] = []
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._loop.is_closed()

    def begin(self, work: Coroutine[Any, Any, _T]) -> 'Future[_T]':
        """Begin to run a coroutine; cancelling the future cancels it."""
        begun = asyncio.run_coroutine_threadsafe(work, self._loop)
        self._begun.append(begun)
        begun.add_done_callback(self._begun.remove)
        return begun

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Cancel all that runs, run one last coroutine, and end the thread."""
        if self.is_closed:
            last.close()
            return
        try:
            for begun in tuple(self._begun):
                begun.cancel()
            self.begin(self._end(last)).result(timeout=_HANG_UP_S)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=_HANG_UP_S)
            if not self._thread.is_alive():
                self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _end(self, last: Coroutine[Any, Any, None]) -> None:
        # Tasks inside of what was cancelled end with it. anyio warns if they are cancelled alone.
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*tasks, return_exceptions=True)
        await last
        await self._loop.shutdown_asyncgens()


try:
    from safety_scenarios.controllers.chat.language_models import (
        async_client,
        connection_problem,
        messages_of,
        tools_of,
        uttered,
        waits,
    )
    from safety_scenarios.controllers.chat.questions import OnNewData, Questions
    from safety_scenarios.controllers.chat.request import ChatServer, Reply
except ImportError as error:
    raise MissingDependencyError('the controller llm', 'openai',
                                 "pip install 'openai>=1.55.3'") from error

KEY_VARIABLE = 'OPENAI_API_KEY'
Fallback = Literal['stop', 'none', 'rule_based']
_LOG = logging.getLogger(__name__)
_WARMS_UP_S = 2.0
"""A server that has not answered by then is asked all the same."""
_CONNECTS_S = 5.0
"""A server to which no connection can be made in this time is not there."""
_PATIENCE = 0.8
"""Of the critical limit: what remains is for the stop itself."""


class LanguageModel(ControllerPlugin):
    """
    Asks the model again and again in the background; between answers the last one holds.

    It holds until the next question is overdue (``timeout_ms``). Then, and after each reply that
    names no action, ``fallback`` commands. An answer that comes too late is dropped. Before the
    first input there is nothing to ask. The key is read from the environment variable
    OPENAI_API_KEY and goes nowhere else.
    """

    model: str = Field(default='', max_length=500)
    """Name of the model, as the server knows it."""
    base_url: str = Field(default='', max_length=2000, pattern=r'^(https?://[^@?#\s]+)?$')
    """URL of an OpenAI-compatible server, without credentials; empty: the client's own default."""
    prompt: str = Field(default=DEFAULT, min_length=1, max_length=4000)
    """YAML file with the system prompt and the actions, or the name of one that ships."""
    timeout_ms: float = Field(default=1000.0, gt=0, le=600_000, json_schema_extra={'unit': 'ms'})
    """How long it waits for its model before the fallback commands (ms); where nobody sets it,
    0.8 of the critical limit of each scenario."""
    on_new_data: OnNewData = 'cancel'
    """What happens to a running request when the data changed materially: cancel closes it and
    asks anew, finish awaits it, parallel asks beside it, and the newest answer counts."""
    most_requests: int = Field(default=2, ge=2, le=16)
    """How many requests may run at once with on_new_data=parallel."""
    fallback: Fallback = 'stop'
    """What commands while there is no valid answer: stop, none (nothing is published), or
    rule_based, the reference controller."""
    stream: bool = True
    """Whether answers are streamed, which shows the time to the first token."""
    prompt_price: float = Field(default=0.0, ge=0)
    """Price of a million prompt tokens; 0: costs are not computed."""
    completion_price: float = Field(default=0.0, ge=0)
    """Price of a million completion tokens."""

    takes_real_time: ClassVar[bool] = True
    """Its answers take as long as they take, whatever a simulated clock says."""
    cold_start_s: ClassVar[float] = 30.0
    """How long its process may take until it is found: to import its client takes seconds."""
    critical_shares: ClassVar[Mapping[str, float]] = {'timeout_ms': _PATIENCE}
    old_names: ClassVar[Mapping[str, str]] = {'server.model': 'model',
                                              'server.base_url': 'base_url'}

    _server: ChatServer = PrivateAttr()
    _loop: EventLoop = PrivateAttr()
    _questions: Questions = PrivateAttr()
    _latest: tuple[Reply, Command] | None = PrivateAttr(default=None)
    _discarded: int = PrivateAttr(default=0)
    _truncated_by: str = PrivateAttr(default='')
    _observed: RequestFigures = PrivateAttr(default=RequestFigures())

    @field_validator('prompt')
    @classmethod
    def _readable(cls, name: str) -> str:
        load_prompt(name)
        return name

    @cached_property
    def driving(self) -> DrivingPrompt:
        """Return what the model reads and may choose."""
        return load_prompt(self.prompt)

    @property
    def figures(self) -> Sequence[RequestFigures]:
        """Return times, tokens and fault of every request that has ended, in that order."""
        return tuple(self._server.figures)

    @property
    def truncated_by(self) -> str:
        """By what the server cut the latest answer off; empty: it did not."""
        return self._truncated_by

    def start(self) -> None:
        """
        Make the client; nothing is asked yet.

        :raises SettingsError: no model is named, an action does not fit the robot, or the key
            cannot be sent
        """
        if not self.model:
            raise SettingsError('model: got nothing, expected the name of a model. Set --model '
                                '(ROS parameter server.model)')
        axes = len(motion(self.context.robot, 0.0).velocity)
        for name, action in self.driving.actions.items():
            if action.velocity is not None and len(action.velocity) != axes:
                raise SettingsError(
                    f'controller.prompt: {self.prompt}: actions.{name}.velocity: got '
                    f'{len(action.velocity)} numbers, expected {axes} for this robot')
        self._server = self._connected(self.timeout_ms / 1e3)
        self._loop = EventLoop('llm')
        self._warm_up()
        self._questions = Questions(self._ask, self.on_new_data, self.most_requests,
                                    self.timeout_ms * 1e6)

    def _connected(self, timeout_s: float) -> ChatServer:
        """Return what sends the requests."""
        # Twice: the time-out of a request ends it, not that of a single read.
        client = async_client(self.base_url, api_key(KEY_VARIABLE), 2 * timeout_s)
        return ChatServer(client, self.model, self.stream, timeout_s)

    def _warm_up(self) -> None:
        """Let what only the first request takes, such as TLS and imports, not be in its time."""
        connected = self._loop.begin(self._server.connect())
        wait([connected], timeout=_WARMS_UP_S)
        connected.cancel()

    def connection_problem(self) -> str:
        """
        Return that nothing answers where the model's server should be; empty: something does.

        It need not be started for that.
        """
        why = connection_problem(self.base_url, api_key(KEY_VARIABLE), _CONNECTS_S)
        where = self.base_url or 'the server of OPENAI_BASE_URL, or of OpenAI without it'
        return f'no connection to {where}: {why}' if why else ''

    def begin_trial(self) -> None:
        """Drop the requests of the trial before: their answers would be about another hazard."""
        self._discarded += self._questions.forget()
        self._latest = None

    def decide(self, observation: Observation) -> Command | Message | None:
        """Return the command of the latest valid answer, or that of the fallback."""
        if observation.readings:
            self._observed = _observed(observation)
            self._questions.tick(observation.t_ns, described(observation, self.driving.describe),
                                 CommandStamps.of(observation))
        answer = self._questions.answer
        if answer is None:
            found = self._fallback(observation)
            return found if not isinstance(found, Command) else found.model_copy(update={
                'stamps': self._questions.stamps_without_answer(CommandStamps.of(observation))})
        if self._latest is None or self._latest[0] is not answer:
            self._latest = answer, _stamped(self._commands[answer.value], answer.figures,
                                            observation.t_ns - time.monotonic_ns())
        return self._latest[1]

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        """Return the model's answer; an error or a timeout is no answer."""
        found = self._waited({'messages': [message.model_dump() for message in messages]},
                             lambda completion: (words_in(completion), completion.truncated_by))
        text, self._truncated_by = found or (None, '')
        return text

    def converse(self, turn: Turn) -> Sequence[Utterance]:
        """Return what the model says or calls; without tools, its answer."""
        if not turn.tools:
            return super().converse(turn)
        if waits(turn.messages):
            return ()
        done: Sequence[Utterance] | None = self._waited(
            {'messages': messages_of(turn), 'tools': tools_of(turn)},
            lambda completion: uttered(completion, turn))
        return done or ()

    def close(self) -> None:
        """Cancel what is under way, hang up, and log what was measured; once."""
        is_open = not self._loop.is_closed
        self._loop.close(self._server.close())
        if is_open and self._server.figures:
            _LOG.info('requests to %s: %s%s', self.model, summary(
                self._server.figures, Prices(self.prompt_price, self.completion_price)),
                f' of_earlier_trial={self._discarded}' if self._discarded else '')

    @cached_property
    def _commands(self) -> Mapping[str, Command]:
        return {name: motion(self.context.robot, action.share or 0.0)
                if action.velocity is None else Command(velocity=action.velocity)
                for name, action in self.driving.actions.items()}

    @cached_property
    def _reference(self) -> RuleBased:
        reference = RuleBased()
        reference.begin(self.context)
        return reference

    def _fallback(self, observation: Observation) -> Command | Message | None:
        if self.fallback == 'rule_based':
            return self._reference.decide(observation)
        return None if self.fallback == 'none' else motion(self.context.robot, 0.0)

    def _ask(self, situation: str) -> 'Future[Reply]':
        return self._loop.begin(self._server.ask(
            {'messages': [{'role': 'system', 'content': self.driving.system},
                          {'role': 'user', 'content': situation}],
             **options_of(self.driving)},
            lambda completion: action_in(completion, self.driving), self._observed))

    def _waited(self, body: Mapping[str, Any], read: Callable[[Completion], Any]) -> Any:
        """Return what was read from the reply; None, and why in the log, if there is none."""
        asked = self._loop.begin(self._server.ask(body, read))
        wait([asked], timeout=2 * self.timeout_ms / 1e3)
        try:
            if not asked.done():
                asked.cancel()
            reply = asked.result()
        except CancelledError:
            _LOG.warning('no answer: cancelled')
            return None
        if reply.fault is not None:
            _LOG.warning('no answer: %s', reply.fault)
        return reply.value


def _observed(observation: Observation) -> RequestFigures:
    """Return when the newest input was stamped and received."""
    newest = min(observation.readings.values(), key=lambda reading: reading.age_ns)
    now_ns = time.monotonic_ns()
    return RequestFigures(
        None if newest.stamp_age_ns is None else now_ns - newest.stamp_age_ns,
        now_ns - newest.age_ns)


def _stamped(command: Command, figures: RequestFigures, offset_ns: int) -> Command:
    """
    Return a command with the times of the request that it comes from.

    :param offset_ns: what to add to a steady time for one on the clock of the observations
    """
    times = {'observed_ns': figures.observed_ns, 'received_ns': figures.received_ns,
             'queued_ns': figures.began_ns, 'ended_ns': figures.ended_ns}
    stamps: dict[str, Any] = {name: None if time_ns is None else time_ns + offset_ns
                              for name, time_ns in times.items()}
    return command.model_copy(update={'stamps': CommandStamps(
        server_ns=figures.usage.server_ns, **stamps)})
