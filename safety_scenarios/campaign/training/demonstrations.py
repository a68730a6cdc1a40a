# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Trials in which a policy or the reference drives, and the reference labels what is seen.

In the first round the reference drives. In later ones the policy does, so that it is corrected
where it gets itself (DAgger: Ross, Gordon and Bagnell, 2011).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from safety_scenarios import registry
from safety_scenarios.campaign.open_session import connection
from safety_scenarios.campaign.training.network import Network
from safety_scenarios.campaign.training.samples import Samples, Teacher
from safety_scenarios.controllers.policies.contract import PolicyContract
from safety_scenarios.controllers.policies.inputs import PolicyInputs
from safety_scenarios.errors import MeasurementError
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
