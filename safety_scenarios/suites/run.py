# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A run of a suite: its seed, promised by a hash, and a campaign of each controller.

The hash is of the seed's salt and of everything else that is written before the first trial. It is
printed then. Whoever publishes it then has shown that neither the seed nor the controllers nor
the protocol were chosen by what they led to. The tool alone cannot show that a run was the first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timezone
import hashlib
import json
from pathlib import Path
import secrets
from typing import Annotated, Any

from pydantic import Field
from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.folder import begin_folder
from safety_scenarios.campaign.plan import plan_campaign
from safety_scenarios.campaign.run import run as run_campaign
from safety_scenarios.errors import in_words, InputError, refuse, SettingsError
from safety_scenarios.scenario.fields import flat
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings, SEEDS
from safety_scenarios.scenario.untrusted_text import each_key_once
from safety_scenarios.studies.matrix.file import why_not
from safety_scenarios.suites.suite import frozen_scenarios, OF_SUITE, Sha256, Suite, trials_of
from safety_scenarios.trial.links.isolated_controller import removed_if_refused
from safety_scenarios.trial.session import Observer

FILE, OPENED = 'commitment.json', 'opening.json'
_NO_HASH = '0' * 64
Salt = Annotated[str, Field(pattern=r'^([0-9a-f]{1,200}|chosen:[0-9]{1,10})$')]
"""Random, or the seed that the user chose."""


class Commitment(Noun):
    """What is written before the first trial."""

    suite: str
    suite_sha256: Sha256
    commitment: Sha256
    """SHA-256 of the salt and of everything else in here."""
    at: str
    """When, by the clock of this host."""
    is_chosen: bool
    """Whether the user chose the seed: then anybody could have known it before."""
    trials: int = Field(ge=1)
    """Trials of each scenario on each level that are to be run."""
    controllers: tuple[str, ...]
    baselines: tuple[str, ...] = ()
    """Those of them that stand beside the others, and decide no exit code."""
    protocol_sha256: str = Field(default='', pattern=r'^([0-9a-f]{64})?$')
    """Of the acceptance protocol that was named beforehand; empty: none was."""

    def digest(self, salt: str) -> str:
        """Return the SHA-256 of a salt and of everything but the hash itself."""
        data = [salt, self.model_dump(mode='json', exclude={'commitment'})]
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()

    def is_opened_by(self, salt: str) -> bool:
        """Return whether the hash is of this salt and of everything else."""
        return self.commitment == self.digest(salt)


class Opening(Noun):
    """What the commitment was made of."""

    salt: Salt


def commit(suite: Suite, controllers: tuple[str, ...], trials: int, folder: Path, *,
           seed: int | None, protocol_sha256: str = '',
           baselines: tuple[str, ...] = ()) -> tuple[Commitment, Opening]:
    """
    Draw a salt, and write the hash of it and of everything that is promised into the folder.

    :param seed: that the user chose; None: a fresh one
    :raises TraceError: it cannot be written
    """
    salt = secrets.token_hex(32) if seed is None else f'chosen:{seed}'
    made = Commitment(
        suite=suite.name, suite_sha256=suite.sha256, commitment=_NO_HASH,
        at=datetime.now(timezone.utc).isoformat(timespec='seconds'), is_chosen=seed is not None,
        trials=trials, controllers=controllers, baselines=baselines,
        protocol_sha256=protocol_sha256)
    made = made.model_copy(update={'commitment': made.digest(salt)})
    write_whole(folder / FILE, made.model_dump_json(indent=2))
    return made, Opening(salt=salt)


def open_commitment(opening: Opening, folder: Path) -> None:
    """
    Write the salt, when nothing can depend on it any more.

    :raises TraceError: it cannot be written
    """
    write_whole(folder / OPENED, opening.model_dump_json(indent=2))


def read_commitment(folder: Path) -> tuple[Commitment, Opening]:
    """
    Return what was promised, and what it was made of.

    :raises InputError: one of the two is missing, or they do not belong together
    """
    if (folder / FILE).is_file() and not (folder / OPENED).exists():
        raise InputError(f'{folder}: the run did not end: {OPENED} is missing, which suite run '
                         f'writes last. Was it killed? Run the suite again')
    try:
        made = Commitment.model_validate_json(each_key_once((folder / FILE).read_bytes()))
        opened = Opening.model_validate_json(each_key_once((folder / OPENED).read_bytes()))
    except (OSError, ValueError) as error:
        raise InputError(f'{folder}: got no commitment that can be read ({in_words(error):.200}), '
                         f'expected {FILE} and {OPENED} as suite run writes them') from None
    if not made.is_opened_by(opened.salt):
        raise InputError(f'{folder / OPENED}: got SHA-256 {made.digest(opened.salt)[:12]} of its '
                         f'salt and of {FILE}, expected {made.commitment[:12]} as in {FILE}: one '
                         f'of both was changed')
    return made, opened


def seed_from(salt: str, suite_sha256: str) -> int:
    """Return the seed of a run: a chosen one itself, else from the hash of salt and suite."""
    kind, _, chosen = salt.partition(':')
    if kind == 'chosen':
        return int(chosen)
    data = json.dumps([salt, suite_sha256]).encode()
    return int.from_bytes(hashlib.sha256(data).digest()[:8], 'big') % SEEDS


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
        if first in OF_SUITE or (first not in REACH and why_not(name) is not None):
            errors.append(SettingsError(
                f'--set {name}: got a setting that the suite decides, expected one of the '
                f'controller, the link, the world or the profile. With another one the card would '
                f'be of no suite'))
    refuse(errors)


def trial_settings(suite: Suite, scenarios: Sequence[Scenario], seed: int,
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
    with removed_if_refused(folder):
        for arm in arms:  # a misspelt one is not found only after those before it have run
            plan_campaign(arm.settings.model_copy(update={
                'scenarios': tuple(suite.scenarios), 'output': str(folder / arm.name)}),
                scenarios, within=folder)
    begin_folder(folder)
    write_whole(folder / SUITE, suite.model_dump_json(indent=2))
    made, opening = commit(suite, tuple(arm.name for arm in arms), trials or suite.trials, folder,
                           seed=seed, protocol_sha256=protocol_sha256,
                           baselines=tuple(one.name for one in arms if one.is_baseline))
    chosen = seed_from(opening.salt, suite.sha256)
    tell(f'Commitment: {made.commitment}' if seed is None else
         f'Seed {seed}: chosen by you, which the card states')
    try:
        wanted = trial_settings(suite, scenarios, chosen, made.trials)
        for arm in arms:
            settings = arm.settings.model_copy(update={**wanted, 'output': str(folder / arm.name)})
            with observed(settings) as observers:
                if run_campaign(settings, observers, scenarios=scenarios,
                                within=folder).interrupted:
                    break
    finally:
        open_commitment(opening, folder)
    return made


def names_set(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the dotted name of each setting in nested ones."""
    return (name for name, _ in flat(data))
