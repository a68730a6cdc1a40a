# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The plan of a matrix: a campaign for each arm, all with the same trials, and their order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import hashlib
from itertools import chain, combinations, zip_longest
from pathlib import Path
import random
from typing import Any

from safety_scenarios.campaign.folder.folder import SETTINGS, settings_of
from safety_scenarios.campaign.plan import CampaignPlan, plan_campaign, TrialTask
from safety_scenarios.campaign.resuming import run_suffix
from safety_scenarios.errors import InputError, refuse, SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.formats.scenario_files import portable
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.fields import flat
from safety_scenarios.scenario.settings import EXTERNAL, RunSettings
from safety_scenarios.studies.matrix.arms import Arm
from safety_scenarios.studies.matrix.file import freeze, is_label, MatrixFile, MAY_DIFFER, Order
from safety_scenarios.trial.identity import Identity
from safety_scenarios.trial.trial import Trial

_HASH = 'SHA-256 of '


@dataclass(frozen=True)
class Effective:
    """What tells an arm from others, by name to value; what has its default is left out."""

    shown: Mapping[str, str]
    judged: Mapping[str, str]
    """Without what makes no other controller: equal ones are one arm, whatever their names. A
    model counts by its content, not by the name of its file."""

    @classmethod
    def of(cls, spec: ControllerSpec, identity: Identity | None,
           settings: RunSettings) -> 'Effective':
        """Return it as plan and settings of a campaign say it."""
        files = () if identity is None else identity.artifacts
        default = dict(flat(RunSettings().model_dump(mode='json')))
        chosen = {name: str(value) for name, value in flat(settings.model_dump(mode='json'))
                  if name.partition('.')[0] in MAY_DIFFER and default.get(name) != value
                  and name not in ('controller', 'controller_parameters')}
        own = {f'controller.{name}': str(value) for name, value in spec.parameters.items()}
        shown = {'controller': spec.name, **own,
                 **{f'{_HASH}{one.name}': one.sha256 for one in files}, **chosen}
        is_file = any(one.given_by == 'controller' for one in files)
        judged = {
            'controller': spec.name.partition(':')[0] if is_file else spec.name,
            **{name: value for name, value in own.items() if not any(
                one.given_by == name for one in files)},
            'files': ' '.join(sorted(one.sha256 for one in files)),
            **{name: value for name, value in chosen.items()
               if spec.name == EXTERNAL or not is_label(name)}}
        return cls(shown, judged)


def effective_in(folder: Path) -> Effective:
    """
    Return that of a campaign that was run.

    :raises SettingsError: the folder is none of a campaign
    """
    settings = settings_of(folder)
    return Effective.of(settings.controller, settings.sut, settings.run)


_WARMUP = 1
"""Trials before the others of each scenario and arm, where time is real: the first of a process
waits for what later ones have in memory."""


@dataclass(frozen=True)
class PlannedArm:
    """One arm and its campaign."""

    arm: Arm
    plan: CampaignPlan

    @property
    def name(self) -> str:
        """Return its name, which is that of its folder."""
        return self.arm.name

    @property
    def effective(self) -> Effective:
        """Return what tells it from other arms."""
        return Effective.of(self.plan.controller, self.plan.identified.identity,
                            self.plan.setup.recorded)


@dataclass(frozen=True)
class MatrixPlan:
    """What a matrix is going to do."""

    matrix: MatrixFile
    """As it is frozen."""
    arms: tuple[PlannedArm, ...]
    tasks: tuple[tuple[str, TrialTask], ...]
    """All trials with the names of their arms, in the order in which they are run."""
    folder: Path

    @property
    def first(self) -> CampaignPlan:
        """Return the campaign of the first arm."""
        return self.arms[0].plan


def plan_matrix(matrix: MatrixFile, arms: Sequence[Arm], folder: Path) -> MatrixPlan:
    """
    Work out what each arm does, or refuse it with every reason at once.

    :param matrix: with every arm written out
    :param folder: of the matrix; each arm has its own below it, where it may have been cut off
    :raises InputError: an arm cannot be run, two are equal, or their trials are not the same
    """
    first = arms[0].settings
    if first.sequential.p1:
        raise SettingsError(f'sequential.p1: got {first.sequential.p1:g} with several arms, '
                            f'expected 0: each would end after other trials, and no pairs were '
                            f'left. Leave it out')
    if first.shard:
        raise SettingsError(f'shard: got {first.shard} with several arms, expected none: parts of '
                            f'a matrix cannot be put together. Use more processes with jobs, or '
                            f'run each arm by itself')
    scenarios = load_scenarios(first.scenarios, first.regex).scenarios
    errors: list[InputError] = []
    planned: list[PlannedArm] = []
    for arm in arms:
        try:
            planned.append(PlannedArm(arm, plan_campaign(
                _warm(arm), scenarios, folder=folder / arm.name,
                suffix=_suffix(folder / arm.name))))
        except InputError as error:
            errors.append(SettingsError('\n'.join(
                f'arm {arm.name}: {line}' for line in error.lines)))
    refuse(errors)
    refuse(SettingsError(text) for text in (*_equal(planned), *_unlike(planned)))
    is_real = not arms or not planned[0].plan.setup.link_plugin.in_simulated_time
    order = matrix.order or ('block' if is_real else 'trial')
    frozen = freeze(portable(matrix.model_copy(update={'order': order, 'sha256': ''})))
    return MatrixPlan(frozen, tuple(planned), tuple(_ordered(planned, order)), folder)


def _suffix(folder: Path) -> str | None:
    """Return what ends the trial ids of an arm that was begun in real time."""
    return run_suffix(folder) if (folder / SETTINGS).is_file() else None


def _warm(arm: Arm) -> Any:
    """Return an arm's settings, with a warm-up where time is real and none was asked for."""
    is_real = arm.settings.link == 'ros' and not arm.settings.clock.lockstep
    is_asked = 'warmup' in arm.settings.model_fields_set
    return arm.settings if is_asked or not is_real else \
        arm.settings.model_copy(update={'warmup': _WARMUP})


def _equal(planned: Sequence[PlannedArm]) -> Iterator[str]:
    """Yield which arms are the same controller with the same settings."""
    for one, other in combinations(planned, 2):
        if one.effective.judged == other.effective.judged:
            yield (f'arm {other.name}: got the configuration of arm {one.name} '
                   f'({one.plan.controller.label}), expected another one: two equal arms show no '
                   f'difference. Take one out, or set what should differ')


def _unlike(planned: Sequence[PlannedArm]) -> Iterator[str]:
    """Yield which arms do not meet the trials that the first one meets."""
    first = planned[0]
    for other in planned[1:]:
        for mine, theirs in zip_longest(first.plan.trials, other.plan.trials):
            if mine is None or theirs is None or _met(mine) != _met(theirs):
                which = (mine or theirs).scenario.id
                yield (f'arm {other.name}: got other trials of {which} than arm {first.name}, '
                       f'expected the same worlds and seeds in each arm')
                break


def _met(trial: Trial) -> Trial:
    """Return a trial without whom it is against."""
    return trial.model_copy(update={'trial_id': '', 'controller': '', 'spec': None})


def _ordered(planned: Sequence[PlannedArm], order: Order) -> Iterator[tuple[str, TrialTask]]:
    """
    Yield every trial with the name of its arm, in the order in which they are run.

    Whatever drifts on this machine (temperature, load, free memory) meets all arms alike: the
    order of the arms is drawn anew for each trial, or for each scenario.
    """
    tasks = {one.name: one.plan.tasks for one in planned}
    seed = planned[0].plan.seed
    if order == 'trial':
        for place, row in enumerate(zip(*tasks.values(), strict=True)):
            yield from _shuffled(list(zip(tasks, row, strict=True)), f'{seed}/order/{place}')
        return
    for scenario in dict.fromkeys(task.trial.scenario.id for task in tasks[planned[0].name]):
        blocks = [[(name, task) for task in some if task.trial.scenario.id == scenario]
                  for name, some in tasks.items()]
        yield from chain.from_iterable(_shuffled(blocks, f'{seed}/order/{scenario}'))


def _shuffled(some: list[Any], seed: str) -> list[Any]:
    chance = random.Random(hashlib.sha256(seed.encode()).digest())
    chance.shuffle(some)
    return some
