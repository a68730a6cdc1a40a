# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A model that is sent newer observations while it computes, and chooses which it looks at."""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
import time
from typing import Any, NamedTuple, Protocol

from safety_scenarios.controllers.policies.model import Inference, InferenceError
from safety_scenarios.scenario.message import Observation

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
        self._collecting: Future[tuple[Inference | None, int]] | None = None
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
              is_needed: bool) -> bool:
        """
        Send an observation, unless an earlier one is still being sent; return whether it is sent.

        :param step: of the action that is due next
        :param is_needed: there is none
        """
        if self._sending is not None:
            return False
        now_ns = time.monotonic_ns()
        sent = Sent(observation, now_ns, step)
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
        found = None
        if self._collecting is not None and self._collecting.done():
            inference, ended_ns = self._collecting.result()
            self._collect()
            found = self._taken(inference, ended_ns)
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
        self._collecting = self._threads.submit(
            lambda: (self._model.collect(), time.monotonic_ns()))

    def _taken(self, inference: Inference | None, ended_ns: int) -> Answer | None:
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
