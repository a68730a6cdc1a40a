# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The links of a controller in this process, in simulated time: ``loopback`` and ``simulated``.

``simulated`` has the embedded world as well.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, ExitStack
from functools import partial
from pathlib import Path
import traceback
from typing import Any

from safety_scenarios import registry
from safety_scenarios.controllers.host import ControllerHost, Keep, Patience
from safety_scenarios.errors import InputError, MissingDependencyError, SettingsError
from safety_scenarios.scenario.blocks.agents import ros_token
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.robot_drivers import simulated_robot
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.world import World
from safety_scenarios.trial.identity import log_name
from safety_scenarios.trial.link import Link, LinkPlan
from safety_scenarios.trial.links.controller_settings import controller_settings, plugin_of
from safety_scenarios.trial.links.isolated_controller import IsolatedController
from safety_scenarios.trial.links.loopback import hosted, LoopbackLink
from safety_scenarios.trial.links.thinking import seldom_collected, Thinking
from safety_scenarios.trial.session import LinkPlugin, Session
from safety_scenarios.worlds.mujoco.loading import load_physics

_HERE = 'this process'
_LEAST_NS = 1_000_000
"""Over any real link a command takes that long; a budget below it says nothing of thinking."""


_WITHOUT_EFFECT: Mapping[str, tuple[object, ...]] = {
    'real_time_factor': (1.0, 0.0), 'realtime': (False,), 'calibration': ('short', 'off')}
"""Settings about real time, with the values that ask for nothing here: time passes as fast as can
be (0). How a robot is reached, such as its domain or namespace, may be written down for all
links."""


def _without_effect(plan: LinkPlan) -> Iterator[SettingsError]:
    """Yield settings that would be taken for what was tested."""
    for name, nothing in _WITHOUT_EFFECT.items():
        value = getattr(plan.ros.parameters, name)
        if value not in nothing:
            yield SettingsError(
                f'{name}: got {str(value).lower()} with link {plan.name}, expected '
                f'{str(nothing[0]).lower()}: nothing runs in real time there, so it would have '
                f'no effect. Leave it out, or use link ros')


class Loopback(LinkPlugin):
    """Reaches a controller plug-in without DDS; time passes only while the harness waits."""

    in_simulated_time = True
    is_repeatable = True
    in_this_process = True
    where = f'{_HERE}, in simulated time'
    has_robot = False
    """Whether the robot's reports come from its world, and need not be worked out."""

    worlds: tuple[World, ...] = ('none',)
    """What the setting ``world`` may be with it."""
    other_world = 'A robot moves over --link simulated, or --link ros'

    def link(self) -> type[LoopbackLink]:
        """Return the kind of link that is opened."""
        return LoopbackLink

    @classmethod
    def refusals(cls, plan: LinkPlan) -> Iterator[InputError]:
        """Yield that a world, an external controller or real time is out of reach here."""
        yield from _without_effect(plan)
        if plan.world not in cls.worlds:
            yield SettingsError(f'world: got {plan.world} with link {plan.name}, expected '
                                f'{" or ".join(cls.worlds)}. {cls.other_world}')
        if plan.controller.is_external:
            yield SettingsError(f'controller: got external with link {plan.name}, '
                                f'expected a built-in or plug-in name. An external controller '
                                f'needs ROS')
        if plan.controller.facts.takes_real_time:
            yield SettingsError(f'controller: got {plan.controller.name} with link '
                                f'{plan.name}, where thinking takes no time, so that '
                                f'its latency would be a lie. Use link ros')

    def session(self, stack: ExitStack) -> Session:
        """Return how to open a link for each scenario."""
        plugin, where = plugin_of(self.plan.controller), self.where
        if isinstance(plugin, IsolatedController):
            stack.enter_context(plugin)
            where = where.replace(_HERE, 'a process of its own')
        opens = partial(self._open, plugin, self.link())
        stack.enter_context(seldom_collected())
        return Session(opens, where)

    @contextmanager
    def _open(self, plugin: Any, kind: type[LoopbackLink], scenario: Scenario) -> Iterator[Link]:
        own = controller_settings(self.plan.controller, scenario)
        others = {agent.id: self._hosted(scenario, agent.controller, ros_token(agent.id))
                  for agent in (scenario.body.agents if isinstance(scenario.body, AgentsBody)
                                else ())
                  if agent.driver == 'model'}
        robot = None if self.has_robot and not scenario.body.is_in_words else simulated_robot(
            scenario, self.plan.controller.facts.brake_lag)
        limit_ns = max(_LEAST_NS, round(scenario.latency_budget.critical_ms * 1e6))
        with closing(Thinking(limit_ns)) as thinking:
            host = hosted(plugin, own, self._log(scenario), Patience(thinking.watch, limit_ns))
            with closing(kind(host, self.plan.clock, others,
                              self.plan.declared_topics, robot)) as link:
                yield link

    def _hosted(self, scenario: Scenario, participant: str, agent: str) -> ControllerHost:
        own = controller_settings(self.plan.controller, scenario, participant)
        return hosted(registry.resolve('controllers', own.controller), own,
                      self._log(scenario, agent))

    def _log(self, scenario: Scenario, agent: str = '') -> Keep:
        """Return what keeps tracebacks where ``controller_node`` leaves them over DDS."""
        path = self.folder / log_name(scenario.id, agent)

        def keep(error: BaseException) -> None:
            if self.folder == Path():  # nobody keeps anything of this session
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open('a', encoding='utf-8', errors='backslashreplace') as log:
                traceback.print_exception(error, file=log)
        return keep


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
            from safety_scenarios.worlds.mujoco.camera import can_draw
            can_draw()
        with super()._open(plugin, kind, scenario) as link:
            yield link
