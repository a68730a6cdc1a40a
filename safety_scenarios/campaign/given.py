# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""From what a Python user gives as a controller to its name and to what makes it."""

from collections.abc import Callable, Sequence
from inspect import signature
from types import SimpleNamespace
from typing import Any

from safety_scenarios.errors import SettingsError
from safety_scenarios.links.loopback import MakeController
from safety_scenarios.model.contracts import Controller
from safety_scenarios.model.message import ChatMessage, Command, Message, Observation
from safety_scenarios.model.settings import ControllerSettings

Decide = Callable[[Observation], Command | Message | None]
GivenController = str | type[Any] | Controller | Decide


def given(controller: GivenController) -> tuple[str, MakeController | None]:
    """
    Return the name that the results will bear, and what makes the controller.

    :param controller: the name of a plug-in, for which nothing else is needed; or a class or an
        object with ``decide`` or ``answer``, or a function from an observation to a command
    :raises SettingsError: it is nothing of that kind
    """
    if isinstance(controller, str):
        return controller, None
    if isinstance(controller, type):
        if _takes_part(controller):
            return _name(controller), _Maker(controller, _constructor(controller))
    elif _takes_part(controller):
        return _name(type(controller)), _Maker(controller, lambda settings: controller)
    elif callable(controller):
        return _name(controller), _Maker(controller, lambda settings: SimpleNamespace(
            decide=controller))
    raise SettingsError(f'controller: got {controller!r:.200}, expected a name, a class or an '
                        f'object with decide(observation) or answer(messages), or a function of '
                        f'an observation')


def _takes_part(controller: Any) -> bool:
    return any(callable(getattr(controller, name, None)) for name in ('decide', 'answer'))


def _name(thing: Any) -> str:
    """Return a name that no plug-in has, so that nobody takes one for the other."""
    named = thing if hasattr(thing, '__qualname__') else type(thing)
    return f'{named.__module__}:{named.__qualname__}'


def _constructor(controller: Any) -> Callable[[ControllerSettings], Any]:
    """Return a class as a function of the settings, which it need not take."""
    if signature(controller).parameters:
        made: Callable[[ControllerSettings], Any] = controller
        return made
    return lambda settings: controller()


class _Maker:
    """Makes the controller for each scenario."""

    def __init__(self, controller: Any, make: Callable[[ControllerSettings], Any]) -> None:
        self.takes_real_time = bool(getattr(controller, 'takes_real_time', False))
        self._make = make

    def __call__(self, settings: ControllerSettings) -> Controller:
        """Make it."""
        made: Controller = self._make(settings)
        whole = all(hasattr(made, name) for name in ('decide', 'answer'))
        return made if whole else _Halves(made)


class _Halves:
    """Does nothing where a controller only commands, or only answers."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def decide(self, observation: Observation) -> Command | Message | None:
        """Return its command, if it commands."""
        decided: Command | Message | None = getattr(
            self._wrapped, 'decide', _nothing)(observation)
        return decided

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        """Return its answer, if it answers."""
        answered: str | None = getattr(self._wrapped, 'answer', _nothing)(messages)
        return answered


def _nothing(_: Any) -> None:
    return None
