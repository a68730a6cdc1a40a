# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The trials of a plan, shared out: among machines as shards, among cores as jobs."""

from collections.abc import Callable, Iterator, Sequence
import os
from typing import TypeVar

from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.scenario.settings import FRESH, RunSettings
from safety_scenarios.trial.link import LinkPlan
from safety_scenarios.trial.session import LinkPlugin

_One = TypeVar('_One')


def numbers(shard: str) -> tuple[int, int]:
    """Return number and count of a shard such as 3/8; without one, the whole is 1 of 1."""
    number, _, count = (shard or '1/1').partition('/')
    return int(number), int(count)


def part_of(settings: RunSettings, trials: Sequence[_One],
            scenario_of: Callable[[_One], str]) -> tuple[_One, ...]:
    """
    Return the trials of a shard, in order.

    They are dealt out one by one, and scenario by scenario where a controller is kept for all
    trials of one.
    """
    number, count = numbers(settings.shard)
    if count == 1:
        return tuple(trials)
    places = {name: place for place, name in enumerate(dict.fromkeys(map(scenario_of, trials)))}
    return tuple(one for place, one in enumerate(trials) if number - 1 == (
        places[scenario_of(one)] if settings.keeps_controller else place) % count)


def shard_refusals(settings: RunSettings, *, is_repeatable: bool) -> Iterator[SettingsError]:
    """
    Yield why a campaign cannot be run in shards.

    :param settings: as they were given, with the seed that was asked for
    """
    if not settings.shard:
        return
    where = f'shard: got {settings.shard}'
    if settings.seed == FRESH:
        yield SettingsError(f'{where} without a seed, expected one, such as --seed 1: every shard '
                            f'needs the same')
    if settings.sequential.p1:
        yield SettingsError(f'{where} with sequential.p1 {settings.sequential.p1:g}, expected 0: '
                            f'the test needs all trials of a scenario in their order')
    if not is_repeatable:
        yield SettingsError(f'{where} with link {settings.link}, expected loopback or simulated: '
                            f'in real time each campaign has trials of its own. Run one on each '
                            f'machine, with a seed of its own')


def job_refusals(settings: RunSettings, plan: LinkPlan, plugin: type[LinkPlugin],
                 cores: int | None = None) -> Iterator[SettingsError]:
    """
    Yield why so many trials cannot be run at a time.

    :param cores: that this process may use; None: as it is
    """
    where = f'jobs: got {settings.jobs}'
    if settings.engine == 'ray':
        where = 'engine: got ray'
        if not plugin.is_repeatable:
            yield SettingsError(f'{where} with link {settings.link}, expected loopback or '
                                f'simulated: what else runs on a machine of the cluster would '
                                f'delay stimuli and answers')
    elif settings.jobs == 1:
        return
    if plan.controller.given is not None:
        yield SettingsError(f'{where} with a controller that is an object of this process, '
                            f'expected one that each process can import: name it MODULE:NAME')
    if plugin.is_repeatable:
        return
    if settings.hil.enabled or plan.controller.is_external or plan.world == 'external':
        yield SettingsError(f'{where} with a robot or controller that runs already, expected 1: '
                            f'it cannot take part in several trials at a time')
    if settings.domain_id >= 0:
        yield SettingsError(f'{where} with domain_id {settings.domain_id}, expected -1: each '
                            f'trial needs a ROS domain of its own')
    if is_in_lockstep(plan):
        return
    known = len(os.sched_getaffinity(0)) if cores is None else cores
    each = cores_each(plan)
    if settings.jobs * each > known:
        yield SettingsError(
            f'{where} with link {settings.link} in real time, expected at most {known // each} '
            f'on {counted(known, "core")}, {each} for each job. Trials that share a core delay '
            f'each other by time slices of the scheduler, which are longer than the guard band of '
            f'a latency. Use fewer jobs, another machine, or lock-step')


def cores_each(plan: LinkPlan) -> int:
    """Return how many cores a trial in real time needs: two where a simulator runs beside it."""
    return 1 if plan.world == 'none' else 2


def is_in_lockstep(plan: LinkPlan) -> bool:
    """Return whether time waits for the harness, so that a busy machine spoils no measurement."""
    return plan.clock.lockstep and plan.world == 'mujoco'


def cores_of(jobs: int, plan: LinkPlan, plugin: type[LinkPlugin]) -> Sequence[Sequence[int]]:
    """Return the cores of each job in real time, which no other job uses; else empty."""
    if plugin.is_repeatable or is_in_lockstep(plan):
        return ()
    cores = sorted(os.sched_getaffinity(0))
    each = max(1, len(cores) // jobs)
    return [cores[begin:begin + each] for begin in range(0, jobs * each, each)]
