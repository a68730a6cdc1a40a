# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The conditions under which trials fail, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from safety_scenarios.errors import counted
from safety_scenarios.scenario.rounding import figures_up, percent_down, percent_up
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.studies.conditions.condition import Condition, FEWEST, Part, Search
from safety_scenarios.studies.conditions.effects import Effects
from safety_scenarios.studies.conditions.failures import FAILED, Kind, ScenarioConditions, UNJUDGED

_SIDES = 'bearing', 'lateral'
"""Fields whose sign is a side: positive is left (REP 103)."""
_LEAST_EFFECT = 0.05


def condition_lines(found: ScenarioConditions) -> Iterator[str]:
    """Yield what is known of one scenario, a sentence each."""
    yield (f'{found.scenario_name} ({found.scenario_id}): {found.failed} of '
           f'{counted(found.trials - found.undecided, "judged trial")} failed'
           + (f', {found.undecided} could not be judged' if found.undecided else ''))
    for kind in found.kinds:
        yield from (f'  {line}' for line in _kind_lines(kind, found.meanings))
    if found.effects is not None:
        yield f'  {effects_text(found.effects)}'


def _kind_lines(kind: Kind, meanings: Mapping[str, str]) -> Iterator[str]:
    search = kind.search
    what = kind.what if kind.what in (FAILED, UNJUDGED) else f'{kind.what}: fails'
    for condition, (inside, outside) in zip(search.conditions, kind.rates, strict=True):
        p = f'p {"<" if condition.p < 0.001 else "="} {figures_up(max(condition.p, 0.001), 2)}'
        lift = '' if condition.lift is None else f', {condition.lift:.3g} times as often'
        yield (f'{what} {_where(condition, meanings)}: {_share(condition.inside)} '
               f'{_ends_of(inside)}, elsewhere {_share(condition.outside)} {_ends_of(outside)}'
               f'{lift}; {p}, corrected for {search.candidates} conditions that were looked at')
        yield from (f'  {line}' for part in condition.parts for line in _ends(part))
    if search.conditions:
        yield ('these shares are of the trials that chose the condition: trials of another seed '
               'will show a smaller difference')
    if not search.conditions and kind.what in (FAILED, UNJUDGED):
        yield (f'no condition stands out among {search.candidates} that were looked at'
               if search.candidates else f'no condition could be looked at: {_nothing(search)}')
        if search.needed is not None and search.candidates:
            yield (f'one that holds in a quarter of the trials would be found with '
                   f'{search.needed} of {search.outcomes} in it' if search.needed
                   <= search.outcomes else
                   f'too few: about {search.needed} are needed, and there are {search.outcomes}. '
                   f'Run more trials')


def _nothing(search: Search) -> str:
    """Return why there was no condition to look at."""
    if not 0 < search.outcomes < search.trials:
        return 'all trials came out alike'
    if not search.differing:
        return 'nothing that was drawn differs between the trials'
    return (f'too few of {counted(search.trials, "trial")}: one has to hold in {FEWEST} or more, '
            f'and not in {FEWEST} or more')


def _share(counts: tuple[int, int]) -> str:
    return f'{counts[0]} of {counts[1]}'


def _ends_of(share: Estimate) -> str:
    return f'[{percent_down(share.low or 0.0)} to ' \
           f'{percent_up(1.0 if share.high is None else share.high)}]'


def _where(condition: Condition, meanings: Mapping[str, str]) -> str:
    return ' and '.join(part_text(part, meanings.get(part.axis, '')) for part in condition.parts)


def part_text(part: Part, meaning: str = '') -> str:
    """Return one part of a condition in words, such as ``where near is below 1.2 m``."""
    name = f'{part.axis} ({meaning})' if meaning and meaning != part.axis else part.axis
    if part.low is None and part.high is None:
        return f'where {name} is {part.value}'
    if meaning.startswith(_SIDES) and (part.low is None or part.high is None):
        end = part.low if part.low is not None else part.high
        assert end is not None
        if abs(end) < 0.15:
            side = 'left' if part.low is not None else 'right'
            return f'on the {side} ({_interval(part, part.axis)})'
    return f'where {_interval(part, name)}'


def _interval(part: Part, name: str) -> str:
    unit = f' {part.unit}' if part.unit else ''
    if part.low is None:
        return f'{name} is below {part.high:.4g}{unit}'
    if part.high is None:
        return f'{name} is at least {part.low:.4g}{unit}'
    return f'{name} is from {part.low:.4g} to {part.high:.4g}{unit}'


def _ends(part: Part) -> Iterator[str]:
    """Yield how well the trials tell where a threshold is."""
    unit = f' {part.unit}' if part.unit else ''
    for end, between in ((part.low, part.low_between), (part.high, part.high_between)):
        if end is not None and between is not None and between[0] < between[1]:
            yield (f'the threshold {end:.4g}{unit} of {part.axis} is between {between[0]:.4g} '
                   f'and {between[1]:.4g}{unit} (95 %)')


def effects_text(effects: Effects) -> str:
    """Return the draws with a share of the variance, or why there are none."""
    fit = f'a fitted model predicts {max(0.0, effects.fit):.0%} of the variance of trials that ' \
          f'it has not seen'
    if not effects.effects:
        chance = f'; where no draw matters, so good a fit has p = {figures_up(effects.p, 2)}' \
            if effects.fit > 0.0 else ''
        return f'effects of the draws: not stated, {fit}{chance}'
    told = ', '.join(f'{one.axis} {one.alone:.0%} (with others {one.with_others:.0%})'
                     for one in effects.effects if one.with_others >= _LEAST_EFFECT)
    return f'shares of the variance of failures (Sobol indices): {told}; {fit}'


def conditions_data(found: ScenarioConditions) -> dict[str, Any]:
    """Return the same for programs, as plain data."""
    return {
        'scenario_id': found.scenario_id, 'trials': found.trials, 'failed': found.failed,
        'undecided': found.undecided,
        'kinds': [_kind_data(kind, found.meanings) for kind in found.kinds],
        'effects': None if found.effects is None else _effects_data(found.effects)}


def _kind_data(kind: Kind, meanings: Mapping[str, str]) -> dict[str, Any]:
    pairs = zip(kind.search.conditions, kind.rates, strict=True)
    return {
        'what': kind.what, 'candidates': kind.search.candidates, 'needed': kind.search.needed,
        'outcomes': kind.search.outcomes, 'conditions': [{
            'text': _where(condition, meanings), 'p': condition.p, 'lift': condition.lift,
            'inside': inside.model_dump(mode='json'), 'outside': outside.model_dump(mode='json'),
            'parts': [asdict(part) for part in condition.parts]}
            for condition, (inside, outside) in pairs]}


def _effects_data(effects: Effects) -> dict[str, Any]:
    return {'fit': effects.fit, 'p': effects.p, 'indices': [
        asdict(one) for one in effects.effects]}
