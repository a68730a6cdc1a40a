# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A policy in an ONNX file, run by onnxruntime on the processor."""

from collections.abc import Mapping
import os
from pathlib import Path
import re
from typing import Any

import numpy
from safety_scenarios.controllers.policies.external_data import external_locations
from safety_scenarios.controllers.policies.model import (
    batched,
    Inference,
    ModelOptions,
    PolicyModel,
    Tensor,
    with_batch,
)
from safety_scenarios.errors import MissingDependencyError, SettingsError

try:
    import onnxruntime
except ImportError as error:
    raise MissingDependencyError('a policy in an ONNX file', 'onnxruntime',
                                 "pip install 'onnxruntime>=1.18'") from error

_DTYPES = {'tensor(float)': 'float32', 'tensor(double)': 'float64', 'tensor(string)': 'str'}
"""Types that numpy calls otherwise."""
_TENSOR = re.compile(r'^tensor\((\w+)\)$')
_QUIET = 3
"""Severity from which onnxruntime writes to standard error."""


class OnnxModel(PolicyModel):
    """Reads the file when it is opened; nothing in it can run code of its author."""

    is_file = True

    def __init__(self, address: str, options: ModelOptions) -> None:
        super().__init__(address, options)
        self._session: Any = None
        self._batch: dict[str, int] = {}
        self._names: list[str] = []

    @classmethod
    def files(cls, address: str) -> tuple[Path, ...]:
        """Return the file, and those beside it that hold its weights."""
        found = super().files(address)
        if not found:
            return ()
        own = found[0]
        names = {os.fsdecode(name.partition(b'\0')[0])  # onnxruntime opens what is before a zero
                 for name in external_locations(own.read_bytes())}
        return (own, *sorted(path for name in names
                             if os.path.isfile(path := own.parent / name) and path != own))

    def open(self) -> None:  # noqa: A003
        """
        Load the file.

        :raises SettingsError: there is none, or onnxruntime cannot run it
        """
        path = Path(self.address)
        if not path.is_file():
            raise SettingsError(f'controller: got onnx:{self.address}, expected an ONNX file: '
                                f'there is none in {Path.cwd()}')
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.options.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = _QUIET
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=['CPUExecutionProvider'])
        except Exception as error:  # onnxruntime has a class of its own for each of its errors
            raise SettingsError(f'controller: {path}: got {_first_line(error)}, expected an ONNX '
                                f'file that onnxruntime {onnxruntime.__version__} can run'
                                ) from error
        self._names = [one.name for one in self._session.get_outputs()]

    def inputs(self) -> Mapping[str, Tensor]:
        """Return what the file declares as inputs."""
        return {one.name: _tensor(one) for one in self._session.get_inputs()}

    def outputs(self) -> Mapping[str, Tensor]:
        """Return what the file declares as outputs."""
        return {one.name: _tensor(one) for one in self._session.get_outputs()}

    def infer(self, inputs: Mapping[str, Any]) -> Inference:
        """Run the model."""
        if not self._batch:
            declared = self.inputs()
            self._batch = {name: batched(numpy.shape(value), declared[name]) or 0
                           for name, value in inputs.items()}
        given = {name: with_batch(numpy.asarray(value), self._batch[name])
                 for name, value in inputs.items()}
        found = self._session.run(self._names, given)
        return Inference(dict(zip(self._names, found, strict=True)))

    def close(self) -> None:
        """Give the memory of the model back."""
        self._session = None


def _tensor(declared: Any) -> Tensor:
    return Tensor(tuple(size if isinstance(size, int) else None for size in declared.shape),
                  _DTYPES.get(declared.type) or _TENSOR.sub(r'\1', declared.type))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition('\n')[0][:300] or type(error).__name__
