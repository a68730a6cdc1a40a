# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Chunks of actions: when a policy is asked again, and which action is due.

Steps are counted, one for each action that could be commanded; there is no clock here. In the
words of the field: action horizon, replan interval, queue threshold, temporal ensembling (Zhao et
al. 2023), asynchronous inference (Shukor et al. 2025), real-time chunking (Black et al. 2025).
"""

from collections import deque
from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from safety_scenarios.controllers.policies.contract import Ensembling, Execution

Array = NDArray[numpy.float64]
_NEW_SHARE = {'latest_only': 1.0, 'average': 0.5, 'weighted_average': 0.7, 'conservative': 0.3}
"""Share of a new chunk where it overlaps with what was planned before."""
_DECAY = 0.01
"""By which the weight of a chunk falls with each newer one, as ACT has it."""


@dataclass(frozen=True, slots=True)
class ChunkRules:
    """When a policy is asked, and how its chunks are put together; words of the contract."""

    horizon: int = 0
    """Actions of each chunk that are used; 0: all."""
    replan_interval: int = 0
    """0: when the horizon is used up."""
    execution: Execution = 'synchronous'
    queue_threshold: float = 0.5
    ensembling: Ensembling = 'latest_only'
    execution_horizon: int = 10

    def longest_wait(self, length: int, inference: int) -> int:
        """
        Return the longest time from an event to an action for which no older chunk counts.

        The event comes right after the policy was asked (doc/reference/policies.md).

        :param length: of each chunk that the policy gives, in actions
        :param inference: how long one takes, in whole periods
        :return: in periods
        """
        horizon = min(self.horizon or length, length)
        blended = {'latest_only': 0, 'real_time_chunking': self.execution_horizon}.get(
            self.ensembling, horizon)
        if self.execution == 'asynchronous':
            played = max(1, horizon - math.floor(self.queue_threshold * horizon))
            wait = 2 * inference + max(0, played - min(inference, horizon - played))
            return max(wait, min(horizon, wait + blended))
        interval = min(self.replan_interval or horizon, horizon)
        steps = min(horizon, interval + blended)
        return inference + steps + steps // interval * inference


class Action(NamedTuple):
    """One action that is due."""

    values: Array
    chunk: int
    """Number of the newest chunk that it comes from."""
    place: int
    """Its place in that chunk."""
    observed: int
    """Step at which that chunk was asked for."""


class _Chunk(NamedTuple):
    number: int
    begin: int
    """Step for which its first action is meant."""
    asked: int
    actions: Array

    @property
    def end(self) -> int:
        return self.begin + len(self.actions)


class ActionChunks:
    """
    Holds the chunks of one policy, and gives the action of each step.

    With synchronous execution no step passes while the model is asked: a chunk begins where it
    comes. With asynchronous execution it begins at the step at which it was asked for, and what is
    over by the time it comes is never executed.
    """

    def __init__(self, rules: ChunkRules) -> None:
        self._rules = rules
        self._chunks: deque[_Chunk] = deque(maxlen=512)
        self._step = self._number = 0
        self._asked: int | None = None
        self._frozen: dict[int, Array] = {}
        """Actions as they were planned when the newest chunk came, by their steps."""
        self._came = 0
        """Step at which that was."""

    @property
    def is_asked(self) -> bool:
        """Return whether a chunk was asked for and has not come."""
        return self._asked is not None

    @property
    def step(self) -> int:
        """Return the number of the action that is due next."""
        return self._step

    @property
    def is_empty(self) -> bool:
        """Return whether no action is due next."""
        return self._planned(self._step) is None

    def wants_chunk(self) -> bool:
        """Return whether the policy is to be asked now."""
        if self.is_asked:
            return False
        newest = self._chunks[-1] if self._chunks else None
        if newest is None or self._step >= newest.end:
            return True
        rules = self._rules
        if rules.execution == 'asynchronous':  # not while it would be asked for the same actions
            return self._step > newest.begin and \
                newest.end - self._step <= rules.queue_threshold * len(newest.actions)
        return bool(rules.replan_interval) and \
            self._step - newest.begin >= rules.replan_interval

    def ask(self) -> None:
        """Note that the policy is asked now."""
        self._asked = self._step

    def cancel(self) -> None:
        """Note that what was asked for will not come."""
        self._asked = None

    def put(self, actions: Array, observed: int | None = None) -> int:
        """
        Take the chunk that was asked for, and return its number.

        :param observed: step of the observation that it was computed from; None: that of ``ask``
        """
        asked = observed if observed is not None else \
            self._step if self._asked is None else self._asked
        begin = asked if self._rules.execution == 'asynchronous' else self._step
        chunk = _Chunk(self._number, begin, asked, actions[:self._rules.horizon or None])
        self._frozen = {step: value for step in range(self._step, max(
            (one.end for one in self._chunks), default=self._step))
            if (value := self._planned(step)) is not None}
        self._came = self._step
        self._number += 1
        self._chunks.append(chunk)
        self._asked = None
        return chunk.number

    def action(self) -> Action | None:
        """Return the action of this step and go on to the next; None: there is none."""
        if self.is_asked and self._rules.execution == 'synchronous':
            return None
        values = self._planned(self._step)
        if values is None:
            return None
        newest = next(one for one in reversed(self._chunks) if one.begin <= self._step < one.end)
        self._step += 1
        self._forget()
        return Action(values, newest.number, self._step - 1 - newest.begin, newest.asked)

    def clear(self) -> None:
        """Forget every chunk, and what was asked for."""
        self._chunks.clear()
        self._frozen.clear()
        self._asked = None

    def _planned(self, step: int) -> Array | None:
        """Return what is to be done at a step, of all chunks that reach there."""
        over = [one for one in self._chunks if one.begin <= step < one.end]
        if not over:
            return None
        newest = over[-1]
        new: Array = newest.actions[step - newest.begin]
        if self._rules.ensembling == 'temporal':
            weights = [math.exp(-_DECAY * age) for age in range(len(over))]
            found: Array = numpy.average(
                [one.actions[step - one.begin] for one in over], axis=0, weights=weights)
            return found
        old = self._frozen.get(step)
        if old is None:
            return new
        share = self._share(step)
        blended: Array = share * new + (1.0 - share) * old
        return blended

    def _share(self, step: int) -> float:
        """Return the share of the newest chunk in what is done at a step."""
        if self._rules.ensembling != 'real_time_chunking':
            return _NEW_SHARE[self._rules.ensembling]
        return min(1.0, (step - self._came + 1) / (self._rules.execution_horizon + 1))

    def _forget(self) -> None:
        while len(self._chunks) > 1 and self._chunks[0].end <= self._step:
            self._chunks.popleft()
        self._frozen = {step: value for step, value in self._frozen.items() if step >= self._step}
