# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The two policies that ship, as one controller: that for a base, or that for an arm."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import PrivateAttr
from safety_scenarios.controllers.policies.policy import policy_class, PolicyController
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.message import Command, Observation

_FILES = {'mobile_base': 'base.onnx', 'arm': 'arm.onnx'}


class Learned(ControllerPlugin):
    """
    Drives by a small network that imitates the reference (doc/manual/controller.md).

    It is an example of a learned controller, and no safety function. Its model cards say what it
    cannot do. It answers no alert and takes no part in a conversation.
    """

    _policy: PolicyController = PrivateAttr()

    def start(self) -> None:
        """
        Load the policy for this kind of robot.

        :raises SettingsError: none ships for it, or it does not fit the robot
        """
        kind = self.context.robot.kind
        if kind not in _FILES:
            raise SettingsError(f'controller: learned drives {" and ".join(_FILES)}, and the '
                                f'robot is of the kind {kind}. Name another controller')
        self._policy = _policy(kind)
        self._policy.begin(self.context)

    @property
    def files(self) -> tuple[Path, ...]:
        """Return both models and their contracts."""
        return tuple(path for kind in _FILES for path in _policy(kind).files)

    @property
    def inputs(self) -> Mapping[str, str]:
        """Return what the contract of its policy reads."""
        return self._policy.inputs

    @property
    def period_ns(self) -> int:
        """Return the time between two actions."""
        return self._policy.period_ns

    def begin_trial(self) -> None:
        """Let the policy forget the trial before."""
        self._policy.begin_trial()

    def decide(self, observation: Observation) -> Command | None:
        """Return what the policy commands."""
        return self._policy.decide(observation)

    def close(self) -> None:
        """Give the memory of the model back."""
        self._policy.close()


def _policy(kind: str) -> PolicyController:
    path = share_folder() / 'config' / 'policies' / _FILES[kind]
    return policy_class('onnx', str(path), f'learned, {path.name}')()
