# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A policy in code of the user's own: an object with infer(inputs), or a function of them."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from safety_scenarios.controllers.own_code import imported_object
from safety_scenarios.controllers.policies.model import (
    Inference,
    ModelOptions,
    named_outputs,
    PolicyModel,
)
from safety_scenarios.errors import ControllerError, SettingsError


class PythonModel(PolicyModel):
    """
    Imports ``MODULE:NAME``, and makes an object of a class without arguments.

    It is asked with one map of arrays and texts, under the contract's names, and answers with a
    map of arrays or with one array. ``reset()`` and ``close()`` are called where it has them.
    """

    is_code: ClassVar[bool] = True

    def __init__(self, address: str, options: ModelOptions) -> None:
        super().__init__(address, options)
        self._policy: Any = None
        self._infer: Callable[[dict[str, Any]], Any] | None = None

    def open(self) -> None:  # noqa: A003
        """
        Import the code.

        :raises SettingsError: there is none, or it can be no policy
        """
        found = imported_object(self.address)
        self._policy = found() if isinstance(found, type) else found
        infer = getattr(self._policy, 'infer', self._policy)
        if not callable(infer):
            raise SettingsError(f'controller: got python:{self.address}, expected a class or an '
                                f'object with infer(inputs), or a function of them')
        self._infer = infer

    def infer(self, inputs: Mapping[str, Any]) -> Inference:
        """
        Ask the object.

        :raises ControllerError: it returns nothing
        """
        assert self._infer is not None
        found = self._infer(dict(inputs))
        if found is None:
            raise ControllerError(f'python:{self.address}: infer returned None, expected a map of '
                                  f'arrays, or one array')
        return Inference(named_outputs(found))

    def reset(self) -> None:
        """Let it begin anew, if it can."""
        getattr(self._policy, 'reset', _nothing)()

    def close(self) -> None:
        """Let it hang up, if it can."""
        getattr(self._policy, 'close', _nothing)()


def _nothing() -> None:
    """Do nothing."""
