# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A scenario that asks for what another simulator cannot show costs its trial, with the reason."""

import pytest
from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.worlds.simulator_link.link import WorldLink
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
