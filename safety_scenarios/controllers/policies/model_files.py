# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Policies in files: ONNX by onnxruntime, and PyTorch, both on the processor.

A tensor of ONNX names its file in an entry ``location`` of ``external_data``, wherever in the
model the tensor is; the fields are those of ``onnx.proto``.
"""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
import inspect
import os
from pathlib import Path
import re
import sys
from typing import Any, ClassVar

import numpy
from safety_scenarios.controllers.policies.model import (
    batched,
    Inference,
    ModelOptions,
    named_outputs,
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
_QUIET = 4
"""Severity from which onnxruntime writes to standard error."""
_LONGEST = 300
_POINTER = b'version https://git-lfs'
"""What a file begins with that Git LFS has not fetched."""


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
            got = 'a pointer of Git LFS, without the file (run git lfs pull)' \
                if path.read_bytes().startswith(_POINTER) else _reason(error)
            raise SettingsError(f'controller: {path}: got {got}, expected an ONNX file that '
                                f'onnxruntime {onnxruntime.__version__} can run') from error
        self._names = [one.name for one in self._session.get_outputs()]

    def inputs(self) -> Mapping[str, Tensor]:
        """Return what the file declares as inputs."""
        return {one.name: _tensor(one) for one in self._session.get_inputs()}

    def outputs(self) -> Mapping[str, Tensor]:
        """Return what the file declares as outputs; without a dimension a shape is unknown."""
        found = {one.name: _tensor(one) for one in self._session.get_outputs()}
        return {name: one._replace(shape=one.shape or None) for name, one in found.items()}

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


def _reason(error: Exception) -> str:
    """Return the first line, the end of it where it is long: there onnxruntime says why."""
    text = str(error).strip().partition('\n')[0] or type(error).__name__
    return text if len(text) <= _LONGEST else f'...{text[-_LONGEST:]}'


_PARTS: Mapping[str, Mapping[int, str]] = {
    'model': {7: 'graph', 20: 'training', 25: 'function'},
    'training': {1: 'graph', 2: 'graph'},
    'graph': {1: 'node', 5: 'tensor', 15: 'sparse'},
    'function': {7: 'node', 11: 'attribute'},
    'node': {5: 'attribute'},
    'attribute': {5: 'tensor', 6: 'graph', 10: 'tensor', 11: 'graph', 22: 'sparse', 23: 'sparse'},
    'sparse': {1: 'tensor', 2: 'tensor'},
    'tensor': {13: 'entry'},
    'entry': {1: 'key', 2: 'value'}}
"""Message of ``onnx.proto`` to its fields that lead to tensors, by their numbers."""
_LOCATION = b'location'
_SIZES = {1: 8, 5: 4}
"""Wire type of protobuf to the size of such a field (bytes)."""
_VARINT, _TEXT, _GROUPS = 0, 2, (3, 4)
_MOST_BITS = 70
"""A varint has at most ten bytes."""


def external_locations(data: bytes) -> set[bytes]:
    """Return the names of the files with weights of an ONNX file; none of what is not ONNX."""
    found: set[bytes] = set()
    left = [('model', memoryview(data))]
    while left:
        message, view = left.pop()
        parts = [(_PARTS[message][number], part) for number, part in _fields(view)
                 if number in _PARTS[message]]
        if message == 'entry':
            if any(name == 'key' and part == _LOCATION for name, part in parts):
                found |= {bytes(part) for name, part in parts if name == 'value'}
        else:
            left.extend(parts)
    return found


def _fields(view: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield number and content of each field with a length, as far as this is protobuf."""
    place = 0
    try:
        while place < len(view):
            tag, place = _varint(view, place)
            kind = tag & 7
            if kind == _TEXT:
                size, place = _varint(view, place)
                if size > len(view) - place:
                    return
                yield (tag & 0xffff_ffff) >> 3, view[place:place + size]
                place += size
            elif kind == _VARINT:
                _, place = _varint(view, place)
            elif kind in _SIZES:
                place += _SIZES[kind]
            elif kind not in _GROUPS:  # what is in a group is read as if it were beside it
                return
    except IndexError:
        return


def _varint(view: memoryview, place: int) -> tuple[int, int]:
    """Return a number of protobuf, and where it ends."""
    number = 0
    for shift in range(0, _MOST_BITS, 7):
        byte = view[place]
        place += 1
        number |= (byte & 0x7f) << shift
        if byte < 0x80:
            return number, place
    raise IndexError


_TEXTS = ('str', "<class 'str'>")
"""Types of an argument that is a text, as TorchScript and Python write them."""


class TorchScriptModel(PolicyModel):
    """
    Loads a module that ``torch.jit.save`` has written.

    Arrays and texts of the contract are the arguments of ``forward`` that have their names, each
    array with one dimension for a batch in front. What it returns is one tensor, a map of them, or
    a tuple, whose tensors are called 0, 1 and so on. Such a file is code: it runs in a process of
    its own.
    """

    kind: ClassVar[str] = 'torchscript'
    is_code: ClassVar[bool] = True

    def __init__(self, address: str, options: ModelOptions) -> None:
        super().__init__(address, options)
        self._module: Any = None
        self._torch: Any = None

    def check(self) -> None:
        """
        Look for the file, and for PyTorch.

        :raises SettingsError: there is none, or it is not to be loaded
        """
        if not Path(self.address).is_file():
            raise SettingsError(f'controller: got {self.kind}:{self.address}, expected a file of '
                                f'PyTorch: there is none in {Path.cwd()}')
        if 'torch' not in sys.modules and find_spec('torch') is None:
            raise _without_torch()

    def open(self) -> None:  # noqa: A003
        """
        Load the file.

        :raises SettingsError: there is none, or it cannot be loaded
        """
        self.check()
        torch = self._torch = _torch()
        torch.set_num_threads(self.options.threads)
        try:
            self._module = self.load()
        except SettingsError:
            raise
        except Exception as error:  # torch has no class of its own for what a file can lack
            reason = str(error).strip().partition('\n')[0][:300] or type(error).__name__
            raise SettingsError(f'controller: {self.address}: got {reason}, expected a file that '
                                f'torch {torch.__version__} can load as {self.kind}') from error
        if not callable(getattr(self._module, 'eval', None)) or not callable(self._module):
            raise SettingsError(f'controller: {self.address}: got '
                                f'{type(self._module).__name__}, expected a torch.nn.Module')
        self._module.eval()

    def load(self) -> Any:
        """Return the module in the file."""
        return self._torch.jit.load(self.address, map_location='cpu')

    def arguments(self) -> Mapping[str, Any]:
        """Return the names of what the module is called with, and their types."""
        return {one.name: one.type for one in self._module.forward.schema.arguments[1:]}

    def inputs(self) -> Mapping[str, Tensor]:
        """Return the arguments of ``forward``, and which are texts; shapes are not declared."""
        return {name: Tensor(None, 'str' if str(kind) in _TEXTS else '')
                for name, kind in self.arguments().items()}

    def infer(self, inputs: Mapping[str, Any]) -> Inference:
        """Run the module."""
        torch = self._torch
        given = {name: value if isinstance(value, str) else
                 torch.from_numpy(numpy.ascontiguousarray(value)[None])
                 for name, value in inputs.items()}
        with torch.inference_mode():
            found = self._module(**given)
        if isinstance(found, (tuple, list)):
            found = {str(place): one for place, one in enumerate(found)}
        return Inference({name: value.cpu().numpy() if isinstance(value, torch.Tensor) else value
                          for name, value in named_outputs(found).items()})

    def close(self) -> None:
        """Give the memory of the module back."""
        self._module = None


class TorchModel(TorchScriptModel):
    """Loads a module that ``torch.save`` has written: a pickle, which can run any code."""

    kind: ClassVar[str] = 'torch'
    is_pickled: ClassVar[bool] = True

    def check(self) -> None:
        """
        Look for the file, and whether a pickle may be read.

        :raises SettingsError: there is none, or it is not to be loaded
        """
        if not self.options.allow_pickle:
            raise SettingsError(f'controller: got torch:{self.address}, which is a pickle that '
                                f'can run any code, expected --set controller.allow_pickle=true '
                                f'for a file that you trust. Or save it by torch.jit.save')
        super().check()

    def load(self) -> Any:
        """Return the module in the file."""
        return self._torch.load(self.address, map_location='cpu', weights_only=False)

    def arguments(self) -> Mapping[str, Any]:
        """Return the names of what the module is called with, and their types."""
        return {name: one.annotation
                for name, one in inspect.signature(self._module.forward).parameters.items()}


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise _without_torch() from error
    return torch


def _without_torch() -> MissingDependencyError:
    return MissingDependencyError('a policy in a file of PyTorch', 'torch',
                                  "pip install 'safety_scenarios[torch]'")
