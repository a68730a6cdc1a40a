# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The shipped sets in words as tasks: ``inspect eval safety_scenarios/clinical --model NAME``.

Each sample is one trial over the in-process link: the harness publishes, Inspect's model is the
controller, and what is judged is the record of the trial, by the same code as in a campaign.
Scores are the verdict and what the findings of each part come to. Trials run one at a time,
because answers are timed.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
import json
import logging
from typing import Any, cast, ClassVar

import anyio
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    get_model,
    Model,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.scorer import (
    accuracy,
    Metric,
    metric,
    SampleScore,
    Score,
    Scorer,
    scorer,
    stderr,
    Target,
)
from inspect_ai.solver import Generate, Solver, solver, TaskState
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from pydantic import PrivateAttr
from safety_scenarios.controllers.chat.questions import described
from safety_scenarios.controllers.chat.reply import Completion
from safety_scenarios.controllers.chat.request import ChatServer, Reply
from safety_scenarios.controllers.llm import LanguageModel
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.loading import load_scenarios, share_folder
from safety_scenarios.from_python import run
from safety_scenarios.reports.outputs.inspect_log import conversation, score_of, scores_of, VERDICT
from safety_scenarios.scenario.message import Command, Message, Observation
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.trial import TrialRecord

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


_RESULT = 'safety_scenarios:result'
"""Key of the trial's result in a sample's store."""
_PARTS = {'reaction': frozenset(('latency',)), 'checks': frozenset(('invariant', 'rule'))}
"""Score to the sources of the findings that it is the worst of."""
_LONGEST_NAME = 500


@task
def clinical(words: str = 'judge', seed: int = 0, settings: dict[str, Any] | None = None) -> Task:
    """Ask an assistant at the bedside."""
    return _task(_shipped('clinical'), words, seed, settings)


@task
def agents(words: str = 'judge', seed: int = 0, settings: dict[str, Any] | None = None) -> Task:
    """Talk to a robot while it drives; it has tools."""
    return _task(_shipped('agents'), words, seed, settings)


@task
def scenarios(files: str, words: str = 'judge', seed: int = 0,
              settings: dict[str, Any] | None = None) -> Task:
    """Run any scenarios in words: a file, a folder, an id, or several with commas between them."""
    return _task(files, words, seed, settings)


def _shipped(folder: str) -> str:
    """Return a folder of scenarios that come with the package, whatever the current folder has."""
    return str(share_folder() / 'config' / 'scenarios' / folder)


def _task(files: str, words: str, seed: int, settings: dict[str, Any] | None) -> Task:
    """
    Return the task of some scenarios.

    :param words: who reads what was said: judge or patterns
    :param settings: further settings of ``safety-scenarios run`` by their dotted names
    """
    found = load_scenarios(files.split(',')).scenarios
    spoken = [one for one in found if one.body.is_in_words]
    if not spoken:
        raise SettingsError(f'files: got {len(found)} scenarios of {files}, none of which is in '
                            f'words, expected at least one. Run robots by safety-scenarios run')
    return Task(
        dataset=MemoryDataset([_sample(one) for one in spoken], name=files),
        solver=play(files, words, seed, settings or {}),
        scorer=[verdict(), reaction(), checks()])


def _sample(scenario: Scenario) -> Sample:
    asked: str | list[ChatMessage] = scenario.description
    if scenario.messages:
        asked = messages_of([one.model_dump() for one in scenario.messages])
    origin = scenario.origin
    return Sample(id=scenario.id, input=asked, target=scenario.expected_action or '', metadata={
        'file': '' if origin is None else origin.path,
        'sha256': '' if origin is None else origin.sha256})


@solver
def play(files: str, words: str, seed: int, settings: Mapping[str, Any]) -> Solver:
    """Run the trial of a sample with the model that is evaluated as the controller."""
    known = {one.id: one for one in load_scenarios(files.split(',')).scenarios}
    ones: dict[asyncio.AbstractEventLoop, anyio.Lock] = {}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        controller = InspectModel(model=str(model)[:_LONGEST_NAME])
        kept = _SingleTrial()
        scenario = known[str(state.sample_id)]
        async with ones.setdefault(asyncio.get_running_loop(), anyio.Lock()):
            with sent_to(model) as requests:
                await anyio.to_thread.run_sync(lambda: run(
                    scenario, controller=controller, isolate=False, link='loopback', words=words,
                    seed=seed + state.epoch - 1, trials=1, outputs=(), observers=(kept,),
                    set=dict(settings)))
        if requests.error is not None:
            raise requests.error  # no answer that Inspect could not get counts against the model
        if kept.record is not None and scenario.source is not None:  # as drawn, not as in the file
            state.messages = messages_of([
                one.model_dump() for one in kept.record.trial.scenario.messages])
        for message in conversation(kept.record) if kept.record else ():
            if message['role'] == 'assistant':
                state.messages.append(ChatMessageAssistant(content=message['content']))
                state.output = ModelOutput.from_content(str(model), message['content'])
        if kept.result is not None:
            state.store.set(_RESULT, kept.result.model_dump(mode='json'))
        return state
    return solve


class _SingleTrial(Observer):
    """Keeps the one trial."""

    reads_events = False

    def __init__(self) -> None:
        self.record: TrialRecord | None = None
        self.result: TrialResult | None = None

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Keep what the trial came to, but for warm-up."""
        if not result.warmup:
            self.record, self.result = record, result


def _result(state: TaskState) -> TrialResult | None:
    data = state.store.get(_RESULT)
    return None if data is None else TrialResult.model_validate_json(json.dumps(data))


@metric
def decided() -> Metric:
    """Return the share of samples with a verdict of PASS or FAIL; of epochs the first counts."""
    def compute(scores: list[SampleScore]) -> float:
        told = [(one.score.metadata or {}).get('verdict') for one in scores]
        return sum(one in (Verdict.PASS.value, Verdict.FAIL.value) for one in told) \
            / len(told) if told else 0.0
    return compute


@scorer(metrics=[accuracy(), stderr(), decided()])
def verdict() -> Scorer:
    """Score C for PASS, I for FAIL, N for what could not be judged."""
    async def score(state: TaskState, target: Target) -> Score:
        result = _result(state)
        if result is None:
            return Score(value='N', explanation='ERROR: the trial has no result',
                         metadata={'verdict': Verdict.ERROR.value})
        found = scores_of(result, state.output.completion)
        return Score(**{**found.pop(VERDICT), 'metadata': {
            'verdict': result.verdict.value, 'trial_id': result.trial_id, 'seed': result.seed,
            'checks': {name: one['explanation'] for name, one in found.items()}}})
    return score


@scorer(metrics=[accuracy()])
def reaction() -> Scorer:
    """Score whether the reaction came within the budget."""
    return _part('reaction')


@scorer(metrics=[accuracy()])
def checks() -> Scorer:
    """Score whether the scenario's own checks and rules held."""
    return _part('checks')


def _part(name: str) -> Scorer:
    """Return the scorer of the worst finding of some sources; of none at all it is unscored."""
    async def score(state: TaskState, target: Target) -> Score:
        result = _result(state)
        found = [one for one in (result.findings if result else ())
                 if one.source in _PARTS[name] and one.verdict is not None]
        worst = max((one.verdict for one in found if one.verdict is not None),
                    key=lambda one: one.rank, default=None)
        return Score(**score_of(worst, '\n'.join(
            f'{one.verdict.value} {one.check}: {one.reason}' for one in found
            if one.verdict is not None) or 'no such check'))
    return score
