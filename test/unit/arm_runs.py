# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Trials of an arm near which a person comes, commanded by a function, over loopback."""

from collections.abc import Callable
from typing import Any

from safety_scenarios import registry
from safety_scenarios.scenario.message import Message, Observation
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.controller_settings import controller_settings, plan_controller
from safety_scenarios.trial.links.loopback import hosted, LoopbackLink
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import TrialRecord

TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'
Decide = Callable[[Observation, bool], dict[str, Any] | None]


def played(scenario: Scenario, decide: Decide) -> TrialRecord:
    """Return a trial of a function of (observation, whether a person is near) to a trajectory."""
    def controller(observation: Observation) -> Message | None:
        poses = observation.latest('/PoseStamped')
        near = bool(poses) and poses[0].message.at('position')['x'] < 2.5
        data = decide(observation, near) if 'joint_states' in observation.readings else None
        return None if data is None else Message(type=TRAJECTORY, data=data)
    settings = RunSettings(controller='rule_based', link='loopback')
    [trial] = plan([scenario], controller='mine', trials=1, seed=0,
                   prompt=registry.resolve('stimuli', 'prompt')())
    host = hosted(controller, controller_settings(plan_controller(settings), scenario))
    return run_trial(trial, LoopbackLink(host))


def told(observation: Observation) -> tuple[tuple[str, ...], tuple[float, ...]]:
    data = observation.readings['joint_states'].message.data
    return data['name'], data['position']


def points(*found: tuple[float, tuple[float, ...], float]) -> tuple[dict[str, Any], ...]:
    """Return points of (due s, positions, speed of all joints)."""
    return tuple({'positions': positions, 'velocities': (speed,) * len(positions),
                  'time_from_start': {'sec': int(due), 'nanosec': round(due % 1 * 1e9)}}
                 for due, positions, speed in found)


def onward(observation: Observation, seconds: float = 0.3) -> dict[str, Any]:
    """Return a motion of half a rad/s for a while, from where the arm is."""
    names, now = told(observation)
    return {'joint_names': names, 'points': points(
        (seconds, tuple(value + 0.5 * seconds for value in now), 0.5),
        (seconds + 0.1, tuple(value + 0.5 * seconds + 0.025 for value in now), 0.0))}
