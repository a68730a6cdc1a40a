# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which of two controllers is the better one, by the scenarios that both have met."""

from collections.abc import Collection, Iterator, Sequence

from safety_scenarios.campaign.comparison import Comparison, Confirmations, WithinScenario
from safety_scenarios.campaign.statistics.breakdown import cohen_d, cohen_h
from safety_scenarios.campaign.statistics.paired import (
    Both,
    confirmed,
    confirmed_over,
    decided,
    differing,
    failures_over,
    holm,
    largest,
    latencies,
    latencies_over,
    later_confirmed,
    later_reactions,
    least_p,
    mcnemar,
    median_over_clusters,
    more_failures,
    Outcomes,
    outcomes,
    Pair,
    Pairs,
    signs,
    without,
)
from safety_scenarios.campaign.statistics.proportions import difference_of_shares, no_narrower
from safety_scenarios.campaign.statistics.world_statistics import compared
from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate

_ALPHA = 0.05


def compare(first: Sequence[TrialResult], second: Sequence[TrialResult], link: str = 'ros',
            stopped: Collection[str] = ()) -> Comparison:
    """
    Return how the second campaign compares with the first, scenario by scenario.

    Both must have been judged alike, which results do not tell.

    :param link: over which both were run, which says what trials came out alike
    :param stopped: scenarios whose number of trials a sequential test chose, in either
    :raises SettingsError: they have no trial in common, or drew different seeds
    """
    pairs, unpaired = paired(first, second)
    found: dict[str, list[Both]] = {}
    for pair in pairs:
        found.setdefault(pair[0].scenario_id, []).append(pair)
    some = found, differing(found, link)
    passed = outcomes(found)
    total = sum(passed.values(), Outcomes())
    more = {name: counts[True, False] - counts[False, True] for name, counts in passed.items()}
    measured = {name: known for name, mine in found.items() if (known := latencies(mine))}
    flat: list[Pair] = [pair for mine in measured.values() for pair in mine]
    of_both = tuple(map(decided, some))  # what came out alike is decided alike
    mine = {one.scenario_id for one in first if not one.warmup}
    not_compared = tuple(sorted(mine - of_both[0].keys()))
    regressions = _regressions(of_both, stopped)
    return Comparison(
        pairs=len(pairs), unpaired=unpaired,
        undecided=(sum(not one.is_decided for one, _ in pairs),
                   sum(not two.is_decided for _, two in pairs)),
        both_passed=total[True, True], only_first_passed=total[True, False],
        only_second_passed=total[False, True], neither_passed=total[False, False],
        scenarios=len(found), scenarios_better=sum(change < 0 for change in more.values()),
        scenarios_worse=sum(change > 0 for change in more.values()),
        failures_p=largest(failures_over, some),
        failures_difference=no_narrower(*(_difference(list(outcomes(one).values()))
                                          for one in some)),
        failures_h=cohen_h((total[False, True] + total[False, False], len(pairs)),
                           (total[True, False] + total[False, False], len(pairs))),
        latency_pairs=len(flat), latency_scenarios=len(measured),
        latency_p=largest(latencies_over, some),
        median_difference_ms=median_over_clusters(list(measured.values()), 'ms'),
        latency_d=cohen_d([one for one, _ in flat], [two for _, two in flat]),
        worse=tuple(sorted(name for name, change in more.items() if change > 0)),
        alone=_alone(*(without(one, stopped) for one in some)), confirmed=_confirmations(some),
        world=compared(*(one.values() for one in some)),
        notes=(*_notes(found), *_left_out(some, stopped)),
        decided=sum(map(len, of_both[0].values())), not_compared=not_compared,
        regressions=regressions,
        doubts=() if regressions else tuple(_doubts(of_both, some, not_compared, stopped)))


def _regressions(some: Sequence[Pairs], stopped: Collection[str]) -> tuple[str, ...]:
    """
    Return in what the second is worse, at 5 % two-sided each.

    Of failures, reactions, confirmed standstills, and failures and reactions of one scenario: if
    both are alike, each of the five is found by chance in 2.5 % of all comparisons at most.

    :param some: all pairs, and those of them that count
    """
    here = tuple(without(one, stopped) for one in some)
    told = [f'{what}, over scenarios: p = {p:.3g}' for what, differences, p in (
        ('fails more often', more_failures(some[0]), largest(failures_over, some)),
        ('reacts later', later_reactions(some[0]), largest(latencies_over, some)),
        ('is confirmed later', later_confirmed(some[0]), largest(confirmed_over, some)))
        if sum(differences) > 0 and p < _ALPHA]
    told += [f'fails more often in {row.scenario_id}: {row.only_first_passed} of {row.pairs} '
             f'pairs against {row.only_second_passed}, p = {row.p:.3g}' for row in _alone(*here)
             if row.only_first_passed > row.only_second_passed and row.p < _ALPHA]
    return (*told, *_later_alone(here))


def _later_alone(some: Sequence[Pairs]) -> Iterator[str]:
    """
    Yield the scenarios in whose own trials the second reacts later than can be measured wrongly.

    A pair counts as different only beyond both uncertainties together: a busy host is no worse
    controller.
    """
    known = [signs(one) for one in some]
    names = sorted(known[0])
    chances = holm([max(mcnemar(one[name][1], one[name][-1]) for one in known) for name in names])
    for name, p in zip(names, chances, strict=True):
        counts = known[0][name]
        if counts[1] > counts[-1] and p < _ALPHA:
            yield (f'reacts later in {name}: {counts[1]} of {counts.total()} pairs against '
                   f'{counts[-1]}, p = {p:.3g}')


def _doubts(of_both: Sequence[Pairs], some: Sequence[Pairs], not_compared: Sequence[str],
            stopped: Collection[str]) -> Iterator[str]:
    """Yield why no regression was found though there may be one."""
    both, found = of_both[0], some[0]
    if not_compared:
        yield (f'nothing could be compared of {" ".join(not_compared)}: no pair of it is PASS or '
               f'FAIL in both')
    if any(len(both.get(name, ())) < len(mine) for name, mine in found.items()):
        yield from (f'{text}, counting ERROR and INCONCLUSIVE as not passed'
                    for text in _regressions(some, stopped))
    yield from (f'{text}, if repeats counted that came out alike, which they do not: a regression '
                f'by this, and whether by chance nothing tells. Run other seeds, or vary something'
                for text in _regressions(of_both[:1], stopped))
    yield from _chosen(of_both, stopped)
    alone = without(of_both[1], stopped)
    least = [least_p(len(both)), *(len(alone) * mcnemar(len(mine), 0) for mine in alone.values())]
    if both and min(least) >= _ALPHA:
        yield ('so few pairs can show no regression: 6 scenarios are needed, or more trials of '
               'one that do not repeat each other, 6 if it is the only one')


def _chosen(of_both: Sequence[Pairs], stopped: Collection[str]) -> Iterator[str]:
    """Yield in what the second may be worse, of trials whose number a sequential test chose."""
    names = sorted(set(stopped) & of_both[0].keys())
    if not names:
        return
    why = 'how many trials there are a sequential test chose, so that no p-value holds. Run ' \
          'both with a number of trials that is fixed'
    yield from (f'{text}, but {why}' for text in _regressions(of_both[:1], ()))
    passed = outcomes(of_both[0])
    for name in names:
        worse, better = passed[name][True, False], passed[name][False, True]
        if worse > better and mcnemar(worse + better, 0) >= _ALPHA:
            yield (f'fails more often in {name}: {worse} of {passed[name].total()} pairs against '
                   f'{better}, which are too few to tell, and {why}')


def _confirmations(some: Sequence[Pairs]) -> Confirmations | None:
    """Return the same of when the robots themselves stood."""
    told = confirmed(some[0])
    return Confirmations(
        pairs=sum(map(len, told)), scenarios=len(told), p=largest(confirmed_over, some),
        median_difference_ms=median_over_clusters(told, 'ms')) if told else None


def _difference(passed: Sequence[Outcomes], confidence: float = 0.95) -> Estimate:
    """Return the difference of the shares that did not pass: only the second, only the first."""
    return difference_of_shares(
        [(counts[True, False], counts[False, True], counts.total()) for counts in passed],
        confidence)


def _alone(found: Pairs, distinct: Pairs | None = None) -> tuple[WithinScenario, ...]:
    """Return what each scenario's own trials tell; those without a difference tell nothing."""
    distinct = found if distinct is None else distinct
    passed, counting = outcomes(found), outcomes(distinct)
    told = {name: counts for name, counts in sorted(passed.items())
            if counts[True, False] or counts[False, True]}
    chances = holm([max(mcnemar(one[name][True, False], one[name][False, True])
                        for one in (passed, counting)) for name in told]
                   + [1.0] * (len(passed) - len(told)))
    return tuple(WithinScenario(
        scenario_id=name, pairs=counts.total(), distinct=counting[name].total(),
        only_first_passed=counts[True, False], only_second_passed=counts[False, True], p=p)
        for (name, counts), p in zip(told.items(), chances))


def _notes(found: Pairs) -> Iterator[str]:
    """Yield what these scenarios do not tell of others."""
    for what, differences in (('failures', more_failures(found)),
                              ('latencies', later_reactions(found))):
        differ = sum(difference != 0 for difference in differences)
        if differ and least_p(differ) > _ALPHA:
            who = f'{differ} of {counted(len(differences), "scenario")} ' \
                  f'{"differs" if differ == 1 else "differ"}'
            yield (f'{what}: only {who}, so p cannot fall below {least_p(differ):.3g}: nothing '
                   f'can be said of scenarios in general from fewer than 6 that differ')


def _left_out(some: Sequence[Pairs], stopped: Collection[str]) -> Iterator[str]:
    """Yield what no p-value counts, and of what there is none."""
    made, counting = (sum(map(len, one.values())) for one in some)
    if counting < made:
        yield (f'{made - counting} of {counted(made, "pair")} came out like another one of the '
               f'same scenario: repeats that show nothing new, and no p-value counts them')
    names = sorted(set(stopped) & some[0].keys())
    if names:
        yield (f'no p-value of the trials of {" ".join(names)}: a sequential test chose how many '
               f'there are, and none would hold')


def paired(first: Sequence[TrialResult], second: Sequence[TrialResult]) -> \
        tuple[list[Both], int]:
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
