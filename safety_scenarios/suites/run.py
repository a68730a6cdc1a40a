# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One run of a suite: commitment, a campaign of each controller on the same trials, opening."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.folder import begin_folder
from safety_scenarios.campaign.run import run as run_campaign
from safety_scenarios.errors import InputError, refuse, SettingsError
from safety_scenarios.scenario.fields import flat
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.studies.matrix.file import why_not
from safety_scenarios.suites.commitment import commit, Commitment, open_commitment, seed_from
from safety_scenarios.suites.suite import frozen_scenarios, Suite, trials_of
from safety_scenarios.trial.session import Observer

SUITE = 'suite.json'
CARDS = 'cards'
BASELINES: Mapping[str, str] = {
    'rule_based': 'rule_based', 'blind': 'blind_clock', 'random': 'random'}
"""Name of the arm to the controller that stands beside every other one."""
REACH = (
    'link', 'world', 'profile', 'real_time_factor', 'clock', 'schedule_clock', 'use_sim_time',
    'topics', 'frames', 'driver', 'robot', 'reference', 'absent', 'output', 'outputs', 'console',
    'jobs', 'junit', 'record', 'record_images', 'calibration', 'isolate', 'hosts',
    'connect_timeout_s', 'judge')
"""Settings that the user may choose too: the card states those that change what is comparable."""
_OF_THE_SUITE = ('scenarios', 'trials', 'seed', 'only')
Observed = Callable[[RunSettings], AbstractContextManager[Sequence[Observer]]]


@dataclass(frozen=True)
class Arm:
    """One controller in a run of a suite."""

    name: str
    """Of its folder and card."""
    settings: RunSettings
    is_baseline: bool = False
    """Whether it only stands beside the others."""


def refuse_other_judging(names: Sequence[str]) -> None:
    """
    Refuse settings that the suite has to set, or by which trials would be judged otherwise.

    :param names: that the command line sets
    :raises SettingsError: names each of them
    """
    errors: list[InputError] = []
    for name in names:
        first = name.partition('.')[0]
        if first in _OF_THE_SUITE or (first not in REACH and why_not(name) is not None):
            errors.append(SettingsError(
                f'--set {name}: got a setting that the suite decides, expected one of the '
                f'controller, the link, the world or the profile. With another one the card would '
                f'be of no suite'))
    refuse(errors)


def of_trials(suite: Suite, scenarios: Sequence[Scenario], seed: int,
              trials: int) -> Mapping[str, Any]:
    """
    Return the settings by which a campaign runs exactly the trials of a suite.

    :param trials: of each scenario on each level
    """
    chosen = [(one.id, index) for one in scenarios
              for index, _ in trials_of(suite, one, seed, trials)]
    return {'scenarios': tuple(suite.scenarios), 'seed': seed, 'design': suite.sha256,
            'trials': 1 + max(index for _, index in chosen),
            'only': tuple(f'{name}:{index}' for name, index in chosen)}


def run_suite(suite: Suite, arms: Sequence[Arm], folder: Path, observed: Observed, *,
              seed: int | None = None, trials: int | None = None,
              protocol_sha256: str = '',
              tell: Callable[[str], None] = lambda text: None) -> Commitment:
    """
    Run a suite with each controller, and leave a campaign of each in a folder.

    :param observed: opens who observes the campaign of one arm
    :param seed: chosen by the user; None: a fresh one
    :param trials: of each scenario on each level; None: as many as the suite asks for
    :param protocol_sha256: of the acceptance protocol that is named; empty: none is
    :param tell: takes a line before the first trial, which can be published
    :raises InputError: wrong settings or scenarios; nothing has been run then
    """
    scenarios = frozen_scenarios(suite)
    begin_folder(folder)
    write_whole(folder / SUITE, suite.model_dump_json(indent=2))
    made, opening = commit(suite, tuple(arm.name for arm in arms), trials or suite.trials, folder,
                           seed=seed, protocol_sha256=protocol_sha256,
                           baselines=tuple(one.name for one in arms if one.is_baseline))
    chosen = seed_from(opening.salt, suite.sha256)
    tell(f'Commitment: {made.commitment}' if seed is None else
         f'Seed {seed}: chosen by you, which the card states')
    try:
        wanted = of_trials(suite, scenarios, chosen, made.trials)
        for arm in arms:
            settings = arm.settings.model_copy(update={**wanted, 'output': str(folder / arm.name)})
            with observed(settings) as observers:
                if run_campaign(settings, observers, scenarios=scenarios).interrupted:
                    break
    finally:
        open_commitment(opening, folder)
    return made


def names_set(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the dotted name of each setting in nested ones."""
    return (name for name, _ in flat(data))
