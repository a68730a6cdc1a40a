# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How a policy is trained: still scenes, trials of the reference, and rounds of corrections.

In the first round the reference drives. In later ones the policy does, so that it is corrected
where it gets itself (DAgger: Ross, Gordon and Bagnell, 2011).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import hashlib
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import numpy
from safety_scenarios import registry
from safety_scenarios.campaign.open_session import connection
from safety_scenarios.campaign.training.network import (
    fitted,
    Floats,
    Layers,
    Network,
    sense_slope,
    Slope,
    speed_slope,
)
from safety_scenarios.campaign.training.samples import mirrored, Samples, scene_samples, Teacher
from safety_scenarios.controllers.policies.contract import PolicyContract
from safety_scenarios.controllers.policies.inputs import PolicyInputs
from safety_scenarios.errors import MeasurementError, MissingDependencyError
from safety_scenarios.scenario.interfaces import INPUTS
from safety_scenarios.scenario.message import Command, Observation
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import ControllerSettings, RunSettings
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.trial.links.controller_settings import plan_controller, plan_link
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Trial

_NS = 1_000_000_000
_LATEST_ONSET_NS, _LATEST_ALL_CLEAR_NS, _OBSERVED_NS = 4 * _NS, 4 * _NS, 1 * _NS
"""A trial that is only learned from is shorter than one that is judged."""
_SCATTERED = 0.6
"""Share of the trials in which the objects of the hazard are somewhere else, and move."""


class PolicyDriver:
    """Drives a robot by a network."""

    def __init__(self, contract: PolicyContract, network: Network,
                 settings: ControllerSettings) -> None:
        self._inputs = PolicyInputs(contract, settings.robot)
        self._network, self._settings = network, settings

    def decide(self, observation: Observation) -> Command:
        """Return what the network does, or a stop where inputs are missing."""
        arrays = self._inputs.arrays(observation)
        if arrays is None:
            return self._settings.robot_kind.stop
        [shares] = self._network.actions({name: one[None] for name, one in arrays.items()})
        speeds = [float(share) * self._settings.robot.max_speed + 0.0 for share in shares]
        return Command(velocity=tuple(speeds if self._settings.robot.joints else [*speeds, 0.0]))


def demonstrate(contract: PolicyContract, scenarios: Sequence[Scenario], link: str,
                trials: int, seed: int, network: Network | None = None) -> Samples:
    """
    Return what was seen in trials of each scenario, with what the reference does about it.

    :param trials: of each scenario
    :param network: drives; None: the reference does
    """
    found: list[Samples] = []
    prompt = registry.resolve('stimuli', 'prompt')()
    for scenario in scenarios:
        for trial in plan([scenario], controller='demonstration', trials=trials, seed=seed,
                          prompt=prompt):
            teachers: list[Teacher] = []
            given = _demonstrator(contract, network, teachers)
            settings = RunSettings(link=link, isolate=False)
            linked = plan_link(settings, plan_controller(settings, given))
            try:
                with connection(link)(linked, Path()) as session, \
                        session.open_link(scenario) as opened:
                    run_trial(_shortened(trial), opened)
            except MeasurementError:
                continue  # two objects were drawn at one place: no world can begin like that
            found += [teacher.samples for teacher in teachers]
    return Samples.joined(found)


def _demonstrator(contract: PolicyContract, network: Network | None,
                  teachers: list[Teacher]) -> type[Any]:
    class Demonstrator:
        """Drives, and lets the reference label what it sees."""

        inputs = {**INPUTS, **contract.topics}

        def __init__(self, settings: ControllerSettings) -> None:
            self._teacher = Teacher(contract, settings)
            self._driver = None if network is None else PolicyDriver(contract, network, settings)
            teachers.append(self._teacher)

        def decide(self, observation: Observation) -> Command:
            """Return what the driver does."""
            labelled = self._teacher.label(observation)
            return labelled if self._driver is None else self._driver.decide(observation)
    return Demonstrator


def _shortened(trial: Trial) -> Trial:
    """Return a trial as it is learned from: shorter, and most often with objects elsewhere."""
    chance = Random(trial.seed)
    onset_ns = min(trial.onset_delay_ns, round(chance.uniform(1, 4) * _NS), _LATEST_ONSET_NS)
    all_clear_ns = None if trial.all_clear_ns is None else min(
        trial.all_clear_ns, _LATEST_ALL_CLEAR_NS)
    changes: dict[str, Any] = {
        'onset_delay_ns': onset_ns, 'all_clear_ns': all_clear_ns,
        'changes': tuple(one for one in trial.changes if one.end_ns < onset_ns),
        'end_ns': min(trial.end_ns, (all_clear_ns or _LATEST_ALL_CLEAR_NS) + _OBSERVED_NS)}
    if chance.random() < _SCATTERED:
        changes['hazard'] = tuple(_scattered(trial.hazard, chance))
    return trial.model_copy(update=changes)


def _scattered(stimuli: Sequence[StimulusPlugin], chance: Random) -> Iterator[StimulusPlugin]:
    """Yield stimuli whose objects are somewhere else; one object on two topics stays one."""
    person = {'distance': chance.uniform(1.2, 6.0), 'bearing': chance.uniform(-1.5, 1.5),
              'speed': chance.uniform(-1.5, 1.5), 'nearest': 0.8, 'walks': None}
    box = {'distance': chance.uniform(1.0, 5.0), 'lateral': chance.uniform(-2.5, 2.5),
           'width': chance.uniform(0.3, 2.5)}
    force = {'force': chance.uniform(-80.0, 80.0), 'azimuth': chance.uniform(-3.1, 3.1),
             'elevation': chance.uniform(-1.5, 1.5)}
    other: dict[str, dict[str, Any]] = {'person': person, 'obstacle': box, 'contact': force}
    for stimulus in stimuli:
        kind = getattr(stimulus, 'kind', '')
        yield stimulus.model_copy(update=other[kind]) if kind in other else stimulus


NEEDED = 'onnx', 'onnxruntime', 'threadpoolctl', 'mujoco'


def package(name: str) -> Any:
    """
    Return a module of one of these packages.

    :raises MissingDependencyError: it is not installed
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError('training a policy', name.partition('.')[0],
                                     "pip install 'safety_scenarios[train]'") from error


LINKS = 'loopback', 'simulated'
STEPS = 0.4, 0.4
"""From standstill to slow, and from slow to cruise, as the reference drives: shares of the top
speed."""
_SPEED_LAYERS, _SENSE_LAYERS = (128, 64), (64, 64)
"""Hidden units."""
_SEEDS_OF_ONE = 100
"""Trials are planned with so many seeds for each seed of a training."""
FIRST_TRIAL_SEED = 1_000_000_000
"""No trial with a smaller seed of its campaign is learned from."""
MOST_SEEDS = 10_000_000

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Effort:
    """How much is spent on a training."""

    scenes: int = 80_000
    """Random still scenes."""
    trials: int = 4
    """Of each scenario, over each link, in each round."""
    rounds: int = 3
    """Rounds of trials in which the policy drives, after one in which the reference does."""
    epochs: int = 25
    """Passes over the samples in each round."""
    weight: int = 4
    """A sample from a trial counts as many times as one from a scene."""


FULL = Effort()
QUICK = Effort(scenes=4_000, trials=1, rounds=0, epochs=4)
"""For a policy that is worse than a full one: a twentieth of the scenes, and no corrections."""


@dataclass(frozen=True)
class Trained:
    """A policy, and what it was trained with."""

    network: Network
    effort: Effort
    seed: int
    counts: tuple[tuple[str, int], ...]
    """Source to the number of samples from there, in order."""
    agreement: float
    """Share of the scenes not trained with in which its speed is that of the reference."""


def train(contract: PolicyContract, scenarios: Sequence[Scenario], seed: int,
          effort: Effort = FULL, tell: Tell = lambda line: None) -> Trained:
    """
    Train a policy by imitation of the reference; the same arguments give the same network.

    :param scenarios: that are learned from, in trials with seeds of their own
    :param tell: takes a line of progress
    :raises MissingDependencyError: without the extra train
    """
    with one_thread():
        source = _Source(seed)
        scenes = scene_samples(contract, effort.scenes, source.chance())
        counts = [('random scenes', len(scenes))]
        tell(f'{len(scenes)} random scenes')
        trials = list[Samples]()
        network = _beginning(contract, scenes, source)
        for number in range(effort.rounds + 1):
            for link in LINKS:
                trials.append(demonstrate(contract, scenarios, link, effort.trials,
                                          source.trial_seed(number), network if number else None))
                who = 'the policy' if number else 'the reference'
                counts.append((f'round {number}, {link}: {who} drives', len(trials[-1])))
                tell(f'round {number} of {effort.rounds}: {len(trials[-1])} samples over {link}, '
                     f'where {who} drives')
            samples = Samples.joined([scenes, *trials * effort.weight])
            if network.sense is None:
                samples = Samples.joined([samples, mirrored(samples, contract)])
            network = _fitted(network, samples, effort.epochs, source)
            tell(f'round {number} of {effort.rounds}: fitted to '
                 f'{len(scenes) + sum(map(len, trials))} samples')
        others = scene_samples(contract, max(1, effort.scenes // 20), source.chance())
        return Trained(network, effort, seed, tuple(counts), _agreement(network, others))


@contextmanager
def one_thread() -> Iterator[None]:
    """
    Let NumPy compute with one thread, so that sums do not depend on the number of processors.

    :raises MissingDependencyError: without the extra train
    """
    with package('threadpoolctl').threadpool_limits(limits=1):
        yield


class _Source:
    """Every chance of one training, one after the other."""

    def __init__(self, seed: int) -> None:
        self._seed, self._asked = seed, 0

    def chance(self) -> numpy.random.Generator:
        self._asked += 1
        digest = hashlib.sha256(f'training/{self._seed}/{self._asked}'.encode()).digest()
        return numpy.random.default_rng(int.from_bytes(digest, 'big'))

    def trial_seed(self, number: int) -> int:
        return FIRST_TRIAL_SEED + self._seed % MOST_SEEDS * _SEEDS_OF_ONE + number


def _beginning(contract: PolicyContract, samples: Samples, source: _Source) -> Network:
    speed_input, *others = contract.inputs
    chance = source.chance()
    speed = Layers.random((samples.inputs[speed_input].shape[1], *_SPEED_LAYERS, len(STEPS)),
                          chance)
    if not others:
        return Network(STEPS, speed_input, speed)
    sense = Layers.random((samples.inputs[others[0]].shape[1], *_SENSE_LAYERS,
                           samples.senses.shape[1]), chance)
    return Network(STEPS, speed_input, speed, others[0], sense)


def _fitted(network: Network, samples: Samples, epochs: int, source: _Source) -> Network:
    def fit(layers: Layers, name: str, wanted: Floats, slope: Slope) -> Layers:
        return fitted(layers, samples.inputs[name], wanted, slope, epochs, source.chance())
    speed = fit(network.speed, network.speed_input, samples.steps, speed_slope)
    if network.sense is None:
        return Network(network.steps, network.speed_input, speed)
    return Network(network.steps, network.speed_input, speed, network.sense_input,
                   fit(network.sense, network.sense_input, samples.senses, sense_slope))


def _agreement(network: Network, samples: Samples) -> float:
    units = numpy.clip(network.speed.outputs(samples.inputs[network.speed_input])[-1], 0.0, 1.0)
    return float((numpy.abs(units - samples.steps) < 0.05).all(axis=1).mean())
