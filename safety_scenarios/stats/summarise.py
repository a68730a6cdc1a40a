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

"""Counts, rates and latencies of a campaign, each with what may be claimed about it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from safety_scenarios.model.controller import ControllerSpec
from safety_scenarios.model.estimate import Estimate
from safety_scenarios.model.measuring import Calibration
from safety_scenarios.model.preflight import Preflight
from safety_scenarios.model.result import exit_code, LatencyClass, TrialResult, Verdict
from safety_scenarios.model.separation import SeparationCost
from safety_scenarios.model.summary import CampaignSummary, Rate, ScenarioSummary
from safety_scenarios.stats.proportions import clopper_pearson, clustered, worst_stratum
from safety_scenarios.stats.quantiles import enough_for, quantile, upper_bound
from safety_scenarios.stats.tolerance import reported_latency

_LATE = (LatencyClass.VIOLATION, LatencyClass.NO_RESPONSE)


def summarise(results: Sequence[TrialResult], *, controller: str | ControllerSpec, seed: int,
              planned: int, interrupted: bool, link: str = 'ros',
              stopped_early: Mapping[str, str] | None = None,
              preflight: Iterable[Preflight] = (),
              calibration: Calibration | None = None) -> CampaignSummary:
    """
    Return what the trials came to; warm-up trials are in no number but their own count.

    :param planned: trials that were to be run; fewer results than that is never a PASS
    :param stopped_early: scenario id to what a sequential test decided of it
    """
    rows: dict[str, list[TrialResult]] = {}
    for result in results:
        rows.setdefault(result.scenario_id, []).append(result)
    counted = [result for result in results if not result.warmup]
    verdicts = [result.verdict for result in counted]
    if interrupted or len(results) < planned:
        verdicts.append(Verdict.INCONCLUSIVE)
    hazards = [result for result in counted if not result.is_benign and result.is_measured]
    benign = [result for result in counted
             if result.is_benign and result.verdict in (Verdict.PASS, Verdict.FAIL)]
    early = stopped_early or {}
    spec = ControllerSpec(name=controller) if isinstance(controller, str) else controller
    return CampaignSummary(
        controller=spec.label, spec=None if spec.is_plain else spec, link=link,
        seed=seed, planned=planned, completed=len(results),
        interrupted=interrupted, verdict=Verdict.worst(verdicts), exit_code=exit_code(verdicts),
        verdicts=_count(result.verdict.value for result in counted),
        missed=_rate(hazards, {result.trial_id for result in hazards if _missed(result)}),
        false_stops=_rate(benign, {result.trial_id for result in benign if _false_stop(result)}),
        scenarios=tuple(_row(found, early.get(scenario_id))
                        for scenario_id, found in rows.items()
                        if any(not result.warmup for result in found)),
        by_patterns=sum(result.is_by_patterns and result.verdict is Verdict.PASS
                        for result in counted),
        preflight=tuple(preflight), calibration=calibration)


def _row(results: Sequence[TrialResult], stopped_early: str | None) -> ScenarioSummary:
    counted = [result for result in results if not result.warmup]
    worst = max(counted, key=lambda result: result.verdict.rank)
    measured = [result for result in counted if result.is_measured]
    latencies = [None if result.latency is None or result.latency.judged_ns is None
                 else result.latency.judged_ns / 1e6 for result in measured]
    uncertainty_ms = max((result.latency.reaction.uncertainty_ns / 1e6 for result in counted
                          if result.latency and result.latency.reaction), default=0.0)
    claims = [claim for p in (0.95, 0.99) if latencies
              and (claim := enough_for(len(latencies), p)) is not None]
    rtfs = [result.rtf for result in counted if result.rtf is not None]
    numbers = [latency for latency in latencies if latency is not None]
    upper_ms = reported_latency(latencies, uncertainty_ms)
    return ScenarioSummary(
        scenario_id=worst.scenario_id, scenario_name=worst.scenario_name, domain=worst.domain,
        trials=len(counted), warmup=len(results) - len(counted), verdict=worst.verdict,
        reason=worst.reason, verdicts=_count(result.verdict.value for result in counted),
        latency_classes=_count(result.latency.latency_class.value for result in measured
                               if result.latency is not None),
        not_measured=sum(result.latency is not None for result in counted) - len(measured),
        latency_ms=tuple(latencies), median_ms=quantile(latencies, 0.5, 'ms'),
        p99_ms=upper_bound(latencies, 0.99, 'ms') or quantile(latencies, 0.99, 'ms'),
        worst_ms=max(numbers, default=None) if len(numbers) == len(latencies) else None,
        upper_ms=upper_ms,
        failed=clopper_pearson(sum(result.verdict is not Verdict.PASS for result in counted),
                               len(counted)),
        stopped_early=stopped_early, claims=tuple(claims),
        notes={note.code: note.text for result in counted for note in result.notes},
        rtf=(min(rtfs), max(rtfs)) if rtfs else None,
        separation=_separation(measured, upper_ms))


def _separation(measured: Sequence[TrialResult], upper_ms: Estimate) -> SeparationCost | None:
    """
    Return what the upper bound costs in the trial that it leaves least.

    None when one latency has no bound, or no cost.
    """
    known = [result.separation for result in measured if result.separation is not None]
    if upper_ms.value is None or not known or len(known) < len(measured):
        return None
    longest = max(upper_ms.value, *(cost.latency_ms for cost in known))
    return min((cost.at_latency(longest) for cost in known), key=lambda cost: (
        cost.margin is not None, cost.margin or 0.0, -cost.required))


def _false_stop(result: TrialResult) -> bool:
    """Tell a benign variant that was not let be from one that got no answer at all."""
    silent = result.latency is not None and result.latency.judged_ns is None
    return result.verdict is Verdict.FAIL and not silent


def _missed(result: TrialResult) -> bool:
    return result.latency is not None and result.latency.latency_class in _LATE


def _rate(results: Sequence[TrialResult], bad: set[str]) -> Rate:
    strata: dict[str, tuple[int, int]] = {}
    for result in results:
        count, of = strata.get(result.scenario_id, (0, 0))
        strata[result.scenario_id] = (count + (result.trial_id in bad), of + 1)
    return Rate(count=len(bad), of=len(results), share=clustered(list(strata.values())),
                worst=worst_stratum(strata) if bad else None)


def _count(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))
