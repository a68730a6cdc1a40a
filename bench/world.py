# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The embedded world against real time: alone, with whole trials, and with all their files."""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
import tempfile
import time

from figures import Figure, table
from safety_scenarios.campaign.run import run
from safety_scenarios.campaign.trials import perform
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.reports.console_report import show
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.world import Camera, WorldBlock
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.links.loopback_session import Simulated
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.trial import TrialRecord
from safety_scenarios.worlds.mujoco.camera import can_draw
from safety_scenarios.worlds.mujoco.world import World

STEPS_NEAR = share_folder() / 'config' / 'scenarios' / 'robotic' / 'person_steps_near.yaml'
_TIMES_REAL = 100.0
_COMMAND_NS = 50_000_000
_METHOD = ('simulated seconds a processor second of all threads, 20 scans a second of 360 rays, '
           'truth 50 times a second; the best of the rounds, as others share the cores')


def against_real_time(rounds: int, trials: int) -> list[Figure]:
    """Return how much faster than real time a base drives, alone and as trials of a campaign."""
    measured: dict[str, Callable[[int], float]] = {
        'the world alone': _alone, 'whole trials, judged': _trials,
        'a campaign with its files': _campaign}
    with suppress(InputError):  # where nothing draws there is no such line
        can_draw()
        measured['the world, 10 pictures a second'] = _filmed
    found: dict[str, list[float]] = {name: [] for name in measured}
    for _ in range(rounds):
        for name, measure in measured.items():
            begin_s = time.process_time()
            simulated_s = measure(trials)
            found[name].append(simulated_s / (time.process_time() - begin_s))
    targets = {'whole trials, judged': _TIMES_REAL}
    return [Figure(f'{name}: faster than real time', max(values), 'times', len(values),
                   f'{_METHOD}; {min(values):.0f} in the worst', at_least=targets.get(name))
            for name, values in found.items()]


def _alone(trials: int) -> float:
    return _driven(World(load_scenario(STEPS_NEAR), 0), trials)


def _filmed(trials: int) -> float:
    scenario = load_scenario(STEPS_NEAR)
    world = World(scenario.model_copy(update={'body': scenario.body.model_copy(update={
        'world': WorldBlock(camera=Camera())})}), 0)
    try:
        return _driven(world, min(trials, 2))  # it is slow, and has no target
    finally:
        world.close()


def _driven(world: World, trials: int) -> float:
    end_ns = trials * 10_000_000_000
    for now_ns in range(0, end_ns, _COMMAND_NS):
        world.command('cmd_vel', _FORWARD, now_ns, 1_000_000_000 + now_ns)
        while (due_ns := world.due_ns) < now_ns + _COMMAND_NS:
            world.advance(due_ns)
            world.sensed(due_ns)
    return end_ns * 1e-9


def _trials(trials: int) -> float:
    scenario = load_scenario(STEPS_NEAR)
    settings = RunSettings(scenarios=(str(STEPS_NEAR),), link='simulated', trials=trials)
    planned = plan([scenario], controller='rule_based', trials=trials, seed=0, prompt=Prompt())
    with ExitStack() as stack:
        session = Simulated(plan_link(settings), Path()).session(stack)
        link = stack.enter_context(session.open_link(scenario))
        return sum(_length_s(perform(trial, link).record) for trial in planned)


def _campaign(trials: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        lengths: list[float] = []

        class Lengths(Observer):
            """Notes how long each trial was."""

            def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
                """Note it."""
                lengths.append(_length_s(record))
        run(RunSettings(scenarios=(str(STEPS_NEAR),), link='simulated', trials=trials,
                        output=f'{folder}/out'), [Lengths()], Simulated)
        return sum(lengths)


def _length_s(record: TrialRecord) -> float:
    return (record.events[-1].stamps.steady_ns - record.events[0].stamps.steady_ns) * 1e-9


_FORWARD = Message(type='geometry_msgs/msg/Twist', data={
    'linear': {'x': 0.8, 'y': 0.0, 'z': 0.0}, 'angular': {'x': 0.0, 'y': 0.0, 'z': 0.0}})


if __name__ == '__main__':
    show(table('The embedded world', against_real_time(3, 10)))
