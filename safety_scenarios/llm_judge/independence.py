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

"""No model judges its own answers unawares."""

from safety_scenarios.errors import SettingsError
from safety_scenarios.model.settings import JudgeServer


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
