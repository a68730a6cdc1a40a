# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What every kind of model is to its controller, whether a file, an object or a server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy
from numpy.typing import NDArray
from safety_scenarios.controllers.policies.contract import PolicyContract
from safety_scenarios.errors import did_you_mean, SafetyScenariosError, SettingsError

Array = NDArray[Any]


class InferenceError(SafetyScenariosError):
    """
    A model gave no answer that can be used; the controller goes on without.

    :param name: of what went wrong, in the findings: timeout, dropped, http_500, malformed
    :param detail: in words
    """

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(f'{name}: {detail}')
        self.name, self.detail = name, detail


class Inference(NamedTuple):
    """What a model gave for one observation."""

    outputs: Mapping[str, Any]
    """Name of an output to its array."""
    server_ns: int | None = None
    """How long the inference took, as the model's server reports it."""


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

    def __init__(self, address: str, options: ModelOptions) -> None:
        self.address, self.options = address, options

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


def refuse_mismatch(model: PolicyModel, name: str, contract: PolicyContract,
                    shapes: Mapping[str, tuple[int, ...]]) -> None:
    """
    Compare a model's own inputs and outputs with its contract.

    :param name: of the controller, for messages
    :param shapes: that the contract's inputs have for this robot
    :raises SettingsError: with both sides
    """
    problems = [*_wrong_inputs(model.inputs(), contract, shapes),
                *_wrong_outputs(model.outputs(), contract)]
    if problems:
        raise SettingsError('\n'.join(f'controller: {name} and its contract: {problem}'
                                      for problem in problems))


def _wrong_inputs(declared: Mapping[str, Tensor] | None, contract: PolicyContract,
                  shapes: Mapping[str, tuple[int, ...]]) -> Sequence[str]:
    if declared is None:
        return ()
    found = []
    given: dict[str, tuple[tuple[int, ...], str]] = {
        **{name: (shape, contract.inputs[name][0].dtype) for name, shape in shapes.items()},
        **dict.fromkeys(contract.prompts, ((), 'str')),
        **{name: (state.shape, '') for name, state in contract.states.items()}}
    for name in sorted(declared.keys() - given.keys()):
        found.append(f'the model has the input {name!r}, expected it under inputs, prompts or '
                     f'states of the contract.{did_you_mean(name, given)}')
    for name in sorted(given.keys() - declared.keys()):
        found.append(f'the contract has the input {name!r}, expected one of the model: '
                     f'{", ".join(declared)}.{did_you_mean(name, declared)}')
    for name in sorted(given.keys() & declared.keys()):
        (shape, dtype), tensor = given[name], declared[name]
        if dtype and tensor.dtype and dtype != tensor.dtype:
            found.append(f'inputs.{name}: the contract gives {dtype}, the model expects '
                         f'{tensor.dtype}. Set dtype')
        elif dtype != 'str' and batched(shape, tensor) is None:
            found.append(f'inputs.{name}: the contract gives shape {list(shape)}, the model '
                         f'expects {_shown(tensor.shape)}')
    return found


def _wrong_outputs(declared: Mapping[str, Tensor] | None,
                   contract: PolicyContract) -> Sequence[str]:
    if declared is None:
        return ()
    wanted = [contract.action_name, *(state.output for state in contract.states.values())]
    return [f'the contract has the output {name!r}, expected one of the model: '
            f'{", ".join(declared)}.{did_you_mean(name, declared)}'
            for name in wanted if name not in declared]


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


def _shown(shape: tuple[int | None, ...] | None) -> str:
    return 'any' if shape is None else \
        '[' + ', '.join('any' if size is None else str(size) for size in shape) + ']'


def with_batch(values: Array, count: int) -> Array:
    """Return an array with so many dimensions of size 1 in front."""
    return values if not count else values.reshape((1,) * count + values.shape)


def named_outputs(found: Any) -> dict[str, Any]:
    """Return what a model gave by name; one array without a name is called actions."""
    return {str(name): value for name, value in found.items()} if isinstance(found, Mapping) \
        else {'actions': found}


def zeros(shape: tuple[int, ...], dtype: str = 'float32') -> Array:
    """Return the recurrent state at the beginning."""
    return numpy.zeros(shape, dtype or 'float32')
