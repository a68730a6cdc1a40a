# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Worlds in which a base is commanded by a test, as a controller would."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.registry import resolve
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import frozen
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.world import WorldBlock
from safety_scenarios.worlds.mujoco.world import World

STATE_NS = 20_000_000
PERSON_STEPS_NEAR = share_folder() / 'config' / 'scenarios' / 'robotic' / 'person_steps_near.yaml'


@cache
def _shipped() -> Scenario:
    return load_scenario(PERSON_STEPS_NEAR)


def scenario(world: Mapping[str, Any], driver: str = 'diff_drive', **ros: Any) -> Scenario:
    """
    Return the shipped scenario of a person who steps near, in a world.

    :param world: of ``ros.world``, as YAML has it
    :param driver: behind cmd_vel
    :param ros: other fields of ``ros`` to change
    """
    shipped = _shipped()
    block = WorldBlock.model_validate(frozen(world))
    commands = tuple(one.model_copy(update={'driver': resolve('drivers', driver)(kind=driver)})
                     for one in shipped.body.commands)
    return shipped.model_copy(update={'body': shipped.body.model_copy(update={
        'world': block, 'commands': commands, **ros})})


def twist(x: float = 0.0, y: float = 0.0, turn: float = 0.0) -> Message:
    """Return a command with a stamp of now (0)."""
    return Message(type='geometry_msgs/msg/TwistStamped', data={
        'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': ''},
        'twist': {'linear': {'x': x, 'y': y, 'z': 0.0},
                  'angular': {'x': 0.0, 'y': 0.0, 'z': turn}}})


class Drive:
    """One world and what was true in it, every 20 ms."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.told: list[tuple[float, Mapping[str, Mapping[str, float]]]] = []

    def on(self, message: Message, seconds: float,
           until: Callable[[Mapping[str, Mapping[str, float]]], bool] = lambda told: False,
           every_ns: int = STATE_NS) -> Mapping[str, Mapping[str, float]]:
        """Command the same for a time, 50 times a second; return what is true at its end."""
        end_ns = self.world.now_ns + round(seconds * 1e9)
        told: Mapping[str, Mapping[str, float]] = {}
        while self.world.now_ns < end_ns and not (told and until(told)):
            now_ns = self.world.now_ns
            if now_ns % STATE_NS == 0:
                self.world.command('cmd_vel', message, now_ns, 10**18 + now_ns)
            self.world.advance(now_ns + every_ns)
            told = self.world.states()
            self.told.append((self.world.now_ns * 1e-9, told))
        return told

    def of(self, name: str, key: str) -> list[tuple[float, float]]:
        """Return time (s) and value of what was told of one entity."""
        return [(at, told[name][key]) for at, told in self.told if key in told.get(name, {})]


def drive(world: Mapping[str, Any], driver: str = 'diff_drive', **more: Any) -> Drive:
    """Return a world in which a base stands at its start."""
    step = {'step_s': more.pop('step_s')} if 'step_s' in more else {}
    return Drive(World(scenario(world, driver, **more), 0, **step))
