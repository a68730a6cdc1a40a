# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Which of two controllers is the better one, by the scenarios that both have met."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.model.comparison import Comparison, Confirmations, WithinScenario
from safety_scenarios.model.estimate import Estimate
from safety_scenarios.model.result import TrialResult, Verdict
from safety_scenarios.stats.distinct import no_narrower, what_came_of
from safety_scenarios.stats.effect import cohen_d, cohen_h
from safety_scenarios.stats.paired import (
    holm,
    later,
    least_p,
    mcnemar,
    median_over_clusters,
    over_clusters,
    Pair,
    sign_flip,
)
from safety_scenarios.stats.proportions import difference_of_shares
from safety_scenarios.stats.worlds import compared

_ALPHA = 0.05
_Both = tuple[TrialResult, TrialResult]


def compare(first: Sequence[TrialResult], second: Sequence[TrialResult],
            link: str = 'ros') -> Comparison:
    """
    Return how the second campaign compares with the first, scenario by scenario.

    Both must have been judged alike, which results do not tell.

    :param link: over which both were run, which says what trials came out alike
    :raises SettingsError: they have no trial in common, or drew different seeds
    """
    pairs, unpaired = paired(first, second)
    found: dict[str, list[_Both]] = {}
    for pair in pairs:
        found.setdefault(pair[0].scenario_id, []).append(pair)
    passed = _outcomes(found)
    total = sum(passed.values(), Counter[tuple[bool, ...]]())
    more = {name: counts[True, False] - counts[False, True] for name, counts in passed.items()}
    worse = tuple(sorted(name for name, change in more.items() if change > 0))
    latencies = {name: measured for name, mine in found.items() if (measured := _latencies(mine))}
    late = [later(mine) for mine in latencies.values()]
    both = {name: told for name, mine in found.items() if (told := [
        pair for pair in mine if pair[0].is_decided and pair[1].is_decided])}
    mine = {one.scenario_id for one in first if not one.warmup}
    not_compared = tuple(sorted(mine - both.keys()))
    regressions = _regressions(both)
    flat: list[Pair] = [pair for mine in latencies.values() for pair in mine]
    return Comparison(
        pairs=len(pairs), unpaired=unpaired,
        undecided=(sum(not one.is_decided for one, _ in pairs),
                   sum(not two.is_decided for _, two in pairs)),
        both_passed=total[True, True], only_first_passed=total[True, False],
        only_second_passed=total[False, True], neither_passed=total[False, False],
        scenarios=len(found), scenarios_better=sum(change < 0 for change in more.values()),
        scenarios_worse=len(worse), failures_p=over_clusters(list(more.values())),
        failures_difference=no_narrower(*(_difference(list(_outcomes(some).values()))
                                          for some in (found, _differing(found, link)))),
        failures_h=cohen_h((total[False, True] + total[False, False], len(pairs)),
                           (total[True, False] + total[False, False], len(pairs))),
        latency_pairs=len(flat), latency_scenarios=len(latencies), latency_p=sign_flip(late),
        median_difference_ms=median_over_clusters(list(latencies.values()), 'ms'),
        latency_d=cohen_d([one for one, _ in flat], [two for _, two in flat]), worse=worse,
        alone=_alone(passed), confirmed=_confirmations(found), world=compared(found.values()),
        notes=_notes(list(more.values()), late),
        decided=sum(map(len, both.values())), not_compared=not_compared, regressions=regressions,
        doubts=() if regressions else tuple(_doubts(both, found, not_compared)))


def _outcomes(found: Mapping[str, Sequence[_Both]]) -> dict[str, Counter[tuple[bool, ...]]]:
    """Return for each scenario how often which of both passed."""
    return {name: Counter(tuple(side.verdict is Verdict.PASS for side in pair) for pair in mine)
            for name, mine in found.items()}


def _differing(found: Mapping[str, Sequence[_Both]], link: str) -> dict[str, Sequence[_Both]]:
    """Return the pairs without those that came out alike on both sides."""
    return {name: list({tuple(what_came_of(side, link) for side in pair): pair
                        for pair in mine}.values()) for name, mine in found.items()}


def _regressions(found: Mapping[str, Sequence[_Both]]) -> tuple[str, ...]:
    """
    Return in what the second is worse, at 5 % two-sided each.

    Of failures, reactions, confirmed standstills, and failures and reactions of one scenario: if
    both are alike, each of the five is found by chance in 2.5 % of all comparisons at most.
    """
    passed = _outcomes(found)
    more = [counts[True, False] - counts[False, True] for counts in passed.values()]
    late = [later(measured) for mine in found.values() if (measured := _latencies(mine))]
    stood = [later(confirmed) for confirmed in _confirmed(found)]
    told = []
    for what, differences, p in (('fails more often', more, over_clusters(more)),
                                 ('reacts later', late, sign_flip(late)),
                                 ('is confirmed later', stood, sign_flip(stood))):
        if sum(differences) > 0 and p < _ALPHA:
            told.append(f'{what}, over scenarios: p = {p:.3g}')
    told += [f'fails more often in {row.scenario_id}: {row.only_first_passed} of {row.pairs} '
             f'pairs against {row.only_second_passed}, p = {row.p:.3g}' for row in _alone(passed)
             if row.only_first_passed > row.only_second_passed and row.p < _ALPHA]
    return (*told, *_later_alone(found))


def _later_alone(found: Mapping[str, Sequence[_Both]]) -> Iterator[str]:
    """
    Yield the scenarios in whose own trials the second reacts later than can be measured wrongly.

    A pair counts as different only beyond both uncertainties together: a busy host is no worse
    controller.
    """
    signs = {name: Counter(_sign(*pair) for pair in mine if pair[0].is_measured
                           and pair[1].is_measured) for name, mine in sorted(found.items())}
    chances = holm([mcnemar(counts[1], counts[-1]) for counts in signs.values()])
    yield from (f'reacts later in {name}: {counts[1]} of {counts.total()} pairs against '
                f'{counts[-1]}, p = {p:.3g}' for (name, counts), p in zip(signs.items(), chances)
                if counts[1] > counts[-1] and p < _ALPHA)


def _sign(one: TrialResult, two: TrialResult) -> int:
    """Return 1 where the second is later, -1 where the first is, 0 where nobody can tell."""
    both = [result.latency.reaction if result.latency else None for result in (one, two)]
    first, second = both
    if first is None or second is None:
        return (second is None) - (first is None)
    late_ns = second.judged_ns - first.judged_ns
    return 0 if abs(late_ns) <= first.uncertainty_ns + second.uncertainty_ns \
        else 1 if late_ns > 0 else -1


def _doubts(both: Mapping[str, Sequence[_Both]], found: Mapping[str, Sequence[_Both]],
            not_compared: Sequence[str]) -> Iterator[str]:
    """Yield why no regression was found though there may be one."""
    if not_compared:
        yield (f'nothing could be compared of {" ".join(not_compared)}: no pair of it is PASS or '
               f'FAIL in both')
    if any(len(both.get(name, ())) < len(mine) for name, mine in found.items()):
        yield from (f'{text}, counting ERROR and INCONCLUSIVE as not passed'
                    for text in _regressions(found))
    least = [least_p(len(both)), *(len(both) * mcnemar(len(mine), 0) for mine in both.values())]
    if both and min(least) >= _ALPHA:
        yield ('so few pairs can show no regression: 6 scenarios are needed, or more trials of '
               'one, 6 if it is the only one')


def _confirmations(found: Mapping[str, Sequence[_Both]]) -> Confirmations | None:
    """Return the same of when the robots themselves stood."""
    told = _confirmed(found)
    return Confirmations(
        pairs=sum(map(len, told)), scenarios=len(told),
        p=sign_flip([later(mine) for mine in told]),
        median_difference_ms=median_over_clusters(told, 'ms')) if told else None


def _confirmed(found: Mapping[str, Sequence[_Both]]) -> list[list[Pair]]:
    """Return the confirmed latencies of each scenario's pairs in which both tell."""
    known = [[(_confirmed_ms(one), _confirmed_ms(two)) for one, two in mine
              if one.is_confirmation_measured and two.is_confirmation_measured]
             for mine in found.values()]
    return [mine for mine in known if mine]


def _confirmed_ms(result: TrialResult) -> float | None:
    confirmed = result.latency.confirmed if result.latency else None
    return None if confirmed is None else confirmed.judged_ns / 1e6


def _difference(passed: Sequence[Counter[tuple[bool, ...]]],
                confidence: float = 0.95) -> Estimate:
    """Return the difference of the shares that did not pass: only the second, only the first."""
    return difference_of_shares(
        [(counts[True, False], counts[False, True], counts.total()) for counts in passed],
        confidence)


def _alone(passed: Mapping[str, Counter[tuple[bool, ...]]]) -> tuple[WithinScenario, ...]:
    """Return what each scenario's own trials tell; those without a difference tell nothing."""
    told = {name: counts for name, counts in sorted(passed.items())
            if counts[True, False] or counts[False, True]}
    chances = holm([mcnemar(counts[True, False], counts[False, True])
                    for counts in told.values()] + [1.0] * (len(passed) - len(told)))
    return tuple(WithinScenario(
        scenario_id=name, pairs=counts.total(), only_first_passed=counts[True, False],
        only_second_passed=counts[False, True], p=p)
        for (name, counts), p in zip(told.items(), chances))


def _notes(more: Sequence[int], late: Sequence[int]) -> tuple[str, ...]:
    notes = []
    for what, differences in (('failures', more), ('latencies', late)):
        differing = sum(difference != 0 for difference in differences)
        if differing and least_p(differing) > _ALPHA:
            who = f'{differing} of {counted(len(differences), "scenario")} ' \
                  f'{"differs" if differing == 1 else "differ"}'
            notes.append(f'{what}: only {who}, so p cannot fall below {least_p(differing):.3g}: '
                         f'nothing can be said of scenarios in general from fewer than 6 that '
                         f'differ')
    return tuple(notes)


def _latencies(pairs: Sequence[_Both]) -> list[Pair]:
    return [(_ms(one), _ms(two)) for one, two in pairs if one.is_measured and two.is_measured]


def _ms(result: TrialResult) -> float | None:
    judged_ns = result.latency.judged_ns if result.latency else None
    return None if judged_ns is None else judged_ns / 1e6


def paired(first: Sequence[TrialResult], second: Sequence[TrialResult]) -> \
        tuple[list[tuple[TrialResult, TrialResult]], int]:
    """
    Return the trials of one scenario and index in both, and how many are in one of them only.

    :raises SettingsError: they have no trial in common, or drew different seeds
    """
    others = {(result.scenario_id, result.index): result
              for result in second if not result.warmup}
    mine = [result for result in first if not result.warmup]
    pairs = [(result, others[result.scenario_id, result.index]) for result in mine
             if (result.scenario_id, result.index) in others]
    if not pairs:
        raise SettingsError('got two campaigns without a common trial, expected the same '
                            'scenarios in both. Run both over the same files')
    for one, two in pairs:
        if one.seed != two.seed:
            raise SettingsError(f'{one.scenario_id} trial {one.index}: got seeds {one.seed} and '
                                f'{two.seed}, expected the same. Run both with the same --seed')
    return pairs, len(mine) + len(others) - 2 * len(pairs)
