# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Policies in Python: code of the user's own, and policies of Inspect Robots."""

from collections.abc import Callable, Mapping
import re
from typing import Any, ClassVar
from urllib.parse import parse_qsl

import numpy
from safety_scenarios.controllers.adapters import imported_object
from safety_scenarios.controllers.policies.model import (
    duration_ns,
    Inference,
    ModelOptions,
    named_outputs,
    PolicyModel,
    Tensor,
)
from safety_scenarios.errors import (
    ControllerError,
    did_you_mean,
    MissingDependencyError,
    SettingsError,
    USER_INFO,
)
from safety_scenarios.scenario.fields import guessed


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


_IMAGE_DIMENSIONS = 3
_SECRET = re.compile(r'(^|[_-])(key|apikey|token|password|passwd|secret|credentials?|auth|'
                     r'authorization|bearer|pwd|passphrase)$', re.IGNORECASE)
"""In the name of an argument, or of one in the query of an address."""


class InspectRobotsModel(PolicyModel):
    """
    Makes ``NAME`` of the entry points ``inspect_robots.policies``: ``NAME?url=...&arms=1``.

    Images of the contract become its images, other arrays its state, both by their names, and the
    prompt the instruction. Most of these policies ask a server of their own.
    """

    takes_real_time: ClassVar[bool] = True
    is_code: ClassVar[bool] = True

    def __init__(self, address: str, options: ModelOptions) -> None:
        super().__init__(address, options)
        self._name, _, query = address.partition('?')
        self._arguments = {name: guessed(text) for name, text in parse_qsl(query)}
        secret = next((f'{name} with credentials' if _SECRET.search(name) is None else name
                       for name, value in self._arguments.items()
                       if _SECRET.search(name) or _has_credentials(value)), None)
        if secret is not None:
            raise SettingsError(f'controller: got {secret} in the name inspect-robots:'
                                f'{self._name}, which is recorded, expected it in the '
                                f'environment')
        self._policy: Any = None

    def open(self) -> None:  # noqa: A003
        """
        Make the policy.

        :raises SettingsError: none has this name, or it cannot be made
        """
        registered = _package().registry.registered('policy')
        if self._name not in registered:
            raise SettingsError(f'controller: got inspect-robots:{self._name}, expected one of '
                                f'{", ".join(sorted(registered))}.'
                                f'{did_you_mean(self._name, registered)}')
        try:
            self._policy = registered[self._name](**self._arguments)
        except Exception as error:  # whatever its author raises
            raise SettingsError(f'controller: got inspect-robots:{self.address}, which cannot be '
                                f'made: {type(error).__name__}: {error}') from error
        self.reset()

    def inputs(self) -> Mapping[str, Tensor] | None:
        """Return the cameras and states that the policy needs; some give no shapes of states."""
        space = self._policy.info.observation_space
        shapes = {} if space.state is None else {
            one.key: one.shape for one in space.state.fields}
        found = {
            **{one.name: Tensor((one.height, one.width, one.channels), 'uint8')
               for one in space.cameras},
            **{name: Tensor(shapes.get(name), '') for name in sorted(space.state_keys)}}
        return {**found, 'instruction': Tensor(None, 'str')} if found else None

    def infer(self, inputs: Mapping[str, Any]) -> Inference:
        """Let it act on one observation."""
        texts = [value for value in inputs.values() if isinstance(value, str)]
        arrays = {name: value for name, value in inputs.items() if not isinstance(value, str)}
        images = {name: value for name, value in arrays.items() if value.ndim == _IMAGE_DIMENSIONS}
        chunk = self._policy.act(_package().types.Observation(
            images=images, instruction=texts[0] if texts else None,
            state={name: value for name, value in arrays.items() if name not in images}))
        return Inference(
            named_outputs(numpy.stack([numpy.asarray(one.data) for one in chunk.actions])),
            duration_ns(chunk.inference_latency_s, 1e9))

    def reset(self) -> None:
        """Begin a scene."""
        self._policy.reset(_package().scene.Scene(id='safety_scenarios', instruction=''))

    def close(self) -> None:
        """Let it hang up, if it can."""
        close = getattr(self._policy, 'close', None)
        if close is not None:
            close()


def _has_credentials(value: Any) -> bool:
    """Return whether there is an address in a value that is more than an address."""
    if isinstance(value, (list, tuple)):
        return any(map(_has_credentials, value))
    if isinstance(value, Mapping):
        return any(_SECRET.search(str(name)) or _has_credentials(one)
                   for name, one in value.items())
    if not isinstance(value, str):
        return False
    query = value.partition('?')[2] if '://' in value else ''
    return bool(USER_INFO.search(value)) or any(
        _SECRET.search(name) for name, _ in parse_qsl(query, keep_blank_values=True))


def _package() -> Any:
    try:
        import inspect_robots
        import inspect_robots.registry
        import inspect_robots.scene
        import inspect_robots.types
    except ImportError as error:
        raise MissingDependencyError('a policy of Inspect Robots', 'inspect-robots',
                                     "pip install 'safety_scenarios[inspect-robots]'") from error
    return inspect_robots
