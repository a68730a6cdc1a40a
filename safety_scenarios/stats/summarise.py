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

"""Counts, and medians that treat a missing reaction as infinitely late."""

from collections import Counter
from collections.abc import Sequence
import math

from safety_scenarios.model.result import exit_code, LatencyClass, TrialResult, Verdict
from safety_scenarios.model.summary import CampaignSummary, ScenarioSummary, Share


def summarise(results: Sequence[TrialResult], *, controller: str, seed: int, planned: int,
              interrupted: bool) -> CampaignSummary:
    """
    Return what the trials came to.

    :param planned: trials that were to be run; fewer results than that is never a PASS
    """
    rows: dict[str, list[TrialResult]] = {}
    for result in results:
        rows.setdefault(result.scenario_id, []).append(result)
    verdicts = [result.verdict for result in results]
    if interrupted or len(results) < planned:
        verdicts.append(Verdict.INCONCLUSIVE)
    hazards = [result for result in results if not result.is_twin and result.latency]
    twins = [result for result in results
             if result.is_twin and result.verdict in (Verdict.PASS, Verdict.FAIL)]
    return CampaignSummary(
        controller=controller, seed=seed, planned=planned, completed=len(results),
        interrupted=interrupted, verdict=Verdict.worst(verdicts), exit_code=exit_code(verdicts),
        verdicts=_count(result.verdict.value for result in results),
        missed=Share(count=sum(_missed(result) for result in hazards), of=len(hazards)),
        false_stops=Share(count=sum(map(_false_stop, twins)), of=len(twins)),
        scenarios=tuple(_row(rows[scenario_id]) for scenario_id in rows))


def _row(results: Sequence[TrialResult]) -> ScenarioSummary:
    worst = max(results, key=lambda result: result.verdict.rank)
    measured = [result.latency for result in results if result.latency is not None]
    latencies = [None if latency.judged_ns is None else latency.judged_ns / 1e6
                 for latency in measured]
    return ScenarioSummary(
        scenario_id=worst.scenario_id, scenario_name=worst.scenario_name, domain=worst.domain,
        trials=len(results), verdict=worst.verdict, reason=worst.reason,
        verdicts=_count(result.verdict.value for result in results),
        latency_classes=_count(latency.latency_class.value for latency in measured),
        latency_ms=tuple(latencies), median_ms=_quantile(latencies, 0.5),
        worst_ms=_quantile(latencies, 1.0))


def _false_stop(result: TrialResult) -> bool:
    """Tell a twin that was not let be from one that got no answer at all."""
    silent = result.latency is not None and result.latency.judged_ns is None
    return result.verdict is Verdict.FAIL and not silent


def _missed(result: TrialResult) -> bool:
    late = (LatencyClass.VIOLATION, LatencyClass.NO_RESPONSE)
    return result.latency is not None and result.latency.latency_class in late


def _count(names: object) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))  # type: ignore[call-overload]


def _quantile(latencies: Sequence[float | None], share: float) -> float | None:
    """Return an order statistic, the upper of two: never between a number and a missing one."""
    if not latencies:
        return None
    ordered = sorted(math.inf if latency is None else latency for latency in latencies)
    value = ordered[min(len(ordered) - 1, math.floor(share * len(ordered)))]
    return value if math.isfinite(value) else None
