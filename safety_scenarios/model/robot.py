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

"""The robot a scenario is written for."""

from typing import Literal

from pydantic import Field

from safety_scenarios.model.noun import Noun


class RobotModel(Noun):
    """The robot that the scenario is written for, SI units."""

    kind: Literal['mobile_base', 'arm']
    """Family; decides how a built-in controller commands it."""
    max_speed: float = Field(gt=0, json_schema_extra={'unit': 'm/s or rad/s'})
    """Top speed: m/s of a base, rad/s of a joint."""
    deceleration: float | None = Field(default=None, gt=0, json_schema_extra={'unit': 'm/s^2'})
    """Braking deceleration of a base."""
    radius: float | None = Field(default=None, gt=0, json_schema_extra={'unit': 'm'})
    """Radius of the footprint."""
    joints: tuple[str, ...] = ()
    """Joint names of an arm, in command order."""
