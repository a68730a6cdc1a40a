# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A policy in a file of PyTorch, run on the processor."""

from collections.abc import Mapping
import inspect
from pathlib import Path
from typing import Any, ClassVar

import numpy
from safety_scenarios.controllers.policies.model import (
    Inference,
    ModelOptions,
    named_outputs,
    PolicyModel,
    Tensor,
)
from safety_scenarios.errors import MissingDependencyError, SettingsError

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

    def open(self) -> None:  # noqa: A003
        """
        Load the file.

        :raises SettingsError: there is none, or it cannot be loaded
        """
        if not Path(self.address).is_file():
            raise SettingsError(f'controller: got {self.kind}:{self.address}, expected a file of '
                                f'PyTorch: there is none in {Path.cwd()}')
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

    def load(self) -> Any:
        """Return the module in the file."""
        if not self.options.allow_pickle:
            raise SettingsError(f'controller: got torch:{self.address}, which is a pickle that '
                                f'can run any code, expected --set controller.allow_pickle=true '
                                f'for a file that you trust. Or save it by torch.jit.save')
        return self._torch.load(self.address, map_location='cpu', weights_only=False)

    def arguments(self) -> Mapping[str, Any]:
        """Return the names of what the module is called with, and their types."""
        return {name: one.annotation
                for name, one in inspect.signature(self._module.forward).parameters.items()}


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError('a policy in a file of PyTorch', 'torch',
                                     "pip install 'safety_scenarios[torch]'") from error
    return torch
