# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Counts, rates and latencies of a campaign, each with what may be claimed about it."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from safety_scenarios.campaign.statistics.breakdown import (
    campaign_world,
    scenario_world,
    scored,
    weighed,
)
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    clustered,
    distinct,
    no_narrower,
    only,
    worst_stratum,
)
from safety_scenarios.campaign.statistics.quantiles import (
    bound_if,
    confirmed_ms,
    due_ms,
    enough_for,
    is_due,
    judged_ms,
    quantile,
    reported_latency,
    upper_bound,
)
from safety_scenarios.campaign.statistics.sequential import (
    anytime,
    anytime_over_clusters,
    anytime_quantile,
)
from safety_scenarios.scenario.blocks.robot import SeparationCost
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.result import (
    BUSY_HOST,
    CONFIRMED,
    Decided,
    Elapsed,
    exit_code,
    MODEL_INPUTS,
    TrialResult,
)
from safety_scenarios.scenario.settings import Law
from safety_scenarios.scenario.timing import Calibration
from safety_scenarios.scenario.verdict import Estimate, LatencyClass, Verdict
from safety_scenarios.trial.identity import Identity
from safety_scenarios.trial.summary import (
    CampaignSummary,
    Claimable,
    ConfirmedSummary,
    OtherFailures,
    Preflight,
    Rate,
    ScenarioSummary,
)

What = Literal['missed hazards', 'false stops']
_CONFIDENCE = 0.95


def claimable(counted: Sequence[TrialResult], not_fixed: Container[str], link: str,
              is_doubted: bool = False) -> tuple[Claimable, ...]:
    """
    Return the bounds of each scenario, and of all scenarios of a kind where there are several.

    :param counted: all trials but those of warm-up
    :param not_fixed: scenarios whose number of trials was not fixed beforehand
    :param is_doubted: not one thing was judged, or only chosen trials: nothing may be claimed
    """
    return () if is_doubted else tuple(_claimable(counted, not_fixed, link))


def _claimable(counted: Sequence[TrialResult], not_fixed: Container[str],
               link: str) -> Iterator[Claimable]:
    kinds: tuple[tuple[What, bool], ...] = (('missed hazards', False), ('false stops', True))
    for what, is_benign in kinds:
        mine = [result for result in counted if result.is_benign == is_benign]
        names = list(dict.fromkeys(result.scenario_id for result in mine))
        for name in names:
            some = [result for result in mine if result.scenario_id == name]
            yield _one(what, name, some, name in not_fixed, link)
        if len(names) > 1:
            yield _one(what, None, mine, any(name in not_fixed for name in names), link)


def _one(what: What, scenario_id: str | None, some: Sequence[TrialResult], at_any_stop: bool,
         link: str) -> Claimable:
    return Claimable(what=what, scenario_id=scenario_id,
                     scenarios=len({result.scenario_id for result in some}), bad=_bad(some),
                     trials=len(some),
                     undecided=sum(not result.is_decided for result in some), bound=no_narrower(*(
                         _bound(_bad(each), len(each), at_any_stop, may_differ=scenario_id is None)
                         for each in (some, distinct(some, link)))))


def _bad(results: Sequence[TrialResult]) -> int:
    return sum(result.is_missed or result.is_false_stop or not result.is_decided
               for result in results)


def _bound(bad: int, of: int, at_any_stop: bool, *, may_differ: bool) -> Estimate:
    """
    Return the upper bound of the average rate of independent trials.

    Clopper and Pearson's holds for the average of different rates too, where it is above
    ``(bad + 1) / of``: then so few bad trials are most probable where all rates are equal
    (Hoeffding 1956, Ann. Math. Stat. 27:713).
    """
    if at_any_stop:
        return anytime(bad, of, _CONFIDENCE, 'upper')
    found = clopper_pearson(bad, of, _CONFIDENCE, 'upper')
    assert found.high is not None
    return found if not may_differ else found.model_copy(
        update={'high': max(found.high, min(1.0, (bad + 1) / of))})


_NONE_AT_ANY_STOP = 'no interval: the number of trials was not fixed beforehand'
_NONE_OF_CHOSEN = 'no interval: the trials were named one by one'


def summarise(results: Sequence[TrialResult], *, controller: str | ControllerSpec, seed: int,
              planned: int, interrupted: bool, link: str = 'ros',
              stopped_early: Mapping[str, str] | None = None,
              latency_law: Law | Literal['none'] = 'none',
              preflight: Iterable[Preflight] = (),
              calibration: Calibration | None = None,
              sut: Identity | None = None, command: str = '',
              is_in_harness: bool = False, is_chosen: bool = False) -> CampaignSummary:
    """
    Return what the trials came to; warm-up trials are in no number but their own count.

    Counts are those of all trials. No interval is narrower than the trials carry that differ in
    anything: to repeat what does not vary shows nothing new.

    :param planned: trials that were to be run; fewer results than that is never a PASS
    :param stopped_early: scenario id to why its number of trials was not fixed beforehand, such
        as what a sequential test decided: its intervals are those that hold at any stop
    :param latency_law: law that latencies are assumed to follow, for one more upper bound
    :param sut: what was judged; of what changed meanwhile nothing can be a PASS
    :param command: the command line that runs the same campaign again
    :param is_chosen: whether its trials were named one by one, so that nothing may be claimed
    :param is_in_harness: whether code that is not the harness's ran in its process
    """
    rows: dict[str, list[TrialResult]] = {}
    for result in results:
        rows.setdefault(result.scenario_id, []).append(result)
    counted = [result for result in results if not result.warmup]
    verdicts = [result.verdict for result in counted]
    if interrupted or len(results) < planned or (sut is not None and any(sut.doubts)):
        verdicts.append(Verdict.INCONCLUSIVE)
    hazards = [result for result in counted if not result.is_benign]
    benign = [result for result in counted if result.is_benign]
    early = stopped_early or {}
    missed = rate(hazards, lambda result: result.is_missed, link, early)
    stops = rate(benign, lambda result: result.is_false_stop, link, early)
    if is_chosen:
        missed, stops = (one.model_copy(update={'share': one.share.model_copy(update={
            'low': None, 'high': None, 'method': _NONE_OF_CHOSEN})}) for one in (missed, stops))
    spec = ControllerSpec(name=controller) if isinstance(controller, str) else controller
    return CampaignSummary(
        controller=spec.label, spec=None if spec.is_plain else spec, link=link,
        seed=seed, planned=planned, completed=len(results),
        interrupted=interrupted, verdict=Verdict.worst(verdicts), exit_code=exit_code(verdicts),
        verdicts=_count(result.verdict.value for result in counted),
        missed=missed, false_stops=stops,
        failed_otherwise=_otherwise(benign),
        scenarios=tuple(_row(found, early.get(scenario_id), latency_law, link)
                        for scenario_id, found in rows.items()
                        if any(not result.warmup for result in found)),
        decided=sum((result.decided for result in counted), Decided()),
        by_patterns=sum(result.is_by_patterns and result.verdict is Verdict.PASS
                        for result in counted),
        preflight=tuple(preflight), calibration=calibration, chance=_chance(counted),
        command=command, is_in_harness=is_in_harness, is_chosen=is_chosen, sut=sut,
        weighed=weighed(counted), scores=scored(counted), claims=claimable(
            counted, early, link, is_chosen or (sut is not None and any(sut.doubts))),
        world=campaign_world({
            name: [result for result in found if not result.warmup]
            for name, found in rows.items()}, bool(early), link))


def latency_quantile(results: Iterable[TrialResult], p: float, link: str) -> Estimate:
    """Return a quantile of the measured latencies, with the interval of distinct trials (ms)."""
    made = [result for result in results if not result.warmup]
    return no_narrower(*(quantile(_latencies_ms(some), p, 'ms')
                         for some in (made, distinct(made, link))))


def _latencies_ms(results: Iterable[TrialResult]) -> list[float | None]:
    """Return each measured latency, None where there was no reaction."""
    return [judged_ms(result) for result in results if result.is_measured]


def _row(results: Sequence[TrialResult], stopped_early: str | None,
         law: Law | Literal['none'], link: str) -> ScenarioSummary:
    counted, at_any_stop = [one for one in results if not one.warmup], stopped_early is not None
    different = distinct(counted, link)
    worst = max(counted, key=lambda result: result.verdict.rank)
    measured = [result for result in counted if result.is_measured]
    not_measured = sum(result.latency is not None for result in counted) - len(measured)
    latencies, others = _latencies_ms(measured), _latencies_ms(different)
    claims = [claim for p in (0.95, 0.99) if latencies
              and (claim := enough_for(len(others), p, at_any_stop=at_any_stop)) is not None]
    alike = only(len(different), len(counted))
    rtfs = [result.rtf for result in counted if result.rtf is not None]
    numbers = [latency for latency in latencies if latency is not None]
    upper_ms = no_narrower(*(
        reported_latency(due_ms(some), _uncertainty_ms(counted), at_any_stop=at_any_stop)
        for some in (counted, different)), is_bound=True)
    return ScenarioSummary(
        scenario_id=worst.scenario_id, scenario_name=worst.scenario_name, domain=worst.domain,
        trials=len(counted), warmup=len(results) - len(counted), verdict=worst.verdict,
        reason=worst.reason, verdicts=_count(result.verdict.value for result in counted),
        latency_classes=_count(result.latency.latency_class.value for result in measured
                               if result.latency is not None),
        not_measured=not_measured,
        latency_ms=tuple(latencies),
        median_ms=_median((latencies, others), at_any_stop),
        p99_ms=no_narrower(*(
            anytime_quantile(some, 0.99, 'ms', sided='upper') if at_any_stop
            else upper_bound(some, 0.99, 'ms') or quantile(some, 0.99, 'ms')
            for some in (latencies, others))),
        worst_ms=max(numbers, default=None) if len(numbers) == len(latencies) else None,
        upper_ms=upper_ms,
        failed=no_narrower(*((anytime if at_any_stop else clopper_pearson)(
            sum(result.verdict is not Verdict.PASS for result in some), len(some))
            for some in (counted, different))),
        stopped_early=stopped_early,
        claims=(*claims, *([f'{alike}: its repeats show nothing new'] if alike else [])),
        notes=_notes(counted),
        rtf=(min(rtfs), max(rtfs)) if rtfs else None,
        separation=_separation(measured, upper_ms.high),
        separation_seen=_least_left(_costs(measured)),
        chance=max((result.chance for result in counted if result.chance is not None),
                   default=None),
        confirmed=_confirmed(counted, different, at_any_stop),
        traceability=worst.traceability,
        world=scenario_world(counted, link, at_any_stop=at_any_stop),
        **_assumed(law, [due_ms(some) for some in (counted, different)],
                   _uncertainty_ms(counted), at_any_stop))


def _notes(counted: Iterable[TrialResult]) -> dict[str, str]:
    """Return each note once, some with the trials: how busy the host was, what a model read."""
    noted = [(note, result) for result in counted for note in result.notes]
    found = {note.code: note.text for note, _ in noted}
    busy = {result.index + 1: (result.latency.widened_ns, note.text) for note, result in noted
            if note.code == BUSY_HOST and result.latency is not None}
    if shown := [one for one in noted if one[0].code == MODEL_INPUTS]:
        note, result = min(shown, key=lambda one: one[1].verdict is not Verdict.FAIL)
        found[MODEL_INPUTS] = f'{note.text} ({result.scenario_id}, trial {result.index + 1})'
    if busy:
        worst = max(busy, key=lambda number: busy[number][0])
        trials = f'trial {worst}' if len(busy) == 1 else \
            f'trial {worst} at the worst; trials {", ".join(map(str, busy))}'
        found[BUSY_HOST] = f'{busy[worst][1]} ({trials})'
    return found


def _median(latencies: Sequence[Sequence[float | None]], at_any_stop: bool) -> Estimate:
    """
    Return the median with its interval.

    :param latencies: of all trials, and of those that differ in anything (ms)
    """
    found = no_narrower(*(quantile(some, 0.5, 'ms') for some in latencies))
    if not at_any_stop:
        return found
    ends = no_narrower(*(anytime_quantile(some, 0.5, 'ms') for some in latencies))
    return ends.model_copy(update={'value': found.value})


def _confirmed(counted: Sequence[TrialResult], different: Sequence[TrialResult],
               at_any_stop: bool) -> ConfirmedSummary | None:
    """Return what the robot itself confirmed; None where no trial asked it to."""
    if not any(result.asks_for_confirmation for result in counted):
        return None
    asked, others = ([one for one in some if one.asks_for_confirmation or is_due(one)]
                     for some in (counted, different))
    found = _confirmations(asked)
    latencies, differing = ([None if one is None else one.judged_ns / 1e6 for one in some]
                            for some in (found, _confirmations(others)))
    numbers = [latency for latency in latencies if latency is not None]
    bound_ms = max((one.uncertainty_ns / 1e6 for one in found if one), default=0.0)
    return ConfirmedSummary(
        verdicts=_count(one.verdict.value for result in asked for one in result.findings
                        if one.kind == CONFIRMED and one.verdict is not None),
        latency_classes=_count(LatencyClass.NO_RESPONSE.value if one is None
                               else one.latency_class.value for one in found),
        not_measured=len(asked) - len(found), latency_ms=tuple(latencies),
        median_ms=_median((latencies, differing), at_any_stop),
        worst_ms=max(numbers, default=None) if len(numbers) == len(latencies) else None,
        upper_ms=no_narrower(*(reported_latency(
            [confirmed_ms(one) if one.is_confirmation_measured and one.is_decided else None
             for one in some], bound_ms, at_any_stop=at_any_stop) for some in (asked, others)),
            is_bound=True))


def _confirmations(asked: Iterable[TrialResult]) -> list[Elapsed | None]:
    return [result.latency.confirmed if result.latency else None for result in asked
            if result.is_confirmation_measured]


def _uncertainty_ms(counted: Sequence[TrialResult]) -> float:
    return max((result.latency.reaction.uncertainty_ns / 1e6 for result in counted
                if result.latency and result.latency.reaction), default=0.0)


def _assumed(law: Law | Literal['none'], latencies: Sequence[Sequence[float | None]],
             uncertainty_ms: float, at_any_stop: bool) -> dict[str, Estimate]:
    """
    Return the bound that an assumed law gives, under a name that says so.

    :param latencies: of all trials, and of those that differ in anything (ms)
    """
    if law == 'none':
        return {}
    found = no_narrower(*(bound_if(law, some, 0.99, 'ms') for some in latencies))
    if found.value is not None and found.high is not None:
        found = found.model_copy(update={'value': found.value + uncertainty_ms,
                                         'high': found.high + uncertainty_ms,
                                         'method': f'{found.method}, + U'})
    if at_any_stop:  # a fitted law has no bound that holds at any stop
        found = found.model_copy(update={'low': None, 'high': None,
                                         'method': f'{found.method}; {_NONE_AT_ANY_STOP}'})
    return {f'upper_if_{law}_ms': found}


def _separation(measured: Sequence[TrialResult], bound_ms: float | None) -> SeparationCost | None:
    """
    Return what an upper bound costs in the trial that it leaves least.

    None without a bound, or when one latency has no cost.
    """
    costs = _costs(measured)
    if bound_ms is None or not costs:
        return None
    longest = max(bound_ms, *(cost.latency_ms for cost in costs))
    return _least_left([cost.at_latency(longest) for cost in costs])


def _costs(measured: Sequence[TrialResult]) -> Sequence[SeparationCost]:
    """Return what the latency of each trial costs; nothing where one has no cost."""
    known = [result.separation for result in measured if result.separation is not None]
    return known if len(known) == len(measured) else ()


def _least_left(costs: Iterable[SeparationCost]) -> SeparationCost | None:
    """Return the cost that leaves the least distance; an unknown distance is the least."""
    return min(costs, default=None, key=lambda cost: (
        cost.margin is not None, cost.margin or 0.0, -cost.required))


def _otherwise(benign: Sequence[TrialResult]) -> OtherFailures | None:
    """Return the benign variants that failed without a false stop; None: there is none."""
    failed = [result.failed_otherwise for result in benign if result.failed_otherwise]
    return OtherFailures(
        count=len(failed), of=sum(result.is_decided for result in benign),
        checks=_count(check for checks in failed for check in checks)) if failed else None


def _chance(results: Sequence[TrialResult]) -> float | None:
    """Return the mean of the trials' chance levels: one controller must pass them all."""
    levels = [result.chance for result in results if result.chance is not None]
    return sum(levels) / len(levels) if levels else None


def rate(results: Sequence[TrialResult], is_bad: Callable[[TrialResult], bool], link: str,
         stopped_early: Mapping[str, str] = {}) -> Rate:
    """Return a rate of the trials that PASS or FAIL."""
    strata, differing = (_strata(some, is_bad) for some in (results, distinct(results, link)))
    bad, of = (sum(map(sum, strata.values())), sum(map(len, strata.values())))
    is_chosen = bool(strata.keys() & stopped_early.keys())
    share = no_narrower(*(
        anytime_over_clusters(list(some.values())) if is_chosen
        else clustered([(sum(mine), len(mine)) for mine in some.values()])
        for some in (strata, differing)))
    shares = {name: (sum(mine), len(mine)) for name, mine in strata.items()}
    worst = worst_stratum(shares) if bad else None
    alike = [name for name, (some, all_) in shares.items()
             if worst is not None and some * shares[worst][1] == shares[worst][0] * all_]
    return Rate(count=bad, of=of, share=share, worst=worst, tied=max(0, len(alike) - 1),
                undecided=len(results) - of)


def _strata(results: Iterable[TrialResult],
            is_bad: Callable[[TrialResult], bool]) -> dict[str, list[bool]]:
    """Return for each scenario which of its decided trials are bad, in order."""
    strata: dict[str, list[bool]] = {}
    for result in results:
        if result.is_decided:
            strata.setdefault(result.scenario_id, []).append(is_bad(result))
    return strata


def _count(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))
