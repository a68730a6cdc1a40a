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

"""Which of two controllers is the better one, by the trials that both have made."""

from collections import Counter
from collections.abc import Sequence

from safety_scenarios.errors import SettingsError
from safety_scenarios.model.comparison import Comparison
from safety_scenarios.model.result import TrialResult, Verdict
from safety_scenarios.stats.effect import cohen_d, cohen_h
from safety_scenarios.stats.paired import mcnemar, median_difference, Pair, sign_test


def compare(first: Sequence[TrialResult], second: Sequence[TrialResult]) -> Comparison:
    """
    Return how the second campaign compares with the first, trial by trial.

    :raises SettingsError: they have no trial in common, or drew different seeds
    """
    pairs, unpaired = _paired(first, second)
    passed = Counter((one.verdict is Verdict.PASS, two.verdict is Verdict.PASS)
                     for one, two in pairs)
    change = Counter[str]()
    for one, two in pairs:
        change[one.scenario_id] += ((two.verdict is Verdict.PASS) - (one.verdict is Verdict.PASS))
    better = sum(value > 0 for value in change.values())
    worse = tuple(sorted(name for name, value in change.items() if value < 0))
    latencies: list[Pair] = [
        (_ms(one), _ms(two)) for one, two in pairs
        if one.latency is not None and two.latency is not None]
    failed = [sum(result.verdict is not Verdict.PASS for result in side)
              for side in zip(*pairs, strict=True)]
    return Comparison(
        pairs=len(pairs), unpaired=unpaired, both_passed=passed[True, True],
        only_first_passed=passed[True, False], only_second_passed=passed[False, True],
        neither_passed=passed[False, False],
        failures_p=mcnemar(passed[True, False], passed[False, True]),
        scenarios_better=better, scenarios_worse=len(worse),
        scenarios_p=mcnemar(better, len(worse)),
        failures_h=cohen_h((failed[0], len(pairs)), (failed[1], len(pairs))),
        latency_pairs=sum(pair != (None, None) for pair in latencies),
        latency_p=sign_test(latencies), median_difference_ms=median_difference(latencies, 'ms'),
        latency_d=cohen_d([one for one, _ in latencies], [two for _, two in latencies]),
        worse=worse)


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
