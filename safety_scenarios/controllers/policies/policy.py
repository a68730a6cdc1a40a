# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The controller that runs a policy: it asks a model as its contract says, and commands its actions.

Its name says of what kind the model is, and where: ``onnx:policy.onnx``. The same class runs in
the process of the harness, in one of its own and in ``policy_node``, so that what is judged is
what is deployed.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, lru_cache, partial
import logging
from pathlib import Path
import re
import time
from typing import Any, ClassVar, Literal

from pydantic import Field
from safety_scenarios import registry
from safety_scenarios.controllers.policies.actions import (
    Action,
    ActionChunks,
    ChunkRules,
    PolicyActions,
)
from safety_scenarios.controllers.policies.compatibility import (
    chunk_length,
    first_states,
    model_problems,
    rehearse,
    robot_problems,
)
from safety_scenarios.controllers.policies.contract import (
    contract_of,
    load_contract,
    PolicyContract,
)
from safety_scenarios.controllers.policies.inputs import PolicyInputs
from safety_scenarios.controllers.policies.model import (
    Inference,
    InferenceError,
    ModelOptions,
    ObservationStream,
    PendingInference,
    PolicyMemory,
    PolicyModel,
)
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.message import Command, CommandStamps, LONGEST_NOTE, Observation

_LOG = logging.getLogger(__name__)
_MS = 1_000_000
_NUMBER = re.compile(r'\d+(\.\d+)?')
_FROM_CONTRACT = -1.0
_MISSING = 'missing: '
_KEPT = 600
"""Chunks whose stamps are kept; more never overlap."""


class PolicyController(ControllerPlugin):
    """
    Asks a model for chunks of actions, and commands one of them on each tick.

    While an input is missing, and while the model gives no answer, it does what ``on_missing`` of
    the contract says. An answer that is no action of the robot is an error.
    """

    contract: str = Field(default='', max_length=4000)
    """File of the contract; empty: the name of the model's file with .yaml, or policy.yaml beside
    it; of a server and of code: policy.yaml in the current folder."""
    action_horizon: int = Field(default=0, ge=0, le=10_000)
    """Actions of each chunk that are used, and that it must have; 0: as the contract says."""
    replan_interval: int = Field(default=0, ge=0, le=10_000)
    """Actions after which the model is asked again; 0: as the contract says."""
    execution: Literal['', 'synchronous', 'asynchronous'] = ''
    """Whether the last chunk goes on while the model is asked; empty: as the contract says."""
    queue_threshold: float = Field(default=_FROM_CONTRACT, ge=-1, le=1)
    """Share of the horizon at which the model is asked again, with asynchronous execution; -1: as
    the contract says."""
    ensembling: Literal['', 'latest_only', 'average', 'weighted_average', 'conservative',
                        'temporal', 'real_time_chunking'] = ''
    """What counts where chunks overlap; empty: as the contract says."""
    inference_ms: float = Field(default=0.0, ge=0, le=600_000, json_schema_extra={'unit': 'ms'})
    """Least time that an inference takes, also in simulated time, where it takes none otherwise:
    what would the reaction be with a model that needs so long?"""
    timeout_ms: float = Field(default=1000.0, gt=0, le=600_000, json_schema_extra={'unit': 'ms'})
    """How long a server may take for one answer."""
    cold_start_s: float = Field(default=300.0, gt=0, le=3600, json_schema_extra={'unit': 's'})
    """How long a server may take for its first answer, before the trial begins."""
    threads: int = Field(default=1, ge=1, le=256)
    """Processors that an inference in this process may use."""
    prompt: str = Field(default='', max_length=10_000)
    """Text for the model instead of that of the contract."""
    allow_pickle: bool = False
    """Read data that names classes of Python, from a file or a server that you trust."""

    kind: ClassVar[str] = ''
    """Of the model: its name among the policies of ``registry``."""
    address: ClassVar[str] = ''
    """What stands behind the colon."""
    called: ClassVar[str] = ''
    """Its name in messages; empty: kind and address."""

    @property
    def contract_file(self) -> Path:
        """
        Return the file of the contract.

        :raises InputError: none is named, and none is beside the model
        """
        return Path(self.contract) if self.contract else contract_of(self.address)

    @cached_property
    def terms(self) -> PolicyContract:
        """
        Return the contract.

        :raises InputError: it cannot be read
        """
        return load_contract(self.contract_file)

    @property
    def needed(self) -> Mapping[str, str]:
        """Return role to interface type of what has to come before the model is asked."""
        return {part.role: part.interface for _, part in self.terms.parts()
                if part.missing is None}

    @property
    def files(self) -> tuple[Path, ...]:
        """
        Return the files that it is made of: its contract, and its model if that is in files.

        :raises InputError: there is no contract
        """
        model: type[PolicyModel] = registry.resolve('policies', self.kind)
        return (*model.files(self.address), self.contract_file)

    @property
    def inputs(self) -> Mapping[str, str]:
        """Return what the contract reads."""
        return self.terms.topics

    @property
    def period_ns(self) -> int:
        """Return the time between two actions."""
        return self.terms.period_ns

    @property
    def begins_chunk(self) -> bool:
        """Return whether the rest of a chunk follows, whose first action lasts a period."""
        return self._chunks.is_begun

    @cached_property
    def _memory(self) -> PolicyMemory:
        return PolicyMemory()

    @cached_property
    def _model(self) -> PolicyModel:
        options = ModelOptions(self.timeout_ms / 1e3, self.cold_start_s, self.threads,
                               self.allow_pickle, self.terms.server)
        found: PolicyModel = registry.resolve('policies', self.kind)(self.address, options)
        return found

    @cached_property
    def _inputs(self) -> PolicyInputs:
        return PolicyInputs(self.terms, self.context.robot)

    @cached_property
    def _actions(self) -> PolicyActions:
        return PolicyActions(self.terms, self.context.robot, self.least_actions)

    @cached_property
    def _chunks(self) -> ActionChunks:
        return ActionChunks(self._rules)

    @property
    def _rules(self) -> ChunkRules:
        terms = self.terms
        return ChunkRules(
            self.action_horizon or terms.action_horizon,
            self.replan_interval or terms.replan_interval, self.execution or terms.execution,
            terms.queue_threshold if self.queue_threshold < 0 else self.queue_threshold,
            self.ensembling or terms.ensembling, terms.execution_horizon)

    def start(self) -> None:
        """
        Load the model, compare it with contract and robot, and ask it once, with zeros.

        :raises SettingsError: they do not fit
        :raises InferenceError: a server gives no answer
        :raises ControllerError: its answer is no action of the robot
        """
        terms = self.terms
        self._refuse(robot_problems(terms, self.context.robot))
        model = self._opened
        self._refuse(model_problems(model, terms, self.context.robot, self.least_actions))
        self._forget_states()
        begin_s = time.monotonic()
        rehearse(model, self._complete(self._inputs.neutral()), self._actions)
        _LOG.info('%s: cold start %.1f s', self._name, time.monotonic() - begin_s)
        model.reset()
        if model.is_streamed:
            streamed: Any = model
            self._memory.stream = ObservationStream(streamed, round(self.timeout_ms * _MS))
        elif self._is_asynchronous and not self._is_simulated:
            self._memory.pool = ThreadPoolExecutor(1, thread_name_prefix='policy')

    def _forget_states(self) -> None:
        self._memory.states = first_states(self._model, self.terms)

    def begin_trial(self) -> None:
        """Begin another episode: forget what was seen, and what was planned."""
        memory = self._memory
        self._chunks.clear()
        self._inputs.forget()
        self._actions.forget()
        self._forget_states()
        memory.asked = memory.command = memory.waited = None
        memory.failed = ''
        memory.episode += 1
        if memory.stream is not None:
            try:
                memory.stream.reset()
            except InferenceError as error:  # the next question goes over a new connection
                self._fail(error, None)

    def problems(self, robot: RobotModel) -> Iterator[str]:
        """
        Yield why contract and robot do not fit, and the model if it is in a file.

        :raises InputError: the contract or the file cannot be read, or the model not be opened
        """
        self._model.check()
        yield from (found := [*robot_problems(self.terms, robot)])
        if not found and self._model.is_file:
            yield from model_problems(self._opened, self.terms, robot, self.least_actions)

    @cached_property
    def _opened(self) -> PolicyModel:
        self._model.open()
        return self._model

    @property
    def least_actions(self) -> int:
        """Return how many actions a chunk must have; 0: any number."""
        return max(self._rules.horizon, self._rules.replan_interval)

    @property
    def longest_wait_ns(self) -> int | None:
        """
        Return the longest time from an event to a command that the model gives for it.

        It follows from chunks and ``inference_ms`` (doc/reference/policies.md). None: the length
        of a chunk is unknown.

        :raises InputError: the contract or the file cannot be read
        """
        terms, rules = self.terms, self._rules
        length = rules.horizon or (
            chunk_length(self._opened.outputs(), terms) if self._model.is_file else None)
        if length is None:
            return None
        inference = -(-self._least_ns // terms.period_ns)  # rounded up
        return rules.longest_wait(length, inference) * terms.period_ns

    def _refuse(self, problems: Iterable[str]) -> None:
        """Refuse what does not fit."""
        if found := [f'controller: {self._name} and its contract: {one}' for one in problems]:
            raise SettingsError('\n'.join(found))

    def decide(self, observation: Observation) -> Command | None:
        """Return the action of this tick."""
        memory, chunks = self._memory, self._chunks
        self._inputs.look(observation)
        self._take(observation)
        if chunks.wants_chunk() or self._inputs.is_stale(observation):
            arrays = self._inputs.arrays(observation)
            if arrays is None:
                return self._without(observation, f'{_MISSING}{self._inputs.missing}')
            if chunks.wants_chunk():
                self._ask(observation, arrays)
                self._take(observation)
        action = chunks.action()
        if action is None:
            is_waiting = self._is_waiting and not memory.failed  # else the model is asked again
            return None if is_waiting else self._without(observation, '')
        memory.command = self._command(action, observation)
        if chunks.is_single and self._is_simulated and self._least_ns \
                and (arrays := self._inputs.arrays(observation)) is not None:
            self._ask(observation, arrays)  # as in real time, where this tick came late
        return memory.command

    def close(self) -> None:
        """Hang up, and say what went wrong how often."""
        memory = self._memory
        if memory.stream is not None:
            self._model.interrupt()
            memory.stream.close()
        if memory.pool is not None:
            self._model.interrupt()
            memory.pool.shutdown(wait=True, cancel_futures=True)
        self._model.close()
        if memory.failures:  # the results count them, too
            is_model = any(not name.startswith(_MISSING) for name in memory.failures)
            counts = ', '.join(f'{count} x {name}'
                               for name, count in memory.failures.most_common())
            _LOG.log(logging.WARNING if is_model else logging.INFO, '%s: %d inferences; %s',
                     self._name, memory.inferences, counts)

    @property
    def _name(self) -> str:
        return self.called or f'{self.kind}:{self.address}'

    @property
    def _is_simulated(self) -> bool:
        """Return whether time stands still while it thinks."""
        return getattr(self.context, 'schedule_clock', 'steady') == 'ros'

    @property
    def _least_ns(self) -> int:
        """Return the least time of an inference; asynchronous, it begins after its tick."""
        least_ns = round(self.inference_ms * _MS)
        return least_ns + 1 if least_ns and self._is_asynchronous else least_ns

    @property
    def _is_asynchronous(self) -> bool:
        return self._rules.execution == 'asynchronous'

    @property
    def _is_waiting(self) -> bool:
        """Return whether an answer is awaited."""
        stream = self._memory.stream
        return self._memory.asked is not None if stream is None else stream.is_waiting

    def _complete(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        prompts = {name: self.prompt or text for name, text in self.terms.prompts.items()}
        return {**arrays, **prompts, **self._memory.states}

    def _ask(self, observation: Observation, arrays: Mapping[str, Any]) -> None:
        memory, read = self._memory, self._inputs.in_few_numbers(arrays)
        if memory.stream is not None:
            memory.stream.offer(observation, self._complete(arrays), self._chunks.step,
                                self._chunks.is_empty, read)
            return
        memory.inferences += 1
        began_ns = observation.t_ns if self._is_simulated else time.monotonic_ns()
        asked = PendingInference(began_ns, observation, memory.episode, read)
        given, least_ns = self._complete(arrays), self._least_ns
        self._chunks.ask()
        memory.asked, asked.future = asked, Future()
        if memory.pool is not None:
            asked.future = memory.pool.submit(self._infer, asked, given, asked.began_ns + least_ns)
            return
        try:
            asked.future.set_result(self._infer(
                asked, given, 0 if self._is_simulated else asked.began_ns + least_ns))
        except InferenceError as error:
            asked.future.set_exception(error)
        if self._is_simulated:
            asked.ready_ns = asked.ended_ns = asked.began_ns + least_ns

    def _infer(self, asked: PendingInference, given: Mapping[str, Any],
               until_ns: int) -> Inference:
        """Ask the model, and wait until a steady time if it has answered before."""
        try:
            if asked.episode != self._memory.begun:  # here: a failure is that of a question
                self._model.reset()
                self._memory.begun = asked.episode
            found = self._model.infer(given)
            if (early_ns := until_ns - time.monotonic_ns()) > 0:  # to sleep for 0 s takes time
                time.sleep(early_ns / 1e9)
            return found
        finally:
            asked.ended_ns = time.monotonic_ns()

    def _take(self, observation: Observation) -> None:
        """Take the answer of the model if it counts by now."""
        memory, asked = self._memory, self._memory.asked
        if memory.stream is not None:
            self._take_streamed(memory.stream)
            return
        if asked is None or asked.future is None or not asked.future.done() or (
                asked.ready_ns is not None and observation.t_ns < asked.ready_ns):
            return
        memory.asked = None
        stamped = partial(CommandStamps.of, asked.observation, began_ns=asked.began_ns,
                          ended_ns=asked.ended_ns, read=asked.read)
        try:
            found = asked.future.result()
        except InferenceError as error:
            self._fail(error, stamped())
            return
        self._add_chunk(found, None, stamped(server_ns=found.server_ns))

    def _take_streamed(self, stream: ObservationStream) -> None:
        while True:
            needed = stream.needed
            try:
                answer = stream.answer()
            except InferenceError as error:
                self._fail(error, None if needed is None else CommandStamps.of(
                    needed.observation, began_ns=needed.at_ns, ended_ns=time.monotonic_ns()))
                return
            if answer is None:
                return
            sent = answer.sent
            self._memory.inferences += 1
            self._add_chunk(answer.inference, sent.step, CommandStamps.of(
                sent.observation, queued_ns=sent.at_ns, began_ns=answer.began_ns,
                ended_ns=answer.ended_ns, read=sent.read, skipped=answer.skipped or None,
                skipped_ns=answer.skipped_ns if answer.skipped else None))

    def _fail(self, error: InferenceError, waited: CommandStamps | None) -> None:
        """
        Note that a question got no answer.

        :param waited: of that question, until now; None: unknown
        """
        memory = self._memory
        memory.waited = None if memory.failed else waited
        memory.failures[error.name] += 1
        memory.failed = error.name
        _LOG.log(logging.WARNING if memory.failures[error.name] == 1 else logging.DEBUG,
                 '%s: %s', self._name, error)
        self._chunks.clear()

    def _add_chunk(self, found: Inference, step: int | None, stamps: CommandStamps) -> None:
        """
        Take a chunk.

        :param step: of the observation that it was computed from; None: of the question
        """
        memory = self._memory
        memory.failed = ''
        states = self._actions.states(found.outputs)
        number = self._chunks.add(self._actions.chunk(found.outputs), step)
        memory.stamps[number] = stamps.model_copy(update={
            'chunk': number, 'gave': self._actions.first})
        if len(memory.stamps) > _KEPT:
            del memory.stamps[min(memory.stamps)]
        memory.states.update(states)

    def _command(self, action: Action, observation: Observation) -> Command:
        if action.chunk != self._memory.played:
            self._memory.played = action.chunk
            self._actions.forget()
        found = self._actions.command(action.values, observation)
        if found is None:
            return Command.decided_from(observation, (), note='no joint_states')
        stamps = self._memory.stamps_of(action.chunk)
        return found if stamps is None else found.model_copy(update={
            'stamps': stamps.model_copy(update={
                'index': action.place, 'clipped': found.stamps and found.stamps.clipped})})

    def _without(self, observation: Observation, why: str) -> Command:
        """Return what is commanded where there is no action, with the reason in its stamps."""
        memory, what = self._memory, self.terms.on_missing
        note = memory.failed or 'no action'
        waited, memory.waited = memory.waited, None
        if why:
            self._chunks.clear()
            memory.asked = None
            first = memory.reasons.setdefault(_NUMBER.sub('', why), why)
            memory.failures[first] += 1
            if memory.failures[first] == 1:
                _LOG.info('%s: %s', self._name, why)
            note = f'no {self._inputs.missing.partition(":")[0]}' if self._inputs.is_absent \
                else first.removeprefix(_MISSING)[:LONGEST_NOTE]
        stamps = CommandStamps.of(observation) if why or waited is None else waited
        self._actions.forget()
        found = self.context.robot_kind.stop if what == 'stop' \
            else memory.command if what == 'hold' else None
        return (found or Command(velocity=())).model_copy(update={
            'stamps': stamps.model_copy(update={'note': note})})


@lru_cache(maxsize=64)
def policy_class(kind: str, address: str, called: str = '') -> type[PolicyController]:
    """
    Return the controller of one policy.

    :param kind: its name among the policies of ``registry``
    :param called: name in messages; empty: kind and address
    :raises SettingsError: nothing is behind the colon, or nothing of this kind
    """
    if not address:
        raise SettingsError(f'controller: got {kind}: with nothing behind the colon, expected '
                            f'where the policy is, such as {kind}:policy.{kind}')
    model: type[PolicyModel] = registry.resolve('policies', kind)
    model(address, ModelOptions())  # refuses an address before it is recorded
    metaclass: Any = type(PolicyController)
    made: type[PolicyController] = metaclass('Policy', (PolicyController,), {
        '__module__': __name__, '__doc__': PolicyController.__doc__, 'kind': kind,
        'address': address, 'called': called, 'takes_real_time': model.takes_real_time})
    return made
