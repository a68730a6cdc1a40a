# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The tests of two campaigns: what their pairs say of the scenarios that these were drawn from.

Pairs that came out alike on both sides are one: to repeat what does not vary shows nothing new. So
each test is made of all pairs and of those that differ, and the larger p-value counts.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from safety_scenarios.campaign.statistics.distinct import what_came_of
from safety_scenarios.campaign.statistics.paired import later, over_clusters, Pair, sign_flip
from safety_scenarios.scenario.result import TrialResult, Verdict

Both = tuple[TrialResult, TrialResult]
Pairs = Mapping[str, Sequence[Both]]
"""Scenario id to the trials that both campaigns have of it."""
Outcomes = Counter[tuple[bool, ...]]
"""How often which of both passed."""


def differing(found: Pairs, link: str) -> Pairs:
    """Return the pairs without those that came out alike on both sides."""
    return {name: list({tuple(what_came_of(side, link) for side in pair): pair
                        for pair in mine}.values()) for name, mine in found.items()}


def without(found: Pairs, names: Collection[str]) -> Pairs:
    """Return the pairs of all scenarios but some."""
    return {name: mine for name, mine in found.items() if name not in names}


def decided(found: Pairs) -> Pairs:
    """Return the pairs of which both trials are PASS or FAIL."""
    return {name: told for name, mine in found.items() if (told := [
        pair for pair in mine if pair[0].is_decided and pair[1].is_decided])}


def largest(test: Callable[[Pairs], float], some: Iterable[Pairs]) -> float:
    """Return the largest p-value: that of all pairs, or of those that differ."""
    return max(test(pairs) for pairs in some)


def outcomes(found: Pairs) -> dict[str, Outcomes]:
    """Return for each scenario how often which of both passed."""
    return {name: Counter(tuple(side.verdict is Verdict.PASS for side in pair) for pair in mine)
            for name, mine in found.items()}


def signs(found: Pairs) -> dict[str, Counter[int]]:
    """Return for each scenario how often the second is later (1), the first (-1), or nobody."""
    return {name: Counter(_sign(*pair) for pair in mine
                          if pair[0].is_measured and pair[1].is_measured)
            for name, mine in found.items()}


def _sign(one: TrialResult, two: TrialResult) -> int:
    """Return 1 where the second is later, -1 where the first is, 0 where nobody can tell."""
    both = [result.latency.reaction if result.latency else None for result in (one, two)]
    first, second = both
    if first is None or second is None:
        return (second is None) - (first is None)
    late_ns = second.judged_ns - first.judged_ns
    return 0 if abs(late_ns) <= first.uncertainty_ns + second.uncertainty_ns \
        else 1 if late_ns > 0 else -1


def latencies(pairs: Sequence[Both]) -> list[Pair]:
    """Return what both took (ms), of the pairs in which both could be measured."""
    return [(_ms(one), _ms(two)) for one, two in pairs if one.is_measured and two.is_measured]


def _ms(result: TrialResult) -> float | None:
    judged_ns = result.latency.judged_ns if result.latency else None
    return None if judged_ns is None else judged_ns / 1e6


def confirmed(found: Pairs) -> list[list[Pair]]:
    """Return the confirmed latencies (ms) of each scenario's pairs in which both tell."""
    known = [[(_confirmed_ms(one), _confirmed_ms(two)) for one, two in mine
              if one.is_confirmation_measured and two.is_confirmation_measured]
             for mine in found.values()]
    return [mine for mine in known if mine]


def _confirmed_ms(result: TrialResult) -> float | None:
    took = result.latency.confirmed if result.latency else None
    return None if took is None else took.judged_ns / 1e6


def more_failures(found: Pairs) -> list[int]:
    """Return for each scenario in how many more pairs only the second does not pass."""
    return [counts[True, False] - counts[False, True] for counts in outcomes(found).values()]


def later_reactions(found: Pairs) -> list[int]:
    """Return for each scenario in how many more pairs the second reacts later than the first."""
    return [later(mine) for mine in map(latencies, found.values()) if mine]


def later_confirmed(found: Pairs) -> list[int]:
    """Return the same of when the robot itself was confirmed to stand."""
    return [later(mine) for mine in confirmed(found)]


def failures_over(found: Pairs) -> float:
    """Return the p-value over scenarios of how often each fails."""
    return over_clusters(more_failures(found))


def latencies_over(found: Pairs) -> float:
    """Return the p-value over scenarios of who reacts later."""
    return sign_flip(later_reactions(found))


def confirmed_over(found: Pairs) -> float:
    """Return the p-value over scenarios of who is confirmed later."""
    return sign_flip(later_confirmed(found))
