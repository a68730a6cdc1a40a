# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What every kind of model is to its controller, whether a file, an object or a server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
import math
from numbers import Real
import os
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy
from numpy.typing import NDArray
from safety_scenarios import registry
from safety_scenarios.errors import SafetyScenariosError

Array = NDArray[Any]


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

    def __init__(self, address: str, options: ModelOptions) -> None:
        self.address, self.options = address, options

    @classmethod
    def files(cls, address: str) -> tuple[Path, ...]:
        """Return the files that it is made of; their hashes stand in the results."""
        path = Path(address)
        return (path,) if os.path.isfile(path) else ()

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


def named_outputs(found: Any) -> dict[str, Any]:
    """Return what a model gave by name; one array without a name is called actions."""
    return {str(name): value for name, value in found.items()} if isinstance(found, Mapping) \
        else {'actions': found}


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
