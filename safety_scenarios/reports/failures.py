# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Trials that did not pass: one by one, by their causes, and by their conditions."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
import math
from textwrap import wrap
from typing import Any

from rich.text import Text
from safety_scenarios.errors import counted
from safety_scenarios.reports.plain_text import on_one_line, without_exponents
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.rounding import figures_up, percent_down, percent_up
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.studies.conditions.condition import (
    Closest,
    Condition,
    FEWEST,
    Part,
    Search,
)
from safety_scenarios.studies.conditions.failures import (
    Effects,
    FAILED,
    Kind,
    ScenarioConditions,
    UNJUDGED,
)

COLOURS = {Verdict.PASS: 'green', Verdict.INCONCLUSIVE: 'yellow', Verdict.ERROR: 'magenta',
           Verdict.FAIL: 'red'}
_FEW = 6
"""Trials up to which each has a sentence of its own."""
_LONGEST = 320
"""Characters of a sentence."""
_CLASSES = 'AEBCD'
"""Of failures, in the order of format 1: the most severe first."""


@dataclass
class Cause:
    """Trials of one verdict that have the same check in common."""

    verdict: Verdict
    check: str
    worst: TrialResult
    margin: float
    unit: str | None
    trials: int = 0
    missed: int = 0
    false_stops: int = 0
    scenarios: set[str] = field(default_factory=set)

    @property
    def sentence(self) -> str:
        """Return how many they are, and what happened in the worst."""
        said = self.worst.reason.removeprefix(f'{self.check}: ')
        kinds = [text for count, text in (
            (self.missed, counted(self.missed, 'hazard missed', 'hazards missed')),
            (self.false_stops, counted(self.false_stops, 'false stop'))) if count]
        among = f' ({", ".join(kinds)})' if kinds else ''
        return (f'{self.check}: {counted(self.trials, "trial")} in '
                f'{counted(len(self.scenarios), "scenario")}{among}. '
                f'{"Worst: " if self.trials > 1 else ""}{_place(self.worst)}: {said}'
                f'{_times_and_distances(self.worst)}')


class Failures:
    """Collects the trials that did not pass; a campaign of any size takes little memory."""

    def __init__(self, results: Iterable[TrialResult] = ()) -> None:
        self._causes: dict[tuple[Verdict, str], Cause] = {}
        self._first: list[TrialResult] = []
        self._count = 0
        for result in results:
            self.add(result)

    def add(self, result: TrialResult) -> None:
        """Take note of a trial."""
        if result.verdict is Verdict.PASS or result.warmup:
            return
        self._count += 1
        if self._count <= _FEW:
            self._first.append(result)
        check, margin, unit = _cause_of(result)
        cause = self._causes.setdefault(
            (result.verdict, check), Cause(result.verdict, check, result, margin, unit))
        is_worse = margin < cause.margin and (unit == cause.unit or margin == -math.inf)
        if is_worse or (margin == cause.margin and unit == cause.unit
                        and _name(result) < _name(cause.worst)):
            cause.worst, cause.margin = result, margin
        cause.trials += 1
        cause.missed += result.is_missed
        cause.false_stops += result.is_false_stop
        cause.scenarios.add(result.scenario_id)

    def lines(self, width: int, most: int) -> Iterator[Text]:
        """
        Yield the lines to print, the worst verdict and the most frequent cause first.

        :param width: columns
        :param most: lines; what they leave out is counted in one more
        """
        if self._count <= _FEW:
            found = [(result.verdict, _sentence(result), 1) for result in sorted(
                self._first, key=lambda one: (-one.verdict.rank, *_name(one)))]
        else:
            found = [(cause.verdict, cause.sentence, cause.trials) for cause in sorted(
                self._causes.values(),
                key=lambda one: (-one.verdict.rank, -one.trials, one.check))]
        room = most
        for index, (verdict, sentence, _) in enumerate(found):
            rows = _wrapped(verdict, sentence, width)
            if index and len(rows) > room:
                rest = sum(trials for *_, trials in found[index:])
                yield Text(f'and {counted(rest, "trial")} more that did not pass')
                return
            room -= len(rows)
            yield from rows


def urgency_of(result: TrialResult) -> tuple[float, ...]:
    """
    Return what sorts the worst trial first: verdict, then the class of its failure.

    Then how many of its findings failed, then how late the reaction was: margins in metres and in
    seconds cannot be held against each other.
    """
    kind = _CLASSES.find(result.failure_class)
    return (-result.verdict.rank, kind if kind >= 0 else len(_CLASSES),
            -sum(one.verdict is Verdict.FAIL for one in result.findings), -_late_s(result))


def _late_s(result: TrialResult) -> float:
    """Return by how much the reaction came after the critical limit; infinite: never."""
    if result.latency is None:
        return 0.0
    if result.latency.reaction is None:
        return math.inf
    return max([0.0, *(-one.margin for one in result.findings
                       if one.kind == 'latency' and one.margin is not None)])


def kind_of_failure(result: TrialResult) -> str:
    """Return what a failed trial counts as (doc/reference/judging.md); empty: none."""
    return 'hazard missed' if result.is_missed else 'false stop' if result.is_false_stop else ''


def _sentence(result: TrialResult) -> str:
    kind = kind_of_failure(result)
    return (f'{_place(result)}{", " if kind else ""}{kind}: {result.reason}'
            f'{_times_and_distances(result)}')


def _times_and_distances(result: TrialResult) -> str:
    """Return when a missed hazard was answered, when the robot stood, and how near it came."""
    latency, world, cost = result.latency, result.world, result.separation
    if not result.is_missed or latency is None:
        return ''
    told = [f'reaction at +{one.judged_ns / 1e6:.0f} ms' for one in [latency.reaction] if one]
    if latency.stop is not None:
        seen = world.stopping_distance_m if world is not None else None
        way = f'{latency.stop.way:.2f} {latency.stop.unit}' if seen is None else f'{seen:.2f} m'
        told.append(f'standstill at +{latency.stop.stands_ns / 1e6:.0f} ms, after {way}')
    if world is not None and world.min_gap_m is not None:
        told.append(f'least distance {max(0.0, world.min_gap_m):.2f} m')
    elif cost is not None and cost.available is not None:
        told.append(f'{cost.available:.2f} m away at the start, of which '
                    f'{cost.required:.2f} m are needed')
    return f'. From the start of the hazard: {"; ".join(told)}' if told else ''


def _place(result: TrialResult) -> str:
    return f'{result.scenario_name} ({result.scenario_id}, trial {result.index + 1})'


def _name(result: TrialResult) -> tuple[str, int]:
    """Return what tells trials apart: which of equals is shown does not depend on their order."""
    return result.scenario_id, result.index


def _cause_of(result: TrialResult) -> tuple[str, float, str | None]:
    """Return the check that decided the verdict, and its margin; none at all is the worst."""
    for finding in result.findings:
        if finding.verdict is result.verdict and result.reason.startswith(f'{finding.check}: '):
            margin = -math.inf if finding.margin is None else finding.margin
            return finding.check, margin, finding.unit
    return result.reason.partition(': ')[0], -math.inf, None


def _wrapped(verdict: Verdict, sentence: str, width: int) -> list[Text]:
    text = without_exponents(on_one_line(sentence, _LONGEST))
    rows = [Text(line) for line in wrap(
        text, max(20, width), initial_indent=f'{verdict.value}  ',
        subsequent_indent=' ' * 6, break_on_hyphens=False)]
    rows[0].stylize(COLOURS[verdict], 0, len(verdict.value))
    return rows


_SIDES = 'bearing', 'lateral'
"""Fields whose sign is a side: positive is left (REP 103)."""
_LEAST_EFFECT = 0.05
_FEW_VALUES = 4
"""Of a condition, which are listed."""


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
        if search.closest is not None:
            yield _closest(what, search.closest, meanings)


def _closest(what: str, found: Closest, meanings: Mapping[str, str]) -> str:
    """Return what comes closest to a condition, and how many trials would tell."""
    one = found.condition
    return (f'closest, and not shown: {what} {_where(one, meanings)}: {_share(one.inside)}, '
            f'elsewhere {_share(one.outside)}; one as clear comes by chance with p = '
            f'{figures_up(one.p, 2)}. About '
            f'{figures_up(found.trials, 2)} trials are needed if these shares are the true ones, '
            f'and more if chance made them this far apart')


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
        return f'where {name} is {part.value}{_unit(part)}'
    if meaning.startswith(_SIDES) and (part.low is None or part.high is None):
        end = part.low if part.low is not None else part.high
        assert end is not None
        if abs(end) < 0.15 and len({math.copysign(1, value) for value in part.drawn}) < 2:
            side = 'left' if part.low is not None else 'right'
            return f'on the {side} ({_interval(part, part.axis)})'
    return f'where {_interval(part, name)}'


def _interval(part: Part, name: str) -> str:
    unit = _unit(part)
    if part.drawn:
        values = [f'{value:.4g}' for value in part.drawn]
        listed = ' or '.join(values) if len(values) <= _FEW_VALUES else \
            f'{values[0]} to {values[-1]}'
        return f'{name} is {listed}{unit}'
    if part.low is None:
        return f'{name} is below {part.high:.4g}{unit}'
    if part.high is None:
        return f'{name} is at least {part.low:.4g}{unit}'
    return f'{name} is from {part.low:.4g} to {part.high:.4g}{unit}'


def _unit(part: Part) -> str:
    return f' {part.unit}' if part.unit else ''


def _ends(part: Part) -> Iterator[str]:
    """Yield how well the trials tell where a threshold is."""
    unit = _unit(part)
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
        'outcomes': kind.search.outcomes, 'closest': _closest_data(kind, meanings),
        'conditions': [{
            'text': _where(condition, meanings), 'p': condition.p, 'lift': condition.lift,
            'inside': inside.model_dump(mode='json'), 'outside': outside.model_dump(mode='json'),
            'parts': [asdict(part) for part in condition.parts]}
            for condition, (inside, outside) in pairs]}


def _closest_data(kind: Kind, meanings: Mapping[str, str]) -> dict[str, Any] | None:
    found = kind.search.closest
    return None if found is None else {
        'text': _where(found.condition, meanings), 'p': found.condition.p,
        'inside': found.condition.inside, 'outside': found.condition.outside,
        'parts': [asdict(part) for part in found.condition.parts], 'trials': found.trials}


def _effects_data(effects: Effects) -> dict[str, Any]:
    return {'fit': effects.fit, 'p': effects.p, 'indices': [
        asdict(one) for one in effects.effects]}
