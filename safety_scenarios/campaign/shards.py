# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which trials of a plan are those of one shard, so that several machines share a campaign."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.settings import FRESH, RunSettings

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
