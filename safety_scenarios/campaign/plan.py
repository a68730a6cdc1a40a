# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The plan of a campaign: settings and scenarios with everything worked out, before anything is run.

Whatever runs, judges or writes trials sees the plan, and not the settings that it came from.
"""

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
import hashlib
from importlib.util import find_spec
from pathlib import Path
import secrets
from typing import Any, TypeVar

from safety_scenarios import registry
from safety_scenarios.are.apps_world import with_app_tools
from safety_scenarios.campaign.folder.files import plan_sha256
from safety_scenarios.campaign.folder.provenance import beside_source, source_sha256
from safety_scenarios.campaign.identity import Identified, identify
from safety_scenarios.campaign.open_session import connection, plan_judge
from safety_scenarios.campaign.refusals import refusals, unbound
from safety_scenarios.campaign.workload import job_refusals, part_of, shard_refusals
from safety_scenarios.errors import counted, InputError, refuse, SettingsError
from safety_scenarios.formats.companion_files import scored_by
from safety_scenarios.formats.profile_file import load_profile
from safety_scenarios.formats.scenario_files import portable, portable_name
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.frames import STATIC
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.servers import AreSettings, JudgeServer
from safety_scenarios.scenario.settings import JudgedBy, LatencyLaw, RunSettings, SequentialTest
from safety_scenarios.trial.identity import Identity
from safety_scenarios.trial.link import ControllerPlan, LinkPlan
from safety_scenarios.trial.links.controller_settings import plan_controller, plan_link
from safety_scenarios.trial.links.isolated_controller import removed_if_refused
from safety_scenarios.trial.on_robot import on_robot
from safety_scenarios.trial.parameters import to_text
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.plan_data import planned_entries
from safety_scenarios.trial.session import Extract, LinkPlugin
from safety_scenarios.trial.trial import PlannedTrial, Trial

_Found = TypeVar('_Found')


@dataclass(frozen=True)
class TrialSetup:
    """What the trials of a campaign have in common: values and names, which can be pickled."""

    link: LinkPlan
    link_plugin: type[LinkPlugin]
    """What opens the link."""
    are: AreSettings | None
    """Where ARE is, whose apps answer; None: no apps."""
    judge: JudgeServer | None
    """What decides questions; None: no judge, or no question."""
    judged_by: JudgedBy
    sut: Identity
    """What tells the controller that is judged from others."""
    plan_sha256: str
    """Of everything that is planned in the campaign."""
    recorded: RunSettings
    """The settings, as the files of the campaign show them; they also name the files wanted."""
    begins_anew: bool = False
    """Whether each trial has a link of its own, with a clock and a controller that begin anew."""


@dataclass(frozen=True)
class Wants:
    """What a campaign wants to know of a trial beside its result."""

    preflight: bool = False
    """What the trial shows of the wiring: of the first one of each scenario."""
    events: bool = False
    """Its events: from the journal, or without one with the record."""
    extracts: tuple[Extract, ...] = ()
    """Functions of modules, called where the trial was run."""


@dataclass(frozen=True)
class TrialTask:
    """One trial to execute, in this process or in another."""

    setup: TrialSetup
    trial: Trial
    folder: Path | None = None
    """Of the campaign, where the trial's files go; None: it leaves none."""
    wants: Wants = Wants()
    is_counted: bool = True
    """False: run for what it shows, or leaves in a controller; it has no files, and no sink."""


@dataclass(frozen=True)
class CampaignPlan:
    """What a campaign is going to do."""

    setup: TrialSetup
    scenarios: tuple[Scenario, ...]
    """After selection, with the rubrics that score them and the tools of their apps."""
    trials: tuple[Trial, ...]
    """In the order in which they are run, warm-up included; those of the shard, if it is one."""
    entries: tuple[PlannedTrial, ...]
    """What the folder says of each trial, those of other shards too."""
    identified: Identified
    """The controller as it was before the first trial."""
    folder: Path | None
    """Where the results go; None: nowhere but to the observers."""
    seed: int
    sequential: SequentialTest
    latency_law: LatencyLaw
    is_in_harness: bool
    """Whether code that is not the harness's runs in its process as the controller."""

    @property
    def command(self) -> str:
        """Return the command line that runs the same campaign again."""
        own = tuple(to_text(*one) for one in self.controller.parameters.items())
        settings = self.setup.recorded.model_copy(update={'controller_parameters': own})
        profile = load_profile(settings.profile) if settings.profile else None
        return settings.model_copy(update={
            'profile': portable_name(settings.profile)}).command(profile)

    @property
    def controller(self) -> ControllerSpec:
        """Return the controller under test."""
        return self.setup.link.controller.spec

    @property
    def readable(self) -> str:
        """Return why the controller could read the files of the campaign; empty: it cannot."""
        return self.setup.link.controller.readable

    @property
    def tasks(self) -> tuple[TrialTask, ...]:
        """Return the trials as tasks, in order."""
        return tuple(TrialTask(self.setup, trial, self.folder) for trial in self.trials)


def plan_campaign(settings: RunSettings, scenarios: Sequence[Scenario], *,
                  controller: Any = None, folder: Path | None = None,
                  with_unbound: bool = True, suffix: str | None = None,
                  within: Path | None = None, before: Sequence[Path] = ()) -> CampaignPlan:
    """
    Work out what a campaign with these settings does, or refuse it with every reason at once.

    :param controller: the controller itself, if no plug-in has the name in the settings
    :param folder: where the results go; None: nowhere
    :param with_unbound: take scenarios too whose agents have no controller; each of their trials
        is inconclusive
    :param suffix: ends the trial ids of a campaign in real time; None: a fresh one
    :param within: folder of the study that the campaign is a part of; None: of none
    :param before: folders of campaigns with the same trials, which are hidden too
    :raises InputError: nothing has been run or written then
    """
    files = within or folder or (Path(settings.output) if settings.output else None)
    with removed_if_refused(files):
        return _planned(settings, scenarios, controller, folder, suffix,
                        tuple(one.absolute() for one in (files, *before) if one is not None),
                        with_unbound=with_unbound)


def _planned(settings: RunSettings, scenarios: Sequence[Scenario], controller: Any,
             folder: Path | None, suffix: str | None, hidden: Sequence[Path], *,
             with_unbound: bool) -> CampaignPlan:
    refused, given, settings = _Refusals(), settings, settings.seeded()
    chosen = refused.attempt(lambda: scored_by(settings.selection.of(scenarios), settings.rubric),
                             tuple(scenarios))
    chosen = refused.attempt(lambda: on_robot(given, chosen), tuple(chosen))
    against = refused.attempt(
        lambda: plan_controller(settings, controller, hidden),
        ControllerPlan(ControllerSpec(name=settings.controller), given=controller))
    recorded = replace(against, spec=portable(against.spec))
    link = plan_link(settings, recorded)
    if not with_unbound:
        refused.errors += unbound(chosen)
    plugin = refused.attempt(lambda: connection(settings.link), LinkPlugin)
    refused.errors += shard_refusals(given, is_repeatable=plugin.is_repeatable)
    refused.errors += job_refusals(settings, link, plugin)
    refused.errors += refusals(chosen, link, plugin, settings.world.kind)
    judge = refused.attempt(lambda: plan_judge(
        settings.judge, chosen, against.model, settings.words), None)
    source = source_sha256(against.spec)
    identified = refused.attempt(lambda: identify(
        settings, against.spec, source, folder, beside_source(against)), None)
    are = settings.are if settings.world.kind == 'are' else None
    if are is not None and not refused.errors:
        chosen = refused.attempt(lambda: with_app_tools(chosen, are), chosen)
    refuse(refused.errors)
    assert identified is not None
    trials = _only(plan_trials(settings, chosen, recorded.spec, plugin, suffix), settings.only)
    chosen = tuple(one for one in chosen if any(each.scenario.id == one.id for each in trials))
    begins_anew = plugin.is_repeatable and not settings.keeps_controller
    trials = drawn_order(trials, settings.seed, in_blocks=not begins_anew)
    entries = tuple(planned_entries(trials))
    trials = part_of(settings, trials, lambda trial: trial.scenario.id)
    if entries and not trials:
        raise SettingsError(f'shard: got {settings.shard}, and the plan has only '
                            f'{counted(len(entries), "trial")}. Ask for fewer shards')
    return CampaignPlan(
        TrialSetup(link, plugin, are, judge, settings.judged_by, identified.identity,
                   plan_sha256(entries), portable(settings), begins_anew),
        chosen, trials, entries, identified, folder, settings.seed, settings.sequential,
        settings.latency_law, plugin.in_this_process and against.is_in_harness)


def drawn_order(trials: Sequence[Trial], seed: int, *, in_blocks: bool) -> tuple[Trial, ...]:
    """
    Return trials in the order in which they are run, which follows from the seed alone.

    A controller that counts trials cannot tell by that which scenario comes next. The trials of
    one scenario keep their order, which a sequential test needs.

    :param in_blocks: all trials of a scenario one after the other, because they share a link
    """
    waiting: dict[str, deque[Trial]] = {}
    for trial in trials:
        waiting.setdefault(trial.scenario.id, deque()).append(trial)

    def turn(trial: Trial) -> bytes:
        place = '' if in_blocks else f'/{trial.index}'
        return hashlib.sha256(f'{seed}/order/{trial.scenario.id}{place}'.encode()).digest()
    return tuple(waiting[trial.scenario.id].popleft() for trial in sorted(trials, key=turn))


def _only(trials: Sequence[Trial], wanted: Collection[str]) -> tuple[Trial, ...]:
    """
    Return some trials, and the warm-up of their scenarios.

    :param wanted: each as SCENARIO:INDEX; none: all
    """
    wanted = set(wanted)
    missing = wanted - {f'{one.scenario.id}:{one.index}' for one in trials}
    if missing:
        raise SettingsError(f'only: got {min(missing)}, expected a trial that is planned, such as '
                            f'{trials[-1].scenario.id}:{trials[-1].index}')
    scenarios = {one.rpartition(':')[0] for one in wanted}
    return tuple(one for one in trials if not wanted or (
        one.scenario.id in scenarios if one.warmup else
        f'{one.scenario.id}:{one.index}' in wanted))


def plan_trials(settings: RunSettings, scenarios: Sequence[Scenario], spec: ControllerSpec,
                plugin: type[LinkPlugin], suffix: str | None = None) -> tuple[Trial, ...]:
    """
    Return the trials of scenarios as they are on the robot.

    :param settings: with a seed
    :param suffix: of the trials' ids over a link that does not repeat; None: a fresh one
    :raises InputError: a drawn value does not fit
    """
    wanted = {one.rpartition(':')[2] for one in settings.only}
    only = [index for index in range(settings.trials) if str(index) in wanted]
    return plan(scenarios, controller=spec, trials=settings.trials, seed=settings.seed,
                prompt=registry.resolve('stimuli', 'prompt')(), warmup=settings.warmup,
                run='' if plugin.is_repeatable else suffix or secrets.token_hex(3),
                has_frames=_passes_frames(settings), scanners=settings.scanners,
                indices=[*range(-settings.warmup, 0), *only] if only else None)


def _passes_frames(settings: RunSettings) -> bool:
    """Return whether controllers can be told where the frame of a scanner is."""
    return settings.link != 'ros' or (
        settings.static_transforms == 'auto' and find_spec('tf2_msgs') is not None
        and (not settings.hil.enabled or STATIC in settings.hil.publishes))


class _Refusals:
    """Errors in the input, kept until all of them are known."""

    def __init__(self) -> None:
        self.errors: list[InputError] = []

    def attempt(self, find: Callable[[], _Found], fallback: _Found) -> _Found:
        """Return what is found, or the fallback where it is refused."""
        try:
            return find()
        except InputError as error:
            self.errors.append(error)
            return fallback
