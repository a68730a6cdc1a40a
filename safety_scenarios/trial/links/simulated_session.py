# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The link plug-in ``simulated``: the controller and the embedded world, in simulated time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.links.loopback import LoopbackLink
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.worlds.mujoco.loading import load_physics


class Simulated(Loopback):
    """Reaches a controller plug-in in this process, which drives a robot in the embedded world."""

    where = 'this process, in lock-step with the embedded world'
    has_robot = True
    worlds = ('none', 'mujoco')
    other_world = 'A simulator in another process needs --link ros'

    def link(self) -> type[LoopbackLink]:
        """
        Return the kind of link that is opened.

        :raises MissingDependencyError: MuJoCo is not installed
        """
        try:
            load_physics()
            from safety_scenarios.trial.links.simulated import SimulatedLink
        except ImportError as error:
            raise MissingDependencyError('the embedded world', 'mujoco',
                                         "pip install 'safety_scenarios[sim]'") from error
        return SimulatedLink

    @contextmanager
    def _open(self, plugin: Any, kind: type[LoopbackLink], scenario: Scenario) -> Iterator[Link]:
        from safety_scenarios.worlds.mujoco.robots import check_robot
        check_robot(scenario)
        world = scenario.body.world
        if world is not None and world.camera is not None:
            from safety_scenarios.worlds.mujoco.sensors.camera import can_draw
            can_draw()
        with super()._open(plugin, kind, scenario) as link:
            yield link
