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

"""What ``eval.launch.py`` declares and does, without importing launch."""

from collections.abc import Sequence
from typing import Any, get_args, get_origin, Literal

from safety_scenarios.model.settings import leaves, RunSettings

_CONTROLLER_LAUNCH = {
    'name': 'controller_launch', 'default_value': '',
    'description': 'Launch file that starts your own controller; use it with '
                   'controller:=external.'}


def _arguments() -> list[dict[str, Any]]:
    arguments = []
    for path, field in leaves(RunSettings):
        default = field.default
        text = ' '.join(default) if isinstance(default, tuple) else \
            str(default).lower() if isinstance(default, bool) else str(default)
        argument = {'name': path[-1], 'default_value': text,
                    'description': ' '.join((field.description or '').split())}
        if get_origin(field.annotation) is Literal:
            argument['choices'] = list(get_args(field.annotation))
        elif field.annotation is bool:
            argument['choices'] = ['true', 'false']
        arguments.append(argument)
    return [*arguments, _CONTROLLER_LAUNCH]


ARGUMENTS: Sequence[dict[str, Any]] = _arguments()
"""Keyword arguments of each ``DeclareLaunchArgument``."""

PARAMETERS: dict[str, tuple[str, type]] = {
    '.'.join(path): (path[-1], field.annotation if field.annotation in (bool, int, float) else str)
    for path, field in leaves(RunSettings) if path != ('namespace',)}
"""Parameter of the evaluator to its argument and type; the namespace is the node's own."""


def raise_on_failure(event: Any, context: Any) -> None:
    """
    Let launch end with an error unless every trial passed.

    ``Shutdown()`` alone would end it with 0.

    :raises RuntimeError: with the exit code of the evaluator
    """
    if event.returncode:
        raise RuntimeError(
            f'evaluator_node ended with exit code {event.returncode} (1: some trial failed; '
            f'2: wrong input; 3: inconclusive or error)')
