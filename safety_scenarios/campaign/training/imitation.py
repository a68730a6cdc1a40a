# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How a policy is trained: still scenes, trials of the reference, and rounds of corrections."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import hashlib
from importlib import import_module
from typing import Any

import numpy
from safety_scenarios.campaign.training.demonstrations import demonstrate
from safety_scenarios.campaign.training.network import (
    fitted,
    Floats,
    Layers,
    Network,
    sense_slope,
    Slope,
    speed_slope,
)
from safety_scenarios.campaign.training.samples import mirrored, Samples
from safety_scenarios.campaign.training.scenes import scene_samples
from safety_scenarios.controllers.policies.contract import PolicyContract
from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.scenario.scenario import Scenario

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
