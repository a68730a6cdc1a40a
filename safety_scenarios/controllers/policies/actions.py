# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Actions of a model: chunks of them, which one is due, and the command that it means.

Steps are counted, one for each action that could be commanded; there is no clock here. In the
words of the field: action horizon, replan interval, queue threshold, temporal ensembling (Zhao et
al. 2023), asynchronous inference (Shukor et al. 2025), real-time chunking (Black et al. 2025).
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray
from safety_scenarios.controllers.policies.contract import (
    Ensembling,
    Execution,
    numbers,
    PolicyContract,
    StateInput,
    wrong_lengths,
)
from safety_scenarios.controllers.policies.model import UNNAMED
from safety_scenarios.controllers.server_replies import without_keys
from safety_scenarios.errors import ControllerError, counted
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.interfaces import positions_of
from safety_scenarios.scenario.message import Command, CommandStamps, Observation

Chunk = NDArray[numpy.float64]
"""Actions, one behind the other: horizon x values, in SI."""
_BASE = 2
_ROUNDED = 1e-6
"""A speed that is greater by this share is that of rounding."""
ACTION_TYPES = 'iuf'
"""Kinds of types of numpy that an action can be of: true is no speed."""
_STATE_TYPES = f'b{ACTION_TYPES}'


class PolicyActions:
    """
    Reads a model's output for one robot.

    :param least: so many actions each chunk must have
    """

    def __init__(self, contract: PolicyContract, robot: RobotModel, least: int = 0) -> None:
        self._contract, self._robot, self._least = contract, robot, least
        output = contract.action
        self._output = output
        self._axes = len(robot.joints) if output.kind == 'arm' else _BASE
        self._mean, self._std = (numpy.array(numbers(one)) for one in (output.mean, output.std))
        self._target: NDArray[numpy.float64] | None = None
        self.first: tuple[float, ...] = ()
        """The first action of the latest chunk, as the model gave it."""

    def chunk(self, outputs: Mapping[str, Any], is_rehearsal: bool = False) -> Chunk:
        """
        Return the actions that a model gave.

        :param is_rehearsal: to zeros, of which a good model may make what is not finite
        :raises ControllerError: it gave none, or they are no numbers of the expected shape
        """
        name = self._contract.action_name
        if name not in outputs and UNNAMED not in outputs:
            raise ControllerError(f'the policy gave no output {name!r}, but '
                                  f'{", ".join(sorted(map(str, outputs))) or "none"}. Correct '
                                  f'outputs of the contract, or the model')
        given = _array_of_numbers(outputs.get(name, outputs.get(UNNAMED)), repr(name),
                                  ACTION_TYPES)
        actions = self._two_dimensional(given.astype(float))
        if not len(actions):
            raise ControllerError(f'the policy gave no action in {name!r}: shape '
                                  f'{list(given.shape)}')
        if len(actions) < self._least:
            raise ControllerError(
                f'action_horizon or replan_interval is {self._least}, and the policy gave a chunk '
                f'of {counted(len(actions), "action")}: shape {list(given.shape)}. Set at most '
                f'{len(actions)}')
        if not is_rehearsal:
            _refuse_infinite(actions, repr(name))
        for field, count in wrong_lengths(self._output, {actions.shape[1]}):
            raise ControllerError(
                f'the policy gave {counted(actions.shape[1], "value")} an action in {name!r}, and '
                f'{field} of the contract has {count}. Correct the contract')
        self.first = tuple(actions[0].tolist())
        return self._in_si(actions)

    def states(self, outputs: Mapping[str, Any],
               is_rehearsal: bool = False) -> dict[str, NDArray[Any]]:
        """
        Return the recurrent states that a model gave, by the names of their inputs.

        :param is_rehearsal: as of ``chunk``
        :raises ControllerError: one is missing, has another size, or is not of finite numbers
        """
        return {name: next_state(outputs, state, is_rehearsal)
                for name, state in self._contract.states.items()}

    def _two_dimensional(self, given: NDArray[Any]) -> NDArray[Any]:
        """Return horizon x values, without a dimension for a batch of one."""
        columns = self._output.columns
        needed = len(columns) or self._axes
        while given.ndim > 2 and given.shape[0] == 1:
            given = given[0]
        if given.ndim == 1:
            given = given[None, :]
        wide = max(columns, default=-1) + 1 if columns else needed
        fits = given.ndim == 2 and (given.shape[1] >= wide if columns else given.shape[1] == wide)
        if not fits and not columns and given.ndim == 2 and self._axes == _BASE \
                and given.shape[1] == 1:
            if len(given) == _BASE:
                raise ControllerError(
                    f'the policy gave {self._contract.action_name!r} of shape '
                    f'{list(given.shape)}, which is two actions of one value or one action of '
                    f'two. Set columns: [0] if it is two, else let the model give [1, 2]')
            fits = True  # a base that does not turn
        if not fits:
            raise ControllerError(
                f'the policy gave {self._contract.action_name!r} of shape {list(given.shape)}, '
                f'expected horizon x {wide}: {self._output.quantity} of '
                f'{"each joint" if self._output.kind == "arm" else "a base"}. Correct the '
                f'contract (columns), or the model')
        return given[:, list(columns)] if columns else given

    def _in_si(self, actions: NDArray[Any]) -> Chunk:
        output, robot = self._output, self._robot
        actions = actions * self._std + self._mean
        if output.clip is not None:
            actions = numpy.clip(actions, *output.clip)
        scale = robot.max_speed if output.of_top_speed else output.factor
        if output.kind == 'arm':
            return actions * scale
        whole = numpy.zeros((len(actions), _BASE))
        whole[:, :actions.shape[1]] = actions
        whole[:, 0] *= scale
        return whole

    def command(self, action: NDArray[numpy.float64], observation: Observation) -> Command | None:
        """
        Return what lets the robot do one action; None: it is not known where its joints are.

        A position is reached within one period of the policy, at no more than the top speed. The
        stamps say how many joints do not reach it.
        """
        quantity = self._output.quantity
        if quantity.endswith('velocity'):
            return Command(velocity=tuple(action.tolist()))
        period_s = 1.0 / self._contract.rate_hz
        most = self._robot.max_speed
        begin = self._target
        if begin is None:
            states = observation.readings.get('joint_states')
            known = None if states is None else positions_of(states.message, self._robot.joints)
            if known is None:
                return None
            begin = numpy.array(known)
        target = action if quantity == 'joint_position' else begin + action
        needed = (target - begin) / period_s
        speeds = numpy.clip(needed, -most, most)
        self._target = begin + speeds * period_s
        clipped = int((numpy.abs(needed) > most * (1 + _ROUNDED)).sum())
        return Command(velocity=tuple(speeds.tolist()), stamps=CommandStamps(clipped=clipped))

    def forget(self) -> None:
        """Take the next position from where the joints are, not from what was commanded."""
        self._target = None


def next_state(outputs: Mapping[str, Any], state: StateInput,
               is_rehearsal: bool = False) -> NDArray[Any]:
    """
    Return the recurrent state that a model gave.

    :param is_rehearsal: it may be not finite
    :raises ControllerError: it gave none, one of another size, or no finite numbers
    """
    name = f'the state {state.output!r}'
    if state.output not in outputs:
        raise ControllerError(f'the policy did not give {name}, expected it beside '
                              f'{", ".join(sorted(map(str, outputs))) or "none"}')
    given = _array_of_numbers(outputs[state.output], name, _STATE_TYPES)
    if given.size != math.prod(state.shape):
        raise ControllerError(f'the policy gave {name} of shape {list(given.shape)}, expected '
                              f'{list(state.shape)}')
    if not is_rehearsal:
        _refuse_infinite(given, name)
    return given.reshape(state.shape)


def _refuse_infinite(given: NDArray[Any], name: str) -> None:
    if not numpy.isfinite(given).all():
        raise ControllerError(f'the policy gave a number that is not finite in {name}')


def _array_of_numbers(given: Any, name: str, kinds: str) -> NDArray[Any]:
    """
    Return what a model gave as an array.

    :param kinds: of types of numpy that it may be of
    """
    try:
        found = numpy.asarray(given)
    except (TypeError, ValueError):  # lists of several lengths
        found = numpy.array(None)
    if found.dtype.kind not in kinds or 'b' not in kinds and _has_truths(given):
        raise ControllerError(f'the policy gave {without_keys(repr(given)):.100} as {name}, '
                              f'expected an array of numbers')
    return found


def _has_truths(given: Any) -> bool:
    """Return whether there is a true or false in lists, where numpy would make numbers of them."""
    if isinstance(given, (list, tuple)):
        return any(_has_truths(one) for one in given)
    return isinstance(given, bool) or (
        isinstance(given, (numpy.ndarray, numpy.generic)) and given.dtype.kind == 'b')


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
        each = inference + interval if interval > 1 else max(1, inference)
        return inference + steps // interval * each + steps % interval


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
        self._is_first = False

    @property
    def is_pending(self) -> bool:
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

    @property
    def is_begun(self) -> bool:
        """Return whether the latest action was the first of a chunk, and more of it follow."""
        return self._is_first and not self.is_pending and not self.wants_chunk()

    @property
    def is_single(self) -> bool:
        """Return whether the latest action did, and none follows."""
        return self._is_first and self.wants_chunk()

    def wants_chunk(self) -> bool:
        """Return whether the policy is to be asked now."""
        if self.is_pending:
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

    def add(self, actions: Array, observed: int | None = None) -> int:
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
        self._is_first = False
        if self.is_pending and self._rules.execution == 'synchronous':
            return None
        values = self._planned(self._step)
        if values is None:
            return None
        newest = next(one for one in reversed(self._chunks) if one.begin <= self._step < one.end)
        self._is_first = newest.begin == self._step and self._rules.execution == 'synchronous'
        self._step += 1
        self._forget()
        return Action(values, newest.number, self._step - 1 - newest.begin, newest.asked)

    def clear(self) -> None:
        """Forget every chunk, and what was asked for."""
        self._chunks.clear()
        self._frozen.clear()
        self._asked, self._is_first = None, False

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
