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

"""A scenario that asks for what another simulator cannot show costs its trial, with the reason."""

import pytest
from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.ros.clocks.clock import RosClock
from safety_scenarios.ros.simulator_link.link import WorldLink
from unit.records import hazard, planned


class Connected:
    """The side of the controller, which is there."""

    measuring = None

    def revive(self):
        return False


class Elsewhere:
    """A world without what is asked for."""

    def reset(self, trial):
        raise InputError('ros.world: got walls, expected none. Use world mujoco for this one')


def test_what_cannot_be_shown_is_nothing_unexpected():
    link = WorldLink(Connected(), RosClock(), Elsewhere(), 1.0, lambda: None)
    with pytest.raises(MeasurementError, match=r'^the world: ros.world: got walls'):
        link.open(planned(hazard()))
