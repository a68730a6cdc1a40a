# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What may be claimed of a campaign, and what not, in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safety_scenarios.campaign.statistics.proportions import out_of
from safety_scenarios.errors import counted
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.rounding import percent_up
from safety_scenarios.trial.summary import CampaignSummary, Claimable

_MOST_SCENARIOS = 100
_MOST_RANGES = 6
_LINKS = {'ros': 'over ROS', 'loopback': 'in simulated time, without messages',
          'simulated': 'in the embedded world, in simulated time',
          'recording': 'from a recording', 'bag': 'from a bag',
          'monitor': 'as a monitor received it in operation'}
_UNKNOWN = ('bag', 'monitor', 'recording')
"""Nothing was published there, so that it is not known who sent the messages."""


@dataclass(frozen=True)
class ClaimText:
    """Three lists of sentences."""

    may: tuple[str, ...]
    """Each with its bound; empty where nothing may be claimed."""
    about: tuple[str, ...]
    """What trials the bounds are about."""
    may_not: tuple[str, ...]
    """What they are not about."""


def claims_of(summary: CampaignSummary, results: Sequence[TrialResult],
              settings: Mapping[str, Any], flaws: Sequence[str]) -> ClaimText:
    """
    Return what may be claimed.

    :param settings: those of the campaign, as ``settings.json`` has them
    :param flaws: what in the folder is not as its campaign left it: nothing may be claimed then
    """
    if flaws:
        return ClaimText((), (), ('Anything: this folder is not as its campaign left it.',))
    if not summary.claims:
        why = 'its trials were named one by one (only)' if summary.is_chosen else \
            'not one thing was judged' if summary.sut is not None and summary.sut.doubts \
            else 'there are no trials'
        return ClaimText((), (), (f'Anything: {why}.',))
    return ClaimText(tuple(_may(summary)), tuple(_about(summary, results, settings)),
                     tuple(_may_not(summary, settings)))


def _may(summary: CampaignSummary) -> Iterator[str]:
    names = {row.scenario_id: row.scenario_name for row in summary.scenarios}
    whole = [one for one in summary.claims if one.scenario_id is None]
    single = [one for one in summary.claims if one.scenario_id is not None]
    for one in (*whole, *single[:_MOST_SCENARIOS]):
        who = f'{one.scenarios} scenarios, each as often as it was run' \
            if one.scenario_id is None else f'{names[one.scenario_id]} ({one.scenario_id})'
        yield f'{who}: {_bound(one)}.'
    if len(single) > _MOST_SCENARIOS:
        yield f'And {len(single) - _MOST_SCENARIOS} more scenarios, in campaign.json.'


def _bound(one: Claimable) -> str:
    bound = one.bound
    open_ = '; undecided counts as bad' if one.undecided else ''
    made = f'{one.bad} in {out_of(one.trials, bound.n)}{open_}'
    if bound.high is None or bound.high >= 1.0:
        return f'no bound of {one.what} ({made})'
    stop = ', at any stop' if 'at any stop' in bound.method else ''
    return (f'at most {percent_up(bound.high)} {one.what} at {100 * bound.confidence:g} % '
            f'({made}{stop})')


def _about(summary: CampaignSummary, results: Sequence[TrialResult],
           settings: Mapping[str, Any]) -> Iterator[str]:
    run = settings.get('settings', {})
    run = run if isinstance(run, Mapping) else {}
    profile = run.get('profile') or 'the robot of the scenario files'
    world = run.get('world')
    world = world.get('kind') if isinstance(world, Mapping) else world
    where = f', world {world}' if world and world != 'none' else ''
    yield (f'{summary.controller}, with {profile}{where}, '
           f'{_LINKS.get(summary.link, summary.link)}.')
    drawn = list(_ranges(results))
    yield ('Trials that these scenario files draw at random'
           + (f': {", ".join(drawn[:_MOST_RANGES])}' if drawn else '')
           + (f' and {len(drawn) - _MOST_RANGES} more' if len(drawn) > _MOST_RANGES else '') + '.')


def _ranges(results: Sequence[TrialResult]) -> Iterator[str]:
    """Yield what was drawn with the range in which these trials had it."""
    found: dict[str, list[Any]] = {}
    for result in results:
        for name, value in result.drawn.items():
            found.setdefault(name, []).append(value)
    for name, values in sorted(found.items()):
        numbers = [value for value in values if isinstance(value, (int, float))
                   and not isinstance(value, bool)]
        yield f'{name} {_short(min(numbers))} to {_short(max(numbers))}' \
            if len(numbers) == len(values) \
            else f'{name} of {counted(len(set(map(str, values))), "kind")}'


def _short(value: float) -> str:
    return f'{value:.0f}' if abs(value) >= 100 else f'{value:.3g}'


def _may_not(summary: CampaignSummary, settings: Mapping[str, Any]) -> Iterator[str]:
    run = settings.get('settings', {})
    hil = run.get('hil', {}) if isinstance(run, Mapping) else {}
    is_real = isinstance(hil, Mapping) and bool(hil.get('enabled'))
    yield 'Another robot, controller build, sensor, or a range that no scenario draws.'
    if len(summary.scenarios) > 1:
        for what, rate in (('missed hazards', summary.missed),
                           ('false stops', summary.false_stops)):
            if rate.of and rate.share.high is not None:
                yield (f'Other scenarios of this kind: up to {percent_up(rate.share.high)} '
                       f'{what} are not excluded (two-sided 95 %).')
    else:
        yield 'Other scenarios.'
    if not is_real:
        yield ('A real robot: nothing here was measured on hardware.' if summary.link == 'ros'
               else 'A real robot: nothing here shows whether it was one.'
               if summary.link in _UNKNOWN
               else 'A real robot or real messages: times are simulated.')
    yield ('Trials that a person or a search chose: only trials that a scenario draws count. All '
           'bounds together: each holds at 95 % by itself.')
