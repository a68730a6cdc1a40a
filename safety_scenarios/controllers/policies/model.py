# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What every model is to its controller, also one that is sent newer observations meanwhile."""

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
import math
from numbers import Real
import os
from pathlib import Path
from queue import SimpleQueue
import time
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy
from numpy.typing import NDArray
from safety_scenarios import registry
from safety_scenarios.errors import SafetyScenariosError
from safety_scenarios.scenario.message import Command, CommandStamps, Observation

Array = NDArray[Any]
Read = Mapping[str, tuple[float, ...]]


class InferenceError(SafetyScenariosError):
    """
    A model gave no answer that can be used; the controller goes on without.

    :param name: of what went wrong, in the findings: timeout, dropped, http_500, malformed
    """

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(f'{name}: {detail}')
        self.name, self.detail = name, detail


class Inference(NamedTuple):
    """What a model gave for one observation."""

    outputs: Mapping[str, Any]
    """Name of an output to its array."""
    server_ns: int | float | None = None
    """How long the inference took, as the model's server reports it: also what cannot be true."""
    number: int = -1
    """Of the observation that it was computed from, where several were sent."""


class Tensor(NamedTuple):
    """One input or output as a model declares it."""

    shape: tuple[int | None, ...] | None
    """None in it: any size; None: not declared."""
    dtype: str
    """As numpy names it, such as float32; str for texts; empty: not declared."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What a controller's parameters say about how its model is run."""

    timeout_s: float = 1.0
    """How long one answer may take."""
    cold_start_s: float = 300.0
    """How long the first may take, or a connection."""
    threads: int = 1
    """Processors that an inference may use, in this process."""
    allow_pickle: bool = False
    """Whether data may be read that names classes of Python."""
    server: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """What a server is told to load."""
    may_start_later: bool = True
    """Whether a server may be started only now, so that it is waited for."""


class PolicyModel:
    """
    Base of every kind of model. It has no clock, and one thread at a time asks it.

    :param address: what stands behind the colon in the controller's name
    :raises SettingsError: the address can be none of this kind
    """

    takes_real_time: ClassVar[bool] = False
    """Whether it thinks where no simulated clock can hold it, as a server does."""
    is_code: ClassVar[bool] = False
    """Whether it runs code of its author, and so needs a process of its own."""
    is_file: ClassVar[bool] = False
    """Whether it is a file that can be opened before a campaign, with no server and no code."""

    is_pickled: ClassVar[bool] = False
    """Whether it can be used with ``allow_pickle`` alone."""
    is_streamed: ClassVar[bool] = False
    """Whether it takes newer observations while it infers: it is a ``StreamedModel``."""
    server_keys: ClassVar[tuple[str, ...]] = ()
    """What the contract must have under ``server``."""

    def __init__(self, address: str, options: ModelOptions) -> None:
        self.address, self.options = address, options

    @classmethod
    def files(cls, address: str) -> tuple[Path, ...]:
        """Return the files that it is made of; their hashes stand in the results."""
        path = Path(address)
        return (path,) if os.path.isfile(path) else ()

    def check(self) -> None:
        """
        Look for what keeps it from being opened, and run no code of its author.

        :raises SettingsError: something does
        """

    def open(self) -> None:  # noqa: A003
        """
        Load the model, or connect to its server.

        :raises SettingsError: there is none, or not of this kind
        :raises InferenceError: a server did not answer
        """

    def inputs(self) -> Mapping[str, Tensor] | None:
        """Return what the model declares as its inputs; None: it declares nothing."""
        return None

    def outputs(self) -> Mapping[str, Tensor] | None:
        """Return what the model declares as its outputs; None: it declares nothing."""
        return None

    def infer(self, inputs: Mapping[str, Any]) -> Inference:
        """
        Return what the model makes of arrays and texts.

        :raises InferenceError: it gave nothing that can be used
        """
        raise NotImplementedError

    def reset(self) -> None:
        """Begin anew: what was seen before is another episode."""

    def interrupt(self) -> None:
        """End an inference that is under way in another thread, if that is possible."""

    def close(self) -> None:
        """Hang up."""


def is_code(kind: str) -> bool:
    """Return whether a kind of policy runs its author's code; one of another package does."""
    return kind not in registry.BUILT_IN['policies'] or bool(
        registry.resolve('policies', kind).is_code)


def duration_ns(reported: Any, unit_ns: float = 1e6) -> int | float | None:
    """
    Return how long a server reports that it inferred; None: it reports nothing.

    What is no number is NaN, and a negative one stays. Both are in the stamps of the command, of
    which judging reports what cannot be true, and ignores it.

    :param unit_ns: of the report; the default is that of milliseconds
    """
    if reported is None:
        return None
    if isinstance(reported, bool) or not isinstance(reported, Real):
        return math.nan
    try:
        return round(float(reported) * unit_ns)
    except (OverflowError, ValueError):  # too large, or not finite
        return math.nan


def batched(shape: tuple[int, ...], tensor: Tensor) -> int | None:
    """Return how many dimensions of size 1 a model wants in front of a shape; None: no fit."""
    if tensor.shape is None:
        return 0
    more = len(tensor.shape) - len(shape)
    if more < 0 or more > 2:
        return None
    lead, rest = tensor.shape[:more], tensor.shape[more:]
    if any(size not in (None, 1) for size in lead):
        return None
    return more if all(wanted in (None, size) for size, wanted in zip(shape, rest, strict=True)) \
        else None


def with_batch(values: Array, count: int) -> Array:
    """Return an array with so many dimensions of size 1 in front."""
    return values if not count else values.reshape((1,) * count + values.shape)


UNNAMED = 'actions'
"""What an answer without a name is called; a contract may call its action otherwise."""


def named_outputs(found: Any) -> dict[str, Any]:
    """Return what a model gave by name; one array without a name is the action."""
    return {str(name): value for name, value in found.items()} if isinstance(found, Mapping) \
        else {UNNAMED: found}


def is_number_type(dtype: str, kinds: str = 'biuf') -> bool:
    """
    Return whether numpy has a type of numbers of this name.

    :param kinds: of types of numpy
    """
    try:
        return numpy.dtype(dtype).kind in kinds
    except TypeError:
        return False


def zeros(shape: tuple[int, ...], dtype: str = 'float32') -> Array:
    """Return the recurrent state at the beginning."""
    return numpy.zeros(shape, dtype or 'float32')


_MOST_KEPT = 5000
"""Observations that may still be answered."""
_LOOK_S = 0.01
"""How often a wait for a thread looks again; a call may begin right after all were cancelled."""


class StreamedModel(Protocol):
    """A model that answers to an observation of its own choice; two threads use it."""

    def send(self, inputs: Mapping[str, Any], number: int, step: int, is_needed: bool) -> None:
        """Send an observation under a number; ``is_needed``: no action is left."""

    def collect(self) -> Inference | None:
        """Wait for the next answer; None: there is none yet."""

    def abandon(self) -> None:
        """End a wait for an answer in another thread."""

    def hang_up(self) -> None:
        """Close the connection; the next observation goes over a new one."""

    def reset(self) -> None:
        """Begin anew."""


class Sent(NamedTuple):
    """An observation that was sent."""

    observation: Observation
    at_ns: int
    step: int
    """Of the action that was due next."""
    read: Read
    """What the model read, in a few numbers."""


class Answer(NamedTuple):
    """A chunk, and what it was computed from."""

    sent: Sent
    inference: Inference
    began_ns: int
    """When the server could begin: it had the observation, and was done with the chunk before."""
    ended_ns: int
    skipped: int
    """So many observations were sent after the one used before and ahead of this one."""
    skipped_ns: int
    """Time from the first of them to this one."""


class ObservationStream:
    """
    Sends observations and collects chunks, each in a thread of its own.

    As LeRobot's client does it: the observation that finds no action left must be looked at, once
    until an answer comes. Only for this one a time-out counts, because a server may ignore others.

    :param model: it is open
    :param timeout_ns: how long the answer to an observation may take that must be looked at
    """

    def __init__(self, model: StreamedModel, timeout_ns: int) -> None:
        self._model, self._timeout_ns = model, timeout_ns
        self._threads = ThreadPoolExecutor(2, thread_name_prefix='policy')
        self._sent: dict[int, Sent] = {}
        self._number = 0
        self._sending: Future[None] | None = None
        self._collecting: Future[None] | None = None
        self._collected = SimpleQueue[tuple[Inference | None, int]]()
        """What came, and when; a new one where what is under way has become of no interest."""
        self.needed: Sent | None = None
        """The first observation that must be answered and is not; None: there is none."""
        self._is_needed_sent = False
        self._empty = 0
        self._ended_ns = 0

    @property
    def is_waiting(self) -> bool:
        """Return whether an observation was sent that must be answered."""
        return self.needed is not None

    def offer(self, observation: Observation, inputs: Mapping[str, Any], step: int,
              is_needed: bool, read: Read) -> bool:
        """
        Send an observation, unless an earlier one is still being sent; return whether it is sent.

        :param step: of the action that is due next
        :param is_needed: there is none
        :param read: the inputs in a few numbers
        """
        if self._sending is not None:
            return False
        now_ns = time.monotonic_ns()
        sent = Sent(observation, now_ns, step, read)
        if is_needed and self.needed is None:
            self.needed, self._empty = sent, 0
        is_first, self._is_needed_sent = is_needed and not self._is_needed_sent, \
            self._is_needed_sent or is_needed
        self._sent[self._number] = sent
        if len(self._sent) > _MOST_KEPT:
            self._sent.pop(next(iter(self._sent)))
        self._sending = self._threads.submit(
            self._model.send, inputs, self._number, step, is_first)
        self._number += 1
        return True

    def answer(self) -> Answer | None:
        """
        Return the next chunk, if one has come.

        :raises InferenceError: sending or computing failed, or the answer is overdue
        """
        try:
            return self._next()
        except InferenceError:
            self._give_up()
            raise

    def _next(self) -> Answer | None:
        found, is_over = None, self._collecting is not None and self._collecting.done()
        if not self._collected.empty():
            found = self._answer(*self._collected.get())
        if found is None and self._collecting is not None and is_over:
            self._collecting.result()
            self._collect()
        if self._sending is not None and self._sending.done():
            sending, self._sending = self._sending, None
            sending.result()
            if self._collecting is None:
                self._collect()
        needed = self.needed
        if needed is not None and time.monotonic_ns() - needed.at_ns > self._timeout_ns:
            within = f'within {self._timeout_ns / 1e9:g} s'
            raise InferenceError('no_actions', f'the server answered {self._empty} times without '
                                               f'actions {within}. The reason is in its log') \
                if self._empty else InferenceError('timeout', f'no whole answer {within}')
        return found

    def _collect(self) -> None:
        self._collecting = self._threads.submit(self._collect_all, self._collected)

    def _collect_all(self, collected: SimpleQueue[tuple[Inference | None, int]]) -> None:
        """Ask for the next chunk as soon as one has come: the server begins it when asked."""
        while collected is self._collected:
            inference = self._model.collect()
            collected.put((inference, time.monotonic_ns()))
            if inference is None:
                return

    def _answer(self, inference: Inference | None, ended_ns: int) -> Answer | None:
        if inference is None:
            self._empty += 1
            self._is_needed_sent = False  # it may have been lost: the next one must be looked at
            return None
        sent = self._sent.get(inference.number)
        if sent is None:
            return None  # of an earlier connection
        earlier = [one.at_ns for number, one in self._sent.items() if number < inference.number]
        began_ns, self._ended_ns = max(sent.at_ns, self._ended_ns), ended_ns
        self._sent = {number: one for number, one in self._sent.items()
                      if number > inference.number}
        self.needed, self._is_needed_sent = None, False
        return Answer(sent, inference, began_ns, ended_ns, len(earlier),
                      sent.at_ns - min(earlier, default=sent.at_ns))

    def _give_up(self) -> None:
        """Ask over a new connection next."""
        self._model.hang_up()
        self._forget()

    def _forget(self) -> None:
        self._collected = SimpleQueue()
        asked: list[Future[Any]] = [one for one in (self._sending, self._collecting)
                                    if one is not None]
        while not all(one.done() for one in asked):
            self._model.abandon()
            wait(asked, _LOOK_S)
        self._sending = self._collecting = self.needed = None
        self._is_needed_sent = False
        self._sent.clear()

    def reset(self) -> None:
        """
        Forget what was sent: another episode begins.

        :raises InferenceError: the server is not there
        """
        self._forget()
        self._model.reset()

    def close(self) -> None:
        """End both threads."""
        self._forget()
        self._threads.shutdown(wait=True, cancel_futures=True)


class PendingInference:
    """A question to the model that is under way, or answered."""

    def __init__(self, began_ns: int, observation: Observation, episode: int,
                 read: Read) -> None:
        self.began_ns, self.observation, self.episode = began_ns, observation, episode
        self.read = read
        self.ready_ns: int | None = None
        """When the answer counts, on the clock of the observations; None: when it is there."""
        self.ended_ns: int | None = None
        """When it was there, on the same clock."""
        self.future: Future[Inference] | None = None


class PolicyMemory:
    """What a policy's controller keeps from tick to tick."""

    def __init__(self) -> None:
        self.asked: PendingInference | None = None
        self.command: Command | None = None
        self.failures = Counter[str]()
        self.reasons: dict[str, str] = {}
        """Why there was no inference, without numbers, to the first such reason."""
        self.failed = ''
        """How the latest question ended that got no answer; empty: it got one."""
        self.waited: CommandStamps | None = None
        """Of the question that just failed, for the fallback that follows at once."""
        self.episode = self.begun = 0
        """Number of the episode, and of the one that the model was reset for."""
        self.inferences = 0
        self.stamps = dict[int, CommandStamps]()
        """Number of a chunk to when it was inferred, of the latest ones."""
        self.played = -1
        """Number of the chunk of the latest command."""
        self.states: dict[str, Any] = {}
        self.pool: ThreadPoolExecutor | None = None
        self.stream: ObservationStream | None = None
        """In place of one question after the other."""

    def stamps_of(self, chunk: int) -> CommandStamps | None:
        """Return the stamps of a chunk; what was read for it and given is in them only once."""
        found = self.stamps.get(chunk)
        if found is not None and (found.read or found.gave):
            self.stamps[chunk] = found.model_copy(update={'read': {}, 'gave': ()})
        return found
