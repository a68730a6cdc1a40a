# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From what a model gave to chunks of actions, and from one action to a command."""

from collections.abc import Mapping
import math
from typing import Any

import numpy
from numpy.typing import NDArray
from safety_scenarios.controllers.policies.contract import (
    numbers,
    PolicyContract,
    StateInput,
    wrong_lengths,
)
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

    def chunk(self, outputs: Mapping[str, Any], is_rehearsal: bool = False) -> Chunk:
        """
        Return the actions that a model gave.

        :param is_rehearsal: to zeros, of which a good model may make what is not finite
        :raises ControllerError: it gave none, or they are no numbers of the expected shape
        """
        name = self._contract.action_name
        if name not in outputs:
            raise ControllerError(f'the policy gave no output {name!r}, expected it beside '
                                  f'{", ".join(sorted(map(str, outputs))) or "none"}')
        given = _array_of_numbers(outputs[name], repr(name), ACTION_TYPES)
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
