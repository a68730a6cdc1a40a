# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Samples for imitation: what a policy is shown, and what the reference does about it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.controllers.policies.contract import PolicyContract
from safety_scenarios.controllers.policies.inputs import PolicyInputs
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.scenario.message import Command, Observation
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.settings import ControllerContext

Floats = NDArray[numpy.float32]

_STANDS = 0.02
"""A joint slower than this (rad/s) does not show which way it was going."""
_AT_START = 0.02
"""A joint so near to where it began (rad) begins as the reference does."""
_EYES = ('scan', 'human_pose', 'wrench')
"""Without any of these a policy has seen nothing, and shall stand; the reference would go."""
_SIDEWAYS = ('position.y', 'angular.z')
"""Fields that change their sign where left becomes right."""


@dataclass(frozen=True)
class Samples:
    """Rows of inputs, and what is wanted of the network for each."""

    inputs: Mapping[str, Floats]
    steps: Floats
    """1 for each step up from standstill that the reference takes, else 0."""
    senses: Floats
    """1 or -1 for each joint; 0 where either will do. No columns for a base."""

    def __len__(self) -> int:
        return len(self.steps)

    @staticmethod
    def joined(parts: Iterable['Samples']) -> 'Samples':
        """Return all rows in order."""
        every = [part for part in parts if len(part)]
        return Samples({name: numpy.concatenate([part.inputs[name] for part in every])
                        for name in every[0].inputs},
                       numpy.concatenate([part.steps for part in every]),
                       numpy.concatenate([part.senses for part in every]))


def mirrored(samples: Samples, contract: PolicyContract) -> Samples:
    """Return what a base sees and does where left is right: the reference does not know sides."""
    found = {}
    for name, parts in contract.inputs.items():
        columns, signs = list[int](), list[float]()
        for part in parts:
            own = range(len(columns), len(columns) + part.values)
            columns += reversed(own) if part.rays else own
            signs += [-1.0 if path.endswith(_SIDEWAYS) else 1.0 for path in part.fields] \
                or [1.0] * part.values
        found[name] = samples.inputs[name][:, columns] * numpy.array(signs, numpy.float32)
    return Samples(found, samples.steps, samples.senses)


class Teacher:
    """The reference, which labels what a policy is shown."""

    def __init__(self, contract: PolicyContract, context: ControllerContext) -> None:
        self._reference = RuleBased()
        self._reference.begin(context)
        self._robot = context.robot
        self._inputs = PolicyInputs(contract, context.robot)
        self._start: dict[str, float] = {}
        self._rows: list[Mapping[str, Floats]] = []
        self._steps: list[Sequence[float]] = []
        self._senses: list[Sequence[float]] = []

    def label(self, observation: Observation, keep: bool = True) -> Command:
        """
        Return what the reference does.

        :param keep: as a sample, unless nothing has changed since the last one
        """
        command = self._reference.command(observation)
        if not any(role in observation.readings for role in _EYES):
            command = kind_of(self._robot).stop
        arrays = self._inputs.arrays(observation) if keep else None
        senses = self._wanted_senses(observation, command)
        if arrays is None:
            return command
        steps = self._wanted_steps(command)
        if self._rows and self._steps[-1] == steps and self._senses[-1] == senses and all(
                numpy.array_equal(arrays[name], self._rows[-1][name]) for name in arrays):
            return command
        self._rows.append(arrays)
        self._steps.append(steps)
        self._senses.append(senses)
        return command

    @property
    def samples(self) -> Samples:
        """Return everything that was kept."""
        names = self._rows[0] if self._rows else {}
        return Samples({name: numpy.array([row[name] for row in self._rows]) for name in names},
                       numpy.array(self._steps, dtype=numpy.float32),
                       numpy.array(self._senses, dtype=numpy.float32).reshape(len(self._rows), -1))

    def _wanted_steps(self, command: Command) -> Sequence[float]:
        share = max(map(abs, command.velocity)) / self._robot.max_speed / self._reference.cruise
        return float(share > 0.25), float(share > 0.75)

    def _wanted_senses(self, observation: Observation, command: Command) -> Sequence[float]:
        """Return which way joints shall go, as far as a policy without memory can see it."""
        if not self._robot.joints:
            return ()
        states = observation.readings.get('joint_states')
        if states is None:
            return (0.0,) * len(self._robot.joints)
        data = states.message.data
        places = dict(zip(data['name'], data['position'], strict=False))
        speeds = dict(zip(data['name'], data['velocity'], strict=False))
        found = []
        for name, speed in zip(self._robot.joints, command.velocity, strict=True):
            place = places.get(name, 0.0)
            off = abs(place - self._start.setdefault(name, place))
            is_clear = abs(speeds.get(name, 0.0)) > _STANDS or off < _AT_START
            found.append(math.copysign(1.0, speed) if speed and is_clear else 0.0)
        return tuple(found)
