# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Arms in worlds, by themselves: what a test commands and what is true then."""

from collections.abc import Mapping, Sequence
from functools import cache
import math
from typing import Any

from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.registry import resolve
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import frozen
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.world import WorldBlock
from safety_scenarios.worlds.mujoco.world import World

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3')
STEP_NS = 5_000_000
_SCENARIOS = share_folder() / 'config' / 'scenarios' / 'robotic'


@cache
def shipped(name: str) -> Scenario:
    return load_scenario(_SCENARIOS / f'{name}.yaml')


def scenario(driver: str = 'joint_velocity', joints: Sequence[str] = JOINTS,
             robot: Mapping[str, Any] = {}, world: Mapping[str, Any] = {},
             **ros: Any) -> Scenario:
    """Return the shipped scenario of a person near an arm, driven otherwise."""
    found = shipped('person_near_arm')
    plugin = resolve('drivers', driver)(kind=driver, joints=tuple(joints))
    return found.model_copy(update={'body': found.body.model_copy(update={
        'robot': found.body.robot.model_copy(update={'joints': tuple(joints), **robot}),
        'commands': tuple(one.model_copy(update={'driver': plugin})
                          for one in found.body.commands),
        'world': WorldBlock.model_validate(frozen(world)), **ros})})


def speeds(*values: float) -> Message:
    return Message(type='std_msgs/msg/Float64MultiArray', data={'data': values})


def trajectory(points: Sequence[tuple[float, Sequence[float], Sequence[float]]],
               joints: Sequence[str] = JOINTS) -> Message:
    """Return a trajectory of (due s, positions, velocities)."""
    return Message(type='trajectory_msgs/msg/JointTrajectory', data={
        'header': {'stamp': {'sec': 0, 'nanosec': 0}}, 'joint_names': tuple(joints),
        'points': tuple({
            'positions': tuple(positions), 'velocities': tuple(velocities),
            'time_from_start': {'sec': int(due_s), 'nanosec': round(due_s % 1 * 1e9)}}
            for due_s, positions, velocities in points)})


class Moved:
    """One arm and what was true of it, step by step."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.told: list[tuple[float, Mapping[str, Mapping[str, float]]]] = []

    def command(self, message: Message) -> None:
        now_ns = self.world.now_ns
        self.world.command('joint_trajectory', message, now_ns, 10**18 + now_ns)

    def on(self, seconds: float) -> Mapping[str, Mapping[str, float]]:
        """Let time pass; return what is true at its end."""
        for _ in range(round(seconds * 1e9 / STEP_NS)):
            self.world.advance(self.world.now_ns + STEP_NS)
            self.told.append((self.world.now_ns * 1e-9, self.world.states()))
        return self.told[-1][1]

    def joint(self, name: str, what: str = 'joint') -> list[tuple[float, float]]:
        return [(at, told['robot'][f'{what}.{name}']) for at, told in self.told]


def arm(**more: Any) -> Moved:
    """Return a world with an arm that stands where its file says."""
    return Moved(World(scenario(**more), 0))


def swing(seconds: float, period_s: float, width: float,
          start: Sequence[float]) -> list[tuple[float, list[float], list[float]]]:
    """Return waypoints of all joints that swing to and fro, and end at rest."""
    rate, found = 2 * math.pi / period_s, []
    for place in range(1, round(seconds / 0.05) + 1):
        at = place * 0.05
        off = width * (1 - math.cos(rate * at)) / 2
        speed = width * rate * math.sin(rate * at) / 2
        found.append((at, [one + off for one in start], [speed] * len(start)))
    at, positions, _ = found[-1]
    found[-1] = (at, positions, [0.0] * len(start))
    return found
