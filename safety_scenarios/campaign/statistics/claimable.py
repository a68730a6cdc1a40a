# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What may be claimed of a campaign: upper bounds of rates of bad trials, one-sided."""

from collections.abc import Container, Iterator, Sequence
from typing import Literal

from safety_scenarios.campaign.statistics.confidence_sequences import anytime
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    distinct,
    no_narrower,
)
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.trial.summary import Claimable

What = Literal['missed hazards', 'false stops']
_CONFIDENCE = 0.95


def claimable(counted: Sequence[TrialResult], not_fixed: Container[str], link: str,
              is_doubted: bool = False) -> tuple[Claimable, ...]:
    """
    Return the bounds of each scenario, and of all scenarios of a kind where there are several.

    :param counted: all trials but those of warm-up
    :param not_fixed: scenarios whose number of trials was not fixed beforehand
    :param link: over which they were run
    :param is_doubted: not one thing was judged, so that nothing may be claimed
    """
    return () if is_doubted else tuple(_found(counted, not_fixed, link))


def _found(counted: Sequence[TrialResult], not_fixed: Container[str],
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

    :param may_differ: the trials are of several scenarios
    """
    if at_any_stop:
        return anytime(bad, of, _CONFIDENCE, 'upper')
    found = clopper_pearson(bad, of, _CONFIDENCE, 'upper')
    assert found.high is not None
    return found if not may_differ else found.model_copy(
        update={'high': max(found.high, min(1.0, (bad + 1) / of))})
