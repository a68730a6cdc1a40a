# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The plan of a matrix, a campaign for each arm on the same trials, and its run.

Every arm is a campaign of its own, with its own folder, link and controller, which begin alike:
before a scenario the link is opened anew, and the same warm-up trials are run in each arm.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
import hashlib
from itertools import chain, combinations, zip_longest
from pathlib import Path
import random
from typing import Any

from safety_scenarios.campaign.engines.choice import engine_for
from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.folder import (
    begin_folder,
    ended,
    MANIFEST,
    SETTINGS,
    settings_of,
)
from safety_scenarios.campaign.observed import ObservedCampaign
from safety_scenarios.campaign.open_session import OpenSession
from safety_scenarios.campaign.plan import CampaignPlan, plan_campaign, TrialTask
from safety_scenarios.campaign.process import uninterrupted
from safety_scenarios.campaign.rejudging.rejudge import results_of
from safety_scenarios.campaign.resuming import run_suffix
from safety_scenarios.campaign.run import OpenCampaign, run_tasks
from safety_scenarios.campaign.trials import TrialDone
from safety_scenarios.errors import InputError, refuse, SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.formats.scenario_files import portable
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.fields import flat
from safety_scenarios.scenario.settings import EXTERNAL, RunSettings
from safety_scenarios.studies.matrix.arm_comparison import ArmDone, summarise
from safety_scenarios.studies.matrix.file import (
    Arm,
    FILE,
    freeze,
    is_label,
    MatrixFile,
    MAY_DIFFER,
    Order,
    read_matrix,
    write_matrix,
)
from safety_scenarios.studies.matrix.summary import MatrixSummary
from safety_scenarios.trial.identity import Identity
from safety_scenarios.trial.links.isolated_controller import removed_if_refused
from safety_scenarios.trial.session import Observer
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
    with removed_if_refused(folder):
        return _planned(matrix, arms, folder)


def _planned(matrix: MatrixFile, arms: Sequence[Arm], folder: Path) -> MatrixPlan:
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
                suffix=_suffix(folder / arm.name), within=folder)))
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


SUMMARY = 'matrix.json'
Observers = Callable[[PlannedArm], AbstractContextManager[Sequence[Observer]]]
"""Arm to who observes its campaign."""


@dataclass(frozen=True)
class MatrixDone:
    """A matrix that was run."""

    summary: MatrixSummary
    arms: Mapping[str, ArmDone]


class Arms:
    """
    The campaigns of a matrix while their trials are run by one engine.

    :param campaigns: by the id of what the trials of each have in common
    """

    def __init__(self, campaigns: Mapping[int, ObservedCampaign]) -> None:
        self._campaigns = campaigns

    @property
    def interrupted(self) -> bool:
        """Return whether the user has ended the matrix."""
        return any(one.interrupted for one in self._campaigns.values())

    @interrupted.setter
    def interrupted(self, value: bool) -> None:
        for one in self._campaigns.values():
            one.interrupted = value

    def tasks(self, tasks: Sequence[TrialTask]) -> Sequence[TrialTask]:
        """Return tasks with what the observers of their arms want to know."""
        found = {key: iter(one.tasks([task for task in tasks if id(task.setup) == key]))
                 for key, one in self._campaigns.items()}
        return [next(found[id(task.setup)]) for task in tasks]

    def keep(self, tasks: Sequence[TrialTask]) -> Sequence[TrialTask]:
        """Take what was run before, and return tasks that show again what is lost of it."""
        return [again for key, one in self._campaigns.items()
                for again in one.keep([task for task in tasks if id(task.setup) == key])]

    def is_kept(self, task: TrialTask) -> bool:
        """Return whether a trial was run before."""
        return self._campaigns[id(task.setup)].is_kept(task)

    def finished(self, task: TrialTask) -> TrialDone | None:
        """Return what a trial came to that was complete before its line was written."""
        return self._campaigns[id(task.setup)].finished(task)

    def note_preflight(self, task: TrialTask, done: TrialDone) -> None:
        """Keep what the first trial of a scenario shows of the wiring."""
        self._campaigns[id(task.setup)].note_preflight(task, done)

    def is_wanted(self, task: TrialTask) -> bool:
        """Return whether a trial is needed."""
        return self._campaigns[id(task.setup)].is_wanted(task)

    def take(self, task: TrialTask, done: TrialDone) -> None:
        """Take what the next trial came to."""
        self._campaigns[id(task.setup)].take(task, done)


class _Turns:
    """
    Gives each task the session of its arm.

    Where arms take turns in blocks, the link of one is closed before that of the next is opened:
    no controller waits, and takes time from the processor, while another one is measured.

    :param sessions: by the id of what the trials of each arm have in common
    """

    def __init__(self, sessions: Mapping[int, OpenSession], order: Order | None) -> None:
        self._sessions, self._order = sessions, order
        self._last: OpenSession | None = None

    def __call__(self, task: TrialTask) -> OpenSession:
        session = self._sessions[id(task.setup)]
        if self._order == 'block' and self._last is not None and self._last is not session:
            self._last.leave()
        self._last = session
        return session


def run_matrix(plan: MatrixPlan, observers: Observers, *, resumed: bool = False) -> MatrixDone:
    """
    Run a planned matrix and write its folder.

    :param resumed: go on in the folder, where a matrix with the same plan was cut off; an arm
        that has ended stays as it is
    :raises SettingsError: the folder is not empty, or of another matrix
    """
    ended_before = _resume(plan) if resumed else _begin(plan)
    waiting = [arm for arm in plan.arms if arm.name not in ended_before]
    done = dict(ended_before)
    with ExitStack() as stack:
        opened = {arm.name: OpenCampaign(
            stack, arm.plan, stack.enter_context(observers(arm)),
            resumed=resumed and (plan.folder / arm.name / SETTINGS).is_file()) for arm in waiting}
        by_setup = {id(arm.plan.setup): opened[arm.name] for arm in waiting}
        engine = engine_for(plan.first.setup, _Turns(
            {key: one.open_session for key, one in by_setup.items()}, plan.matrix.order))
        run_tasks([task for name, task in plan.tasks if name in opened], engine,
                  Arms({key: one.campaign for key, one in by_setup.items()}))
        with uninterrupted():
            for arm in waiting:
                one = opened[arm.name]
                ids = {trial.trial_id for trial in arm.plan.trials}
                one.note([text for text in engine.retried if text.partition(':')[0] in ids])
                summary = one.summarised()
                one.end(summary)
                done[arm.name] = ArmDone(plan.folder / arm.name, one.results, summary,
                                         arm.effective.shown)
    with uninterrupted():
        arms = {arm.name: done[arm.name] for arm in plan.arms}
        found = summarise(plan.matrix, arms)
        write_whole(plan.folder / SUMMARY, found.model_dump_json(indent=2))
    return MatrixDone(found, arms)


def _begin(plan: MatrixPlan) -> Mapping[str, ArmDone]:
    folder = plan.folder
    begin_folder(folder)
    write_matrix(plan.matrix, folder)
    return {}


def _resume(plan: MatrixPlan) -> Mapping[str, ArmDone]:
    """Return the arms that have ended; take out what one left that had not really begun."""
    known, _ = read_matrix(plan.folder / FILE)
    if known.sha256 != plan.matrix.sha256:
        raise SettingsError(f'{plan.folder}: was run with another matrix (SHA-256 '
                            f'{known.sha256[:12]}..., got {plan.matrix.sha256[:12]}...). Leave '
                            f'out what differs, or run another matrix')
    found: dict[str, ArmDone] = {}
    for arm in plan.arms:
        folder = plan.folder / arm.name
        if not (folder / SETTINGS).is_file():
            _clear(folder)
            continue
        summary = ended(folder)
        if summary is not None and not summary.interrupted and (folder / MANIFEST).is_file():
            found[arm.name] = ArmDone(folder, results_of(folder), summary, arm.effective.shown)
    if len(found) == len(plan.arms) and (plan.folder / SUMMARY).is_file():
        raise SettingsError(f'{plan.folder}: its matrix has ended, and nothing is left to run. '
                            f'Read it with show, or run another matrix')
    return found


def _clear(folder: Path) -> None:
    """Take out the empty files of an arm that was killed before its first trial."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir() or (path.name != f'{SETTINGS}.part' and path.stat().st_size):
            raise SettingsError(f'{path}: got a folder with results and without {SETTINGS}, '
                                f'expected that of an arm. Take it out, or run another matrix')
        path.unlink()
