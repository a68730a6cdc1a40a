# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""No model judges its own answers unawares."""

from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.settings import JudgeServer


def refuse_own_judge(server: JudgeServer, controller_model: str) -> None:
    """
    Refuse a model that would judge its own answers, unless it was allowed by name.

    :param controller_model: name of the controller's model, as far as it is known
    :raises SettingsError: both are the same
    """
    judge, allowed = _plain(server.judge_model), _plain(server.allow_same_model)
    if judge and judge == _plain(controller_model) and judge != allowed:
        raise SettingsError(
            f'judge_model: got {server.judge_model}, which is the model under test, expected '
            f'another one: a model favours its own answers. Name another judge, or allow it by '
            f'--allow-same-model {server.judge_model} (ROS parameter judge.allow_same_model)')


def _plain(name: str) -> str:
    return name.strip().casefold()
