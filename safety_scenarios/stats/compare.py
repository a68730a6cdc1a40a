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
from collections.abc import Mapping, Sequence

from safety_scenarios.errors import SettingsError
from safety_scenarios.model.comparison import Comparison, Confirmations, WithinScenario
from safety_scenarios.model.estimate import Estimate
from safety_scenarios.model.result import TrialResult, Verdict
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

_ALPHA = 0.05
_Both = tuple[TrialResult, TrialResult]


def compare(first: Sequence[TrialResult], second: Sequence[TrialResult]) -> Comparison:
    """
    Return how the second campaign compares with the first, scenario by scenario.

    Both must have been judged alike, which results do not tell.

    :raises SettingsError: they have no trial in common, or drew different seeds
    """
    pairs, unpaired = _paired(first, second)
    found: dict[str, list[_Both]] = {}
    for pair in pairs:
        found.setdefault(pair[0].scenario_id, []).append(pair)
    passed = {name: Counter(tuple(side.verdict is Verdict.PASS for side in pair)
                            for pair in mine) for name, mine in found.items()}
    total = sum(passed.values(), Counter[tuple[bool, ...]]())
    more = {name: counts[True, False] - counts[False, True] for name, counts in passed.items()}
    worse = tuple(sorted(name for name, change in more.items() if change > 0))
    latencies = {name: measured for name, mine in found.items() if (measured := _latencies(mine))}
    late = [later(mine) for mine in latencies.values()]
    flat: list[Pair] = [pair for mine in latencies.values() for pair in mine]
    return Comparison(
        pairs=len(pairs), unpaired=unpaired,
        undecided=(sum(not one.is_decided for one, _ in pairs),
                   sum(not two.is_decided for _, two in pairs)),
        both_passed=total[True, True], only_first_passed=total[True, False],
        only_second_passed=total[False, True], neither_passed=total[False, False],
        scenarios=len(found), scenarios_better=sum(change < 0 for change in more.values()),
        scenarios_worse=len(worse), failures_p=over_clusters(list(more.values())),
        failures_difference=_difference(list(passed.values())),
        failures_h=cohen_h((total[False, True] + total[False, False], len(pairs)),
                           (total[True, False] + total[False, False], len(pairs))),
        latency_pairs=len(flat), latency_scenarios=len(latencies), latency_p=sign_flip(late),
        median_difference_ms=median_over_clusters(list(latencies.values()), 'ms'),
        latency_d=cohen_d([one for one, _ in flat], [two for _, two in flat]), worse=worse,
        alone=_alone(passed), confirmed=_confirmations(found),
        notes=_notes(list(more.values()), late))


def _confirmations(found: Mapping[str, Sequence[_Both]]) -> Confirmations | None:
    """Return the same of when the robots themselves stood."""
    known = {name: [(_confirmed_ms(one), _confirmed_ms(two)) for one, two in mine
                    if one.is_confirmation_measured and two.is_confirmation_measured]
             for name, mine in found.items()}
    told = [mine for mine in known.values() if mine]
    return Confirmations(
        pairs=sum(map(len, told)), scenarios=len(told),
        p=sign_flip([later(mine) for mine in told]),
        median_difference_ms=median_over_clusters(told, 'ms')) if told else None


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
            notes.append(f'{what}: only {differing} of {len(differences)} scenarios differ, so p '
                         f'cannot fall below {least_p(differing):.3g}: nothing can be said of '
                         f'scenarios in general from fewer than 6 that differ')
    return tuple(notes)


def _latencies(pairs: Sequence[_Both]) -> list[Pair]:
    return [(_ms(one), _ms(two)) for one, two in pairs if one.is_measured and two.is_measured]


def _ms(result: TrialResult) -> float | None:
    judged_ns = result.latency.judged_ns if result.latency else None
    return None if judged_ns is None else judged_ns / 1e6


def _paired(first: Sequence[TrialResult], second: Sequence[TrialResult]) -> \
        tuple[list[tuple[TrialResult, TrialResult]], int]:
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
